"""Checks of one parameter each: its name, what was found, what is allowed."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError

LONGEST = 200
"""Characters of a value that a message shows."""


def shown(value: Any) -> str:
    """Give a value as messages show it: not longer than a line or two, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # a whole number of more digits than Python writes, or an object that cannot say
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def is_number(value: Any) -> bool:
    """Whether this is one real number; True and False are none, nor are spans of time."""
    known = isinstance(value, int | float | np.integer | np.floating)
    return known and not isinstance(value, bool | np.timedelta64)


def is_whole(value: Any) -> bool:
    """Whether this is one whole number."""
    return is_number(value) and isinstance(value, int | np.integer)


def as_float(value: Any) -> float:
    """Give a number as a float; a whole number beyond them is infinite."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse anything but one of these words."""
    if not isinstance(value, str) or value not in choices:
        msg = f"{name} must be one of {', '.join(map(repr, choices))}, got {shown(value)}"
        raise InputError(msg)


def check_positive(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but a finite number above 0, or None where the parameter may be left open."""
    if optional and value is None:
        return
    if not is_number(value) or not 0 < as_float(value) < np.inf:
        msg = f"{name} must be {'None or ' if optional else ''}a finite number above 0, got {shown(value)}"
        raise InputError(msg)


def check_not_negative(name: str, value: Any, *, auto: bool = False, below: float = np.inf) -> None:
    """Refuse anything but a finite number of at least 0, or "auto" where that is allowed."""
    if auto and isinstance(value, str) and value == "auto":
        return
    if not is_number(value) or not 0 <= as_float(value) < below:
        allowed, limit = "'auto' or a" if auto else "a", f" and below {below:g}" if below < np.inf else ""
        msg = f"{name} must be {allowed} number that is not negative{limit}, got {shown(value)}"
        raise InputError(msg)


def check_count(name: str, value: Any, *, least: int = 1, optional: bool = False) -> None:
    """Refuse anything but a whole number of at least ``least``, or None where it may be left open."""
    if optional and value is None:
        return
    if not is_whole(value) or value < least:
        allowed = "None or a" if optional else "a"
        msg = f"{name} must be {allowed} whole number of at least {least}, got {shown(value)}"
        raise InputError(msg)


def check_share(name: str, value: Any) -> None:
    """Refuse anything but a share above 0 and at most 1."""
    if not is_number(value) or not 0 < as_float(value) <= 1:
        msg = f"{name} must be a share above 0 and at most 1, got {shown(value)}"
        raise InputError(msg)


def check_seed(name: str, value: Any) -> None:
    """Refuse what no generator of random numbers can be made of."""
    try:
        np.random.default_rng(value)
    except (TypeError, ValueError, AttributeError):
        msg = f"{name} must be None, a whole number or a Generator, got {shown(value)}"
        raise InputError(msg) from None


def legacy_generator(name: str, value: Any) -> np.random.RandomState:
    """Make a generator of random numbers as scikit-learn does.

    Raises
    ------
    InputError
        If it is no seed.
    """
    from sklearn.utils import check_random_state

    try:
        # scikit-learn takes a span of time for a whole number.
        found: np.random.RandomState = check_random_state("" if isinstance(value, np.timedelta64) else value)
    except (TypeError, ValueError):
        allowed = "None, a whole number from 0 to 2**32 - 1 or a RandomState"
        msg = f"{name} must be {allowed}, got {shown(value)}"
        raise InputError(msg) from None
    return found


def as_path(name: str, value: Any) -> Path:
    """Give the path that a user names.

    Raises
    ------
    InputError
        If it is none, or a name that no file can have.
    """
    try:
        path = os.fspath(value)
        os.fsencode(path)
    except (TypeError, ValueError):
        path = None
    if not isinstance(path, str) or "\0" in path:
        msg = f"{name} must be the path of a file or folder, got {shown(value)}"
        raise InputError(msg)
    return Path(path)


def is_text(value: Any) -> bool:
    """Whether this is text that can be written: half of a surrogate pair cannot."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def listed_words(name: str, value: Any) -> tuple[str, ...]:
    """Give words of which there may be one or several.

    Raises
    ------
    InputError
        If anything is no word.
    """
    try:
        words = (value,) if isinstance(value, str | bytes) else tuple(value)
    except TypeError:
        words = (value,)
    if not all(is_text(word) for word in words):
        msg = f"{name} must be text, or a list of texts, got {shown(value)}"
        raise InputError(msg)
    return words


def as_numbers(name: str, values: Any, what: str = "numbers") -> FloatArray:
    """Give an array of real numbers.

    Parameters
    ----------
    name : str
        What the caller calls them.
    values : array-like
    what : str
        What they must be.

    Raises
    ------
    InputError
        If they cannot be read as such.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufOUS":
            msg = f"they are of type {array.dtype}"
            raise TypeError(msg)
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        msg = f"{name} must be {what}, but could not be read as such: {error}"
        raise InputError(msg) from error


def check_confidence(confidence: Any, name: str = "confidence") -> None:
    """Refuse anything but a nominal coverage strictly between 0 and 1."""
    if not is_number(confidence) or not 0 < as_float(confidence) < 1:
        msg = f"{name} must be between 0 and 1, got {shown(confidence)}; 0.95 is usual"
        raise InputError(msg)


def check_flag(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but True or False, or None where the parameter may be left open."""
    if not isinstance(value, bool | np.bool_) and not (optional and value is None):
        msg = f"{name} must be {'None, ' if optional else ''}True or False, got {shown(value)}"
        raise InputError(msg)
