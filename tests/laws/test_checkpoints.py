"""Fits that were ended from outside go on from their checkpoint, to the same bits."""

import logging
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from sklearn.utils import Bunch

import cocomplete
from cocomplete import CoCompleter
from cocomplete.checkpoint import Stage
from cocomplete.exceptions import InputError
from tests.laws.checkpoint_fits import MODES, answer, ended, small, table

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)


@pytest.fixture(scope="module")
def data() -> Bunch:
    return table()


@pytest.fixture(scope="module")
def whole() -> Iterator[Callable[[str], str]]:
    """Give the answers of fits that nobody ended."""
    found: dict[str, str] = {}
    data = table()
    with pytest.MonkeyPatch.context() as patch:
        small(patch)

        def of(mode: str) -> str:
            if mode not in found:
                found[mode] = answer(CoCompleter(**MODES[mode]).fit(data.X, data.Y), data.X)
            return found[mode]

        yield of


def states(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.state"))


def stamps(folder: Path) -> list[int]:
    """Say when states were written; a file that is being replaced is there, or is the next."""
    return [file.stat().st_mtime_ns for file in states(folder)]


def test_a_killed_process_is_gone_on_from(tmp_path: Path, data: Bunch, whole: Callable[[str], str]) -> None:
    """Kill -9 at moments that nobody chose, then again, then end it here; ``make trust`` has more of it."""
    command = [sys.executable, "-m", "tests.laws.checkpoint_fits", str(tmp_path), "ensemble"]
    chance = random.Random(0)
    for _ in range(2):
        # A pause with every record, so that a fit of a second is there to be killed.
        process = subprocess.Popen([*command, "0.1"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        before = stamps(tmp_path)
        while stamps(tmp_path) == before:
            assert process.poll() is None
            sleep(0.005)
        sleep(chance.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    here = CoCompleter(checkpoint=tmp_path).fit(data.X, data.Y)
    assert answer(here, data.X) == whole("ensemble")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("mode", "stage", "stores"),
    [
        ("ensemble", "ensemble", 3),
        ("ensemble", "sample", 1),
        *(("ensemble", "average-0", k) for k in (1, 3, 5, 6, 7)),
        ("smooth", "minimiser", 2),
        ("interpolation", "minimiser", 6),
    ],
)
def test_every_stage_is_gone_on_from(
    mode: str, stage: str, stores: int, tmp_path: Path, data: Bunch, whole: Callable[[str], str]
) -> None:
    model = CoCompleter(**MODES[mode], checkpoint=tmp_path)
    ended(stores, model, data.X, data.Y, stage=stage)
    assert answer(model.fit(data.X, data.Y), data.X) == whole(mode)


@pytest.mark.parametrize("stores", [3, 12, 15])
def test_a_table_that_is_no_long_one(stores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds that were judged, and members that were fitted, are not judged and fitted again."""
    monkeypatch.setattr("cocomplete.estimator.block_rows.LONG_NUMBERS", 10**9)
    small = table(rows=150)
    expected = answer(CoCompleter(certify=True).fit(small.X, small.Y), small.X)
    model = CoCompleter(certify=True, checkpoint=tmp_path)
    ended(stores, model, small.X, small.Y)
    assert answer(model.fit(small.X, small.Y), small.X) == expected
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("mode", "stage"), [("ensemble", "average-0"), ("interpolation", "minimiser")])
def test_another_engine_goes_on(
    mode: str,
    stage: str,
    tmp_path: Path,
    data: Bunch,
    whole: Callable[[str], str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Begun in memory, ended, and gone on with from disk."""
    (tmp_path / "table").mkdir()
    np.save(tmp_path / "table" / "X.npy", data.X)
    np.save(tmp_path / "table" / "y.npy", data.Y)
    folder = tmp_path / "checkpoint"
    ended(4, CoCompleter(**MODES[mode], checkpoint=folder), data.X, data.Y, stage=stage)
    caplog.set_level(logging.INFO, "cocomplete")
    model = CoCompleter(**MODES[mode], checkpoint=folder, verbose=1)
    model.fit(cocomplete.open(tmp_path / "table"))
    assert re.search(rf"going on from .*{stage}", caplog.text)
    assert answer(model, data.X) == whole(mode)


def test_other_tables_and_parameters_are_not_mixed_up(
    tmp_path: Path, data: Bunch, whole: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "cocomplete")
    model = CoCompleter(**MODES["smooth"], checkpoint=tmp_path, verbose=1)
    ended(2, model, data.X, data.Y)
    before = states(tmp_path)
    changed = data.X.copy()
    # A row that the sample need not hold.
    changed[1_234, 5] = 0.25
    others = [
        (CoCompleter(**MODES["smooth"]), changed),
        (CoCompleter(**(MODES["smooth"] | {"rank_penalty": 5.5})), data.X),
    ]
    for other, X in others:
        caplog.clear()
        expected = answer(other.fit(X, data.Y), X)
        other.set_params(checkpoint=str(tmp_path), verbose=1).fit(X, data.Y)
        assert answer(other, X) == expected
        assert "holds states of another table or of other parameters; not used" in caplog.text
        assert "going on" not in caplog.text
    assert states(tmp_path) == before
    assert answer(model.fit(data.X, data.Y), data.X) == whole("smooth")
    assert "going on from" in caplog.text


@pytest.mark.parametrize("damage", ["a bit", "the end", "everything"])
def test_a_damaged_state_is_not_used(
    damage: str, tmp_path: Path, data: Bunch, whole: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    model = CoCompleter(**MODES["smooth"], checkpoint=tmp_path, verbose=1)
    ended(2, model, data.X, data.Y)
    (file,) = states(tmp_path)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    damaged = {"a bit": bytes(content), "the end": file.read_bytes()[:-100], "everything": b""}
    file.write_bytes(damaged[damage])
    caplog.set_level(logging.INFO, "cocomplete")
    assert answer(model.fit(data.X, data.Y), data.X) == whole("smooth")
    lines = [each.message for each in caplog.records if "checkpoint" in each.message]
    assert lines == [f"checkpoint: {file} cannot be used: it is damaged; this stage begins anew"]


def test_two_fits_at_once_do_not_disturb_each_other(
    tmp_path: Path, data: Bunch, whole: Callable[[str], str]
) -> None:
    """While one fit runs, the same one and another begin and end in the same folder."""
    model = CoCompleter(**MODES["interpolation"], checkpoint=tmp_path)
    others: list[CoCompleter] = []

    def progress(record: dict[str, Any]) -> None:
        if record.get("iteration") == 3 and not others:
            for mode in ("interpolation", "smooth"):
                others.append(CoCompleter(**MODES[mode], checkpoint=tmp_path).fit(data.X, data.Y))

    model.fit(data.X, data.Y, progress=progress)
    assert [answer(each, data.X) for each in (model, *others)] == [
        whole("interpolation"),
        whole("interpolation"),
        whole("smooth"),
    ]
    assert not list(tmp_path.iterdir())


def test_a_fit_that_ctrl_c_has_cut_short_is_gone_on_from(
    tmp_path: Path, data: Bunch, whole: Callable[[str], str]
) -> None:
    model = CoCompleter(**MODES["interpolation"], checkpoint=tmp_path, on_interrupt="keep")

    def progress(record: dict[str, Any]) -> None:
        if record.get("iteration") == 4:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(UserWarning, match="fit was interrupted"):
        model.fit(data.X, data.Y, progress=progress)
    assert states(tmp_path)
    assert answer(model.fit(data.X, data.Y), data.X) == whole("interpolation")


def test_a_disk_that_is_full_does_not_end_a_fit(
    tmp_path: Path,
    data: Bunch,
    whole: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cocomplete.checkpoint.appearing", full)
    caplog.set_level(logging.INFO, "cocomplete")
    model = CoCompleter(**MODES["smooth"], checkpoint=tmp_path, verbose=1).fit(data.X, data.Y)
    assert answer(model, data.X) == whole("smooth")
    assert "cannot be written: No space left on device; the fit goes on" in caplog.text


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path, data: Bunch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match=r"checkpoint='.*file' cannot be written: .*; give a folder that"):
        CoCompleter(**MODES["smooth"], checkpoint=file).fit(data.X, data.Y)


@pytest.mark.parametrize("value", [3, "", b"folder", True])
def test_checkpoint_is_checked(value: Any, data: Bunch) -> None:
    with pytest.raises(InputError, match="checkpoint must be None or the path of a folder, got"):
        CoCompleter(checkpoint=value).fit(data.X, data.Y)


def test_states_are_written_as_often_as_their_cost_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]

    def parts() -> Iterator[int]:
        """Two seconds go by while it is written."""
        clock[0] += 2.0
        yield 7

    monkeypatch.setattr("cocomplete.checkpoint.monotonic", lambda: clock[0])
    monkeypatch.setattr("cocomplete.checkpoint.SHARE", 0.1)
    stage = Stage(tmp_path / "one.state", lambda _: None)
    written = []
    for sweep in range(60):
        stage.store(sweep, parts())
        head, found = stage.load()
        assert list(found) == [7]
        written.append(head)
        clock[0] += 1.0
    # Two seconds in 22.
    assert sorted(set(written)) == [0, 20, 40]
    stage.store("end", ended=True)
    assert stage.load().head == "end"
