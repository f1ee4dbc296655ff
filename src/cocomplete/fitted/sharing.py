"""What members of an ensemble have in common, kept once.

Members are fitted one by one, so that several hold the same numbers in arrays of their own: quantiles of the
same columns, completed rows that kernels compare with. A model keeps, and pickles, each of them once.
"""

from dataclasses import fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from cocomplete.fitted.model import Model
from cocomplete.members.kernel import CompletedRows, KernelRegression, PickedRows
from cocomplete.members.number_kernel import NumberKernel

WORTH = 256
"""Bytes from which on an array is looked up."""


def shared(model: Model) -> Model:
    """Give the same model, in which equal arrays are one array, and no landmark is kept twice."""
    landmarks = [one.landmarks for one in model.ensemble.members if isinstance(one, NumberKernel)]
    rebuilt = _Rebuilt(landmarks[0] if landmarks else None)
    # The table and the predictions of its rows are the only ones of their kind.
    parts = {name: rebuilt.of(getattr(model, name)) for name in ("ensemble", "joint", "margins", "positive")}
    return replace(model, **parts)


class _Rebuilt:
    """Records made again from shared arrays.

    Parameters
    ----------
    landmarks : CompletedRows or None
        Rows that a member keeps in full.
    """

    def __init__(self, landmarks: CompletedRows | None) -> None:
        self.landmarks = landmarks
        self.arrays: dict[Any, Any] = {}
        # By identity, so that what was one object stays one; it is kept, or another might get its identity.
        self.done: dict[int, tuple[Any, Any]] = {}

    def of(self, thing: Any) -> Any:
        """Give an array, record or tuple with what is shared; anything else is left as it is."""
        if id(thing) not in self.done:
            self.done[id(thing)] = thing, self._made(thing)
        return self.done[id(thing)][1]

    def _made(self, thing: Any) -> Any:
        if isinstance(thing, np.ndarray):
            if thing.nbytes < WORTH:
                return thing
            digest = blake2b(np.ascontiguousarray(thing).data).digest()
            return self.arrays.setdefault((thing.dtype, thing.shape, digest), thing)
        if isinstance(thing, tuple):
            parts = [self.of(one) for one in thing]
            same = all(one is other for one, other in zip(parts, thing, strict=True))
            return thing if same else thing._make(parts) if hasattr(thing, "_make") else tuple(parts)
        if not is_dataclass(thing) or isinstance(thing, type):
            return thing
        if isinstance(thing, KernelRegression) and isinstance(thing.landmarks, CompletedRows):
            picked = None if self.landmarks is None else PickedRows.of(thing.landmarks, self.landmarks)
            thing = thing if picked is None else replace(thing, landmarks=picked)
        old = {field.name: getattr(thing, field.name) for field in fields(thing)}
        new = {name: self.of(value) for name, value in old.items()}
        changed = {name: value for name, value in new.items() if value is not old[name]}
        return replace(thing, **changed) if changed else thing
