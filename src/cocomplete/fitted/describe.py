"""Fitted attributes: what the low-rank matrix behind an answer looks like, in the user's columns."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.fitted.ensemble import Ensemble
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS
from cocomplete.members.average import Average
from cocomplete.members.minimiser import Minimiser
from cocomplete.problem.cells import Cells
from cocomplete.problem.content_keys import content_keys
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.informative import Informative
from cocomplete.problem.observations import Observations

SMALLEST_SHARE = 1e-7
"""Of the largest singular value below which one is rounding."""


DESCRIBED_ROWS = 20_000
"""Of a longer table the average's singular values are those of so many rows, to the scale of all of them."""


class Description(NamedTuple):
    """A low-rank matrix M and its offsets, in the user's columns.

    Attributes
    ----------
    singular_values : ndarray of shape (rank,)
    components : ndarray of shape (rank, n_features + n_labels)
        Right singular vectors, on the scale of the fit; 0 for columns that took no part.
    offsets : ndarray of shape (n_features + n_labels,)
        What every row starts from: numbers in the user's units, yes/no features as probabilities, labels as
        log-odds.
    n_iter : int
    """

    singular_values: FloatArray
    components: FloatArray
    offsets: FloatArray
    n_iter: int


def low_rank_member(ensemble: Ensemble) -> Average | Minimiser | None:
    """Give the member with factors that has the largest weight, in labels if there are any."""
    shares = sum((ensemble.weights[part] for part in LABEL_PARTS), 1e-3 * ensemble.weights[FEATURE_PARTS[0]])
    for k in np.argsort(-np.asarray(shares), kind="stable"):
        member = ensemble.members[k]
        if isinstance(member, Average | Minimiser) and np.asarray(shares)[k] > 0:
            return member
    return None


def describe(
    member: Average | Minimiser | None, observed: Observations, informative: Informative
) -> Description:
    """Describe a member by the matrix it has for a table.

    Parameters
    ----------
    member : Average, Minimiser or None
        None for the trivial answer, which has no factors.
    observed : Observations
        The table of the fit, its informative columns alone.
    informative : Informative
    """
    columns = informative.columns
    offsets = informative.constant.copy()
    if member is None:
        return Description(np.empty(0), np.empty((0, len(columns))), offsets, 0)
    encoding = member.encoding
    if isinstance(member, Average):
        posterior = member.posterior
        some = _some_rows(observed)
        products = posterior.row_products(Cells.of(encoding.apply(some)))
        products *= observed.n_samples / some.n_samples
        s, Vt = _right_factors(products[1:, 1:], posterior.V[:, 1:])
        inner: FloatArray = posterior.base + posterior.V[:, 0]
        n_iter = posterior.n_iter
    else:
        s, Vt = member.solution.M.s, member.solution.M.Vt
        inner, n_iter = member.solution.offsets, member.certified.n_iter
    components = np.zeros((len(s), len(columns)), Vt.dtype)
    components[:, columns] = Vt[:, encoding.order]
    offsets[columns] = _in_units(encoding, inner[encoding.order])
    # Beyond the largest number an offset is that number.
    with np.errstate(over="ignore"):
        offsets[: len(informative.unit)] *= np.where(informative.features, informative.unit, 1)
    offsets = np.nan_to_num(offsets)
    return Description(s, components, offsets, n_iter)


def _some_rows(observed: Observations) -> Observations:
    """Give the rows that singular values are taken from; the table's content decides, not their place."""
    if observed.n_samples <= DESCRIBED_ROWS:
        return observed
    some = np.sort(np.argsort(content_keys(observed).rows, kind="stable")[:DESCRIBED_ROWS])
    return Observations(observed.X[some], observed.Y[some])


def _right_factors(products: FloatArray, V: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Singular values and right singular vectors of U Vᵀ, given UᵀU: no row is needed for them."""
    values, vectors = np.linalg.eigh(products)
    R = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    P, S = np.linalg.qr(V)
    _, s, right = np.linalg.svd(R @ S.T)
    # A product's rounding hides what is smaller.
    kept = s > SMALLEST_SHARE * s.max(initial=0)
    return s[kept], (P @ right[: len(s)].T)[:, kept].T


def _in_units(encoding: Encoding, offsets: FloatArray) -> FloatArray:
    """Offsets of features in the user's units; of labels as they are."""
    offsets = offsets.astype(np.float64)
    for j in range(len(encoding.yes_no)):
        at = offsets[j : j + 1]
        if encoding.yes_no[j]:
            offsets[j] = expit(at)[0]
        else:
            offsets[j] = encoding.scale.undo(int(encoding.order[j]), at, np.zeros(1))[0][0]
    return offsets
