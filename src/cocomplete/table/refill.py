"""Values put back into the user's own container: its names, index, order and column types are kept."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.table.containers import Table, as_frame, as_matrix, from_series, read_container


def fill_like(
    data: Any,
    argument: str,
    filled: FloatArray,
    known: BoolArray,
    others: dict[int, NDArray[Any]] | None = None,
) -> Any:
    """Put filled values into a copy of the user's container.

    Known cells are the user's own, untouched; a frame's column without holes is returned as it is.

    Parameters
    ----------
    data : the user's container, as given to :func:`cocomplete.table.containers.read_container`
    argument : str
        Its name in messages.
    filled : ndarray of shape (n_rows, n_columns)
        Numbers for every cell; only those where ``known`` is False are used.
    known : ndarray of bool, same shape
    others : dict, optional
        Words (str) and dates (datetime64) of the columns that hold such, by position.

    Returns
    -------
    The same kind of container. Columns of whole numbers and of truth values keep their type where the filled
    numbers allow it.
    """
    others = others or {}
    frame = as_frame(data, argument)
    if frame is None:
        return _fill_array(data, argument, filled, known, others)
    matrix = as_matrix(frame)
    if matrix is not None:
        whole = np.where(known, matrix, filled).astype(matrix.dtype, copy=False)
        fresh = nw.from_numpy(whole, schema=frame.columns, backend=frame.implementation)
        return nw.to_native(fresh if _has_columns(data) else fresh[frame.columns[0]])
    renewed = []
    for j, name in enumerate(frame.columns):
        if known[:, j].all():
            continue
        column = frame.get_column(name)
        if j in others:
            renewed.append(_with_words_or_dates(column, others[j], known[:, j]))
        elif column.dtype.is_numeric() or column.dtype in (nw.Boolean, nw.Unknown, nw.Object):
            renewed.append(_with_numbers(column, filled[:, j], known[:, j], argument))
    whole = nw.to_native(frame.with_columns(*renewed))
    return whole if _has_columns(data) else nw.to_native(frame.with_columns(*renewed)[frame.columns[0]])


def _has_columns(data: Any) -> bool:
    return isinstance(nw.from_native(data, eager_only=True, allow_series=True), nw.DataFrame)


def _fill_array(
    data: Any, argument: str, filled: FloatArray, known: BoolArray, others: dict[int, NDArray[Any]]
) -> Any:
    raw = read_container(data, argument)
    shape = np.shape(data.values) if isinstance(data, Table) else np.shape(data)
    if others:
        whole = np.asarray(data, dtype=object).reshape(known.shape).copy()
        for j in range(known.shape[1]):
            fresh = others[j] if j in others else filled[:, j]
            whole[~known[:, j], j] = fresh[~known[:, j]]
    elif isinstance(data, np.ndarray) and known.all():
        return np.array(data)
    else:
        values = raw.numbers
        whole = np.where(known, values, filled).astype(values.dtype, copy=False)
        if isinstance(data, np.ndarray) and data.dtype.kind == "f":
            whole = whole.astype(data.dtype, copy=False)
    whole = whole.reshape(shape)
    if isinstance(data, np.ma.MaskedArray):
        return np.ma.array(whole)
    return whole.tolist() if isinstance(data, list | tuple) else whole


def _with_numbers(
    column: "nw.Series[Any]", filled: FloatArray, known: BoolArray, argument: str
) -> "nw.Series[Any]":
    """Fill a column of numbers or truth values; whole ones stay such where fills allow it."""
    name, backend = column.name, column.implementation
    countable = column.dtype == nw.Boolean or column.dtype.is_integer()
    if countable and _fits(column.dtype, filled[~known]):
        # Known cells are the user's own: a float would round large ones.
        fresh = nw.new_series(name, np.where(known, 0, filled), backend=backend)
        return _merged(fresh.cast(nw.Int64).cast(column.dtype), column, known)
    own = from_series(column, argument, name)
    assert isinstance(own, np.ndarray)
    kind = np.float32 if column.dtype == nw.Float32 else np.float64
    whole: FloatArray = np.where(known, own, filled).astype(kind)
    fresh = nw.new_series(name, whole, backend=backend)
    return _typed_like(fresh, column) if fresh.dtype == column.dtype else fresh


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


def _with_words_or_dates(
    column: "nw.Series[Any]", filled: NDArray[Any], known: BoolArray
) -> "nw.Series[Any]":
    """Fill a column of words or dates; what is known is the user's own."""
    dtype = column.dtype
    fresh = nw.new_series(column.name, filled, backend=column.implementation)
    if isinstance(dtype, nw.Datetime):
        if dtype.time_zone is not None:
            fresh = fresh.dt.replace_time_zone("UTC").dt.convert_time_zone(dtype.time_zone)
        fresh = fresh.cast(dtype)
    elif dtype == nw.Date:
        fresh = fresh.cast(nw.Date)
    elif not column.implementation.is_pandas_like() and dtype != nw.Object:
        fresh = fresh.cast(dtype)
    return _merged(fresh, column, known)


