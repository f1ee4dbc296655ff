"""The first fit after an installation says that it compiles."""

import logging

import numpy as np
import pytest
from numba import njit

from cocomplete.estimator.messages import Messages
from cocomplete.kernels.compiling import compiling_announced


def test_compiling_is_announced_once_and_only_where_something_is_compiled() -> None:
    calls: list[str] = []

    @njit
    def one(x):  # type: ignore[no-untyped-def]
        return x + 1

    @njit
    def other(x):  # type: ignore[no-untyped-def]
        return x - 1

    with compiling_announced(lambda: calls.append("now")):
        np.sqrt(2.0)
        assert calls == []
        one(1.0)
        other(1.0)
    assert calls == ["now"]
    with compiling_announced(lambda: calls.append("again")):
        one(1.0)
    assert calls == ["now"]


def test_the_logger_names_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="cocomplete"):
        Messages(verbose=0).compiling()
    assert "compiling, once" in caplog.text
