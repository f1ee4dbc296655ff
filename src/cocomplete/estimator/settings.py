"""The estimator's parameters, checked once, before anything else is done."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from cocomplete.choosing.minimisers import Given
from cocomplete.estimator.thresholds import check_threshold
from cocomplete.exceptions import InputError
from cocomplete.interrupts import ON_INTERRUPT
from cocomplete.parameter_checks import (
    as_float,
    as_path,
    check_choice,
    check_count,
    check_flag,
    check_not_negative,
    check_seed,
    is_number,
    shown,
)
from cocomplete.solvers.choice import NAMES, options_of
from cocomplete.table.sparse_matrix import RULES

FILLS = ("value", "mean")

LABEL_POLICIES = ("observed", "positive-unlabelled")

LARGEST_PENALTY = 1e100

PENALTIES = ("rank_penalty", "residual_penalty", "feature_weight")


@dataclass(frozen=True)
class Settings:
    """Parameters of :class:`cocomplete.CoCompleter`, by the same names, known to be valid."""

    rank_penalty: Any
    residual_penalty: Any
    feature_weight: Any
    averaging: bool
    center: bool
    scale: bool
    feature_types: Any
    label_types: Any
    fill: str
    clip: bool
    label_policy: str
    recorded_share: Any
    solver: str
    solver_options: dict[str, Any] | None
    max_rank: int | None
    tol: float
    max_iter: int | None
    polish: bool
    certify: bool
    threshold: Any
    random_state: Any
    sparse_missing: str | None
    verbose: int
    on_interrupt: str
    checkpoint: Any
    force: bool

    @classmethod
    def checked(cls, parameters: Mapping[str, Any]) -> "Settings":
        """Take parameters by name; those that are not the estimator's own are left aside.

        Raises
        ------
        InputError
            With the parameter, what was given and what is allowed.
        """
        settings = cls(**{field.name: parameters[field.name] for field in fields(cls)})
        for name in PENALTIES:
            _check_penalty(name, getattr(settings, name))
        check_choice("solver", settings.solver, NAMES)
        check_choice("fill", settings.fill, FILLS)
        check_choice("label_policy", settings.label_policy, LABEL_POLICIES)
        _check_share(settings.recorded_share)
        for name in ("averaging", "center", "scale", "clip", "polish", "certify", "force"):
            check_flag(name, getattr(settings, name))
        # scikit-learn users write verbose=True for 1.
        if not isinstance(settings.verbose, bool):
            check_count("verbose", settings.verbose, least=0)
        for name in ("max_iter", "max_rank"):
            check_count(name, getattr(settings, name), optional=True)
        check_not_negative("tol", settings.tol)
        check_seed("random_state", settings.random_state)
        if settings.sparse_missing is not None:
            check_choice("sparse_missing", settings.sparse_missing, RULES)
        check_choice("on_interrupt", settings.on_interrupt, ON_INTERRUPT)
        _check_folder("checkpoint", settings.checkpoint)
        check_threshold(settings.threshold)
        _check_options(settings.solver, settings.solver_options)
        return settings

    @cached_property
    def given(self) -> Given:
        """The penalties that are not "auto"."""
        values = (getattr(self, name) for name in PENALTIES)
        return Given(*(None if isinstance(value, str) else float(value) for value in values))

    @property
    def wants_ensemble(self) -> bool:
        """Whether an ensemble is fitted; otherwise it is the minimiser of F that was asked for."""
        return self.averaging and self.given.nothing and self.center and self.scale

    @property
    def only_ones_recorded(self) -> bool:
        """Whether an unknown label may be a 1 that was not recorded."""
        return self.label_policy == "positive-unlabelled"

    @property
    def share(self) -> float | None:
        """The recorded share, None where it is to be estimated."""
        return None if isinstance(self.recorded_share, str) else float(self.recorded_share)

    @property
    def tunes_threshold(self) -> bool:
        """Whether thresholds are chosen on held-out cells."""
        return isinstance(self.threshold, str) and self.threshold == "f1"


def seed_of(random_state: Any) -> int:
    """Give the seed that a random state stands for; a Generator gives another one every time."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return int(random_state or 0)
    return int(np.random.default_rng(random_state).integers(2**62))


def _check_penalty(name: str, value: Any) -> None:
    check_not_negative(name, value, auto=True)
    if isinstance(value, str):
        return
    if as_float(value) > LARGEST_PENALTY:
        limit = f"at most {LARGEST_PENALTY:g}"
        msg = f"{name} must be {limit}, got {shown(value)}; squares of larger numbers overflow"
        raise InputError(msg)
    if name == "rank_penalty" and value == 0:
        msg = "rank_penalty must be above 0, got 0: without it nothing determines the unknown cells"
        raise InputError(msg)


def _check_share(share: Any) -> None:
    known = is_number(share) and 0 < as_float(share) <= 1
    if not known and not (isinstance(share, str) and share == "auto"):
        msg = f"recorded_share must be 'auto' or a number above 0 and at most 1, got {shown(share)}"
        raise InputError(msg)


def _check_folder(name: str, folder: Any) -> None:
    if folder is None:
        return
    if isinstance(folder, str | PathLike) and str(folder):
        as_path(name, folder)
        return
    msg = f"{name} must be None or the path of a folder, got {shown(folder)}"
    raise InputError(msg)


def _check_options(solver: str, options: Any) -> None:
    if options is None:
        return
    if not isinstance(options, dict):
        msg = f"solver_options must be None or a dict of a solver's options, got {shown(options)}"
        raise InputError(msg)
    takes = options_of(solver)
    unknown = [name for name in options if name not in takes]
    if unknown:
        msg = f"solver_options has {unknown}, but solver={solver!r} takes {', '.join(takes) or 'none'}"
        raise InputError(msg)
    for name, value in options.items():
        # None lets the step decay for ever, as the paper does.
        if value is not None and not (is_number(value) and 0 < as_float(value) < np.inf):
            msg = f"solver_options[{shown(name)}] must be a number above 0, got {shown(value)}"
            raise InputError(msg)
