"""Feather, which is Arrow's file format."""

from io import BytesIO

import polars as pl

from cocomplete.formats.arrow_sizes import check_sizes
from cocomplete.formats.guarded import one_sentence, quiet_panics
from cocomplete.formats.table_file import ReadOptions, TableFile

NAME = "Feather"
ENDINGS = (".feather", ".arrow", ".ipc")
FILE_MAGIC = b"ARROW1"


def read(content: bytes, source: str, options: ReadOptions) -> TableFile:
    """Read an Arrow file, or an Arrow stream that bears its ending; NaN is unknown, as null is."""
    with one_sentence(f"{source} cannot be read as {NAME}"), quiet_panics():
        check_sizes(content, source)
        load = pl.read_ipc if content.startswith(FILE_MAGIC) else pl.read_ipc_stream
        frame = load(BytesIO(content)).fill_nan(None)
    return TableFile(frame, source)


def encode(done: pl.DataFrame, table: TableFile, target: str) -> list[tuple[str, bytes]]:
    """Write as an Arrow file."""
    buffer = BytesIO()
    with one_sentence(f"{target} cannot be written as {NAME}", "write CSV instead"):
        done.write_ipc(buffer)
    return [(target, buffer.getvalue())]
