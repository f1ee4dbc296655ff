"""On a Dask cluster of processes: the local estimator's numbers, whoever is lost on the way."""

import logging
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from sklearn.base import clone  # noqa: E402

from cocomplete import CoCompleter, InputError  # noqa: E402
from cocomplete.dask import DaskCoCompleter  # noqa: E402
from cocomplete.engines import on_dask  # noqa: E402
from cocomplete.engines.on_dask import OnDask  # noqa: E402
from cocomplete.estimator import memory_forecast  # noqa: E402
from cocomplete.exceptions import ClusterLostError  # noqa: E402
from tests.agreement.test_blocks import assert_same_fit  # noqa: E402
from tests.blocks import long_table, low_limits, remember_samples  # noqa: E402
from tests.laws.checkpoint_fits import ended  # noqa: E402

QUIET = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

GIVEN: dict[str, Any] = {
    "rank_penalty": 8.0,
    "residual_penalty": 8.0,
    "feature_weight": 0.5,
    "tol": 1e-4,
}
pytestmark = [QUIET, pytest.mark.xdist_group("dask")]


def cluster_of(workers: int) -> LocalCluster:
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=50,
    )


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster_of(2) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def local() -> CoCompleter:
    with pytest.MonkeyPatch.context() as patch:
        low_limits(patch)
        remember_samples(patch)
        return CoCompleter().fit(*long_table())


def chunked(rows: int = 333) -> tuple[da.Array, da.Array]:
    X, y = long_table()
    return da.from_array(X, chunks=(rows, 5)), da.from_array(y, chunks=(rows + 70, 4))


def test_a_fit_has_the_local_attributes(
    client: Client, local: CoCompleter, monkeypatch: pytest.MonkeyPatch
) -> None:
    low_limits(monkeypatch)
    model = DaskCoCompleter(client).fit(*chunked())
    assert model.client_ is client
    assert_same_fit(local, model.to_local())
    X, y = long_table()
    dX, dy = chunked(500)
    lazy = model.predict_proba(dX)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), local.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(model.predict(dX).compute(), local.predict(X))
    np.testing.assert_allclose(model.transform(dX).compute(), local.transform(X), atol=1e-9)
    done, here = model.complete(dX, dy), local.complete(X, y)
    for one, other in zip(done, here, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one.compute(), other, atol=1e-9)


