"""Bytes to text: which encoding a file is in, and whether a byte order mark says so."""

import codecs
from typing import NamedTuple

from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import shown

# UTF-32 before UTF-16: its little-endian mark begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Decoded(NamedTuple):
    """A file's text.

    Attributes
    ----------
    text : str
    encoding : str
    byte_order_mark : bool
    notes : tuple of str
    """

    text: str
    encoding: str
    byte_order_mark: bool
    notes: tuple[str, ...]


def decode(content: bytes, source: str, encoding: str | None = None) -> Decoded:
    """Decode by the encoding given, the byte order mark, or what the bytes allow.

    Without a mark: UTF-16 where every other byte is NUL, else UTF-8, else Windows-1252 with a note.

    Raises
    ------
    InputError
        If the encoding is unknown, is not that of the file, or the file holds NUL characters.
    """
    mark, marked = next(((mark, name) for mark, name in MARKS if content.startswith(mark)), (b"", None))
    chosen = _known(encoding, source) if encoding is not None else marked or _without_mark(content)
    if encoding is not None and marked != chosen:
        mark = b""
    notes: tuple[str, ...] = ()
    try:
        text = content[len(mark) :].decode(chosen)
    except UnicodeError as error:
        if encoding is not None or chosen != "utf-8" or mark:
            raise _undecodable(content, chosen, source, error) from error
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        text, chosen = _western(content)
        line = content.count(b"\n", 0, start) + 1
        name = "Windows-1252" if chosen == "cp1252" else "Latin-1"
        read_as = f"it was read as {name}, which --encoding can overrule"
        notes = (f"{source} is not UTF-8 text (line {line}); {read_as}",)
    _refuse_nul(text, source)
    return Decoded(text, chosen, bool(mark), notes)


def encode(text: str, encoding: str, *, byte_order_mark: bool) -> bytes:
    """Encode as the file was; as UTF-8 where that encoding lacks a character."""
    mark = next((mark for mark, name in MARKS if name == encoding), b"") if byte_order_mark else b""
    try:
        return mark + text.encode(encoding)
    except UnicodeError:
        # Text that came in by the surrogates of a file name or the like is not worth losing a table for.
        return codecs.BOM_UTF8 + text.encode("utf-8", errors="replace")


def _known(encoding: str, source: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)
    except (LookupError, ValueError) as error:
        msg = f"{source}: there is no encoding {shown(encoding)}; use a name such as utf-8, utf-16 or cp1252"
        raise InputError(msg) from error
    # The mark is handled here, so the codec must not add one of its own.
    return {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(name, name)


def _without_mark(content: bytes) -> str:
    """Tell UTF-16 by the NUL bytes that Western letters leave in it."""
    head = content[:4096]
    pairs = len(head) // 2
    if pairs and len(content) % 2 == 0:
        even, odd = head[0::2].count(0), head[1::2].count(0)
        if odd > 0.7 * pairs and even < 0.1 * pairs:
            return "utf-16-le"
        if even > 0.7 * pairs and odd < 0.1 * pairs:
            return "utf-16-be"
    return "utf-8"


def _western(content: bytes) -> tuple[str, str]:
    try:
        return content.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return content.decode("latin-1"), "latin-1"


def _undecodable(content: bytes, encoding: str, source: str, error: UnicodeError) -> InputError:
    start = error.start if isinstance(error, UnicodeDecodeError) else 0
    line = content.count(b"\n", 0, start) + 1
    return InputError(
        f"{source} is not {encoding.upper()} text: byte {start + 1}, on line {line}, does not belong there; "
        "save it as UTF-8 or name its encoding"
    )


def _refuse_nul(text: str, source: str) -> None:
    where = text.find("\0")
    if where >= 0:
        line = text.count("\n", 0, where) + 1
        column = where - text.rfind("\n", 0, where)
        msg = (
            f"{source}, line {line}: character {column} is NUL, which no text holds; "
            "is the file whole, and is it text?"
        )
        raise InputError(msg)
