"""Methods of a fitted estimator: rows in, completed tables and probabilities out."""

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from cocomplete.arrays import FloatArray
from cocomplete.completion import Completion, Reconstruction
from cocomplete.engines.row_blocks import InProcess
from cocomplete.estimator import model_file
from cocomplete.estimator.columns import check_labels, check_n_features, with_unknown_labels
from cocomplete.estimator.long_tables import as_blocks, check_block_table, check_in_memory, stacked_results
from cocomplete.estimator.reporting import check_about, refitted
from cocomplete.estimator.reporting import row_names as row_names_of
from cocomplete.estimator.settings import seed_of
from cocomplete.estimator.sparse_methods import SparseMethods
from cocomplete.estimator.tables import UserTables
from cocomplete.exceptions import InputError
from cocomplete.fitted.describe import Description
from cocomplete.fitted.model import Answer
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS
from cocomplete.parameter_checks import as_path, check_count, check_seed
from cocomplete.problem.observations import Observations
from cocomplete.report.collect import collect
from cocomplete.report.report import Report
from cocomplete.report.source import Source
from cocomplete.table.block_table import BlockTable
from cocomplete.table.containers import Table
from cocomplete.table.refill import frame_like
from cocomplete.table.schema import Filled, Schema


class PredictionMethods(SparseMethods, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """The half of :class:`cocomplete.CoCompleter` that reads what its fit has left and changes nothing."""

    _features: Schema
    _labels: Schema
    _flat_labels: bool
    random_state: Any
    fill: str
    n_features_in_: int
    singular_values_: FloatArray
    components_: FloatArray
    offsets_: FloatArray
    n_iter_: int
    validation_: dict[str, Any] | None

    def complete(self, X: Any, y: Any = None) -> Completion:
        """Fill the holes of any rows, those of the fit or new ones, and leave the model as it is.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like or DataFrame of shape (n_samples, n_labels), optional
            Labels as far as they are known; None if none is.

        Returns
        -------
        Completion
            X and Y in the containers they came in, Y_proba, X_std. Where ``y`` is None, Y is a frame like X,
            or an array.
        """
        check_is_fitted(self)
        if self._is_sparse:
            return self._sparse.complete(X, y)
        blocks = as_blocks(X, y)
        if blocks is not None:
            check_in_memory(blocks, "complete", "complete_blocks")
            return Completion(*stacked_results(blocks, lambda rows: self._completed(*rows)))
        return self._completed(X, y)

    def complete_blocks(self, table: BlockTable) -> Iterator[Completion]:
        """Fill the holes of a table that :func:`cocomplete.open` gives, some consecutive rows at a time.

        Parameters
        ----------
        table : BlockTable

        Yields
        ------
        Completion
            Of some thousand rows, or fewer of many columns.
        """
        check_is_fitted(self)
        self._need_dense("complete_blocks")
        check_block_table(table)
        first, *others = table.completed_bounds()
        # What a model works out when it is first asked, it works out once and not in every thread.
        yield self._completed(*table.read(*first))
        yield from InProcess.visit(others, lambda each: self._completed(*table.read(*each)))

    def _completed(self, X: Any, y: Any) -> Completion:
        tables, observed = self._read(X, y, deeper=1)
        answer = self._model.answer(observed)
        probability = self._labels.normalised(expit(answer.Z))
        dtype = observed.X.dtype
        # A spread in the user's units that X's type cannot hold is the largest number that it can.
        std = np.minimum(
            self._features.std(answer.X, answer.X_std, answer.levels), float(np.finfo(dtype).max)
        )
        return Completion(
            tables.filled_features(self._filled(answer)),
            self._given_labels(tables, self._labels.chosen(probability, self.thresholds_)),
            probability,
            np.where(tables.features.known, 0.0, std).astype(dtype, copy=False),
        )

    def sample_completions(
        self, n: int = 5, X: Any = None, y: Any = None, *, random_state: Any = None
    ) -> list[Completion]:
        """Draw completed tables, for multiple imputation.

        A drawn table is one draw: the same factors, from their posterior, make its features and its labels,
        noise included; the margins are those of all members together. Observed cells stay as they are.
        :func:`cocomplete.pool` pools what is estimated from several of them.

        Parameters
        ----------
        n : int, default=5
            Number of tables.
        X, y : tables, optional
            Rows to complete; those of the fit if None.
        random_state : int, Generator or None, default=None
            None takes the estimator's own.

        Returns
        -------
        list of Completion
            X and Y in the containers they came in (arrays, for the rows of the fit); Y_proba the model's
            probabilities; X_std None.
        """
        check_is_fitted(self)
        self._need_dense("sample_completions")
        check_count("n", n)
        check_seed("random_state", random_state)
        tables, observed = self._rows_of_the_fit() if X is None else self._read(X, y)
        rng = np.random.default_rng(seed_of(self.random_state) if random_state is None else random_state)
        log_odds = self._model.answer(observed, std=False, parts=LABEL_PARTS).Z
        probability = self._labels.normalised(expit(log_odds))
        return [
            Completion(
                tables.filled_features(self._features.drawn(features)),
                self._given_labels(tables, self._labels.chosen(labels, np.full(self.n_labels_, 0.5))),
                probability,
                None,
            )
            for features, labels in self._model.draws(observed, rng, n)
        ]

    def reconstruct(self) -> Reconstruction:
        """Give the model's own value for every cell of the training rows (what the paper scores)."""
        check_is_fitted(self)
        self._need_dense("reconstruct")
        observed = self._model.observed
        answer = self._model.answer(observed, std=False, known=True)
        return Reconstruction(answer.X.astype(observed.X.dtype, copy=False), answer.Z)

    def transform(self, X: Any) -> Any:
        """Fill the holes of any rows' features.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Or what :meth:`set_output` asks for; a table like ``X`` where columns hold words or dates.
        """
        check_is_fitted(self)
        if self._is_sparse:
            return self._sparse.features(X)
        blocks = as_blocks(X, None)
        if blocks is not None:
            check_in_memory(blocks, "transform", "complete_blocks")
            return stacked_results(blocks, lambda rows: (self._transformed(rows.X),))[0]
        return self._transformed(X)

    def _transformed(self, X: Any) -> Any:
        tables, observed = self._read(X, None, deeper=1)
        answer = self._model.answer(observed, std=bool(self._model.levels), parts=FEATURE_PARTS)
        filled = self._filled(answer)
        if filled.others:
            return tables.filled_features(filled)
        raw = tables.features
        return np.where(raw.known, raw.numbers, filled.numbers).astype(raw.numbers.dtype, copy=False)

    def decision_function(self, X: Any) -> FloatArray:
        """Give the labels' scores Z of any rows, from their features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Log-odds.
        """
        check_is_fitted(self)
        self._need_labels("decision_function")
        if self._is_sparse:
            return self._sparse.log_odds(X, "decision_function")
        blocks = as_blocks(X, None)
        if blocks is not None:
            return np.asarray(stacked_results(blocks, lambda rows: (self._log_odds(rows.X),))[0])
        return self._log_odds(X)

    def _log_odds(self, X: Any) -> FloatArray:
        _, observed = self._read(X, None, deeper=1)
        return np.asarray(self._model.answer(observed, std=False, parts=LABEL_PARTS).Z)

    def predict_proba(self, X: Any) -> FloatArray:
        """Give the probability that each label is 1, from the features of any rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        log_odds = self.decision_function(X)
        return expit(log_odds) if self._is_sparse else self._labels.normalised(expit(log_odds))

    def predict(self, X: Any) -> Any:
        """Give the labels of any rows from their features.

        Returns
        -------
        ndarray of int, shape (n_samples, n_labels)
            Of one dimension if ``y`` was; sparse if ``y`` was. Where classes, tags or words were fitted, a
            table of these: a frame if ``X`` is one, or an array.
        """
        check_is_fitted(self)
        if self._is_sparse:
            self._need_labels("predict")
            chosen = self._sparse.labels(X)
            return chosen[:, 0] if self._flat_labels else chosen
        probability = self.predict_proba(X)
        if self._labels.is_plain:
            found: Any = (probability > self.thresholds_).astype(int)
        else:
            found = self._frame_of_labels(X, self._labels.chosen(probability, self.thresholds_))
        return found[:, 0] if self._flat_labels and isinstance(found, np.ndarray) else found

    def predict_feature_proba(self, X: Any, y: Any = None) -> Any:
        """Give the probabilities of yes/no features, categories and ordered levels, observed or not.

        Returns
        -------
        ndarray or frame of shape (n_samples, number of probabilities)
            In the order of the features: of a yes/no one the probability that it is 1, of the others that of
            every value (``colour=red``). A frame with these names if ``X`` is one.
        """
        check_is_fitted(self)
        self._need_dense("predict_feature_proba")
        observed = self._read(X, y)[1]
        # A known level would be put back in place of its prediction.
        known = bool(self._model.levels)
        answer = self._model.answer(observed, std=known, known=known, parts=FEATURE_PARTS)
        table, names = self._features.probabilities(answer.X, answer.X_std, answer.levels)
        return frame_like(X, list(table.T), names)

    def score(self, X: Any, y: Any) -> float:
        """Give the share of known labels that are predicted right from the features alone."""
        check_is_fitted(self)
        self._need_labels("score")
        if self._is_sparse:
            return self._sparse.score(X, y)
        observed = self._read(X, y)[1]
        if not observed.Y_known.any():
            msg = "y has no known label, so there is nothing to score; pass the rows' labels"
            raise InputError(msg)
        chosen = self._labels.chosen(self.predict_proba(X), self.thresholds_)
        right = self._labels.encoded(chosen) == observed.Y
        return float(right[observed.Y_known].mean())

    def report(
        self,
        X: Any,
        y: Any = None,
        *,
        path: str | PathLike[str] | None = None,
        title: str = "table",
        row_names: Any = None,
        seconds: float | None = None,
        texts: Mapping[str, Any] | None = None,
    ) -> Report:
        """Tell in one page what was filled, how sure it is, and how wrong it was where the truth is known.

        Held-out cells are those of the fit; where it held out none, as with given penalties, some are held
        out of a sample of rows, which is fitted once more. Of rows that the fit has not seen, cells are held
        out too. The model stays as it is.

        Parameters
        ----------
        X, y : tables
            As for :meth:`complete`: the rows of the fit, or others.
        path : path, optional
            File to write the page to; the numbers alone if its name ends in ``.json``.
        title : str, default="table"
            What the table is called.
        row_names : sequence of str, optional
            Of the rows of X; a pandas index by default, or their numbers from 1 on.
        seconds : float, optional
            That the fit took, to be mentioned. Without, the same tables give the same bytes.
        texts : mapping of str to callable, optional
            How columns write a value, by name: from a number (0 and 1 for no and yes), a word or a
            ``datetime64`` to its text, such as ``{"price": "{:.2f} €".format}``.

        Returns
        -------
        Report
            With ``record``, ``to_json()``, ``to_html()`` and ``save(path)``; a notebook shows it.

        Examples
        --------
        >>> from cocomplete import CoCompleter
        >>> X = [[1.0, 2.0], [2.0, None], [3.0, 6.0]]
        >>> report = CoCompleter().fit(X).report(X)
        >>> report.record.filled.sentence
        '1 cell was filled; the table shows it.'
        """
        check_is_fitted(self)
        self._need_dense("report")
        check_about(title, seconds, texts)
        tables, observed = self._read(X, y)
        parameters = self.get_params(deep=False)
        certified = getattr(self, "certified_", False)
        names = ("solver", "objective", "duality_gap", "converged")
        source = Source(
            self._model,
            self._features,
            self._labels,
            tables.features,
            tables.labels,
            observed,
            self.thresholds_,
            self.fill == "mean",
            Description(self.singular_values_, self.components_, self.offsets_, self.n_iter_),
            parameters,
            self.validation_,
            {name: getattr(self, f"{name}_") for name in names} if certified else None,
            row_names_of(row_names, X, observed.n_samples),
            title,
            None if seconds is None else float(seconds),
            texts or {},
        )
        again = refitted(parameters, self._model, self._features, self._labels)
        report = Report(collect(source, again, seed_of(self.random_state)))
        if path is not None:
            report.save(path)
        return report

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file without code in it, which :func:`cocomplete.load` reads.

        A zip of JSON and safetensors; predictions after loading are bit-equal. An existing file is replaced
        in one step.

        Parameters
        ----------
        path : path
        """
        check_is_fitted(self)
        # Where a fit keeps its states is no part of what it has found.
        model_file.save(vars(self) | {"checkpoint": None}, as_path("path", path))

    def _read(self, X: Any, y: Any, *, deeper: int = 0) -> tuple[UserTables, Observations]:
        """Validate rows against the columns of the fit; ``deeper`` calls lie between this and a method."""
        tables = UserTables.read(X, y)
        if not isinstance(X, Table):
            validate_data(self, X, skip_check_array=True, reset=False)
        check_n_features(tables.features.numbers.shape[1], self.n_features_in_, type(self).__name__)
        if tables.labels is not None:
            check_labels(tables.labels, self._labels)
        observed = tables.observations(self._features, self._labels)
        tables.warn_of_strangers(self._features, self._labels, observed, stacklevel=4 + deeper)
        return tables, observed if y is not None else with_unknown_labels(observed, self.n_labels_)

    def _rows_of_the_fit(self) -> tuple[UserTables, Observations]:
        """Give the rows of the fit as they are encoded."""
        observed = self._model.observed
        features = self._features.decoded(observed.X)
        labels = self._labels.decoded(observed.Y) if self.n_labels_ else None
        return UserTables.read(features, labels), observed

    def _filled(self, answer: Answer) -> Filled:
        """Give values for every cell of the features."""
        inside = self._model.inside(answer.X)
        return self._features.fill(inside, answer.X_std, answer.levels, expected=self.fill == "mean")

    def _given_labels(self, tables: UserTables, filled: Filled) -> Any:
        """Give labels in the container that they came in; None if there are none."""
        if not self.n_labels_:
            return None
        return self._frame_of_labels(tables.X, filled) if tables.y is None else tables.filled_labels(filled)

    def _frame_of_labels(self, X: Any, filled: Filled) -> Any:
        """Give labels as a frame like the features, or as an array."""
        columns = [filled.others.get(j, number) for j, number in enumerate(filled.numbers.T)]
        return frame_like(X, columns, getattr(self, "label_names_in_", None))