@pytest.mark.parametrize("residual_penalty", [0.0, 8.0])
def test_given_penalties_are_solved_where_the_rows_are(
    residual_penalty: float, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever comes to the client of a block is smaller than it."""
    low_limits(monkeypatch)
    arrived: list[int] = []
    plain = OnDask.result

    def weighed(engine: OnDask, future: Any) -> Any:
        found = plain(engine, future)
        arrived.extend(len(pickle.dumps(each)) for each in found)
        return found

    asked = GIVEN | {"residual_penalty": residual_penalty}
    here = CoCompleter(**asked).fit(*long_table())
    monkeypatch.setattr(OnDask, "result", weighed)
    there = DaskCoCompleter(client, **asked).fit(*chunked())
    assert here.converged_
    assert_same_fit(here, there.to_local())
    assert max(arrived) < 3_000 * 8 / 2


@pytest.mark.filterwarnings("ignore:nothing is observed in row")
def test_partitions_may_be_empty_known_or_unknown(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    low_limits(monkeypatch)
    remember_samples(monkeypatch)
    X, y = long_table()
    X[100:200], y[100:200] = np.nan, np.nan
    y[300:400] = 1.0
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    parts = [frame[:100], frame[100:200], frame[200:200], frame[200:]]
    whole = dd.from_delayed([dask.delayed(part) for part in parts], meta=frame[:0], verify_meta=False)
    labels = dd.from_pandas(pd.DataFrame(y, columns=list("abcd")), npartitions=3, sort=False)
    model = DaskCoCompleter(client).fit(whole, labels)
    here = CoCompleter().fit(frame, pd.DataFrame(y, columns=list("abcd")))
    assert_same_fit(here, model.to_local())
    done = model.complete(whole, labels)
    assert isinstance(done.X, dd.DataFrame)
    expected = here.complete(frame, pd.DataFrame(y, columns=list("abcd")))
    np.testing.assert_allclose(done.X.compute().to_numpy(), expected.X.to_numpy(), atol=1e-9)
    np.testing.assert_array_equal(done.Y.compute().to_numpy(), expected.Y.to_numpy())


def test_one_worker_and_four_give_the_same(local: CoCompleter, monkeypatch: pytest.MonkeyPatch) -> None:
    low_limits(monkeypatch)
    remember_samples(monkeypatch)
    with cluster_of(1) as cluster, Client(cluster) as client:
        assert_same_fit(local, DaskCoCompleter(client).fit(*chunked()).to_local())
        cluster.scale(4)
        client.wait_for_workers(4)
        assert_same_fit(local, DaskCoCompleter(client).fit(*chunked()).to_local())


def test_a_client_without_room_is_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_forecast, "SMALL_NUMBERS", 1_000)
    monkeypatch.setattr(memory_forecast, "available_memory", lambda: 1)
    with pytest.raises(InputError, match="run the client where there is more memory"):
        DaskCoCompleter(client).fit(*chunked())


@pytest.mark.parametrize("given", [{}, GIVEN], ids=["defaults", "given penalties"])
def test_a_killed_worker_changes_nothing(
    given: dict[str, Any], local: CoCompleter, monkeypatch: pytest.MonkeyPatch
) -> None:
    low_limits(monkeypatch)
    remember_samples(monkeypatch)
    killed = threading.Event()
    expected = CoCompleter(**given).fit(*long_table()) if given else local
    # Others ask a worker that is gone for its results until this is over: thirty seconds, by default.
    quick = dask.config.set({"distributed.comm.timeouts.connect": "5s"})
    with quick, cluster_of(2) as cluster, Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))

        def kill_in_mid_fit(record: dict[str, object]) -> None:
            if (given or record.get("stage") == "all rows") and not killed.is_set():
                os.kill(victim, signal.SIGKILL)
                killed.set()

        model = DaskCoCompleter(client, **given).fit(*chunked(), progress=kill_in_mid_fit)
    assert killed.is_set()
    assert_same_fit(expected, model.to_local())


def test_a_lost_scheduler_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "PATIENCE", 2.0)
    monkeypatch.setattr(on_dask, "LOOK_EVERY", 0.5)
    cluster = cluster_of(1)
    client = Client(cluster)
    engine = OnDask(client)
    results = engine.collect(time.sleep, [60.0])
    threading.Timer(1.0, cluster.close).start()
    started = time.monotonic()
    with pytest.raises(ClusterLostError, match="scheduler was lost"):
        list(results)
    assert time.monotonic() - started < 30
    client.close()


def test_small_tables_are_fitted_as_the_local_estimator_would(client: Client) -> None:
    X, y = long_table(60)
    given: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}
    model = DaskCoCompleter(client, **given).fit(da.from_array(X, chunks=(25, 12)), da.from_array(y))
    assert_same_fit(CoCompleter(**given).fit(X, y), model.to_local())


def test_what_is_wrong_is_said(client: Client) -> None:
    X, y = chunked()
    with pytest.raises(InputError, match="X must be a Dask array or frame, got ndarray"):
        DaskCoCompleter(client).fit(X.compute())
    with pytest.raises(InputError, match="X has 1200 rows but y has 100"):
        DaskCoCompleter(client).fit(X, y[:100])
    with pytest.raises(InputError, match="no parameter"):
        DaskCoCompleter(client).set_params(ranks=3)
    copy = clone(DaskCoCompleter(client, tol=1e-2))
    assert copy.tol == 1e-2
    assert copy.client is client
    assert copy.get_params()["rank_penalty"] == "auto"


@pytest.mark.parametrize("begun_here", [False, True])
def test_a_fit_that_was_ended_goes_on_from_its_checkpoint(
    begun_here: bool,
    client: Client,
    local: CoCompleter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Begun in memory and gone on with on the cluster, and the other way round."""
    low_limits(monkeypatch)
    remember_samples(monkeypatch)
    monkeypatch.setattr("cocomplete.checkpoint.SHARE", 1e9)
    here = (DaskCoCompleter(client, checkpoint=tmp_path, verbose=1), chunked())
    there = (CoCompleter(checkpoint=tmp_path, verbose=1), long_table())
    (first, tables), (second, same) = (here, there) if begun_here else (there, here)
    ended(4, first, *tables, stage="average-0")
    caplog.set_level(logging.INFO, "cocomplete")
    second.fit(*same)
    assert "average-0" in caplog.text
    assert_same_fit(local, second.to_local() if isinstance(second, DaskCoCompleter) else second)
