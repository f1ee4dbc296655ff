"""Methods to compare with, one per file, loaded on first use."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocomplete.baselines.all_zero import AllZero
    from cocomplete.baselines.goldberg_mc import GoldbergMC
    from cocomplete.baselines.label_majority import LabelMajority
    from cocomplete.baselines.limo import LIMOClassifier
    from cocomplete.baselines.maxide import Maxide
    from cocomplete.baselines.mc import Mc
    from cocomplete.baselines.mean_mode import MeanMode
    from cocomplete.baselines.network import NetworkClassifier
    from cocomplete.baselines.oracle import Oracle
    from cocomplete.baselines.soft_impute import SoftImpute

__all__ = [
    "AllZero",
    "GoldbergMC",
    "LIMOClassifier",
    "LabelMajority",
    "Maxide",
    "Mc",
    "MeanMode",
    "NetworkClassifier",
    "Oracle",
    "SoftImpute",
]

_HOMES = {
    "AllZero": "all_zero",
    "GoldbergMC": "goldberg_mc",
    "LIMOClassifier": "limo",
    "LabelMajority": "label_majority",
    "Maxide": "maxide",
    "Mc": "mc",
    "MeanMode": "mean_mode",
    "NetworkClassifier": "network",
    "Oracle": "oracle",
    "SoftImpute": "soft_impute",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"cocomplete.baselines.{_HOMES[name]}"), name)
    msg = f"module 'cocomplete.baselines' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
