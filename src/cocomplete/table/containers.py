"""Tables in the user's own container, read as columns of numbers, text and dates.

Arrays, masked arrays, nested lists, pandas, polars and anything else narwhals knows go in. What comes back in
the same container is made in :mod:`cocomplete.table.refill`.
"""

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import shown


class Table(NamedTuple):
    """A user's table as one matrix.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_columns)
        float64, or float32 if that is what came in; NaN where the value is unknown.
    names : tuple of str or None
        Column names, if the container has any.
    """

    values: FloatArray
    names: tuple[str, ...] | None


class TextColumn(NamedTuple):
    """A column of words.

    Attributes
    ----------
    values : ndarray of object
        str, or None where unknown.
    levels : tuple of str or None
        Those that the container declares, in its order; None if it declares none.
    ordered : bool
        Whether the container says that their order means something.
    """

    values: NDArray[np.object_]
    levels: tuple[str, ...] | None = None
    ordered: bool = False

    @property
    def known(self) -> BoolArray:
        """Where a word is."""
        return np.array([value is not None for value in self.values], bool)


class DateColumn(NamedTuple):
    """A column of dates, or of dates with times.

    Attributes
    ----------
    values : ndarray of datetime64[us]
        In UTC where the container knows a time zone; NaT where unknown.
    days : bool
        Whether the container holds whole days.
    """

    values: NDArray[np.datetime64]
    days: bool = False

    @property
    def known(self) -> BoolArray:
        """Where a date is."""
        return np.asarray(~np.isnat(self.values))


class RawTable(NamedTuple):
    """A user's table as it was read.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows, n_columns)
        float64, or float32 if that is what came in; NaN where the value is unknown, or no number.
    names : tuple of str or None
        Column names, if the container has any.
    others : dict
        Columns of words and of dates, by position.
    """

    numbers: FloatArray
    names: tuple[str, ...] | None
    others: dict[int, TextColumn | DateColumn]

    @property
    def known(self) -> BoolArray:
        """Where something is known, shape (n_rows, n_columns)."""
        known: BoolArray = ~np.isnan(self.numbers)
        for j, column in self.others.items():
            known[:, j] = column.known
        return known

    def take(self, rows: NDArray[np.intp]) -> "RawTable":
        """Give some rows, in another order."""
        others: dict[int, TextColumn | DateColumn] = {}
        for j, one in self.others.items():
            if isinstance(one, TextColumn):
                others[j] = one._replace(values=one.values[rows])
            else:
                others[j] = one._replace(values=one.values[rows])
        return RawTable(self.numbers[rows], self.names, others)

    def label(self, column: int) -> str:
        """Name a column in a message."""
        return column_label(self.names, column)


def column_label(names: tuple[str, ...] | None, column: int) -> str:
    """Name the column that is meant, by position if it has no name."""
    return f"column {column}" if names is None else f"column {names[column]!r}"


def to_table(data: Any, argument: str) -> Table:
    """Read a user's container of numbers.

    Parameters
    ----------
    data : array-like, DataFrame or Series
        NaN, None, pandas' NA and null mean unknown.
    argument : str
        What the caller calls it; error messages begin with it.

    Raises
    ------
    InputError
        If a cell is neither a number, a truth value nor unknown, or the shape is not a table's.
    """
    if isinstance(data, Table):
        return data
    raw = read_container(data, argument)
    for j, column in raw.others.items():
        if not column.known.any():
            continue
        row = int(np.argmax(column.known))
        value = column.values[row]
        msg = (
            f"{argument}: {raw.label(j)} must hold numbers, but row {row} (counting from 0) holds "
            f"{str(value) if isinstance(column, DateColumn) else value!r}; "
            "encode text as numbers, use NaN or None for unknown, or leave the column out"
        )
        raise InputError(msg)
    return Table(raw.numbers, raw.names)


