"""What the model found: factors with their columns, columns that behave alike, labels that go together."""

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.fitted.describe import low_rank_member
from cocomplete.report.record import CoOccurrence, Factor, Found, Loading, Near, Neighbours
from cocomplete.report.sentences import found_sentence
from cocomplete.report.source import Source
from cocomplete.report.texts import short

MOST_FACTORS, MOST_LOADINGS = 6, 8
"""Factors that are described, and columns of each."""

NEAREST = 5
"""Columns that are named beside each."""

LEAST_SIMILARITY = 0.01
"""A cosine below this is none."""

MOST_LABELS = 20
"""Labels whose co-occurrence is shown: the commonest."""


def found(source: Source) -> Found:
    """Describe the low-rank matrix behind the answer, and what labels do together."""
    description = source.found
    member = low_rank_member(source.model.ensemble)
    name = None if member is None else member.name
    rank = len(description.singular_values)
    factors = _factors(source)
    return Found(
        rank, name, factors, _neighbours(source), _together(source), found_sentence(rank, name, factors)
    )


def _factors(source: Source) -> tuple[Factor, ...]:
    s, components = source.found.singular_values.astype(np.float64), source.found.components
    total = float((s**2).sum()) or 1.0
    factors = []
    for value, loadings in zip(s[:MOST_FACTORS], components[:MOST_FACTORS], strict=True):
        order = np.argsort(-np.abs(loadings), kind="stable")[:MOST_LOADINGS]
        # A factor's sign means nothing; the largest loading is taken to be positive.
        sign = -1.0 if loadings[order[0]] < 0 else 1.0
        kept = [Loading(source.encoded_names[k], short(sign * loadings[k])) for k in order if loadings[k]]
        factors.append(Factor(short(value**2 / total), tuple(kept)))
    return tuple(factors)


def _neighbours(source: Source) -> tuple[Neighbours, ...]:
    """Give the columns nearest to each: by the cosine of what factors make of them.

    Of a column that several encode, the nearest of them counts, without a sign.
    """
    profiles = (source.found.singular_values[:, None] * source.found.components).T.astype(np.float64)
    norms = np.linalg.norm(profiles, axis=1)
    d = len(source.features.kinds)
    groups = np.concatenate((source.features.groups, d + source.labels.groups))
    part = np.flatnonzero(norms > 0)
    if not part.size:
        return ()
    unit, own = profiles[part] / norms[part, None], groups[part]
    start = np.flatnonzero(np.concatenate(([True], own[1:] != own[:-1])))
    names = own[start]
    single = np.diff(np.append(start, own.size)) == 1
    found = []
    bounds = np.append(start, own.size)
    for k, j in enumerate(names):
        cosine = unit[bounds[k] : bounds[k + 1]] @ unit.T
        size = np.maximum.reduceat(np.abs(cosine).max(axis=0), start)
        signed = cosine[0, start] if single[k] else size
        value = np.where(single & single[k], signed, size)
        size[k] = 0
        order = np.argsort(-size, kind="stable")[:NEAREST]
        near = [Near(int(names[i]), short(value[i], 3)) for i in order if size[i] >= LEAST_SIMILARITY]
        found.append(Neighbours(int(j), tuple(near)))
    return tuple(found)


def _together(source: Source) -> CoOccurrence | None:
    """Give how often two labels are 1 together, before and after."""
    if source.labels.width < 2:
        return None
    Y = source.observed.Y
    ones = (Y == 1).sum(axis=0)
    shown = np.sort(np.argsort(-ones, kind="stable")[:MOST_LABELS])
    known = source.observed.Y_known[:, shown].astype(np.float32)
    yes = (Y[:, shown] == 1).astype(np.float32)
    rows, both = (known.T @ known).astype(np.float64), (yes.T @ yes).astype(np.float64)
    before: FloatArray = np.where(rows > 0, both / np.maximum(rows, 1), np.nan)
    some = source.some
    completed = np.where(some.Y_known, some.Y, source.probability)[:, shown].astype(np.float64)
    after = completed.T @ completed / max(len(completed), 1)
    # Of the values of one class only one is true.
    owner = source.labels.groups[shown]
    after[(owner[:, None] == owner) & source.labels_exclude[owner][:, None]] = 0
    np.fill_diagonal(after, completed.mean(axis=0))
    names = source.encoded_names[source.observed.n_features :]
    return CoOccurrence(
        tuple(names[k] for k in shown),
        tuple(tuple(None if np.isnan(one) else short(one, 4) for one in row) for row in before.tolist()),
        tuple(tuple(short(one, 4) for one in row) for row in after.tolist()),
    )
