"""The plain sentences of a report, made from its numbers alone."""

from collections.abc import Sequence

from cocomplete.report.record import (
    CertificateReport,
    Distribution,
    Factor,
    HeldOutCells,
    HeldOutLabel,
    Judged,
    MemberWeights,
    TippingPoint,
)
from cocomplete.report.texts import amount_text, number_text, share_text

OFF_BY = "off by, in standard deviations"
LOG_LOSS = "log-loss"


def counted(n: int, one: str, many: str | None = None) -> str:
    """Write a number with what is counted: 1 row, 2 rows."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def verdict_sentence(judged: Sequence[Judged]) -> str:
    """Say how wrong held-out cells were beside the trivial answer, part by part."""
    shown = [one for one in judged if one.measure != LOG_LOSS]
    if not shown:
        return "Nothing could be held out to judge by, so this report cannot say how wrong the fills are."
    return " ".join(_judged_sentence(one) for one in shown)


def _judged_sentence(one: Judged) -> str:
    unit = one.measure == OFF_BY
    error, trivial = (
        (f"off by {amount_text(one.error)} standard deviations", amount_text(one.trivial))
        if unit
        else (f"wrong in {share_text(one.error)}", share_text(one.trivial))
    )
    verdict = {
        "better": "better than the trivial answer",
        "level": "no better than the trivial answer, which is as good",
        "worse": "worse than the trivial answer: use that instead",
    }[one.compared]
    cells = counted(one.cells, "held-out cell was", "held-out cells were")
    part = one.part[0].upper() + one.part[1:]
    return f"{part}: {cells} {error} ({one.trivial_name}: {trivial}), {verdict}."


def caveat_sentence(source: str, sampled: int, rows: int, *, weighted: bool, only_ones: bool = False) -> str:
    """Say what is to be known of the cells that were held out.

    Parameters
    ----------
    source : {"fit", "sample", "none"}
    sampled, rows : int
        Rows of a refit, and of the table.
    weighted : bool
        Whether members were weighted on the cells, or penalties chosen.
    only_ones : bool, default=False
        Whether only ones are ever recorded.
    """
    return _caveat(source, sampled, rows, weighted=weighted) + (
        " Labels cannot be judged where only ones are recorded: a missing one may be either."
        if only_ones
        else ""
    )


def _caveat(source: str, sampled: int, rows: int, *, weighted: bool) -> str:
    if source == "none":
        return "No cells were held out."
    if source == "fit":
        what = "Weights of the ensemble's members, and calibration," if weighted else "The penalties"
        return f"{what} were chosen on the same cells, so that other cells may be a little more wrong."
    if sampled == rows:
        return "The fit held out nothing, so the report held out cells and fitted once without them."
    return (
        f"The fit held out nothing, so the report held out cells of a sample of {sampled} of the {rows} rows "
        "and fitted it once without them, given penalties scaled to fewer rows: a fit to all rows may be a "
        "little less wrong."
    )


def given_sentence(rows: int, features: int, labels: int, missing: int, cells: int) -> str:
    """Say how large the table is and how much of it is missing."""
    share = missing / cells if cells else 0.0
    return (
        f"The table has {counted(rows, 'row')}, {counted(features, 'feature')} and "
        f"{counted(labels, 'column of labels', 'columns of labels')}; {missing} of its {cells} cells "
        f"({share_text(share)}) {'is' if missing == 1 else 'are'} missing."
    )


def holes_sentence(patterns: int, commonest: float, sampled: int, rows: int) -> str:
    """Say in how many patterns cells are missing."""
    which = f"the {rows} rows" if sampled == rows else f"{sampled} of the {rows} rows, evenly spread,"
    if patterns == 1:
        return f"In {which} cells are missing in one pattern alone."
    if patterns == sampled:
        return f"In {which} cells are missing in as many patterns: no two rows have the same holes."
    return (
        f"In {which} cells are missing in {patterns} different patterns; the commonest is that of "
        f"{share_text(commonest)} of them."
    )


def together_sentence(count: int) -> str:
    """Say how many pairs of columns are never observed together."""
    if not count:
        return "Every two columns with observed cells are observed together in some row."
    pairs = counted(count, "pair of columns is", "pairs of columns are")
    return (
        f"{pairs} never observed together in any row: how such two depend on each other follows from other "
        "columns alone."
    )


def column_sentence(
    name: str,
    observed: int,
    filled: int,
    distribution: Distribution,
    held: HeldOutCells | None,
    new: HeldOutCells | None,
) -> str:
    """Say how much of a column was filled and how wrong its held-out cells were."""
    if not observed:
        return f"{name}: nothing is observed, so nothing can be said of its {counted(filled, 'cell')}."
    begin = (
        f"{name}: {filled} of {counted(observed + filled, 'cell')} {'was' if filled == 1 else 'were'} filled"
    )
    pieces = [begin]
    if held is None:
        pieces.append("none was held out to judge by")
    else:
        pieces.append(_cells_clause(held, ""))
    if new is not None:
        pieces.append(_cells_clause(new, " of new rows"))
    return "; ".join(pieces) + "."


def _cells_clause(held: HeldOutCells, where: str) -> str:
    if held.measure == OFF_BY:
        error = (
            f"off by {amount_text(held.error)} standard deviations (column mean: {amount_text(held.trivial)})"
        )
    else:
        error = f"wrong in {share_text(held.error)} (commonest value: {share_text(held.trivial)})"
    inside = "" if held.inside is None else f", {share_text(held.inside)} inside their 90 % interval"
    level = {"better": "", "level": ", no better than that", "worse": ", worse than that"}[held.compared]
    cells = counted(held.cells, "held-out cell")
    return f"{cells}{where} {'was' if held.cells == 1 else 'were'} {error}{level}{inside}"


def label_sentence(
    name: str,
    counts: tuple[int, int, int],
    rates: tuple[float | None, float],
    held: HeldOutLabel | None,
    new: HeldOutLabel | None,
) -> str:
    """Say how often a label is 1, before and after, and how wrong held-out cells were.

    Parameters
    ----------
    name : str
    counts : tuple of int
        Ones, zeros and unknown cells.
    rates : tuple of float
        Of ones, before and after.
    held, new : HeldOutLabel or None
    """
    ones, zeros, unknown = counts
    before = "unknown" if rates[0] is None else share_text(rates[0])
    pieces = [
        f"{name}: {ones} yes, {zeros} no, {unknown} unknown; the rate of yes is {before} among known cells "
        f"and {share_text(rates[1])} after completion"
    ]
    for one, where in ((held, ""), (new, " in rows without any known label")):
        if one is not None:
            precision = (
                ""
                if one.average_precision is None or one.trivial_average_precision is None
                else f", average precision {one.average_precision:.2f} (by chance "
                f"{one.trivial_average_precision:.2f})"
            )
            level = {
                "better": "",
                "level": ", no better than rates alone",
                "worse": ", worse than rates alone",
            }
            cells = f"{counted(one.cells, 'held-out cell')}{where} {'was' if one.cells == 1 else 'were'}"
            wrong = f"{share_text(one.wrong)} (commoner value: {share_text(one.trivial_wrong)})"
            pieces.append(f"{cells} wrong in {wrong}{precision}{level[one.compared]}")
    return "; ".join(pieces) + "."


def found_sentence(rank: int, member: str | None, factors: Sequence[Factor]) -> str:
    """Say how many factors there are and what the first one consists of."""
    if member is None or not rank:
        return "No member of the model has factors: every column is filled by itself."
    text = f"{counted(rank, 'factor')} {'links' if rank == 1 else 'link'} the columns"
    if not factors or not factors[0].loadings:
        return text + "."
    names = ", ".join(one.name for one in factors[0].loadings[:3])
    return f"{text}; the first has {share_text(factors[0].share)} of their strength, most of all in {names}."


def done_sentence(
    members: Sequence[MemberWeights], certificate: CertificateReport | None, seconds: float | None
) -> str:
    """Say what filled the holes."""
    if len(members) == 1:
        text = f"The holes were filled by one model, {members[0].name}"
    else:
        text = (
            f"The holes were filled by an ensemble of {len(members)} members, each with the weight that "
            "held-out cells gave it"
        )
    if certificate is not None:
        gap = certificate.duality_gap
        text += "; there is a minimiser of F" + (
            " without a certificate" if gap is None else f" certified to a relative gap of {gap:.2g}"
        )
    if seconds is not None:
        text += f"; the fit took {number_text(seconds, 3)} s"
    return text + "."


def limits_sentence(tipping: Sequence[TippingPoint]) -> str:
    """Say what the fills may not be used for, and which column is the most fragile."""
    begin = (
        "Fills are what the observed cells suggest: where a value is missing because of what it is, they are "
        "biased, and no cell of the table can show it."
    )
    if not tipping:
        return begin
    one = tipping[0]
    return (
        f"{begin} Most fragile is the {one.part} of {one.name}: it changes by more than its standard error "
        f"if the filled values are off by {amount_text(one.delta)} standard deviations."
    )


def filled_sentence(total: int, least_certain: int, sampled: int) -> str:
    """Say how many cells were filled and which of them are shown."""
    cells = counted(total, "cell was", "cells were")
    if least_certain + sampled == total:
        return (
            f"{cells} filled; the table shows {'it' if total == 1 else 'all of them'}."
            if total
            else ("No cell was filled: the table has no holes.")
        )
    return (
        f"{cells} filled; the table shows the {least_certain} least certain of the rows that were looked at "
        f"and a sample of {sampled} others."
    )
