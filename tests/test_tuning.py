"""Choosing by hidden cells: what is hidden stays hidden, and the choice suits the table."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from cocomplete import CoCompleter
from cocomplete.candidates import FEATURE_WEIGHTS, Fixed
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.hiding import HIDDEN_SHARE, PARTS, Hidden
from cocomplete.parts import Setting
from cocomplete.problem.observations import Observations
from cocomplete.tuning import Search, averages, judge
from cocomplete.tuning.modes import FAR_BEHIND, PATH
from cocomplete.tuning.search import OVERLAP

nan = np.nan
OPEN = Fixed(None, None, None)


def search(observed, *, fixed=OPEN, averaging=True, seed=0, **options):
    yes_no = np.zeros(observed.n_features, bool)
    return Search(
        observed,
        yes_no,
        center=True,
        scale=True,
        fixed=fixed,
        averaging=averaging,
        random_state=seed,
        **options,
    )


def low_rank(seed=3, shape=(60, 12, 6)):
    table = make_low_rank_multilabel(*shape, rank=2, observed=0.6, random_state=seed)
    return Observations(table.X, table.Y)


def noisy(seed=0, n=60, d=8, labels=4):
    """Two factors under as much noise again."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d + labels))
    X, Y = T[:, :d] + rng.normal(size=(n, d)), (T[:, d:] + rng.logistic(size=(n, labels)) > 0).astype(float)
    X[rng.random(X.shape) < 0.2] = nan
    Y[rng.random(Y.shape) < 0.2] = nan
    return Observations(X, Y)


def same_settings(one, other):
    return (one.method, one.gaussian, one.settings) == (other.method, other.gaussian, other.settings)


@pytest.fixture(scope="module")
def searched():
    return search(noisy()).run()


# -- hiding --------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000))
def test_hidden_and_visible_cells_are_the_observed_ones_parted(seed):
    rng = np.random.default_rng(seed)
    n, d, labels = (int(rng.integers(1, high)) for high in (20, 6, 5))
    X, Y = rng.normal(size=(n, d)), (rng.random((n, labels)) < 0.3).astype(float)
    X[rng.random(X.shape) < 0.4] = nan
    Y[rng.random(Y.shape) < 0.4] = nan
    observed = Observations(X, Y, tuple(f"f{j}" for j in range(d)))
    hidden = Hidden.of(observed, rng, share=0.6)
    visible = hidden.visible
    for table, rest, row, column, value in (
        (X, visible.X, hidden.x_row, hidden.x_column, hidden.x_value),
        (Y, visible.Y, hidden.y_row, hidden.y_column, hidden.y_value),
    ):
        assert np.isfinite(value).all()
        assert np.isnan(rest[row, column]).all()
        put_back = rest.copy()
        put_back[row, column] = value
        np.testing.assert_array_equal(put_back, table)
    for value in (0, 1):
        had, has = ((table == value).any(axis=0) for table in (Y, visible.Y))
        np.testing.assert_array_equal(has, had)
    had, has = ((~np.isnan(table)).sum(axis=0) for table in (X, visible.X))
    assert ((has >= 2) | (has == had)).all()
    assert visible.feature_names == observed.feature_names
    count = len(hidden.y_value)
    assert hidden.sizes == {
        "features": len(hidden.x_value),
        "labels": count,
        "unlabelled": count if visible.X_known.any() else 0,
    }


def test_the_share_is_what_it_says_and_the_spread_is_the_column_s():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 20)) * np.arange(1, 21), (rng.random((300, 20)) < 0.5).astype(float)
    hidden = Hidden.of(Observations(X, Y), rng)
    for count in (hidden.x_value.size, hidden.y_value.size):
        assert count / 6000 == pytest.approx(HIDDEN_SHARE, abs=0.02)
    np.testing.assert_allclose(hidden.x_scale, X.std(axis=0, ddof=1)[hidden.x_column])


