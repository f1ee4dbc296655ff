"""Methods to compare with, one per file."""

from cocomplete.baselines.mean_mode import MeanMode

__all__ = ["MeanMode"]
