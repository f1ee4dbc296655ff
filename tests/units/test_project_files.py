"""Project files that must not drift apart, and imports that must not be made."""

import ast
import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SOURCES = sorted((ROOT / "src").rglob("*.py"))

FOR_FILES = {
    "polars": ("formats", "datasets", "cli"),
    "arff": ("formats",),
    "typer": ("cli",),
    "rich": ("cli",),
    "matplotlib": ("plot", "experiments"),
}
"""Libraries that only some folders may import: what computes needs none of them."""


def imports(file: Path) -> list[str]:
    """Give what a file imports, with the names that it takes from there."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT / "src")))
def test_nothing_private_of_a_library_is_imported(file: Path) -> None:
    for name in imports(file):
        first, *others = name.split(".")
        own = first in ("cocomplete", "__future__")
        private = [part for part in others if part.startswith("_") and not part.endswith("__")]
        assert own or not private, name


@pytest.mark.parametrize("library", FOR_FILES)
def test_libraries_for_files_and_screens_stay_where_they_are_needed(library: str) -> None:
    homes = {
        file.relative_to(ROOT / "src/cocomplete").parts[0]
        for file in SOURCES
        if any(name.split(".")[0] == library for name in imports(file))
    }
    assert homes
    assert homes <= set(FOR_FILES[library])


def test_version_is_the_same_everywhere() -> None:
    version = PROJECT["version"]
    assert f"\n## {version}" in read("CHANGELOG.md")
    assert f"\nversion: {version}\n" in read("CITATION.cff")
    assert f"cocomplete-{version}-py3-none-any.whl" in read("README.md")
    assert f"cocomplete-{version}-py3-none-any.whl" in read("docs/start.md")


def test_python_versions_are_the_same_everywhere() -> None:
    claimed = [
        found[1]
        for line in PROJECT["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    ]
    assert PROJECT["requires-python"] == f">={claimed[0]}"
    assert ", ".join(claimed) in read("docs/versions.md")
    quoted = ", ".join(f'"{one}"' for one in claimed)
    assert f"python: [{quoted}]" in read(".github/workflows/tests.yml")


def test_the_lock_file_has_every_dependency_and_no_address() -> None:
    lock = read("requirements-dev.txt")
    assert "://" not in lock
    locked = dict(re.findall(r"^([\w.-]+)==([\w.]+)", lock, flags=re.MULTILINE))
    extras = PROJECT["optional-dependencies"]
    for requirement in (*PROJECT["dependencies"], *extras["test"], *extras["dev"], *extras["docs"]):
        name = re.match(r"[\w.-]+", requirement)[0].lower()
        assert name == "cocomplete" or name in locked, f"{name} is not locked; run make lock"
    assert lock.count("--hash=sha256:") > len(locked)


def test_lowest_versions_are_stated() -> None:
    lowest = runpy.run_path(str(ROOT / "tools/lowest_versions.py"))["lowest_versions"]
    assert len(lowest(PROJECT["dependencies"])) == len(PROJECT["dependencies"])
    assert lowest(["a-b>=1.2,<3"]) == ["a-b==1.2"]
    with pytest.raises(ValueError, match="states no lowest version"):
        lowest(["numpy"])
