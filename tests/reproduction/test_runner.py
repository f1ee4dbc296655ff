"""The file of results and the runner: nothing is lost, whatever interrupts it."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config

from cocomplete.exceptions import InputError
from cocomplete.experiments import table_1
from cocomplete.experiments.runner import Results, Trial, pending, run
from tests.command_line import in_process
from tests.reproduction.tiny_trials import record, tiny_trials


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    results = Results(tmp_path / "deep" / "r.jsonl")
    assert results.read() == []
    one, two = record(X=0.25), record(seed=1, X=0.5)
    results.append(one)
    results.append(two)
    assert results.read() == [one, two]
    results.append(replace(two, seconds=2.0))
    assert [r.seconds for r in results.read()] == [1.0, 2.0]


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_line_that_was_being_written_is_dropped(tmp_path: Path, cut: int) -> None:
    results = Results(tmp_path / "r.jsonl")
    results.append(record(X=0.25))
    results.append(record(seed=1, X=0.5))
    whole = results.path.read_bytes()
    results.path.write_bytes(whole[:-cut])
    assert len(results.read()) == 1
    results.append(record(seed=1, X=0.5))
    assert results.path.read_bytes() == whole


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text('{"experiment": "table1"}\n')
    with pytest.raises(InputError, match=r"r\.jsonl, line 1, is not a trial's record"):
        Results(path).read()


def without_measurements(results: Results) -> dict[Any, dict[str, Any]]:
    return {r.key: r.figures for r in results.read()}


def test_an_interrupted_run_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    whole, parts = Results(tmp_path / "whole.jsonl"), Results(tmp_path / "parts.jsonl")
    trials = tiny_trials(count=3)
    run(trials, table_1.work, whole)

    def stop(trial: Trial) -> None:
        if len(parts.read()) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(trials, table_1.work, parts, done=stop)
    assert len(parts.read()) == 2
    assert len(list(pending(trials, parts))) == 4
    run(trials, table_1.work, parts)
    assert without_measurements(parts) == without_measurements(whole)
    seen: list[Trial] = []
    run(trials, table_1.work, parts, done=seen.append)
    assert not seen


def test_processes_share_the_cores_and_give_the_same_figures(tmp_path: Path) -> None:
    one, two = Results(tmp_path / "one.jsonl"), Results(tmp_path / "two.jsonl")
    trials = tiny_trials()
    run(trials, table_1.work, one)

    def work(trial: Trial) -> dict[str, Any]:
        from threadpoolctl import threadpool_info

        threads = max(pool["num_threads"] for pool in threadpool_info())
        return table_1.work(trial) | {"threads": threads, "process": os.getpid()}

    run(trials, work, two, jobs=2)
    for key, figures in without_measurements(two).items():
        ours = without_measurements(one)[key]
        assert figures.pop("threads") <= max(1, (os.cpu_count() or 1) // 2)
        assert figures.pop("process") != os.getpid()
        assert figures == pytest.approx(ours, rel=1e-6)


def test_trials_of_a_group_follow_each_other_in_one_process(tmp_path: Path) -> None:
    order = iter(range(100))

    def work(trial: Trial) -> dict[str, Any]:
        return {"process": os.getpid(), "place": next(order)}

    def trial(method: str, seed: int, group: str | None = None) -> Trial:
        return Trial("t", {}, method, seed, group=group)

    trials = [trial("a", seed, f"g{seed}") for seed in range(4)] + [trial("alone", 0)]
    trials += [trial("b", seed, f"g{seed}") for seed in range(4)]
    results = Results(tmp_path / "one.jsonl")
    run(trials, work, results)
    assert [(r.method, r.seed) for r in results.read()] == [
        *((method, seed) for seed in range(4) for method in "ab"),
        ("alone", 0),
    ]
    results = Results(tmp_path / "two.jsonl")
    run(trials, work, results, jobs=2)
    found = {(r.method, r.seed): r.figures for r in results.read()}
    assert len(found) == 9
    for seed in range(4):
        assert found["a", seed]["process"] == found["b", seed]["process"] != os.getpid()


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_first_of_a_group_is_kept_before_the_second_begins(tmp_path: Path, jobs: int) -> None:
    results = Results(tmp_path / "r.jsonl")

    def work(trial: Trial) -> dict[str, Any]:
        if trial.method == "b":
            return {"kept": [record.seed for record in results.read() if record.method == "a"]}
        return {}

    trials = [Trial("t", {}, method, seed, group=str(seed)) for seed in range(3) for method in "ab"]
    run(trials, work, results, jobs=jobs)
    seconds = [record for record in results.read() if record.method == "b"]
    assert len(seconds) == 3
    assert all(record.seed in record.figures["kept"] for record in seconds)


def test_records_of_many_processes_do_not_mix(tmp_path: Path) -> None:
    results = Results(tmp_path / "r.jsonl")
    many = [record(seed=seed, X=[0.5] * 50_000) for seed in range(20)]
    with parallel_config(backend="loky", n_jobs=4):
        Parallel(batch_size=1)(delayed(results.append)(one) for one in many)
    assert sorted(results.read(), key=lambda one: one.seed) == many


def test_a_record_has_its_cost_and_its_warnings(tmp_path: Path) -> None:
    import warnings

    def work(trial: Trial) -> dict[str, Any]:
        warnings.warn("odd table", UserWarning, stacklevel=1)
        return {"X": 1.0}

    results = Results(tmp_path / "r.jsonl")
    run(tiny_trials(["true Z"], 1), work, results)
    (kept,) = results.read()
    assert kept.warnings == ["odd table"]
    assert kept.seconds >= 0
    assert kept.svd_seconds > 0
    assert 10 < kept.memory < 1e6
    assert kept.versions["numpy"] == np.__version__


def test_killing_the_command_loses_at_most_the_trial_under_way(tmp_path: Path) -> None:
    python = [sys.executable, "-c", "from cocomplete.cli.main import main; main()"]
    command = ["reproduce", "table1", "--rows", "1", "--methods", "true-z", "--trials", "3", "--out"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    file = killed / "results" / "table1.jsonl"
    process = subprocess.Popen([*python, *command, killed], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (file.exists() and file.read_bytes().count(b"\n") >= 1):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    kept = len(Results(file).read())
    assert kept >= 1
    again = in_process.run(*command, killed)
    assert again.returncode == 0, again.stderr
    if kept < 3:
        assert f"table1: {kept} of 3 trials are in" in again.stderr
    fresh = in_process.run(*command, whole)
    assert again.stdout == fresh.stdout
    assert (killed / "table1.html").read_text() == (whole / "table1.html").read_text()


def test_a_folder_that_cannot_be_written_gets_one_sentence(tmp_path: Path) -> None:
    """Found by the campaign: a read-only folder ended in a traceback, after the first trial."""
    (tmp_path / "file").write_text("")
    results = Results(tmp_path / "file" / "table1.jsonl")
    with pytest.raises(
        InputError, match=r"table1.jsonl cannot be written: .*; check the folder and its free"
    ):
        results.append(record())
