"""What drawn tables are worth: dependence within rows, bands, and coverage of pooled intervals.

Run with ``make bench-draws``. Tables are made here, so that the truth is known. Bands are those from the 5 %
to the 95 % quantile of forty draws, of which forty exact draws would hold 0.86; pooled intervals are Rubin's
at 95 %, over repetitions.
"""

import argparse
import warnings

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from cocomplete import CoCompleter, pool

SHAPES = ("normal", "lognormal", "count", "bounded", "yes-no")
TRUE_SLOPE = 1.0
"""Of x on y in the regression that is pooled: half the difference of the means of x where y is 1 and 0."""


def one_factor(seed: int, n: int = 400, missing: float = 0.4) -> tuple[np.ndarray, ...]:
    """One factor behind columns of several shapes and a label; then the same with holes."""
    rng = np.random.default_rng(seed)
    f = rng.normal(size=n)

    def loaded() -> np.ndarray:
        return 0.7 * f + np.sqrt(1 - 0.49) * rng.normal(size=n)

    X = np.column_stack(
        [
            loaded(),
            np.exp(loaded()),
            rng.poisson(np.exp(0.5 + 0.6 * f)),
            expit(1.5 * loaded()),
            loaded() > 0.3,
        ]
    )
    Y = (rng.random((n, 1)) < expit(1.5 * f - 0.5)[:, None]).astype(float)
    holes = [np.where(rng.random(part.shape) < missing, np.nan, part) for part in (X, Y)]
    return X, Y, *holes


def bands(repetitions: int) -> None:
    """Print the share of held-out cells inside bands, and the correlation of x and y drawn together."""
    inside: list[list[float]] = []
    drawn, true = [], []
    for seed in range(repetitions):
        X, Y, X_seen, Y_seen = one_factor(seed)
        draws = CoCompleter().fit(X_seen, Y_seen).sample_completions(40, random_state=seed)
        low, high = np.quantile([one.X for one in draws], (0.05, 0.95), axis=0)
        holes = np.isnan(X_seen)
        hit = (low <= X) & (high >= X)
        inside.append([hit[holes[:, j], j].mean() for j in range(X.shape[1])])
        both = holes[:, 0] & np.isnan(Y_seen[:, 0])
        drawn.append(np.mean([np.corrcoef(one.X[both, 0], one.Y[both, 0])[0, 1] for one in draws]))
        true.append(np.corrcoef(X[:, 0], Y[:, 0])[0, 1])
    print(
        "bands of 40 draws hold "
        + ", ".join(
            f"{shape} {share:.3f}" for shape, share in zip(SHAPES, np.mean(inside, axis=0), strict=True)
        )
    )
    print(f"correlation of a held-out number with a label: {np.mean(drawn):.3f}, true {np.mean(true):.3f}")


def related(seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """X given y is normal with means ± ½ · TRUE_SLOPE, so that y on x is logistic with the same slope."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(float)
    x = TRUE_SLOPE * (y - 0.5) + rng.normal(size=n)
    others = np.column_stack([x + rng.normal(size=n), 0.5 * x + y + rng.normal(size=n)])
    return np.column_stack([x, others]), y[:, None]


def estimates(X: np.ndarray, y: np.ndarray) -> tuple[list[float], list[float]]:
    """Mean of x, slope of x on y, slope of y on x: estimates and their variances in one completed table."""
    x = X[:, 0]
    one, zero = x[y == 1], x[y == 0]
    difference = one.mean() - zero.mean()
    pooled_variance = (
        (one - one.mean()) @ (one - one.mean()) + (zero - zero.mean()) @ (zero - zero.mean())
    ) / (len(x) - 2)
    model = LogisticRegression(C=1e6).fit(x[:, None], y)
    design = np.column_stack([np.ones_like(x), x])
    p = model.predict_proba(x[:, None])[:, 1]
    information = design.T @ (design * (p * (1 - p))[:, None])
    return (
        [x.mean(), difference, float(model.coef_[0, 0])],
        [
            x.var(ddof=1) / len(x),
            pooled_variance * (1 / len(one) + 1 / len(zero)),
            float(np.linalg.inv(information)[1, 1]),
        ],
    )


def coverage(repetitions: int, tables: int, missing: float = 0.3) -> None:
    """Print how often pooled 95 % intervals hold the truth."""
    truth = np.array([0.0, TRUE_SLOPE, TRUE_SLOPE])
    held = []
    for seed in range(repetitions):
        X, Y = related(seed)
        rng = np.random.default_rng([seed, 1])
        X_seen = np.where(rng.random(X.shape) < missing, np.nan, X)
        Y_seen = np.where(rng.random(Y.shape) < missing, np.nan, Y)
        draws = CoCompleter().fit(X_seen, Y_seen).sample_completions(tables, random_state=seed)
        found = [estimates(one.X, one.Y[:, 0]) for one in draws]
        pooled = pool([one[0] for one in found], [one[1] for one in found], complete_df=len(X) - 2)
        held.append((pooled.low <= truth) & (truth <= pooled.high))
    shares = np.mean(held, axis=0)
    print(
        f"pooled 95 % intervals over {repetitions} repetitions: mean {shares[0]:.3f}, slope of x on y "
        f"{shares[1]:.3f}, logistic slope of y on x {shares[2]:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=200, help="of pooled intervals")
    parser.add_argument("--tables", type=int, default=20, help="drawn per repetition")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bands(max(options.repetitions // 20, 1))
        coverage(options.repetitions, options.tables)


if __name__ == "__main__":
    main()
