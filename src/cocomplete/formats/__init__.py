"""Files to tables and back, one format a file."""

from cocomplete.formats.files import read_table, write_table
from cocomplete.formats.part_folder import write_blocks

__all__ = ["read_table", "write_blocks", "write_table"]
