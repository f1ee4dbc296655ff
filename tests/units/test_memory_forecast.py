"""What a fit needs is forecast, and refused where there is less."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import cocomplete
from cocomplete import CoCompleter
from cocomplete.available_memory import available_memory
from cocomplete.estimator import memory_forecast
from cocomplete.estimator.memory_forecast import Size, check_memory, forecast, size_of
from cocomplete.estimator.settings import Settings
from cocomplete.exceptions import InputError
from tests.blocks import Elsewhere, low_limits

GIVEN: dict[str, Any] = {"rank_penalty": 5.0, "residual_penalty": 0.0, "feature_weight": 0.5}


def settings(**parameters: Any) -> Settings:
    return Settings.checked(CoCompleter(**parameters).get_params())


def table(rows: int, columns: int, known: float = 0.5, kind: type = np.float64) -> Any:
    rng = np.random.default_rng(0)
    X: Any = rng.normal(size=(rows, columns)).astype(kind)
    X[rng.uniform(size=X.shape) > known] = np.nan
    return X


def machine(root: Path, meminfo: str | None, group: str = "", **files: str) -> Path:
    """Make folders as Linux shows them; ``files`` by their path below ``sys/fs/cgroup``, / written as __."""
    (root / "proc" / "self").mkdir(parents=True)
    if meminfo is not None:
        (root / "proc" / "meminfo").write_text(meminfo)
    (root / "proc" / "self" / "cgroup").write_text(group)
    for name, content in files.items():
        file = root / "sys" / "fs" / "cgroup" / name.replace("__", "/").replace("memory_", "memory.")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return root


MEMINFO = "MemTotal:       16000 kB\nMemAvailable:    8000 kB\n"


def test_a_machine_without_limits(tmp_path: Path) -> None:
    assert available_memory(machine(tmp_path, MEMINFO, "0::/user\n")) == 8000 * 1024


def test_nothing_is_known_elsewhere(tmp_path: Path) -> None:
    assert available_memory(tmp_path) is None


def test_a_limit_of_a_group_counts_less_what_is_used(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        MEMINFO,
        "0::/user/session\n",
        user__session__memory_max="5000000\n",
        user__session__memory_current="2000000\n",
        user__session__memory_stat="anon 1\ninactive_file 300000\nactive_file 7\n",
    )
    assert available_memory(root) == 5_000_000 - 2_000_000 + 300_000


def test_a_limit_of_a_group_above_counts_too(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        MEMINFO,
        "0::/user/session\n",
        user__session__memory_max="max\n",
        user__session__memory_current="2000000\n",
        user__memory_max="4000000\n",
        user__memory_current="3000000\n",
    )
    assert available_memory(root) == 1_000_000


def test_a_container_sees_its_limit_at_the_root(tmp_path: Path) -> None:
    root = machine(tmp_path, MEMINFO, "0::/../x\n", memory_max="3000000\n", memory_current="4000000\n")
    # More than the limit is used already.
    assert available_memory(root) == 0


def test_groups_of_the_first_version(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        MEMINFO,
        "5:cpu,cpuacct:/\n4:memory:/docker/a\n",
        memory__docker__a__memory_limit_in_bytes="6000000\n",
        memory__docker__a__memory_usage_in_bytes="1000000\n",
        memory__docker__a__memory_stat="total_inactive_file 500000\n",
        memory__memory_limit_in_bytes="9223372036854771712\n",
        memory__memory_usage_in_bytes="7000000\n",
    )
    assert available_memory(root) == 5_500_000


@pytest.mark.parametrize(
    "made",
    [
        lambda X: X,
        pd.DataFrame,
        lambda X: pl.DataFrame(X).fill_nan(None),
    ],
    ids=["array", "pandas", "polars"],
)
def test_sizes_are_measured_by_some_rows(made: Any) -> None:
    X, y = table(3_000, 12, 0.25), table(3_000, 3, 0.25)
    found = size_of(made(X), made(y))
    assert found[:3] == (3_000, 12, 3)
    assert found.known == pytest.approx(0.25, abs=0.02)
    assert found.number == 8
    assert size_of(made(X.astype(np.float32)), None).number == 4


def test_a_table_on_disk_is_measured_by_its_first_rows(tmp_path: Path) -> None:
    X = table(2_000, 12, 0.25, np.float32)
    np.save(tmp_path / "X.npy", X)
    found = size_of(cocomplete.open(tmp_path / "X.npy"), None)
    assert (found.rows, found.features, found.labels, found.number) == (2_000, 12, 0, 4)
    assert found.known == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("parameters", [{}, GIVEN], ids=["ensemble", "minimiser"])
def test_more_needs_more(parameters: dict[str, Any]) -> None:
    asked = settings(**parameters)
    less = forecast(asked, table(2_000, 20), None)
    assert less < forecast(asked, table(4_000, 20), None)
    assert less < forecast(asked, table(2_000, 40), None)
    assert less > forecast(asked, table(2_000, 20, kind=np.float32), None)


@pytest.mark.parametrize("parameters", [{}, GIVEN], ids=["ensemble", "minimiser"])
def test_disk_and_single_precision_need_less(
    parameters: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    low_limits(monkeypatch)
    monkeypatch.setattr(memory_forecast, "BLOCK_NUMBERS", 2_000)
    X, y = table(40_000, 10), (table(40_000, 10) > 0).astype(float)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    asked = settings(**parameters)
    assert forecast(asked, cocomplete.open(tmp_path), None) < forecast(asked, X, y)


@pytest.mark.parametrize(
    ("parameters", "kind", "cures"),
    [
        ({}, float, "pass float32, read the table from disk (cocomplete.open), use a Dask cluster"),
        ({}, np.float32, "read the table from disk (cocomplete.open), use a Dask cluster (cocomplete.dask)"),
        (GIVEN, float, "pass float32, read the table from disk (cocomplete.open), use a Dask cluster"),
    ],
)
def test_what_does_not_fit_is_refused(
    parameters: dict[str, Any], kind: type, cures: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_forecast, "SMALL_NUMBERS", 1_000)
    monkeypatch.setattr(memory_forecast, "available_memory", lambda: 2**20)
    figures = r"fitting 2000 x 20 cells needs about 0\.\d GiB, 0\.0 GiB are available; "
    with pytest.raises(InputError, match=figures + re.escape(cures)):
        CoCompleter(**parameters).fit(table(2_000, 20, kind=kind))


def test_what_does_not_fit_can_be_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_forecast, "SMALL_NUMBERS", 1_000)
    monkeypatch.setattr(memory_forecast, "available_memory", lambda: 2**20)
    assert CoCompleter(**GIVEN, force=True).fit(table(2_000, 20)).rank_ >= 0


@pytest.mark.parametrize("parameters", [{}, GIVEN], ids=["ensemble", "minimiser"])
def test_on_a_cluster_the_client_has_to_have_room(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_forecast, "SMALL_NUMBERS", 1_000)
    monkeypatch.setattr(memory_forecast, "available_memory", lambda: 2**20)
    rows = Elsewhere(table(2_000, 20, kind=np.float32))
    cures = "are available; run the client where there is more memory, or try anyway"
    with pytest.raises(InputError, match=re.escape(cures)):
        check_memory(settings(**parameters), rows, None, on_cluster=True)


def test_small_tables_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked(*_: Any) -> Size:
        raise AssertionError

    monkeypatch.setattr(memory_forecast, "size_of", looked)
    for X in (table(100, 20), [[1.0, None], [2.0, 3.0]], pd.DataFrame({"a": [1.0, 2.0]})):
        check_memory(settings(), X, None)


def test_where_nothing_is_known_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_forecast, "SMALL_NUMBERS", 1_000)
    monkeypatch.setattr(memory_forecast, "available_memory", lambda: None)
    check_memory(settings(), table(2_000, 20), None)


def test_force_is_checked() -> None:
    wrong: Any = 1
    with pytest.raises(InputError, match="force must be True or False, got 1"):
        CoCompleter(force=wrong).fit(table(100, 5))
