"""Records of the problem and kinds of columns: nobody writes into them, and arrays are not compared."""

import importlib
import pkgutil
from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from cocomplete import problem
from cocomplete.table import kinds


def records(package: object) -> list[type]:
    """All dataclasses that are defined in a package."""
    name: str = package.__name__  # type: ignore[attr-defined]
    modules = [
        importlib.import_module(f"{name}.{each.name}")
        for each in pkgutil.iter_modules(package.__path__)  # type: ignore[attr-defined]
    ]
    return [
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and is_dataclass(each) and each.__module__ == module.__name__
    ]


PROBLEM, KINDS = records(problem), records(kinds)


def test_there_are_some() -> None:
    assert {"Cells", "DualPoint", "Observations", "Standardization"} <= {each.__name__ for each in PROBLEM}
    assert {"Category", "Date", "Number", "YesNo"} <= {each.__name__ for each in KINDS}


@pytest.mark.parametrize("record", PROBLEM + KINDS, ids=lambda record: record.__name__)
def test_nothing_is_written_into_a_record(record: type) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(object.__new__(record), fields(record)[0].name, None)


@pytest.mark.parametrize("record", PROBLEM, ids=lambda record: record.__name__)
def test_records_with_arrays_are_equal_to_themselves_alone(record: type) -> None:
    """Arrays have no single answer to whether they are equal."""
    one: object = object.__new__(record)
    other: object = object.__new__(record)
    assert one == one  # noqa: PLR0124
    assert one != other
    assert len({one, other}) == 2
