"""Gradient boosting of small oblivious trees, compiled by Numba and cached on disk.

An oblivious tree asks one question per level, the same of all its cells, so that a tree of depth D is D
questions and 2^D values. Inputs are binned: a column's code is the position of a value among its cuts, and
what is unknown has the code after the last, which a question sends to a side of its own choice.
"""

import math

import numpy as np
from numba import njit

LEAST_GAIN = 1e-9
"""A question is better than another if it gains more by this share: equal ones must not be ranked by
rounding."""


@njit(cache=True, nogil=True, error_model="numpy")
def _add_gains(slope, curvature, more_slope, more_curvature, all_slope, all_curvature, ridge, last, gains):
    """Add a leaf's gains from every cut, what is left of the cut given with something more.

    Two fractions are added by one division, and nothing is checked, so that cuts are worked on side by side.
    """
    for c in range(last):
        s, w = slope[c] + more_slope, curvature[c] + more_curvature
        here, there = w + ridge, all_curvature - w + ridge
        gains[c] += (s * s * there + (all_slope - s) * (all_slope - s) * here) / (here * there)


@njit(cache=True, nogil=True, error_model="numpy")
def _best_question(known, place, code, bins, offered, leaf, leaves, g, h, ridge, sums, whole):
    """Find the column, cut and side for the unknown that gain most, over all leaves together.

    Known cells of the columns are given one column after the other: ``known`` says where each begins,
    ``place`` in which row, ``code`` what it holds. What is unknown of a column is what they leave of all.
    ``sums`` (leaves × 2 × codes) and ``whole`` (leaves × 2) are room for slopes and curvatures.
    """
    n = len(g)
    whole[:leaves] = 0
    for q in range(n):
        whole[leaf[q], 0] += g[q]
        whole[leaf[q], 1] += h[q]
    before = 0.0
    for a in range(leaves):
        before += whole[a, 0] ** 2 / (whole[a, 1] + ridge)
    most, column, cut, unknown_left = 0.0, -1, 0, 0
    gains = np.empty((2, sums.shape[2]))
    for j in offered:
        last = bins[j]
        sums[:leaves, :, :last] = 0
        for k in range(known[j], known[j + 1]):
            q = place[k]
            a, c = leaf[q], code[k]
            sums[a, 0, c] += g[q]
            sums[a, 1, c] += h[q]
        gains[:, :last] = 0
        holes = known[j + 1] - known[j] < n
        for a in range(leaves):
            s, w, S, W = sums[a, 0], sums[a, 1], whole[a, 0], whole[a, 1]
            for c in range(1, last):
                s[c] += s[c - 1]
                w[c] += w[c - 1]
            _add_gains(s, w, 0.0, 0.0, S, W, ridge, last, gains[0])
            if holes:
                _add_gains(s, w, S - s[last - 1], W - w[last - 1], S, W, ridge, last, gains[1])
        for c in range(last):
            apart, together = gains[0, c], gains[1, c]
            if apart - before > most * (1 + LEAST_GAIN) + LEAST_GAIN:
                most, column, cut, unknown_left = apart - before, j, c, 0
            if together - before > most * (1 + LEAST_GAIN) + LEAST_GAIN:
                most, column, cut, unknown_left = together - before, j, c, 1
    return column, cut, unknown_left


@njit(cache=True, nogil=True, error_model="numpy")
def _goes_right(code, last, cut, unknown_left):
    """Which side a code goes to, 0 or 1."""
    if code == last:
        return 1 - unknown_left
    return 1 if code > cut else 0


@njit(cache=True, nogil=True, error_model="numpy")
def boost(codes, bins, offered, row, y, binary, base, pace, ridge, questions, values):
    """Fit a sequence of trees to one target, each to the slopes that those before it leave.

    Parameters
    ----------
    codes : uint8 (columns × rows)
    bins : (columns) number of codes of each column, which is the code of what is unknown
    offered : (trees × k) columns that a tree may ask of
    row, y : rows in which the target is observed, and its values there
    binary : whether it is 0/1, under logistic loss, or a number, under squared loss
    base : what the first tree starts from
    pace, ridge : step length, and what is added to the curvature of a leaf; a quarter of it for a 0/1 target,
        whose curvature is at most one quarter
    questions : int16 (trees × depth × 3), written: column or −1, cut, side of the unknown
    values : (trees × 2^depth), written
    """
    trees, depth = questions.shape[0], questions.shape[1]
    n, most = len(row), 0
    own = np.empty((len(codes), n), np.uint8)
    known = np.zeros(len(codes) + 1, np.int64)
    for j in range(len(codes)):
        most = max(most, bins[j])
        known[j + 1] = known[j]
        for q in range(n):
            own[j, q] = codes[j, row[q]]
            known[j + 1] += own[j, q] != bins[j]
    place, code = np.empty(known[-1], np.int32), np.empty(known[-1], np.uint8)
    for j in range(len(codes)):
        at = known[j]
        for q in range(n):
            if own[j, q] != bins[j]:
                place[at], code[at] = q, own[j, q]
                at += 1
    least = ridge / 4 if binary else ridge
    score, g, h, leaf = np.empty(n), np.empty(n), np.empty(n), np.empty(n, np.int64)
    score[:] = base
    sums, whole = np.empty((1 << depth, 2, most)), np.empty((1 << depth, 2))
    for k in range(trees):
        for q in range(n):
            if binary:
                p = 1 / (1 + math.exp(-score[q]))
                g[q], h[q] = y[q] - p, p * (1 - p)
            else:
                g[q], h[q] = y[q] - score[q], 1.0
            leaf[q] = 0
        for level in range(depth):
            j, cut, unknown_left = _best_question(
                known, place, code, bins, offered[k], leaf, 1 << level, g, h, least, sums, whole
            )
            question = questions[k, level]
            question[0], question[1], question[2] = j, cut, unknown_left
            for q in range(n):
                leaf[q] = 2 * leaf[q]
                if j >= 0:
                    leaf[q] += _goes_right(own[j, q], bins[j], cut, unknown_left)
        whole[:] = 0
        for q in range(n):
            whole[leaf[q], 0] += g[q]
            whole[leaf[q], 1] += h[q]
        for a in range(1 << depth):
            values[k, a] = pace * whole[a, 0] / (whole[a, 1] + least)
        for q in range(n):
            score[q] += values[k, leaf[q]]


@njit(cache=True, nogil=True, error_model="numpy")
def grow(codes, bins, row, base, questions, values, stops, out):
    """Add up one target's trees for some rows.

    Parameters
    ----------
    codes, bins : as in :func:`boost`
    row : rows asked for
    base : float
    questions (trees × depth × 3), values (trees × 2^depth) : as :func:`boost` writes them
    stops : numbers of trees, rising
    out : (stops × len(row)), written: the sum after so many trees
    """
    trees, depth = questions.shape[0], questions.shape[1]
    for q in range(len(row)):
        total = base
        reached = 0
        for k in range(trees):
            leaf = 0
            for level in range(depth):
                j, cut, unknown_left = questions[k, level]
                leaf = 2 * leaf
                if j >= 0:
                    leaf += _goes_right(codes[j, row[q]], bins[j], cut, unknown_left)
            total += values[k, leaf]
            while reached < len(stops) and stops[reached] == k + 1:
                out[reached, q] = total
                reached += 1
