"""Numbers as large and as small as there are, of any byte order: finite answers, or one clear sentence."""

from typing import Any

import numpy as np
import pytest

from cocomplete import CoCompleter
from cocomplete.exceptions import InputError
from cocomplete.problem.informative import Informative
from cocomplete.problem.observations import Observations
from ugly import SLOW, judge, make_case, warm_up

pytestmark = pytest.mark.usual_folds

nan = np.nan

CASES, BATCH = 2000, 100

DEAR = 0.02
"""Share of cases in which an ensemble or penalties are chosen, so that all take less than a minute."""

FAILED_ONCE = (4150, 4728, 6514, 7918, 7941, 8756, 9017, 10690, 11326, 11521, 14354)
"""Cases of ``make ugly``: margins of drawn numbers where the map of normal scores is flat, maps of single
precision whose slope is no number of that precision, a threshold of singular values that is none, errors in
units of next to nothing; held-out cells, levels and offsets beyond the largest number in the user's units."""


@pytest.fixture(scope="module")
def _compiled() -> None:
    warm_up()


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_answers_are_finite_or_refused_in_one_sentence(first: int) -> None:
    for seed in range(first, first + BATCH):
        case = make_case(seed, dear=DEAR, quick=True)
        outcome = judge(case)
        assert not outcome.failed, f"seed {seed}: {case}\n{outcome.kind}\n{outcome.detail}"
        assert outcome.seconds < SLOW


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("seed", FAILED_ONCE)
def test_what_failed_once_is_answered(seed: int) -> None:
    outcome = judge(make_case(seed))
    # What failed was not for slowness, and a busy machine is no cause either.
    assert outcome.kind.removeprefix("slow: ") == "answered", outcome.detail


def test_cases_have_what_few_tables_have() -> None:
    cases = [make_case(seed, dear=DEAR, quick=True) for seed in range(CASES)]
    sizes = np.concatenate([np.abs(one.X[~np.isnan(one.X)].astype(float)) for one in cases])
    assert sizes.max() > 1e307
    assert sizes[sizes > 0].min() < 1e-320
    assert {one.X.dtype.str for one in cases} >= {"<f8", ">f8", "<f4", ">f4", "<i8", ">i4", "|b1"}
    assert {len(one.X) for one in cases} >= {1, 2, 3}
    assert any(not one.X.flags.writeable for one in cases)
    assert any(one.X.flags.f_contiguous and not one.X.flags.c_contiguous for one in cases)
    assert {None if one.y is None else one.y.ndim for one in cases} == {None, 1, 2}
    assert {one.params.get("solver") for one in cases} >= {"factored", "primal-dual", "paper"}
    assert {one.params.get("paper") for one in cases} == {None, 0.0, 1.0}


def test_units_of_any_size_change_units_alone() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(40, 4))
    X[rng.random(X.shape) < 0.3] = nan
    unit = 2.0 ** np.array([-900, 900, 0, 300])
    one, other = (CoCompleter().fit(table) for table in (X, X * unit))
    np.testing.assert_allclose(other.complete(X * unit).X / unit, one.complete(X).X, rtol=1e-9)
    np.testing.assert_allclose(other.complete(X * unit).X_std / unit, one.complete(X).X_std, rtol=1e-9)
    np.testing.assert_allclose(other.offsets_ / unit, one.offsets_, rtol=1e-9)


def test_units_of_single_precision_change_units_alone() -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(30, 2)) @ rng.normal(size=(2, 4))).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = nan
    unit = (2.0 ** np.array([-90, 90, 0, 40])).astype(np.float32)
    given: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}
    one, other = (CoCompleter(**given).fit(table) for table in (X, X * unit))
    np.testing.assert_allclose(other.complete(X * unit).X / unit, one.complete(X).X, rtol=1e-3, atol=1e-4)


def test_an_absurd_value_leaves_the_other_rows_alone() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1)) * np.ones(3) + 0.1 * rng.normal(size=(40, 3))
    X[::5, 0] = nan
    spoilt = X.copy()
    spoilt[1, 1] = 1e300
    given: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}
    clean, other = (CoCompleter(**given).fit(table).complete(table).X for table in (X, spoilt))
    np.testing.assert_allclose(other[::5, 0], clean[::5, 0], atol=0.2)


def test_columns_are_narrowed_to_what_can_be_squared() -> None:
    X = np.array([[1.0, 1e-310], [-1e300, 5e-324], [2.0, nan]])
    observed = Observations(X, np.empty((3, 0)))
    narrow = Informative.whole(observed).narrow(observed).X
    known = ~np.isnan(X)
    assert np.isfinite(narrow[known] ** 2).all()
    assert narrow[0, 0] == 1.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fills_beyond_the_largest_number_are_that_number(dtype: type[np.floating]) -> None:
    largest = np.finfo(dtype).max
    X = np.array([[-1, -1], [1, 1], [0, 0], [0.5, nan]], dtype) * largest
    model = CoCompleter(rank_penalty=1e-3, residual_penalty=0.0, feature_weight=0.5, clip=False).fit(X)
    done = model.complete(X).X
    assert done.dtype == dtype
    assert np.isfinite(done).all()


def test_what_cannot_be_squared_is_refused_where_it_is_not_scaled() -> None:
    X = np.array([[1.0, 2e200], [2.0, 1e200], [3.0, nan]])
    with pytest.raises(InputError, match=r"X holds 2e\+200 in column 1, too large for scale=False"):
        CoCompleter(rank_penalty=1.0, scale=False).fit(X)
    single = np.array([[1.0, 2e20], [2.0, 1e20]], np.float32)
    with pytest.raises(
        InputError, match=r"X holds 2e\+20 in column 1, too large for scale=False.*as float64"
    ):
        CoCompleter(rank_penalty=1.0, scale=False).fit(single)


def test_penalties_beyond_the_float_type_are_refused() -> None:
    X = np.array([[1.0, 2.0], [2.0, 3.0], [4.0, 1.0]])
    given: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}
    with pytest.raises(
        InputError, match=r"rank_penalty must be between 1e-100 and 1e\+100 for X of type float64"
    ):
        CoCompleter(**given | {"rank_penalty": 1e-300}).fit(X)
    with pytest.raises(
        InputError, match=r"feature_weight must be 0 or between 1e-15 and 1e\+15 .*as float64"
    ):
        CoCompleter(**given | {"feature_weight": 1e30}).fit(X.astype(np.float32))


def test_steps_of_the_paper_that_run_away_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    with pytest.raises(
        InputError, match=r"solver='paper' runs away: in iteration \d+, with step .*smaller step"
    ):
        CoCompleter.from_paper(0.0, feature_weight=1.0).fit(X)
