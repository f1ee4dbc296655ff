"""Tables of means over trials, the paper's figures beside them, in Markdown, LaTeX and HTML."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan

from cocomplete.experiments.published import Published
from cocomplete.statistics import Summary, compare

NOTHING = "–"

LEAST_STD = 0.00005
"""A standard deviation printed as 0.0000 is taken for half of its last digit."""

FAR = 3
"""So many of the paper's standard deviations away, a figure is marked."""

MARK = "≠"


@dataclass(frozen=True)
class Cell:
    """One figure.

    Attributes
    ----------
    text : str
        Mean and standard deviation.
    bold : bool
        Whether it is the best, or comparable with it.
    paper : str
        What the paper prints, or nothing.
    differs : bool
        Whether the mean is more than three of the paper's standard deviations from what it prints.
    """

    text: str
    bold: bool = False
    paper: str = ""
    differs: bool = False


@dataclass(frozen=True)
class Table:
    """A caption, column heads, and rows that begin with text and go on with figures."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]

    def markdown(self) -> str:
        """Give the table as Markdown."""
        lines = [f"**{self.caption}**", "", _row(self.head), _row(["---"] * len(self.head))]
        return "\n".join(lines + [_row(map(_markdown, row)) for row in self.rows]) + "\n"

    def latex(self) -> str:
        """Give the table as LaTeX, which needs no package."""
        lines = [
            r"\begin{table}",
            rf"\caption{{{_latex_text(self.caption)}}}",
            rf"\begin{{tabular}}{{{'l' * len(self.head)}}}",
            r"\hline",
            " & ".join(map(_latex_text, self.head)) + r" \\",
            r"\hline",
            *(" & ".join(map(_latex, row)) + r" \\" for row in self.rows),
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """Give the table as an HTML element."""
        lines = ["<table>", f"<caption>{escape(self.caption)}</caption>"]
        lines += ["<thead><tr>" + "".join(f"<th>{escape(name)}</th>" for name in self.head) + "</tr></thead>"]
        rows = ("<tr>" + "".join(f"<td>{_html(cell)}</td>" for cell in row) + "</tr>" for row in self.rows)
        return "\n".join([*lines, "<tbody>", *rows, "</tbody>", "</table>"]) + "\n"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return cell
    text = f"**{cell.text}**" if cell.bold else cell.text
    paper = f" ({cell.paper})" if cell.paper else ""
    return text + paper + (f" {MARK}" if cell.differs else "")


def _latex_text(text: str) -> str:
    for plain, code in (
        ("%", r"\%"),
        ("±", r"$\pm$"),
        (NOTHING, "--"),
        ("ω", r"$\omega$"),
        ("λ2", r"$\lambda_2$"),
    ):
        text = text.replace(plain, code)
    return text


def _latex(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return _latex_text(cell)
    text = _latex_text(cell.text)
    if cell.bold:
        text = rf"\textbf{{{text}}}"
    paper = f" ({_latex_text(cell.paper)})" if cell.paper else ""
    return text + paper + (r" $\neq$" if cell.differs else "")


def _html(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return escape(cell)
    text = f"<strong>{escape(cell.text)}</strong>" if cell.bold else escape(cell.text)
    paper = f' <span class="paper">({escape(cell.paper)})</span>' if cell.paper else ""
    mark = f' <span class="differs" title="more than 3 of the paper\'s standard deviations">{MARK}</span>'
    return text + paper + (mark if cell.differs else "")


def differs(mean: float, printed: Published) -> bool:
    """Whether a mean is more than three of the paper's standard deviations from its figure."""
    return abs(mean - printed.mean) > FAR * max(printed.std, LEAST_STD)


@dataclass(frozen=True)
class Column:
    """Methods compared on the same trials, and those that could not be."""

    summaries: dict[str, Summary]
    trials: dict[str, int]

    @property
    def complete(self) -> int:
        """Number of trials of the methods that have most."""
        return max(self.trials.values(), default=0)

    def cell(self, method: str, printed: Published | None = None) -> Cell:
        """Show a method's mean ± std beside what the paper prints, marked if it has fewer trials."""
        paper = "" if printed is None else str(printed)
        summary = self.summaries.get(method)
        if summary is None:
            return Cell(NOTHING, paper=paper)
        text = figure(summary.mean, summary.std)
        if self.trials[method] < self.complete:
            text += f" [{self.trials[method]} of {self.complete} trials]"
        return Cell(text, summary.comparable, paper, printed is not None and differs(summary.mean, printed))


def summarize(results: Mapping[str, Mapping[int, float]], exclude: Iterable[str] = ()) -> Column:
    """Compare the methods that have all trials.

    Parameters
    ----------
    results : mapping of method to mapping of seed to figure
    exclude : iterable of str
        Methods that are summarised but not compared.
    """
    found = {name: figures for name, figures in results.items() if figures}
    every_seed = {seed for figures in found.values() for seed in figures}
    aside = {name for name in found if name in set(exclude) or set(found[name]) != every_seed}
    trials = {name: len(figures) for name, figures in found.items()}
    in_order = {name: [figures[seed] for seed in sorted(figures)] for name, figures in found.items()}
    if aside == set(found):
        # Nothing can be compared; each still has a mean.
        alone = {name: compare({name: values})[name] for name, values in in_order.items()}
        return Column({name: one._replace(comparable=False) for name, one in alone.items()}, trials)
    return Column(compare(in_order, exclude=aside), trials)


def figure(mean: float, std: float) -> str:
    """Show mean ± std with four decimals, and small means with two digits."""
    if 0 < abs(mean) < 0.001:
        return f"{mean:.1e}" if isnan(std) else f"{mean:.1e} ± {std:.0e}"
    return f"{mean:.4f}" if isnan(std) else f"{mean:.4f} ± {std:.4f}"


def write_all(tables: Sequence[Table], title: str) -> dict[str, str]:
    """Give the content of one file per format: ``md``, ``tex`` and ``html``."""
    body = "\n".join(table.html() for table in tables)
    page = (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        "<style>body{font:15px/1.5 system-ui,sans-serif;margin:2rem}"
        "table{border-collapse:collapse;margin:0 0 2.5rem;font-variant-numeric:tabular-nums}"
        "caption{text-align:left;font-weight:600;margin-bottom:.5rem}"
        "th,td{text-align:left;padding:.3rem .9rem .3rem 0;border-bottom:1px solid #ddd;white-space:nowrap}"
        "th{border-bottom:2px solid #444}.paper{color:#666}.differs{color:#b00020}"
        "main{overflow-x:auto}</style></head>\n"
        f"<body><h1>{escape(title)}</h1><main>\n{body}</main></body></html>\n"
    )
    return {
        "md": f"# {title}\n\n" + "\n".join(table.markdown() for table in tables),
        "tex": "\n".join(table.latex() for table in tables),
        "html": page,
    }