def test_a_small_table_is_hidden_from_several_times_and_a_large_one_once():
    assert len(search(noisy()).hidings) == judge.MOST_HIDINGS
    rng = np.random.default_rng(0)
    large = Observations(rng.normal(size=(400, 10)), (rng.random((400, 10)) < 0.5).astype(float))
    assert len(search(large).hidings) == 1


# -- judging -------------------------------------------------------------------------------------------


def test_errors_are_those_of_the_predictions(searched):
    truth = searched.truth
    for one in searched.candidates:
        assert set(one.errors) == set(PARTS)
        assert one.x_mean.shape == one.x_std.shape == truth.x_value.shape
        squares = ((one.x_mean - truth.x_value) / truth.x_scale) ** 2
        assert one.errors["features"] == pytest.approx(squares.mean())
        loss = np.logaddexp(0, np.where(truth.y_value == 1, -one.y_score, one.y_score))
        assert one.errors["labels"] == pytest.approx(loss.mean())
        blind = np.logaddexp(0, np.where(truth.y_value == 1, -one.y_blind, one.y_blind))
        assert one.errors["unlabelled"] == pytest.approx(blind.mean())
    for part in PARTS:
        assert searched.best(part).errors[part] == min(one.errors[part] for one in searched.candidates)
        assert searched.summary()[part]["error"] == searched.chosen(part).errors[part]


def test_the_trivial_candidate_is_column_means_and_label_rates(searched):
    trivial = searched.candidates[0]
    assert trivial.method == "trivial"
    means, scores = [], []
    for hidden in searched.hidings:
        means.append(np.nanmean(hidden.visible.X, axis=0)[hidden.x_column])
        Y = hidden.visible.Y
        rate = (np.nansum(Y, axis=0) + 0.5) / ((~np.isnan(Y)).sum(axis=0) + 1)
        scores.append(np.log(rate / (1 - rate))[hidden.y_column])
    np.testing.assert_allclose(trivial.x_mean, np.concatenate(means))
    np.testing.assert_allclose(trivial.y_score, np.concatenate(scores))
    assert trivial.errors["labels"] == trivial.errors["unlabelled"]


def test_structure_is_found_where_there_is_some(searched):
    for part, factor in (("features", 0.85), ("labels", 0.98)):
        assert searched.best(part).errors[part] < factor * searched.best(part, "trivial").errors[part]
    for method in ("mode", "average"):
        assert searched.best("features", method).errors["features"] < 0.9


def test_same_seed_same_candidates_other_seed_others(searched):
    again, other = search(noisy()).run(), search(noisy(), seed=1)
    assert len(again.candidates) == len(searched.candidates)
    for one, two in zip(again.candidates, searched.candidates, strict=True):
        assert same_settings(one, two)
        np.testing.assert_array_equal(one.x_mean, two.x_mean)
        np.testing.assert_array_equal(one.y_score, two.y_score)
    assert again.settings() == searched.settings()
    assert not np.array_equal(other.hidings[0].x_row, searched.hidings[0].x_row)


