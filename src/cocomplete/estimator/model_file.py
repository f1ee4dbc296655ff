"""Fitted models in files: a zip of JSON and safetensors, without any code in it."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from cocomplete.atomic import write_atomically
from cocomplete.exceptions import InputError
from cocomplete.fitted.column_ends import ColumnEnds
from cocomplete.fitted.draws import ScoreMargins
from cocomplete.fitted.ensemble import Ensemble
from cocomplete.fitted.fitted_rows import FittedRows
from cocomplete.fitted.judged_cells import JudgedCells
from cocomplete.fitted.levels import LevelCuts
from cocomplete.fitted.model import Model
from cocomplete.fitted.positive_labels import PositiveLabels
from cocomplete.fitted.sparse_model import SparseModel
from cocomplete.members.average import Average
from cocomplete.members.kernel import CompletedRows, KernelRegression, PickedRows
from cocomplete.members.level_trees import LevelTrees
from cocomplete.members.linear_average import LinearAverage
from cocomplete.members.logistic_average import LogisticAverage
from cocomplete.members.minimiser import Minimiser
from cocomplete.members.number_kernel import NumberKernel
from cocomplete.members.trees import BoostedTrees
from cocomplete.members.trivial import Trivial
from cocomplete.packing import Packer, UnknownRecordError, Unpacker
from cocomplete.positive_unlabelled.recorded_share import RecordedShare
from cocomplete.problem.cells import Cells
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.informative import Informative
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.problem.scores import NormalScores
from cocomplete.problem.sparse_encoding import SparseEncoding
from cocomplete.problem.standardize import Standardization
from cocomplete.solvers.own_features import OwnFeatures
from cocomplete.solvers.posterior import FactorPosterior
from cocomplete.solvers.solution import Solution
from cocomplete.solvers.sparse_rows import Columns
from cocomplete.spectral import LowRank
from cocomplete.table.kinds import Category, Count, Date, Number, Ordinal, Tags, UnixTime, YesNo
from cocomplete.table.schema import Schema

FORMAT = 1
"""Version of the file's layout; raised when older files could no longer be read as they are."""

RECORD, ARRAYS = "model.json", "arrays.safetensors"
"""The two parts of a file."""

LARGEST_RECORD = 256 * 2**20
"""Bytes that the JSON may have: a model's is far smaller."""

CLASSES: dict[str, type] = {
    each.__name__: each
    for each in (
        Average,
        BoostedTrees,
        Category,
        Cells,
        ColumnEnds,
        Columns,
        CompletedRows,
        Count,
        Date,
        Encoding,
        Ensemble,
        FactorPosterior,
        FittedRows,
        Informative,
        JudgedCells,
        KernelRegression,
        LevelCuts,
        LevelTrees,
        LinearAverage,
        LogisticAverage,
        LowRank,
        Minimiser,
        Model,
        NormalScores,
        Number,
        NumberKernel,
        Objective,
        Observations,
        Ordinal,
        OwnFeatures,
        PickedRows,
        PositiveLabels,
        RecordedShare,
        Schema,
        ScoreMargins,
        Solution,
        SparseEncoding,
        SparseModel,
        Standardization,
        Tags,
        Trivial,
        UnixTime,
        YesNo,
    )
}
"""All that a fitted model is made of."""


def save(state: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write the state of a fitted estimator, whole or not at all.

    Parameters
    ----------
    state : mapping
        Its attributes.
    path : path
        Replaced if it exists.

    Raises
    ------
    InputError
        If the file cannot be written, or a parameter is of a kind that a file cannot hold.
    """
    packer = Packer(CLASSES)
    try:
        packed = packer.pack(dict(state))
    except UnknownRecordError as error:
        msg = f"the model cannot be saved: {error}; pickle keeps such parameters"
        raise InputError(msg) from error
    arrays = save_arrays(packer.arrays)
    record = {
        "format": FORMAT,
        "cocomplete": version("cocomplete"),
        "numpy": np.__version__,
        "arrays": hashlib.sha256(arrays).hexdigest(),
        "records": packer.records,
        "state": packed,
    }
    buffer = io.BytesIO()
    # Stored, not compressed: a file is as large as what is read from it.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in ((RECORD, json.dumps(record).encode()), (ARRAYS, arrays)):
            # One date for all: the same model has the same bytes.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
    write_atomically(Path(path), buffer.getvalue())


def load(path: str | PathLike[str]) -> dict[str, Any]:
    """Read the state of a fitted estimator.

    Raises
    ------
    InputError
        With one sentence, if the file is missing, damaged, no model or of a later version.
    """
    record, content = _parts(Path(path))
    if hashlib.sha256(content).hexdigest() != record.get("arrays"):
        msg = f"{path} is damaged: its arrays are not those that were saved; copy the file again"
        raise InputError(msg)
    try:
        unpacker = Unpacker(CLASSES, record["records"], load_arrays(content))
        state = unpacker.unpack(record["state"])
    except (SafetensorError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise _damaged(path, error) from error
    if not isinstance(state, dict) or not isinstance(state.get("_model"), Model | SparseModel):
        msg = f"{path} holds no fitted model; save one with model.save(path)"
        raise InputError(msg)
    return state


def _parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """Read the JSON and the bytes of the arrays; sizes are looked at before anything is read."""
    try:
        size = path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            _check_entries(path, archive, size)
            record, content = json.loads(archive.read(RECORD)), archive.read(ARRAYS)
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or _first_line(error)}; check the path"
        raise InputError(msg) from error
    except (zipfile.BadZipFile, EOFError, RuntimeError, ValueError) as error:
        # Archives that zipfile does not know, and JSON too deep for the parser, are RuntimeErrors.
        raise _damaged(path, error) from error
    if not isinstance(record, dict) or not isinstance(record.get("format"), int):
        msg = f"{path} is no model of cocomplete; save one with model.save(path)"
        raise InputError(msg)
    if record["format"] != FORMAT:
        writer, reader = str(record.get("cocomplete"))[:20], version("cocomplete")
        msg = (
            f"{path} has format {record['format']}, written by cocomplete {writer}; cocomplete {reader} "
            f"reads format {FORMAT}: update cocomplete, or save the model again"
        )
        raise InputError(msg)
    return record, content


def _check_entries(path: Path, archive: zipfile.ZipFile, size: int) -> None:
    entries = archive.infolist()
    if sorted(entry.filename for entry in entries) != sorted((RECORD, ARRAYS)):
        msg = f"{path} is no model of cocomplete: it does not hold {RECORD} and {ARRAYS} alone"
        raise InputError(msg)
    stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
    if not stored or sum(entry.file_size for entry in entries) > size:
        msg = f"{path} is no model of cocomplete: it would grow when it is read"
        raise InputError(msg)
    if archive.getinfo(RECORD).file_size > LARGEST_RECORD:
        msg = f"{path} is no model of cocomplete: its {RECORD} has more than {LARGEST_RECORD >> 20} MiB"
        raise InputError(msg)


def _damaged(path: str | PathLike[str], error: BaseException) -> InputError:
    msg = f"{path} is damaged, or no model of cocomplete: {_first_line(error)}; save the model again"
    return InputError(msg)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
