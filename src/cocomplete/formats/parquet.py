"""Parquet."""

from io import BytesIO

import polars as pl

from cocomplete.formats.guarded import one_sentence, quiet_panics
from cocomplete.formats.table_file import ReadOptions, TableFile

NAME = "Parquet"
ENDINGS = (".parquet", ".pq")


def read(content: bytes, source: str, options: ReadOptions) -> TableFile:
    """Read a Parquet file with its column types; NaN is unknown, as null is."""
    with one_sentence(f"{source} cannot be read as {NAME}"), quiet_panics():
        frame = pl.read_parquet(BytesIO(content)).fill_nan(None)
    return TableFile(frame, source)


def encode(done: pl.DataFrame, table: TableFile, target: str) -> list[tuple[str, bytes]]:
    """Write as Parquet."""
    buffer = BytesIO()
    with one_sentence(f"{target} cannot be written as {NAME}", "write CSV instead"):
        done.write_parquet(buffer)
    return [(target, buffer.getvalue())]
