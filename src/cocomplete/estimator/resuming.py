"""Which checkpoint belongs to a fit: a digest of all that its answer depends on."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from cocomplete.checkpoint import Checkpoint
from cocomplete.estimator.fit_blocks import WholeTable
from cocomplete.estimator.messages import Messages
from cocomplete.estimator.settings import Settings
from cocomplete.estimator.sparse_input import SparseInput
from cocomplete.estimator.training import TrainingTable
from cocomplete.problem.observations import Observations

WITHOUT_SAY = ("checkpoint", "force", "verbose", "on_interrupt")
"""Parameters that have no say in the answer."""


def checkpoint_of(
    settings: Settings, table: TrainingTable, whole: WholeTable | None, messages: Messages
) -> Checkpoint | None:
    """Give the checkpoint of a fit; None if none was asked for.

    Parameters
    ----------
    settings : Settings
    table : TrainingTable
    whole : WholeTable or None
        All rows, if those of ``table`` are a sample: they are read once, for the digest.
    messages : Messages
        Logs what is found.

    Raises
    ------
    InputError
        If nothing can be written to its folder.
    """
    if settings.checkpoint is None:
        return None
    given = table.given
    names, kinds = (given.feature_names, given.label_names), (table.groups, table.yes_no, sorted(table.codes))
    about = (version("cocomplete"), _asked(settings), names, _described(kinds))
    digest = hashlib.blake2b(repr(about).encode(), digest_size=16)
    digest.update(content_digest(given))
    if whole is not None:
        for each in whole.engine.collect(content_digest, whole.blocks):
            digest.update(each)
    return Checkpoint(Path(settings.checkpoint), digest.digest(), messages.log)


def sparse_checkpoint_of(settings: Settings, given: SparseInput, messages: Messages) -> Checkpoint | None:
    """Give the checkpoint of a fit of a sparse table; None if none was asked for.

    Raises
    ------
    InputError
        If nothing can be written to its folder.
    """
    if settings.checkpoint is None:
        return None
    about = (version("cocomplete"), _asked(settings), given.label_names, given.label_interface, given.flat)
    digest = hashlib.blake2b(repr(about).encode(), digest_size=16)
    for part in (given.table.X, given.table.Y):
        matrix, known = part.matrix, ~np.isnan(part.matrix.data)
        digest.update(f"sparse {part.shape} {matrix.dtype.str} {part.zeros}".encode())
        for array in (matrix.indptr, matrix.indices):
            digest.update(array.astype(np.int64).data)
        digest.update(np.packbits(known).tobytes())
        digest.update(matrix.data[known].data)
    return Checkpoint(Path(settings.checkpoint), digest.digest(), messages.log)


def _asked(settings: Settings) -> list[tuple[str, str]]:
    """Describe the parameters that have a say in the answer."""
    return sorted(
        (field.name, _described(getattr(settings, field.name)))
        for field in fields(settings)
        if field.name not in WITHOUT_SAY
    )


def content_digest(observed: Observations) -> bytes:
    """Give a digest of what is known, whatever the bits are that stand for unknown."""
    digest = hashlib.blake2b(digest_size=16)
    for part, known in ((observed.X, observed.X_known), (observed.Y, observed.Y_known)):
        digest.update(f"{part.shape} {part.dtype.str}".encode())
        digest.update(np.packbits(known).tobytes())
        digest.update(np.ascontiguousarray(part[known]).data)
    return digest.digest()


def _described(value: Any) -> str:
    """Say what a parameter is, in the same words in every process."""
    if isinstance(value, np.random.Generator):
        return _described(value.bit_generator.state)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.shape} {value.dtype.str} {value.tobytes().hex()}"
    if isinstance(value, Mapping):
        return repr(sorted((repr(name), _described(each)) for name, each in value.items()))
    if isinstance(value, Iterable) and not isinstance(value, str):
        return repr([type(value).__name__, *map(_described, value)])
    return repr(value)
