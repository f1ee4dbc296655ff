"""What observed cells add to a fill adds up to the posterior average's prediction; and similar rows."""

from typing import NamedTuple

import numpy as np
import pytest

from cocomplete import CoCompleter
from cocomplete.arrays import BoolArray
from cocomplete.members.average import Average
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.report.record import ReportRecord
from cocomplete.solvers.influences import Influences
from tests.report.mixed_table import LABEL_TYPES, mixed_table

# A column without any value is among those that are reported on.
pytestmark = pytest.mark.filterwarnings("ignore:nothing is observed in")


def table(seed: int) -> tuple[Observations, BoolArray]:
    """Numbers, yes/no features and labels of three factors, a third of them missing."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(70, 3)) @ rng.normal(size=(3, 9)) + 0.2 * rng.normal(size=(70, 9))
    T[:, 3:] = T[:, 3:] > 0
    T[rng.random(T.shape) < 0.3] = np.nan
    return Observations(T[:, :5], T[:, 5:]), np.arange(5) >= 3


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_terms_add_up_to_every_posterior_mean(gaussian: bool, seed: int) -> None:
    observed, yes_no = table(seed)
    average = Average.fit(observed, yes_no, gaussian=gaussian)
    moments = average.moments(observed)
    influences = Influences.of(average.posterior, Cells.of(average.encoding.apply(observed)))
    known = np.hstack((observed.X_known, observed.Y_known))
    sums, variances = np.empty_like(moments.mean), np.empty_like(moments.mean)
    for i in range(observed.n_samples):
        for q in range(9):
            column, terms, start = influences.terms(i, q)
            assert sorted(column) == sorted(average.encoding.order[known[i]])
            sums[i, q], variances[i, q] = start + terms.sum(), influences.variance(i, q)
    np.testing.assert_allclose(sums, moments.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(variances, moments.variance, rtol=1e-6, atol=1e-9)


def test_a_row_without_cells_stays_where_it_starts() -> None:
    observed, yes_no = table(0)
    average = Average.fit(observed, yes_no, gaussian=False)
    nothing = Observations(np.full((1, 5), np.nan), np.full((1, 4), np.nan))
    influences = Influences.of(average.posterior, Cells.of(average.encoding.apply(nothing)))
    _, terms, start = influences.terms(0, 1)
    assert terms.size == 0
    assert start == pytest.approx(average.moments(nothing).mean[0, 1])


class Explained(NamedTuple):
    model: CoCompleter
    record: ReportRecord


@pytest.fixture(scope="module")
def explained() -> Explained:
    X, Y = mixed_table()
    model = CoCompleter(label_types=LABEL_TYPES).fit(X, Y)
    return Explained(model, model.report(X, Y).record)


def test_pulls_of_a_report_add_up_and_end_where_the_member_does(explained: Explained) -> None:
    model = explained.model._model
    weights = model.ensemble.weights
    averages = [k for k, one in enumerate(model.ensemble.members) if isinstance(one, Average)]
    k = max(averages, key=lambda one: (weights["numbers"][one], -one))
    member = model.ensemble.members[k]
    assert isinstance(member, Average)
    narrow = model.informative.narrow(model.observed)
    moments = member.moments(narrow)
    checked = 0
    for cell in explained.record.filled.cells:
        if cell.why is None:
            assert cell.column == 6
            continue
        total = cell.why.start + sum(pull.amount for pull in cell.why.pulls) + cell.why.rest
        assert total == pytest.approx(cell.why.end, rel=1e-3, abs=1e-4)
        sizes = [abs(pull.amount) for pull in cell.why.pulls]
        assert sizes == sorted(sizes, reverse=True)
        if cell.column == 0:
            row = int(cell.row.removeprefix("row ")) - 1
            inner = member.encoding.order[0]
            assert cell.why.end == pytest.approx(moments.mean[row, inner], rel=1e-4, abs=1e-6)
            assert cell.why.unit == "standard deviations"
            assert cell.why.weight == pytest.approx(weights["numbers"][k], rel=1e-4)
            checked += 1
    assert checked


def test_log_odds_of_a_filled_word_end_where_the_member_does(explained: Explained) -> None:
    model = explained.model._model
    weights = model.ensemble.weights["yes-no"]
    averages = [k for k, one in enumerate(model.ensemble.members) if isinstance(one, Average)]
    member = model.ensemble.members[max(averages, key=lambda one: (weights[one], -one))]
    prediction = member.predict(model.informative.narrow(model.observed))
    (encoded,) = np.flatnonzero(model.groups[model.informative.columns] == 2)
    cells = [cell for cell in explained.record.filled.cells if cell.column == 2]
    assert cells
    for cell in cells:
        row = int(cell.row.removeprefix("row ")) - 1
        sign = 1 if cell.text == "yes" else -1
        assert cell.why.unit == "log-odds"
        assert cell.why.end == pytest.approx(sign * prediction.mean[row, encoded], rel=1e-4, abs=1e-6)


def test_pulls_name_observed_cells_of_the_row(explained: Explained) -> None:
    X, Y = mixed_table()
    names = [*X.columns, *Y.columns]
    for cell in explained.record.filled.cells:
        row = int(cell.row.removeprefix("row ")) - 1
        for pull in cell.why.pulls if cell.why is not None else ():
            value = (X if pull.column < len(X.columns) else Y)[names[pull.column]][row]
            assert value is not None
            shown = float(pull.value) if isinstance(value, float) else pull.value
            assert (
                shown == pytest.approx(value, rel=1e-5) if isinstance(value, float) else shown == str(value)
            )


def test_similar_rows_are_the_nearest_by_what_factors_make_of_the_columns(explained: Explained) -> None:
    model = explained.model._model
    weights = model.ensemble.weights["numbers"]
    averages = [k for k, one in enumerate(model.ensemble.members) if isinstance(one, Average)]
    member = model.ensemble.members[max(averages, key=lambda one: (weights[one], -one))]
    assert isinstance(member, Average)
    cells = Cells.of(member.encoding.apply(model.informative.narrow(model.observed)))
    fitted = member.posterior.rows(cells).U[:, 1:] @ member.posterior.V[:, 1:].T
    for cell in explained.record.filled.cells[::10]:
        row = int(cell.row.removeprefix("row ")) - 1
        distance = ((fitted - fitted[row]) ** 2).sum(axis=1)
        distance[row] = np.inf
        third = np.sort(distance)[2]
        for name in cell.similar:
            assert distance[int(name.removeprefix("row ")) - 1] <= third + 1e-9
        assert len(cell.similar) == 3
