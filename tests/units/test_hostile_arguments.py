"""Arguments that nobody should pass, each found by the campaign (``make trust``): one sentence names them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import cocomplete as typed
from cocomplete import InputError
from cocomplete.parameter_checks import shown

cocomplete: Any = typed
"""Without its types: what is passed here is what they forbid."""

GIVEN: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}
X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 6.0], [4.0, 7.0]])
Y = np.array([[0.0], [0.0], [1.0], [1.0]])
BEYOND = 10**400
"""A whole number that no float holds."""
UNWRITTEN = 10**5000
"""A whole number of more digits than Python writes."""
SPAN = np.timedelta64(1)
"""A whole number, as far as NumPy's classes tell."""


@pytest.fixture(scope="module")
def model() -> Any:
    return cocomplete.CoCompleter(**GIVEN).fit(X, Y)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "an array as a word": (
        lambda _: cocomplete.CoCompleter(fill=np.zeros((2, 2, 2))).fit(X),
        "fill must be one of",
    ),
    "an Arrow array as a count": (
        lambda _: cocomplete.CoCompleter(max_iter=pa.array([1])).fit(X),
        "max_iter must be",
    ),
    "an unwritten penalty": (
        lambda _: cocomplete.CoCompleter(rank_penalty=UNWRITTEN).fit(X),
        "rank_penalty must be",
    ),
    "a penalty beyond floats": (
        lambda _: cocomplete.CoCompleter(feature_weight=BEYOND).fit(X),
        "feature_weight must",
    ),
    "a rival's penalty beyond floats": (
        lambda _: cocomplete.baselines.SoftImpute(rank_penalty=BEYOND).fit(X),
        "rank_penalty must be None or a finite number above 0",
    ),
    "a threshold beyond floats": (
        lambda _: cocomplete.CoCompleter(threshold=BEYOND).fit(X, Y),
        "threshold must be",
    ),
    "a checkpoint with a null": (
        lambda _: cocomplete.CoCompleter(checkpoint="a\0b").fit(X),
        "checkpoint must be",
    ),
    "a cell beyond floats": (
        lambda _: cocomplete.CoCompleter(**GIVEN).fit([[BEYOND, 1], [2, 3]]),
        "X: column 0 holds",
    ),
    "an Arrow table in a cell": (
        lambda _: cocomplete.CoCompleter(**GIVEN).fit(
            np.array([[1.0, pa.table({"a": [1]})], [2.0, 3.0]], object)
        ),
        "X: column 1 must hold numbers, but row 0",
    ),
    "NaT as features": (lambda model: model.predict(pd.NaT), "X"),
    "NaT as labels": (lambda _: cocomplete.CoCompleter(**GIVEN).fit(X, pd.NaT), "y has 0 dimension"),
    "names that are there twice": (
        lambda _: cocomplete.CoCompleter(**GIVEN).fit(pd.DataFrame(X, columns=["a", "a"])),
        "X cannot be read as a table",
    ),
    "a frame in blocks": (lambda model: next(model.complete_blocks(X)), "table must be one that cocomplete"),
    "a seed of words": (lambda model: model.sample_completions(1, random_state="x"), "random_state must be"),
    "a span of time as k": (lambda model: model.predict_top(X, SPAN), "k must be a whole number"),
    "a title of nothing": (lambda model: model.report(X, Y, title=None), "title must be text"),
    "seconds of words": (lambda model: model.report(X, Y, seconds="long"), "seconds must be"),
    "texts of words": (lambda model: model.report(X, Y, texts={"a": "b"}), "texts must map"),
    "a model in number 3": (lambda model: model.save(3), "path must be the path of a file"),
    "a model in bytes": (lambda _: cocomplete.load(b"a.model"), "path must be the path of a file"),
    "a model in a null": (lambda _: cocomplete.load("\0"), "path must be the path of a file"),
    "a model that is no text": (lambda _: cocomplete.load("\ud800"), "path must be the path of a file"),
    "a report in a null": (lambda model: model.report(X, Y, path="a\0"), "path must be the path of a file"),
    "a table in a null": (
        lambda _: cocomplete.formats.read_table("a\0.csv"),
        "path must be the path of a file",
    ),
    "a table of bytes": (
        lambda _: cocomplete.formats.read_table(b"a.csv"),
        "path must be the path of a file",
    ),
    "lines of words": (
        lambda _: cocomplete.formats.read_table("a.csv", skip_lines="2"),
        "skip_lines must be 0 or more",
    ),
    "a separator of 1": (
        lambda _: cocomplete.formats.read_table("a.csv", separator=1),
        "separator must be None or text",
    ),
    "an encoding of 1": (
        lambda _: cocomplete.formats.read_table("a.csv", encoding=1),
        "encoding must be None or text",
    ),
    "missing of lists": (
        lambda _: cocomplete.formats.read_table("a.csv", missing=[[]]),
        "missing must be text, or a list",
    ),
    "a name too long": (lambda _: cocomplete.open("a" * 4000), "does not exist"),
    "labels of 1": (lambda _: cocomplete.open(__file__, labels=1), "labels must be text|read as a whole"),
    "blocks of 1": (
        lambda _: cocomplete.formats.write_blocks("new", 1),
        "blocks must be frames or completions",
    ),
    "a block of 1": (
        lambda _: cocomplete.formats.write_blocks("new", [1]),
        "blocks must be frames of polars",
    ),
    "a folder with a null": (lambda _: cocomplete.formats.write_blocks("a\0", []), "folder must be the path"),
    "Mulan's file in no name": (lambda _: cocomplete.datasets.load_mulan(""), r"no list of labels beside"),
    "Mulan's file in 1": (lambda _: cocomplete.datasets.load_mulan(1), "path_to_arff must be the path"),
    "a share of words": (
        lambda _: cocomplete.datasets.make_clinic(feature_share="x"),
        "feature_share must be a share",
    ),
    "half a row": (lambda _: cocomplete.datasets.make_clinic(1.5), "n_samples must be a whole number"),
    "a size of words": (
        lambda _: cocomplete.datasets.make_low_rank_multilabel("x"),
        "n_samples must be a whole",
    ),
    "a seed below 0": (lambda _: cocomplete.datasets.make_clinic(random_state=-1), "random_state must be"),
    "a confidence of words": (
        lambda _: cocomplete.pool([1, 2], [1, 1], confidence="x"),
        "confidence must be",
    ),
    "degrees of words": (lambda _: cocomplete.pool([1, 2], [1, 1], complete_df="x"), "complete_df must be"),
    "a null of words": (lambda _: cocomplete.pool([1, 2], [1, 1]).p_value("x"), "null must be numbers"),
    "nulls that do not fit": (lambda _: cocomplete.pool([1, 2], [1, 1]).p_value([1, 2]), "null must be one"),
    "complex estimates": (lambda _: cocomplete.pool([1j, 2], [1, 1]), "estimates must be numbers"),
    "estimates without variance": (lambda _: cocomplete.pool([1e200, -1e200], [1, 1]), "use other units"),
    "complex trials": (
        lambda _: cocomplete.statistics.paired_test([1j, 2], [1, 2]),
        "the results of 'worse' must be numbers",
    ),
    "results of 1": (lambda _: cocomplete.statistics.compare(1), "results must map names"),
    "leaving 1 out": (
        lambda _: cocomplete.statistics.compare({"a": [1.0]}, exclude=1),
        "exclude must be names",
    ),
    "a mask of several lengths": (
        lambda _: cocomplete.metrics.rmse(X, X, observed=[[True], [True, False]]),
        "observed must be a mask of booleans",
    ),
    "counts of a frame": (
        lambda _: cocomplete.metrics.rmse(Y, Y, return_counts=pd.DataFrame()),
        "return_counts must",
    ),
    "an average of frames": (
        lambda _: cocomplete.metrics.roc_auc(Y, Y, average=pd.DataFrame()),
        "average must be",
    ),
    "an infinite truth": (
        lambda _: cocomplete.metrics.mae([[np.inf]], [[1.0]]),
        "the truth is infinite in 1 counted",
    ),
    "bins of time": (
        lambda _: cocomplete.metrics.reliability(Y, Y, n_bins=SPAN),
        "n_bins must be a whole number",
    ),
    "a word for shuffle": (
        lambda _: cocomplete.model_selection.EntryKFold(shuffle="x"),
        "shuffle must be True or",
    ),
    "a splitter's seed of words": (
        lambda _: cocomplete.model_selection.RowKFold(random_state="x"),
        "random_state must",
    ),
    "a splitter's seed of time": (
        lambda _: cocomplete.model_selection.RowKFold(random_state=SPAN),
        "random_state must",
    ),
    "a test size of words": (
        lambda _: cocomplete.model_selection.EntryShuffleSplit(test_size="x"),
        "test_size is a share",
    ),
    "rows of nothing": (lambda _: list(cocomplete.model_selection.RowKFold(2).split(3)), "X must be a table"),
    "a list as a scorer": (lambda _: cocomplete.model_selection.get_scorer([]), "there is no scorer called"),
    "folds of words": (
        lambda _: cocomplete.model_selection.cross_val_entries(cocomplete.baselines.MeanMode(), X, Y, cv="x"),
        "cv must be a number of folds",
    ),
    "a rival's seed of words": (
        lambda _: cocomplete.baselines.NetworkClassifier(random_state="x").fit(Y, Y),
        "random_state must be",
    ),
    "a sparse matrix of blocks": (
        lambda _: cocomplete.formats.write_blocks("new", sparse.coo_matrix((2, 2))),
        "blocks must be frames or completions",
    ),
    "label types of records": (
        lambda _: cocomplete.CoCompleter(label_types=np.zeros(1, [("a", float)])).fit(X, Y),
        "label_types must be 'auto' or made of",
    ),
    "feature types without a dimension": (
        lambda _: cocomplete.CoCompleter(feature_types=np.array(1.0)).fit(X),
        "feature_types must be 'auto', a type, a list or a dict",
    ),
    "feature types that have no hash": (
        lambda _: cocomplete.CoCompleter(feature_types=[{}, {}]).fit(X),
        "feature_types must be 'auto' or made of",
    ),
    "numbers of no dates": (
        lambda _: cocomplete.CoCompleter(feature_types="number").fit(
            pd.DataFrame({"a": pd.to_datetime([None, None])})
        ),
        "it holds words or dates; numbers are needed",
    ),
    "a tick that is no text": (
        lambda _: cocomplete.formats.read_table("a.csv", checked="\ud800"),
        "checked must be None or text",
    ),
    "a word that is no text": (
        lambda _: cocomplete.formats.read_table("a.csv", missing=["\ud800"]),
        "missing must be text",
    ),
    "numbers too large for a rival": (
        lambda _: cocomplete.baselines.Mc().fit(X * 1e200, Y),
        "X holds 7e\\+200, but this method multiplies numbers",
    ),
    "numbers too large for a classifier": (
        lambda _: cocomplete.baselines.NetworkClassifier().fit(Y * 1e200, Y),
        "X holds 1e\\+200, but this method multiplies numbers",
    ),
    "a picture of 1": (lambda _: cocomplete.plot.spectrum(1), "model must be a fitted CoCompleter"),
    "axes of 1": (lambda model: cocomplete.plot.spectrum(model, ax=1), "ax must be axes of matplotlib"),
    "a factor of words": (
        lambda model: cocomplete.plot.loadings(model, factor="x"),
        "factor must be a whole number",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_in_one_sentence(
    name: str, model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call, words = REFUSED[name]
    with pytest.raises(InputError, match=words) as caught:
        call(model)
    assert len(str(caught.value).splitlines()) == 1


def test_a_message_is_one_line_and_not_long() -> None:
    assert str(InputError("one\n  two")) == "one two"
    assert str(InputError("one  two")) == "one  two"
    assert shown(UNWRITTEN) == "a int"
    assert len(shown("x" * 1000)) < 250


def test_features_of_any_size_have_errors() -> None:
    largest = np.finfo(float).max
    truth, filled = np.array([[1e308], [-1e308]]), np.array([[-1e308], [1e308]])
    assert cocomplete.metrics.relative_error(truth, filled) == pytest.approx(2.0)
    assert cocomplete.metrics.rmse(truth, filled) == cocomplete.metrics.mae(truth, filled) == largest
    assert cocomplete.metrics.rmse(truth / 4, filled / 4) == pytest.approx(5e307)
    assert cocomplete.metrics.standardized_rmse(truth, filled) == pytest.approx(2.0)
    assert cocomplete.metrics.interval_coverage(truth, filled, np.full((2, 1), 1e308), level=0.99) == 1.0
    tiny = np.array([[5e-324], [0.0]])
    assert cocomplete.metrics.rmse(tiny, tiny[::-1]) == 5e-324
    # A constant column counts in its own units, whatever they are.
    assert cocomplete.metrics.standardized_rmse([[8.0], [8.0]], [[8.0], [11.0]]) == pytest.approx(
        np.sqrt(4.5)
    )


def test_a_column_of_words_without_any_is_unknown() -> None:
    empty = pd.DataFrame({"a": pd.Series([None, None], dtype="string")})
    with pytest.raises(InputError, match="no cell is left to count"):
        cocomplete.metrics.rmse(empty, [[1.0], [2.0]])


def test_the_best_of_more_labels_than_there_are() -> None:
    assert cocomplete.metrics.precision_at_k([[1, 0]], [[0.9, 0.5]], k=BEYOND) == 0.5


def test_what_was_answered_with_an_exception_is_answered() -> None:
    means = cocomplete.baselines.MeanMode().fit(np.full((4, 1), 1e308)).means_
    assert means == pytest.approx([1e308])
    swapped = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]], ">f8")
    assert cocomplete.baselines.LIMOClassifier(random_state=0).fit(swapped, swapped).predict(
        swapped
    ).shape == (4, 2)
    level = np.longdouble("0.9")
    assert cocomplete.metrics.interval_coverage([[0.0]], [[0.0]], [[1.0]], level) == 1.0


def test_a_report_takes_seconds_of_any_type(model: Any) -> None:
    record = model.report(X, Y, seconds=np.float16(2)).record
    assert record == model.report(X, Y, seconds=2.0).record


def test_a_frame_without_columns_has_nothing_to_hold_out() -> None:
    splitter = cocomplete.model_selection.EntryKFold(2)
    split = next(iter(splitter.split_entries(pd.DataFrame(index=range(4)), Y)))
    assert split.y_hidden.sum() == 2
