"""How the defaults choose: cells are hidden, candidates tried, the best kept for each part."""

from cocomplete.tuning.search import Search

__all__ = ["Search"]
