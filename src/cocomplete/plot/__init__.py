"""Pictures of a fitted model for a notebook or a paper, by matplotlib: ``pip install 'cocomplete[plots]'``.

Each function takes a fitted :class:`~cocomplete.CoCompleter`, and tables where it needs them, draws into
``ax`` or into a new figure, and returns the axes. Grey is what was observed, or the trivial answer; orange
and hatched is what was filled.
"""

from cocomplete.plot.of_model import convergence, loadings, spectrum, validation
from cocomplete.plot.of_tables import calibration, missingness, observed_against_filled

__all__ = [
    "calibration",
    "convergence",
    "loadings",
    "missingness",
    "observed_against_filled",
    "spectrum",
    "validation",
]
