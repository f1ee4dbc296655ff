"""Sparse tables of the shape of public extreme multi-label sets: bags of words, labels with a power law.

A row is a text about a few topics. Words have Zipf's frequencies, bent by topic. A label's log-odds are an
offset with a power law, what the topics say (low rank), and what a few words of its own say (not low rank).
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

TOPICS = 60
WORDS_OF_A_LABEL = 4


class SparseSet(NamedTuple):
    """Features and labels of rows to fit, and of others to predict."""

    X: sparse.csr_array
    Y: sparse.csr_array
    X_new: sparse.csr_array
    Y_new: sparse.csr_array


def make(n: int, d: int, n_labels: int, n_new: int, density: float = 0.005, seed: int = 0) -> SparseSet:
    """Draw a set with this share of cells stored, in X and in Y alike."""
    rng = np.random.default_rng(seed)
    topics = rng.standard_gamma(0.05, (n + n_new, TOPICS)).astype(np.float32)
    topics /= np.maximum(topics.sum(axis=1, keepdims=True), 1e-6)
    X = _words(rng, topics, d, density)
    Y = _labels(rng, topics, X, n_labels, density)
    return SparseSet(X[:n], Y[:n], X[n:], Y[n:])


def _words(rng: np.random.Generator, topics: np.ndarray, d: int, density: float) -> sparse.csr_array:
    """log(1 + count) of every word that occurs."""
    n = len(topics)
    zipf = 1 / (np.arange(d) + 20.0)
    chance = zipf * np.exp(2.0 * rng.standard_normal((TOPICS, d)))
    ends = np.cumsum(chance / chance.sum(axis=1, keepdims=True), axis=1)
    # About a seventh of the words occur twice.
    length = np.maximum(rng.poisson(1.15 * density * d, n), 1)
    row = np.repeat(np.arange(n), length)
    ends_of_topics, topic = np.cumsum(topics, axis=1), np.empty(len(row), np.int64)
    for first in range(0, len(row), 200_000):
        some = slice(first, first + 200_000)
        drawn = 0.999999 * rng.random((len(row[some]), 1))
        topic[some] = (ends_of_topics[row[some]] < drawn).sum(axis=1)
    word = np.empty(len(row), np.int64)
    for k in range(TOPICS):
        own = np.flatnonzero(topic == k)
        word[own] = np.searchsorted(ends[k], rng.random(own.size))
    counts = sparse.csr_array((np.ones(len(row), np.float32), (row, np.minimum(word, d - 1))), shape=(n, d))
    counts.sum_duplicates()
    counts.data = np.log1p(counts.data)
    return counts


def _labels(
    rng: np.random.Generator, topics: np.ndarray, X: sparse.csr_array, n_labels: int, density: float
) -> sparse.csr_array:
    """Ones, drawn panel by panel."""
    frequency = 1 / (np.arange(n_labels) + 10.0) ** 0.8
    frequency *= density * n_labels / frequency.sum()
    offset = np.log(frequency).astype(np.float32)
    # Two topics of a label's own, and all others a little.
    loading = (0.5 * rng.standard_normal((TOPICS, n_labels))).astype(np.float32)
    for _ in range(2):
        loading[rng.integers(0, TOPICS, n_labels), np.arange(n_labels)] += 4.0
    # A label of its own words: each says much.
    word = rng.integers(0, X.shape[1], WORDS_OF_A_LABEL * n_labels)
    label = np.repeat(np.arange(n_labels), WORDS_OF_A_LABEL)
    own = sparse.csr_array((np.full(len(word), 3.0, np.float32), (word, label)), shape=(X.shape[1], n_labels))
    sharp = np.sqrt(topics / np.maximum(topics.max(axis=1, keepdims=True), 1e-6))
    shift = np.float32(0)
    parts, panel = [], 500
    for first in range(0, len(topics), panel):
        rows = slice(first, first + panel)
        score = sharp[rows] @ loading + offset + (X[rows] @ own).toarray()
        if first == 0:
            shift = _shift(score, density)
        drawn = rng.random(score.shape, np.float32) < expit(score + shift)
        parts.append(sparse.csr_array(drawn.astype(np.float32)))
    return sparse.csr_array(sparse.vstack(parts, format="csr"))


def _shift(score: np.ndarray, density: float) -> np.float32:
    """Find what makes the mean probability what it should be."""
    low, high = -20.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if expit(score + middle).mean() > density else (middle, high)
    return np.float32(low)
