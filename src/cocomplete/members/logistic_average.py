"""Logistic regression of labels on completed rows, averaged over its coefficients and their prior variance.

Where few labels are known, the most probable coefficients are too confident, and too few labels can be held
out to choose a prior variance by. Laplace's approximation helps with both: predictions are averaged over the
posterior of the coefficients, and the evidence weighs prior variances (MacKay, 1992).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from cocomplete.arrays import FloatArray
from cocomplete.losses import log_loss
from cocomplete.members.average import Average
from cocomplete.members.kernel import VARIANCES, CompletedRows
from cocomplete.members.prediction import Prediction
from cocomplete.problem.observations import Observations
from cocomplete.solvers.variational import OFFSET_PRECISION

USUAL_VARIANCE, UNUSUAL = 3.0, 1.0
"""Usual prior variance of a row's log-odds, and what the log-prior falls by at a factor of ten from it."""

STEPS, STEP_TOL = 50, 1e-9
"""Most Newton steps, and the change of a coefficient at which they end."""

LEAST_SHARE = 1e-3
"""A prior variance that has less of the evidence is left out."""


class LaplaceFit(NamedTuple):
    """Posterior of one label's coefficients, the intercept first, and the log evidence of its cells."""

    mean: FloatArray
    covariance: FloatArray
    log_evidence: float


@dataclass(frozen=True, eq=False)
class LogisticAverage:
    """Labels of rows from their features, averaged over what the coefficients may be.

    Attributes
    ----------
    average : Average
        Completes features.
    share : ndarray of shape (n_variances,)
        Posterior probability of every prior variance.
    mean : ndarray of shape (n_variances, n_labels, n_features + 1)
        Posterior means of intercepts and coefficients.
    covariance : ndarray of shape (n_variances, n_labels, n_features + 1, n_features + 1)
    """

    average: Average
    share: FloatArray
    mean: FloatArray
    covariance: FloatArray
    name: str = "average of logistic regressions"

    @classmethod
    def fit(cls, average: Average, rows: CompletedRows, labels: FloatArray) -> "LogisticAverage":
        """Fit every label with every prior variance.

        Parameters
        ----------
        average : Average
            What completed the rows.
        rows : CompletedRows
        labels : ndarray of shape (n_rows, n_labels)
            0 or 1; NaN where unknown.
        """
        design = _design(rows)
        base = average.encoding.offsets[rows.X.shape[1] :].astype(np.float64)
        columns = [
            (design[seen], column[seen], float(offset))
            for column, seen, offset in zip(labels.T, ~np.isnan(labels.T), base, strict=True)
        ]
        fits = [[laplace(*column, variance) for column in columns] for variance in VARIANCES]
        evidence = np.array([sum(one.log_evidence for one in some) for some in fits])
        evidence -= UNUSUAL * np.log10(np.array(VARIANCES) / USUAL_VARIANCE) ** 2
        share = np.exp(evidence - evidence.max())
        kept = np.flatnonzero(share >= LEAST_SHARE * share.sum())
        return cls(
            average,
            share[kept] / share[kept].sum(),
            np.stack([[one.mean for one in fits[k]] for k in kept]),
            np.stack([[one.covariance for one in fits[k]] for k in kept]),
        )

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict labels from features; features themselves are not predicted (NaN)."""
        return self.of(CompletedRows.of(self.average, observed))

    def of(self, rows: CompletedRows) -> Prediction:
        """Predict labels of rows whose features are completed already, by this member's average."""
        n, d = rows.X.shape
        design = _design(rows)
        probability = np.zeros((n, self.mean.shape[1]))
        for share, mean, covariance in zip(self.share, self.mean, self.covariance, strict=True):
            variance = np.einsum("nk,lkj,nj->nl", design, covariance, design, optimize=True)
            # The average of a sigmoid over a normal log-odds (MacKay, 1992).
            probability += share * expit(design @ mean.T / np.sqrt(1 + np.pi / 8 * variance))
        return Prediction(np.hstack((np.full((n, d), np.nan), logit(probability))), np.full((n, d), np.nan))


def laplace(design: FloatArray, y: FloatArray, offset: float, variance: float) -> LaplaceFit:
    """Fit one label's coefficients by Newton steps, with the curvature and the evidence there.

    Parameters
    ----------
    design : ndarray of shape (n_known, k)
        Column 0 is 1.
    y : ndarray of shape (n_known,)
        0 or 1.
    offset : float
        Prior mean of the intercept.
    variance : float
        Prior variance of all other coefficients.
    """
    precision = np.full(design.shape[1], 1 / variance)
    precision[0] = OFFSET_PRECISION[1]
    prior = np.zeros(design.shape[1])
    prior[0] = offset
    w = prior.copy()
    value = _log_posterior(design, y, w, prior, precision)
    for _ in range(STEPS):
        p = expit(design @ w)
        slope = design.T @ (y - p) - precision * (w - prior)
        step = np.linalg.solve(_curvature(design, p, precision), slope)
        # The log-posterior is concave: half of a step too long is soon short enough.
        while (new := _log_posterior(design, y, w + step, prior, precision)) < value - 1e-12 * abs(value):
            step = step / 2
        w, value = w + step, new
        if np.abs(step).max() < STEP_TOL:
            break
    curvature = _curvature(design, expit(design @ w), precision)
    log_evidence = value + (np.log(precision).sum() - np.linalg.slogdet(curvature)[1]) / 2
    return LaplaceFit(w, np.linalg.inv(curvature), float(log_evidence))


def _curvature(design: FloatArray, p: FloatArray, precision: FloatArray) -> FloatArray:
    return np.asarray((design * (p * (1 - p))[:, None]).T @ design + np.diag(precision))


def _log_posterior(
    design: FloatArray, y: FloatArray, w: FloatArray, prior: FloatArray, precision: FloatArray
) -> float:
    """Log-likelihood and log-prior, but for constants that no coefficient or variance changes."""
    return float(-log_loss(design @ w, y).sum() - (precision * (w - prior) ** 2).sum() / 2)


def _design(rows: CompletedRows) -> FloatArray:
    """Give a column of ones, and features such that a variance of coefficients is one of log-odds."""
    return np.column_stack((np.ones(len(rows.X)), rows.X / np.sqrt(rows.X.shape[1])))
