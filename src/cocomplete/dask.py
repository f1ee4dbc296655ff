"""CoCompleter for Dask arrays and frames: the same numbers, on the workers of a cluster.

Needs the extra ``cocomplete[dask]``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Self

import numpy as np

try:
    import dask
    import dask.array as da
    import dask.dataframe as dd
    from distributed import Client, default_client
except ImportError as error:  # pragma: no cover
    msg = 'cocomplete.dask needs Dask; install it with pip install "cocomplete[dask]"'
    raise ImportError(msg) from error

from sklearn.base import clone

from cocomplete.completion import Completion
from cocomplete.engines.on_dask import OnDask
from cocomplete.estimator.block_rows import stacked
from cocomplete.estimator.completer import CoCompleter
from cocomplete.estimator.memory_forecast import check_memory
from cocomplete.estimator.messages import Messages
from cocomplete.estimator.settings import Settings
from cocomplete.estimator.starting import BlockStart, TableStart
from cocomplete.exceptions import InputError
from cocomplete.problem.observations import check_same_rows
from cocomplete.table.block_table import BlockRows, BlockTable

__all__ = ["DaskCoCompleter"]


class DaskCoCompleter(CoCompleter):
    """Complete Dask arrays and frames of features and 0/1 labels; see :class:`cocomplete.CoCompleter`.

    A table of up to 40 million cells is small: it is fitted in the process of the client, as the local
    estimator would. Of a larger one a sample of its rows is, and the averages of the ensemble are then fitted
    to all rows on the workers. Blocks of rows depend on the table's shape alone, and what they add up to is
    added in their order: however the table is chunked and however many workers there are, every fitted
    attribute is that of the local estimator. A worker that is lost changes nothing but the time.

    Parameters
    ----------
    client : distributed.Client, optional
        The one that is current, without.
    **parameters
        Those of :class:`cocomplete.CoCompleter`.

    Attributes
    ----------
    client_ : distributed.Client
        The client that is used.
    """

    def __init__(self, client: Any = None, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.client = client

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - scikit-learn's
        """Give the parameters: the client, and those of the local estimator."""
        local = CoCompleter().get_params(deep=False)
        return {"client": self.client, **{name: getattr(self, name) for name in local}}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        allowed = self.get_params(deep=False)
        for name, value in params.items():
            if name not in allowed:
                msg = f"{name!r} is no parameter of DaskCoCompleter; those are {', '.join(allowed)}"
                raise InputError(msg)
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        # A client cannot be copied, and is not a setting of the model.
        local = {name: value for name, value in self.get_params(deep=False).items() if name != "client"}
        return type(self)(self.client, **clone(CoCompleter(**local)).get_params(deep=False))

    @property
    def client_(self) -> Client:
        """The client that is used."""
        if self.client is not None:
            return self.client
        try:
            return default_client()
        except ValueError:
            msg = "there is no Dask client; make one, Client(), or pass it: DaskCoCompleter(client=client)"
            raise InputError(msg) from None

    def to_local(self) -> CoCompleter:
        """Give the local estimator with the same parameters and, if it is fitted, the same model."""
        local = CoCompleter(**{k: v for k, v in self.get_params(deep=False).items() if k != "client"})
        local.__dict__ |= {name: value for name, value in vars(self).items() if name != "client"}
        return local

    @contextmanager
    def _started(
        self, X: Any, y: Any, settings: Settings, messages: Messages
    ) -> Iterator[TableStart | BlockStart]:
        client = self.client_
        engine = OnDask(client)
        table = _DaskTable(engine, X, y)
        check_memory(settings, table, None, on_cluster=True)
        futures = client.compute(table.blocks())
        yield BlockStart(table, settings, messages, engine, futures)
        engine.release(futures)

    # -- lazy answers ----------------------------------------------------------------------------------

    def complete(self, X: Any, y: Any = None) -> Completion:
        """Fill the holes of any rows, when the result is computed.

        Returns
        -------
        Completion
            Of Dask collections, of the kind that ``X`` and ``y`` are and chunked as ``X``; Y_proba and X_std
            are arrays.
        """
        parts = self._parts(X, y, "complete")
        labels = y if y is not None else X
        return Completion(
            self._gathered(parts, 0, X, X),
            self._gathered(parts, 1, labels, None if y is None else y) if self.n_labels_ else None,
            self._array(parts, 2, X, self.n_labels_),
            self._array(parts, 3, X, self.n_features_in_),
        )

    def transform(self, X: Any) -> Any:
        """Fill the holes of any rows' features, when the result is computed."""
        return self._gathered(self._parts(X, None, "complete"), 0, X, X)

    def decision_function(self, X: Any) -> Any:
        """Give the labels' log-odds of any rows as a Dask array."""
        self._need_labels("decision_function")
        return self._array(self._parts(X, None, "decision_function"), None, X, self.n_labels_)

    def predict_proba(self, X: Any) -> Any:
        """Give the probability that each label is 1 as a Dask array."""
        self._need_labels("predict_proba")
        return self._array(self._parts(X, None, "predict_proba"), None, X, self.n_labels_)

    def predict(self, X: Any) -> Any:
        """Give the labels of any rows: an array of 0 and 1, or a frame if ``X`` is one."""
        self._need_labels("predict")
        return self._gathered(self._parts(X, None, "predict"), None, X, None)

    def _parts(self, X: Any, y: Any, method: str) -> list[tuple[int, Any]]:
        """Give a method's lazy results, and the number of rows of each."""
        table = _DaskTable(OnDask(self.client_), X, y)
        model = dask.delayed(self.to_local(), pure=False, name=False)
        # Of no rows there is nothing to answer.
        asked = [each for each in zip(table.lengths, table.partitions(), strict=True) if each[0]]
        return [(length, dask.delayed(_answer)(model, method, rows)) for length, rows in asked]

    def _array(self, parts: list[tuple[int, Any]], place: int | None, X: Any, width: int) -> da.Array:
        """Put arrays together."""
        single = isinstance(X, da.Array) and X.dtype == np.float32
        dtype = np.float32 if single and place == 3 else np.float64
        return da.concatenate(
            [da.from_delayed(_of(part, place), (rows, width), dtype=dtype) for rows, part in parts]
        )

    def _gathered(self, parts: list[tuple[int, Any]], place: int | None, like: Any, meta: Any) -> Any:
        """Put tables of a kind together."""
        pieces = [_of(part, place) for _, part in parts]
        if isinstance(like, da.Array):
            width = (self.n_labels_,) if meta is None else meta.shape[1:]
            dtype = np.dtype(float) if meta is None else meta.dtype
            dtype = np.dtype(int) if place is None else dtype
            return da.concatenate(
                [
                    da.from_delayed(piece, (rows, *width), dtype=dtype)
                    for (rows, _), piece in zip(parts, pieces, strict=True)
                ]
            )
        if meta is not None:
            return dd.from_delayed(pieces, meta=meta._meta, verify_meta=False)
        return dd.from_delayed(pieces)


