"""Damaged model files through ``cocomplete.load``: a model that answers, or one sentence.

Bytes are changed anywhere, in the JSON alone with the sizes kept, or in the JSON as what it says: numbers,
names and whole records exchanged, which a checksum of the arrays does not notice.
"""

import io
import json
import random
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import cocomplete
from cocomplete.exceptions import InputError
from mutated_files import MUTATIONS
from trust.estimator_calls import model
from trust.tally import Budget, Outcome, Tally, outcome_of

KINDS = ("plain", "ensemble", "mixed", "sparse", "positive", "unlabelled")

STRANGE: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        2**70,
        "",
        "x",
        [],
        {},
        {"see": 0},
        {"see": -1},
        {"see": 10**9},
        {"int": "9" * 5000},
    ),
    *({"float": "nan"}, {"float": "0x1p5000"}, {"tuple": []}, {"list": [[]]}, {"dict": [[{"list": []}, 1]]}),
    *({"class": "Model", "fields": {}}, {"objects": [], "shape": [2**40]}, {"text": ["a"], "shape": [-1]}),
)


def run(budget: Budget) -> Tally:
    """Load damaged models."""
    tally = Tally("model files")
    with tempfile.TemporaryDirectory() as name:
        whole = []
        for kind in KINDS:
            file = Path(name, f"{kind}.model")
            model(kind).save(file)
            whole.append(file.read_bytes())
        for number in budget.numbers():
            draw = random.Random(f"{budget.seed} {number}")
            content = damaged(whole[number % len(whole)], draw)
            tally.add(
                loaded(content, Path(name, "damaged.model")), f"model {number}, {KINDS[number % len(KINDS)]}"
            )
    return tally


def damaged(content: bytes, draw: random.Random) -> bytes:
    """Damage a model file in one of three ways."""
    way = draw.random()
    if way < 0.3:
        return _mutated(content, draw)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    if way < 0.5:
        name = draw.choice(sorted(parts))
        parts[name] = _mutated(parts[name], draw)
    else:
        record = json.loads(parts["model.json"])
        for _ in range(draw.choice((1, 1, 2, 5))):
            _exchange(record, draw)
        parts["model.json"] = json.dumps(record).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return buffer.getvalue()


def _mutated(content: bytes, draw: random.Random) -> bytes:
    for _ in range(draw.choice((1, 1, 2, 4))):
        if content:
            content = draw.choice(MUTATIONS)(bytearray(content), draw.randrange(len(content)), draw)
    return content


def _exchange(record: Any, draw: random.Random) -> None:
    """Put something strange, or another part of the record, where something stood."""
    places: list[tuple[Any, Any]] = []
    waiting = [record]
    while waiting:
        inner = waiting.pop()
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        for key in keys:
            places.append((inner, key))
            if isinstance(inner[key], dict | list):
                waiting.append(inner[key])
    inner, key = draw.choice(places)
    if draw.random() < 0.1 and isinstance(inner, dict):
        del inner[key]
        return
    other, at = draw.choice(places)
    # A copy: a record inside itself has no text.
    inner[key] = json.loads(json.dumps(other[at])) if draw.random() < 0.4 else draw.choice(STRANGE)


def loaded(content: bytes, file: Path) -> Outcome:
    """Load a file; what is loaded must answer, or refuse, like any model."""
    file.write_bytes(content)

    def call() -> Any:
        found = cocomplete.load(file)
        try:
            return found.complete(np.zeros((2, found.n_features_in_)))
        except Exception as error:
            # Damage by accident does not come so far: each part has its checksum. Who changes a record and
            # its checksum may make a model that fails, in whatever way; it runs nothing, and ends no process.
            msg = f"{file} was loaded and does not answer"
            raise InputError(msg) from error

    return outcome_of(call, (file.name,))
