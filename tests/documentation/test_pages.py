"""Every code block of the README and of the site's pages runs, in its page's order."""

import doctest
import shlex
import shutil
from pathlib import Path

import pytest

from tests.command_line.in_process import run
from tests.documentation.pages import PAGES, ROOT, blocks

pytestmark = pytest.mark.usual_folds

RUN = {"python", "sh"}
"""Languages that are run here; a block that is not to be run is ``text``, or has no language."""

WITH_CODE = [page for page in PAGES if any(block.language in RUN for block in blocks(page))]


def run_python(code: str, name: str, line: int, found: dict[str, object]) -> None:
    """Run a block, as a doctest if it has prompts."""
    if ">>> " not in code:
        exec(compile("\n" * (line - 1) + code, name, "exec"), found)
        return
    test = doctest.DocTestParser().get_doctest(code, found, name, name, line - 1)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failed = runner.run(test, out=said.append, clear_globs=False).failed
    found.update(test.globs)
    assert not failed, "".join(said)


def run_commands(code: str, folder: Path) -> None:
    """Run lines that call the command; anything else is not a page's to ask for."""
    for line in code.replace("\\\n", " ").splitlines():
        command, *arguments = shlex.split(line, comments=True)
        assert command == "cocomplete", line
        done = run(*arguments, folder=folder)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    found: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python":
            run_python(block.code, str(page.relative_to(ROOT)), block.line, found)
        elif block.language == "sh":
            run_commands(block.code, tmp_path)


def test_every_block_has_a_language_that_is_known() -> None:
    known = RUN | {"", "text", "toml", "yaml", "console"}
    for page in PAGES:
        for block in blocks(page):
            assert block.language in known, f"{page.name}, line {block.line}: {block.language}"
            assert block.language in RUN or ">>> " not in block.code, f"{page.name}, line {block.line}"
