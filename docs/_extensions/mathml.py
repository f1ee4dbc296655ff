"""Formulas as MathML, which browsers draw by themselves: no script, and nothing fetched from elsewhere."""

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def display(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    writer.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer as ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
