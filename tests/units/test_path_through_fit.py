"""CONTRIBUTING's drawing of the way of a table through ``fit`` and ``complete`` is the way that it takes."""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np
import pytest

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.choosing.kinds import KINDS
from cocomplete.members import average, kernel, linear_average, minimiser, number_kernel, trees, trivial

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
MOST_NOUNS = 15
MEMBERS = (
    average.Average,
    linear_average.LinearAverage,
    kernel.KernelRegression,
    number_kernel.NumberKernel,
    trees.BoostedTrees,
    minimiser.Minimiser,
    trivial.Trivial,
)
PROTOCOLS: dict[str, tuple[type, ...]] = {"Kind": tuple(map(type, KINDS)), "Member": MEMBERS}
"""Protocols, and the classes that follow them."""


class Noun(NamedTuple):
    name: str
    module: str


def drawn(way: str) -> list[Noun]:
    """Read a way out of the page: lines ``Noun (module) …`` of the block that begins with its name."""
    block = re.search(rf"^```\n{way}\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None, f"CONTRIBUTING.md has no block that begins with {way}"
    return [Noun(*found) for found in re.findall(r"^ +(\w+) +\(([\w.]+)\)", block[1], re.MULTILINE)]


def functions(cls: type) -> Iterator[CodeType]:
    """Give the code of all that a class of this package defines, constructors that are generated included."""
    for base in cls.__mro__:
        if base.__module__.startswith("cocomplete."):
            for name, value in vars(base).items():
                function: Any = value
                if isinstance(value, classmethod | staticmethod):
                    function = value.__func__
                elif isinstance(value, property):
                    function = value.fget
                elif isinstance(value, cached_property):
                    function = value.func
                code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
                generated = name in ("__init__", "__new__")
                if code is not None and (generated or "cocomplete" in code.co_filename):
                    yield code


@contextmanager
def recorded(nouns: list[Noun]) -> Iterator[list[str]]:
    """Record nouns in the order in which one of their methods is first called."""
    owners: dict[int, set[str]] = {}
    for noun in nouns:
        cls = getattr(import_module(f"cocomplete.{noun.module}"), noun.name)
        for one in PROTOCOLS.get(noun.name, (cls,)):
            for code in functions(one):
                owners.setdefault(id(code), set()).add(noun.name)
    # What several nouns inherit is no sign of any of them.
    owner = {code: names.pop() for code, names in owners.items() if len(names) == 1}
    order: list[str] = []

    def look(frame: FrameType, event: str, _: Any) -> None:
        name = owner.get(id(frame.f_code)) if event == "call" else None
        if name is not None and name not in order:
            order.append(name)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield order
    finally:
        sys.setprofile(before)


@pytest.fixture(scope="module")
def table() -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    F = rng.normal(size=(60, 2))
    X = F @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(60, 4))
    Y = (F @ rng.normal(size=(2, 2)) > 0).astype(float)
    for part in (X, Y):
        part[rng.random(part.shape) < 0.2] = np.nan
    return X, Y


def test_a_table_takes_the_way_that_is_drawn(table: tuple[FloatArray, FloatArray]) -> None:
    X, Y = table
    model = CoCompleter()
    ways: dict[str, Callable[[], object]] = {
        "fit": lambda: model.fit(X, Y),
        # Rows that the fit has not seen, so that nothing is looked up.
        "complete": lambda: model.complete(X[:20] + 0.01, Y[:20]),
    }
    for way, walk in ways.items():
        nouns = drawn(way)
        with recorded(nouns) as order:
            walk()
        assert order == [noun.name for noun in nouns], way


def test_the_drawing_has_few_nouns() -> None:
    assert len({*drawn("fit"), *drawn("complete")}) <= MOST_NOUNS
