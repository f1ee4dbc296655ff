"""Checks of the rivals' settings: the parameter, what was found, what to do."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cocomplete.exceptions import InputError


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse anything but one of these words."""
    if not isinstance(value, str) or value not in choices:
        msg = f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}"
        raise InputError(msg)


def check_positive(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but a finite number above 0, or None where the setting may be left open."""
    if optional and value is None:
        return
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.integer | np.floating)
        or not 0 < value < np.inf
    ):
        msg = f"{name} must be {'None or ' if optional else ''}a finite number above 0, got {value!r}"
        raise InputError(msg)


def check_count(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but a whole number of at least 1, or None where the setting may be left open."""
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        msg = f"{name} must be {'None or ' if optional else ''}a whole number of at least 1, got {value!r}"
        raise InputError(msg)


def check_flag(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but True or False, or None where the setting may be left open."""
    if not isinstance(value, bool | np.bool_) and not (optional and value is None):
        msg = f"{name} must be {'None, ' if optional else ''}True or False, got {value!r}"
        raise InputError(msg)
