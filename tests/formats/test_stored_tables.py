"""Tables on disk: which rows are read, what is kept in memory, and every sentence about what is no table."""

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import cocomplete
from cocomplete.exceptions import InputError
from cocomplete.formats import frame_files
from cocomplete.stored import StoredArrays, StoredFrames, stored_files

ROWS = 1000


def frame() -> pl.DataFrame:
    """Numbers, words and dates with holes."""
    rng = np.random.default_rng(0)
    numbers = pl.DataFrame({name: rng.normal(size=ROWS).astype(np.float32) for name in ("a", "b")})
    return numbers.with_columns(
        pl.Series("whole", [None if k % 7 == 0 else k for k in range(ROWS)]),
        pl.Series("word", [None if k % 5 == 0 else f"w{k % 3}" for k in range(ROWS)]),
        pl.Series("seen", list(range(ROWS))).cast(pl.Date),
        pl.Series("tag_1", [None if k % 3 == 0 else k % 2 for k in range(ROWS)]),
        pl.Series("tag_2", [None if k % 4 == 0 else k % 2 for k in range(ROWS)]),
    )


def in_parts(folder: Path, write: Callable[[pl.DataFrame, Path], None], ending: str) -> Path:
    """Write rows into files of very different lengths, one of them without any."""
    folder.mkdir()
    for number, (first, last) in enumerate(((0, 3), (3, 3), (3, 700), (700, ROWS))):
        write(frame()[first:last], folder / f"{number}{ending}")
    return folder


def parquet(part: pl.DataFrame, file: Path) -> None:
    part.write_parquet(file, row_group_size=64)


def arrow(part: pl.DataFrame, file: Path) -> None:
    part.write_ipc(file, compression="zstd")


@pytest.fixture(params=["folder of Parquet", "Parquet", "folder of Arrow", "Feather"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write, ending = (parquet, ".parquet") if "Parquet" in request.param else (arrow, ".feather")
    if "folder" in request.param:
        return in_parts(tmp_path / "table", write, ending)
    write(frame(), tmp_path / f"table{ending}")
    return tmp_path / f"table{ending}"


@pytest.mark.parametrize("window", [1, 5_000, 2**26])
def test_any_rows_are_those_of_the_files(place: Path, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_files, "WINDOW_BYTES", window)
    table = cocomplete.open(place, labels="tag_*")
    assert table.shape == (ROWS, 7)
    whole = frame()
    rng = np.random.default_rng(1)
    asked = [(0, ROWS), (0, 1), (2, 4), (699, 701), (ROWS - 1, ROWS), (5, 5)]
    asked += [(k, min(k + 33, ROWS)) for k in range(0, ROWS, 33)]
    asked += [tuple(sorted(rng.integers(0, ROWS, 2))) for _ in range(20)]
    for first, last in asked:
        rows = table.read(int(first), int(last))
        assert_frame_equal(rows.X, whole[first:last].drop("tag_1", "tag_2"))
        assert_frame_equal(rows.y, whole[first:last].select("tag_1", "tag_2"))


def test_one_block_after_the_other_is_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts(tmp_path / "table", parquet, ".parquet")
    files = stored_files(tmp_path / "table")
    decoded: list[int] = []
    decode = frame_files.FrameFiles._decode

    def counted(self: frame_files.FrameFiles, first: int, last: int) -> pl.DataFrame:
        decoded.append(last - first)
        return decode(self, first, last)

    monkeypatch.setattr(frame_files.FrameFiles, "_decode", counted)
    monkeypatch.setattr(frame_files, "WINDOW_BYTES", 20_000)
    for k in range(0, ROWS, 40):
        files.read(k, k + 40)
    assert len(decoded) < ROWS / 40 / 3
    # Blocks may differ by a row, so a window has a few rows more than its blocks.
    assert sum(decoded) < 1.1 * ROWS
    assert max(decoded) * frame().estimated_size() / ROWS < 2 * 20_000
    # At its end nothing is kept.
    assert isinstance(files, frame_files.FrameFiles)
    assert files._kept.frame is None


def test_several_threads_may_ask(tmp_path: Path) -> None:
    table = cocomplete.open(in_parts(tmp_path / "table", parquet, ".parquet"), labels=["tag_1", "tag_2"])
    bounds = [(k, k + 10) for k in range(0, ROWS, 10)]
    with ThreadPoolExecutor(4) as pool:
        blocks = list(pool.map(lambda pair: table.read(*pair).X, bounds))
    assert_frame_equal(pl.concat(blocks), frame().drop("tag_1", "tag_2"))


def test_pickled_it_is_names_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts(tmp_path / "table", parquet, ".parquet")
    monkeypatch.chdir(tmp_path)
    table = cocomplete.open("table", labels="tag_1")
    before = pickle.dumps(table)
    table.read(0, ROWS)
    after = pickle.dumps(table)
    assert len(after) == len(before) < 2_000
    monkeypatch.chdir("/")
    assert_frame_equal(pickle.loads(after).read(1, 5).X, table.read(1, 5).X)


def test_without_labels_there_are_none(place: Path) -> None:
    table = cocomplete.open(place)
    assert table.shape == (ROWS, 7)
    assert table.read(0, 4).y is None
    assert table.read(0, 4).X.columns == frame().columns


def test_columns_may_be_left_out(place: Path) -> None:
    table = cocomplete.open(place, labels="tag_*", ignore=["word", "seen", "tag_2"])
    assert table.read(0, 4).X.columns == ["a", "b", "whole"]
    assert table.read(0, 4).y.columns == ["tag_1"]
    rows = cocomplete.open(place, labels="tag_1", features=["a", "w*", "tag_*"], ignore="word").read(3, 9)
    assert rows.X.columns == ["a", "whole", "tag_2"]
    assert_frame_equal(rows.X, frame()[3:9].select("a", "whole", "tag_2"))


def test_words_for_unknown_are(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1.0, -999.0, 3.0], "b": ["x", "k.A.", "y"]}).write_parquet(tmp_path / "t.parquet")
    rows = cocomplete.open(tmp_path / "t.parquet", missing=["-999", "k.A."]).read(0, 3)
    assert rows.X.to_dict(as_series=False) == {"a": [1.0, None, 3.0], "b": ["x", None, "y"]}


