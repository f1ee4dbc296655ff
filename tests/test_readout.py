"""Labels read out of completed features."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from cocomplete import CoCompleter
from cocomplete.metrics import hamming_error
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.posterior import Posterior, Prior, fit_posterior
from cocomplete.solvers.readout import Completed, Readout, completed, completed_labels, known_labels, read_out

nan = np.nan
NUMBERS, FIRST_LABEL = 5, 7
"""Columns: five numbers, two yes/no features, three labels."""


def table(seed=0, n=90):
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 10))
    X = T[:, :NUMBERS] + rng.normal(size=(n, NUMBERS))
    Y = (T[:, NUMBERS:] + rng.logistic(size=(n, 5)) > 0).astype(float)
    X[rng.random(X.shape) < 0.3], Y[rng.random(Y.shape) < 0.3] = nan, nan
    return Observations(X, Y)


def fitted(observed):
    cells = Cells.of(observed)
    base = np.concatenate((np.zeros(NUMBERS), logit(np.nanmean(observed.Y, axis=0))))
    return cells, fit_posterior(cells, Prior(2, 1.0, 1.0), base, first_label=FIRST_LABEL)[0]


VARIANCES = (0.5, 4.0)


def learnt(posterior, cells, likeness, variances=VARIANCES):
    """What is read out of a table by its known labels."""
    labels = known_labels(cells, FIRST_LABEL)
    return list(read_out(posterior, completed(posterior, cells, FIRST_LABEL), labels, likeness, variances))


@pytest.fixture(scope="module", params=["linear", "near"])
def read(request):
    observed = table()
    cells, posterior = fitted(observed)
    stiff, loose = learnt(posterior, cells, request.param)
    return observed, cells, posterior, stiff, loose


def standardized(observed, base):
    """Features as the regression has them, observed cells alone."""
    rate = expit(base[NUMBERS:FIRST_LABEL])
    yes_no = (observed.Y[:, : FIRST_LABEL - NUMBERS] - rate) / np.sqrt(rate * (1 - rate))
    return np.hstack((observed.X, yes_no))


@given(st.integers(0, 10_000), st.integers(0, 8))
def test_cells_before_a_column_are_those_of_the_table_without_the_rest(seed, kept):
    observed = table(seed, 12)
    Y = observed.Y.copy()
    Y[:, kept:] = nan
    one, other = Cells.of(observed).before(NUMBERS + kept), Cells.of(replace(observed, Y=Y))
    for name in ("x_start", "x_column", "x_value", "y_start", "y_column", "y_value"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.shape == other.shape


def test_what_was_observed_is_kept_and_labels_are_not_looked_at(read):
    observed, cells, posterior, *_ = read
    rows = completed(posterior, cells, FIRST_LABEL)
    known = standardized(observed, posterior.base)
    np.testing.assert_allclose(rows.X[~np.isnan(known)], known[~np.isnan(known)])
    assert np.isfinite(rows.X).all()
    Y = observed.Y.copy()
    Y[:, FIRST_LABEL - NUMBERS :] = 1 - Y[:, FIRST_LABEL - NUMBERS :]
    again = completed(posterior, Cells.of(replace(observed, Y=Y)), FIRST_LABEL)
    np.testing.assert_array_equal(again.X, rows.X)
    np.testing.assert_array_equal(again.doubt, rows.doubt)


def test_doubt_is_the_variance_of_what_is_missing(read):
    observed, cells, posterior, *_ = read
    rows = completed(posterior, cells, FIRST_LABEL)
    draws = np.stack([read[-1].drawn(cells, np.random.default_rng(seed)).X for seed in range(400)])
    np.testing.assert_allclose(draws.var(axis=0).mean(axis=1), rows.doubt, rtol=0.3, atol=0.02)
    whole = ~np.isnan(standardized(observed, posterior.base)).any(axis=1)
    assert whole.any()
    assert not rows.doubt[whole].any()
    assert (rows.doubt[~whole] > 0).all()


def test_rows_of_which_less_is_known_are_less_alike():
    rng = np.random.default_rng(0)
    X, other = rng.normal(size=(4, 6)), Completed(rng.normal(size=(3, 6)), np.array([0.0, 0.4, 1.0]))
    sure, unsure = Completed(X, np.zeros(4)), Completed(X, np.full(4, 0.5))
    distance = ((X[:, None] - other.X) ** 2).mean(axis=2)
    np.testing.assert_allclose(sure.likeness(other, "near"), np.exp(-distance - other.doubt))
    np.testing.assert_allclose(unsure.likeness(other, "near"), np.exp(-distance - other.doubt - 0.5))
    np.testing.assert_allclose(unsure.likeness(other, "linear"), X @ other.X.T / 6)
    np.testing.assert_allclose(np.diag(sure.likeness(sure, "near")), 1)


@pytest.mark.parametrize("which", [0, 1])
def test_log_odds_are_the_most_probable_ones(read, which):
    observed, cells, posterior, *both = read
    readout, variance = both[which], VARIANCES[which]
    labels = observed.Y[:, FIRST_LABEL - NUMBERS :]
    labelled = ~np.isnan(labels).all(axis=1)
    rows = completed(posterior, cells, FIRST_LABEL).take(np.flatnonzero(labelled))
    alike = rows.likeness(rows, readout.likeness)
    if readout.likeness == "near":
        np.fill_diagonal(alike, 1)
    for j in range(3):
        y = labels[labelled, j]
        known = np.flatnonzero(~np.isnan(y))
        weights = readout.weights[known, j] / variance
        assert not np.delete(readout.weights[:, j], known).any()
        assert readout.shift[j] == pytest.approx(weights.sum())
        f = (variance * alike[np.ix_(known, known)] + 1) @ weights
        # Where log p(y|f) - f'K^-1 f/2 is largest, K^-1 f is the slope of the labels' likelihood.
        slope = y[known] - expit(posterior.base[FIRST_LABEL + j] + f)
        np.testing.assert_allclose(weights, slope, atol=5e-3)


def test_a_linear_readout_is_a_penalised_regression():
    observed = table()
    cells, posterior = fitted(observed)
    (readout,) = learnt(posterior, cells, "linear", VARIANCES[:1])
    labels = observed.Y[:, FIRST_LABEL - NUMBERS :]
    labelled = ~np.isnan(labels).all(axis=1)
    X = completed(posterior, cells, FIRST_LABEL).X[labelled]
    A, penalty = (
        np.hstack((np.ones((len(X), 1)), X)),
        np.array([1.0] + [FIRST_LABEL / VARIANCES[0]] * FIRST_LABEL),
    )
    for j in range(3):
        w = np.append(readout.shift[j], X.T @ readout.weights[:, j] / FIRST_LABEL)
        y = labels[labelled, j]
        known = ~np.isnan(y)
        p = expit(posterior.base[FIRST_LABEL + j] + A[known] @ w)
        assert np.abs(A[known].T @ (p - y[known]) + penalty * w).max() < 0.05


def test_rows_that_are_complete_need_no_factors(read):
    _, _, posterior, _, readout = read
    rng = np.random.default_rng(3)
    X, yes_no = rng.normal(size=(6, NUMBERS)), rng.integers(2, size=(6, 2)).astype(float)
    row = Observations(X, np.hstack((yes_no, np.full((6, 3), nan))))
    score = readout.predict(Cells.of(row)).score[:, FIRST_LABEL:]
    alike = Completed(standardized(row, posterior.base), np.zeros(6)).likeness(readout.rows, readout.likeness)
    expected = posterior.base[FIRST_LABEL:] + readout.shift + alike @ readout.weights
    np.testing.assert_allclose(score, expected)
    # Nothing is missing, so nothing is drawn.
    np.testing.assert_allclose(readout.draw(Cells.of(row), rng)[:, FIRST_LABEL:], expected)


def test_long_tables_are_read_out_of_some_of_their_rows(read, monkeypatch):
    _, cells, posterior, whole, _ = read
    monkeypatch.setattr("cocomplete.solvers.readout.MOST_ROWS", 80)
    monkeypatch.setattr("cocomplete.solvers.readout.BLOCK", 7)
    (some,) = learnt(posterior, cells, whole.likeness, VARIANCES[:1])
    assert some.rows.X.shape == (80, FIRST_LABEL)
    told, all_told = (one.predict(cells).score - posterior.base for one in (some, whole))
    assert np.corrcoef(told[:, FIRST_LABEL:].ravel(), all_told[:, FIRST_LABEL:].ravel())[0, 1] > 0.9
    # Ten rows by ten for each of three labels.
    monkeypatch.setattr("cocomplete.solvers.readout.LARGEST", 300.0)
    (few,) = learnt(posterior, cells, whole.likeness, VARIANCES[:1])
    assert few.rows.X.shape == (10, FIRST_LABEL)
    assert (few.weights != 0).any(axis=0).all()


def test_rows_without_labels_take_no_place(read, monkeypatch):
    observed, _, posterior, whole, _ = read
    Y = observed.Y.copy()
    Y[::2, FIRST_LABEL - NUMBERS :] = nan
    cells = Cells.of(replace(observed, Y=Y))
    monkeypatch.setattr("cocomplete.solvers.readout.MOST_ROWS", 20)
    (some,) = learnt(posterior, cells, whole.likeness, VARIANCES[:1])
    assert len(some.rows.X) == 20
    assert (some.weights != 0).any(axis=1).all()


def test_known_labels_are_those_of_the_table(read):
    observed, cells, *_ = read
    np.testing.assert_array_equal(known_labels(cells, FIRST_LABEL), observed.Y[:, FIRST_LABEL - NUMBERS :])


def test_unknown_labels_become_probabilities_beside_known_ones():
    labels = np.array([[1.0, nan], [nan, nan], [nan, 0.0], [0.0, 1.0]])
    filled = completed_labels(labels, logit(np.full((4, 2), 0.3)))
    np.testing.assert_allclose(filled, [[1, 0.3], [nan, nan], [0.3, 0], [0, 1]])


@given(st.integers(0, 10_000), st.sampled_from(["linear", "near"]))
def test_log_odds_are_the_most_probable_ones_given_probabilities(seed, likeness):
    rng = np.random.default_rng(seed)
    _, posterior = fitted(table())
    rows = Completed(rng.normal(size=(12, FIRST_LABEL)), np.zeros(12))
    labels = rng.choice([0.0, 1.0, 0.5, 0.2, nan], size=(12, 3))
    # A row of which no label is told would be left out.
    labels[:, 0] = rng.random(12)
    (readout,) = read_out(posterior, rows, labels, likeness, [2.0])
    slope = labels - expit(readout.of(rows).mean[:, FIRST_LABEL:])
    np.testing.assert_allclose(readout.weights / 2.0, np.nan_to_num(slope), atol=5e-3)


def test_what_other_labels_tell_helps_to_read_a_label_out():
    """Ten labels that follow from one number: of each a tenth is known, and nine tenths tell of the rest."""
    rng = np.random.default_rng(0)
    n, n_labels, d = 300, 10, 6
    X = rng.normal(size=(n + 500, d))
    score = 1.5 * X @ rng.normal(size=(d, 1)) / np.sqrt(d) + rng.normal(size=(n + 500, 1))
    score = score + 0.3 * rng.normal(size=(n + 500, n_labels))
    Y = (score > 0).astype(float)
    known = np.where(rng.random((n, n_labels)) < 0.2, Y[:n], nan)
    posterior = replace(
        fitted(table())[1],
        base=np.zeros(d + n_labels),
        noise=np.ones(d),
        label_noise=np.ones(n_labels),
        V=np.zeros((d + n_labels, 3)),
    )
    # What the others of a row tell: the share of ones among them, a little held back.
    told = (np.nansum(known, axis=1, keepdims=True) + 0.5) / (
        (~np.isnan(known)).sum(axis=1, keepdims=True) + 1
    )
    filled = completed_labels(known, logit(np.broadcast_to(told, known.shape)))
    rows, new = Completed(X[:n], np.zeros(n)), Completed(X[n:], np.zeros(500))
    wrong = []
    for labels in (known, filled):
        (readout,) = read_out(posterior, rows, labels, "linear", [1.0])
        wrong.append(np.mean((readout.of(new).mean[:, d:] > 0) != Y[n:]))
    assert wrong[1] < wrong[0] - 0.02


def test_what_is_missing_is_drawn(read):
    _, cells, _, _, readout = read
    draws = np.stack([readout.draw(cells, np.random.default_rng(seed)) for seed in range(40)])
    mean = readout.predict(cells).score
    holes = draws[:, :, FIRST_LABEL:].std(axis=0)
    assert (holes > 0).mean() > 0.8
    off = np.abs(draws.mean(axis=0) - mean)[:, FIRST_LABEL:]
    assert np.mean(off <= 4 * holes / np.sqrt(40) + 0.1) > 0.9


def labelled(seed=0, n=150, share=0.9):
    """A label for each of three features that have nothing in common."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    Y = (2 * X[:, :3] + rng.logistic(size=(n, 3)) > 0).astype(float)
    X[rng.random(X.shape) > share] = nan
    return X, Y