def test_hidings_do_not_see_what_they_hide(monkeypatch):
    # With several hidings a cell that is hidden in one is visible in another.
    monkeypatch.setattr(judge, "MOST_HIDINGS", 1)
    observed = noisy(5)
    hidden = search(observed).hidings[0]
    X = observed.X.copy()
    X[hidden.x_row, hidden.x_column] = -3 * hidden.x_value + np.random.default_rng(0).normal(
        size=hidden.x_value.size
    )
    before, after = (search(one).run() for one in (observed, replace(observed, X=X)))
    np.testing.assert_array_equal(after.hidings[0].visible.X, hidden.visible.X)
    assert not np.array_equal(after.truth.x_value, before.truth.x_value)
    # Errors decide how far paths go, so the second search tries some other candidates as well; and which
    # average another one starts from, so those that start from the best of others are left aside.
    from_scratch = [
        one
        for one in before.candidates
        if one.rank is None
        or one.kind == (True, 1.0)
        or (one.kind == (False, 1.0) and one.settings["prior"].label_precision == averages.LABEL_PRECISION)
    ]
    pairs = [
        (one, next(two for two in after.candidates if same_settings(one, two)))
        for one in from_scratch
        if any(same_settings(one, two) for two in after.candidates)
    ]
    assert {one.method for one, _ in pairs} == {"trivial", "average", "mode"}
    assert len(pairs) >= 12
    for one, two in pairs:
        np.testing.assert_array_equal(two.x_mean, one.x_mean)
        np.testing.assert_array_equal(two.x_std, one.x_std)
        np.testing.assert_array_equal(two.y_score, one.y_score)
        assert two.errors["labels"] == one.errors["labels"]
        assert two.errors["unlabelled"] == one.errors["unlabelled"]
        assert two.errors["features"] != one.errors["features"]


def test_hidden_labels_are_not_seen_either(monkeypatch):
    monkeypatch.setattr(judge, "MOST_HIDINGS", 1)
    observed = noisy(6)
    hidden = search(observed, averaging=False).hidings[0]
    Y = observed.Y.copy()
    Y[hidden.y_row, hidden.y_column] = 1 - hidden.y_value
    rng = np.random.default_rng(0)
    # Every label keeps a visible 0 and 1 either way, so the same cells are hidden.
    again = Hidden.of(replace(observed, Y=Y), rng)
    np.testing.assert_array_equal(again.y_row, hidden.y_row)
    before, after = (search(one, averaging=False).run() for one in (observed, replace(observed, Y=Y)))
    pairs = [(one, two) for one in before.candidates for two in after.candidates if same_settings(one, two)]
    assert len(pairs) >= 5
    for one, two in pairs:
        np.testing.assert_array_equal(two.x_mean, one.x_mean)
        np.testing.assert_array_equal(two.y_score, one.y_score)
        assert two.errors["labels"] != one.errors["labels"]


# -- choosing ------------------------------------------------------------------------------------------


def test_without_noise_features_met_exactly_win():
    found = search(low_rank(), averaging=False).run()
    best = found.best("features")
    assert best.method == "mode"
    assert best.settings["residual_penalty"] == best.settings["rank_penalty"] > 0
    assert best.errors["features"] < 0.01
    chosen = found.settings()["features"]
    assert (chosen.method, chosen.residual_penalty) == ("mode", best.settings["residual_penalty"])


@pytest.mark.parametrize("seed", [0, 1])
def test_in_pure_noise_nothing_beats_the_trivial_answer_by_much(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(80, 8)), (rng.random((80, 5)) < 0.4).astype(float)
    X[rng.random(X.shape) < 0.2] = nan
    found = search(Observations(X, Y)).run()
    for part in PARTS:
        assert found.best(part, "trivial").errors[part] <= 1.05 * found.best(part).errors[part]


def test_paths_end_once_they_have_turned(searched):
    paths = {}
    for one in searched.candidates:
        if one.method == "mode" and one.settings["residual_penalty"] == 0:
            paths.setdefault((one.gaussian, one.settings["feature_weight"]), []).append(one)
    assert {weight for _, weight in paths} == set(FEATURE_WEIGHTS)
    assert sum(map(len, paths.values())) < len(PATH) * len(paths)
    for (gaussian, _), path in paths.items():
        penalties = np.array([one.settings["rank_penalty"] for one in path])
        np.testing.assert_allclose(penalties[1:] / penalties[:-1], PATH[1] / PATH[0])
        # Rows without labels are averages' to answer for.
        wanted = [part for part in ("features", "labels") if searched.encoding_for(part) == gaussian]
        assert wanted
        if len(path) < len(PATH):
            # The last brought nothing better, or nothing but what is far behind.
            lowest = {part: min(one.errors[part] for one in path[:-1]) for part in wanted}
            better = [part for part in wanted if path[-1].errors[part] < lowest[part]]
            assert len(better) < len(wanted)
            for part in better:
                assert path[-1].errors[part] > FAR_BEHIND * searched.best(part).errors[part]
            assert len(path) == 2 or any(path[-2].errors[part] == lowest[part] for part in wanted)


