"""NPZ: features ``X`` and labels ``Y`` as matrices, other columns an array each.

``feature_names`` and ``label_names`` name the columns of the matrices, ``feature_types`` and ``label_types``
have their types. Text and dates are arrays of their own, ``column:NAME``, with ``unknown:NAME`` where cells
are unknown; ``columns`` has the order of all of them. A file without these names is read too: matrices give
columns ``X 1``, ``X 2``, …, vectors one column each.
"""

import zipfile
from io import BytesIO
from typing import Any

import numpy as np
import polars as pl

from cocomplete.exceptions import InputError
from cocomplete.formats.guarded import MAX_BYTES, one_sentence
from cocomplete.formats.table_file import ReadOptions, TableFile

NAME = "NPZ"
ENDINGS = (".npz",)
KINDS = (pl.Float64, pl.Float32, pl.Boolean, pl.Int64, pl.Int32, pl.Int16, pl.Int8)
UNSIGNED = (pl.UInt64, pl.UInt32, pl.UInt16, pl.UInt8)
TYPES: dict[str, pl.DataType] = {str(kind()): kind() for kind in (*KINDS, *UNSIGNED)}
DESCRIPTIONS = ("feature_names", "label_names", "feature_types", "label_types", "columns")


def read(content: bytes, source: str, options: ReadOptions) -> TableFile:
    """Read an NPZ file.

    Raises
    ------
    InputError
        If it is damaged, says it unpacks to more than memory should be asked for, or holds no table.
    """
    # Arrays of any type and shape may be in it, and polars refuses some of them in its own words.
    with one_sentence(f"{source} cannot be read as {NAME}"):
        arrays = _arrays(content, source)
        described = {
            name: [str(cell) for cell in arrays.pop(name, np.empty(0)).ravel()] for name in DESCRIPTIONS
        }
        parts = {key: _columns(key, array, described) for key, array in arrays.items() if _is_data(key)}
        columns = [_known(column, arrays) for part in parts.values() for column in part]
        frame = pl.DataFrame(columns).fill_nan(None)
    order = described["columns"]
    if sorted(order) == sorted(frame.columns):
        frame = frame.select(order)
    labels = tuple(column.name for key in ("Y", "y") for column in parts.get(key, ()))
    return TableFile(frame, source, labels=labels or None)


def encode(done: pl.DataFrame, table: TableFile, target: str) -> list[tuple[str, bytes]]:
    """Write as NPZ."""
    labels = [name for name in table.labels or () if name in done.columns and _in_matrix(done[name])]
    features = [name for name in done.columns if name not in set(labels) and _in_matrix(done[name])]
    arrays: dict[str, Any] = {"columns": np.array(done.columns, dtype=np.str_)}
    for key, part, names in (("X", "feature", features), ("Y", "label", labels)):
        if names:
            arrays[key] = np.column_stack([done[name].cast(pl.Float64).to_numpy() for name in names])
            arrays[f"{part}_names"] = np.array(names, dtype=np.str_)
            arrays[f"{part}_types"] = np.array([str(done[name].dtype) for name in names], dtype=np.str_)
    for name in done.columns:
        if name in set(labels) | set(features):
            continue
        column = done[name]
        if column.dtype.is_temporal() or column.dtype.is_integer():
            arrays[f"column:{name}"] = (
                column.fill_null(0) if column.dtype.is_integer() else column
            ).to_numpy()
        else:
            arrays[f"column:{name}"] = np.array(column.cast(pl.String).fill_null("").to_list(), dtype=np.str_)
        if column.null_count():
            arrays[f"unknown:{name}"] = column.is_null().to_numpy()
    buffer = BytesIO()
    np.savez_compressed(buffer, **arrays)
    return [(target, buffer.getvalue())]


def _in_matrix(column: pl.Series) -> bool:
    """Tell whether floats hold every value of a column."""
    if column.dtype.is_integer():
        size = column.cast(pl.Int64, strict=False).abs().max()
        return size is None or int(size) <= 2**53  # type: ignore[arg-type]
    return column.dtype.is_float() or column.dtype in (pl.Boolean, pl.Null)


