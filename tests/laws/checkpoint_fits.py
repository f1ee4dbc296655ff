"""Small fits that are ended from outside; run as a program, one that prints a digest of its answer."""

import hashlib
import sys
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from sklearn.utils import Bunch

from cocomplete import CoCompleter, checkpoint
from cocomplete.checkpoint import Stage
from cocomplete.choosing import held_out
from cocomplete.datasets import make_low_rank_multilabel
from tests.blocks import low_limits

GIVEN = {"rank_penalty": 5.0, "feature_weight": 0.5, "tol": 1e-5}
MODES: dict[str, dict[str, Any]] = {
    "ensemble": {},
    "smooth": {**GIVEN, "residual_penalty": 0.0},
    "interpolation": {**GIVEN, "residual_penalty": 5.0},
}


class EndedError(BaseException):
    """Ends a fit as a signal would: nothing catches it."""


def small(patch: pytest.MonkeyPatch) -> None:
    """Make 2 000 rows a long table that few folds are held out of, and have every state written."""
    low_limits(patch, sample=2_000, block=4_000)
    patch.setattr(held_out, "MOST_FOLDS", 2)
    patch.setattr(checkpoint, "SHARE", 1e9)


def ended(stores: int, model: CoCompleter, *tables: Any, stage: str = "") -> None:
    """Fit, and end that when so many states of a stage, or of all, are stored."""
    left, plain = [stores], Stage.store

    def counted(self: Stage, *what: Any, **how: Any) -> None:
        plain(self, *what, **how)
        left[0] -= self.file.name.startswith(stage)
        if not left[0]:
            raise EndedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stage, "store", counted)
        with pytest.raises(EndedError):
            model.fit(*tables)


def table(seed: int = 0, rows: int = 2_000) -> Bunch:
    return make_low_rank_multilabel(rows, 8, 4, 2, 0.6, random_state=seed)


def answer(model: CoCompleter, X: Any) -> str:
    """Give a digest of fitted attributes and predictions, of all their bits."""
    parts = [model.components_, model.singular_values_, model.offsets_, model.thresholds_]
    parts += [model.predict_proba(X[:300]), model.transform(X[:300]), model.complete(X[:300]).X_std]
    words: list[Any] = [model.rank_, model.n_iter_, model.members_, model.validation_]
    if model.certified_:
        words += [model.objective_, model.duality_gap_]
        words += [{name: each[name] for name in each if name != "seconds"} for each in model.history_]
    digest = hashlib.sha256(repr(words).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


if __name__ == "__main__":
    small(pytest.MonkeyPatch())
    data = table()
    folder, mode, pause = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    model = CoCompleter(checkpoint=folder, **MODES[mode])
    model.fit(data.X, data.Y, progress=lambda _: sleep(pause))
    sys.stdout.write(answer(model, data.X))
