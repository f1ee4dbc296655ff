"""Parts of a report that work on arrays alone: the map of holes, tipping points, bins, texts."""

import numpy as np
import pytest

from cocomplete.report.columns import histogram, level_counts, level_interval
from cocomplete.report.held_out import compared
from cocomplete.report.holes_map import MAP_COLUMNS, MAP_ROWS, holes_map, never_together
from cocomplete.report.labels import reliability
from cocomplete.report.settings_in_words import settings_in_words
from cocomplete.report.source import spread
from cocomplete.report.texts import amount_text, digits_for, number_text, share_text, short, ticks, value_text
from cocomplete.report.tipping import tipping_point
from cocomplete.table.kinds import Category, Date, Number, Ordinal, UnixTime, YesNo


def test_the_map_puts_alike_rows_and_columns_together() -> None:
    known = np.ones((9, 6), bool)
    known[::3, ::2] = False
    known[1::3, 1::2] = False
    found = holes_map(known)
    assert sum(found.rows) == 9
    order = [j for columns in found.columns for j in columns]
    assert sorted(order) == list(range(6))
    assert {frozenset(order[:3]), frozenset(order[3:])} == {frozenset((0, 2, 4)), frozenset((1, 3, 5))}
    assert found.patterns == 3
    assert found.commonest == pytest.approx(1 / 3)
    # Three blocks of rows: full ones, and two whose holes are on either side.
    missing = np.array(found.missing)
    assert (missing[:3] == 0).all()
    halves = {tuple(missing[3]), tuple(missing[6])}
    assert halves == {(100, 100, 100, 0, 0, 0), (0, 0, 0, 100, 100, 100)}
    assert (missing[3:6] == missing[3]).all()


def test_the_map_of_a_large_table_is_small_and_none_is_not_a_little() -> None:
    rng = np.random.default_rng(0)
    known = rng.random((30_000, 450)) > 0.001
    found = holes_map(known)
    assert (len(found.rows), len(found.columns)) == (MAP_ROWS, MAP_COLUMNS)
    assert sum(found.rows) == 30_000
    assert found.sampled == 20_000
    assert sum(map(len, found.columns)) == 450
    assert np.array(found.missing).max() > 0
    assert holes_map(np.ones((3, 2), bool)).missing == ((0, 0),) * 3
    assert holes_map(np.zeros((1, 1), bool)).missing == ((100,),)


def test_pairs_never_seen_together_are_looked_for_in_all_rows() -> None:
    known = np.ones((25_000, 5), bool)
    known[:, 1] = np.arange(25_000) < 100
    known[:, 2] = ~known[:, 1]
    known[:, 3] = False
    known[:, 4] = False
    known[7, 4] = True
    found = never_together(known)
    assert found.pairs == ((1, 2), (2, 4))
    assert found.count == 2
    # One row among those that a sample leaves out.
    known[50, 2] = True
    assert never_together(known).pairs == ((2, 4),)


def test_a_shift_by_the_tipping_point_moves_the_mean_by_its_standard_error() -> None:
    rng = np.random.default_rng(0)
    observed, filled = rng.normal(50, 3, size=40), rng.normal(52, 1, size=10)
    mean, error, share, sd, delta = tipping_point(observed, 40, filled, 10)
    assert mean == pytest.approx(np.concatenate((observed, filled)).mean())
    assert (share, sd) == pytest.approx((0.2, observed.std(ddof=1)))
    assert error == pytest.approx(sd / np.sqrt(40))
    shifted = np.concatenate((observed, filled + delta * sd)).mean()
    assert shifted - mean == pytest.approx(error)
    assert tipping_point(observed, 40, filled[:0], 0) is None
    assert tipping_point(np.ones(9), 9, filled, 10) is None
    assert tipping_point(np.array([-1e308, 1e308]), 2, filled, 10) is None


def test_a_histogram_has_common_bins_that_one_far_value_does_not_decide() -> None:
    observed = np.append(np.linspace(0, 1, 999), 1e9)
    found = histogram(Number(), observed, np.array([0.5, -3.0]), 10)
    assert found.edges[-1] < 10
    assert sum(found.observed) == 1000
    assert found.observed[-1] >= 1
    assert sum(found.filled) == 2
    assert len(found.edges) == 11
    alone = histogram(Number(), np.array([2.0, 2.0]), np.empty(0), 10)
    assert (alone.observed, alone.filled) == ((2,), (0,))
    assert histogram(Number(), np.empty(0), np.empty(0), 10).edges == ()


def test_rare_values_are_counted_together() -> None:
    kind = Category(tuple(f"v{k:02d}" for k in range(30)))
    observed = np.array([kind.levels[k] for k in range(30) for _ in range(30 - k)], object)
    found = level_counts(kind, observed, np.array(["v00", "v29"], object), str)
    assert found.levels[-1] == "(others)"
    assert len(found.levels) == 12
    assert sum(found.observed) == observed.size
    assert (found.filled[0], found.filled[-1]) == (1, 1)


def test_the_interval_of_levels_holds_what_is_left_between_the_tails() -> None:
    low, high = level_interval(np.array([[0.04, 0.5, 0.42, 0.04], [0.96, 0.02, 0.01, 0.01], [0, 0, 0, 1.0]]))
    assert low.tolist() == [1, 0, 3]
    assert high.tolist() == [2, 0, 3]


