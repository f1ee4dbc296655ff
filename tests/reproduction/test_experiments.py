"""Trials, the file they are kept in, and the tables made of them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config

from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.exceptions import InputError
from cocomplete.experiments import table_1, table_2, verdicts
from cocomplete.experiments.published import METHODS_1, SETTINGS_1, TABLE_1, TABLE_2, Published
from cocomplete.experiments.runner import Record, Results, Trial, pending, run
from cocomplete.experiments.tables import Cell, Table, differs, figure, summarize, write_all

TINY = table_1.Setting(60, 20, 8, 2, 0.5)


def tiny_trials(methods: Sequence[str] = ("COCO-1 exact", "true Z"), count: int = 2) -> list[Trial]:
    return table_1.trials([TINY], methods, count, iterations=5)


def record(
    method: str = "COCO-1",
    seed: int = 0,
    setting: tuple[float, ...] = SETTINGS_1[0],
    seconds: float = 1.0,
    **figures: Any,
) -> Record:
    given = dict(zip(table_1.Setting._fields, setting, strict=True))
    return Record("table1", given, method, seed, figures, seconds, 0.1, 100.0, [], {})


# -- the results file --------------------------------------------------------------------------------------


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


# -- the runner --------------------------------------------------------------------------------------------


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
    many = [record(seed=seed, X=[0.5] * 100_000) for seed in range(40)]
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
    command = [sys.executable, "-c", "from cocomplete.cli.main import main; main()", "reproduce", "table1"]
    command += ["--rows", "1", "--methods", "true-z", "--trials", "12", "--out"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    file = killed / "results" / "table1.jsonl"
    process = subprocess.Popen([*command, killed], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (file.exists() and file.read_bytes().count(b"\n") >= 3):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    kept = len(Results(file).read())
    assert kept >= 3
    again = subprocess.run([*command, killed], capture_output=True, text=True, check=True)
    if kept < 12:
        assert f"table1: {kept} of 12 trials are in" in again.stderr
    fresh = subprocess.run([*command, whole], capture_output=True, text=True, check=True)
    assert again.stdout == fresh.stdout
    assert (killed / "table1.html").read_text() == (whole / "table1.html").read_text()


# -- Table 1 -----------------------------------------------------------------------------------------------


def test_there_are_72_settings_and_the_printed_ones_come_first() -> None:
    assert len(table_1.ALL) == len(set(table_1.ALL)) == 72
    assert table_1.ALL[:10] == table_1.PUBLISHED
    assert len(TABLE_1) == 80
    assert TABLE_1[SETTINGS_1[0], "COCO-1", "X"] == Published(0.0221, 0.0001, bold=True)
    assert TABLE_1[SETTINGS_1[9], "Mc", "Y"] == Published(0.0896, 0.0008)
    assert TABLE_2["Mc", "Y"].mean == 0.1430


def test_polishing_goes_on_from_the_exact_fit() -> None:
    data = make_low_rank_multilabel(120, 40, 12, rank=3, observed=0.5, random_state=0)
    exact, _ = table_1.METHODS["COCO-1 exact"]
    polished, _ = table_1.METHODS["COCO-1 exact, polished"]
    before = exact(data, 0, 1)
    assert data.coco_1.duality_gap_ == before["gap"]
    after = polished(data, 0, 1)
    model = table_1.exact_coco(1.0, polish=True).fit(data.X, data.Y)
    assert model.polished_
    fitted = model.reconstruct()
    assert after["rank"] == model.rank_ == 3
    assert after["X hidden"] < 0.1 * before["X hidden"]
    expected = table_1.recovery(data, fitted.X, fitted.Z)
    assert {name: after[name] for name in expected} == pytest.approx(expected, rel=1e-6)
    alone = make_low_rank_multilabel(120, 40, 12, rank=3, observed=0.5, random_state=0)
    assert polished(alone, 0, 1) == pytest.approx(after, rel=1e-6)


def test_rows_and_methods_are_read_as_people_write_them() -> None:
    assert table_1.parse_rows("published") == list(table_1.PUBLISHED)
    assert table_1.parse_rows("all") == list(table_1.ALL)
    assert table_1.parse_rows("2, 1,2") == [table_1.ALL[1], table_1.ALL[0]]
    for wrong in ("0", "73", "first", ""):
        with pytest.raises(InputError, match="--rows takes published, all or numbers from 1 to 72"):
            table_1.parse_rows(wrong)
    named = table_1.parse_methods("COCO-1-exact-polished, true z,mc", table_1.METHODS)
    assert named == ["COCO-1 exact, polished", "true Z", "Mc"]
    with pytest.raises(InputError, match="--methods has 'mx'; known are coco-1, coco-0"):
        table_1.parse_methods("mx", table_1.METHODS)


def test_only_algorithm_1_depends_on_the_iterations() -> None:
    keys = {trial.key for trial in table_1.trials([TINY], ["COCO-1", "Mc"], 1, 7)}
    other = {trial.key for trial in table_1.trials([TINY], ["COCO-1", "Mc"], 1, 8)}
    assert len(keys & other) == 1


@pytest.mark.parametrize("method", list(table_1.METHODS))
def test_every_method_of_table_1_gives_its_figures(method: str) -> None:
    (trial,) = table_1.trials([TINY], [method], 1, iterations=5)
    figures = table_1.work(trial)
    assert {"Y", "Y hidden"} <= set(figures)
    assert ("X" in figures) == (method not in table_1.FLOORS)
    assert json.loads(json.dumps(figures)) == figures
    assert 0 <= figures["Y"] <= 0.6


def test_the_floors_are_below_what_has_to_be_estimated() -> None:
    setting = table_1.Setting(400, 60, 20, 4, 0.4)
    errors = {
        trial.method: table_1.work(trial)["Y hidden"]
        for trial in table_1.trials([setting], ["true Z", "true row space", "COCO-1 exact"], 1)
    }
    assert errors["true Z"] < errors["true row space"] < errors["COCO-1 exact"]


# -- tables ------------------------------------------------------------------------------------------------


def test_bold_and_marks() -> None:
    settings, methods = SETTINGS_1[0], ("COCO-1", "COCO-0", "Maxide", "Mc")
    means = {"COCO-1": 0.0221, "COCO-0": 0.0545, "Maxide": 0.5413, "Mc": 0.5414}
    records = [
        record(method, seed, settings, X=means[method] + 0.0001 * (seed - 1))
        for method in methods
        for seed in range(3)
    ]
    table = table_1.tables(records)[0]
    cells = [cell for cell in table.rows[0][5:] if isinstance(cell, Cell)]
    assert [cell.bold for cell in cells] == [True, False, False, False]
    assert [cell.differs for cell in cells] == [False, True, False, False]
    assert cells[0] == Cell("0.0221 ± 0.0001", bold=True, paper="0.0221 ± 0.0001")
    assert (
        "| **0.0221 ± 0.0001** (0.0221 ± 0.0001) | 0.0545 ± 0.0001 (0.0527 ± 0.0004) ≠ |" in table.markdown()
    )
    assert r"\textbf{0.0221 $\pm$ 0.0001} (0.0221 $\pm$ 0.0001) & 0.0545" in table.latex()
    assert r"20\%" in table.latex()
    assert "<strong>0.0221 ± 0.0001</strong>" in table.html()


def test_a_deviation_printed_as_zero_is_half_its_last_digit() -> None:
    printed = Published(0.0061, 0.0)
    assert not differs(0.00624, printed)
    assert differs(0.00626, printed)


def test_methods_with_fewer_trials_are_shown_but_not_compared() -> None:
    column = summarize({"A": {0: 1.0, 1: 1.2}, "B": {0: 0.1}, "C": {}, "D": {0: 2.0, 1: 2.1}}, exclude=["D"])
    assert column.cell("A").bold
    assert column.cell("B") == Cell("0.1000 [1 of 2 trials]")
    assert column.cell("C") == Cell("–")
    assert not column.cell("D").bold
    alone = summarize({"D": {0: 2.0}}, exclude=["D"])
    assert alone.cell("D") == Cell("2.0000")


def test_small_figures_keep_two_digits() -> None:
    assert figure(0.02211, 0.0001) == "0.0221 ± 0.0001"
    assert figure(5.37e-5, 1.2e-6) == "5.4e-05 ± 1e-06"
    assert figure(0.0, 0.0) == "0.0000 ± 0.0000"
    assert figure(0.5, float("nan")) == "0.5000"


def test_html_is_escaped() -> None:
    page = write_all([Table("a < b & c", ("<i>",), (("x > y",),))], "T & U")["html"]
    assert "a &lt; b &amp; c" in page
    assert "&lt;i&gt;" in page
    assert "T &amp; U" in page


# -- verdicts ----------------------------------------------------------------------------------------------


def test_verdicts_count_what_agrees() -> None:
    printed = [
        record(method, seed, setting, **{name: TABLE_1[setting, method, name].mean})
        for setting in SETTINGS_1
        for method in METHODS_1
        for name in ("X", "Y")
        for seed in range(2)
    ]
    by_key: dict[Any, Record] = {}
    for one in printed:
        by_key.setdefault((one.key), one).figures.update(one.figures)
    verdict = " ".join(verdicts.table_1_verdicts(list(by_key.values())))
    assert "80 of its 80 figures were measured: 80 are within three" in verdict
    off = [replace(one, figures={"X": 2 * one.figures["X"]}) for one in by_key.values()]
    assert "40 of its 80 figures were measured: 0 are within three" in " ".join(
        verdicts.table_1_verdicts(off)
    )
    assert "**Table 1 is not reproduced.**" in " ".join(verdicts.table_1_verdicts(off))
    assert verdicts.table_1_verdicts([]) == []


def test_the_exchange_of_rows_is_inferred_from_distances() -> None:
    figures = {name: TABLE_2["Mc", name].mean for name in ("X", "Y", "LIMO", "network")}
    other = {name: TABLE_2["Maxide", name].mean for name in figures}
    records = [
        Record("table2", {}, method, 0, measured, 1.0, None, 1.0, [], {})
        for method, measured in (("Maxide", figures), ("Mc", other))
    ]
    verdict = " ".join(verdicts.table_2_verdicts(records))
    assert "Y 0.0712 as printed, 0.0000 exchanged" in verdict


# -- a small honest slice of the paper ----------------------------------------------------------------------


def test_row_1_comes_out_as_printed() -> None:
    bands = {
        ("COCO-0", "X"): (0.0527, 0.002),
        ("COCO-0", "Y"): (0.0319, 0.003),
        ("Mc", "X"): (0.541, 0.01),
        ("Mc", "Y"): (0.283, 0.006),
        ("COCO-1 exact", "X"): (0.0, 0.001),
        ("COCO-1 exact", "Y"): (0.0335, 0.003),
        ("COCO-1 exact, polished", "Y"): (0.031, 0.002),
        ("true row space", "Y"): (0.030, 0.002),
        ("true Z", "Y"): (0.021, 0.002),
    }
    methods = tuple(dict.fromkeys(method for method, _ in bands))
    for trial in table_1.trials(table_1.PUBLISHED[:1], methods, 1, iterations=100):
        figures = table_1.work(trial)
        for name in ("X", "Y"):
            if (trial.method, name) in bands:
                centre, width = bands[trial.method, name]
                assert figures[name] == pytest.approx(centre, abs=width), (trial.method, name)


@pytest.mark.skipif(not os.environ.get("COCOMPLETE_DATA"), reason="needs CAL500")
def test_one_split_of_cal500_comes_out_as_printed() -> None:
    bands = {
        ("COCO", "X"): (0.64, 0.07),
        ("COCO", "Y"): (0.1025, 0.003),
        ("COCO", "LIMO"): (0.151, 0.01),
        ("Maxide", "Y"): (0.143, 0.003),
        ("Mc", "Y"): (0.1075, 0.003),
        ("Oracle", "LIMO"): (0.1388, 0.008),
        ("Oracle", "network"): (0.1369, 0.008),
        ("column means", "X"): (0.116, 0.02),
        ("label majority", "LIMO"): (0.1367, 0.008),
        ("all zero", "LIMO"): (0.1498, 0.01),
    }
    methods = tuple(dict.fromkeys(method for method, _ in bands))
    trials = table_2.trials(methods, 1)
    for trial in trials:
        figures = table_2.work(trial)
        for (method, name), (centre, width) in bands.items():
            if method == trial.method:
                assert figures[name] == pytest.approx(centre, abs=width), (method, name)


def test_without_the_data_a_sentence_says_where_to_put_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("COCOMPLETE_DATA", raising=False)
    with pytest.raises(InputError, match="set the environment variable COCOMPLETE_DATA"):
        table_2.data_file()
    monkeypatch.setenv("COCOMPLETE_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"there is no cal500\.arff in it"):
        table_2.data_file()


def test_trials_are_the_same_whatever_they_cost() -> None:
    assert Trial("t", {"n": 1}, "m", 0, effort=1.0) == Trial("t", {"n": 1}, "m", 0, effort=2.0)
