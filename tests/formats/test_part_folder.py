"""Folders of blocks: whole or not at all."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import cocomplete
from cocomplete.completion import Completion
from cocomplete.exceptions import InputError
from cocomplete.formats import write_blocks

BLOCKS = [pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), pl.DataFrame({"a": [3.0], "b": ["z"]})]


@pytest.fixture
def every_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every block a file of its own."""
    monkeypatch.setattr("cocomplete.formats.part_folder.PART_BYTES", 1)


@pytest.mark.usefixtures("every_block")
def test_blocks_become_parts_in_their_order(tmp_path: Path) -> None:
    many = [pl.DataFrame({"a": [k]}) for k in range(12)]
    assert write_blocks(tmp_path / "out", many) == 12
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert sorted(file.name for file in (tmp_path / "out").iterdir())[-1] == "part-000011.parquet"
    assert cocomplete.open(tmp_path / "out").read(0, 12).X["a"].to_list() == list(range(12))


@pytest.mark.parametrize("flat", [False, True])
def test_completions_are_written_with_their_labels(tmp_path: Path, flat: bool) -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.array([0.0, 1.0, 1.0])
    done = Completion(X, y if flat else y[:, None], np.empty((3, 1)), None)
    frames = Completion(pl.DataFrame(X, schema=["a", "b"]), None, np.empty((3, 0)), None)
    write_blocks(tmp_path / "arrays", [done, done])
    write_blocks(tmp_path / "frames", [frames])
    rows = cocomplete.open(tmp_path / "arrays").read(2, 4).X
    label = "y" if flat else "y 1"
    assert rows.to_dict(as_series=False) == {"X 1": [4.0, 0.0], "X 2": [5.0, 1.0], label: [1.0, 0.0]}
    assert_frame_equal(cocomplete.open(tmp_path / "frames").read(0, 3).X, frames.X)


def test_small_blocks_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocomplete.formats.part_folder.PART_BYTES", 5 * 8)
    many = [pl.DataFrame({"a": [k]}) for k in range(11)]
    many[3] = pl.DataFrame({"a": [3.5]})
    assert write_blocks(tmp_path / "out", many) == 3
    assert cocomplete.open(tmp_path / "out").read(0, 11).X["a"].to_list() == [0, 1, 2, 3.5, *range(4, 11)]


@pytest.mark.usefixtures("every_block")
def test_a_column_has_one_type_in_all_parts(tmp_path: Path) -> None:
    blocks = [pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [2.5]}), pl.DataFrame({"a": [None]})]
    write_blocks(tmp_path / "out", blocks)
    parts = [pl.read_parquet(file) for file in sorted((tmp_path / "out").iterdir())]
    assert {part.schema["a"] for part in parts} == {pl.Float64}
    assert pl.concat(parts)["a"].to_list() == [1.0, 2.0, 2.5, None]


@pytest.mark.usefixtures("every_block")
def test_nothing_is_seen_before_the_end_and_nothing_is_left_after_a_failure(tmp_path: Path) -> None:
    def failing() -> Iterator[pl.DataFrame]:
        yield BLOCKS[0]
        assert not (tmp_path / "out").exists()
        assert len(list(tmp_path.iterdir())) == 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_blocks(tmp_path / "out", failing())
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_result_stays_until_the_next_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_blocks(out, BLOCKS)
    with pytest.raises(InputError, match=r"exists already and was left as it is; .* or --force"):
        write_blocks(out, BLOCKS)

    def failing() -> Iterator[pl.DataFrame]:
        yield BLOCKS[1]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_blocks(out, failing(), force=True)
    assert_frame_equal(cocomplete.open(out).read(0, 3).X, pl.concat(BLOCKS))
    write_blocks(out, BLOCKS[1:], force=True)
    assert_frame_equal(cocomplete.open(out).read(0, 1).X, BLOCKS[1])
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_holds_other_things_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds notes\.txt, which is no part of a completed table"):
        write_blocks(tmp_path, BLOCKS, force=True)
    with pytest.raises(InputError, match="is a file; blocks of a table go to a folder of their own"):
        write_blocks(tmp_path / "notes.txt", BLOCKS, force=True)
    with pytest.raises(InputError, match=r"the folder .*nowhere does not exist; make it first"):
        write_blocks(tmp_path / "nowhere" / "out", BLOCKS)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_permissions_are_those_of_any_new_folder(tmp_path: Path) -> None:
    write_blocks(tmp_path / "out", BLOCKS)
    (tmp_path / "plain").mkdir()
    modes = [os.stat(tmp_path / name).st_mode for name in ("out", "plain")]
    assert modes[0] == modes[1]


def test_a_folder_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cocomplete.formats.part_folder._put_in_place", full)
    with pytest.raises(InputError, match="out cannot be written: No space left on device; check the folder"):
        write_blocks(tmp_path / "out", BLOCKS)
    assert list(tmp_path.iterdir()) == []
