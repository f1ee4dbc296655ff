"""Every kind of ensemble member: judged on all folds, fitted to answer for its parts, left out on request."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing import kinds
from cocomplete.choosing.ensemble import EnsembleFit
from cocomplete.choosing.held_out import Fold, folds
from cocomplete.choosing.kind import Candidate
from cocomplete.choosing.kinds import FEW_LABELS, KIND_OF, KINDS, LEAST_KNOWN, MOST_FEATURES, PAST_BEST
from cocomplete.choosing.shared import GROWTH, FoldFits, SharedFits
from cocomplete.fitted import ensemble as fitted_ensemble
from cocomplete.fitted.parts import LABEL_PARTS, PARTS
from cocomplete.members.average import Average
from cocomplete.members.kernel import VARIANCES
from cocomplete.members.prediction import Prediction
from cocomplete.problem.content_keys import content_keys
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.posterior import FactorPosterior
from tests.units.kind_tables import YES_NO, fit_of, table

nan = np.nan


@pytest.fixture(scope="module")
def judged() -> EnsembleFit:
    fit = fit_of(table())
    fit._judge()
    # It has a part only where fewer labels are known, but can.
    KIND_OF["logistic"].judge(fit.folds, fit.contest)
    return fit


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS if kind.name != "minimiser"])
def test_a_kind_predicts_the_held_out_cells_of_its_parts(judged: EnsembleFit, kind: str) -> None:
    own = [one for one in judged.contest.candidates() if one.kind == kind]
    assert own
    for part in KIND_OF[kind].parts:
        where = judged.held.where(part)
        answered = [np.isfinite(judged.contest.means[one][where]).all() for one in own]
        # Trees of features that are far behind are not grown.
        assert all(answered) or (kind == "trees" and part not in LABEL_PARTS)


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_a_kind_fits_a_member_that_answers_for_its_parts(judged: EnsembleFit, kind: str) -> None:
    own = [one for one in judged.contest.candidates() if one.kind == kind]
    if not own:
        pytest.skip("a first look has ruled it out here")
    observed = judged.observed
    member = KIND_OF[kind].fit(own[-1].setting, judged.whole, KIND_OF[kind].parts)
    mean = member.predict(observed).mean
    columns = {"numbers": [0, 1, 2], "yes-no": [3, 4], "labels": [5, 6, 7, 8], "unlabelled": [5, 6, 7, 8]}
    assert mean.shape == (observed.n_samples, 9)
    for part in KIND_OF[kind].parts:
        assert np.isfinite(mean[:, columns[part]]).all()


def test_what_is_left_out_has_no_part() -> None:
    left_out = {"trees", "rbf", "number-kernel", "minimiser", "trivial"}
    fit = fit_of(table(), leave_out=left_out).run()
    names = {one.kind for weights in fit.weights.values() for one in weights}
    # The trivial answer is what the others are measured by.
    assert names <= {kind.name for kind in KINDS} - left_out | {"trivial"}


def test_of_a_kind_the_best_setting_is_weighed(judged: EnsembleFit) -> None:
    for part in PARTS:
        chosen = judged._chosen(part)
        assert len({one.kind for one in chosen}) == len(chosen)
        for one in chosen:
            rivals = [other for other in judged.contest.candidates() if other.kind == one.kind]
            together = LABEL_PARTS if part in LABEL_PARTS else (part,)
            assert judged._nats(one, together) == min(judged._nats(other, together) for other in rivals)


def test_unusual_settings_cost() -> None:
    for kind, usual, unusual in (("rbf", 3.0, 100.0), ("number-kernel", 0.2, 1.0), ("trees", 60, 15)):
        assert KIND_OF[kind].setting_cost(usual) == 0
        assert KIND_OF[kind].setting_cost(unusual) > 0


def test_small_tables_have_no_trees() -> None:
    (fit := fit_of(table(n=LEAST_KNOWN // 2)))._judge()
    assert not any(one.kind == "trees" for one in fit.contest.candidates())


def test_few_labels_have_averaged_logistic_regression() -> None:
    few, many = table(n=FEW_LABELS // 5), table(n=FEW_LABELS // 2)
    assert few.Y_known.sum() <= FEW_LABELS < many.Y_known.sum()
    assert [KIND_OF["logistic"].applies(observed, YES_NO) for observed in (few, many)] == [True, False]
    wide = Observations(np.zeros((20, MOST_FEATURES + 1)), few.Y[:20])
    assert not KIND_OF["logistic"].applies(wide, np.zeros(MOST_FEATURES + 1, bool))


def test_labels_alone_need_several() -> None:
    observed = table()
    few = Observations(observed.X, observed.Y[:, :2])
    assert KIND_OF["labels-alone"].applies(observed, YES_NO)
    assert not KIND_OF["labels-alone"].applies(few, YES_NO)


def test_members_are_named_as_they_were_judged(judged: EnsembleFit) -> None:
    assert Candidate("trivial") in judged.contest.candidates()
    assert [kind.name for kind in KINDS] == list(KIND_OF)


# -- rows in blocks ------------------------------------------------------------------------------------


def test_an_ensemble_predicts_the_same_in_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    observed = table()
    ensemble = fit_of(observed).run().ensemble
    new = table(seed=5)
    whole = ensemble.predict(new)
    own = ensemble.predict(observed, training=True)
    sizes: list[int] = []
    predict = fitted_ensemble.Ensemble._predict_block

    def counted(
        self: fitted_ensemble.Ensemble, rows: Observations, *parts: Any, **options: Any
    ) -> Prediction:
        sizes.append(rows.n_samples)
        return predict(self, rows, *parts, **options)

    monkeypatch.setattr(fitted_ensemble.Ensemble, "_predict_block", counted)
    # Nine columns: seven rows at a time, and one that is left.
    monkeypatch.setattr(fitted_ensemble, "BLOCK_NUMBERS", 7 * 9 + 5)
    blocks = ensemble.predict(new)
    assert sizes == [7] * 17 + [1]
    # Rows with labels are updated until the last one of a block has settled.
    np.testing.assert_allclose(blocks.mean, whole.mean, atol=1e-4)
    np.testing.assert_allclose(blocks.std, whole.std, atol=1e-4)
    # The rows of the fit are predicted all together.
    sizes.clear()
    np.testing.assert_array_equal(ensemble.predict(observed, training=True).mean, own.mean)
    assert sizes == [120]


@pytest.mark.parametrize("k", range(2))
def test_a_member_has_in_every_cell_the_weight_of_the_cell_s_part(k: int) -> None:
    weights = {
        part: np.array([share, 1 - share]) for part, share in zip(PARTS, (0.1, 0.2, 0.3, 0.4), strict=True)
    }
    ensemble = fitted_ensemble.Ensemble((), weights, YES_NO)
    observed = Observations(np.full((2, 5), nan), np.array([[nan, 1.0], [nan, nan]]))
    a, b, c, e = (weights[part][k] for part in PARTS)
    features, labels = ensemble._weights_of(k, observed)
    np.testing.assert_array_equal(features, [a, a, a, b, b])
    np.testing.assert_array_equal(labels, [[c, c], [e, e]])


# -- paths that end early ------------------------------------------------------------------------------


def test_the_log_loss_of_a_fold_is_that_of_its_held_out_labels(judged: EnsembleFit) -> None:
    fold = judged.folds[0].fold
    z = np.random.default_rng(0).normal(size=fold.row.size)
    labels = np.flatnonzero(fold.part >= 2)
    assert labels.size
    expected = np.mean([np.log(1 + np.exp(-z[k] if fold.value[k] else z[k])) for k in labels])
    assert fold.log_loss(z) == pytest.approx(expected)
    z[fold.part < 2] = nan
    assert fold.log_loss(z) == pytest.approx(expected)
    numbers = fold.part == 0
    alone = Fold(fold.visible, *(part[numbers] for part in (fold.row, fold.column, fold.value, fold.part)))
    assert alone.log_loss(z[numbers]) == 0


def test_a_path_of_variances_ends_once_it_is_past_the_best(
    judged: EnsembleFit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged_variances() -> tuple[list[Any], FloatArray]:
        fit = fit_of(table())
        fit.folds = judged.folds
        KIND_OF["trivial"].judge(fit.folds, fit.contest)
        KIND_OF["rbf"].judge(fit.folds, fit.contest)
        own = [one for one in fit.contest.candidates() if one.kind == "rbf"]
        assert all(np.isfinite(fit.contest.means[one][fit.held.where("labels")]).all() for one in own)
        size = fit.folds[0].fold.row.size
        losses = [fit.folds[0].fold.log_loss(fit.contest.means[one][:size]) for one in own]
        return [one.setting for one in own], np.array(losses)

    # Few labels are held out here: all variances are tried.
    variances, losses = judged_variances()
    assert tuple(variances) == VARIANCES
    # Were they enough, the first clear loss of the first fold would be the last that is tried, on all folds.
    monkeypatch.setattr(kinds, "ENOUGH", 1)
    monkeypatch.setattr(kinds, "PAST_BEST", 1.0001)
    past = np.flatnonzero(losses > 1.0001 * np.minimum.accumulate(losses))
    last = past[0] if past.size else len(losses) - 1
    fewer, again = judged_variances()
    assert tuple(fewer) == VARIANCES[: last + 1]
    np.testing.assert_array_equal(again, losses[: last + 1])
    assert PAST_BEST > 1


# -- what a fit starts from ----------------------------------------------------------------------------


def test_folds_start_from_nothing_that_has_seen_their_held_out_cells() -> None:
    observed = table()
    fold = folds(observed, YES_NO, 0)[1]
    keys = content_keys(observed, 0)
    # The same visible cells, with other truth behind the held-out ones.
    X, Y = observed.X.copy(), observed.Y.copy()
    features = fold.column < 5
    X[fold.row[features], fold.column[features]] = 1 - fold.value[features]
    Y[fold.row[~features], fold.column[~features] - 5] = 1 - fold.value[~features]
    found: list[list[FactorPosterior]] = []
    for whole in (observed, Observations(X, Y)):
        ensemble = EnsembleFit(whole, YES_NO, seed=0, solve=solve_factored)
        shared = ensemble.whole
        shared.keys = keys
        # Fits to the whole table, and to another fold, come first.
        shared.average(gaussian=True)
        fits = FoldFits(fold, shared)
        assert fits.earlier is None
        found.append(
            [
                *(fits.average(gaussian=gaussian).posterior for gaussian in (False, True)),
                *(fits.linear_average(features=features).average.posterior for features in (False, True)),
            ]
        )
    for one, other in zip(*found, strict=True):
        assert one.bounds == other.bounds
        for name in ("V", "second", "noise", "precision"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


class Start(NamedTuple):
    """What an average was fitted to, and from."""

    observed: Observations
    start: FactorPosterior | None
    growth: int


def recorded_starts(monkeypatch: pytest.MonkeyPatch) -> list[Start]:
    """Give a list that fits of averages are noted in from now on."""
    starts: list[Start] = []
    fit = vars(Average)["fit"].__func__

    def recorded(
        cls: type[Average],
        /,
        observed: Observations,
        yes_no: BoolArray,
        *,
        start: FactorPosterior | None = None,
        growth: int = 0,
        **others: Any,
    ) -> Average:
        starts.append(Start(observed, start, growth))
        return fit(cls, observed, yes_no, start=start, growth=growth, **others)

    monkeypatch.setattr(Average, "fit", classmethod(recorded))
    return starts


def test_the_whole_table_starts_from_the_first_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    ensemble = fit_of(table())
    first = ensemble.folds[0]
    assert ensemble.whole.earlier is first
    before = {gaussian: first.average(gaussian=gaussian).posterior for gaussian in (False, True)}
    linear = {
        features: first.linear_average(features=features).average.posterior for features in (True, False)
    }
    starts = recorded_starts(monkeypatch)
    for gaussian, posterior in before.items():
        average = ensemble.whole.average(gaussian=gaussian)
        assert starts[-1].observed is ensemble.observed
        assert starts[-1].start is posterior
        assert starts[-1].growth == GROWTH
        assert ensemble.whole.average(gaussian=gaussian) is average
    for features, posterior in linear.items():
        ensemble.whole.linear_average(features=features)
        assert starts[-1].start is posterior
    assert len(starts) == 4


def test_normal_scores_start_from_features_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = recorded_starts(monkeypatch)
    observed = table()
    shared = SharedFits(observed, YES_NO, content_keys(observed, 0), solve_factored)
    raw = shared.average(gaussian=False)
    shared.average(gaussian=True)
    assert starts[0].start is None
    assert starts[1].start is raw.posterior
    # Labels alone have no columns in common with anything that was fitted.
    shared.linear_average(features=False)
    assert starts[2].start is None
    shared.linear_average(features=True)
    assert starts[3].start is not None


def test_unknown_numbers_are_predicted_as_they_are_among_all() -> None:
    fit = fit_of(table()).run()
    whole, some = (fit.ensemble.predict(fit.observed, unknown=unknown) for unknown in (False, True))
    unknown = ~fit.observed.X_known | YES_NO
    for one, other in ((some.mean[:, :5], whole.mean[:, :5]), (some.std, whole.std)):
        np.testing.assert_allclose(one[unknown], other[unknown], rtol=1e-12)
    np.testing.assert_allclose(some.mean[:, 5:], whole.mean[:, 5:], rtol=1e-12)
