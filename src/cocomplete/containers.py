"""Tables in the user's own container, to one float matrix and back.

Arrays, nested lists, pandas, polars and anything else narwhals knows go in; the same container comes out,
with its names, index and, where the values allow it, its column types.
"""

from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.exceptions import InputError


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


def column_label(names: tuple[str, ...] | None, column: int) -> str:
    """Name the column that is meant, by position if it has no name."""
    return f"column {column}" if names is None else f"column {names[column]!r}"


def to_table(data: Any, argument: str) -> Table:
    """Read a user's container.

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
    frame = as_frame(data, argument)
    if frame is not None:
        return _from_frame(frame, argument)
    if hasattr(data, "tocsr"):
        msg = (
            f"{argument} is a SciPy sparse matrix, in which an absent cell could mean zero or unknown; "
            "pass a dense array with NaN for unknown"
        )
        raise InputError(msg)
    try:
        array = np.asarray(data)
        if array.dtype.kind == "U" and not isinstance(data, np.ndarray):
            # One word in a list turns its numbers into text; as objects the culprit can be named.
            array = np.asarray(data, dtype=object)
    except ValueError as error:
        msg = f"{argument} has rows of different lengths; every row needs the same number of cells"
        raise InputError(msg) from error
    if array.ndim == 1 and argument.lower() != "x":
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        msg = (
            f"{argument} has {array.ndim} dimension(s); a table has two, rows and columns. "
            "Reshape your data: array.reshape(1, -1) makes one row of it, array.reshape(-1, 1) one column"
        )
        raise InputError(msg)
    if array.dtype.kind == "f":
        return Table(array if array.dtype.itemsize in (4, 8) else array.astype(np.float64), None)
    if array.dtype.kind in "iub":
        return Table(array.astype(np.float64), None)
    if array.dtype.kind == "c":
        msg = f"{argument} holds complex numbers. Complex data not supported; pass real numbers"
        raise InputError(msg)
    columns = [_floats(array[:, j], argument, f"column {j}") for j in range(array.shape[1])]
    return Table(np.column_stack(columns) if columns else np.empty(array.shape), None)


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


def _from_frame(frame: "nw.DataFrame[Any]", argument: str) -> Table:
    try:
        names = tuple(str(name) for name in frame.columns)
        dtypes = [frame.get_column(name).dtype for name in frame.columns]
    except Exception as error:
        msg = f"{argument} cannot be read as a table: {error}"
        raise InputError(msg) from error
    single = bool(dtypes) and all(dtype == nw.Float32 for dtype in dtypes)
    values = np.empty((len(frame), len(names)), np.float32 if single else np.float64)
    for j, (name, dtype) in enumerate(zip(frame.columns, dtypes, strict=True)):
        column = frame.get_column(name)
        if dtype.is_numeric() and dtype != nw.Decimal:
            values[:, j] = _cast(column, nw.Float32 if single else nw.Float64, argument)
        elif dtype == nw.Boolean:
            values[:, j] = column.cast(nw.Int8).cast(nw.Float64).to_numpy()
        else:
            values[:, j] = _floats(column.to_list(), argument, f"column {names[j]!r}")
    return Table(values, names)


def _cast(column: "nw.Series[Any]", dtype: Any, argument: str) -> FloatArray:
    try:
        return np.asarray(column.cast(dtype).to_numpy())
    except Exception:
        # Arrow refuses whole numbers that a float rounds, with an exception of its own.
        return _floats(column.to_list(), argument, f"column {column.name!r}")


def _floats(cells: Any, argument: str, column: str) -> FloatArray:
    """Convert Python objects one by one; slow, but only object columns come here."""
    out = np.empty(len(cells))
    for i, cell in enumerate(cells):
        if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
            out[i] = np.nan
        elif isinstance(cell, Real | Decimal | np.bool_):
            out[i] = float(cell)
        else:
            msg = (
                f"{argument}: {column} must hold numbers, but row {i} (counting from 0) holds {cell!r}; "
                "encode text as numbers, use NaN or None for unknown, or leave the column out"
            )
            raise InputError(msg)
    return out


def fill_like(data: Any, argument: str, filled: FloatArray, known: BoolArray) -> Any:
    """Put filled values into a copy of the user's container.

    Known cells are the user's own, untouched; a frame's column without holes is returned as it is.

    Parameters
    ----------
    data : the user's container, as given to :func:`to_table`
    argument : str
        Its name in messages.
    filled : ndarray of shape (n_rows, n_columns)
        Values for every cell; only those where ``known`` is False are used.
    known : ndarray of bool, same shape

    Returns
    -------
    The same kind of container; nested lists and object arrays come back as a float array.
    """
    frame = as_frame(data, argument)
    if frame is None:
        values = to_table(data, argument).values
        whole: FloatArray = np.where(known, values, filled).astype(values.dtype, copy=False)
        return whole
    renewed = [
        _filled(frame.get_column(name), argument, filled[:, j], known[:, j])
        for j, name in enumerate(frame.columns)
        if not known[:, j].all()
    ]
    return nw.to_native(frame.with_columns(*renewed))


def _filled(
    column: "nw.Series[Any]", argument: str, filled: FloatArray, known: BoolArray
) -> "nw.Series[Any]":
    """Fill a frame's column; 0/1 labels kept as nullable integers or truth values stay what they are."""
    name, backend = column.name, column.implementation
    if _countable(column.dtype) and _fits(column.dtype, filled[~known]):
        fresh = nw.new_series(name, np.where(known, 0, filled), backend=backend)
        fresh = fresh.cast(nw.Int64).cast(column.dtype)
        if backend.is_pandas_like():
            # narwhals has one Boolean and one Int64; pandas' nullable ones are types of their own.
            native = nw.to_native(fresh).astype(nw.to_native(column).dtype)
            native.index = nw.to_native(column).index
            return nw.from_native(native.mask(known, nw.to_native(column)), series_only=True)
        return fresh.zip_with(nw.new_series(name, ~known, backend=backend), column)
    own = _from_frame(column.to_frame(), argument).values[:, 0]
    kind = np.float32 if column.dtype == nw.Float32 else np.float64
    return nw.new_series(name, np.where(known, own, filled).astype(kind), backend=backend)


