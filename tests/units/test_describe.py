"""Singular values of long tables: those of some rows, chosen by content, to the scale of all."""

import numpy as np
import pytest

from cocomplete import CoCompleter
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.fitted import describe


def test_of_a_long_table_some_rows_tell_the_singular_values(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_low_rank_multilabel(600, 8, 2, 2, 0.7, random_state=0)
    whole = CoCompleter().fit(table.X, table.Y)
    monkeypatch.setattr(describe, "DESCRIBED_ROWS", 300)
    some = CoCompleter().fit(table.X, table.Y)
    # A sum of squares over half of the rows is off by about two standard errors at most.
    np.testing.assert_allclose(some.singular_values_[:2], whole.singular_values_[:2], rtol=2 / np.sqrt(600))
    order = np.random.default_rng(0).permutation(600)
    shuffled = CoCompleter().fit(table.X[order], table.Y[order])
    np.testing.assert_allclose(shuffled.singular_values_, some.singular_values_, rtol=1e-4)
    np.testing.assert_array_equal(some.predict(table.X), whole.predict(table.X))
