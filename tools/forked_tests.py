"""Runs pytest again and again, each time in a fork of a process that has imported all libraries already.

One line of JSON on standard input asks for a run: arguments of pytest, and the seconds of the processor that
it may use. One line answers: its exit code, and the seconds that it used. What was imported of the project
itself is forgotten before every fork, so that a run sees its files as they are then.
"""

import json
import os
import resource
import sys
from pathlib import Path

import pytest

OWN = ("cocomplete", "tests")
"""Packages that are read again in every run."""


def forget_own() -> None:
    """Drop the project's own modules."""
    for name in list(sys.modules):
        if name.split(".")[0] in OWN:
            del sys.modules[name]


def run(arguments: list[str], seconds: int | None) -> tuple[int, float]:
    """Run pytest in a fork and give its exit code, and the processor's time that it used.

    Without a limit the files are as they should be.
    """
    before = os.times().children_user
    child = os.fork()
    if not child:
        if seconds is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            # Bytecode of changed files must not outlive the change.
            sys.dont_write_bytecode = True
        try:
            code = int(pytest.main(arguments))
        except BaseException:  # whatever it is, the run has failed
            code = 1
        sys.stdout.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, os.times().children_user - before


def main() -> None:
    """Answer until there is no more to be asked."""
    # What tests print goes to standard error's place; answers have a stream of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    loaded: set[str] = set()
    for line in sys.stdin:
        asked = json.loads(line)
        files = {each for each in asked["arguments"] if Path(each).suffix == ".py"}
        if not files <= loaded:
            # Imports everything that the tests need, libraries among it, and leaves these.
            pytest.main(["--collect-only", "-q", *asked["arguments"]])
            loaded |= files
        forget_own()
        answers.write(json.dumps(run(asked["arguments"], asked["seconds"])) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