def test_bins_of_reliability() -> None:
    found = reliability(np.array([0, 1, 1, 1.0]), np.array([0.0, 0.15, 0.19, 1.0]), 10)
    assert [(one.low, one.high, one.cells) for one in found] == [(0, 0.1, 1), (0.1, 0.2, 2), (0.9, 1, 1)]
    assert found[1].predicted == pytest.approx(0.17)
    assert found[1].rate == 1


def test_level_means_within_two_standard_errors() -> None:
    plain = np.ones(100)
    noise = np.where(np.arange(100) % 2, 1.0, -1.0)
    assert compared(plain - 0.5 + noise, plain) == "better"
    assert compared(plain - 0.1 + noise, plain) == "level"
    assert compared(plain + 0.5 + noise, plain) == "worse"
    assert compared(plain, plain) == "level"
    assert compared(plain[:1] - 1, plain[:1]) == "level"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (1852.77, "1852.77"),
        (1e6, "1000000"),
        (123456.789, "123457"),
        (123456789.4, "123456789"),
        (-0.00012345678, "-0.000123457"),
        (1e-9, "1e-09"),
        (1e20, "1e+20"),
        (99999.96, "100000"),
    ],
)
def test_numbers_are_written_as_people_do(number: float, text: str) -> None:
    assert number_text(number) == text


def test_values_are_written_as_in_their_column() -> None:
    assert value_text(Ordinal((1.0, 2.0)), 2.0) == "2"
    assert value_text(YesNo(), 1.0) == "1"
    assert value_text(Category(("a",)), "a") == "a"
    assert value_text(Category(("a",)), "x" * 200) == "x" * 79 + "…"
    assert value_text(Date(), np.datetime64("2024-02-29T00:00:00")) == "2024-02-29"
    assert value_text(Date(unit="m"), np.datetime64("2024-02-29T12:34:00")) == "2024-02-29 12:34"


def test_digits_tell_apart_what_lies_far_from_zero() -> None:
    assert digits_for(0.0, 10.0, 4) == 4
    assert digits_for(101_325.0, 101_326.0, 4) == 10
    assert digits_for(2.0, 2.0, 4) == digits_for(-1e308, 1e308, 4) == 4
    texts = [tick.text for tick in ticks(Number(), 101_325.0, 101_326.0)]
    assert texts == ["101325", "101325.2", "101325.4", "101325.6", "101325.8", "101326"]
    found = histogram(Number(), 101_325 + np.linspace(0, 1, 50), np.empty(0), 10)
    assert len(set(found.edges)) == 11


def test_prices_and_times_are_written_to_the_last_step() -> None:
    assert value_text(Number(step=0.01), 1234567.89) == "1234567.89"
    assert value_text(UnixTime(Date()), 1_700_000_123.0) == "1700000123"
    assert [tick.text for tick in ticks(UnixTime(Date()), 19723.0, 19727.0)][::4] == [
        "2024-01-01",
        "2024-01-05",
    ]


def test_ticks_are_round_numbers_inside_the_axis() -> None:
    assert [tick.text for tick in ticks(Number(), 0.3, 9.7)] == ["2", "4", "6", "8"]
    assert [tick.text for tick in ticks(Date(), 19723.0, 19727.0)] == [f"2024-01-0{k}" for k in range(1, 6)]
    assert [tick.text for tick in ticks(Number(), 2.0, 2.0)] == ["2"]
    assert ticks(Number(), -1e308, 1e308) == () or len(ticks(Number(), -1e308, 1e308)) == 1


def test_shares_and_amounts_in_words() -> None:
    assert [share_text(share) for share in (0, 0.0001, 0.034, 0.35, 0.956, 0.9999, 1)] == [
        "0 %",
        "less than 0.1 %",
        "3.4 %",
        "35 %",
        "95.6 %",
        "more than 99.9 %",
        "100 %",
    ]
    assert [amount_text(one) for one in (0, 0.0123, 0.5, 12.345)] == ["0.00", "0.012", "0.50", "12.35"]
    assert short(float("inf")) == float("inf")
    assert short(1234567.0) == 1234600.0


def test_a_sample_is_spread_over_all_rows() -> None:
    assert spread(5, 10).tolist() == [0, 1, 2, 3, 4]
    found = spread(1_000, 10)
    assert found.tolist() == list(range(0, 1_000, 100))


def test_settings_in_words() -> None:
    words = {
        one.name: one.text
        for one in settings_in_words(
            {
                "averaging": False,
                "rank_penalty": 2.5,
                "residual_penalty": "auto",
                "feature_types": {"a": ["low", "high"], "b": (0, 10)},
                "label_types": ["class"],
                "fill": "mean",
                "threshold": "f1",
                "random_state": None,
                "verbose": 2,
            }
        )
    }
    assert words == {
        "averaging": "the minimiser of F answers alone",
        "rank_penalty": "2.5",
        "residual_penalty": "chosen on held-out cells",
        "feature_types": "given for some (a: low < high, b: 0 to 10), the others recognised",
        "label_types": "given one by one",
        "fill": "expected values",
        "threshold": "best F1 on held-out cells",
        "random_state": "0",
    }
    every = dict.fromkeys(("rank_penalty", "residual_penalty", "feature_weight"), "auto")
    assert [one.name for one in settings_in_words({"averaging": True, **every})] == ["averaging"]
