"""Tables with columns of every kind through the estimator: what goes in comes back, filled."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cocomplete import CoCompleter, InputError

LEVELS = ["never", "rarely", "often"]


def complete_table(n: int = 120) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make a table of two factors, without holes."""
    rng = np.random.default_rng(0)
    f, g = rng.normal(size=(2, n))
    noise = rng.normal(size=(2, n))
    X = pd.DataFrame(
        {
            "age": np.round(45 + 12 * f + 3 * rng.normal(size=n)).astype(int),
            "income": np.exp(10 + 0.5 * f + 0.2 * rng.normal(size=n)),
            "answer": np.clip(np.round(3 + 1.2 * g + 0.5 * rng.normal(size=n)), 1, 5).astype(int),
            "colour": np.array(["blue", "green", "red"])[np.digitize(f + 0.3 * noise[0], [-0.5, 0.5])],
            "smokes": np.where(g + 0.5 * rng.logistic(size=n) > 0, "Yes", "No"),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.round(60 * g), unit="D"),
            "often": pd.Categorical.from_codes(
                np.digitize(f + 0.3 * rng.normal(size=n), [-0.5, 0.7]), LEVELS, ordered=True
            ),
        }
    )
    classes = np.array(["a", "b", "c"])[np.digitize(g + 0.2 * noise[1], [-0.5, 0.5])]
    y = pd.DataFrame({"ill": f + g > 0, "class": classes})
    return X, y


def with_holes(table: pd.DataFrame, share: float, seed: int) -> tuple[pd.DataFrame, Any]:
    hidden = np.random.default_rng(seed).random(table.shape) < share
    nullable = {"age": "Int64", "answer": "Int64", "ill": "boolean"}
    holey = table.astype({name: dtype for name, dtype in nullable.items() if name in table})
    for j, name in enumerate(table):
        holey.loc[hidden[:, j], name] = None
    return holey, hidden


@pytest.fixture(scope="module")
def holey() -> Any:
    X, y = complete_table()
    return *with_holes(X, 0.25, 1), *with_holes(y, 0.25, 2)


@pytest.fixture(scope="module")
def model(holey: Any) -> CoCompleter:
    X, _, y, _ = holey
    return CoCompleter(label_types={"class": "class"}).fit(X, y)


def test_every_kind_is_recognised_and_shown(model: CoCompleter) -> None:
    assert model.feature_types_.tolist() == [
        "count",
        "number",
        "ordinal",
        "category",
        "yes-no",
        "date",
        "ordinal",
    ]
    assert model.encoded_names_.tolist()[3:6] == ["colour=blue", "colour=green", "colour=red"]
    assert model.encoded_names_.tolist()[-3:] == ["class=a", "class=b", "class=c"]
    assert model.components_.shape == (model.rank_, model.encoded_names_.size)


def test_types_index_and_observed_cells_come_back(model: CoCompleter, holey: Any) -> None:
    X, hidden, y, hidden_y = holey
    X, y = X.set_axis([f"r{k}" for k in range(len(X))]), y.set_axis([f"r{k}" for k in range(len(y))])
    done = model.complete(X, y)
    assert done.X.dtypes.equals(X.dtypes)
    assert done.Y.dtypes.equals(y.dtypes)
    assert done.X.index.equals(X.index)
    assert not done.X.isna().any().any()
    assert not done.Y.isna().any().any()
    for before, after, holes in ((X, done.X, hidden), (y, done.Y, hidden_y)):
        for j, name in enumerate(before):
            known = ~holes[:, j]
            assert before[name][known].equals(after[name][known])
    assert (done.X_std[~hidden] == 0).all()
    assert (done.X_std[hidden] > 0).all()


def test_fills_are_better_than_the_commonest_value(model: CoCompleter, holey: Any) -> None:
    X, hidden, y, hidden_y = holey
    done, truth = model.complete(X, y), complete_table()
    for before, after, real, holes in ((X, done.X, truth[0], hidden), (y, done.Y, truth[1], hidden_y)):
        for j, name in enumerate(before):
            if name in ("age", "income", "day"):
                continue
            own = holes[:, j]
            right = (after[name][own].astype(object) == real[name][own].astype(object)).mean()
            commonest = before[name].mode()[0]
            assert right > (real[name][own] == commonest).mean()


