"""Draws ``architecture.svg`` from the import rules: ``python docs/draw_architecture.py``."""

import re
import tomllib
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

HERE = Path(__file__).parent

WORDS = {
    "cli": "one file per command",
    "experiments": "the paper; pictures; tables on disk and on a cluster",
    "baselines": "methods to compare with",
    "estimator": "CoCompleter: parameters, validation, results",
    "report": "numbers in words, and the page",
    "choosing": "held-out cells, and the weights of members",
    "fitted": "the model that answers",
    "members": "ensemble members; Rubin's rules; recorded shares",
    "solvers": "how F is minimised, and averaged",
    "problem": "what is solved: objective, certificate",
    "spectral": "SVDs; the user's columns; compiled passes",
    "engines": "where passes over row blocks run",
    "atomic": "ground floor",
    "exceptions": "ground floor",
    "arrays": "ground floor",
}
"""What a layer is for, by its first name."""

WIDTH, HEIGHT, GAP, SIDE = 760, 40, 8, 160
"""Of a layer and between layers, and of a side room."""


def contracts() -> list[dict[str, Any]]:
    """Read the import rules."""
    found: list[dict[str, Any]] = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
    return found


def layers() -> list[str]:
    """Give the layers of the whole package as the rules write them, from the top."""
    return next(one["layers"] for one in contracts() if one.get("containers") == ["cocomplete"])


def side_rooms() -> list[str]:
    """Give what may not import the layers above the ground floor."""
    rooms = {
        module.removeprefix("cocomplete.")
        for one in contracts()
        if one["type"] == "forbidden" and "cocomplete.estimator" in one["forbidden_modules"]
        for module in one["source_modules"]
    }
    return sorted(rooms)


def modules(layer: str) -> list[str]:
    """Give the names in a layer."""
    return re.split(r" *[|:] *", layer)


def _box(x: int, y: int, width: int, names: str, words: str, kind: str) -> str:
    middle = y + HEIGHT // 2 + 4
    label = escape(names.replace(" : ", ", ").replace(" | ", "  |  "))
    return (
        f'<g data-{kind}="{escape(names)}">'
        f'<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="5"/>'
        f'<text class="name" x="{x + 12}" y="{middle}">{label}</text>'
        f'<text class="words" x="{x + width - 12}" y="{middle}">{escape(words)}</text></g>'
    )


def picture() -> str:
    """Draw layers from top to bottom, and side rooms beside them."""
    rows = layers()
    high = len(rows) * (HEIGHT + GAP) + GAP
    boxes = []
    for k, layer in enumerate(rows):
        words = WORDS.get(modules(layer)[0], "")
        boxes.append(_box(GAP, GAP + k * (HEIGHT + GAP), WIDTH, layer, words, "layer"))
    rooms = side_rooms()
    left, step = WIDTH + 4 * GAP, HEIGHT + GAP
    first = (len(rows) - len(rooms)) // 2
    boxes.append(f'<text class="name" x="{left}" y="{GAP + first * step - 12}">Side rooms</text>')
    boxes += [
        _box(left, GAP + (first + k) * step, SIDE, room, "", "side-room") for k, room in enumerate(rooms)
    ]
    width = left + SIDE + GAP
    style = (
        "rect{fill:#eef2f7;stroke:#8a9bb0}[data-side-room] rect{fill:#f7f1e6;stroke:#b39b6b}"
        "text{font:13px ui-sans-serif,system-ui,sans-serif;fill:#1d2733}"
        ".name{font-weight:600}.words{text-anchor:end;fill:#4b5a6b}"
    )
    size = f'viewBox="0 0 {width} {high}" width="{width}" height="{high}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n'
        f"<style>{style}</style>\n"
        f'<rect x="0" y="0" width="{width}" height="{high}" style="fill:#fff;stroke:none"/>\n'
        + "\n".join(boxes)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    (HERE / "architecture.svg").write_text(picture(), encoding="utf-8", newline="\n")
