"""The rule that weighs members: small problems whose answers are known, and the factor of log-odds."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.choosing import combine
from cocomplete.choosing.combine import (
    LARGEST_STRETCH,
    STRETCH_TRUST,
    TRUST,
    equal_shares,
    label_weights,
    number_weights,
    stretch,
)


def nats(z: FloatArray, truth: FloatArray) -> float:
    return float((np.logaddexp(0, z) - truth * z).sum())


def labels(seed: int, factor: float, count: int = 400) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-odds that are too small by a factor, the trivial answer's, and truth."""
    rng = np.random.default_rng(seed)
    base, off = 0.3 * rng.normal(size=count), 1.5 * rng.normal(size=count)
    return base + off / factor, base, (rng.random(count) < expit(base + off)).astype(float)


# -- numbers ---------------------------------------------------------------------------------------------


def test_weights_of_two_members_by_hand() -> None:
    # Errors (1, 1) and (-1, 1): squares 2 and 2, product 0, noise 1: G = 2 I; the pull asks for halves, too.
    np.testing.assert_allclose(number_weights(np.array([[1.0, 1], [-1, 1]]), np.zeros(2)), [0.5, 0.5])
    # Errors (1, 0) and (0, 3): G = diag(1, 9) / (1/2), so that w minimises w² + 9 (1 − w)² + 2·5 (w − 1/2)².
    found = number_weights(np.array([[1.0, 0], [0, 3]]), np.zeros(2))
    w = (2 * 9 + 2 * TRUST) / (2 * 1 + 2 * 9 + 4 * TRUST)
    np.testing.assert_allclose(found, [w, 1 - w])


def test_a_perfect_member_does_not_divide_by_nothing() -> None:
    truth = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(number_weights(np.stack((truth, truth + 1)), truth), [1, 0])
    # Errors of 10⁻⁶ beside none count as much as errors of 1 beside a noise of 1: G = diag(0, 1).
    first, second = number_weights(truth + 1e-6 * np.array([[0.0, 0, 0], [1, 0, 0]]), truth)
    assert first / second == pytest.approx((1 + 2 * TRUST) / (2 * TRUST), rel=1e-3)


@pytest.mark.parametrize("members", [3, 6])
@pytest.mark.parametrize("seed", range(6))
def test_weights_are_those_of_another_method(seed: int, members: int) -> None:
    rng = np.random.default_rng(seed)
    log_odds = 2 * rng.normal(size=(members, 50)) + rng.normal(size=50)
    truth = (rng.random(50) < expit(log_odds[0])).astype(float)
    target = rng.dirichlet(np.ones(members))

    def cost(weights: FloatArray) -> float:
        return nats(weights @ log_odds, truth) + TRUST * float(((weights - target) ** 2).sum())

    other = minimize(
        cost,
        target,
        method="SLSQP",
        bounds=[(0, 1)] * members,
        constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
        options={"ftol": 1e-13, "maxiter": 500},
    )
    wanted = np.where(other.x < combine.NEGLIGIBLE, 0, other.x)
    np.testing.assert_allclose(label_weights(log_odds, truth, target), wanted / wanted.sum(), atol=2e-4)


def test_without_cells_weights_are_those_they_are_pulled_towards() -> None:
    target = np.array([0.2, 0.8])
    np.testing.assert_array_equal(label_weights(np.empty((2, 0)), np.empty(0), target), target)
    np.testing.assert_array_equal(target, [0.2, 0.8])


def test_a_quadratic_on_the_simplex_meets_the_conditions_of_its_minimum() -> None:
    rng, came_back = np.random.default_rng(0), 0
    for _ in range(60):
        # Members of different worth that err partly together.
        A = rng.normal(size=(12, 10)) * rng.uniform(0.2, 3, 10) + rng.normal(size=(12, 1))
        H, g = A.T @ A + 0.01 * np.eye(10), rng.normal(size=10)
        w = combine._quadratic_on_simplex(H, g)
        assert w.sum() == pytest.approx(1)
        assert (w >= 0).all()
        slope = H @ w + g
        # Where there is weight slopes are equal, and nowhere smaller.
        assert slope[w > 0] == pytest.approx(slope.min(), abs=1e-9)
        came_back += bool((w[_left_out_one_by_one(H, g)] > 0).any())
    # Some of them only because a member that had left came back.
    assert came_back > 3


def _left_out_one_by_one(H: FloatArray, g: FloatArray) -> NDArray[np.intp]:
    """Members that leave before the first weights without a negative one are found."""
    inside = np.ones(len(g), bool)
    while ((w := combine._on_affine_hull(H, g, inside)) < 0).any():
        inside[np.argmin(w)] = False
    return np.flatnonzero(~inside)


def test_shares_of_one_that_is_set_apart() -> None:
    np.testing.assert_allclose(equal_shares([True, False, False, False], 0.7), [0.7, 0.1, 0.1, 0.1])
    np.testing.assert_allclose(equal_shares([False, True], 0.7), [0.3, 0.7])
    np.testing.assert_allclose(equal_shares([False] * 4, 0.7), 0.25)
    np.testing.assert_array_equal(equal_shares([True], 0.7), [1])


# -- the factor of log-odds ------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.4])
def test_log_odds_that_are_too_small_are_stretched_from_the_trivial_answer(factor: float) -> None:
    found = stretch(*labels(0, factor, 40_000))
    assert found == pytest.approx(factor, rel=0.05)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("factor", [0.5, 1.3])
def test_the_factor_costs_least(seed: int, factor: float) -> None:
    z, base, truth = labels(seed, factor)

    def cost(log_factor: float) -> float:
        return nats(base + np.exp(log_factor) * (z - base), truth) + STRETCH_TRUST * log_factor**2

    edge = np.log(LARGEST_STRETCH)
    grid = np.linspace(-edge, edge, 4001)
    assert np.log(stretch(z, base, truth)) == pytest.approx(grid[np.argmin([*map(cost, grid)])], abs=1e-3)
    best = minimize_scalar(cost, bounds=(-edge, edge), method="bounded", options={"xatol": 1e-10})
    assert stretch(z, base, truth) == pytest.approx(np.exp(best.x), rel=1e-6)


def test_the_factor_has_limits_and_without_cells_it_is_one() -> None:
    assert (STRETCH_TRUST, LARGEST_STRETCH) == (5.0, 2.0)
    z, base, truth = labels(0, 10.0, 5_000)
    assert stretch(z, base, truth) == pytest.approx(2, rel=1e-6)
    assert stretch(z, base, 1 - truth) == pytest.approx(0.5, rel=1e-6)
    assert stretch(np.empty(0), np.empty(0), np.empty(0)) == 1
    # Of one cell next to nothing is made.
    assert stretch(np.array([1.0]), np.zeros(1), np.ones(1)) == pytest.approx(1, abs=0.05)
