"""One way of working in parallel, as a program: prints whether answers agree and what was used meanwhile."""

import json
import multiprocessing
import os
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info

from cocomplete import CoCompleter
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.solvers import row_block

TIMES = 4


def work(seed: int) -> bytes:
    """Fit by defaults, answer, and give all bits of it."""
    data = make_low_rank_multilabel(60, 8, 3, 2, 0.6, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CoCompleter().fit(data.X, data.Y)
    done = model.complete(data.X, data.Y)
    parts: tuple[Any, ...] = (done.X, done.Y_proba, done.X_std)
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def nested(seed: int) -> list[bytes]:
    """Work in parallel inside something that is parallel."""
    found: list[bytes] = Parallel(n_jobs=2)(delayed(work)(seed) for _ in range(2))
    return found


def _forks(seed: int) -> list[bytes]:
    found = []
    for _ in range(2):
        reader, writer = os.pipe()
        if os.fork() == 0:
            with os.fdopen(writer, "wb") as out:
                out.write(work(seed))
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            found.append(answers.read())
        os.wait()
    return found


def _spawns(seed: int) -> list[bytes]:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return pool.map(work, [seed] * 2)


def _search(seed: int) -> list[bytes]:
    """Search over a parameter in two processes and in this one: the same scores."""
    data = make_low_rank_multilabel(60, 8, 3, 2, 1.0, random_state=seed)
    given: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}
    scores = [
        GridSearchCV(CoCompleter(**given), {"rank_penalty": [0.5, 2.0]}, cv=2, n_jobs=jobs)
        .fit(data.X, data.Y)
        .cv_results_["mean_test_score"]
        .tobytes()
        for jobs in (None, 2)
    ]
    # Told apart from answers: only their equality says something.
    return [work(seed)] * int(scores[0] == scores[1])


def _passes(seed: int) -> list[bytes]:
    """Fit a long table, whose row blocks threads share."""
    from tests.blocks import long_table, low_limits

    X, y = long_table(seed=seed)
    with pytest.MonkeyPatch.context() as patch:
        low_limits(patch)
        one, other = (CoCompleter().fit(X, y).complete(X, y).X.tobytes() for _ in range(2))
    return [work(seed)] * int(one == other)


WAYS: dict[str, Callable[[int], list[bytes]]] = {
    "threads": lambda seed: list(ThreadPoolExecutor(TIMES).map(work, [seed] * TIMES)),
    "forks": _forks,
    "spawns": _spawns,
    "joblib threads": lambda seed: Parallel(n_jobs=2, backend="threading")(
        delayed(work)(seed) for _ in range(2)
    ),
    "joblib loky": lambda seed: Parallel(n_jobs=2)(delayed(work)(seed) for _ in range(2)),
    "joblib multiprocessing": lambda seed: Parallel(n_jobs=2, backend="multiprocessing")(
        delayed(work)(seed) for _ in range(2)
    ),
    "nested joblib": lambda seed: list(
        chain.from_iterable(Parallel(n_jobs=2)(delayed(nested)(seed) for _ in range(2)))
    ),
    "grid search": _search,
    "threads of the passes": _passes,
    "alone": lambda seed: [work(seed)],
}


def _watched() -> list[int]:
    """Note, whenever a pass over rows begins in a thread beside others, how many threads BLAS has there."""
    seen: list[int] = []
    plain = row_block.RowBlock.visit

    def noting(self: Any, *given: Any, **more: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            seen.extend(int(each["num_threads"]) for each in threadpool_info() if each["user_api"] == "blas")
        return plain(self, *given, **more)

    row_block.RowBlock.visit = noting  # type: ignore[method-assign]
    return seen


def main() -> None:
    """Do the work alone, then in the way that is asked for."""
    way, seed = sys.argv[1], int(sys.argv[2])
    alone = work(seed)
    # Looking at the libraries takes milliseconds: only where passes run in threads is it worth that.
    seen = _watched() if way == "threads of the passes" else []
    started, used = perf_counter(), sum(os.times()[:4])
    answers = WAYS[way](seed)
    share = (sum(os.times()[:4]) - used) / (perf_counter() - started)
    same = bool(answers) and all(answer == alone for answer in answers)
    if way == "threads of the passes" and not seen:
        sys.exit("no pass ran in a thread")
    sys.stdout.write(json.dumps({"same": same, "blas": max(seen, default=0), "share": share}) + "\n")


if __name__ == "__main__":
    main()
