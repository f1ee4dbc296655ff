"""Values that nobody should pass, and tables in containers and types that few people have."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

nan, inf = float("nan"), float("inf")

WORDS = (
    "",
    " ",
    "auto",
    "mean",
    "\0",
    "\n",
    "a\nb",
    "\ud800",
    "𝕏",
    "nan",
    "1e999",
    "%s{}",
    "é" * 300,
    "X",
    "../..",
)

NUMBERS: tuple[Any, ...] = (
    *(0, -1, -0.0, 0.5, 1.0, 1.5, 2, 3, -3, True, False, nan, inf, -inf, 5e-324, 1e-300, 1e300, 1.7e308),
    *(-(2**63), -(10**400), np.float16(2), np.float32("nan"), np.int8(-1), np.uint64(1), np.bool_(True)),
    *(Decimal("NaN"), Decimal("1.5"), Fraction(1, 3), 1j, np.float64(-0.0), np.longdouble(1) / 3),
    *(np.datetime64("NaT"), np.timedelta64(1), dt.date(2020, 1, 1), dt.timedelta(1)),
)

HUGE: tuple[Any, ...] = (2**63, 10**400, 10**5000, 2**64, 2**31)
"""Beyond what counts can be: never passed where a loop would take them at their word."""

THINGS: tuple[Any, ...] = (
    *(None, object(), object, print, lambda: 1, Exception("x"), Path("nowhere"), b"bytes", bytearray(b"x")),
    *(
        (),
        [],
        {},
        set(),
        frozenset({1}),
        range(3),
        [[]],
        [[], []],
        {"a": 1},
        {1: 2},
        {"a": [1]},
        [None],
        [[None]],
    ),
    *(
        slice(None),
        Ellipsis,
        NotImplemented,
        type,
        [1, "a"],
        [[1], [1, 2]],
        ["a", "b"],
        (1.0, 2.0),
        [nan, nan],
    ),
    *(np.array(1.0), np.array([]), np.empty((0, 3)), np.empty((3, 0)), np.zeros((2, 2, 2)), np.array(["a"])),
    *(np.array([1, None, "x"], object), np.ones(3, complex), np.array([{}]), np.ma.masked, np.nan),
    *(
        pd.NA,
        pd.NaT,
        pd.Series([1.0]),
        pd.DataFrame(),
        pl.DataFrame(),
        pl.Series([1]),
        pl.LazyFrame({"a": [1]}),
    ),
    *(pa.table({}), pa.array([1]), sparse.csr_matrix((2, 2)), np.random.default_rng(0), memoryview(b"ab")),
    *(
        np.zeros(2, [("a", float), ("b", int)]),
        np.array([b"x"]),
        np.array(["2020-01-01"], "M8[D]"),
        iter([1]),
    ),
)


def hostile_scalar(rng: np.random.Generator, *, huge: bool) -> Any:
    """Give something that may be no value of a parameter at all."""
    pools: tuple[tuple[Any, ...], ...] = (WORDS, NUMBERS, THINGS, HUGE if huge else NUMBERS)
    pool = pools[rng.choice(4, p=(0.25, 0.35, 0.3, 0.1))]
    return pool[rng.integers(len(pool))]


def numbers(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    """Give a matrix that is plain, or large, small, equal or infinite in places."""
    table = rng.normal(size=shape)
    spoil: tuple[Callable[[], Any], ...] = (
        lambda: table,
        lambda: np.where(rng.random(shape) < 0.3, nan, table),
        lambda: np.where(rng.random(shape) < 0.1, rng.choice((inf, -inf)), table),
        lambda: table * 10.0 ** rng.integers(-320, 307, shape[1]),
        lambda: np.full(shape, rng.choice((nan, 0.0, 1.0, 1e308))),
        lambda: np.round(table),
        lambda: (table > 0).astype(float),
    )
    return spoil[rng.integers(len(spoil))]()


def _objects(rng: np.random.Generator, table: Any) -> Any:
    cells = table.astype(object)
    for _ in range(rng.integers(1, 4)):
        if cells.size:
            cells[tuple(rng.integers(cells.shape))] = hostile_scalar(rng, huge=True)
    return cells


def _frame(rng: np.random.Generator, table: Any) -> Any:
    names: list[Any] = [f"c{j}" for j in range(table.shape[1])]
    if names and rng.random() < 0.3:
        names[rng.integers(len(names))] = rng.choice(("c0", "", "\ud800", "a\nb"))
    if rng.random() < 0.2:
        names = list(range(len(names)))
    frame = pd.DataFrame(table, columns=names)
    if rng.random() < 0.2 and len(frame):
        frame.index = pd.Index(rng.integers(0, len(frame), len(frame)))
    return frame


CONTAINERS: tuple[Callable[[np.random.Generator, Any], Any], ...] = (
    lambda rng, table: table,
    lambda rng, table: table.astype(rng.choice(("f4", "f2", ">f8", "g", "c16"))),
    lambda rng, table: (
        np.nan_to_num(table, posinf=9, neginf=-9).clip(-99, 99).astype(rng.choice(("i1", "u8", "?", ">i4")))
    ),
    lambda rng, table: table.astype("U7"),
    lambda rng, table: table.tolist(),
    lambda rng, table: tuple(map(tuple, table)),
    lambda rng, table: [*table.tolist(), [1.0]],
    _objects,
    lambda rng, table: _objects(rng, table).tolist(),
    _frame,
    lambda rng, table: pd.DataFrame(_objects(rng, table)),
    lambda rng, table: pl.DataFrame(table, schema=[f"c{j}" for j in range(table.shape[1])]),
    lambda rng, table: pa.table({f"c{j}": column for j, column in enumerate(table.T)}),
    lambda rng, table: np.ma.masked_where(rng.random(table.shape) < 0.3, table),
    lambda rng, table: sparse.csr_array(np.nan_to_num(table)),
    lambda rng, table: sparse.coo_matrix(table),
    lambda rng, table: table[:, :1].ravel(),
    lambda rng, table: table[None],
    lambda rng, table: np.asfortranarray(table)[::-1],
    lambda rng, table: {f"c{j}": list(column) for j, column in enumerate(table.T)},
    lambda rng, table: iter(table),
    lambda rng, table: pd.DataFrame(table).astype("Float64"),
    lambda rng, table: pd.DataFrame(table > 0).astype("category"),
    lambda rng, table: pd.DataFrame({"d": pd.date_range("1600-01-01", periods=len(table), freq="D")}),
    lambda rng, table: np.zeros(table.shape, "M8[s]") + rng.integers(-(2**50), 2**50),
    lambda rng, table: pl.DataFrame({"l": [[1, 2]] * len(table)}),
)


def hostile_table(rng: np.random.Generator, shape: tuple[int, int], *, labels: bool = False) -> Any:
    """Give a table, or something that is none."""
    if rng.random() < 0.15:
        return hostile_scalar(rng, huge=True)
    if rng.random() < 0.3:
        sizes = (0, 1, 2, shape[0], shape[0] + 1), (0, 1, shape[1] - 1, shape[1], shape[1] + 1)
        shape = int(rng.choice(sizes[0])), max(0, int(rng.choice(sizes[1])))
    table = numbers(rng, shape)
    if labels and rng.random() < 0.7:
        table = np.where(np.isnan(table), nan, (table > 0).astype(float))
    try:
        return CONTAINERS[rng.integers(len(CONTAINERS))](rng, table)
    except Exception:
        # What a container's own library refuses never comes to ours.
        return table
