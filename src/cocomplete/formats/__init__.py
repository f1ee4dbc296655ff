"""Files to tables and back, one format a file."""

from cocomplete.formats.files import read_table, write_table

__all__ = ["read_table", "write_table"]
