import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest

from cocomplete.datasets import load_mulan, make_clinic, make_low_rank_multilabel
from cocomplete.exceptions import InputError


def test_low_rank_generator_is_section_4_1_of_the_paper() -> None:
    data = make_low_rank_multilabel(400, 60, 30, rank=4, observed=0.2, random_state=0)
    M = np.hstack((data.X_true, data.Z_true))
    assert np.linalg.matrix_rank(M) == 4
    # A product of two uniforms on [-5, 5] has variance (25/3)²; four of them are added.
    assert M.std() == pytest.approx(np.sqrt(4) * 25 / 3, rel=0.1)
    for shown, truth in ((data.X, data.X_true), (data.Y, data.Y_true)):
        known = ~np.isnan(shown)
        assert known.mean() == pytest.approx(0.2, abs=0.02)
        np.testing.assert_array_equal(shown[known], truth[known])
    # P[Y=1] = σ(Z) makes this transform of the labels uniform.
    u = np.random.default_rng(1).random(data.Z_true.shape)
    p = 1 / (1 + np.exp(-data.Z_true))
    mixed = np.where(data.Y_true == 1, u * p, p + u * (1 - p))
    assert kstest(mixed.ravel(), "uniform").pvalue > 1e-3


def test_generators_are_seeded() -> None:
    for make in (make_clinic, make_low_rank_multilabel):
        one, two, other = make(50, random_state=5), make(50, random_state=5), make(50, random_state=6)
        np.testing.assert_array_equal(one.X, two.X)
        np.testing.assert_array_equal(one.Y, two.Y)
        assert not np.array_equal(one.X_true, other.X_true)


@pytest.mark.parametrize("params", [{"observed": 0}, {"observed": 1.5}, {"rank": 0}, {"n_samples": 0}])
def test_low_rank_generator_refuses_nonsense(params: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(params))):
        make_low_rank_multilabel(**params)


def test_the_clinic_is_readable_and_called_synthetic() -> None:
    clinic = make_clinic()
    assert clinic.X.shape == (400, 25)
    assert clinic.Y.shape == (400, 12)
    assert "SYNTHETIC" in clinic.DESCR
    assert "synthetic" in make_clinic.__doc__
    spreads = clinic.X_true.std(axis=0)
    assert spreads.max() / spreads.min() > 1e5
    assert (clinic.X_true >= 0).all()
    assert np.isin(clinic.X_true[:, -5:], (0, 1)).all()
    rates = clinic.Y_true.mean(axis=0)
    assert ((rates > 0.03) & (rates < 0.5)).all()
    known = ~np.isnan(clinic.X)
    assert 0.6 < known.mean() < 0.7
    np.testing.assert_array_equal(clinic.X[known], clinic.X_true[known])
    with pytest.raises(InputError, match="feature_share"):
        make_clinic(feature_share=0)


def test_the_clinic_is_low_rank_underneath() -> None:
    X = make_clinic(4000).X_true[:, :20]
    values = np.linalg.eigvalsh(np.corrcoef(X.T))[::-1]
    assert values[:5].sum() > 0.7 * values.sum()
    assert values[4] > 2 * values[5]


DENSE = """% a comment
@relation 'music: -C 2'
@attribute 'loud ness' numeric
@attribute key {c, d, 'e flat'}
@attribute 'it\\'s sad' {0,1}
@attribute "happy" {0,1}
@data
0.5, c, 1, 0
?, 'e flat', ?, 1
% another
-2e1, ?, 0, ?
"""
SPARSE = """@relation x
@attribute a numeric
@attribute first {1,0}
@attribute b numeric
@attribute L {0,1}
@data
{0 1.5, 3 1}
{}
{1 0, 2 ?, 3 ?}
"""
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="happy"><label name="it's sad"></label></label>
</labels>
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)


def test_dense_arff_with_quotes_unknowns_and_nested_labels(tmp_path: Path) -> None:
    write(tmp_path, music_arff=DENSE, music_xml=XML)
    data = load_mulan(tmp_path / "music.arff")
    assert data.feature_names == ["loud ness", "key"]
    assert data.label_names == ["happy", "it's sad"]
    np.testing.assert_array_equal(data.X, [[0.5, 0], [np.nan, 2], [-20, np.nan]])
    np.testing.assert_array_equal(data.Y, [[0, 1], [1, np.nan], [np.nan, 0]])


def test_sparse_arff_has_zeros_and_first_categories_where_cells_are_absent(tmp_path: Path) -> None:
    write(tmp_path, s_arff=SPARSE, l_xml='<labels><label name="L"/></labels>')
    data = load_mulan(tmp_path / "s.arff", tmp_path / "l.xml")
    np.testing.assert_array_equal(data.X, [[1.5, 1, 0], [0, 1, 0], [0, 0, np.nan]])
    np.testing.assert_array_equal(data.Y, [[1], [0], [np.nan]])


@pytest.mark.parametrize(
    ("arff", "xml", "message"),
    [
        ("", XML, r"a\.arff is empty"),
        (DENSE.replace("-2e1", "abc"), XML, r"a\.arff is not valid ARFF: .*9|line"),
        (DENSE.replace("numeric", "string"), XML, "attribute 'loud ness' is of type STRING"),
        (DENSE, "<labels><label name='nobody'/></labels>", "lists the label 'nobody'"),
        (DENSE, "<labels/>", "holds no <label"),
        (DENSE, "no xml", "is not an XML list"),
        (
            DENSE.replace('"happy" {0,1}', "happy {0,1,7}").replace("0.5, c, 1, 0", "0.5, c, 1, 7"),
            XML,
            "'happy' holds 7",
        ),
        (DENSE, None, r"no list of labels beside .*expected a\.xml"),
    ],
)
def test_broken_mulan_files_are_named(tmp_path: Path, arff: str, xml: str, message: str) -> None:
    write(tmp_path, a_arff=arff)
    if xml is not None:
        write(tmp_path, a_xml=xml)
    with pytest.raises(InputError, match=message):
        load_mulan(tmp_path / "a.arff")


def test_missing_mulan_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.arff cannot be read: No such file"):
        load_mulan(tmp_path / "a.arff", tmp_path / "a.xml")
    write(tmp_path, a_arff=DENSE)
    with pytest.raises(InputError, match=r"b\.xml cannot be read: No such file"):
        load_mulan(tmp_path / "a.arff", tmp_path / "b.xml")


@pytest.mark.skipif(
    "COCOMPLETE_DATA" not in os.environ, reason="COCOMPLETE_DATA names no folder of data sets"
)
@pytest.mark.parametrize(
    ("name", "rows", "features", "labels"),
    [
        ("cal500", 502, 68, 174),
        ("emotions", 593, 72, 6),
        ("yeast", 2417, 103, 14),
        ("birds-train", 322, 260, 19),
    ],
)
def test_real_mulan_sets(name: str, rows: int, features: int, labels: int) -> None:
    data = load_mulan(Path(os.environ["COCOMPLETE_DATA"]) / f"{name}.arff")
    assert data.X.shape == (rows, features)
    assert data.Y.shape == (rows, labels)
    assert np.isfinite(data.X).all()
    assert np.isin(data.Y, (0, 1)).all()
