"""The reference lists every public name, and none that is not there."""

import re
from importlib import import_module

import cocomplete
from tests.documentation.pages import ROOT

PAGE = (ROOT / "docs/api.rst").read_text(encoding="utf-8")
LISTED = set(re.findall(r"^   ([A-Za-z_.]+)$", PAGE, flags=re.MULTILINE))
MODULES = ("baselines", "datasets", "formats", "metrics", "model_selection", "plot", "statistics")


def public(module: str) -> set[str]:
    """Give a module's public names; of one without a list, all that it defines itself."""
    home = import_module(f"cocomplete.{module}")
    own = getattr(home, "__all__", None) or [
        name
        for name, value in vars(home).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == home.__name__
    ]
    return {f"{module}.{name}" for name in own}


def test_every_public_name_has_its_entry() -> None:
    assert {name for name in cocomplete.__all__ if name not in (*MODULES, "__version__")} <= LISTED
    for module in MODULES:
        assert public(module) <= LISTED


def test_every_entry_is_there() -> None:
    for entry in LISTED:
        module, _, name = f"cocomplete.{entry}".rpartition(".")
        assert hasattr(import_module(module), name), entry


def test_every_public_module_is_in_the_reference() -> None:
    left = set(cocomplete.__all__) - LISTED - {"__version__"}
    assert left == set(MODULES)
