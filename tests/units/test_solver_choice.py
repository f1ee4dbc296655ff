"""Solvers declare themselves; choosing and refusing go by what they declare."""

from typing import Any

import numpy as np
import pytest

from cocomplete import CoCompleter, InputError
from cocomplete.problem.objective import Objective
from cocomplete.solvers import choice, subgradient
from cocomplete.solvers.choice import NAMES, SOLVERS, choose, finds_offsets, is_exact, options_of, solve
from cocomplete.solvers.solution import Solution
from cocomplete.solvers.solver import ALL_REGIMES, Solver
from cocomplete.spectral import LowRank
from tests.strategies import tiny_objective

REGIMES = {"smooth": 0.0, "between": 0.3, "interpolation": 0.9}


def test_every_solver_of_the_folder_is_found_exact_and_sparse_ones_first() -> None:
    assert NAMES == ("auto", "factored", "primal-dual", "paper")
    assert all(name == one.name for name, one in SOLVERS.items())


@pytest.mark.parametrize("regime", REGIMES)
def test_auto_takes_the_first_that_suits_and_says_why(regime: str) -> None:
    objective = tiny_objective(0, residual_penalty=REGIMES[regime])
    name, why = choose("auto", objective)
    assert name == ("primal-dual" if regime == "between" else "factored")
    assert "residual_penalty" in why


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_is_taken_where_it_suits_and_elsewhere_the_message_names_those_that_do(
    solver: str, regime: str
) -> None:
    objective = tiny_objective(0, residual_penalty=REGIMES[regime])
    if regime in SOLVERS[solver].regimes:
        assert choose(solver, objective) == (solver, "as asked")
        return
    with pytest.raises(InputError, match=f"solver='{solver}' needs residual_penalty") as refused:
        choose(solver, objective)
    offered = str(refused.value).split("use solver=")[1]
    for one in SOLVERS.values():
        assert (repr(one.name) in offered) == (regime in one.regimes)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_solver_gets_what_it_declares(solver: str) -> None:
    declared = SOLVERS[solver]
    objective = tiny_objective(0, free_offsets=declared.free_offsets)
    options = dict.fromkeys(declared.options, 0.5)
    found = solve(solver, objective, tol=1e-2, max_rank=2, max_iter=50, options=options, progress=None)
    assert found.n_iter <= 50
    assert np.isnan(found.duality_gap) != declared.exact
    if "max_rank" in declared.settings:
        assert found.M.rank <= 2


class Nothing:
    """A solver that gives M = 0, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}

    def __call__(self, objective: Objective, **asked: Any) -> Solution:
        self.asked = asked
        M = LowRank.zero(objective.shape, objective.dtype)
        return Solution(M, objective.offsets, 0.0, float("nan"), 0, converged=False, history=[])


def test_a_new_solver_needs_nothing_but_its_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Nothing()
    new = Solver("none", asked, ("smooth",), options=("size",), exact=False, free_offsets=False)
    monkeypatch.setattr(subgradient, "SOLVER", new)
    found = choice._declared()
    assert tuple(found) == ("factored", "primal-dual", "none")
    monkeypatch.setattr(choice, "SOLVERS", found)
    monkeypatch.setattr("cocomplete.estimator.settings.NAMES", ("auto", *found))
    given: dict[str, Any] = {"rank_penalty": 1.0, "feature_weight": 0.5, "solver": "none"}
    X = np.random.default_rng(0).normal(size=(8, 3))
    model = CoCompleter(residual_penalty=0.0, solver_options={"size": 2.0}, max_iter=7, **given).fit(X)
    assert (model.solver_, model.rank_) == ("none", 0)
    assert asked.asked == {"progress": None, "max_iter": 7, "size": 2.0}
    with pytest.raises(
        InputError, match=r"'none' needs residual_penalty 0, got 0.3; use solver='primal-dual'"
    ):
        CoCompleter(residual_penalty=0.3, **given).fit(X)
    with pytest.raises(InputError, match=r"solver_options has \['step'\], but solver='none' takes size"):
        CoCompleter(residual_penalty=0.0, solver_options={"step": 1.0}, **given).fit(X)


def test_auto_stands_for_exact_solvers_without_options() -> None:
    assert is_exact("auto")
    assert finds_offsets("auto")
    assert options_of("auto") == ()
    # Whatever the regime, an exact solver that finds offsets comes before the others.
    for regime in ALL_REGIMES:
        first = next(one for one in SOLVERS.values() if regime in one.regimes)
        assert first.exact
        assert first.free_offsets