def test_expected_values_on_request(holey: Any) -> None:
    X, hidden, y, _ = holey
    means = CoCompleter(label_types={"class": "class"}, fill="mean").fit(X, y).complete(X, y)
    answers = means.X["answer"].to_numpy(float)[hidden[:, 2]]
    assert (answers != np.round(answers)).any()
    assert ((answers >= 1) & (answers <= 5)).all()
    # Whole numbers cannot hold them.
    assert means.X["answer"].dtype == np.float64


def test_probabilities_of_features(model: CoCompleter, holey: Any) -> None:
    X, _, y, _ = holey
    found = model.predict_feature_proba(X, y)
    assert found.columns.tolist() == [
        *(f"answer={k}" for k in range(1, 6)),
        "colour=blue",
        "colour=green",
        "colour=red",
        "smokes",
        *(f"often={level}" for level in LEVELS),
    ]
    for prefix in ("answer=", "colour=", "often="):
        own = found[[name for name in found if name.startswith(prefix)]]
        np.testing.assert_allclose(own.sum(axis=1), 1)


@pytest.mark.parametrize("kind", ["polars", "arrow", "objects", "lists"])
def test_other_containers_come_back_as_what_they_were(model: CoCompleter, holey: Any, kind: str) -> None:
    X = holey[0]
    frame = pl.DataFrame({name: X[name].astype(object).where(X[name].notna(), None).tolist() for name in X})
    convert: dict[str, Any] = {
        "polars": lambda: frame.cast({"often": pl.Enum(LEVELS), "day": pl.Date}),
        "arrow": frame.to_arrow,
        "objects": lambda: X.astype(object).where(X.notna(), None).to_numpy(),
        "lists": lambda: X.astype(object).where(X.notna(), None).to_numpy().tolist(),
    }
    given = convert[kind]()
    types = {2: "ordinal", 6: LEVELS}
    fitted = CoCompleter(feature_types=types).fit(given)
    done = fitted.complete(given).X
    assert type(done) is type(given)
    if kind == "polars":
        assert done.schema == given.schema
        assert done.null_count().sum_horizontal().item() == 0
    elif kind == "arrow":
        assert isinstance(done, pa.Table)
        assert done.schema.equals(given.schema)
        assert sum(column.null_count for column in done.columns) == 0
    else:
        assert all(cell is not None for row in done for cell in row)
    # Transforming gives the same where columns hold words.
    again = fitted.transform(given)
    assert type(again) is type(given)


def test_masked_arrays_and_whole_numbers() -> None:
    rng = np.random.default_rng(0)
    values = rng.poisson(30, size=(40, 3))
    masked = np.ma.array(values, mask=rng.random(values.shape) < 0.2)
    done = CoCompleter().fit(masked).complete(masked).X
    assert isinstance(done, np.ma.MaskedArray)
    assert not np.ma.getmaskarray(done).any()
    np.testing.assert_array_equal(done.data[~masked.mask], values[~masked.mask])
    whole = CoCompleter().fit(values).complete(values).X
    assert whole.dtype == values.dtype
    half = values.astype(np.float16)
    half[0, 0] = np.nan
    assert CoCompleter().fit(half).complete(half).X.dtype == np.float16


def test_labels_of_one_dimension_come_back_so(holey: Any) -> None:
    X, _, y, _ = holey
    numbers = X[["age", "income"]].astype(float).fillna(40.0)
    for labels in (
        y["ill"],
        y["ill"].astype(float).to_numpy(),
        pl.Series("ill", y["ill"].astype(object).where(y["ill"].notna(), None).tolist()),
    ):
        model = CoCompleter().fit(numbers, labels)
        done = model.complete(numbers, labels)
        assert type(done.Y) is type(labels)
        assert np.ndim(done.Y) == 1
        assert model.predict(numbers).shape == (len(X),)
        assert 0 <= model.score(numbers, labels) <= 1


def test_classes_and_tags_come_back_as_the_column_that_they_were() -> None:
    rng = np.random.default_rng(1)
    f = rng.normal(size=100)
    X = np.column_stack((f, rng.normal(size=100)))
    y = pd.DataFrame({"tags": [";".join(["live"] * int(v > 0) + ["rock"] * int(v > -1)) for v in f]})
    hidden = rng.random(100) < 0.3
    holey = y.mask(hidden[:, None])
    model = CoCompleter(label_types="tags").fit(X, holey)
    assert model.n_labels_ == 2
    done = model.complete(X, holey).Y
    assert (done["tags"][~hidden] == y["tags"][~hidden]).all()
    assert set(done["tags"]) <= {"", "rock", "live;rock", "live"}
    assert (done["tags"][hidden] == y["tags"][hidden]).mean() > 0.5
    words = model.predict(X)
    assert words.shape == (100, 1)


