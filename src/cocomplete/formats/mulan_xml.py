"""Mulan's XML list of labels."""

from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from cocomplete.exceptions import InputError

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n'


def read_labels(content: bytes, source: str) -> list[str]:
    """Give the names of the labels in the list's order; a hierarchy is flattened.

    Raises
    ------
    InputError
        If this is no such list, or it defines entities, which a list of labels has no use for.
    """
    names: list[str] = []

    def element(tag: str, attributes: dict[str, str]) -> None:
        # The namespace varies, so only the local name is looked at.
        if tag.rpartition("}")[2] == "label":
            names.append(attributes.get("name", "").strip())

    def doctype(*_: object) -> None:
        msg = (
            f"{source} has a DOCTYPE, which a list of labels needs not and entities may hide in; take it out"
        )
        raise InputError(msg)

    try:
        parser = expat.ParserCreate(namespace_separator="}")
        parser.StartElementHandler = element
        parser.StartDoctypeDeclHandler = doctype
        parser.Parse(content, True)  # noqa: FBT003 (its last part; the parser takes no names)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        msg = f"{source} is not an XML list of labels: {error}"
        raise InputError(msg) from error
    if not names:
        msg = f"{source} holds no <label name=…> element; it should list the labels of the ARFF file"
        raise InputError(msg)
    if len(set(names)) < len(names) or "" in names:
        wrong = next(name for name in names if not name or names.count(name) > 1)
        msg = f"{source} lists a label {wrong!r} without a name of its own; every label needs one"
        raise InputError(msg)
    return names


def write_labels(names: tuple[str, ...]) -> bytes:
    """Write the list."""
    rows = "".join(f"<label name={quoteattr(name)}></label>\n" for name in names)
    return (HEAD + rows + "</labels>\n").encode()
