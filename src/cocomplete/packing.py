"""Records of a few known classes as plain JSON and named arrays, and back.

Nothing that is read can name a class that is not in the list, so a file can make records but run no code.
What is referred to twice is kept once.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

LARGEST_EXACT = 2**63
"""Whole numbers below this are written as such."""


class UnknownRecordError(ValueError):
    """Something that cannot be packed, or is no packed record."""


class Packer:
    """Turns records into JSON and arrays.

    Parameters
    ----------
    classes : mapping of str to type
        Dataclasses and named tuples that may be packed, by the name that they have in a file.

    Attributes
    ----------
    arrays : dict
        What is to be kept beside the JSON.
    """

    def __init__(self, classes: Mapping[str, type]) -> None:
        self.names = {each: name for name, each in classes.items()}
        self.arrays: Arrays = {}
        self.records: list[Any] = []
        # Objects are kept alive with their places: the number of one that is gone may be given out again.
        self._places: dict[int, tuple[int, Any]] = {}

    def pack(self, value: Any) -> Any:
        """Give the JSON of a value.

        Raises
        ------
        UnknownRecordError
            If its class is not known.
        """
        if isinstance(value, np.bool_):
            value = bool(value)
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int | np.integer):
            return {"int": str(int(value))} if abs(int(value)) >= LARGEST_EXACT else int(value)
        if isinstance(value, float | np.floating):
            # repr is exact, and JSON has no word for infinity.
            return {"float": float(value).hex()}
        if isinstance(value, np.ndarray) or type(value) in self.names:
            return self._shared(value)
        return self._collection(value)

    def _collection(self, value: Any) -> Any:
        if type(value) is tuple:
            return {"tuple": [self.pack(each) for each in value]}
        if isinstance(value, list):
            return {"list": [self.pack(each) for each in value]}
        if isinstance(value, dict):
            return {"dict": [[self.pack(key), self.pack(each)] for key, each in value.items()]}
        msg = f"a {type(value).__module__}.{type(value).__qualname__} has no place in a model file"
        raise UnknownRecordError(msg)

    def _shared(self, value: Any) -> Any:
        if id(value) not in self._places:
            made = self._array(value) if isinstance(value, np.ndarray) else self._record(value)
            self._places[id(value)] = len(self.records), value
            self.records.append(made)
        return {"see": self._places[id(value)][0]}

    def _array(self, value: NDArray[Any]) -> Any:
        if value.dtype == object:
            return {"objects": [self.pack(each) for each in value.ravel()], "shape": list(value.shape)}
        if value.dtype.kind == "U":
            return {"text": value.ravel().tolist(), "shape": list(value.shape)}
        name = f"a{len(self.arrays)}"
        native = np.ascontiguousarray(value.astype(value.dtype.newbyteorder("="), copy=False))
        self.arrays[name] = native.reshape(value.shape)
        return {"array": name}

    def _record(self, value: Any) -> Any:
        names = [each.name for each in fields(value)] if is_dataclass(value) else list(value._fields)
        return {
            "class": self.names[type(value)],
            "fields": {name: self.pack(getattr(value, name)) for name in names},
        }


class Unpacker:
    """Turns JSON and arrays back into records.

    Parameters
    ----------
    classes : mapping of str to type
    records : list
        As :class:`Packer` left them.
    arrays : mapping of str to ndarray
    """

    def __init__(self, classes: Mapping[str, type], records: list[Any], arrays: Mapping[str, Any]) -> None:
        self.classes, self.arrays = classes, arrays
        self._made: list[Any] = []
        for record in records:
            self._made.append(self._record(record))

    def unpack(self, value: Any) -> Any:
        """Give back what was packed.

        Raises
        ------
        UnknownRecordError
            If it is no packed value.
        """
        if value is None or isinstance(value, bool | str | int):
            return value
        if not isinstance(value, dict) or len(value) != 1:
            msg = f"{str(value)[:60]!r} is no packed value"
            raise UnknownRecordError(msg)
        ((what, inner),) = value.items()
        makers: dict[str, Callable[[Any], Any]] = {
            "int": int,
            "float": float.fromhex,
            "tuple": lambda parts: tuple(self.unpack(part) for part in parts),
            "list": lambda parts: [self.unpack(part) for part in parts],
            "dict": lambda pairs: {self.unpack(key): self.unpack(each) for key, each in pairs},
            # Records refer to earlier ones alone.
            "see": lambda place: self._made[place],
        }
        if what not in makers:
            msg = f"{what!r} is no kind of packed value"
            raise UnknownRecordError(msg)
        return makers[what](inner)

    def _record(self, record: Any) -> Any:
        if not isinstance(record, dict) or not isinstance(record.get("fields", {}), dict):
            msg = f"{str(record)[:60]!r} is no packed record"
            raise UnknownRecordError(msg)
        if "array" in record:
            return self.arrays[record["array"]]
        if "objects" in record:
            cells = np.empty(len(record["objects"]), object)
            cells[:] = [self.unpack(each) for each in record["objects"]]
            return cells.reshape(record["shape"])
        if "text" in record:
            return np.array(record["text"], str).reshape(record["shape"])
        if record.get("class") not in self.classes:
            msg = f"{str(record.get('class'))[:60]!r} is no class of a model"
            raise UnknownRecordError(msg)
        values = {name: self.unpack(each) for name, each in record["fields"].items()}
        return self.classes[record["class"]](**values)