def test_given_penalties_are_kept():
    found = search(noisy(), fixed=Fixed(2.5, 0.0, 0.3), averaging=False).run()
    assert [one.method for one in found.candidates] == ["trivial", "mode"]
    assert found.candidates[1].settings == {
        "rank_penalty": 2.5,
        "residual_penalty": 0.0,
        "feature_weight": 0.3,
    }
    for setting in found.settings().values():
        assert (setting.rank_penalty, setting.residual_penalty, setting.feature_weight) == (2.5, 0.0, 0.3)
    only_weight = search(noisy(), fixed=Fixed(None, 0.0, 0.3), averaging=False).run()
    modes = [one.settings for one in only_weight.candidates if one.method == "mode"]
    assert len(modes) > 2
    assert {(one["feature_weight"], one["residual_penalty"]) for one in modes} == {(0.3, 0.0)}


@pytest.mark.parametrize("after", [1, 3, 12])
def test_an_interrupted_search_can_be_used(after):
    records = []

    def progress(record):
        records.append(record)
        if len(records) == after:
            raise KeyboardInterrupt

    found = search(noisy(), progress=progress).run()
    assert found.interrupted
    assert len(found.candidates) == len(records) == after
    assert [record["iteration"] for record in records] == list(range(1, after + 1))
    assert {record["stage"] for record in records} == {"tuning"}
    settings = found.settings()
    assert set(settings) == set(PARTS)
    for part, setting in settings.items():
        chosen = found.chosen(part)
        assert setting.method == ("average" if chosen.method == "blend" else chosen.method)
        assert (setting.method == "average") == bool(setting.members)
    assert found.std_factor() > 0
    assert len(found.summary()["curves"]) == after


def test_with_too_few_cells_to_judge_by_what_was_given_holds():
    rng = np.random.default_rng(0)
    tiny = Observations(rng.normal(size=(5, 3)), np.tile([[0.0], [1.0]], (3, 1))[:5])
    found = search(tiny, fixed=Fixed(None, 0.0, 0.2)).run()
    assert found.parts == ()
    assert found.candidates == []
    assert found.best("features") is None
    assert found.hidden_labels() is None
    assert found.std_factor() == 1
    expected = Setting(rank_penalty=None, residual_penalty=0.0, feature_weight=0.2)
    assert found.settings() == dict.fromkeys(PARTS, expected)
    assert search(tiny).settings()["labels"] == Setting(feature_weight=FEATURE_WEIGHTS[0])


def test_a_part_that_cannot_be_judged_follows_the_other():
    observed = noisy()
    Y = observed.Y.copy()
    Y[8:] = nan
    found = search(replace(observed, Y=Y), averaging=False).run()
    assert found.parts == ("features",)
    settings = found.settings()
    assert settings["labels"] == settings["unlabelled"] == settings["features"]
    assert found.best("labels") is None


def test_a_table_without_labels_is_searched_too():
    found = search(replace(noisy(), Y=np.empty((60, 0)))).run()
    assert found.parts == ("features",)
    assert found.best("features").errors["features"] < found.best("features", "trivial").errors["features"]
    assert found.hidden_labels() is None


def test_widths_of_intervals_are_set_by_the_hidden_cells(searched):
    best, truth = searched.best("features"), searched.truth
    wide = searched.std_factor() * 1.6449 * best.x_std
    assert np.mean(np.abs(best.x_mean - truth.x_value) <= wide) == pytest.approx(0.9, abs=0.01)


