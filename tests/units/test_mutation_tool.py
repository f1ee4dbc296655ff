"""What ``make mutation`` goes by: its table of tests, and the mutants that are known to change nothing."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/cocomplete"
TOOL = runpy.run_path(str(ROOT / "tools/mutation.py"))


def test_every_module_has_tests_that_are_there() -> None:
    modules = {"choosing/combine.py", "estimator/thresholds.py"}
    for folder in ("problem", "table/kinds"):
        modules |= {f"{folder}/{file.name}" for file in SOURCE.joinpath(folder).glob("*.py")}
        modules.remove(f"{folder}/__init__.py")
    assert set(TOOL["TESTS"]) == modules
    for files in TOOL["TESTS"].values():
        assert files
        assert all((ROOT / "tests" / file).is_file() for file in files)


def test_mutants_that_change_nothing_are_of_lines_that_are_there() -> None:
    known = TOOL["equivalents"](TOOL["EQUIVALENT"].read_text(encoding="utf-8"))
    assert known
    for module, before, after in known:
        lines = " ".join(line.strip() for line in SOURCE.joinpath(module).read_text("utf-8").splitlines())
        assert lines.count(before) == 1, f"{module} has no line {before!r} any more, or several"
        assert before != after


def test_a_mutant_that_changes_nothing_needs_a_reason() -> None:
    read = TOOL["equivalents"]
    text = "# A remark.\n\na/b.py\n- one\n+ two\nbecause\n\nc.py\n- x\n+ *\nwhatever it is,\nit is the same\n"
    assert read(text) == {("a/b.py", "one", "two"), ("c.py", "x", "*")}
    for wrong in ("a.py\n- one\n+ two\n", "a.py\none\ntwo\nbecause"):
        with pytest.raises(ValueError, match=r"'a.py' should be followed by lines '- before', '\+ after'"):
            read(wrong)


def test_annotations_are_found_beside_letters_of_any_size() -> None:
    source = 'def f(λ: int = 1, *, b: "str | None" = None) -> int | None:\n    x: list[int] = [1]\n'
    lines = source.splitlines()
    found = [lines[start[0] - 1][start[1] : end[1]] for start, end in TOOL["annotations"](source)]
    assert sorted(found) == ['"str | None"', "int", "int | None", "list[int]"]


def test_protocols_are_found() -> None:
    assert TOOL["protocols"](
        "class A:\n    a = 1\n\nclass B(Protocol):\n    @property\n    def b(self): ...\n"
    ) == {4, 5, 6}


def test_a_difference_is_the_lines_that_differ() -> None:
    difference = TOOL["difference"]
    assert difference("a = 1\n  b = 2\nc\n", "a = 1\n  b = 3\nc\n") == ("b = 2", "b = 3")
    assert difference("x\n@y\nz\n", "x\n\nz\n") == ("@y", "")
    assert difference("a\n@y\nz\n", "a\nz\n") == ("@y", "")
    # Where there are several of a line, the one above it says which.
    assert difference("if a:\n  b\nelse:\n  b\n", "if a:\n  b\nelse:\n  c\n") == ("else: b", "else: c")
