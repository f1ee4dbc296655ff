"""The picture of docs/what-it-may-be-used-for.md: three ways to be missing, and what a fill makes of each.

Run with ``.venv/bin/python benchmarks/missing_picture.py``; it writes docs/missing.png.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from cocomplete import CoCompleter

TARGET = Path(__file__).parents[1] / "docs" / "missing.png"

KINDS = (
    ("By chance", "nothing decides which blood pressures are missing"),
    ("Because of age", "mostly old people's are missing; age is known"),
    ("Because of the value", "mostly high ones are missing; nothing known explains it"),
)


def table(seed: int = 0, n: int = 400) -> np.ndarray:
    """Age, weight and blood pressure, SYNTHETIC: pressure rises with both."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 80, n)
    weight = 75 + 12 * rng.normal(size=n)
    pressure = 80 + 0.7 * age + 0.2 * (weight - 75) + 8 * rng.normal(size=n)
    return np.column_stack([age, weight, pressure])


def missing(X: np.ndarray, kind: int, rng: np.random.Generator) -> np.ndarray:
    """Half of the pressures, by chance, by age, or by themselves."""
    driver = (np.zeros(len(X)), X[:, 0], X[:, 2])[kind]
    rank = driver.argsort().argsort() / len(X)
    chance = np.full(len(X), 0.5) if kind == 0 else np.clip(0.5 + 1.6 * (rank - 0.5), 0.02, 0.98)
    return rng.random(len(X)) < chance


def main() -> None:
    X = table()
    figure, axes = plt.subplots(1, 3, figsize=(11, 4), sharey=True, layout="constrained")
    for kind, (axis, (title, reason)) in enumerate(zip(axes, KINDS, strict=True)):
        held_out = missing(X, kind, np.random.default_rng([7, kind]))
        shown = X.copy()
        shown[held_out, 2] = np.nan
        filled = CoCompleter().fit(shown).complete(shown).X
        axis.scatter(*X[~held_out][:, [0, 2]].T, s=9, color="#30638e", label="observed")
        axis.scatter(
            *X[held_out][:, [0, 2]].T, s=11, facecolors="none", edgecolors="#b5b5b5", label="missing (truth)"
        )
        axis.scatter(*filled[held_out][:, [0, 2]].T, s=9, marker="x", color="#d1495b", label="filled")
        means = X[:, 2].mean(), np.nanmean(shown[:, 2]), filled[:, 2].mean()
        axis.set_title(f"{title}\n", fontsize=11)
        axis.text(0.5, 1.01, reason, transform=axis.transAxes, ha="center", fontsize=8)
        axis.text(
            0.03,
            0.03,
            f"mean pressure\ntrue {means[0]:.1f}\nobserved {means[1]:.1f}\ncompleted {means[2]:.1f}",
            transform=axis.transAxes,
            fontsize=8,
            bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none"},
        )
        axis.set_xlabel("age")
        print(f"{title}: true {means[0]:.2f}, observed {means[1]:.2f}, completed {means[2]:.2f}")
    axes[0].set_ylabel("blood pressure (synthetic)")
    axes[0].legend(loc="upper left", fontsize=8)
    figure.savefig(TARGET, dpi=110)


if __name__ == "__main__":
    main()
