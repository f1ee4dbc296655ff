"""First looks: what they cost little to see decides whether a kind of member is judged in full."""

from typing import Any

import numpy as np
import pytest

from cocomplete.arrays import BoolArray
from cocomplete.choosing import minimiser_kind
from cocomplete.choosing.ensemble import EnsembleFit
from cocomplete.choosing.first_look import LOOKED_AT, FirstLook
from cocomplete.choosing.held_out import Fold
from cocomplete.choosing.kind import Candidate
from cocomplete.choosing.kinds import KIND_OF, KINDS
from cocomplete.choosing.minimisers import Path
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from tests.units.kind_tables import fit_of, table

nan = np.nan


@pytest.mark.parametrize("worth", [0.0, 1e9])
def test_minimisers_are_followed_where_a_first_look_is_promising(
    monkeypatch: pytest.MonkeyPatch, worth: float
) -> None:
    fit = fit_of(table())
    for name in ("trivial", "average"):
        KIND_OF[name].judge(fit.folds, fit.contest)
    for name in ("WORTH_A_PATH", "PROMISING"):
        monkeypatch.setattr(minimiser_kind, name, worth)
    KIND_OF["minimiser"].judge(fit.folds, fit.contest)
    own = [one for one in fit.contest.candidates() if one.kind == "minimiser"]
    assert bool(own) == (worth > 1)
    # At most the best for features and the best for labels, with predictions of every fold's cells.
    assert len(own) <= 2
    for one in own:
        assert np.isfinite(fit.contest.means[one]).all()


@pytest.mark.parametrize(("off", "pays"), [(0.0, True), (5.0, False)])
def test_a_first_look_pays_where_it_would_give_a_weight(off: float, pays: bool) -> None:
    """Beside a member that knows the truth but for noise, its double shares its weight, unless biased."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, LOOKED_AT + 4))
    observed, yes_no = Observations(X, np.empty((200, 0))), np.zeros(LOOKED_AT + 4, bool)
    fit = EnsembleFit(observed, yes_no, seed=0, solve=solve_factored)
    fold = fit.folds[0].fold
    first = fold.value + 0.5 * rng.normal(size=fold.value.size)
    for number in range(len(fit.folds)):
        size = fit.folds[number].fold.value.size
        fit.contest.add_means(Candidate("trivial"), number, first if number == 0 else np.zeros(size))
    look = FirstLook(fit.folds[0], fit.contest)
    tried = np.where(np.isin(fold.column, look.columns), first + off, nan)
    assert look.pays([tried], "numbers", 1e9) == pays
    assert not look.pays([tried], "numbers", 0.1)


@pytest.mark.parametrize("limit", [0.0, 100.0])
def test_a_minimiser_of_a_large_table_is_looked_at_in_some_rows_first(
    monkeypatch: pytest.MonkeyPatch, limit: float
) -> None:
    fit = fit_of(table(), [kind.name for kind in KINDS if kind.name not in {"trivial", "minimiser"}])
    fit.kinds[0].judge(fit.folds, fit.contest)
    followed = []

    def follow(path: Any, fold: Fold, yes_no: BoolArray) -> Any:
        followed.append(fold)
        for penalties in path.penalties():
            yield penalties, np.zeros(fold.row.size)

    monkeypatch.setattr(Path, "follow", follow)
    monkeypatch.setattr(minimiser_kind, "LOOKED_AT", 300)
    monkeypatch.setattr(minimiser_kind, "WORTH_A_PATH", limit)
    KIND_OF["minimiser"].judge(fit.folds, fit.contest)
    whole, some = fit.folds[0].fold, followed[0]
    count = int(some.visible.X_known.sum() + some.visible.Y_known.sum())
    assert 200 < count < 400
    # Cells are those of the fold, in the rows that are looked at.
    truth = np.hstack((whole.visible.X, whole.visible.Y))
    rows = fit.folds[0].first_rows(some.visible.n_samples)
    np.testing.assert_array_equal(np.hstack((some.visible.X, some.visible.Y)), truth[rows])
    cells = {(i, j): value for i, j, value in zip(whole.row, whole.column, whole.value, strict=True)}
    assert [cells[rows[i], j] for i, j in zip(some.row, some.column, strict=True)] == list(some.value)
    assert (len(followed) > 1) == (limit > 1)
