"""Pages of the documentation, and the code blocks in them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]

PAGES = sorted(
    page
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if not {"_build", "gallery", "reference"} & set(page.relative_to(ROOT).parts)
)
"""What people read: the README and the sources of the site, without what a build leaves there."""


class Block(NamedTuple):
    """A code block.

    Attributes
    ----------
    language : str
    code : str
    line : int
        Of the page, that the code begins in.
    """

    language: str
    code: str
    line: int


def blocks(page: Path) -> list[Block]:
    """Give the code blocks of a page in order; directives in braces are none."""
    text = page.read_text(encoding="utf-8")
    fence = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", flags=re.DOTALL | re.MULTILINE)
    return [
        Block(found[2], found[3], text[: found.start(3)].count("\n") + 1)
        for found in fence.finditer(text)
        if not found[2].startswith("{")
    ]
