"""Messages of a fit to its user: log lines at once, warnings together at the end."""

import logging
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from cocomplete.positive_unlabelled import RecordedShare
from cocomplete.problem.observations import Observations
from cocomplete.solvers.solution import Progress, Record, Solution
from cocomplete.table.containers import column_label
from cocomplete.table.schema import values_by_column

VAGUE_RATIO = 1.25
"""The number of unrecorded ones is known to within a quarter where neither end of the recorded share's
interval makes it more than so many times as large or small; beyond it there is a warning."""

FEWEST_ONES_ALONE = 3
"""Observed cells of a label from which on their all being 1 is more than chance."""

logger = logging.getLogger("cocomplete")


def _show_log() -> None:
    """Let log lines be seen where nobody has set logging up."""
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)


class Messages:
    """Logs as asked, and collects warnings, which the estimator issues with its caller's line.

    Parameters
    ----------
    verbose : int
        At 1 :meth:`log` writes to the ``cocomplete`` logger, at 2 every record is logged too.
    """

    def __init__(self, verbose: int) -> None:
        self.verbose = verbose
        if verbose >= 1:
            _show_log()
        self.warnings: list[tuple[str, type[Warning]]] = []

    def log(self, text: str) -> None:
        """Log a line at verbosity 1."""
        if self.verbose >= 1:
            logger.info(text)

    def compiling(self) -> None:
        """Log, whatever the verbosity, why the first fit after an installation takes longer."""
        logger.info("compiling, once: later fits find the inner loops on disk")

    def logging(self, progress: Progress | None) -> Progress | None:
        """Give a progress function that also logs every record at verbosity 2."""
        if self.verbose < 2:
            return progress

        def report(record: Record) -> None:
            logger.info(
                ", ".join(
                    f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
                    for name, value in record.items()
                )
            )
            if progress is not None:
                progress(record)

        return report

    def issue(self, *, stacklevel: int) -> None:
        """Issue the warnings collected so far; ``stacklevel`` counts from the caller, which is 1."""
        for text, category in self.warnings:
            warnings.warn(text, category, stacklevel=stacklevel + 1)
        self.warnings.clear()

    def _warn(self, text: str, category: type[Warning] = UserWarning) -> None:
        self.warnings.append((text, category))

    # -- what there is to warn of ----------------------------------------------------------------------

    def only_ones_observed(self, observed: Observations) -> None:
        """Warn of labels of which only ones are observed."""
        ones, known = np.nansum(observed.Y, axis=0), observed.Y_known.sum(axis=0)
        alone = np.flatnonzero((ones == known) & (known >= FEWEST_ONES_ALONE))
        if alone.size:
            first = column_label(observed.label_names, int(alone[0])).removeprefix("column ")
            more = f" and {alone.size - 1} more" if alone.size > 1 else ""
            self._warn(
                f"label(s) {first}{more} have only ones observed; if only ones are ever recorded, use "
                "label_policy='positive-unlabelled'"
            )

    def recorded_share(self, found: RecordedShare) -> None:
        """Warn where the data do not identify the share of ones that are recorded."""
        between = f"between {found.low:.2f} and {found.high:.2f}, {found.share:.2f} is used"
        cure = "give it as recorded_share= if you know it"
        if not found.identified:
            self._warn(f"the data hardly identify which share of the ones is recorded: {between}; {cure}")
        elif found.unrecorded_ratio > VAGUE_RATIO:
            self._warn(
                f"the share of the ones that is recorded is {between}; unrecorded ones may be "
                f"{found.unrecorded_ratio:.1f} times as many, or as few, as it implies; {cure}"
            )

    def not_converged(self, solver: str, solution: Solution, tol: float, max_rank: int | None) -> None:
        """Warn of a duality gap above the tolerance."""
        capped = max_rank is not None and solution.M.rank >= max_rank
        cure = "raise max_rank" if capped else "raise max_iter or tol"
        self._warn(
            f"the duality gap is {solution.duality_gap:.2g} after {solution.n_iter} iterations of "
            f"solver={solver!r}, above tol={tol:g}; {cure}, or use the answer as it is: its "
            "objective is at most that share above the minimum",
            ConvergenceWarning,
        )

    def still_gaining(self, solution: Solution) -> None:
        """Warn of a minimiser whose steps ended before their gains did."""
        self._warn(
            f"the objective was still falling when the {solution.n_iter} steps of solver='factored' ended; "
            "raise max_iter or tol, or use the answer as it is: validation_ has its error on held-out cells",
            ConvergenceWarning,
        )

    def not_sampled(self, of_blocks: Iterable[dict[str, list[Any]]]) -> None:
        """Warn of values of a long table that its sample has none of, as every block has found them."""
        found: dict[str, set[Any]] = {}
        for block in of_blocks:
            for column, values in block.items():
                found.setdefault(column, set()).update(values)
        if found:
            named = values_by_column({column: sorted(values) for column, values in found.items()})
            self._warn(
                f"values that no sampled row has are taken for unknown: {named}; say what such columns hold "
                "with feature_types= or label_types="
            )

    def hardly_varied(self, columns: NDArray[np.intp], sample: int) -> None:
        """Warn of features that vary in so few rows that a sample has one value of theirs."""
        shown = ", ".join(map(str, columns[:5])) + (", …" if columns.size > 5 else "")
        self._warn(
            f"feature(s) {shown} (counting from 0) hold other values in so few rows that the {sample} "
            "sampled ones show none of them; they take no part and are filled with their usual value"
        )

    def interrupted(self) -> None:
        """Warn of a model whose fit was cut short."""
        self._warn("fit was interrupted: this is the best model found so far, not the best there is")

    def validation(self, found: dict[str, Any] | None) -> None:
        """Log the errors on held-out cells; warn where nothing was better than the trivial prediction."""
        for part, errors in (found or {}).items():
            if not isinstance(errors, dict) or "weights" not in errors:
                continue
            self.log(f"{part}: " + ", ".join(f"{name} {value}" for name, value in errors.items()))
            if set(errors["weights"]) == {"trivial"}:
                simple = "column means" if part == "features" else "observed rates"
                self._warn(
                    f"nothing predicted held-out cells of {part} better than {simple}, so these are "
                    "used; the table may be too small, or its columns unrelated"
                )