def _merged(fresh: "nw.Series[Any]", column: "nw.Series[Any]", known: BoolArray) -> "nw.Series[Any]":
    """Give a column with fresh values where it is not known."""
    fresh = _typed_like(fresh, column)
    if column.implementation.is_pandas_like():
        # Positions, not labels: an index may hold a label twice.
        native = nw.to_native(column).copy()
        native.iloc[np.flatnonzero(~known)] = nw.to_native(fresh).array[~known]
        return nw.from_native(native, series_only=True)
    mask: Any = nw.new_series(column.name, known, backend=column.implementation)
    return column.zip_with(mask, fresh)


def _typed_like(fresh: "nw.Series[Any]", column: "nw.Series[Any]") -> "nw.Series[Any]":
    """Give pandas' own types back: narwhals has one Boolean, one Int64 and one String of them."""
    if not column.implementation.is_pandas_like():
        return fresh
    native = nw.to_native(fresh).astype(nw.to_native(column).dtype)
    return nw.from_native(native, series_only=True)


def frame_like(data: Any, columns: list[NDArray[Any]], names: Any) -> Any:
    """Give a table beside the user's: a frame of the same kind, with its index, or an array.

    Parameters
    ----------
    data : the user's container
    columns : list of ndarray of shape (n_rows,)
    names : sequence of str or None
        Column names; without them an array is returned.
    """
    frame = None if names is None or isinstance(data, Table) else as_frame(data, "X")
    if frame is None:
        return np.column_stack(columns) if columns else np.empty((len(data), 0))
    named = dict(zip(map(str, names), columns, strict=True))
    fresh = nw.to_native(nw.from_dict(named, backend=frame.implementation))
    if frame.implementation.is_pandas_like():
        fresh.index = nw.to_native(frame).index
    return fresh


def hold_out_cells(data: Any, argument: str, held: BoolArray) -> Any:
    """Turn cells to unknown in a copy of the user's container.

    Parameters
    ----------
    data : the user's container, as given to :func:`cocomplete.table.containers.read_container`
    argument : str
        Its name in messages.
    held : ndarray of bool, shape (n_rows, n_columns)
        Cells to turn to unknown.

    Returns
    -------
    The same kind of container, null or NaN in the held-out cells; a frame's column keeps its type where that
    type has an unknown, and is the user's own where nothing is held out. Nested lists and arrays of whole
    numbers, truth values or objects come back as a float array, or as objects if there are words in it.
    """
    frame = as_frame(data, argument)
    if frame is None:
        raw = read_container(data, argument)
        if raw.others:
            cells = np.asarray(data, dtype=object).copy()
            cells[held] = None
            return cells
        return np.where(held, raw.numbers.dtype.type(np.nan), raw.numbers)
    if not frame.columns:
        return data
    whole = frame.with_columns(
        *(
            nw.when(nw.new_series(name, ~held[:, j], backend=frame.implementation)).then(nw.col(name))
            for j, name in enumerate(frame.columns)
            if held[:, j].any()
        )
    )
    return nw.to_native(whole)