def test_choices_do_not_depend_on_the_number_of_threads():
    data = make_low_rank_multilabel(60, 12, 5, rank=2, observed=0.6, random_state=0)
    curves = []
    for threads in (1, 2):
        before = numba.get_num_threads()
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        try:
            with threadpool_limits(threads):
                done = Search(
                    Observations(data.X, data.Y),
                    np.zeros(12, bool),
                    center=True,
                    scale=True,
                    fixed=Fixed(None, None, None),
                    averaging=True,
                    random_state=0,
                ).run()
        finally:
            numba.set_num_threads(before)
        curves.append([(one.method, one.errors["features"], one.errors["labels"]) for one in done.candidates])
    one, two = curves
    assert [point[0] for point in one] == [point[0] for point in two]
    np.testing.assert_allclose([point[1:] for point in one], [point[1:] for point in two], rtol=1e-6)


@pytest.mark.parametrize("known", [0, 2])
def test_a_table_with_next_to_no_features_is_searched_too(known):
    X = noisy().X.copy()
    X[known:] = nan
    found = search(replace(noisy(), X=X)).run()
    assert "features" not in found.parts
    assert np.isfinite(found.best("labels").errors["labels"])


def test_a_width_set_on_hidden_cells_suits_what_the_fit_says():
    """The chosen part's own deviations, times the factor, against truth that no one has seen."""
    table = make_low_rank_multilabel(60, 12, 6, rank=2, observed=0.6, random_state=3)
    done = CoCompleter(averaging=False).fit(table.X, table.Y).complete(table.X, table.Y)
    holes = np.isnan(table.X)
    error = (done.X - table.X_true)[holes]
    assert np.mean(np.abs(error) < 1.645 * done.X_std[holes]) > 0.8
    assert np.median(done.X_std[holes]) < 5 * np.sqrt(np.mean(error**2))


def twins(seed=0, n=200):
    """Features that know nothing of the labels, and labels that copy each other in pairs."""
    rng = np.random.default_rng(seed)
    Y = np.repeat((rng.random((n, 4)) < 0.4).astype(float), 2, axis=1)
    Y[rng.random(Y.shape) < 0.3] = nan
    return Observations(rng.normal(size=(n, 5)), Y)


def test_what_labels_have_in_common_alone_is_found():
    found = search(twins()).run()
    numbers = [one for one in found.candidates if one.rank and one.settings["prior"].linear]
    assert {one.settings["prior"].label_rank for one in numbers} == {7}
    trivial = found.best("labels", "trivial").errors["labels"]
    assert min(one.errors["labels"] for one in numbers) < 0.8 * trivial
    assert found.chosen("labels").errors["labels"] < 0.8 * trivial


def test_labels_are_answered_for_by_the_best_average_of_every_kind(searched):
    blend = searched.blend
    members = blend.settings["members"]
    assert [one.kind for one in members] == [(False, 1.0), (False, 0.6), (False, 0.35), (True, 1.0)]
    averages = [one for one in searched.candidates if one.method == "average"]
    for one in members:
        rivals = [other for other in averages if (other.kind, other.gaussian) == (one.kind, one.gaussian)]
        assert one.label_error == min(other.label_error for other in rivals)
    truth, base = searched.truth.y_value, searched.candidates[0].y_score
    read = searched.averages._read_out()
    assert blend.settings["readouts"] == tuple(read)
    shares = blend.settings["shares"]["labels"]
    scores = [*(one.y_score for one in members), *read.values()]
    total = base + sum(s * (one - base) for s, one in zip(shares, scores, strict=True))
    np.testing.assert_allclose(blend.y_score, total)
    blind = np.stack([*(one.y_blind for one in members), *read.values()])
    np.testing.assert_allclose(blend.y_blind, np.array(blend.settings["shares"]["unlabelled"]) @ blind)
    for part, score in (("labels", blend.y_score), ("unlabelled", blend.y_blind)):
        assert blend.errors[part] == pytest.approx(np.mean(np.logaddexp(0, score) - truth * score))
    # Together they predict the hidden labels no worse than in equal parts.
    equal = np.mean(scores, axis=0)
    assert blend.errors["labels"] <= np.mean(np.logaddexp(0, equal) - truth * equal)


