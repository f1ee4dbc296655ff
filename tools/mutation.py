"""Changes the source in small ways and counts how many changes the tests notice: ``make mutation``.

cosmic-ray (https://cosmic-ray.readthedocs.io) makes the changes, each a mutant, in a copy of the checkout. Of
every module a seeded sample is tried, at most one mutant at a place: an operator has eleven, and most of
these are no more than a TypeError. A mutant is killed if one of its module's tests fails or takes much too
long.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SERVER = Path(__file__).resolve().with_name("forked_tests.py")
EQUIVALENT = Path(__file__).with_name("mutants_that_change_nothing.txt")
WANTED = 0.85
"""Share of mutants that have to be killed."""

TESTS = {
    "problem/block_certificate.py": ("units/test_block_certificate.py", "units/test_frozen.py"),
    "problem/cell_blocks.py": ("units/test_cells.py", "units/test_frozen.py"),
    "problem/cells.py": ("units/test_cells.py", "units/test_frozen.py"),
    "problem/certificate.py": ("units/test_certificate.py", "units/test_frozen.py"),
    "problem/content_keys.py": ("units/test_content_keys.py",),
    "problem/encoding.py": ("units/test_encoding.py", "units/test_frozen.py"),
    "problem/informative.py": ("laws/test_informative.py", "units/test_frozen.py"),
    "problem/objective.py": ("units/test_objective.py", "units/test_frozen.py"),
    "problem/observations.py": ("units/test_observations.py", "units/test_frozen.py"),
    "problem/scores.py": (
        "units/test_scales.py",
        "units/test_encoding.py",
        "laws/test_scores_tails.py",
        "units/test_frozen.py",
    ),
    "problem/sparse_encoding.py": ("units/test_sparse_encoding.py", "units/test_frozen.py"),
    "problem/sparse_objective.py": ("units/test_sparse_encoding.py", "units/test_frozen.py"),
    "problem/sparse_table.py": ("units/test_sparse_encoding.py", "units/test_frozen.py"),
    "problem/standardize.py": ("units/test_scales.py", "units/test_encoding.py", "units/test_frozen.py"),
    "table/kinds/category.py": (
        "units/test_kind_values.py",
        "units/test_column_kinds.py",
        "units/test_frozen.py",
    ),
    "table/kinds/count.py": (
        "units/test_kind_values.py",
        "units/test_column_kinds.py",
        "units/test_frozen.py",
    ),
    "table/kinds/date.py": (
        "units/test_kind_values.py",
        "units/test_column_kinds.py",
        "units/test_frozen.py",
    ),
    "table/kinds/kind.py": (
        "units/test_kind_values.py",
        "units/test_column_kinds.py",
        "units/test_frozen.py",
    ),
    "table/kinds/number.py": (
        "units/test_kind_values.py",
        "units/test_column_kinds.py",
        "units/test_frozen.py",
    ),
    "table/kinds/ordinal.py": (
        "units/test_kind_values.py",
        "units/test_column_kinds.py",
        "units/test_frozen.py",
    ),
    "table/kinds/tags.py": (
        "units/test_kind_values.py",
        "units/test_column_kinds.py",
        "units/test_frozen.py",
    ),
    "table/kinds/unix_time.py": (
        "units/test_kind_values.py",
        "units/test_column_kinds.py",
        "units/test_frozen.py",
    ),
    "table/kinds/yes_no.py": (
        "units/test_kind_values.py",
        "units/test_column_kinds.py",
        "units/test_frozen.py",
    ),
    "choosing/combine.py": ("units/test_weights.py", "laws/test_combine.py"),
    "estimator/thresholds.py": ("units/test_thresholds.py",),
}
"""Modules, and the few quick files of tests that ought to kill their mutants."""

OPTIONS = ("-x", "-q", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts=")
"""Of pytest: the first failure is enough, and the order stays the same."""


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    Attributes
    ----------
    place : str
        File and line.
    code : str
        The module's source with the change.
    before, after : str
        The lines that differ, one after the other, without indentation.
    """

    place: str
    code: str
    before: str
    after: str

    def shown(self) -> str:
        """Give place and difference."""
        return f"  {self.place}\n    - {self.before}\n    + {self.after}"


