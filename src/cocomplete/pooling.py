"""Rubin's rules: one estimate, standard error and interval from analyses of several completed tables."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import as_float, as_numbers, check_confidence, is_number, shown


@dataclass(frozen=True, eq=False)
class Pooled:
    """Analyses of m completed tables, combined; arrays have the shape of one estimate.

    A single estimate per table gives zero-dimensional values, which behave as floats.

    Attributes
    ----------
    estimate : ndarray of shape (p,) or float
        Mean of the estimates, Q̄.
    std_error : ndarray of shape (p,) or float
        Square root of the total variance T = Ū + (1 + 1/m) B.
    within : ndarray of shape (p,) or float
        Mean of the squared standard errors, Ū: the variance there would be without missing cells.
    between : ndarray of shape (p,) or float
        Sample variance of the estimates over tables, B.
    df : ndarray of shape (p,) or float
        Degrees of freedom of the t reference distribution; infinite where the estimates do not vary and
        ``complete_df`` was not given.
    low, high : ndarray of shape (p,) or float
        Ends of the t interval.
    fraction_missing : ndarray of shape (p,) or float
        Fraction of missing information: the share of what is to be known of the estimand that the missing
        cells take away, 0 to 1.
    confidence : float
        Nominal coverage of the interval.
    n_tables : int
        Number of completed tables, m.
    """

    estimate: FloatArray
    std_error: FloatArray
    within: FloatArray
    between: FloatArray
    df: FloatArray
    low: FloatArray
    high: FloatArray
    fraction_missing: FloatArray
    confidence: float
    n_tables: int

    def p_value(self, null: ArrayLike = 0.0) -> FloatArray:
        """Give the two-sided p-value of "the estimand is ``null``".

        Parameters
        ----------
        null : float or array-like of shape (p,), default=0.0
            Value under the null hypothesis.

        Returns
        -------
        ndarray of shape (p,) or float
            0 or 1 where the standard error is 0.
        """
        supposed = as_numbers("null", null)
        if supposed.shape not in ((), np.shape(self.estimate)) or np.isnan(supposed).any():
            msg = (
                "null must be one known number, or one for each estimate, of shape "
                f"{np.shape(self.estimate)}; got {shown(null)}"
            )
            raise InputError(msg)
        distance = np.abs(self.estimate - supposed)
        exact = self.std_error == 0
        with np.errstate(over="ignore"):
            ratio = distance / np.where(exact, 1.0, self.std_error)
        tail = 2 * stats.t.sf(ratio, np.where(self.df > 0, self.df, 1.0))
        tail = np.where(self.df > 0, tail, 1.0)
        return np.asarray(np.where(exact, (distance == 0).astype(np.float64), tail))[()]


def pool(
    estimates: ArrayLike,
    variances: ArrayLike,
    *,
    confidence: float = 0.95,
    complete_df: float | None = None,
) -> Pooled:
    """Combine the same analysis of several completed tables by Rubin's rules.

    Parameters
    ----------
    estimates : array-like of shape (m,) or (m, p)
        What the analysis estimated on each of the m completed tables: one number, or p of them.
    variances : array-like of the same shape
        Squared standard errors of the estimates, as the analysis of each completed table gave them.
    confidence : float, default=0.95
        Nominal coverage of the interval.
    complete_df : float, default=None
        Degrees of freedom that the analysis would have on a table without missing cells, such as
        n_samples - 1 for a mean. Given, the degrees of freedom are those of Barnard and Rubin, which never
        exceed it; None takes the table to be large and uses Rubin's.

    Returns
    -------
    Pooled
        Estimate, standard error, its parts, degrees of freedom, interval and fraction of missing information.

    Notes
    -----
    With Q_k the estimates and U_k their squared standard errors, Q̄ and Ū are means, B is the variance of Q_k
    with m - 1, and T = Ū + (1 + 1/m) B. Let λ = (1 + 1/m) B / T. Rubin (1987) has ν = (m - 1) / λ²; Barnard
    and Rubin (1999) combine it with ν_obs = (ν_com + 1) / (ν_com + 3) ν_com (1 - λ) to 1 / (1/ν + 1/ν_obs).
    The fraction of missing information is λ + (1 - λ) 2 / (ν + 3).

    The rules hold for estimates that are roughly normal: pool a log odds ratio rather than an odds ratio,
    and Fisher's z rather than a correlation.

    Examples
    --------
    The mean of a column, from five completed tables of 30 rows:

    >>> pooled = pool([2.1, 1.9, 2.4, 2.0, 2.2], [0.09, 0.10, 0.08, 0.09, 0.10], complete_df=29)
    >>> round(float(pooled.estimate), 3), round(float(pooled.std_error), 3)
    (2.12, 0.369)
    >>> round(float(pooled.low), 2), round(float(pooled.high), 2), round(float(pooled.df), 1)
    (1.32, 2.92, 12.3)
    >>> bool(pooled.p_value(0) < 0.001)
    True
    """
    Q, U = _tables("estimates", estimates), _tables("variances", variances)
    _check(Q, U, confidence, complete_df)
    df = None if complete_df is None else as_float(complete_df)
    with np.errstate(over="ignore", invalid="ignore"):
        pooled = _combined(Q, U, float(confidence), df)
    if not np.isfinite(pooled.std_error).all() or not np.isfinite(pooled.estimate).all():
        msg = "estimates and variances are so large that their variance is no number; use other units"
        raise InputError(msg)
    return pooled


def _combined(Q: FloatArray, U: FloatArray, confidence: float, complete_df: float | None) -> Pooled:
    """Apply the rules to estimates Q and their squared standard errors U."""
    m = len(Q)
    within, between = U.mean(axis=0), Q.var(axis=0, ddof=1)
    # Equal estimates differ from their mean by rounding, and rounding has no variance between tables.
    between = np.where(np.ptp(Q, axis=0) == 0, 0.0, between)
    total = within + (1 + 1 / m) * between
    missing = np.divide((1 + 1 / m) * between, total, out=np.zeros_like(total), where=total > 0)
    df = _degrees_of_freedom(m, missing, complete_df)
    estimate, std_error = Q.mean(axis=0), np.sqrt(total)
    margin = _margin(std_error, df, confidence)
    return Pooled(
        estimate=estimate,
        std_error=std_error,
        within=within,
        between=between[()],
        df=df,
        low=estimate - margin,
        high=estimate + margin,
        fraction_missing=missing + (1 - missing) * 2 / (df + 3),
        confidence=confidence,
        n_tables=m,
    )


def _degrees_of_freedom(m: int, missing: FloatArray, complete_df: float | None) -> FloatArray:
    """Give Rubin's degrees of freedom, or Barnard and Rubin's if those of the complete table are known."""
    with np.errstate(divide="ignore", over="ignore"):
        df = (m - 1) / missing**2
        if complete_df is not None and np.isfinite(complete_df):
            df = 1 / (1 / df + 1 / ((complete_df + 1) / (complete_df + 3) * complete_df * (1 - missing)))
    return np.asarray(df)[()]


def _margin(std_error: FloatArray, df: FloatArray, confidence: float) -> FloatArray:
    """Give half the length of the interval by Student's t."""
    # At λ = 1 a small table has no degrees of freedom left, and the interval has no ends.
    quantile = np.where(df > 0, stats.t.ppf((1 + confidence) / 2, np.where(df > 0, df, 1.0)), np.inf)
    return np.asarray(np.where(std_error > 0, quantile, 0.0) * std_error)[()]