def read_container(data: Any, argument: str) -> RawTable:
    """Read a user's container, whatever its columns hold.

    Parameters
    ----------
    data : array-like, masked array, DataFrame or Series
        NaN, None, pandas' NA and NaT, null and masked cells mean unknown.
    argument : str
        What the caller calls it; error messages begin with it.

    Raises
    ------
    InputError
        If a column holds things of several kinds, or the shape is not a table's.
    """
    if isinstance(data, RawTable):
        return data
    if isinstance(data, Table):
        return RawTable(data.values, data.names, {})
    frame = as_frame(data, argument)
    if frame is not None:
        return _from_frame(frame, argument)
    if hasattr(data, "tocsr"):
        msg = (
            f"{argument} is a SciPy sparse matrix, in which an absent cell could mean zero or unknown; "
            "pass a dense array with NaN for unknown, or fit sparse tables with sparse_missing"
        )
        raise InputError(msg)
    array = _as_array(data, argument)
    if array.dtype.kind == "f":
        return RawTable(array if array.dtype.itemsize in (4, 8) else array.astype(np.float64), None, {})
    if array.dtype.kind in "iub":
        return RawTable(array.astype(np.float64), None, {})
    if array.dtype.kind == "c":
        msg = f"{argument} holds complex numbers. Complex data not supported; pass real numbers"
        raise InputError(msg)
    numbers, others = np.full(array.shape, np.nan), {}
    for j in range(array.shape[1]):
        column = _from_objects(list(array[:, j]), argument, f"column {j}")
        if isinstance(column, np.ndarray):
            numbers[:, j] = column
        else:
            others[j] = column
    return RawTable(numbers, None, others)


def _as_array(data: Any, argument: str) -> NDArray[Any]:
    """Give two dimensions to whatever is no frame; masked cells are unknown."""
    try:
        masked = np.ma.getmaskarray(data) if isinstance(data, np.ma.MaskedArray) else None
        array = np.asarray(data)
        if array.dtype.kind == "U" and not isinstance(data, np.ndarray):
            # One word in a list turns its numbers into text; as objects each stays what it is.
            array = np.asarray(data, dtype=object)
    except ValueError as error:
        msg = f"{argument} has rows of different lengths; every row needs the same number of cells"
        raise InputError(msg) from error
    if masked is not None and masked.any():
        array = array.astype(np.float64 if array.dtype.kind in "iub" else array.dtype, copy=True)
        array[masked] = np.nan if array.dtype.kind == "f" else None
    if array.ndim == 1 and argument.lower() != "x":
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        msg = (
            f"{argument} has {array.ndim} dimension(s); a table has two, rows and columns. "
            "Reshape your data: array.reshape(1, -1) makes one row of it, array.reshape(-1, 1) one column"
        )
        raise InputError(msg)
    return array


def as_frame(data: Any, argument: str) -> "nw.DataFrame[Any] | None":
    """Wrap a DataFrame or Series with narwhals; None if the data are something else."""
    try:
        native = nw.from_native(data, eager_only=True, allow_series=True)
    except TypeError:
        if hasattr(data, "collect") and hasattr(data, "collect_schema"):
            msg = f"{argument} is a lazy frame; call .collect() on it first"
            raise InputError(msg) from None
        return None
    except Exception as error:
        # narwhals refuses duplicate names with an exception of its own, by several paths.
        msg = f"{argument} cannot be read as a table: {error}"
        raise InputError(msg) from error
    return native.to_frame() if isinstance(native, nw.Series) else native


def _from_frame(frame: "nw.DataFrame[Any]", argument: str) -> RawTable:
    try:
        names = tuple(str(name) for name in frame.columns)
        dtypes = [frame.get_column(name).dtype for name in frame.columns]
    except Exception as error:
        msg = f"{argument} cannot be read as a table: {error}"
        raise InputError(msg) from error
    matrix = as_matrix(frame)
    if matrix is not None:
        return RawTable(matrix, names, {})
    single = bool(dtypes) and all(dtype == nw.Float32 for dtype in dtypes)
    numbers = np.full((len(frame), len(names)), np.nan, np.float32 if single else np.float64)
    others: dict[int, TextColumn | DateColumn] = {}
    for j, name in enumerate(frame.columns):
        column = from_series(frame.get_column(name), argument, f"column {names[j]!r}")
        if isinstance(column, np.ndarray):
            numbers[:, j] = column
        else:
            others[j] = column
    return RawTable(numbers, names, others)


def as_matrix(frame: "nw.DataFrame[Any]") -> FloatArray | None:
    """Give a polars frame that is a matrix of floats as one, NaN where unknown; None for any other.

    Column by column it would take four times as long where there are hundreds.
    """
    if frame.implementation.is_polars() and set(frame.schema.dtypes()) in ({nw.Float32()}, {nw.Float64()}):
        return np.asarray(nw.to_native(frame).to_numpy(order="c"))
    return None


