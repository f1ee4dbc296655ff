"""Ctrl-C: raised by default, without a trace in the estimator; on request the best model so far is kept."""

import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils import Bunch

from cocomplete import CoCompleter, InputError
from cocomplete.arrays import FloatArray
from cocomplete.choosing.ensemble import EnsembleFit
from cocomplete.choosing.kind import Candidate, Kind
from cocomplete.choosing.kinds import KINDS, AverageKind
from cocomplete.choosing.shared import SharedFits
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.fitted.parts import Part
from cocomplete.interrupts import acknowledge_stop, interrupts, stop_requested
from cocomplete.members.average import Average
from cocomplete.members.prediction import Member
from cocomplete.members.trivial import Trivial
from cocomplete.metrics import hamming_error
from cocomplete.solvers.choice import SOLVERS

GIVEN: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}
KEPT = "fit was interrupted: this is the best model found so far"


def press() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def _python_answers_ctrl_c() -> Iterator[None]:
    """A run in the background of a shell ignores Ctrl-C; and whatever happens, the handler is put back."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def data() -> Bunch:
    table = make_low_rank_multilabel(160, 15, 6, rank=2, observed=0.6, random_state=1)
    table.X = table.X + np.random.default_rng(0).normal(size=table.X.shape)
    return table


class Impatient:
    """Presses Ctrl-C once a record of some kind has been seen often enough."""

    def __init__(self, after: int, stage: str | None = None, times: int = 1) -> None:
        self.after, self.stage, self.seen, self.times = after, stage, 0, times

    def __call__(self, record: Mapping[str, Any]) -> None:
        if record.get("stage") == self.stage:
            self.seen += 1
            if self.seen == self.after:
                for _ in range(self.times):
                    press()


# -- the request itself --------------------------------------------------------------------------------


def test_raise_changes_nothing() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts("raise"):
        press()
    assert not stop_requested()


def test_keep_makes_the_first_a_request_and_raises_the_second() -> None:
    with interrupts("keep"):
        assert not stop_requested()
        press()
        assert stop_requested()
        acknowledge_stop()
        assert not stop_requested()
        with pytest.raises(KeyboardInterrupt):
            press()
    assert not stop_requested()


def test_the_handler_is_put_back_after_an_error() -> None:
    def fail() -> NoReturn:
        press()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), interrupts("keep"):
        fail()
    assert not stop_requested()


def test_a_users_own_handler_has_the_second() -> None:
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    with interrupts("keep"):
        press()
        assert not seen
        press()
    press()
    assert len(seen) == 2
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_that_is_switched_off_stays_off() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts("keep"):
        press()
        assert not stop_requested()
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_other_threads_have_requests_of_their_own() -> None:
    found = []

    def work() -> None:
        with interrupts("keep"):
            found.append(stop_requested())

    with interrupts("keep"):
        press()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert stop_requested()
    assert found == [False]


# -- the estimator -------------------------------------------------------------------------------------


def test_on_interrupt_is_checked(data: Bunch) -> None:
    with pytest.raises(InputError, match="on_interrupt must be one of 'raise', 'keep', got 'ask'"):
        CoCompleter(on_interrupt="ask").fit(data.X, data.Y)


WAYS = [
    *(({**GIVEN, "solver": solver, "tol": 1e-12, "max_iter": 60}, None) for solver in SOLVERS),
    ({"averaging": False}, "judging"),
    ({}, "judging"),
    ({}, "averaging"),
]


@pytest.mark.parametrize(("params", "stage"), WAYS)
def test_ctrl_c_raises_and_leaves_an_unfitted_estimator_alone(
    data: Bunch, params: dict[str, Any], stage: str | None
) -> None:
    model = CoCompleter(**params)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(data.X, data.Y, progress=Impatient(1, stage))
    assert vars(model) == before


def test_ctrl_c_raises_and_leaves_the_last_fit_alone(data: Bunch) -> None:
    model = CoCompleter(**GIVEN).fit(data.X, data.Y)
    before = dict(vars(model))
    predicted = model.predict_proba(data.X)
    with pytest.raises(KeyboardInterrupt):
        model.fit(data.X[:50, :5], data.Y[:50, :2], progress=Impatient(1))
    assert list(vars(model)) == list(before)
    assert all(value is before[name] for name, value in vars(model).items())
    np.testing.assert_array_equal(model.predict_proba(data.X), predicted)


def test_an_error_leaves_the_last_fit_alone(data: Bunch) -> None:
    model = CoCompleter(**GIVEN).fit(data.X, data.Y)
    before = dict(vars(model))
    model.threshold = [0.1, 0.2]
    with pytest.raises(InputError, match="threshold has 2 numbers"):
        model.fit(data.X[:50, :5], data.Y[:50])
    assert all(value is before[name] for name, value in vars(model).items() if name != "threshold")


def test_a_fit_leaves_nothing_of_the_one_before(data: Bunch) -> None:
    model = CoCompleter(**GIVEN).fit(data.X[:60], data.Y[:60])
    assert model.solver_ == "factored"
    model.set_params(rank_penalty="auto", residual_penalty="auto", feature_weight="auto")
    model.fit(data.X[:60], data.Y[:60])
    assert set(vars(model)) == set(vars(CoCompleter().fit(data.X[:60], data.Y[:60])))
    assert not hasattr(model, "solver_")


def test_warnings_point_to_the_line_that_called_fit(data: Bunch) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CoCompleter(**GIVEN, tol=1e-12, max_iter=2).fit(data.X, np.where(data.Y == 1, 1.0, np.nan))
    assert len(caught) == 2
    assert {one.filename for one in caught} == {__file__}


def kept(data: Bunch, after: int, stage: str | None = None, **params: Any) -> CoCompleter:
    """A model whose fit was interrupted at some record."""
    model = CoCompleter(on_interrupt="keep", **params)
    with pytest.warns(UserWarning, match=KEPT):
        return model.fit(data.X, data.Y, progress=Impatient(after, stage))


@pytest.mark.parametrize("solver", SOLVERS)
def test_keep_in_the_solver_keeps_what_was_reached(data: Bunch, solver: str) -> None:
    model = kept(data, 2, **GIVEN, solver=solver, tol=1e-12, max_iter=60)
    assert not model.converged_
    assert model.history_[-1]["iteration"] == model.label_solution_.n_iter
    assert len(model.history_) in (2, 3)
    assert np.isfinite(model.complete(data.X, data.Y).X).all()


def test_keep_while_penalties_are_chosen_takes_the_best_so_far_and_solves_it_in_full(data: Bunch) -> None:
    model = kept(data, 1, "judging", averaging=False)
    assert 0 < len(model.validation_["candidates"]) < 15
    assert model.converged_
    assert not model.label_solution_.interrupted


def test_a_second_ctrl_c_raises(data: Bunch) -> None:
    model = CoCompleter(on_interrupt="keep", **GIVEN)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(data.X, data.Y, progress=Impatient(1, times=2))
    assert vars(model) == before


def test_a_search_over_parameters_ends_by_default_and_goes_on_with_keep(data: Bunch) -> None:
    def search(on_interrupt: str) -> GridSearchCV:
        model = CoCompleter(**GIVEN, tol=1e-12, max_iter=8, on_interrupt=on_interrupt)
        return GridSearchCV(model, {"scale": [True, False]}, cv=2, error_score="raise")

    with pytest.raises(KeyboardInterrupt):
        search("raise").fit(data.X, data.Y, progress=Impatient(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = search("keep").fit(data.X, data.Y, progress=Impatient(1))
    assert sum(KEPT in str(one.message) for one in caught) == 1
    assert np.isfinite(done.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("after", [1, 5, 6])
def test_keep_while_members_are_judged_uses_the_kinds_that_were_finished(data: Bunch, after: int) -> None:
    model = kept(data, after, "judging")
    done = model.complete(data.X, data.Y)
    assert np.isfinite(done.X).all()
    assert hamming_error(data.Y_true, done.Y) < 0.3
    if after == 1:
        # Nothing but the trivial prediction was judged: averages are left, which need no held-out cells.
        assert model.validation_ == {}
        assert {one["name"] for one in model.members_} == {"average", "average of normal scores"}


def test_keep_in_an_average_keeps_what_was_reached(data: Bunch) -> None:
    whole = CoCompleter().fit(data.X, data.Y).complete(data.X, data.Y)
    for after in (1, 3):
        done = kept(data, after, "averaging").complete(data.X, data.Y)
        assert np.isfinite(done.X).all()
        assert hamming_error(data.Y_true, done.Y) < hamming_error(data.Y_true, whole.Y) + 0.05


def test_keep_after_averages_are_fitted_leaves_the_averages(
    data: Bunch, monkeypatch: pytest.MonkeyPatch
) -> None:
    averages = SharedFits.averages

    def hasty(self: SharedFits) -> list[Average]:
        press()
        return averages(self)

    monkeypatch.setattr(SharedFits, "averages", hasty)
    with pytest.warns(UserWarning, match=KEPT):
        model = CoCompleter(on_interrupt="keep").fit(data.X, data.Y)
    members = model._model.ensemble.members
    assert any(isinstance(one, Average) for one in members)
    assert {type(one) for one in members} <= {Average, Trivial}
    for weights in model._model.ensemble.weights.values():
        assert weights.sum() == pytest.approx(1)
    assert np.isfinite(model.predict_proba(data.X)).all()


def test_keep_while_others_are_fitted_keeps_the_one_that_was_at_work(
    data: Bunch, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = []

    def hasty(fit: Callable[..., Member]) -> Callable[..., Member]:
        def pressing(self: Kind, *arguments: Any) -> Member:
            # Members of the whole table; on folds the same method judges.
            if arguments[-1]:
                fitted.append(self.name)
                press()
            return fit(self, *arguments)

        return pressing

    for kind in {type(one) for one in KINDS} - {AverageKind}:
        monkeypatch.setattr(kind, "fit", hasty(kind.fit))
    with pytest.warns(UserWarning, match=KEPT):
        model = CoCompleter(on_interrupt="keep").fit(data.X, data.Y)
    assert len(fitted) == 1
    others = [one for one in model._model.ensemble.members if not isinstance(one, Average)]
    assert len(others) == 1
    assert np.isfinite(model.predict_proba(data.X)).all()
    for weights in model._model.ensemble.weights.values():
        assert weights.sum() == pytest.approx(1)


def test_keep_before_any_weighed_member_leaves_the_average_that_completes_rows(
    data: Bunch, monkeypatch: pytest.MonkeyPatch
) -> None:
    weigh = EnsembleFit._weights

    def without_averages(self: EnsembleFit, part: Part, candidates: list[Candidate]) -> FloatArray:
        found = weigh(self, part, candidates)
        found[[one in (Candidate("average"), Candidate("scores")) for one in candidates]] = 0
        return found / found.sum() if found.sum() > 0 else np.eye(len(found))[0]

    averages = SharedFits.averages

    def hasty(self: SharedFits) -> list[Average]:
        press()
        return averages(self)

    monkeypatch.setattr(EnsembleFit, "_weights", without_averages)
    monkeypatch.setattr(SharedFits, "averages", hasty)
    with pytest.warns(UserWarning, match=KEPT):
        model = CoCompleter(on_interrupt="keep").fit(data.X, data.Y)
    assert [type(one) for one in model._model.ensemble.members] == [Average]
    assert hamming_error(data.Y_true, model.complete(data.X, data.Y).Y) < 0.3