def test_known_and_unknown_rows_share_their_averages_but_not_their_shares(searched):
    settings = searched.blend.settings
    labels, unlabelled = (searched._members(searched.blend, part) for part in ("labels", "unlabelled"))
    alike = [replace(one, share=1.0, taught=one.likeness is not None, overlap=0.0) for one in labels]
    assert alike == [replace(one, share=1.0) for one in unlabelled]
    assert not any(one.taught for one in labels)
    assert [one.overlap for one in labels] == [OVERLAP] * len(settings["members"]) + [0.0, 0.0]
    assert [one.share for one in labels] == list(settings["shares"]["labels"])
    *averages, linear, near = unlabelled
    assert {one.likeness for one in averages} == {None}
    assert [one.likeness for one in (linear, near)] == ["linear", "near"]
    shares = np.array([one.share for one in averages])
    assert shares.sum() == pytest.approx(1 - linear.share - near.share)
    # Of two members the better one says more: e times, where the other errs 5 % more.
    asked = shares > 0
    errors = np.array([one.errors["unlabelled"] for one in settings["members"]])
    expected = -(errors - errors[-1]) / errors.min() / 0.05
    np.testing.assert_allclose(np.log(shares[asked] / shares[-1]), expected[asked], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("gain", "asked"), [(0.5, True), (0.02, True), (0.005, False), (-0.1, False)])
def test_sure_averages_are_asked_of_rows_without_labels_if_clearly_the_best(searched, gain, asked):
    truth = searched.truth.y_value
    members = [replace(one, errors={"unlabelled": 1.0}) for one in searched.blend.settings["members"]]
    assert [one.kind == (False, 1.0) for one in members] == [True, False, False, False]
    members[0] = replace(members[0], errors={"unlabelled": 1 - gain})
    blind = np.stack([*(one.y_blind for one in members), np.zeros_like(truth)])
    shares = averages._blind_shares(members, blind, truth)
    assert (shares[0] > 0) == asked
    assert shares.sum() == pytest.approx(1)
    assert (shares[1:] > 0).all()
    # The others' shares do not change among themselves but for what its voice changes in that of averages.
    np.testing.assert_allclose(shares[2:4] / shares[1], 1)


def test_an_average_that_is_alone_answers_for_rows_without_labels(searched):
    first = searched.blend.settings["members"][0]
    assert first.kind == (False, 1.0)
    np.testing.assert_array_equal(
        averages._blind_shares([first], first.y_blind[None], searched.truth.y_value), np.ones(1)
    )


def test_a_blend_is_chosen_unless_something_else_is_clearly_better(searched):
    best = searched.best("labels")
    error = best.errors["labels"]
    for method, factor, part, wins in (
        ("mode", 1.009, "labels", True),
        ("mode", 1.011, "labels", False),
        ("mode", 1.5, "unlabelled", True),
        ("average", 1.5, "labels", True),
        ("trivial", 0.999, "labels", True),
        ("trivial", 1.001, "labels", False),
    ):
        rival = replace(best, method=method, errors=dict.fromkeys(PARTS, error))
        blend = replace(searched.blend, errors=dict.fromkeys(("labels", "unlabelled"), factor * error))
        found = search(noisy())
        found.candidates, found.blend = [rival], blend
        assert (found.chosen(part) is blend) == wins, (method, factor, part)


def test_one_label_has_none():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    found = search(Observations(X, (X[:, :1] + rng.normal(size=(80, 1)) > 0).astype(float))).run()
    priors = [one.settings["prior"] for one in found.candidates if one.method == "average"]
    assert {prior.label_rank for prior in priors} == {0}
    assert {prior.linear for prior in priors} == {False, True}
