"""The paper's synthetic data (section 4.1)."""

import numpy as np
from scipy.special import expit
from sklearn.utils import Bunch

from cocomplete.datasets.missing import observe_at_random
from cocomplete.parameter_checks import check_count, check_seed, check_share


def make_low_rank_multilabel(
    n_samples: int = 1000,
    n_features: int = 500,
    n_labels: int = 100,
    rank: int = 10,
    observed: float = 0.2,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Make a low-rank table with 0/1 labels of which most is missing.

    Parameters
    ----------
    n_samples, n_features, n_labels, rank : int
        The paper's n, d, l and r.
    observed : float, default=0.2
        The paper's ω: each cell of X and of Y is shown with this probability.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    Bunch
        ``X``, ``Y`` with NaN where missing; ``X_true``, ``Y_true``, ``Z_true`` without holes.

    Notes
    -----
    L (n × r) and R (r × (d + l)) are uniform on [−5, 5] and M = L R = [X, Z]. A label is 1 with probability
    σ(Z_ij).

    Examples
    --------
    >>> data = make_low_rank_multilabel(6, 4, 2, rank=2, observed=0.5, random_state=0)
    >>> data.X.shape, data.Y.shape
    ((6, 4), (6, 2))
    """
    check_share("observed", observed)
    check_seed("random_state", random_state)
    sizes = {"n_samples": n_samples, "n_features": n_features, "n_labels": n_labels, "rank": rank}
    for name, size in sizes.items():
        check_count(name, size)
    rng = np.random.default_rng(random_state)
    left = rng.uniform(-5, 5, (n_samples, rank))
    right = rng.uniform(-5, 5, (rank, n_features + n_labels))
    M = left @ right
    X_true, Z_true = M[:, :n_features].copy(), M[:, n_features:].copy()
    Y_true = (rng.random(Z_true.shape) < expit(Z_true)).astype(np.float64)
    return Bunch(
        X=observe_at_random(X_true, observed, rng),
        Y=observe_at_random(Y_true, observed, rng),
        X_true=X_true,
        Y_true=Y_true,
        Z_true=Z_true,
    )
