"""Ctrl-C while a sparse table is fitted: the best model so far, where that was asked for."""

import signal
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from cocomplete import CoCompleter
from tests.sparse_tables import sparse_pair

GIVEN: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}


def press(_: Mapping[str, Any]) -> None:
    signal.raise_signal(signal.SIGINT)


class Once:
    def __init__(self) -> None:
        self.records = 0

    def __call__(self, record: Mapping[str, Any]) -> None:
        self.records += 1
        if self.records == 1:
            press(record)


@pytest.mark.parametrize("given", [{}, GIVEN])
def test_the_best_model_so_far_is_kept(given: dict[str, Any]) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        X, Y = sparse_pair(unknown=False)
        seen = Once()
        model = CoCompleter(sparse_missing="zero", on_interrupt="keep", tol=1e-9, **given)
        with pytest.warns(UserWarning, match="fit was interrupted"):
            model.fit(X, Y, progress=seen)
        assert np.isfinite(model.predict_proba(X)).all()
        if not given:
            assert len(model.validation_["candidates"]) == 1
        untouched = CoCompleter(sparse_missing="zero", **given)
        with pytest.raises(KeyboardInterrupt):
            untouched.fit(X, Y, progress=press)
        assert not hasattr(untouched, "rank_")
    finally:
        signal.signal(signal.SIGINT, before)
