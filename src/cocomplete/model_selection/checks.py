"""What the splitters ask of their settings."""

from typing import Any

from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import check_flag, legacy_generator, shown


def check_shuffle(*, shuffle: bool, random_state: Any) -> None:
    """Refuse a seed that would be ignored, and what is none."""
    check_flag("shuffle", shuffle)
    legacy_generator("random_state", random_state)
    if not shuffle and random_state is not None:
        msg = (
            f"random_state is {shown(random_state)} but shuffle is False, so it would have no effect; "
            "leave random_state out or set shuffle=True"
        )
        raise InputError(msg)


def check_same_rows(n_X: int, n_y: int) -> None:
    """Check that every row has its features and its labels."""
    if n_X != n_y:
        msg = f"X has {n_X} rows but y has {n_y}; every row needs its features and its labels, unknown or not"
        raise InputError(msg)
