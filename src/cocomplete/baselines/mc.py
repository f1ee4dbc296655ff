"""Mc as the paper ran it: features and labels completed side by side as plain numbers."""

from typing import Any

from cocomplete.baselines.soft_impute import SoftImpute


class Mc(SoftImpute):
    """The paper's rival "Mc": squared-loss completion of [X, Y] with labels 0/1, cut at a half.

    It differs from Goldberg's MC-1 and MC-b (:class:`GoldbergMC`) in that labels have a squared instead of a
    logistic loss and there is no bias of any kind.

    Parameters
    ----------
    preset : {"paper", "tuned"}, default="paper"
        "paper": λ = 1, 100 accelerated steps from zero on raw columns. "tuned": columns centred and scaled,
        free offsets, λ chosen on held-out cells for X and for Y apart, solved to ``tol``.
    rank_penalty : float or None, default=None
        λ. None leaves it to the preset. (For CAL500 in the paper's Table 2, 0.5 comes closer than its 1.)
    max_iter : int, default=100
        T, the steps of "paper"; the most rounds of the last minimisation in "tuned".
    tol : float, default=1e-3
        Relative duality gap that "tuned" reaches.
    random_state : int, RandomState or None, default=None
        Draws the held-out cells of "tuned".

    Attributes
    ----------
    feature_solution_, label_solution_, rank_penalty_, validation_, …
        As for :class:`SoftImpute`.

    Examples
    --------
    >>> from cocomplete.datasets import make_low_rank_multilabel
    >>> data = make_low_rank_multilabel(40, 12, 5, rank=2, observed=0.7, random_state=0)
    >>> Mc().fit(data.X, data.Y).reconstruct().Z.shape
    (40, 5)
    """

    use_labels = True
    center: bool | None = None
    scale: bool | None = None

    def __init__(
        self,
        *,
        preset: str = "paper",
        rank_penalty: float | None = None,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.preset = preset
        self.rank_penalty = rank_penalty
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
