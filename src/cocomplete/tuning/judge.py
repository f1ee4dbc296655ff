"""What candidates are judged by: observed cells that were hidden before anything was fitted."""

from functools import cached_property
from typing import Any

import numpy as np

from cocomplete.arrays import BoolArray
from cocomplete.candidates import Candidate, Method, log_loss
from cocomplete.hiding import Hidden, Part, Truth, View
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.observations import Observations
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.solution import Progress

FEWEST = 10
"""A part with fewer hidden cells than this is not judged: chance would choose."""

ENOUGH, MOST_HIDINGS = 300, 3
"""Where one hiding has fewer cells of a part than this, a small table is hidden from several times."""


class Judge:
    """Hides cells, shows candidates the rest, and keeps what each says of the hidden ones.

    Parameters
    ----------
    observed : Observations
        In the user's units.
    yes_no : ndarray of bool, shape (n_features,)
    center, scale : bool
    random_state : int
    progress : callable, optional
        Called with a record per candidate.

    Attributes
    ----------
    hidings : list of Hidden
    parts : tuple of str
        Those with enough hidden cells to be judged.
    candidates : list of Candidate
        In the order in which they were judged.
    """

    def __init__(
        self,
        observed: Observations,
        yes_no: BoolArray,
        *,
        center: bool,
        scale: bool,
        random_state: Any,
        progress: Progress | None = None,
    ) -> None:
        self.yes_no, self.center, self.scale = yes_no, center, scale
        rng = np.random.default_rng(random_state)
        self.hidings = [Hidden.of(observed, rng)]
        self.parts = tuple(part for part, size in self.hidings[0].sizes.items() if size >= FEWEST)
        fewest = min((self.hidings[0].weights[part] for part in self.parts), default=ENOUGH)
        self.hidings += [Hidden.of(observed, rng) for _ in range(min(-(-ENOUGH // fewest), MOST_HIDINGS) - 1)]
        self.candidates: list[Candidate] = []
        self.progress = progress
        self._views: dict[bool, list[View]] = {}

    @property
    def n_samples(self) -> int:
        """Rows of the table."""
        return self.hidings[0].visible.n_samples

    def best(
        self, part: Part, method: str | None = None, *, gaussian: bool | None = None
    ) -> Candidate | None:
        """Give the candidate with the smallest error of a part, of any method and scale or of one."""
        if part not in self.parts:
            return None
        among = (
            one
            for one in self.candidates
            if method in (None, one.method) and gaussian in (None, one.gaussian)
        )
        return min(among, key=lambda one: one.errors[part], default=None)

    def encoding_for(self, part: Part) -> bool:
        """Say whether features are made normal by ranks for a part: as its averages have it, or not."""
        best = self.best(part if part == "features" else self.parts[0], "average")
        return False if best is None else best.gaussian

    def look(self, *, gaussian: bool) -> "list[View]":
        """Every hiding as an encoding has it."""
        if gaussian not in self._views:
            settings = {"center": self.center, "scale": self.scale, "gaussian": gaussian}
            self._views[gaussian] = [
                View(hidden, Encoding.of(hidden.visible, self.yes_no, **settings), free_offsets=self.center)
                for hidden in self.hidings
            ]
        return self._views[gaussian]

    def judge(
        self,
        method: Method,
        views: "list[View]",
        settings: dict[str, Any],
        moments: list[Moments],
        blind: list[Moments],
    ) -> Candidate:
        """Work out a candidate's errors and keep it.

        Parameters
        ----------
        method : str
        views : list of View
            One per hiding.
        settings : dict
            What it was fitted with.
        moments, blind : list of Moments
            What it says of the hidden cells of every view, and of hidden labels from features alone.
        """
        parts = [view.decode(one) for view, one in zip(views, moments, strict=True)]
        x_mean, x_std, y_score = (np.concatenate(part) for part in zip(*parts, strict=True))
        y_blind = np.concatenate([view.in_order(one) for view, one in zip(views, blind, strict=True)])
        truth = self.truth
        errors: dict[Part, float] = {}
        if x_mean.size:
            residual = np.clip(x_mean, truth.x_low, truth.x_high) - np.clip(
                truth.x_value, truth.x_low, truth.x_high
            )
            errors["features"] = float(np.mean((residual / truth.x_scale) ** 2))
        if y_score.size:
            errors["labels"] = log_loss(truth.y_value, y_score)
            errors["unlabelled"] = log_loss(truth.y_value, y_blind)
        gaussian = views[0].encoding.gaussian
        candidate = Candidate(method, gaussian, settings, errors, x_mean, x_std, y_score, y_blind)
        self.candidates.append(candidate)
        if self.progress is not None:
            self.progress({"iteration": len(self.candidates), "stage": "tuning", **candidate.record()})
        return candidate

    @cached_property
    def truth(self) -> "Truth":
        """What the hidden cells hold, one hiding after the other."""
        names = ("x_column", "x_value", "x_scale", "x_low", "x_high", "y_column", "y_value")
        return Truth(*(np.concatenate([getattr(one, name) for one in self.hidings]) for name in names))
