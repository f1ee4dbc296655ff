"""The rows of a fit have what the ensemble predicts, and are not worked out again."""

from copy import copy
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import pytest
from scipy.special import expit
from sklearn.utils import Bunch

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.fitted.ensemble import Ensemble
from cocomplete.problem.observations import Observations
from tests.strategies import noisy_low_rank


@pytest.fixture(scope="module")
def data() -> Bunch:
    return noisy_low_rank()


SINGLE = float(np.finfo(np.float32).eps)
"""Standard deviations of the rows of the fit are kept in single precision."""


@pytest.fixture(scope="module")
def every_kind(data: Bunch) -> tuple[FloatArray, FloatArray, CoCompleter]:
    """Numbers, a yes/no feature between them, a constant one, labels, and a row of which nothing is known."""
    X, Y = data.X.copy(), data.Y.copy()
    X[:, 4] = np.where(np.isnan(X[:, 4]), np.nan, X[:, 4] > np.nanmedian(X[:, 4]))
    X[:, 9] = np.where(np.isnan(X[:, 9]), np.nan, 2.5)
    X[3], Y[3] = np.nan, np.nan
    with pytest.warns(UserWarning, match="nothing is observed in row"):
        model = CoCompleter(clip=False).fit(X, Y)
    assert model.feature_types_[4] == "yes-no"
    return X, Y, model


def test_rows_of_the_fit_have_what_the_ensemble_predicts(
    every_kind: tuple[FloatArray, FloatArray, CoCompleter],
) -> None:
    X, Y, fitted = every_kind
    model = fitted._model
    done = fitted.complete(X, Y)
    narrow = model.informative.narrow(Observations(X, Y))
    mean, std = model.informative.widen(*model.ensemble.predict(narrow))
    numbers = np.isnan(X) & ~model.yes_no
    np.testing.assert_allclose(done.X[numbers], mean[:, :15][numbers], rtol=1e-9)
    np.testing.assert_allclose(done.X_std[numbers], std[numbers], rtol=SINGLE)
    chance = expit(mean[:, 4])
    unknown = np.isnan(X[:, 4])
    np.testing.assert_array_equal(done.X[unknown, 4], chance[unknown] > 0.5)
    np.testing.assert_allclose(done.X_std[unknown, 4], np.sqrt(chance * (1 - chance))[unknown], rtol=1e-9)
    # Of labels all cells have a probability, those that are known, too.
    np.testing.assert_allclose(done.Y_proba, expit(mean[:, 15:]), rtol=1e-9)
    np.testing.assert_array_equal(done.Y[np.isnan(Y)], (expit(mean[:, 15:]) > 0.5)[np.isnan(Y)])


def test_the_rows_of_the_fit_are_not_worked_out_again(
    every_kind: tuple[FloatArray, FloatArray, CoCompleter], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y, model = every_kind
    # The same rows in another order are other rows, with the same answer.
    shuffled = model.complete(X[::-1], Y[::-1])
    forgetful = copy(model)
    forgetful._model = replace(model._model, fitted_rows=None)
    worked_out = forgetful.sample_completions(3, random_state=0)

    def again(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError

    monkeypatch.setattr(Ensemble, "_predictions", again)
    done = model.complete(X, Y)
    np.testing.assert_allclose(done.X, shuffled.X[::-1], rtol=1e-9)
    np.testing.assert_allclose(done.X_std, shuffled.X_std[::-1], rtol=SINGLE)
    np.testing.assert_allclose(done.Y_proba, shuffled.Y_proba[::-1], rtol=1e-9)
    # Equal tables are the same rows, whoever holds them.
    np.testing.assert_array_equal(model.complete(X.copy(), Y.copy()).X, done.X)
    for given in ((), (X, Y)):
        for drawn, expected in zip(
            model.sample_completions(3, *given, random_state=0), worked_out, strict=True
        ):
            np.testing.assert_allclose(drawn.X, expected.X, rtol=1e-6, atol=1e-6)
            np.testing.assert_array_equal(drawn.Y, expected.Y)
    # What was not kept is worked out: known cells, rows without their labels, some of the rows.
    for ask in (model.reconstruct, lambda: model.predict_proba(X), lambda: model.complete(X[1:], Y[1:])):
        with pytest.raises(AssertionError):
            ask()
