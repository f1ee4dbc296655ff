"""Figures that are kept commit by commit: what counts as a loss, and the picture."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from remembered import Figure, draw, drawn, last_of_another, main, read, worse


def history() -> list[Figure]:
    values = {"aaa": 2.0, "bbb": 1.0, "ccc": 1.3}
    return [Figure("cost", "ratio", value, commit, "2026-01-01") for commit, value in values.items()]


@pytest.mark.parametrize(("sort", "allowed", "lost"), [("ratio", 1.19, 1.21), ("error", 1.009, 1.011)])
def test_a_loss_is_a_rise_beyond_what_its_sort_allows(sort: str, allowed: float, lost: float) -> None:
    assert not worse(allowed, 1.0, sort)
    assert worse(lost, 1.0, sort)
    assert not worse(0.5, 1.0, sort)


def test_a_figure_is_compared_with_that_of_the_last_other_commit() -> None:
    assert last_of_another(history(), "cost", "ddd") == 1.3
    assert last_of_another(history(), "cost", "ccc") == 1.0
    assert last_of_another(history(), "another", "ddd") is None


def test_losses_are_printed_in_red_and_every_figure_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text("".join(json.dumps(asdict(one)) + "\n" for one in history()))
    monkeypatch.setattr("remembered.commit", lambda: ("ddd", "2026-01-02"))
    monkeypatch.setattr("remembered.GROUPS", {"costs": lambda: iter([("cost", "ratio", 1.7)])})
    monkeypatch.setattr("sys.argv", ["remembered", "--history", str(path)])
    with pytest.raises(SystemExit, match=r"1 figure\(s\) are worse"):
        main()
    assert "\033[31mcost" in capsys.readouterr().out
    assert [one.value for one in read(path)] == [2.0, 1.0, 1.3, 1.7]
    assert b"<svg" in path.with_suffix(".svg").read_bytes()


def test_the_same_history_is_the_same_picture(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        draw(history(), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_tables_are_the_same_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COCOMPLETE_DATA", raising=False)
    for one, other in zip(drawn().values(), drawn().values(), strict=True):
        for first, second in zip(one, other, strict=True):
            np.testing.assert_array_equal(first, second)
