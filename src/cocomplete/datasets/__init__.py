"""Data to try things on: made here, or read from files."""

from cocomplete.datasets.clinic import make_clinic
from cocomplete.datasets.mulan import load_mulan
from cocomplete.datasets.synthetic import make_low_rank_multilabel

__all__ = ["load_mulan", "make_clinic", "make_low_rank_multilabel"]
