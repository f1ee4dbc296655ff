"""Parquet."""

from io import BytesIO

import polars as pl

from cocomplete.exceptions import InputError


def read(content: bytes, source: str) -> pl.DataFrame:
    """Read a Parquet file with its column types."""
    try:
        return pl.read_parquet(BytesIO(content))
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        msg = f"{source} cannot be read as Parquet: {reason}; is the file whole?"
        raise InputError(msg) from error


def encode(frame: pl.DataFrame) -> bytes:
    """Write as Parquet."""
    buffer = BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()
