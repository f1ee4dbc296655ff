"""What a fitted model holds and pickles to."""

import pickle
from copy import copy
from functools import partial

import numpy as np
import pytest

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.choosing.ensemble import EnsembleFit
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.estimator import fit_ensemble
from cocomplete.fitted.sharing import shared
from cocomplete.members.kernel import CompletedRows, KernelRegression, PickedRows
from cocomplete.members.linear_average import LinearAverage
from cocomplete.members.number_kernel import NumberKernel
from cocomplete.members.trees import BoostedTrees
from cocomplete.problem.scores import NormalScores

PER_COLUMN = 20_000
"""Bytes of what a column's predictions are made of, however many rows there are: its trees and regressions,
and the second moments of its factors, which grow with their number."""


@pytest.fixture(scope="module")
def large() -> tuple[int, CoCompleter]:
    """Bytes of a table of 10 000 rows and 50 columns, and a fit to it of averages alone."""
    table = make_low_rank_multilabel(10_000, 44, 6, rank=3, observed=0.7, random_state=0)
    X = table.X + np.random.default_rng(0).normal(size=table.X.shape)
    few = partial(EnsembleFit, leave_out={"as-numbers", "rbf", "number-kernel", "trees", "minimiser"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit_ensemble, "EnsembleFit", few)
        return X.nbytes + table.Y.nbytes, CoCompleter().fit(X, table.Y)


def test_a_pickled_model_takes_at_most_three_times_its_table(large: tuple[int, CoCompleter]) -> None:
    size, model = large
    assert model._model.fitted_rows is not None
    assert len(pickle.dumps(model)) <= 3 * size
    # Asking leaves nothing behind.
    model.complete(model._model.observed.X, model._model.observed.Y)
    assert len(pickle.dumps(model)) <= 3 * size


@pytest.fixture(scope="module")
def curved() -> tuple[FloatArray, FloatArray, CoCompleter]:
    """A table that trees and kernels predict best, and a fit in which nothing is shared yet."""
    rng = np.random.default_rng(0)
    U = rng.uniform(-2, 2, size=(300, 2))
    T = np.sin(2 * U @ rng.normal(size=(2, 10))) + (U @ rng.normal(size=(2, 10))) ** 2 / 4
    X, Y = T[:, :8] + 0.1 * rng.normal(size=(300, 8)), (T[:, 8:] > 0.5).astype(float)
    X[rng.random(X.shape) < 0.3], Y[rng.random(Y.shape) < 0.3] = np.nan, np.nan
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit_ensemble, "shared", lambda model: model)
        model = CoCompleter().fit(X, Y)
    kinds = {type(one) for one in model._model.ensemble.members}
    assert kinds > {BoostedTrees, KernelRegression, LinearAverage, NumberKernel}
    return X, Y, model


def with_shared(model: CoCompleter) -> CoCompleter:
    sharing = copy(model)
    sharing._model = shared(model._model)
    return sharing


def test_what_members_share_and_what_is_pickled_changes_no_answer(
    curved: tuple[FloatArray, FloatArray, CoCompleter],
) -> None:
    X, Y, alone = curved
    new = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    sharing = with_shared(alone)
    for model in (sharing, pickle.loads(pickle.dumps(sharing))):
        for given in ((new,), (X, Y)):
            one, other = alone.complete(*given), model.complete(*given)
            for name in ("X", "X_std", "Y", "Y_proba"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        for drawn, expected in zip(
            model.sample_completions(2, random_state=0),
            alone.sample_completions(2, random_state=0),
            strict=True,
        ):
            np.testing.assert_array_equal(drawn.X, expected.X)


def test_members_keep_the_same_numbers_once(curved: tuple[FloatArray, FloatArray, CoCompleter]) -> None:
    model = with_shared(curved[2])._model
    members = {type(one): one for one in model.ensemble.members}
    linear, kernel = members[LinearAverage], members[NumberKernel]
    assert isinstance(linear, LinearAverage)
    assert isinstance(kernel, NumberKernel)
    scales = [one.encoding.scale for one in (linear.average, kernel.average)]
    assert all(isinstance(scale, NormalScores) for scale in scales)
    for one, other in zip(scales[0].values[:8], scales[1].values, strict=True):  # type: ignore[union-attr]
        assert one is other
    (radial,) = (one for one in model.ensemble.members if isinstance(one, KernelRegression))
    assert isinstance(radial.landmarks, PickedRows)
    assert radial.landmarks.whole is kernel.landmarks
    assert radial.average is kernel.average
    assert kernel.chosen[0].itemsize <= 2


def test_a_pickled_model_of_a_small_table_takes_some_more_for_every_column(
    curved: tuple[FloatArray, FloatArray, CoCompleter],
) -> None:
    X, Y, alone = curved
    size = len(pickle.dumps(with_shared(alone)))
    assert size <= 3 * (X.nbytes + Y.nbytes) + PER_COLUMN * (X.shape[1] + Y.shape[1])
    assert size < 0.9 * len(pickle.dumps(alone))


def test_rows_are_picked_only_from_where_they_all_are() -> None:
    rng = np.random.default_rng(0)
    variances = np.where(rng.random((6, 3)) < 0.5, 0, rng.random((6, 3)))
    whole = CompletedRows(rng.normal(size=(6, 3)), variances)
    rows = whole.take(np.array([4, 1])).compact()
    picked = PickedRows.of(rows, whole)
    assert picked is not None
    np.testing.assert_array_equal(picked.X, rows.X)
    np.testing.assert_array_equal(whole.radial(picked), whole.radial(rows))
    assert PickedRows.of(CompletedRows(np.zeros((1, 3)), np.zeros((1, 3))), whole) is None
    again = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(again.variances, variances)
    np.testing.assert_array_equal(again.X, whole.X)
