"""Figures 1 and 2, Theorem 2 and the regimes: what is measured, and that it can be drawn."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, rel_entr

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.exceptions import InputError
from cocomplete.experiments import figure_1, figure_2, plots, regime, theorem
from cocomplete.experiments.runner import Record, Results, Trial, run
from cocomplete.experiments.table_1 import Setting
from cocomplete.metrics import hamming_error, relative_error
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.primal_dual import solve_primal_dual
from cocomplete.solvers.subgradient import solve_subgradient
from cocomplete.spectral import LowRank, trace_norm

needs_data = pytest.mark.skipif(
    "COCOMPLETE_DATA" not in os.environ, reason="COCOMPLETE_DATA names no folder of data sets"
)

SMALL = Setting(80, 40, 10, 2, 0.4)
"""A table on which Algorithm 1 takes milliseconds."""


def record(
    experiment: str, setting: dict[str, Any], method: str = "", seed: int = 0, **figures: Any
) -> Record:
    return Record(experiment, setting, method, seed, figures, 1.0, None, 100.0, [], {})


# -- figure 1 ----------------------------------------------------------------------------------------


@needs_data
def test_singular_values_of_cal500() -> None:
    (trial,) = figure_1.trials()
    values = figure_1.work(trial)["singular values"]
    assert len(values) == 174
    assert values == sorted(values, reverse=True)
    # The sum of squares of a 0/1 matrix is its number of ones: 502 pieces of music with 26 tags each.
    assert np.sum(np.square(values)) == pytest.approx(502 * 26.044, rel=1e-4)


# -- figure 2 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", figure_2.METHODS)
def test_curves_go_down_and_end_where_the_estimator_does(method: str) -> None:
    (trial,) = figure_2.trials([SMALL], [method], iterations=120)
    curves = figure_2.work(trial)
    assert len({len(curve) for curve in curves.values()}) == 1
    assert np.all(np.diff(curves["seconds"]) > 0)
    assert np.all(np.diff(curves["iteration"]) == 1)
    data = make_low_rank_multilabel(*SMALL, random_state=0)
    penalty = figure_2.RESIDUAL_PENALTY[method]
    settings: dict[str, Any] = {"max_iter": 120}
    if method.endswith("exact"):
        settings = {"solver": "factored", "solver_options": None, "tol": figure_2.GAP, "max_iter": 100}
    else:
        assert curves["X"][-1] < curves["X"][0] / 2
    assert curves["objective"][-1] < curves["objective"][0]
    model = CoCompleter.from_paper(penalty, **settings).fit(data.X, data.Y)
    fitted = model.reconstruct()
    assert curves["X"][-1] == pytest.approx(relative_error(data.X_true, fitted.X), rel=1e-5, abs=1e-9)
    assert curves["Y"][-1] == pytest.approx(hamming_error(data.Y_true, fitted.Z > 0), abs=1e-9)
    assert curves["objective"][-1] == pytest.approx(model.objective_, rel=1e-6)


@pytest.mark.parametrize("solve", [solve_subgradient, solve_factored, solve_primal_dual])
def test_a_solvers_clock_stands_still_while_errors_are_measured(solve: Callable[..., Any]) -> None:
    data = make_low_rank_multilabel(*SMALL, random_state=0)
    objective = figure_2.paper_objective(data, 1.0)
    solve(objective, max_iter=2)

    def slow(M: LowRank, offsets: FloatArray) -> dict[str, float]:
        time.sleep(0.5)
        return {}

    started = time.perf_counter()
    history = solve(objective, max_iter=3, monitor=slow).history
    assert history
    assert history[-1]["seconds"] <= time.perf_counter() - started - 0.5 * len(history) + 0.01


def test_errors_by_panels_are_the_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_2, "PANEL", 7)
    data = make_low_rank_multilabel(*SMALL, random_state=1)
    M = solve_factored(figure_2.paper_objective(data, 0.0), tol=1e-2).M
    offsets = np.linspace(-1, 1, 50)
    T = M.dense() + offsets
    errors = figure_2.recovery_errors(data, M, offsets)
    assert errors["X"] == pytest.approx(relative_error(data.X_true, T[:, :40]))
    assert errors["Y"] == pytest.approx(hamming_error(data.Y_true, T[:, 40:] > 0))


# -- theorem 2 ---------------------------------------------------------------------------------------


def test_divergence_is_the_textbooks() -> None:
    Z, Z_hat = np.random.default_rng(0).normal(0, 3, (2, 30, 7))
    p, q = expit(Z), expit(Z_hat)
    expected = np.mean(rel_entr(p, q) + rel_entr(1 - p, 1 - q))
    assert theorem.mean_divergence(Z, Z_hat) == pytest.approx(expected, rel=1e-10)
    assert theorem.mean_divergence(Z, Z) == 0


def test_divergence_of_logits_whose_probabilities_round_to_one() -> None:
    # σ(500) is 1 to any number of digits, so that the divergence is −log σ(−300) = 300.
    assert theorem.mean_divergence(np.array([[500.0]]), np.array([[-300.0]])) == pytest.approx(300)
    assert theorem.mean_divergence(np.array([[-900.0]]), np.array([[-800.0]])) == 0


def test_rate_by_hand() -> None:
    # n + d + l = 10, |Ω| = 100, log 10 = 2.302585: √(2·10/100) · √(1.2302585) · √(6/2).
    assert theorem.rate(4, 4, 2, 2, 100) == pytest.approx(0.447213595 * 1.109170184 * 1.732050808, rel=1e-8)


def test_slope_of_a_power_law() -> None:
    x = np.array([1.0, 2.0, 5.0, 30.0])
    assert theorem.fitted_slope(x, 7 * x**-0.37) == pytest.approx(-0.37)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_the_multiplier_search_meets_the_constraint(share: float) -> None:
    data = make_low_rank_multilabel(60, 30, 15, 2, 0.5, random_state=0)
    observed = Observations(data.X, data.Y)
    objective = Objective(observed, 1.0, 0.0, 1.0, np.zeros(45))
    truth = share * np.hstack((data.X_true, data.Z_true))
    bound = trace_norm(truth)
    found = theorem.constrained(objective, bound)
    assert found.ratio == pytest.approx(1, abs=theorem.MET)
    assert found.solution.M.trace_norm == pytest.approx(found.ratio * bound)
    # No worse on the losses than another matrix that the constraint admits.
    losses = [objective.smooth(M)[0] for M in (found.solution.M.dense(), truth)]
    assert losses[0] <= losses[1]


def test_a_bound_out_of_reach_ends_the_search_at_a_negligible_penalty() -> None:
    data = make_low_rank_multilabel(30, 12, 6, 2, 0.3, random_state=0)
    objective = Objective(Observations(data.X, data.Y), 1.0, 0.0, 1.0, np.zeros(18))
    found = theorem.constrained(objective, 1e6)
    assert found.rank_penalty == pytest.approx(theorem.NEGLIGIBLE)
    assert found.ratio < 0.1


def test_left_side_of_the_theorem_falls_with_more_cells() -> None:
    trials = theorem.trials([0.2, 0.8], count=1, n=60, d=30, l=15, r=2)
    few, many = (theorem.work(trial) for trial in trials)
    for figures in (few, many):
        assert figures["left"] == figures["KL"] + figures["X part"]
        assert figures["unspent"] >= 0
        assert figures["beta"] < 0.1
    assert many["left"] < few["left"]
    assert many["rate"] < few["rate"]
    assert many["observed cells"] == pytest.approx(0.8 * 60 * 45, rel=0.05)


# -- the regimes -------------------------------------------------------------------------------------


def test_every_observed_feature_is_met_from_equal_penalties_on() -> None:
    trials = regime.trials([0.0, 0.5, 0.9, 1.0, 1.5], count=1)
    *below, equal, above = (regime.work(trial) for trial in trials)
    assert all(figures["gap"] <= regime.GAP for figures in (*below, equal, above))
    residuals = [figures["residual"] for figures in below]
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[-1] > 0.1
    assert max(equal["residual"], above["residual"]) < 1e-6
    # Once the residual is 0 its penalty costs nothing.
    assert above["objective"] == pytest.approx(equal["objective"], rel=1e-6)
    assert below[-1]["objective"] < equal["objective"] * (1 - 1e-3)


def test_the_factored_solver_agrees_and_its_multiplier_is_short() -> None:
    (trial,) = regime.trials([1.0], count=1)
    observed = regime.noisy_table(trial.setting, 0)
    penalty = trial.setting["rank_penalty"]
    objective = Objective(observed, penalty, penalty, trial.setting["feature_weight"], np.zeros(28))
    solution = solve_factored(objective, tol=1e-7)
    assert solution.objective == pytest.approx(regime.work(trial)["objective"], rel=1e-6)
    multiplier = np.zeros(observed.X.shape)
    multiplier[observed.X_known] = solution.multiplier
    assert np.linalg.norm(multiplier, 2) <= penalty * (1 + 1e-4)


# -- drawings ----------------------------------------------------------------------------------------


def tiny_records() -> list[Record]:
    records = [record("figure1", {}, "CAL500", 0, **{"singular values": [5.0, 3.0, 2.0, 1.0]})]
    for setting in figure_2.SETTINGS[:1]:
        for number, method in enumerate(figure_2.METHODS):
            curves: dict[str, Any] = {
                "iteration": [1, 2, 3],
                "seconds": [0.1, 0.2, 0.4],
                "X": [1.0, 0.1, 0.01 / (1 + number)],
                "Y": [0.5, 0.2, 0.1],
                "objective": [3.0, 2.0, 1.0],
            }
            records.append(record("figure2", setting._asdict(), method, 0, **curves))
    for seed in range(2):
        for k, share in enumerate((0.1, 0.3, 0.5, 0.9)):
            parts = {"KL": 0.2 / (k + 1 + seed), "X part": 10.0 ** (2 - 3 * k)}
            sides = {"left": sum(parts.values()), "rate": 1 / (k + 1), "observed cells": int(1000 * share)}
            sizes = theorem.SIZES | {"observed": share}
            spent = {"trace norm ratio": 1.0 if k else 0.8}
            records.append(record("theorem", sizes, "constrained", seed, **parts, **sides, **spent))
        for ratio in (0.0, 0.5, 1.0, 2.0):
            residual = 0.5 if ratio < 1 else 1e-9
            records.append(
                record("regime", {"ratio": ratio}, "primal-dual", seed, residual=residual, gap=0.0)
            )
    return records


DRAWINGS = {
    "figure1": plots.draw_figure_1,
    "figure2": plots.draw_figure_2,
    "theorem": plots.draw_theorem,
    "regime": plots.draw_regime,
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawings_come_twice_and_the_same_every_time(name: str) -> None:
    one, two = (plots.render(DRAWINGS[name](tiny_records()), "drawn from this") for _ in range(2))
    assert one == two
    assert one["png"].startswith(b"\x89PNG")
    assert b"<svg" in one["svg"]
    assert all(b"drawn from this" in content for content in one.values())


def test_slopes_are_in_the_legend_of_the_theorem() -> None:
    figure = plots.draw_theorem(tiny_records())
    texts = [text.get_text() for ax in figure.axes for text in ax.get_legend().get_texts()]
    assert sum("slope" in text for text in texts) == 4
    assert any("λ1 became negligible" in text for text in texts)


def test_one_share_and_one_method_are_enough_to_draw() -> None:
    some = [each for each in tiny_records() if each.setting.get("observed", 0.1) == 0.1]
    assert len(plots.draw_theorem(some).axes) == 1
    one = [each for each in tiny_records() if each.method == "COCO-1 exact"]
    assert "no record yet" in plots.draw_figure_2(one).axes[0].get_title()


@pytest.mark.parametrize("name", DRAWINGS)
def test_nothing_to_draw_is_said_plainly(name: str) -> None:
    with pytest.raises(InputError, match=f"no record of {name} to draw"):
        DRAWINGS[name]([])


def test_without_matplotlib_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'cocomplete\[plots\]'"):
        plots.draw_regime(tiny_records())


def test_experiments_do_without_matplotlib_until_something_is_drawn() -> None:
    code = "import sys, cocomplete.experiments.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_records_go_through_the_runner(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    run(figure_2.trials([SMALL], ["COCO-0 exact"]), figure_2.work, results)
    (kept,) = results.read()
    assert kept.warnings == []
    assert len(plots.draw_figure_2([kept]).axes) == 4
    assert Trial("figure2", SMALL._asdict(), "COCO-0 exact", 0).key == kept.key
    assert asdict(kept)["figures"]["X"][-1] < 1