def _tables(name: str, values: ArrayLike) -> FloatArray:
    array = as_numbers(name, values, "numbers of shape (m,) or (m, p)")
    if array.ndim not in {1, 2} or 0 in array.shape[1:]:
        msg = (
            f"{name} must have shape (m,) or (m, p) for m completed tables, but has shape {array.shape}; "
            "flatten what one table gives"
        )
        raise InputError(msg)
    if len(array) < 2:
        msg = f"{name} holds {len(array)} completed tables, but pooling needs at least 2; draw more of them"
        raise InputError(msg)
    bad = int(np.count_nonzero(~np.isfinite(array)))
    if bad:
        msg = (
            f"{name} has {bad} values that are NaN or infinite; leave out the estimands or completed tables "
            "whose analysis failed"
        )
        raise InputError(msg)
    return array


def _check(Q: FloatArray, U: FloatArray, confidence: float, complete_df: float | None) -> None:
    if Q.shape != U.shape:
        msg = (
            f"variances must have the shape of estimates, {Q.shape}, but has {U.shape}; "
            "give one squared standard error per estimate"
        )
        raise InputError(msg)
    if U.min() < 0:
        msg = f"variances must not be negative, but the smallest is {U.min():g}; give squared standard errors"
        raise InputError(msg)
    check_confidence(confidence)
    if complete_df is not None and not (is_number(complete_df) and as_float(complete_df) > 0):
        msg = (
            f"complete_df must be positive, got {shown(complete_df)}; give the degrees of freedom of the "
            "analysis of a table without missing cells, or None for a large table"
        )
        raise InputError(msg)