def _fits(dtype: Any, values: FloatArray) -> bool:
    """Whether numbers are whole, and within what a type of whole numbers or truth values holds."""
    if not bool(np.all(values == np.round(values))):
        return False
    if dtype == nw.Boolean:
        return bool(np.isin(values, (0, 1)).all())
    bits = int("".join(filter(str.isdigit, str(dtype))))
    low, high = (0.0, 2.0**bits) if str(dtype).startswith("U") else (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1))
    # Casts go by way of 64 bits with a sign.
    return bool(((values >= low) & (values < min(high, 2.0**63))).all())


def frame_like(data: Any, values: FloatArray, names: Any) -> Any:
    """Give a table beside the user's: a frame of the same kind, with its index, or the array itself.

    Parameters
    ----------
    data : the user's container
    values : ndarray of shape (n_rows, n_columns)
    names : sequence of str or None
        Column names; without them an array is returned.
    """
    frame = None if names is None or isinstance(data, Table) else as_frame(data, "X")
    if frame is None:
        return values
    columns = {str(name): values[:, j] for j, name in enumerate(names)}
    fresh = nw.to_native(nw.from_dict(columns, backend=frame.implementation))
    if frame.implementation.is_pandas_like():
        fresh.index = nw.to_native(frame).index
    return fresh


def hold_out_cells(data: Any, argument: str, held: BoolArray) -> Any:
    """Turn cells to unknown in a copy of the user's container.

    Parameters
    ----------
    data : the user's container, as given to :func:`to_table`
    argument : str
        Its name in messages.
    held : ndarray of bool, shape (n_rows, n_columns)
        Cells to turn to unknown.

    Returns
    -------
    The same kind of container, null or NaN in the held-out cells; a frame's column keeps its type where that
    type has an unknown, and is the user's own where nothing is held out. Nested lists and arrays of whole
    numbers, truth values or objects come back as a float array.
    """
    frame = as_frame(data, argument)
    if frame is None:
        values = to_table(data, argument).values
        return np.where(held, values.dtype.type(np.nan), values)
    whole = frame.with_columns(
        *(
            nw.when(nw.new_series(name, ~held[:, j], backend=frame.implementation)).then(nw.col(name))
            for j, name in enumerate(frame.columns)
            if held[:, j].any()
        )
    )
    return nw.to_native(whole)


def _countable(dtype: Any) -> bool:
    return bool(dtype == nw.Boolean or dtype.is_integer())
