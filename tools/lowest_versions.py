"""Prints the lowest versions that pyproject.toml allows of run-time dependencies, as constraints of pip."""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def lowest_versions(requirements: list[str]) -> list[str]:
    """Turn ``name>=version`` into ``name==version``.

    Raises
    ------
    ValueError
        If a requirement states no lowest version.
    """
    found = []
    for requirement in requirements:
        match = re.fullmatch(r"([\w.-]+)>=([\w.]+)(?:,.*)?", requirement.split(";")[0].replace(" ", ""))
        if match is None:
            msg = f"{requirement!r} states no lowest version; write name>=version"
            raise ValueError(msg)
        found.append(f"{match[1]}=={match[2]}")
    return found


if __name__ == "__main__":
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    sys.stdout.write("\n".join(lowest_versions(project["dependencies"])) + "\n")