@dataclass
class Tally:
    """What became of one module's mutants."""

    killed: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    equivalent: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def tried(self) -> int:
        """How many mutants the tests were run with."""
        return self.killed + len(self.survivors)


def equivalents(text: str) -> set[tuple[str, str, str]]:
    """Read the mutants that change nothing: module, lines before, lines after; ``*`` stands for any after.

    Raises
    ------
    ValueError
        If a paragraph has no reason, or another form.
    """
    found = set()
    for paragraph in text.split("\n\n"):
        lines = [line.strip() for line in paragraph.splitlines() if line.strip() and line[0] != "#"]
        if not lines:
            continue
        if len(lines) < 4 or not lines[1].startswith("- ") or not lines[2].startswith("+ "):
            msg = f"{lines[0]!r} should be followed by lines '- before', '+ after' and a reason"
            raise ValueError(msg)
        found.add((lines[0], lines[1].removeprefix("- "), lines[2].removeprefix("+ ")))
    return found


def annotations(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Give beginnings and ends (line, column) of type annotations, which nothing reads when code runs."""
    lines = source.splitlines()

    def place(line: int, byte: int) -> tuple[int, int]:
        return line, len(lines[line - 1].encode()[:byte].decode())

    found = []
    for node in ast.walk(ast.parse(source)):
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(annotation, ast.expr):
                assert annotation.end_lineno is not None
                assert annotation.end_col_offset is not None
                start = place(annotation.lineno, annotation.col_offset)
                found.append((start, place(annotation.end_lineno, annotation.end_col_offset)))
    return found


def protocols(source: str) -> set[int]:
    """Give the lines of protocols: types that are described, of which nothing runs."""
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Protocol" for base in node.bases)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def difference(before: str, after: str) -> tuple[str, str]:
    """Give the lines that differ between two sources, before and after.

    The line above stands with them if they alone would not say where they are.
    """
    old, new = ([line.strip() for line in source.splitlines()] for source in (before, after))
    first, last = (_equal(*pair) for pair in ((old, new), (old[::-1], new[::-1])))
    if len(old) - last == first + 1 and old.count(old[first]) > 1:
        first -= 1
    return " ".join(old[first : len(old) - last]), " ".join(new[first : len(new) - last])


def _equal(one: list[str], other: list[str]) -> int:
    """Count the lines at the beginning that are equal."""
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def specifications(module: Path, session: Path) -> list[Any]:
    """Let cosmic-ray list all mutants of a module, in an order of their own."""
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import use_db

    with use_db(str(session)) as database:
        init([module], database, {})
        found = [mutation for item in database.work_items for mutation in item.mutations]
    return sorted(found, key=lambda one: (one.start_pos, one.end_pos, one.operator_name, one.occurrence))


def drawn(module: Path, session: Path, count: int | None, seed: int, tally: Tally) -> Iterator[Mutant]:
    """Draw mutants of a module, one at a place; all of them without a count."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    source, rng = module.read_text("utf-8"), random.Random(f"{seed} {module.as_posix()}")
    spans, described, lines = annotations(source), protocols(source), source.splitlines()
    places: dict[Any, list[Any]] = {}
    for one in specifications(module, session):
        if any(start <= one.start_pos and one.end_pos <= end for start, end in spans):
            tally.left_out["in a type annotation"] += 1
        else:
            places.setdefault((one.start_pos, one.end_pos), []).append(one)
    order = list(places.values())
    rng.shuffle(order)
    left = sum(map(len, order)) if count is None else count
    for at_place in order:
        for one in at_place if count is None else rng.sample(at_place, len(at_place)):
            if not left:
                return
            if one.start_pos[0] in described:
                tally.left_out["in a protocol, of which nothing runs"] += 1
                continue
            if lines[one.start_pos[0] - 1][one.start_pos[1] :].startswith("*,"):
                # No product, though cosmic-ray takes it for one.
                tally.left_out["of the mark of keyword-only arguments"] += 1
                continue
            code = mutate_code(source, get_operator(one.operator_name)(**one.operator_args), one.occurrence)
            if code is None or not _is_python(code):
                tally.left_out["no Python"] += 1
                continue
            left -= 1
            yield Mutant(f"{module}:{one.start_pos[0]}", code, *difference(source, code))
            if count is not None:
                break


def _is_python(code: str) -> bool:
    try:
        compile(code, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def copy_of_checkout(folder: Path) -> None:
    """Copy what the tests need; Numba's kernels stay compiled, as long as the times of their files do."""
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc", "node_modules"))
    shutil.copy2(ROOT / "pyproject.toml", folder)


class Tests:
    """The project's tests in the current folder, run by its interpreter (``tools/forked_tests.py``).

    Parameters
    ----------
    python : str
        The interpreter.
    """

    def __init__(self, python: str) -> None:
        self.server = subprocess.Popen(
            [python, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": "src"},
        )
        self.limits: dict[tuple[str, ...], int] = {}

    def pass_with(self, files: tuple[str, ...]) -> bool:
        """Whether tests pass; what takes much longer than it did without a mutant does not."""
        return self._run(files, self.limits[files])[0] == 0

    def prepare(self, files: tuple[str, ...]) -> None:
        """Run tests on the code as it is: they have to pass, and show how long they take.

        It is the processor's time that is limited. By the clock mutants would be killed because the machine
        has other work.
        """
        if files in self.limits:
            return
        used = 0.0
        # Once to compile what has not been compiled, then to see how long it takes.
        for _ in range(2):
            code, used = self._run(files, None)
            if code:
                sys.exit(f"{', '.join(files)}: pytest ends with {code} without any mutant")
        self.limits[files] = int(10 + 4 * used)

    def _run(self, files: tuple[str, ...], seconds: int | None) -> tuple[int, float]:
        asked = {"arguments": [*OPTIONS, *(f"tests/{file}" for file in files)], "seconds": seconds}
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps(asked) + "\n")
        self.server.stdin.flush()
        code, used = json.loads(self.server.stdout.readline())
        return code, used

    def end(self) -> None:
        """Let the server end."""
        self.server.communicate()


def tried(name: str, settings: argparse.Namespace, known: set[tuple[str, str, str]], tests: Tests) -> Tally:
    """Try the mutants of one module; the current folder is the copy."""
    module, tally = Path("src/cocomplete", name), Tally()
    source = module.read_text("utf-8")
    tests.prepare(TESTS[name])
    count = None if settings.all else settings.per_module
    for mutant in drawn(module, Path("session.sqlite"), count, settings.seed, tally):
        if {(name, mutant.before, mutant.after), (name, mutant.before, "*")} & known:
            tally.equivalent += 1
            continue
        module.write_text(mutant.code, "utf-8")
        if tests.pass_with(TESTS[name]):
            tally.survivors.append(mutant)
            say(mutant.shown())
        else:
            tally.killed += 1
        module.write_text(source, "utf-8")
    apart = f", {tally.equivalent} more change nothing" if tally.equivalent else ""
    say(f"{name}: {tally.killed} of {tally.tried} killed{apart}")
    return tally


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def conclude(tallies: list[Tally]) -> float:
    """Say what became of all, and give the share that was killed."""
    killed, all_tried = sum(one.killed for one in tallies), sum(one.tried for one in tallies)
    share = killed / max(all_tried, 1)
    say(f"together: {killed} of {all_tried} mutants killed, {share:.1%}; at least {WANTED:.0%} are asked for")
    say(f"not tried: {sum(one.equivalent for one in tallies)} that change nothing ({EQUIVALENT.name})")
    left_out = sum((one.left_out for one in tallies), Counter[str]())
    for reason, count in left_out.items():
        say(f"not counted: {count} {reason}")
    return share


def main() -> None:
    """Try mutants of every module, or of those that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="parts of modules' names; all if none is given")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs the tests")
    parser.add_argument("--per-module", type=int, default=10, help="mutants of each module (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws others (default: 0)")
    parser.add_argument("--all", action="store_true", help="every mutant, several at a place; hours")
    settings = parser.parse_args()
    # Not resolved: the interpreter of an environment is a link, and is known by where that is.
    settings.python = os.path.abspath(settings.python)
    names = [name for name in TESTS if any(part in name for part in settings.modules or [""])]
    known = equivalents(EQUIVALENT.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        copy_of_checkout(Path(folder))
        os.chdir(folder)
        tests = Tests(settings.python)
        share = conclude([tried(name, settings, known, tests) for name in names])
        tests.end()
        os.chdir(ROOT)
    sys.exit(share < WANTED)


if __name__ == "__main__":
    main()