def _arrays(content: bytes, source: str) -> dict[str, np.ndarray[Any, Any]]:
    """Unpack the arrays, each only after its header agrees with its size."""
    arrays = {}
    with zipfile.ZipFile(BytesIO(content)) as archive:
        parts = [part for part in archive.infolist() if part.filename.endswith(".npy")]
        if sum(part.file_size for part in parts) > MAX_BYTES:
            msg = f"{source} says it unpacks to more than {MAX_BYTES >> 30} GB; so much is not read"
            raise InputError(msg)
        for part in parts:
            with archive.open(part) as stream:
                version = np.lib.format.read_magic(stream)
                headers = {
                    (1, 0): np.lib.format.read_array_header_1_0,
                    (2, 0): np.lib.format.read_array_header_2_0,
                }
                shape, _, dtype = headers.get(version, np.lib.format.read_array_header_2_0)(stream)
                needed = int(np.prod(shape, dtype=object)) * dtype.itemsize
                left = part.file_size - stream.tell()
            if dtype.hasobject or needed != left:
                msg = f"{source}: the array {part.filename!r} is not what its header says; is the file whole?"
                raise InputError(msg)
            with archive.open(part) as stream:
                array = np.lib.format.read_array(stream, allow_pickle=False)
            if not _is_text(array):
                what = f"the array {part.filename!r} holds letters that do not exist"
                msg = f"{source}: {what}; is the file whole?"
                raise InputError(msg)
            arrays[part.filename.removesuffix(".npy")] = array
    if not arrays:
        msg = f"{source} holds no array; an NPZ file of a table has X and Y, or an array for each column"
        raise InputError(msg)
    return arrays


def _is_data(key: str) -> bool:
    return not key.startswith("unknown:")


def _known(column: pl.Series, arrays: dict[str, np.ndarray[Any, Any]]) -> pl.Series:
    """Take out the cells that another array says are unknown."""
    name = column.name.removeprefix("column:")
    unknown = arrays.get(f"unknown:{name}")
    if unknown is None:
        return column.rename(name)
    mask = pl.Series(unknown.astype(bool))
    return pl.select(pl.when(~mask).then(column)).to_series().rename(name)


def _native(key: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Give an array in a type of this machine that a column can have."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind not in "biufUM":
        msg = f"the array {key!r} holds {array.dtype}, which is neither numbers, truth values, text nor dates"
        raise ValueError(msg)
    if kind == "f" and size not in (4, 8):
        return array.astype(np.float64)
    if kind == "M" and np.datetime_data(array.dtype) not in (("D", 1), ("ms", 1), ("us", 1), ("ns", 1)):
        return array.astype("datetime64[us]")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _is_text(array: np.ndarray[Any, Any]) -> bool:
    """Tell whether letters exist, which neither NumPy nor Python nor polars looks at; numbers hold none."""
    if array.dtype.kind != "U" or array.size == 0 or array.dtype.itemsize == 0:
        return True
    codes = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).ravel().view(np.uint32)
    return bool(np.all((codes < 0xD800) | ((codes > 0xDFFF) & (codes <= 0x10FFFF))))


def _columns(key: str, array: np.ndarray[Any, Any], described: dict[str, list[str]]) -> list[pl.Series]:
    """Give the columns of an array, by the names and types that the file has for them."""
    if array.ndim not in (1, 2):
        msg = f"the array {key!r} has {array.ndim} dimensions; a column has one, a matrix two"
        raise ValueError(msg)
    array = _native(key, array)
    if array.ndim == 1:
        return [pl.Series(key, array)]
    width = array.shape[1]
    part = {"X": "feature", "Y": "label", "y": "label"}.get(key, "")
    names, types = described.get(f"{part}_names", []), described.get(f"{part}_types", [])
    names = names if len(names) == width else [f"{key} {j + 1}" for j in range(width)]
    columns = [pl.Series(name, np.ascontiguousarray(array[:, j])) for j, name in enumerate(names)]
    if len(types) != width:
        return columns
    return [
        column.fill_nan(None).cast(TYPES[kind]) if kind in TYPES and column.dtype.is_float() else column
        for column, kind in zip(columns, types, strict=True)
    ]
