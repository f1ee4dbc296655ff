"""Trials, one record each, kept in a file that survives being interrupted."""

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

from cocomplete.exceptions import InputError
from cocomplete.operating_system import peak_memory, wait_for_lock

Figures = dict[str, Any]
"""What a trial measures: numbers, or lists of numbers for curves."""

LIBRARIES = ("cocomplete", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Trial:
    """One method on one table.

    Attributes
    ----------
    experiment : str
        Which experiment it belongs to.
    setting : mapping of str to number
        What the table is made with, and what the method was given beyond its name.
    method : str
    seed : int
        Makes the table, and whatever else is drawn.
    effort : float
        About how long it takes, in any unit that all trials of a run share.
    group : str or None
        Trials of one group share work: one process does them, one right after the other.
    """

    experiment: str
    setting: Mapping[str, Any]
    method: str
    seed: int
    effort: float = field(default=1.0, compare=False)
    group: str | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """What makes it the same trial as another."""
        return _key(self.experiment, self.setting, self.method, self.seed)


@dataclass(frozen=True)
class Record:
    """What is kept of a trial.

    Attributes
    ----------
    experiment, setting, method, seed
        Of the trial.
    figures : dict
        What it measured.
    seconds : float
        How long it took, its table included; without what a trial of its group had done before it.
    svd_seconds : float or None
        How long one LAPACK SVD of a table of this size took just before: the unit of cost. None if it was not
        timed then.
    memory : float
        Most memory its process had held by then, in MiB.
    warnings : list of str
        What the method complained about.
    versions : dict
        Of the libraries at work.
    """

    experiment: str
    setting: dict[str, Any]
    method: str
    seed: int
    figures: Figures
    seconds: float
    svd_seconds: float | None
    memory: float
    warnings: list[str]
    versions: dict[str, str]

    @property
    def key(self) -> str:
        """The trial's."""
        return _key(self.experiment, self.setting, self.method, self.seed)


class Results:
    """A file of records, one JSON object per line, only ever appended to.

    Parameters
    ----------
    path : Path
        Need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Record]:
        """Give every record; a last line that was cut off while being written does not count."""
        if not self.path.exists():
            return []
        records: dict[str, Record] = {}
        lines = self.path.read_text(encoding="utf-8").split("\n")
        # What follows the last newline is empty, or was being written when the writer was stopped.
        for number, line in enumerate(lines[:-1], start=1):
            try:
                record = Record(**json.loads(line))
            except (ValueError, TypeError) as error:
                msg = f"{self.path}, line {number}, is not a trial's record ({error}); remove the line"
                raise InputError(msg) from error
            records[record.key] = record
        return list(records.values())

    def append(self, record: Record) -> None:
        """Add a record, whoever else adds one; when this returns it is on the disk."""
        line = json.dumps(asdict(record), sort_keys=True) + "\n"
        try:
            self._append(line)
        except OSError as error:
            msg = f"{self.path} cannot be written: {error.strerror}; check the folder and its free space"
            raise InputError(msg) from error

    def _append(self, line: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            wait_for_lock(file)
            file.seek(0, os.SEEK_END)
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    _cut_unfinished_line(file)
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())


def run(
    trials: Sequence[Trial],
    work: Callable[[Trial], Figures],
    results: Results,
    *,
    jobs: int = 1,
    done: Callable[[Trial], None] | None = None,
) -> None:
    """Work through the trials that have no record yet.

    Parameters
    ----------
    trials : sequence of Trial
        In the order in which they start.
    work : callable
        Gives a trial's figures; importable, so that other processes find it.
    results : Results
        Where records are kept, each as soon as it is there.
    jobs : int, default=1
        Processes; each gets its share of the cores for BLAS and compiled loops, so that none wait for
        another's threads.
    done : callable, optional
        Called with every trial whose record is kept.
    """
    for trial in _work_through(_grouped(pending(trials, results)), work, results, jobs):
        if done is not None:
            done(trial)


def pending(trials: Iterable[Trial], results: Results) -> Iterator[Trial]:
    """Give the trials that have no record yet."""
    known = {record.key for record in results.read()}
    return (trial for trial in trials if trial.key not in known)


def _work_through(
    groups: list[list[Trial]], work: Callable[[Trial], Figures], results: Results, jobs: int
) -> Iterator[Trial]:
    """Give every trial once its record is kept."""
    if jobs == 1 or len(groups) == 1:
        for group in groups:
            yield from _keep_each(group, work, results)
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=threads):
        # One group at a time to each process: they last from a second to minutes.
        parallel = Parallel(return_as="generator_unordered", pre_dispatch=jobs, batch_size=1)
        for kept in parallel(delayed(_keep_all)(group, work, results) for group in groups):
            yield from kept


def _grouped(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Sort trials by group, each where its first one stood; a trial without one is alone."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(trial.group or trial.key, []).append(trial)
    return list(groups.values())


def _keep_all(trials: list[Trial], work: Callable[[Trial], Figures], results: Results) -> list[Trial]:
    return list(_keep_each(trials, work, results))


def _keep_each(trials: list[Trial], work: Callable[[Trial], Figures], results: Results) -> Iterator[Trial]:
    """Keep each trial's record before the next begins: the process that measured it writes it."""
    for trial in trials:
        results.append(_measure(trial, work))
        yield trial


def _measure(trial: Trial, work: Callable[[Trial], Figures]) -> Record:
    setting = dict(trial.setting)
    # Beside every trial, not once per process: whatever else the machine does slows both equally.
    unit = svd_seconds(setting["n"], setting["d"] + setting["l"]) if "n" in setting else None
    started = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figures = work(trial)
    seconds = perf_counter() - started
    return Record(
        trial.experiment,
        setting,
        trial.method,
        trial.seed,
        figures,
        round(seconds, 3),
        None if unit is None else round(unit, 4),
        round(peak_memory(), 1),
        sorted({str(warning.message) for warning in caught}),
        _versions(),
    )


def svd_seconds(n: int, m: int) -> float:
    """Time one full LAPACK SVD of an n × m matrix."""
    matrix = np.random.default_rng(0).normal(size=(n, m))
    started = perf_counter()
    np.linalg.svd(matrix, full_matrices=False)
    return perf_counter() - started


@cache
def _versions() -> dict[str, str]:
    python = ".".join(str(part) for part in sys.version_info[:3])
    return {"python": python} | {name: version(name) for name in LIBRARIES}


def _key(experiment: str, setting: Mapping[str, Any], method: str, seed: int) -> str:
    return json.dumps([experiment, dict(setting), method, seed], sort_keys=True)


def _cut_unfinished_line(file: Any) -> None:
    """Drop what follows the last newline."""
    file.seek(0)
    whole = file.read()
    file.truncate(whole.rfind(b"\n") + 1)
    file.seek(0, os.SEEK_END)