def test_features_of_their_own_are_read_out():
    X, Y = labelled()
    model = CoCompleter(random_state=0).fit(X, Y)
    told = model.validation_["unlabelled"]
    assert told["method"] == "blend"
    *_, linear, near = told["members"]
    assert [one["likeness"] for one in (linear, near)] == ["linear", "near"]
    assert linear["unlabelled_share"] > near["unlabelled_share"]
    answers = model._model.unlabelled.model
    assert [one.likeness for one in answers.members if isinstance(one, Readout)] == ["linear", "near"]
    assert answers.shares[-2:] == (linear["unlabelled_share"], near["unlabelled_share"])
    assert sum(answers.shares) == pytest.approx(1)
    # Averages that were fitted for one part are used for the other; what is read out is learnt apart.
    for one, other in zip(model._model.labels.model.members, answers.members, strict=True):
        if isinstance(one, Posterior):
            assert one.V is other.V
        else:
            assert (one.likeness, one.posterior) == (other.likeness, other.posterior)
            assert one is not other


def test_labels_that_no_line_tells_apart_are_read_out_by_nearness():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = ((X[:, :1] * X[:, 1:] + 0.2 * rng.normal(size=(300, 3))) > 0).astype(float)
    X[rng.random(X.shape) < 0.05] = nan
    model = CoCompleter(random_state=0).fit(X[:240], Y[:240])
    near = model.validation_["unlabelled"]["members"][-1]
    assert near["likeness"] == "near"
    assert near["unlabelled_share"] > 0.8
    assert hamming_error(Y[240:], model.predict(X[240:])) < 0.25