def test_whole_numbers_with_holes_in_another_file_are_one_column(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1, 2], "b": [None, None]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"b": ["x", "y"], "a": [1.5, None]}).write_parquet(tmp_path / "2.parquet")
    rows = cocomplete.open(tmp_path).read(0, 4).X
    assert rows.to_dict(as_series=False) == {"a": [1.0, 2.0, 1.5, None], "b": [None, None, "x", "y"]}


def test_hidden_files_and_notes_take_no_part(tmp_path: Path) -> None:
    frame().write_parquet(tmp_path / "1.parquet")
    for name in ("_SUCCESS", ".1.parquet.crc", "_metadata.parquet", "README.md"):
        (tmp_path / name).write_text("no table")
    (tmp_path / "older").mkdir()
    assert cocomplete.open(tmp_path).shape == (ROWS, 7)


def test_names_with_stars_are_names(tmp_path: Path) -> None:
    for name in ("[1]*.parquet", "1.parquet"):
        pl.DataFrame({"a": [float(len(name))]}).write_parquet(tmp_path / name)
    assert cocomplete.open(tmp_path / "[1]*.parquet").read(0, 1).X["a"].to_list() == [12.0]


@pytest.mark.parametrize("flat", [False, True])
def test_matrices_are_mapped_and_not_read(tmp_path: Path, flat: bool) -> None:
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    y = (X[:, 0] > 0).astype(np.int8) if flat else (X[:, :2] > 0)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    table = cocomplete.open(tmp_path)
    assert isinstance(table, StoredArrays)
    assert table.shape == (50, 5 if flat else 6)
    rows = pickle.loads(pickle.dumps(table)).read(10, 20)
    assert type(rows.X) is np.ndarray
    assert isinstance(rows.X.base, np.memmap)
    np.testing.assert_array_equal(rows.X, X[10:20])
    np.testing.assert_array_equal(rows.y, y[10:20])
    alone = cocomplete.open(tmp_path / "X.npy")
    assert alone.shape == (50, 4)
    assert alone.read(0, 5).y is None


def test_matrices_as_frames_have_names(tmp_path: Path) -> None:
    X, y = np.arange(12.0).reshape(4, 3), np.array([0.0, 1.0, np.nan, 1.0])
    np.save(tmp_path / "X.npy", X.astype(">f8"))
    np.save(tmp_path / "y.npy", y)
    files = stored_files(tmp_path)
    assert files.names == ["X 1", "X 2", "X 3", "y"]
    rows = StoredFrames(files, ["X 3", "X 1"], ["y"]).read(1, 3)
    assert rows.X.to_dict(as_series=False) == {"X 3": [5.0, 8.0], "X 1": [3.0, 6.0]}
    np.testing.assert_array_equal(rows.y["y"].to_numpy(), y[1:3])


