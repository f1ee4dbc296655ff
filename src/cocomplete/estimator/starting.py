"""What a fit starts from: a table read and checked, whole or by a sample of its rows."""

from functools import reduce
from typing import Any

from cocomplete.engines.engine import Engine
from cocomplete.estimator.block_rows import (
    observations,
    read_sample,
    rows_to_read,
    sample_places,
    survey,
)
from cocomplete.estimator.columns import column_attributes
from cocomplete.estimator.fit_blocks import WholeTable
from cocomplete.estimator.fitting import fit_model
from cocomplete.estimator.messages import Messages
from cocomplete.estimator.settings import Settings, seed_of
from cocomplete.estimator.tables import UserTables, schemas
from cocomplete.estimator.training import FitResult, TrainingTable
from cocomplete.exceptions import InputError
from cocomplete.fitted.column_ends import ColumnEnds
from cocomplete.solvers.solution import Progress
from cocomplete.table.block_table import BlockTable


class TableStart:
    """A table in memory, read, checked and ready to be fitted.

    Parameters
    ----------
    X, y : the user's tables
    settings : Settings
    messages : Messages
    sampled : bool, default=False
        Whether these are some rows of a longer table, whose own numbers say nothing to its user.

    Attributes
    ----------
    columns : dict
        Attributes of the estimator that describe the columns.

    Raises
    ------
    InputError
    """

    def __init__(
        self, X: Any, y: Any, settings: Settings, messages: Messages, *, sampled: bool = False
    ) -> None:
        tables = UserTables.read(X, y)
        self.features, self.labels = schemas(tables, settings.feature_types, settings.label_types)
        given = tables.observations(self.features, self.labels)
        # Between this and the user are the estimator's own method and scikit-learn's callbacks.
        given.check_fittable(stacklevel=8, rows=not sampled)
        self.columns = column_attributes(tables, self.features, self.labels)
        if not settings.only_ones_recorded:
            messages.only_ones_observed(given)
        self.table = TrainingTable.of(given, self.features, self.labels, settings)
        self.settings, self.messages = settings, messages

    def fit(self, progress: Progress | None) -> FitResult:
        """Fit what the settings ask for."""
        return fit_model(self.settings, self.table, self.messages, progress)


class BlockStart:
    """A table in blocks of rows, of which a sample was read; all of it if it is not long.

    Parameters
    ----------
    table : BlockTable
    settings : Settings
    messages : Messages
    engine : Engine
        Where the blocks are.
    blocks : list, optional
        References to them; what ``table`` reads, without.

    Attributes
    ----------
    columns : dict
        Attributes of the estimator that describe the columns.
    """

    def __init__(
        self,
        table: BlockTable,
        settings: Settings,
        messages: Messages,
        engine: Engine,
        blocks: list[Any] | None = None,
    ) -> None:
        blocks = list(rows_to_read(table)) if blocks is None else blocks
        places = sample_places(table.shape, seed_of(settings.random_state))
        rows = read_sample(engine, blocks, table.bounds(), places)
        sampled = len(places) < table.shape[0]
        try:
            self.sample = TableStart(rows.X, rows.y, settings, messages, sampled=sampled)
        except InputError as error:
            if not sampled:
                raise
            msg = f"among {len(places)} sampled rows, whose places are counted among these: {error}"
            raise InputError(msg) from error
        self.columns = self.sample.columns
        self.whole: WholeTable | None = None
        if sampled:
            shared = {"features": self.sample.features, "labels": self.sample.labels}
            found = list(engine.collect(survey, blocks, **shared))
            messages.not_sampled(one.strange for one in found)
            ends = reduce(ColumnEnds.joined, (one.ends for one in found))
            encoded = engine.derive(observations, blocks, only_ones=settings.only_ones_recorded, **shared)
            self.whole = WholeTable(engine, encoded, table.shape[0], table.bounds(), places, ends)

    def fit(self, progress: Progress | None) -> FitResult:
        """Fit what the settings ask for."""
        return fit_model(self.sample.settings, self.sample.table, self.sample.messages, progress, self.whole)
