"""Fill the holes in a table's features and its 0/1 labels together.

Public names are loaded on first use, so that ``import cocomplete`` costs almost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocomplete import baselines, datasets, formats, metrics, model_selection, statistics
    from cocomplete.estimator.completer import CoCompleter
    from cocomplete.estimator.function import complete
    from cocomplete.estimator.loading import load
    from cocomplete.exceptions import InputError
    from cocomplete.pooling import pool
    from cocomplete.stored import open

__all__ = [
    "CoCompleter",
    "InputError",
    "__version__",
    "baselines",
    "complete",
    "datasets",
    "formats",
    "load",
    "metrics",
    "model_selection",
    "open",
    "plot",
    "pool",
    "statistics",
]

_HOMES = {
    "CoCompleter": "cocomplete.estimator.completer",
    "complete": "cocomplete.estimator.function",
    "load": "cocomplete.estimator.loading",
    "InputError": "cocomplete.exceptions",
    "open": "cocomplete.stored",
    "pool": "cocomplete.pooling",
}
_MODULES = ("baselines", "datasets", "formats", "metrics", "model_selection", "plot", "statistics")


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"cocomplete.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("cocomplete")
    msg = f"module 'cocomplete' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