class _DaskTable(BlockTable):
    """A Dask table in blocks whose sizes depend on its shape alone.

    Parameters
    ----------
    engine : OnDask
    X, y : Dask arrays or frames
        Chunked in any way.
    """

    def __init__(self, engine: OnDask, X: Any, y: Any) -> None:
        self.engine = engine
        self.X = _Pieces.of(engine, X, "X")
        self.y = None if y is None else _Pieces.of(engine, y, "y")
        if self.y is not None:
            check_same_rows(self.X.n_rows, self.y.n_rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return self.X.n_rows, self.X.n_columns + (0 if self.y is None else self.y.n_columns)

    @property
    def lengths(self) -> list[int]:
        """Rows of every partition of X."""
        return self.X.lengths

    def read(self, first: int, last: int) -> BlockRows:
        """Read some rows here."""
        found: BlockRows = self.engine.result(self.engine.client.compute(self._rows(first, last)))
        return found

    def blocks(self) -> list[Any]:
        """Give the blocks of the fit, not computed yet."""
        return [self._rows(first, last) for first, last in self.bounds()]

    def partitions(self) -> list[Any]:
        """Give the rows of every partition of X, not computed yet."""
        ends = np.concatenate(([0], np.cumsum(self.lengths)))
        return [self._rows(int(first), int(last)) for first, last in pairwise(ends)]

    def _rows(self, first: int, last: int) -> Any:
        y = None if self.y is None else self.y.rows(first, last)
        return dask.delayed(_together)(self.X.rows(first, last), y)


class _Pieces:
    """The partitions of a Dask collection, by rows.

    Parameters
    ----------
    pieces : list of Delayed
    lengths : list of int
    n_columns : int
    """

    def __init__(self, pieces: list[Any], lengths: list[int], n_columns: int) -> None:
        self.pieces, self.lengths, self.n_columns = pieces, lengths, n_columns
        self.ends = np.concatenate(([0], np.cumsum(lengths))).astype(int)

    @classmethod
    def of(cls, engine: OnDask, table: Any, argument: str) -> "_Pieces":
        """Find the partitions; where their lengths are unknown they are counted on the workers.

        Raises
        ------
        InputError
            If it is no Dask collection.
        """
        if isinstance(table, da.Array):
            if table.ndim == 1:
                table = table[:, None]
            table = table.rechunk({1: -1})
            pieces, width = list(table.to_delayed().ravel()), int(table.shape[1])
            known = table.chunks[0]
        elif isinstance(table, dd.DataFrame | dd.Series):
            table = table.to_frame() if isinstance(table, dd.Series) else table
            pieces, width, known = list(table.to_delayed()), len(table.columns), (np.nan,)
        else:
            msg = (
                f"{argument} must be a Dask array or frame, got {type(table).__name__}; use CoCompleter for "
                "tables in memory, or dask.array.from_array"
            )
            raise InputError(msg)
        if np.isnan(known).any():
            counts = engine.client.compute([dask.delayed(len)(piece) for piece in pieces])
            lengths = [engine.result(each) for each in counts]
        else:
            lengths = list(known)
        return cls(pieces, [int(each) for each in lengths], width)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.ends[-1])

    def rows(self, first: int, last: int) -> Any:
        """Give some consecutive rows, not computed yet."""
        begin = max(int(np.searchsorted(self.ends, first, side="right")) - 1, 0)
        taken: list[Any] = []
        for k in range(begin, len(self.pieces)):
            start, end = int(self.ends[k]), int(self.ends[k + 1])
            if start >= last and taken:
                break
            if end > first or (first == last and not taken):
                own = slice(max(first - start, 0), min(last, end) - start)
                taken.append(dask.delayed(_slice)(self.pieces[k], own))
        return dask.delayed(_joined)(taken)


def _slice(table: Any, own: slice) -> Any:
    return table.iloc[own] if hasattr(table, "iloc") else table[own]


def _joined(tables: list[Any]) -> Any:
    return tables[0] if len(tables) == 1 else stacked(tables)


def _together(X: Any, y: Any) -> BlockRows:
    return BlockRows(X, y)


def _of(part: Any, place: int | None) -> Any:
    return part if place is None else part[place]


def _answer(model: CoCompleter, method: str, rows: BlockRows) -> Any:
    """Ask a local model for its answer to some rows."""
    arguments = (rows.X, rows.y) if method == "complete" else (rows.X,)
    return getattr(model, method)(*arguments)
