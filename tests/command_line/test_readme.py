"""The README's second screen, run as it stands."""

import re
import shlex
from pathlib import Path

import pytest

from tests.command_line.in_process import run

pytestmark = pytest.mark.usual_folds

ROOT = Path(__file__).parents[2]


def blocks() -> list[str]:
    """Give the code blocks of the README's part on a table as people have them."""
    text = (ROOT / "README.md").read_text()
    part = text.split("## A table as people have them")[1].split("\n## ")[0]
    return [match.strip("\n") for match in re.findall(r"```\w*\n(.*?)```", part, flags=re.DOTALL)]


def test_the_command_on_an_ugly_table_gives_what_is_printed(tmp_path: Path) -> None:
    before, command, after, _ = blocks()
    words = shlex.split(command)
    assert words[0] == "cocomplete"
    done = run(*words[1:-1], tmp_path / words[-1], folder=ROOT)
    assert done.returncode == 0, done.stderr
    source = (ROOT / "examples/patients.csv").read_text(encoding="cp1252").splitlines()
    result = (tmp_path / words[-1]).read_text(encoding="cp1252").splitlines()
    assert before.splitlines() == source[1:5]
    assert after.splitlines() == result[1:5]
    assert "column 'Nr' is set aside" in done.stderr
    assert "held-out cells" in done.stderr
    # Observed cells come back letter for letter.
    unknown = {"", "n/a", "-", "?", "unknown"}
    for old, new in zip(source[2:], result[2:], strict=True):
        for one, other in zip(old.split(";"), new.split(";"), strict=True):
            assert one == other if one not in unknown else other not in unknown


def test_the_same_in_python(monkeypatch: object) -> None:
    import os

    code = blocks()[3]
    found: dict[str, object] = {}
    here = Path.cwd()
    os.chdir(ROOT)
    try:
        exec(code, found)
    finally:
        os.chdir(here)
    done = found["done"]
    assert done.X.null_count().sum_horizontal().item() == 0  # type: ignore[attr-defined]
    assert done.X.schema == found["X"].schema  # type: ignore[attr-defined]
