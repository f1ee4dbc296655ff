"""Sparse tables: time, peak memory and precision of the best labels, beside one-vs-rest logistic regression.

Without an argument on a shape that one-vs-rest can do, 10 000 × 1 000 features × 500 labels, 2 % stored. With
``--full`` on 100 000 × 5 000 × 10 000, 0.5 % stored, where one-vs-rest is fitted for some labels alone, which
are drawn with a fixed seed: its precision is that among these labels, and so is CoCompleter's beside it.
``--strengths`` with nothing behind it leaves one-vs-rest out, ``--rivals`` leaves CoCompleter out.
"""

import argparse
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from cocomplete import CoCompleter
from memory import status
from sparse_shape import SparseSet, make

GIB = 2**30
STRENGTHS = (0.1, 0.3, 1.0)


def precision(truth: sparse.csr_array, top: np.ndarray) -> str:
    """P@1, P@3 and P@5."""
    hit = np.take_along_axis(truth.toarray(), top[:, :5], axis=1)
    return "  ".join(f"P@{k} {hit[:, :k].mean():.3f}" for k in (1, 3, 5))


def best(score: np.ndarray) -> np.ndarray:
    return np.argsort(-score, axis=1, kind="stable")[:, :5]


def one_vs_rest(data: SparseSet, labels: np.ndarray, strength: float) -> np.ndarray:
    """Log-odds of some labels by scikit-learn's logistic regression, one at a time."""
    X, X_new = (_narrow(table) for table in (data.X, data.X_new))
    Y, score = data.Y.tocsc(), np.full((X_new.shape[0], len(labels)), -np.inf)
    for place, j in enumerate(labels):
        y = Y[:, [j]].toarray().ravel()
        if y.any():
            model = LogisticRegression(C=strength, solver="liblinear").fit(X, y)
            score[:, place] = model.decision_function(X_new)
    return score


def _narrow(table: sparse.csr_array) -> sparse.csr_matrix:
    """With the 32-bit indices that scikit-learn wants."""
    out = sparse.csr_matrix(table)
    out.indices, out.indptr = out.indices.astype(np.int32), out.indptr.astype(np.int32)
    return out


def ours(data: SparseSet, labels: np.ndarray, verbose: int) -> None:
    """Fit with defaults; print what that took, and how good the best labels are."""
    n_labels = data.Y_new.shape[1]
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = status("VmRSS")
    began, used = perf_counter(), process_time()
    model = CoCompleter(sparse_missing="zero", verbose=verbose).fit(data.X, data.Y)
    print(
        f"fit {perf_counter() - began:.0f} s, {process_time() - used:.0f} s of processors; "
        f"rank {model.rank_}, lambda1 {model.rank_penalty_:.3g}, w {model.feature_weight_:g}, "
        f"{model.n_iter_} steps; peak {status('VmHWM') / GIB:.2f} GiB, {before / GIB:.2f} before the fit",
        flush=True,
    )
    judged = model.validation_["unlabelled"]
    print(f"held out: log-loss {judged['log_loss']:.5f}, trivial {judged['trivial_log_loss']:.5f}")
    for rows in (1, 10_000):
        began = perf_counter()
        model.predict_top(data.X[:rows], 20)
        print(f"predict_top of {rows} rows {perf_counter() - began:.3f} s", flush=True)
    top = model.predict_top(data.X_new, 20).indices
    print(f"{'CoCompleter':34s} {precision(data.Y_new, top)}", flush=True)
    if len(labels) < n_labels:
        own = model.decision_function(data.X_new)[:, labels]
        name = f"CoCompleter among {len(labels)} labels"
        print(f"{name:34s} {precision(data.Y_new[:, labels], best(own))}", flush=True)


def rivals(data: SparseSet, labels: np.ndarray, strengths: list[float]) -> None:
    """Print the most frequent labels' precision, and that of one-vs-rest."""
    new, n_labels = data.Y_new.shape
    frequency = np.asarray(data.Y.sum(axis=0))
    print(f"{'most frequent':34s} {precision(data.Y_new, np.tile(best(frequency[None]), (new, 1)))}")
    if len(labels) < n_labels:
        some = np.tile(best(frequency[None, labels]), (new, 1))
        print(f"{f'most frequent of {len(labels)}':34s} {precision(data.Y_new[:, labels], some)}")
    for strength in strengths:
        began = perf_counter()
        score = one_vs_rest(data, labels, strength)
        name = f"one-vs-rest, C={strength}" + (f", {len(labels)} labels" if len(labels) < n_labels else "")
        seconds = perf_counter() - began
        print(f"{name:34s} {precision(data.Y_new[:, labels], best(score))}  {seconds:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--labels", type=int, default=100, help="of one-vs-rest beside --full")
    parser.add_argument("--shape", type=int, nargs=3, help="rows, features and labels instead")
    parser.add_argument("--strengths", type=float, nargs="*", default=list(STRENGTHS), help="of one-vs-rest")
    parser.add_argument("--rivals", action="store_true", help="without CoCompleter")
    parser.add_argument("--verbose", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    shape, density, new = ((100_000, 5_000, 10_000), 0.005, 2_000)
    if not arguments.full:
        shape, density, new = (10_000, 1_000, 500), 0.02, 2_000
    if arguments.shape:
        shape = tuple(arguments.shape)
    data = make(*shape, n_new=new, density=density)
    print(
        f"{shape[0]} rows x {shape[1]} features x {shape[2]} labels; stored: "
        f"{data.X.nnz / np.prod(data.X.shape):.2%} of X, {data.Y.nnz / np.prod(data.Y.shape):.2%} of y",
        flush=True,
    )
    labels = np.arange(shape[2])
    if arguments.full:
        labels = np.sort(np.random.default_rng(0).choice(shape[2], arguments.labels, replace=False))
    if not arguments.rivals:
        ours(data, labels, arguments.verbose)
    rivals(data, labels, arguments.strengths)


if __name__ == "__main__":
    main()
