"""How much memory a process may still take, where the operating system says so."""

from pathlib import Path

KIB = 1024


def available_memory(root: Path = Path("/")) -> int | None:
    """Give the bytes that can be taken without swapping, or without exceeding a limit of a control group.

    Parameters
    ----------
    root : Path
        Where ``proc`` and ``sys`` are.

    Returns
    -------
    int or None
        None where nothing is known: outside of Linux.
    """
    found = [_of_machine(root / "proc" / "meminfo"), *_of_groups(root)]
    known = [each for each in found if each is not None]
    return max(min(known), 0) if known else None


def _of_machine(file: Path) -> int | None:
    for line in _text(file).splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return KIB * int(rest.split()[0])
    return None


def _of_groups(root: Path) -> list[int | None]:
    """Give what the limits of the control groups leave that this process is in, of both versions."""
    found: list[int | None] = []
    mounted = root / "sys" / "fs" / "cgroup"
    for line in _text(root / "proc" / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            base, names = mounted, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            base = mounted / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        # A group has its own limit and those of all above it; in a container its path may lead nowhere.
        place = Path(path.lstrip("/"))
        found += [_left(base / each, *names) for each in (place, *place.parents)]
    return found


def _left(group: Path, limit: str, usage: str, inactive: str) -> int | None:
    """Give what a group's limit leaves; pages of files that nobody looks at are given back when asked for."""
    most, used = _text(group / limit).strip(), _text(group / usage).strip()
    if not (most.isdigit() and used.isdigit()):
        return None
    files = 0
    for line in _text(group / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name == inactive:
            files = int(value)
    return int(most) - int(used) + files


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
