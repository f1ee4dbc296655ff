"""The estimator's parameters, checked before anything else is done."""

from typing import Any

import numpy as np

from cocomplete.exceptions import InputError
from cocomplete.solvers.choice import OPTIONS, SOLVERS
from cocomplete.thresholds import check_threshold

LABEL_POLICIES = ("observed", "positive-unlabelled")

LARGEST_PENALTY = 1e100


def check_parameters(estimator: Any) -> None:
    """Refuse what cannot be, naming the parameter, what was given and what may be.

    Raises
    ------
    InputError
    """
    for name in ("rank_penalty", "residual_penalty", "feature_weight"):
        _check_penalty(name, getattr(estimator, name))
    for name, allowed in (("solver", SOLVERS), ("label_policy", LABEL_POLICIES)):
        value = getattr(estimator, name)
        if value not in allowed:
            msg = f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}"
            raise InputError(msg)
    share = estimator.recorded_share
    known = _is_number(share) and 0 < share <= 1
    if not known and not (isinstance(share, str) and share == "auto"):
        msg = f"recorded_share must be 'auto' or a number above 0 and at most 1, got {share!r}"
        raise InputError(msg)
    for name in ("averaging", "center", "scale", "clip", "polish", "certify"):
        value = getattr(estimator, name)
        if not isinstance(value, bool | np.bool_):
            msg = f"{name} must be True or False, got {value!r}"
            raise InputError(msg)
    if not isinstance(estimator.verbose, int | np.integer) or estimator.verbose < 0:
        msg = f"verbose must be a whole number of at least 0, got {estimator.verbose!r}"
        raise InputError(msg)
    for name in ("max_iter", "max_rank"):
        value = getattr(estimator, name)
        if value is not None and (not isinstance(value, int | np.integer) or value < 1):
            msg = f"{name} must be None or a whole number of at least 1, got {value!r}"
            raise InputError(msg)
    tol = estimator.tol
    if not _is_number(tol) or not 0 <= tol < np.inf:
        msg = f"tol must be a number that is not negative, got {tol!r}"
        raise InputError(msg)
    try:
        np.random.default_rng(estimator.random_state)
    except (TypeError, ValueError):
        msg = f"random_state must be None, a whole number or a Generator, got {estimator.random_state!r}"
        raise InputError(msg) from None
    check_threshold(estimator.threshold)
    _check_options(estimator.solver, estimator.solver_options)


def _check_options(solver: str, options: Any) -> None:
    if options is None:
        return
    if not isinstance(options, dict):
        msg = f"solver_options must be None or a dict of a solver's options, got {options!r}"
        raise InputError(msg)
    takes = OPTIONS.get(solver, ())
    unknown = [name for name in options if name not in takes]
    if unknown:
        msg = f"solver_options has {unknown}, but solver={solver!r} takes {', '.join(takes) or 'none'}"
        raise InputError(msg)
    for name, value in options.items():
        # None is the paper's way to say that the step goes on decaying.
        if value is not None and not (_is_number(value) and 0 < value < np.inf):
            msg = f"solver_options[{name!r}] must be a number above 0, got {value!r}"
            raise InputError(msg)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _check_penalty(name: str, value: Any) -> None:
    if isinstance(value, str) and value == "auto":
        return
    if not _is_number(value) or not 0 <= value < np.inf:
        msg = f"{name} must be 'auto' or a number that is not negative, got {value!r}"
        raise InputError(msg)
    if value > LARGEST_PENALTY:
        msg = f"{name} must be at most {LARGEST_PENALTY:g}, got {value!r}; squares of larger numbers overflow"
        raise InputError(msg)
    if name == "rank_penalty" and value == 0:
        msg = "rank_penalty must be above 0, got 0: without it nothing determines the hidden cells"
        raise InputError(msg)
