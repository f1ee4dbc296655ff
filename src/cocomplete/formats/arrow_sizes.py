"""Sizes that an Arrow file claims, looked at before its reader takes memory for them.

The reader allocates what a compressed buffer says it unpacks to; a damaged size ends the process. So claims
are summed here first. What is read of Arrow's format: the footer's blocks, messages, record batches, buffers.
"""

from collections.abc import Iterator
from struct import Struct

from cocomplete.exceptions import InputError
from cocomplete.formats.guarded import MAX_BYTES, MAX_CELLS

INT16, INT32, INT64 = Struct("<h"), Struct("<i"), Struct("<q")
BLOCK_BYTES, BUFFER_BYTES = 24, 16
MAGIC = b"ARROW1"
DICTIONARY_BATCH, RECORD_BATCH = 2, 3
"""Kinds of messages, by Arrow's numbers."""


def check_sizes(content: bytes, source: str) -> None:
    """Refuse a file whose buffers claim to unpack to more than any table would.

    Raises
    ------
    InputError
        If they do.
    struct.error
        If the file ends before what it refers to.
    """
    claimed = 0
    for offset in _messages(content):
        batch, body = _batch(content, offset)
        if batch is None:
            continue
        rows = _field(content, batch, 0)
        height = INT64.unpack_from(content, rows)[0] if rows else 0
        if not 0 <= height <= MAX_CELLS:
            msg = f"{source} says it has {height} rows; is the file whole?"
            raise InputError(msg)
        if _field(content, batch, 3) is None:
            continue
        for start, length in _buffers(content, batch):
            if length >= INT64.size:
                claimed += max(INT64.unpack_from(content, body + start)[0], 0)
        if claimed > MAX_BYTES:
            msg = f"{source} says it unpacks to more than {MAX_BYTES >> 30} GB; is the file whole?"
            raise InputError(msg)


def _messages(content: bytes) -> Iterator[int]:
    """Give where messages begin: in a file by its footer, in a stream one after the other."""
    if content.startswith(MAGIC):
        end = len(content) - len(MAGIC) - INT32.size
        start = end - INT32.unpack_from(content, end)[0]
        footer = start + INT32.unpack_from(content, start)[0]
        for number in (2, 3):
            for block in _vector(content, footer, number, BLOCK_BYTES):
                yield INT64.unpack_from(content, block)[0]
        return
    position = 0
    while position + 8 <= len(content):
        table, body = _message(content, position)
        if table is None:
            return
        yield position
        size = _field(content, table, 3)
        position = body + (INT64.unpack_from(content, size)[0] if size else 0)
        if body > position:
            return


def _message(content: bytes, offset: int) -> tuple[int | None, int]:
    """Give a message's table, None at the end of a stream, and where its body begins."""
    length = INT32.unpack_from(content, offset)[0]
    start = offset + INT32.size
    if length == -1:
        length = INT32.unpack_from(content, start)[0]
        start += INT32.size
    if length <= 0:
        return None, start
    return start + INT32.unpack_from(content, start)[0], start + length


def _batch(content: bytes, offset: int) -> tuple[int | None, int]:
    """Give the record batch of a message, None if it holds none, and where its buffers begin."""
    table, body = _message(content, offset)
    if table is None:
        return None, body
    kind, header = _field(content, table, 1), _field(content, table, 2)
    if kind is None or header is None or content[kind] not in (DICTIONARY_BATCH, RECORD_BATCH):
        return None, body
    batch = header + INT32.unpack_from(content, header)[0]
    if content[kind] == RECORD_BATCH:
        return batch, body
    inner = _field(content, batch, 1)
    return (None if inner is None else inner + INT32.unpack_from(content, inner)[0]), body


def _buffers(content: bytes, batch: int) -> Iterator[tuple[int, int]]:
    for position in _vector(content, batch, 2, BUFFER_BYTES):
        yield INT64.unpack_from(content, position)[0], INT64.unpack_from(content, position + 8)[0]


def _vector(content: bytes, table: int, number: int, size: int) -> range:
    """Give where the structures of a table's vector begin."""
    field = _field(content, table, number)
    if field is None:
        return range(0)
    start = field + INT32.unpack_from(content, field)[0]
    count = INT32.unpack_from(content, start)[0]
    return range(start + 4, start + 4 + size * min(max(count, 0), len(content) // size), size)


def _field(content: bytes, table: int, number: int) -> int | None:
    """Give where a table has a field; None if it is left out."""
    entries = table - INT32.unpack_from(content, table)[0]
    place = 4 + 2 * number
    if place >= INT16.unpack_from(content, entries)[0]:
        return None
    offset: int = INT16.unpack_from(content, entries + place)[0]
    return table + offset if offset else None
