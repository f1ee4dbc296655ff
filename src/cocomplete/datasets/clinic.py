"""The embedded table: a synthetic clinic. No patient was ever measured for it."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit
from scipy.stats import norm
from sklearn.utils import Bunch

from cocomplete.datasets.missing import observe_at_random
from cocomplete.parameter_checks import check_count, check_seed, check_share

DESCR = """\
Synthetic clinic table
======================
SYNTHETIC data: no patient, clinic or measurement is real, and nothing medical can be learnt from it.

Five latent factors (age, metabolism, heart and vessels, kidney, mood and pain) are drawn for every
row. Features and label scores are linear in the factors (so the table is low-rank underneath) plus
noise; features are then brought to the units a reader expects, and yes/no features and labels are
drawn from a sigmoid. Cells are missing completely at random, features and labels apart. The truth is
kept beside the table.
"""

FACTORS = ("age", "metabolism", "vessels", "kidney", "mood")


class _Measure(NamedTuple):
    """A numeric feature: typical value, spread, and how the five factors move it (in spreads)."""

    name: str
    mean: float
    spread: float
    loadings: tuple[float, float, float, float, float]
    decimals: int = 0


class _Answer(NamedTuple):
    """A yes/no column: its share of yes, and how the five factors move its log-odds."""

    name: str
    rate: float
    loadings: tuple[float, float, float, float, float]


_MEASURES = (
    _Measure("age_years", 56, 14, (1.0, 0.0, 0.0, 0.0, 0.0)),
    _Measure("height_cm", 170, 9, (-0.3, -0.2, 0.1, 0.0, -0.1), 1),
    _Measure("weight_kg", 79, 15, (-0.1, 0.9, 0.2, 0.0, 0.1), 1),
    _Measure("waist_cm", 94, 13, (0.2, 0.9, 0.2, 0.0, 0.1), 1),
    _Measure("systolic_mmHg", 132, 17, (0.5, 0.2, 0.7, 0.2, 0.0)),
    _Measure("diastolic_mmHg", 81, 10, (0.1, 0.3, 0.7, 0.1, 0.1)),
    _Measure("resting_pulse_per_min", 72, 10, (-0.1, 0.4, 0.2, 0.1, 0.5)),
    _Measure("glucose_mg_per_dl", 105, 24, (0.2, 0.8, 0.1, 0.1, 0.0)),
    _Measure("hba1c_percent", 5.8, 0.9, (0.2, 0.9, 0.1, 0.1, 0.0), 1),
    _Measure("ldl_mg_per_dl", 124, 32, (0.1, 0.3, 0.6, -0.1, 0.1)),
    _Measure("hdl_mg_per_dl", 52, 14, (0.1, -0.6, -0.3, 0.0, -0.1)),
    _Measure("triglycerides_mg_per_dl", 148, 62, (0.0, 0.8, 0.2, 0.0, 0.1)),
    _Measure("creatinine_mg_per_dl", 0.98, 0.26, (0.3, 0.1, 0.2, 0.8, 0.0), 2),
    _Measure("egfr_ml_per_min", 82, 19, (-0.6, -0.1, -0.2, -0.7, 0.0)),
    _Measure("urea_mg_per_dl", 34, 10, (0.3, 0.1, 0.1, 0.8, 0.0)),
    _Measure("potassium_mmol_per_l", 4.3, 0.4, (0.1, 0.0, 0.0, 0.6, 0.0), 2),
    _Measure("platelets_per_ul", 246000, 58000, (-0.2, 0.2, 0.1, -0.2, 0.1), -3),
    _Measure("steps_per_day", 6200, 2600, (-0.5, -0.5, -0.2, -0.1, -0.5), -1),
    _Measure("sleep_hours", 6.8, 1.1, (-0.1, -0.1, 0.0, 0.0, -0.8), 1),
    _Measure("pain_score_0_100", 31, 19, (0.3, 0.2, 0.0, 0.1, 0.8)),
)

_YES_NO = (
    _Answer("smoker", 0.24, (-0.3, 0.2, 1.0, 0.0, 0.8)),
    _Answer("family_history_heart", 0.30, (0.0, 0.1, 1.0, 0.0, 0.0)),
    _Answer("takes_statin", 0.28, (1.0, 0.4, 1.2, 0.1, 0.0)),
    _Answer("lives_alone", 0.27, (0.5, 0.0, 0.0, 0.0, 0.9)),
    _Answer("swollen_ankles", 0.15, (0.6, 0.5, 0.5, 1.1, 0.0)),
)

_LABELS = (
    _Answer("has_hypertension", 0.42, (1.2, 0.6, 2.4, 0.6, 0.0)),
    _Answer("has_type_2_diabetes", 0.19, (0.6, 3.0, 0.2, 0.3, 0.0)),
    _Answer("has_obesity", 0.31, (-0.1, 3.0, 0.2, 0.0, 0.3)),
    _Answer("has_high_cholesterol", 0.36, (0.4, 1.0, 2.0, 0.0, 0.2)),
    _Answer("has_coronary_disease", 0.13, (1.5, 0.8, 2.2, 0.3, 0.2)),
    _Answer("has_heart_failure", 0.07, (1.3, 0.6, 1.5, 1.2, 0.0)),
    _Answer("has_stroke_history", 0.06, (1.4, 0.5, 1.7, 0.2, 0.0)),
    _Answer("has_kidney_disease", 0.15, (1.2, 0.4, 0.5, 2.8, 0.0)),
    _Answer("has_gout", 0.09, (0.5, 1.1, 0.3, 1.8, 0.0)),
    _Answer("has_depression", 0.20, (-0.2, 0.3, 0.0, 0.0, 2.8)),
    _Answer("has_insomnia", 0.27, (0.1, 0.1, 0.0, 0.0, 2.5)),
    _Answer("has_chronic_pain", 0.29, (0.6, 0.5, 0.0, 0.1, 2.3)),
)


def make_clinic(
    n_samples: int = 400,
    *,
    feature_share: float = 0.65,
    label_share: float = 0.6,
    random_state: int | np.random.Generator | None = 0,
) -> Bunch:
    """Make the synthetic clinic table, with holes in features and labels and the truth beside it.

    Parameters
    ----------
    n_samples : int, default=400
        Number of (invented) patients.
    feature_share, label_share : float
        Share of the feature cells and of the label cells that is shown.
    random_state : int, numpy Generator or None, default=0
        Seed; the same seed gives the same table.

    Returns
    -------
    Bunch
        ``X``, ``Y`` (NaN where missing), ``X_true``, ``Y_true``, ``feature_names``, ``label_names``,
        ``DESCR``.

    Examples
    --------
    >>> clinic = make_clinic()
    >>> clinic.X.shape, clinic.Y.shape
    ((400, 25), (400, 12))
    >>> clinic.feature_names[4], clinic.label_names[0]
    ('systolic_mmHg', 'has_hypertension')
    """
    for name, share in (("feature_share", feature_share), ("label_share", label_share)):
        check_share(name, share)
    check_count("n_samples", n_samples)
    check_seed("random_state", random_state)
    rng = np.random.default_rng(random_state)
    factors = rng.standard_normal((n_samples, len(FACTORS)))
    columns = [_measure(measure, factors, rng) for measure in _MEASURES]
    columns += [_answer(answer, factors, rng) for answer in _YES_NO]
    X_true = np.column_stack(columns)
    Y_true = np.column_stack([_answer(answer, factors, rng) for answer in _LABELS])
    return Bunch(
        X=observe_at_random(X_true, feature_share, rng),
        Y=observe_at_random(Y_true, label_share, rng),
        X_true=X_true,
        Y_true=Y_true,
        feature_names=[column.name for column in (*_MEASURES, *_YES_NO)],
        label_names=[label.name for label in _LABELS],
        DESCR=DESCR,
    )


def _measure(measure: _Measure, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    noise = 0.35 * rng.standard_normal(len(factors))
    signal = factors @ np.asarray(measure.loadings)
    value = measure.mean + measure.spread * (signal + noise)
    # Nothing a clinic measures is negative; the floor is far out in the tail.
    rounded: np.ndarray = np.round(np.maximum(value, 0.15 * measure.mean), measure.decimals)
    return rounded


def _answer(answer: _Answer, factors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    loadings = np.asarray(answer.loadings)
    # The intercept at which a logistic-normal has this mean, by the usual probit approximation.
    spread = np.sqrt(1 + (np.pi / 8) * float(loadings @ loadings))
    intercept = norm.ppf(answer.rate) * spread * np.sqrt(8 / np.pi)
    yes: np.ndarray = rng.random(len(factors)) < expit(intercept + factors @ loadings)
    return yes.astype(np.float64)
