"""Fits of sparse tables that were ended from outside go on from their checkpoint, to the same bits."""

import hashlib
import logging
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cocomplete import CoCompleter, checkpoint
from tests.laws.checkpoint_fits import ended
from tests.sparse_tables import Pair, sparse_pair

ROOT = Path(__file__).parents[2]

GIVEN: dict[str, Any] = {"rank_penalty": 2.0, "residual_penalty": 0.0, "feature_weight": 0.3, "tol": 1e-4}
MODES: dict[str, dict[str, Any]] = {
    "defaults": {"sparse_missing": "zero"},
    "given": {"sparse_missing": "zero", **GIVEN},
    "unknown": {"sparse_missing": "unknown", **GIVEN},
}

pytestmark = pytest.mark.filterwarnings("ignore:the duality gap is", "ignore:label.*only ones")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make 250 rows a long table, have rounds end early, and every state written."""
    small(monkeypatch)


def small(patch: pytest.MonkeyPatch) -> None:
    sooner: dict[str, dict[str, float]] = {
        "sparse_factored": {"SHORT": 30, "SHORT_ROUND": 2, "ROUND": 5},
        "own_features": {"ROUND": 3, "STEPS": 12, "ENOUGH": -1.0},
    }
    for module, constants in sooner.items():
        for name, value in constants.items():
            patch.setattr(f"cocomplete.solvers.{module}.{name}", value)
    patch.setattr(checkpoint, "SHARE", 1e9)


def data() -> Pair:
    return sparse_pair(250)


def answer(model: CoCompleter) -> str:
    """Give a digest of fitted attributes and predictions, of all their bits."""
    X, _ = data()
    words: list[Any] = [model.rank_, model.n_iter_, model.members_, model.validation_, model.certified_]
    if model.certified_:
        words += [model.objective_, model.duality_gap_]
        words += [{name: each[name] for name in each if name != "seconds"} for each in model.history_]
    digest = hashlib.sha256(repr(words).encode())
    for part in (model.components_, model.singular_values_, model.offsets_, model.predict_proba(X)):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


@pytest.fixture(scope="module")
def whole() -> Iterator[Callable[[str], str]]:
    """Give the answers of fits that nobody ended."""
    found: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        small(patch)

        def of(mode: str) -> str:
            if mode not in found:
                found[mode] = answer(CoCompleter(**MODES[mode]).fit(*data()))
            return found[mode]

        yield of


@pytest.mark.parametrize(
    ("mode", "stage", "stores"),
    [
        ("defaults", "choice", 1),
        ("defaults", "choice", 4),
        ("defaults", "choice", 8),
        ("defaults", "minimiser-62", 1),
        ("defaults", "minimiser-250", 1),
        ("defaults", "own", 1),
        ("defaults", "own", 4),
        ("given", "minimiser-62", 2),
        ("given", "minimiser-250", 2),
        ("unknown", "minimiser-250", 2),
    ],
)
def test_every_stage_is_gone_on_from(
    mode: str,
    stage: str,
    stores: int,
    tmp_path: Path,
    whole: Callable[[str], str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "cocomplete")
    model = CoCompleter(**MODES[mode], checkpoint=tmp_path, verbose=1)
    ended(stores, model, *data(), stage=stage)
    assert answer(model.fit(*data())) == whole(mode)
    assert re.search(rf"going on from .*{stage}", caplog.text)
    assert not list(tmp_path.iterdir())


def test_another_process_goes_on(tmp_path: Path, whole: Callable[[str], str]) -> None:
    ended(2, CoCompleter(**MODES["defaults"], checkpoint=tmp_path), *data(), stage="minimiser-62")
    command = [sys.executable, "-m", "tests.laws.test_sparse_checkpoints", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == whole("defaults")
    assert not list(tmp_path.iterdir())


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    model = CoCompleter(**MODES["defaults"], checkpoint=tmp_path)
    ended(2, model, *data(), stage="own")
    seen: list[dict[str, Any]] = []
    model.fit(*data(), progress=seen.append)
    assert not seen


def test_a_fit_that_ctrl_c_has_cut_short_is_gone_on_from(tmp_path: Path, whole: Callable[[str], str]) -> None:
    """The answer that was kept has other penalties and other factors; its states are not mixed up."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        model = CoCompleter(**MODES["defaults"], checkpoint=tmp_path, on_interrupt="keep")
        # While the third candidate is judged, and then while all rows are fitted.
        for moment in (lambda one: one.get("stage") == "judging", lambda one: one.get("rank") is not None):
            records: list[dict[str, Any]] = []

            def progress(
                record: dict[str, Any],
                records: list[dict[str, Any]] = records,
                moment: Callable[[dict[str, Any]], bool] = moment,
            ) -> None:
                records.extend([record] if moment(record) else [])
                if len(records) == 3 and records[-1] is record:
                    signal.raise_signal(signal.SIGINT)

            with pytest.warns(UserWarning, match="fit was interrupted"):
                model.fit(*data(), progress=progress)
            assert list(tmp_path.rglob("*.state"))
        assert answer(model.fit(*data())) == whole("defaults")
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_tables_and_rules_are_not_mixed_up(
    tmp_path: Path, whole: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "cocomplete")
    model = CoCompleter(**MODES["given"], checkpoint=tmp_path, verbose=1)
    ended(2, model, *data())
    X, Y = data()
    changed = X.copy()
    changed.data[np.flatnonzero(~np.isnan(X.data))[7]] += 0.25
    others = [
        (CoCompleter(**MODES["given"]), changed),
        (CoCompleter(**(MODES["given"] | {"rank_penalty": 2.5})), X),
        (CoCompleter(**MODES["unknown"]), X),
    ]
    for other, table in others:
        caplog.clear()
        expected = answer(other.fit(table, Y))
        other.set_params(checkpoint=tmp_path, verbose=1).fit(table, Y)
        assert answer(other) == expected
        assert "going on" not in caplog.text
    assert answer(model.fit(X, Y)) == whole("given")
    assert "going on from" in caplog.text


if __name__ == "__main__":
    small(pytest.MonkeyPatch())
    model = CoCompleter(**MODES["defaults"], checkpoint=Path(sys.argv[1])).fit(*data())
    sys.stdout.write(answer(model))