def sentence_of(place: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        cocomplete.open(place, **options)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_what_is_no_table_is_refused_in_a_sentence(tmp_path: Path) -> None:
    assert "does not exist; check the path" in sentence_of(tmp_path / "nothing")
    assert "holds no table; a folder has Parquet files" in sentence_of(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert "is read as a whole or not at all; cocomplete convert makes Parquet" in sentence_of(tmp_path)
    (tmp_path / "t.csv").rename(tmp_path / "t.parquet")
    assert "t.parquet cannot be read as Parquet" in sentence_of(tmp_path)
    assert "t.parquet cannot be read as Parquet" in sentence_of(tmp_path / "t.parquet")
    (tmp_path / "t.parquet").rename(tmp_path / "t.npy")
    assert "t.npy cannot be read as NPY" in sentence_of(tmp_path / "t.npy")
    assert "holds t.npy; matrices of a folder are called X.npy and y.npy" in sentence_of(tmp_path)
    frame().write_parquet(tmp_path / "u.parquet")
    assert "holds t.npy and u.parquet; files of one table are of one kind" in sentence_of(tmp_path)


def test_tables_without_rows_or_features_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    frame().clear().write_parquet(file)
    assert "has 7 column(s) and 0 row(s); a table needs some of each" in sentence_of(file)
    frame().write_parquet(file)
    assert "labels 'tug' matches no column of" in sentence_of(file, labels="tug")
    assert "is left beside labels and ignored ones" in sentence_of(file, labels=["*"])
    assert "ignore 'tug' matches no column of" in sentence_of(file, ignore="tug")


def test_streams_of_arrow_are_refused(tmp_path: Path) -> None:
    frame().write_ipc_stream(tmp_path / "t.arrow")
    assert "is no Arrow file; a stream of Arrow's is read as a whole only" in sentence_of(
        tmp_path / "t.arrow"
    )


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (pl.DataFrame({"a": [1.0], "c": [1.0]}), "2.parquet has a column 'c' that 1.parquet does not have"),
        (pl.DataFrame({"a": [1.0]}), "2.parquet has no column 'b', which 1.parquet has"),
        (
            pl.DataFrame({"a": [1.0], "b": ["x"]}),
            "'b' holds String in 2.parquet and Float64 in 1.parquet",
        ),
    ],
)
def test_other_columns_are_refused_by_file(tmp_path: Path, other: pl.DataFrame, message: str) -> None:
    pl.DataFrame({"a": [1.0], "b": [2.0]}).write_parquet(tmp_path / "1.parquet")
    other.write_parquet(tmp_path / "2.parquet")
    assert message in sentence_of(tmp_path)


def test_matrices_that_do_not_match_are_refused(tmp_path: Path) -> None:
    for X, message in (
        (np.zeros(3), "has shape (3,); a table has rows and columns"),
        (np.zeros((0, 3)), "a table has rows and columns, some of each"),
        (np.array([["a"]]), "is neither numbers nor truth values"),
        (np.zeros((4, 2)), "has shape (3, 1), and"),
    ):
        np.save(tmp_path / "X.npy", X)
        np.save(tmp_path / "y.npy", np.zeros((3, 1)))
        assert message in sentence_of(tmp_path)
    np.save(tmp_path / "X.npy", np.zeros((3, 2)))
    for what in ("labels", "features", "ignore"):
        assert "have no names; labels are y.npy in a folder with X.npy" in sentence_of(
            tmp_path, **{what: "X 1"}
        )
    assert "make unknown ones NaN" in sentence_of(tmp_path, missing=["-1"])


def test_files_that_change_meanwhile_are_noticed(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    for other, message in (
        (frame()[:10], r"t\.parquet has fewer rows than when it was opened; open it again"),
        (frame().with_columns(pl.lit("x").alias("a")), "was changed since it was opened"),
        (frame().drop("a"), r"t\.parquet cannot be read as Parquet"),
    ):
        frame().write_parquet(file)
        table = cocomplete.open(file)
        other.write_parquet(file)
        with pytest.raises(InputError, match=message):
            table.read(0, ROWS)
    np.save(tmp_path / "X.npy", np.zeros((5, 2)))
    table = cocomplete.open(tmp_path / "X.npy")
    np.save(tmp_path / "X.npy", np.zeros((4, 2)))
    with pytest.raises(InputError, match=r"has shape \(4, 2\), and had \(5, 2\) when it was opened"):
        table.read(0, 2)


def test_damage_inside_a_file_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    frame().write_parquet(file, compression="zstd")
    content = bytearray(file.read_bytes())
    content[8:400] = b"\xff" * 392
    file.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"t\.parquet cannot be read as Parquet: .*is the file whole\?"):
        cocomplete.open(file).read(0, ROWS)
