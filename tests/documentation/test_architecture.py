"""The picture of the architecture against the import rules, and both against what there is."""

import re
import runpy
import tomllib
from html import unescape

from tests.documentation.pages import ROOT

PICTURE = (ROOT / "docs/architecture.svg").read_text(encoding="utf-8")
RULES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
    "contracts"
]
LAYERS = next(rule["layers"] for rule in RULES if rule.get("containers") == ["cocomplete"])


def shown(kind: str) -> list[str]:
    return [unescape(name) for name in re.findall(rf'<g data-{kind}="([^"]+)">', PICTURE)]


def test_the_picture_shows_the_layers_that_are_enforced_in_their_order() -> None:
    assert shown("layer") == LAYERS


def test_every_layer_says_what_it_is_for() -> None:
    said = re.findall(r'data-layer="[^"]+">.*?class="words"[^>]*>([^<]*)<', PICTURE)
    assert len(said) == len(LAYERS)
    assert all(said)


def test_every_module_is_in_the_picture_once() -> None:
    drawn = [name for layer in shown("layer") for name in re.split(r" *[|:] *", layer)] + shown("side-room")
    there = {
        path.stem
        for path in (ROOT / "src/cocomplete").iterdir()
        if path.name != "__init__.py" and (path.suffix == ".py" or (path / "__init__.py").exists())
    }
    assert len(drawn) == len(set(drawn))
    assert set(drawn) == there


def test_the_picture_is_what_its_script_draws() -> None:
    assert runpy.run_path(str(ROOT / "docs/draw_architecture.py"))["picture"]() == PICTURE
