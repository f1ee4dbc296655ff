"""Locks, processes and memory, as the operating system has them."""

import os
import subprocess
import sys
from pathlib import Path

from cocomplete.operating_system import is_running, wait_for_lock

APPEND = """
import sys
from cocomplete.operating_system import wait_for_lock
for k in range(200):
    with open(sys.argv[1], "a+b") as file:
        wait_for_lock(file)
        file.seek(0)
        count = len(file.read().splitlines())
        file.seek(0, 2)
        file.write(b"%d\\n" % count)
        file.flush()
"""


def test_a_process_is_running_until_it_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_running(os.getpid())
    assert is_running(child.pid)
    child.communicate(b"\n")
    assert not is_running(child.pid)


def test_a_lock_lets_one_process_in_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    children = [subprocess.Popen([sys.executable, "-c", APPEND, str(file)]) for _ in range(2)]
    assert [child.wait() for child in children] == [0, 0]
    # Each line holds how many were there before it: two at a time would write one number twice.
    assert file.read_text().split() == [str(k) for k in range(400)]


def test_closing_a_file_lets_go_of_its_lock(tmp_path: Path) -> None:
    for _ in range(2):
        with (tmp_path / "file").open("a+b") as file:
            wait_for_lock(file)


def test_memory_is_counted_in_mebibytes() -> None:
    code = (
        "from cocomplete.operating_system import peak_memory\n"
        "held = b'x' * (200 * 2**20)\n"
        "del held\n"
        "print(peak_memory())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # Linux counts what the process was forked from too, so that there is no telling how much more it may be.
    assert 200 < float(done.stdout) < 20_000
