"""Figure 1: the singular values of CAL500's label matrix, which fall slowly."""

import numpy as np

from cocomplete.datasets import load_mulan
from cocomplete.experiments.runner import Figures, Trial
from cocomplete.experiments.table_2 import data_file

NAME = "figure1"

METHOD = "CAL500"


def work(trial: Trial) -> Figures:
    """Give the singular values of the 502 × 174 matrix Y, in descending order.

    Parameters
    ----------
    trial : Trial
        There is only one, and nothing in it matters: nothing is drawn and nothing is held out.
    """
    Y = load_mulan(data_file()).Y
    return {"singular values": np.linalg.svd(Y, compute_uv=False).tolist()}


def trials() -> list[Trial]:
    """Give the one trial."""
    return [Trial(NAME, {}, METHOD, 0)]
