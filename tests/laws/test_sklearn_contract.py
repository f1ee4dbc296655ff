"""scikit-learn's own checks, and the places where its users would put a completer."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.model_selection import SCORERS, RowKFold

pytestmark = pytest.mark.usual_folds

EXPECTED_FAILURES = {
    "check_dtype_object": "a cell that is no number is an InputError naming row and column, not a TypeError",
}

SPARSE_FAILURES = {
    f"check_estimator_sparse_{kind}": "it takes whoever has predict_proba for a classifier of one target"
    for kind in ("array", "matrix")
}


def to_labels(y: Any) -> Any:
    """Make 0/1 labels of whatever targets a check hands in; leave alone what it wants refused."""
    values = np.asarray(y)
    if values.size == 0 or values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        return y
    return (values > np.median(values)).astype(float)


class BinaryTargets(CoCompleter):
    """CoCompleter behind a door that accepts the many-valued targets of scikit-learn's checks."""

    def fit(self, X: Any, y: Any = None, **options: Any) -> Self:
        return super().fit(X, y if y is None else to_labels(y), **options)

    def score(self, X: Any, y: Any) -> float:
        return super().score(X, to_labels(y))


@pytest.mark.filterwarnings("ignore:nothing predicted hidden")
@parametrize_with_checks(
    [
        BinaryTargets(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.5),
        BinaryTargets(),
        BinaryTargets(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.5, sparse_missing="zero"),
    ],
    expected_failed_checks=lambda one: EXPECTED_FAILURES | (SPARSE_FAILURES if one.sparse_missing else {}),
)
def test_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def holes() -> tuple[FloatArray, FloatArray]:
    data = make_low_rank_multilabel(80, 8, 4, rank=2, observed=0.7, random_state=0)
    return data.X, data.Y


GIVEN: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}


@pytest.mark.parametrize("scoring", [None, SCORERS["masked_roc_auc_macro"]])
def test_cross_validation_with_unknown_labels(holes: tuple[FloatArray, FloatArray], scoring: Any) -> None:
    for cv in (3, RowKFold(3)):
        scores = cross_val_score(CoCompleter(**GIVEN), *holes, cv=cv, scoring=scoring, error_score="raise")
        assert (scores > 0.6).all()


def test_grid_search_with_unknown_labels(holes: tuple[FloatArray, FloatArray]) -> None:
    grid = GridSearchCV(CoCompleter(**GIVEN), {"rank_penalty": [1.0, 1000.0]}, cv=3, error_score="raise")
    grid.fit(*holes)
    assert grid.best_params_ == {"rank_penalty": 1.0}
    assert grid.predict(holes[0]).shape == holes[1].shape


def test_in_a_pipeline(holes: tuple[FloatArray, FloatArray]) -> None:
    X, y = holes
    filled = make_pipeline(CoCompleter(**GIVEN), StandardScaler()).fit_transform(X, y)
    assert np.isfinite(filled).all()
    np.testing.assert_allclose(filled.mean(axis=0), 0, atol=1e-9)
    classifier = make_pipeline(MaxAbsScaler(), CoCompleter(**GIVEN)).fit(X, y)
    assert classifier.predict(X).shape == y.shape
    assert 0.5 < classifier.score(X, y) <= 1


def test_fit_parameters_are_routed(holes: tuple[FloatArray, FloatArray]) -> None:
    seen: list[dict[str, Any]] = []
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(MaxAbsScaler(), CoCompleter(**GIVEN).set_fit_request(progress=True))
        pipeline.fit(*holes, progress=seen.append)
    assert seen
    assert "objective" in seen[-1]


def test_callbacks_see_every_candidate_and_iteration(holes: tuple[FloatArray, FloatArray]) -> None:
    pytest.importorskip("sklearn.callback")

    class Counter:
        begun = ended = 0

        def setup(self, estimator: Any, context: Any) -> None:
            self.begun = self.ended = 0

        def on_fit_task_begin(self, estimator: Any, context: Any, **_: Any) -> None:
            self.begun += 1

        def on_fit_task_end(self, estimator: Any, context: Any, **_: Any) -> None:
            self.ended += 1

        def teardown(self, estimator: Any, context: Any) -> None:
            pass

    counter = Counter()
    model = CoCompleter(averaging=False).set_callbacks(counter).fit(*holes)
    assert counter.begun == counter.ended >= model.n_iter_ + 4


def test_clone_keeps_parameters_as_they_were_given() -> None:
    threshold = [0.1, 0.2]
    model = CoCompleter(threshold=threshold, feature_types={"a": "number"})
    assert model.threshold is threshold
    assert clone(model).get_params() == model.get_params()