def from_series(column: "nw.Series[Any]", argument: str, label: str) -> FloatArray | TextColumn | DateColumn:
    """Read one column of a frame by its type; objects are looked at one by one."""
    dtype = column.dtype
    if dtype.is_numeric() and dtype != nw.Decimal:
        return _cast(column, nw.Float32 if dtype == nw.Float32 else nw.Float64)
    if dtype == nw.Boolean:
        return np.asarray(column.cast(nw.Int8).cast(nw.Float64).to_numpy())
    if isinstance(dtype, nw.Categorical | nw.Enum):
        levels = tuple(str(level) for level in column.cat.get_categories().to_list())
        ordered = isinstance(dtype, nw.Enum) or bool(
            getattr(getattr(nw.to_native(column), "dtype", None), "ordered", False)
        )
        return TextColumn(_words(column.to_list()), levels, ordered)
    if dtype in (nw.Date, nw.Datetime):
        return _dates(column.to_list(), days=dtype == nw.Date)
    return _from_objects(column.to_list(), argument, label)


def _cast(column: "nw.Series[Any]", dtype: Any) -> FloatArray:
    try:
        return np.asarray(column.cast(dtype).to_numpy())
    except Exception:
        # Arrow refuses whole numbers that a float rounds, with an exception of its own.
        return _floats([None if _is_unknown(cell) else cell for cell in column.to_list()])


def _from_objects(cells: list[Any], argument: str, label: str) -> FloatArray | TextColumn | DateColumn:
    """Read Python objects one by one: numbers, words or dates, but not several of them."""
    kinds: list[tuple[str, tuple[type, ...], Callable[[list[Any]], Any]]] = [
        ("numbers", (Real, Decimal, np.bool_), _floats),
        ("words", (str,), lambda known: TextColumn(_words(known))),
        ("dates", (date, datetime, np.datetime64), lambda known: _dates(known, days=_whole_days(known))),
    ]
    cells = [None if _is_unknown(cell) else cell for cell in cells]
    nothing = all(cell is None for cell in cells)
    for what, types, convert in kinds:
        if not nothing and not any(isinstance(cell, types) for cell in cells):
            continue
        for i, cell in enumerate(cells):
            if cell is not None and not isinstance(cell, types):
                msg = (
                    f"{argument}: {label} must hold {what}, but row {i} (counting from 0) holds "
                    f"{shown(cell)}; use one kind of value per column and NaN or None for unknown, or leave "
                    "the column out"
                )
                raise InputError(msg)
        try:
            found: FloatArray | TextColumn | DateColumn = convert(cells)
        except (ArithmeticError, ValueError) as error:
            # Whole numbers beyond every float, and dates beyond every calendar.
            msg = f"{argument}: {label} holds {what} that cannot be used: {error}; leave them unknown"
            raise InputError(msg) from error
        return found
    first = next(cell for cell in cells if cell is not None)
    msg = (
        f"{argument}: {label} must hold numbers, words or dates, but it holds {shown(first)}; "
        "use NaN or None for unknown, or leave the column out"
    )
    raise InputError(msg)


def _is_unknown(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(cell, float | np.floating):
        return bool(np.isnan(cell))
    return isinstance(cell, np.datetime64) and bool(np.isnat(cell))


def _floats(cells: list[Any]) -> FloatArray:
    return np.array([np.nan if cell is None else float(cell) for cell in cells])


def _words(cells: list[Any]) -> NDArray[np.object_]:
    out = np.empty(len(cells), object)
    out[:] = [None if _is_unknown(cell) else str(cell) for cell in cells]
    return out


def _dates(cells: list[Any], *, days: bool) -> DateColumn:
    def plain(cell: Any) -> Any:
        if _is_unknown(cell):
            return "NaT"
        offset = cell.utcoffset() if isinstance(cell, datetime) else None
        return cell if offset is None else (cell - offset).replace(tzinfo=None)

    return DateColumn(np.array([plain(cell) for cell in cells], "datetime64[us]"), days)


def _whole_days(cells: list[Any]) -> bool:
    return all(cell is None or (isinstance(cell, date) and not isinstance(cell, datetime)) for cell in cells)
