"""Values that were not there when a model was fitted: said once, and taken for unknown."""

import warnings

import numpy as np
import pandas as pd
import pytest

from cocomplete import CoCompleter


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    size = rng.normal(size=60)
    return pd.DataFrame(
        {
            "size": size,
            "colour": np.array(["blue", "green", "red"])[np.digitize(size, [-0.5, 0.5])],
            "grade": pd.Categorical(
                np.array(["low", "mid", "high"])[np.digitize(size, [-0.4, 0.6])],
                ["low", "mid", "high"],
                ordered=True,
            ),
            "code": np.where(size > 0, 700.0, 31.0),
            "smokes": np.where(size > 0.2, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def model(table: pd.DataFrame) -> CoCompleter:
    return CoCompleter(feature_types={"code": "category"}).fit(table, (table["size"] > 0).astype(float))


def test_they_are_named_once_and_taken_for_unknown(model: CoCompleter, table: pd.DataFrame) -> None:
    rows = table.head(8).astype({"colour": object})
    rows.loc[:4, "colour"] = ["mauve", "teal", "pink", "sand", "teal"]
    with pytest.warns(UserWarning, match="not there when the model was fitted") as said:
        done = model.complete(rows)
    assert [str(warning.message) for warning in said] == [
        "values that were not there when the model was fitted are taken for unknown: X's column 'colour' "
        "('mauve', 'pink', 'sand' and 1 more)"
    ]
    assert said[0].filename == __file__
    assert done.X["colour"].head(5).tolist() == ["mauve", "teal", "pink", "sand", "teal"]
    unknown = rows.assign(colour=rows["colour"].where(rows.index > 4, None))
    np.testing.assert_array_equal(done.Y_proba, model.complete(unknown).Y_proba)


@pytest.mark.parametrize("method", ["complete", "transform", "predict", "predict_proba"])
def test_every_method_says_so(model: CoCompleter, table: pd.DataFrame, method: str) -> None:
    rows = table.head(5).astype({"grade": object, "smokes": object})
    rows.loc[0, ["grade", "code", "smokes"]] = ["top", 5.0, "perhaps"]
    rows.loc[1, "colour"] = "mauve"
    with pytest.warns(
        UserWarning,
        match=r"'colour' \('mauve'\), X's column 'grade' \('top'\), X's column 'code' \(5\) and 1 more col",
    ):
        getattr(model, method)(rows)


def test_values_of_the_fit_are_not_named(model: CoCompleter, table: pd.DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.complete(table.tail(9))


def test_a_category_of_more_values_than_take_part_is_not_named() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=400), "town": [f"town {k % 70}" for k in range(400)]})
    model = CoCompleter().fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.complete(table)


def test_labels_are_named_too() -> None:
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"x": rng.normal(size=50)})
    y = pd.DataFrame({"class": np.array(["a", "b", "c"])[np.digitize(X["x"], [-0.5, 0.5])]})
    model = CoCompleter(label_types={"class": "class"}).fit(X, y)
    with pytest.warns(UserWarning, match=r"y's column 'class' \('d'\)"):
        model.complete(X.head(3), pd.DataFrame({"class": ["a", "d", None]}))
