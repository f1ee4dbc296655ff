"""Checks of one parameter each: its name, what was found, what is allowed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cocomplete.exceptions import InputError


def is_number(value: Any) -> bool:
    """Whether this is one real number; True and False are none."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse anything but one of these words."""
    if not isinstance(value, str) or value not in choices:
        msg = f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}"
        raise InputError(msg)


def check_positive(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but a finite number above 0, or None where the parameter may be left open."""
    if optional and value is None:
        return
    if not is_number(value) or not 0 < value < np.inf:
        msg = f"{name} must be {'None or ' if optional else ''}a finite number above 0, got {value!r}"
        raise InputError(msg)


def check_not_negative(name: str, value: Any, *, auto: bool = False, below: float = np.inf) -> None:
    """Refuse anything but a finite number of at least 0, or "auto" where that is allowed."""
    if auto and isinstance(value, str) and value == "auto":
        return
    if not is_number(value) or not 0 <= value < below:
        allowed, limit = "'auto' or a" if auto else "a", f" and below {below:g}" if below < np.inf else ""
        msg = f"{name} must be {allowed} number that is not negative{limit}, got {value!r}"
        raise InputError(msg)


def check_count(name: str, value: Any, *, least: int = 1, optional: bool = False) -> None:
    """Refuse anything but a whole number of at least ``least``, or None where it may be left open."""
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        allowed = "None or a" if optional else "a"
        msg = f"{name} must be {allowed} whole number of at least {least}, got {value!r}"
        raise InputError(msg)


def check_confidence(confidence: float, name: str = "confidence") -> None:
    """Refuse anything but a nominal coverage strictly between 0 and 1."""
    if not 0 < confidence < 1:
        msg = f"{name} must be between 0 and 1, got {confidence!r}; 0.95 is usual"
        raise InputError(msg)


def check_flag(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but True or False, or None where the parameter may be left open."""
    if not isinstance(value, bool | np.bool_) and not (optional and value is None):
        msg = f"{name} must be {'None, ' if optional else ''}True or False, got {value!r}"
        raise InputError(msg)
