"""Builds wheel and sdist twice, compares the bytes, runs the demo from each: ``make release-check``.

It works on what is committed, in folders of its own, and leaves the packages in ``dist/``.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
BIN, EXE = ("Scripts", ".exe") if sys.platform == "win32" else ("bin", "")


def run(*command: object, folder: Path | None = None, **variables: str) -> str:
    """Run a command and give what it prints; end with its errors if it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def check_version() -> str:
    """Give the version, which project, changelog and citation have to agree on."""
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    changelog, citation = ((ROOT / name).read_text("utf-8") for name in ("CHANGELOG.md", "CITATION.cff"))
    if f"\n## {version}" not in changelog:
        sys.exit(f"CHANGELOG.md has no section for {version}")
    if not re.search(rf"^version: {re.escape(version)}$", citation, flags=re.MULTILINE):
        sys.exit(f"CITATION.cff is not about {version}")
    return version


def environment(folder: Path) -> Path:
    """Make an empty environment and give its Python."""
    venv.create(folder, with_pip=True)
    return folder / BIN / f"python{EXE}"


def committed(target: Path) -> str:
    """Unpack what is committed, and give the time of that commit."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        tar.extractall(target, filter="data")
    return run("git", "log", "-1", "--format=%ct", folder=ROOT).strip()


def built(python: Path, folder: Path) -> dict[str, Path]:
    """Build both packages from a copy of its own; give them by name."""
    source, target = folder / "source", folder / "packages"
    epoch = committed(source)
    run(python, "-m", "hatchling", "build", "-d", target, folder=source, SOURCE_DATE_EPOCH=epoch)
    return {file.name: file for file in sorted(target.iterdir())}


def try_out(package: Path, folder: Path, version: str) -> None:
    """Install a package in an empty environment and run the demo there."""
    python = environment(folder / "environment")
    run(python, "-m", "pip", "--quiet", "install", package)
    command = python.with_name(f"cocomplete{EXE}")
    found = run(command, "--version", folder=folder).strip()
    if version not in found:
        sys.exit(f"{package.name} says that it is {found!r}, not {version}")
    printed = run(command, "demo", "--output", folder / "demo", folder=folder)
    say(printed.rstrip())
    for name in ("completed.csv", "incomplete.csv", "truth.csv", "report.html"):
        if not (folder / "demo" / name).stat().st_size:
            sys.exit(f"the demo of {package.name} left an empty {name}")


def main() -> None:
    """Check the version, build twice, compare, try each package."""
    version = check_version()
    if run("git", "status", "--porcelain", folder=ROOT).strip():
        say("note: there are changes that are not committed; the packages are made without them")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        builder = environment(scratch / "builder")
        run(builder, "-m", "pip", "--quiet", "install", "hatchling>=1.24")
        first, second = (built(builder, scratch / part) for part in ("first", "second"))
        for file in first:
            digests = [hashlib.sha256(each[file].read_bytes()).hexdigest() for each in (first, second)]
            if digests[0] != digests[1]:
                sys.exit(f"{file} differs between two builds")
            say(f"{file}: built twice with equal bytes, sha256 {digests[0]}")
        for k, package in enumerate(first.values()):
            say(f"{package.name} in an empty environment:")
            (scratch / f"trial-{k}").mkdir()
            try_out(package, scratch / f"trial-{k}", version)
        (ROOT / "dist").mkdir(exist_ok=True)
        for package in first.values():
            shutil.copy(package, ROOT / "dist")
    say(f"{version} is ready: {', '.join(first)} in dist/")


if __name__ == "__main__":
    main()
