"""Methods compared across trials: which is best, which are comparable, and by how much.

The rule is that of the paper's tables: the method with the best mean, and every method that a paired
one-sided t-test at 95 % does not find worse than it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import as_numbers, check_confidence, check_flag, shown


class PairedTest(NamedTuple):
    """A paired one-sided t-test of "one method's errors are larger than another's".

    Attributes
    ----------
    p_value : float
        Chance of so large a difference if there were none; NaN with a single trial, which allows no test.
    effect_size : float
        Cohen's d of the differences: their mean over their standard deviation. Infinite if they are all the
        same and not 0, 0 if they are all 0, NaN with a single trial.
    """

    p_value: float
    effect_size: float


class Summary(NamedTuple):
    """One method across trials.

    Attributes
    ----------
    mean, std : float
        Of its results; the standard deviation is that of a sample (n − 1), NaN with a single trial.
    wins : int
        Trials in which no other compared method did better; who ties, wins too.
    best : bool
        Whether no compared method has a better mean.
    comparable : bool
        Whether it is the best or not significantly worse: what the paper prints in bold.
    p_value, effect_size : float
        Of the test against the best one, whose own are 1 and 0; NaN for a method that is not compared.
    """

    mean: float
    std: float
    wins: int
    best: bool
    comparable: bool
    p_value: float
    effect_size: float

    def __str__(self) -> str:
        """Give mean ± std as in the paper's tables."""
        return f"{self.mean:.4f} ± {self.std:.4f}"


def paired_test(worse: Sequence[float] | FloatArray, better: Sequence[float] | FloatArray) -> PairedTest:
    """Test whether one method's errors are larger than another's on the same trials.

    Parameters
    ----------
    worse, better : array-like of shape (n_trials,)
        Errors on the same trials, in the same order.

    Examples
    --------
    >>> test = paired_test([0.30, 0.31, 0.33], [0.20, 0.22, 0.21])
    >>> bool(test.p_value < 0.05), round(test.effect_size, 1)
    (True, 6.8)
    >>> paired_test([0.2, 0.3], [0.2, 0.3])
    PairedTest(p_value=1.0, effect_size=0.0)
    """
    first, second = (_trials(name, values) for name, values in (("worse", worse), ("better", better)))
    if first.shape != second.shape:
        msg = (
            f"worse has {first.size} trials but better has {second.size}; a paired test needs the same trials"
        )
        raise InputError(msg)
    if first.size == 1:
        return PairedTest(np.nan, np.nan)
    difference = first - second
    mean, spread = float(difference.mean()), float(difference.std(ddof=1))
    # Differences that vary by rounding alone are the same, and a t-test of them would divide by nothing.
    rounding = 8 * np.finfo(float).eps * max(np.abs(first).max(), np.abs(second).max())
    if spread <= rounding:
        if abs(mean) <= rounding:
            return PairedTest(1.0, 0.0)
        return PairedTest(0.0 if mean > 0 else 1.0, float(np.copysign(np.inf, mean)))
    test = stats.ttest_rel(first, second, alternative="greater")
    return PairedTest(float(test.pvalue), mean / spread)


def compare(
    results: Mapping[str, Sequence[float] | FloatArray],
    *,
    lower_is_better: bool = True,
    confidence: float = 0.95,
    exclude: Iterable[str] = (),
) -> dict[str, Summary]:
    """Summarise methods across the same trials and find the best and comparable ones.

    Parameters
    ----------
    results : mapping of str to array-like of shape (n_trials,)
        Each method's result on every trial, trials in the same order.
    lower_is_better : bool, default=True
        Whether results are errors or scores.
    confidence : float, default=0.95
        Of the one-sided tests.
    exclude : iterable of str, default=()
        Methods that are summarised but not compared, as the paper's Oracle.

    Returns
    -------
    dict of str to Summary
        In the order of ``results``.

    Notes
    -----
    With a single trial no test is possible, and only equal results are comparable.

    Examples
    --------
    >>> table = compare({"A": [0.1, 0.2, 0.3], "B": [0.1, 0.2, 0.3], "C": [0.4, 0.5, 0.7]})
    >>> [name for name, summary in table.items() if summary.comparable]
    ['A', 'B']
    >>> print(table["A"], table["A"].wins, table["C"].wins)
    0.2000 ± 0.1000 3 0
    """
    check_confidence(confidence)
    check_flag("lower_is_better", lower_is_better)
    if not isinstance(results, Mapping) or not all(isinstance(name, str) for name in results):
        msg = f"results must map names of methods to their results, got {shown(results)}"
        raise InputError(msg)
    trials = {name: _trials(name, values) for name, values in results.items()}
    left_out = _names(exclude)
    compared = [name for name in trials if name not in left_out]
    _check_comparable(trials, left_out, compared)
    sign = 1.0 if lower_is_better else -1.0
    errors = {name: sign * trials[name] for name in compared}
    lowest = np.min(list(errors.values()), axis=0)
    means = {name: float(values.mean()) for name, values in errors.items()}
    winner = min(means, key=means.__getitem__)
    summaries = {}
    for name, values in trials.items():
        wins, best, comparable, test = 0, False, False, PairedTest(np.nan, np.nan)
        if name not in left_out:
            wins = int(np.count_nonzero(errors[name] <= lowest))
            test = PairedTest(1.0, 0.0) if name == winner else paired_test(errors[name], errors[winner])
            best = means[name] == means[winner]
            comparable = best or test.p_value >= 1 - confidence
        std = float(values.std(ddof=1)) if values.size > 1 else np.nan
        summaries[name] = Summary(float(values.mean()), std, wins, best, comparable, *test)
    return summaries


def _names(exclude: Iterable[str]) -> set[str]:
    listed = list(exclude) if isinstance(exclude, Iterable) and not isinstance(exclude, str) else [exclude]
    if not all(isinstance(name, str) for name in listed):
        msg = f"exclude must be names of methods, got {shown(exclude)}"
        raise InputError(msg)
    return set(listed)


def _trials(name: str, values: Sequence[float] | FloatArray) -> FloatArray:
    trials = as_numbers(f"the results of {name!r}", values)
    if trials.ndim != 1 or not trials.size or not np.isfinite(trials).all():
        msg = (
            f"the results of {name!r} must be one finite number per trial, but have shape {trials.shape} and "
            f"{int((~np.isfinite(trials)).sum())} that are unknown or infinite; leave out trials that failed"
        )
        raise InputError(msg)
    return trials


def _check_comparable(trials: Mapping[str, FloatArray], left_out: set[str], compared: list[str]) -> None:
    unknown = sorted(left_out - trials.keys())
    if unknown:
        msg = f"exclude names {unknown}, but results has {sorted(trials)}"
        raise InputError(msg)
    if not compared:
        msg = "results has no method to compare; give at least one that is not in exclude"
        raise InputError(msg)
    counts = {name: trials[name].size for name in compared}
    if len(set(counts.values())) > 1:
        msg = f"all methods need the same trials, but their numbers are {counts}"
        raise InputError(msg)
