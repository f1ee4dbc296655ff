"""Models in files: bit-equal after loading, and one sentence for whatever is no model."""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cocomplete import CoCompleter, InputError, load
from cocomplete.datasets import make_clinic
from cocomplete.packing import Packer, UnknownRecordError

SETTINGS: dict[str, dict[str, Any]] = {
    "ensemble": {},
    "certified": {"certify": True, "threshold": "f1"},
    "minimiser": {"rank_penalty": 5.0, "residual_penalty": 0.0, "feature_weight": 0.5},
    "only ones recorded": {"label_policy": "positive-unlabelled", "recorded_share": 0.5},
}


def mixed() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make a table with columns of every kind."""
    rng = np.random.default_rng(0)
    f = rng.normal(size=80)
    X = pd.DataFrame(
        {
            "height": 170 + 10 * f + rng.normal(size=80),
            "colour": np.array(["blue", "green", "red"])[np.digitize(f, [-0.5, 0.5])],
            "answer": np.clip(np.round(3 + f + rng.normal(size=80)), 1, 5),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.round(30 * f), unit="D"),
            "smokes": np.where(f > 0, "yes", "no"),
            "visits": rng.poisson(20, 80),
        }
    )
    y = pd.DataFrame(
        {"ill": (f > 0).astype(float), "class": np.array(["a", "b", "c"])[rng.integers(3, size=80)]}
    )
    X = X.mask(rng.random(X.shape) < 0.2)
    return X, y.mask(rng.random(y.shape) < 0.2)


@pytest.fixture(scope="module")
def clinic() -> Any:
    return make_clinic(n_samples=150)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.cocomplete"
    X, y = mixed()
    CoCompleter(label_types={"class": "class"}).fit(X, y).save(path)
    return path


def assert_same(one: CoCompleter, other: CoCompleter, X: Any, y: Any) -> None:
    for first, second in zip(one.complete(X, y), other.complete(X, y), strict=True):
        if isinstance(first, pd.DataFrame):
            pd.testing.assert_frame_equal(first, second)
        else:
            np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    drawn = [model.sample_completions(2, X, y, random_state=3)[1].X for model in (one, other)]
    np.testing.assert_array_equal(*drawn)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_predictions_after_loading_are_bit_equal(
    settings: dict[str, Any], clinic: Any, tmp_path: Path
) -> None:
    Y = np.where(clinic.Y == 1, 1.0, np.nan) if "label_policy" in settings else clinic.Y
    model = CoCompleter(**settings).fit(clinic.X, Y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    assert set(vars(again)) == set(vars(model))
    assert_same(model, again, clinic.X, Y)
    first = clinic.X[:7]
    assert_same(model, again, np.where(np.isin(first, (0, 1)), first, first + 0.1), None)
    # The same model has the same bytes, whoever writes it.
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_all_kinds_of_columns(saved: Path) -> None:
    X, y = mixed()
    model = CoCompleter(label_types={"class": "class"}).fit(X, y)
    assert_same(model, load(saved), X, y)


def test_an_unfitted_one_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="not fitted yet"):
        CoCompleter().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_parameter_that_no_file_holds_is_named(tmp_path: Path, clinic: Any) -> None:
    model = CoCompleter(random_state=np.random.default_rng(0), averaging=False, rank_penalty=5.0)
    model.set_params(residual_penalty=0.0, feature_weight=0.5).fit(clinic.X, clinic.Y)
    with pytest.raises(InputError, match=r"cannot be saved: a numpy.random.*Generator has no place"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        load(saved).save(tmp_path / "nowhere" / "model")
    with pytest.raises(InputError, match="cannot be read: No such file or directory; check the path"):
        load(tmp_path / "nothing")


# -- damaged files ---------------------------------------------------------------------------------------


def archive(entries: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return buffer.getvalue()


def parts(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def changed(path: Path, **changes: Any) -> bytes:
    entries = parts(path)
    entries["model.json"] = json.dumps(json.loads(entries["model.json"]) | changes).encode()
    return archive(entries)


def damages(path: Path) -> dict[str, tuple[bytes, str]]:
    entries = parts(path)
    return {
        "empty": (b"", "is damaged, or no model of cocomplete"),
        "text": (b"hello", "is damaged, or no model of cocomplete"),
        "other zip": (archive({"a.txt": b"x"}), "does not hold model.json and arrays.safetensors alone"),
        "path": (
            archive(entries | {"../evil": b"x"}),
            "does not hold model.json and arrays.safetensors alone",
        ),
        "compressed": (archive(entries, zipfile.ZIP_DEFLATED), "it would grow when it is read"),
        "no json": (archive(entries | {"model.json": b"{"}), "is damaged, or no model of cocomplete"),
        "deep": (archive(entries | {"model.json": b"[" * 10**6}), "is damaged, or no model of cocomplete"),
        "list": (archive(entries | {"model.json": b"[]"}), "is no model of cocomplete"),
        "later": (changed(path, format=2), "has format 2, written by cocomplete 0.1.0"),
        "arrays": (
            archive(entries | {"arrays.safetensors": b"x"}),
            "its arrays are not those that were saved",
        ),
        "no state": (changed(path, state=None), "holds no fitted model"),
        "no records": (changed(path, records=[]), "is damaged, or no model of cocomplete"),
        "class": (
            changed(path, records=[{"class": "os.system", "fields": {}}]),
            "'os.system' is no class of a",
        ),
        "odd record": (changed(path, records=[3]), "is damaged, or no model of cocomplete"),
        # These two were found by the campaign (make trust).
        "a word as a record": (changed(path, records=["x"]), "'x' is no packed record"),
        "a word as fields": (changed(path, records=[{"class": "Model", "fields": "x"}]), "no packed record"),
        "odd value": (changed(path, state={"eval": "1"}), "'eval' is no kind of packed value"),
    }


def test_whatever_is_no_model_gets_one_sentence(saved: Path, tmp_path: Path) -> None:
    for name, (content, message) in damages(saved).items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InputError, match=re.escape(message)) as error:
            load(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


def test_cut_and_flipped_files_get_one_sentence(saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    rng = np.random.default_rng(0)
    path = tmp_path / "damaged"
    for cut in rng.integers(len(content), size=40):
        path.write_bytes(content[:cut])
        with pytest.raises(InputError):
            load(path)
    model = load(saved)
    X, y = mixed()
    for place in rng.integers(len(content), size=150):
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(flipped))
        try:
            again = load(path)
        except InputError:
            continue
        # Bytes that mean nothing, such as a date, may change.
        assert_same(model, again, X, y)


def test_only_known_classes_are_packed() -> None:
    with pytest.raises(UnknownRecordError, match="a pathlib"):
        Packer({}).pack(Path())