def test_draws_hold_values_of_their_columns(model: CoCompleter, holey: Any) -> None:
    X, _, y, _ = holey
    for drawn in model.sample_completions(3, X, y, random_state=0):
        assert set(drawn.X["answer"]) <= set(range(1, 6))
        assert set(drawn.X["colour"]) == {"blue", "green", "red"}
        assert set(drawn.X["often"]) == set(LEVELS)
        assert set(drawn.Y["class"]) == {"a", "b", "c"}
        assert (drawn.X["age"] >= 0).all()
    rows_of_the_fit = model.sample_completions(1)[0]
    assert rows_of_the_fit.X.shape == X.shape


def test_drawn_categories_have_their_probabilities() -> None:
    rng = np.random.default_rng(3)
    n = 300
    colour = np.array(["blue", "green", "red"])[rng.choice(3, n, p=[0.6, 0.3, 0.1])]
    X = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n), "colour": colour})
    holey = X.copy()
    hidden = rng.random(n) < 0.5
    holey.loc[hidden, "colour"] = None
    model = CoCompleter().fit(holey)
    expected = model.predict_feature_proba(holey)[hidden].mean()
    draws = pd.concat([d.X["colour"][hidden] for d in model.sample_completions(40, holey, random_state=0)])
    for level in ("blue", "green", "red"):
        # 40 draws of some 150 cells: three standard errors of a share are 0.02.
        assert (draws == level).mean() == pytest.approx(expected[f"colour={level}"], abs=0.03)


def test_rows_are_matched_by_index(holey: Any) -> None:
    X, _, y, _ = holey
    X, ill = X[["age", "income", "answer"]].astype(float), y[["ill"]].astype(float)
    X.index = ill.index = [f"r{k}" for k in range(len(X))]
    shuffled = ill.sample(frac=1, random_state=0)
    model, same = CoCompleter().fit(X, ill), CoCompleter().fit(X, shuffled)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    done = same.complete(X, shuffled).Y
    assert done.index.equals(shuffled.index)
    pd.testing.assert_frame_equal(done.loc[X.index], model.complete(X, ill).Y)
    with pytest.raises(InputError, match=r"X and y have different row labels \(index\)"):
        CoCompleter().fit(X, ill.set_axis([f"s{k}" for k in range(len(X))]))
    with pytest.warns(UserWarning, match="rows of X and y are matched by position"):
        CoCompleter().fit(X, ill.reset_index(drop=True))


def test_other_columns_than_those_of_the_fit_are_refused(model: CoCompleter, holey: Any) -> None:
    X, _, _, _ = holey
    with pytest.raises(InputError, match="X: column 'colour' holds numbers, but it held words when"):
        model.complete(X.assign(colour=np.arange(len(X))))
    with pytest.raises(InputError, match="X: column 'age' holds words, but it held numbers when"):
        model.complete(X.assign(age="old"))


def test_a_word_that_was_never_seen_stays_and_the_rest_is_filled(model: CoCompleter, holey: Any) -> None:
    X, _, _, _ = holey
    new = X.head(3).assign(colour=["violet", None, "red"])
    with pytest.warns(UserWarning, match="'violet'"):
        done = model.complete(new)
    assert done.X["colour"].tolist()[0] == "violet"
    assert done.X["colour"].tolist()[1] in ("blue", "green", "red")
    assert not done.X.isna().any().any()


def test_the_certificate_holds_with_all_kinds(holey: Any) -> None:
    X, _, y, _ = holey
    settings: dict[str, Any] = {"rank_penalty": 5.0, "residual_penalty": 0.0, "feature_weight": 0.5}
    model = CoCompleter(**settings, label_types={"class": "class"}).fit(X, y)
    assert model.certified_
    assert model.converged_
    assert model.duality_gap_ <= 1e-3
    done = model.complete(X, y)
    assert set(done.X["colour"]) == {"blue", "green", "red"}
    assert set(done.X["answer"]) <= set(range(1, 6))


def test_a_column_of_one_word_is_drawn_as_that_word() -> None:
    """Once a draw of such a column was one word instead of one for every row, and could not be put back."""
    x = np.random.default_rng(0).normal(size=(30, 2))
    X = pd.DataFrame({"x": x[:, 0], "z": x.sum(axis=1), "word": ["same", None] * 15})
    X.loc[::5, "z"] = None
    model = CoCompleter().fit(X)
    for table in model.sample_completions(2, random_state=0):
        assert set(np.asarray(table.X)[:, 2]) == {"same"}
