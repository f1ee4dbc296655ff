"""Every kind of ensemble member: judged on all folds, fitted to answer for its parts, left out on request."""

from collections.abc import Collection

import numpy as np
import pytest

from cocomplete.choosing.ensemble import EnsembleFit
from cocomplete.choosing.kinds import KIND_OF, KINDS, LEAST_KNOWN, Candidate
from cocomplete.fitted.parts import LABEL_PARTS, PARTS
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored

nan = np.nan
YES_NO = np.array([False, False, False, True, True])


def table(n: int = 120, seed: int = 0) -> Observations:
    """Numbers, one of them a step, yes/no features and four labels, of two factors."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, 2))
    X = F @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(n, 5))
    X[:, 2], X[:, 3:] = 2.0 * (X[:, 0] > 0) + 0.1 * X[:, 2], X[:, 3:] > 0
    Y = (F @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(n, 4)) > 0).astype(float)
    X, Y = (np.where(rng.random(part.shape) < 0.2, nan, part) for part in (X, Y))
    X[0] = rng.normal(size=5) > 0
    return Observations(X, Y)


def fit_of(observed: Observations, leave_out: Collection[str] = ()) -> EnsembleFit:
    return EnsembleFit(observed, YES_NO, seed=0, solve=solve_factored, leave_out=leave_out)


@pytest.fixture(scope="module")
def judged() -> EnsembleFit:
    fit = fit_of(table())
    fit._judge()
    return fit


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS if kind.name != "minimiser"])
def test_a_kind_predicts_the_held_out_cells_of_its_parts(judged: EnsembleFit, kind: str) -> None:
    own = [one for one in judged.contest.candidates() if one.kind == kind]
    assert own
    for part in KIND_OF[kind].parts:
        where = judged.held.where(part)
        answered = [np.isfinite(judged.contest.means[one][where]).all() for one in own]
        # Trees of features that are far behind are not grown.
        assert all(answered) or (kind == "trees" and part not in LABEL_PARTS)


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_a_kind_fits_a_member_that_answers_for_its_parts(judged: EnsembleFit, kind: str) -> None:
    own = [one for one in judged.contest.candidates() if one.kind == kind]
    if not own:
        pytest.skip("a first look said that it cannot win here")
    observed = judged.observed
    member = KIND_OF[kind].fit(own[-1].setting, judged.whole, KIND_OF[kind].parts)
    mean = member.predict(observed).mean
    columns = {"numbers": [0, 1, 2], "yes-no": [3, 4], "labels": [5, 6, 7, 8], "unlabelled": [5, 6, 7, 8]}
    assert mean.shape == (observed.n_samples, 9)
    for part in KIND_OF[kind].parts:
        assert np.isfinite(mean[:, columns[part]]).all()


def test_what_is_left_out_has_no_part() -> None:
    left_out = {"trees", "rbf", "linear", "number-kernel", "minimiser", "trivial"}
    fit = fit_of(table(), leave_out=left_out).run()
    names = {one.kind for weights in fit.weights.values() for one in weights}
    # The trivial answer is what the others are measured by.
    assert names <= {kind.name for kind in KINDS} - left_out | {"trivial"}


def test_of_a_kind_the_best_setting_is_weighed(judged: EnsembleFit) -> None:
    for part in PARTS:
        chosen = judged._chosen(part)
        assert len({one.kind for one in chosen}) == len(chosen)
        for one in chosen:
            rivals = [other for other in judged.contest.candidates() if other.kind == one.kind]
            together = LABEL_PARTS if part in LABEL_PARTS else (part,)
            assert judged._nats(one, together) == min(judged._nats(other, together) for other in rivals)


def test_unusual_settings_cost() -> None:
    for kind, usual, unusual in (("rbf", 3.0, 100.0), ("number-kernel", 0.2, 1.0), ("trees", 60, 15)):
        assert KIND_OF[kind].setting_cost(usual) == 0
        assert KIND_OF[kind].setting_cost(unusual) > 0


def test_small_tables_have_no_trees() -> None:
    fit = fit_of(table(n=LEAST_KNOWN // 2))
    fit._judge()
    assert not any(one.kind == "trees" for one in fit.contest.candidates())


def test_labels_alone_need_several() -> None:
    observed = table()
    few = Observations(observed.X, observed.Y[:, :2])
    assert KIND_OF["labels-alone"].applies(observed, YES_NO)
    assert not KIND_OF["labels-alone"].applies(few, YES_NO)


def test_members_are_named_as_they_were_judged(judged: EnsembleFit) -> None:
    assert Candidate("trivial") in judged.contest.candidates()
    assert [kind.name for kind in KINDS] == list(KIND_OF)
