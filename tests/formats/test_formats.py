"""What single formats and the ways in and out do."""

import contextlib
import datetime as dt
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from cocomplete.atomic import write_atomically
from cocomplete.exceptions import InputError
from cocomplete.formats import excel, mulan_xml, npz
from cocomplete.formats.columns import select
from cocomplete.formats.files import check_target, parse_table, read_table, write_table
from cocomplete.formats.registry import BY_ENDING, FORMATS
from cocomplete.formats.table_file import ReadOptions, TableFile

ARFF = """@relation {relation}
@attribute a {{0,1}}
@attribute b {{0,1}}
@attribute c numeric
@data
1,0,2.5
?,1,?
"""


def written(frame: pl.DataFrame, table: TableFile, folder: Path, ending: str = ".csv") -> str:
    write_table(frame, table, folder / f"out{ending}")
    return (folder / f"out{ending}").read_text()


def test_every_ending_has_one_format() -> None:
    assert len(BY_ENDING) == sum(len(form.endings) for form in FORMATS)


@pytest.mark.parametrize(
    ("relation", "labels"), [("'x: -C 2'", ("a", "b")), ("'x: -C -1'", ("c",)), ("x", None)]
)
def test_meka_says_how_many_labels(relation: str, labels: tuple[str, ...] | None) -> None:
    content = ARFF.format(relation=relation).encode()
    table = parse_table(content, "t.arff", ReadOptions(path="t.arff"))
    assert table.labels == labels


def test_mulan_s_list_is_read_beside_the_table_and_written_beside_it(tmp_path: Path) -> None:
    (tmp_path / "songs.arff").write_text(ARFF.format(relation="songs"))
    (tmp_path / "songs.xml").write_bytes(mulan_xml.write_labels(("b",)))
    table = read_table(tmp_path / "songs.arff")
    assert table.labels == ("b",)
    write_table(table.frame, table, tmp_path / "done.arff")
    assert mulan_xml.read_labels((tmp_path / "done.xml").read_bytes(), "done.xml") == ["b"]
    again = read_table(tmp_path / "done.arff")
    assert again.labels == ("b",)
    assert again.frame.equals(table.frame)
    (tmp_path / "done.arff").unlink()
    with pytest.raises(InputError, match=r"done\.xml exists already"):
        check_target(str(tmp_path / "done.arff"), force=False)
    (tmp_path / "songs.xml").write_bytes(mulan_xml.write_labels(("z",)))
    with pytest.raises(InputError, match="lists the label 'z', but"):
        read_table(tmp_path / "songs.arff")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><labels><label name="&b;"/></labels>',
            "DOCTYPE",
        ),
        ('<?xml version="1.0" encoding="klingon"?><labels/>', "is not an XML list of labels"),
        ("<labels><label name='a'></labels>", "is not an XML list of labels: .*line 1"),
        ("<labels/>", "holds no <label"),
        ("<labels><label name='a'/><label name='a'/></labels>", "a label 'a' without a name of its own"),
        ("<labels><label/></labels>", "a label '' without"),
    ],
)
def test_lists_of_labels_are_checked(content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        mulan_xml.read_labels(content.encode(), "l.xml")


def zipped(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def npy(shape: str, data: bytes, descr: str = "<f8") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"X.npy": npy("(1000000000, 1000000000)", b"")}, "is not what its header says"),
        ({"X.npy": npy("(2,)", bytes(16), "|O")}, "is not what its header says"),
        ({"X.npy": npy("(2,)", bytes(15))}, "is not what its header says"),
        ({"x.txt": b"hello"}, "holds no array"),
        ({"X.npy": npy("(1, 1, 1)", bytes(8))}, "has 3 dimensions"),
        ({"X.npy": npy("(1,)", b"\xff\xff\xff\x7f", "<U1")}, "letters that do not exist"),
        ({"X.npy": npy("(1,)", b"\x00\xd8\x00\x00", "<U1")}, "letters that do not exist"),
        ({"X.npy": npy("(1,)", bytes(8), "|V8")}, "which is neither numbers"),
        ({"X.npy": npy("(1,)", bytes(16), "<c16")}, "holds complex128"),
        ({"a.npy": npy("(1,)", bytes(8)), "b.npy": npy("(2,)", bytes(16))}, "cannot be read as NPZ"),
    ],
)
def test_arrays_that_lie_about_their_size_take_no_memory(parts: dict[str, bytes], message: str) -> None:
    with pytest.raises(InputError, match=message):
        npz.read(zipped(parts), "t.npz", ReadOptions())


def test_archives_that_unpack_to_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "MAX_BYTES", 1000)
    monkeypatch.setattr(excel, "MAX_BYTES", 1000)
    bomb = zipped({"X.npy": bytes(100_000), "xl/worksheets/sheet1.xml": b""})
    with pytest.raises(InputError, match="unpacks to more than"):
        npz.read(bomb, "t.npz", ReadOptions())
    with pytest.raises(InputError, match="unpacks to more than"):
        excel.read(bomb, "t.xlsx", ReadOptions())


def test_a_sheet_with_a_cell_far_away_is_refused() -> None:
    cells = b'<row r="1"><c r="A1"/></row><row><c r="XFD1048576"/></row>'
    sheet = b"<worksheet><sheetData>" + cells + b"</sheetData></worksheet>"
    with pytest.raises(InputError, match="span 1048576 × 16384"):
        excel.read(zipped({"xl/worksheets/sheet1.xml": sheet}), "t.xlsx", ReadOptions())


def test_arrays_of_others_are_read(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "t.npz", X=np.array([[1.0, np.nan], [3, 4]]), Y=np.array([[1], [0]]), age=np.array([5, 6])
    )
    table = read_table(tmp_path / "t.npz")
    assert table.frame.columns == ["X 1", "X 2", "Y 1", "age"]
    assert table.frame["X 2"].to_list() == [None, 4.0]
    assert table.labels == ("Y 1",)


def test_arrays_of_other_machines_are_read(tmp_path: Path) -> None:
    days = np.array(["2020-01", "NaT"], dtype="datetime64[M]")
    np.savez(tmp_path / "t.npz", a=np.array([1, 2], ">i4"), b=np.array([0.5, np.nan], np.float16), c=days)
    rows = read_table(tmp_path / "t.npz").frame.rows()
    assert rows == [(1, 0.5, dt.datetime(2020, 1, 1)), (2, None, None)]


def test_sheets_are_chosen_by_name_and_mixed_cells_are_read_as_text(tmp_path: Path) -> None:
    xlsxwriter: Any = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        first = book.add_worksheet("one")
        first.write_row(1, 0, ["a", "a", ""])
        first.write_row(2, 0, [1, "n/a", 5])
        first.write_row(4, 0, ["?", 2.5, 6])
        book.add_worksheet("two").write_row(0, 0, ["z"])
    table = read_table(tmp_path / "t.xlsx", missing=["5"])
    assert table.frame.to_dict(as_series=False) == {"a": [1, None], "a.1": [None, 2.5], "column 3": [None, 6]}
    assert any("has 2 sheets; 'one' was read" in note for note in table.notes)
    with pytest.raises(InputError, match="has no sheet 'three'; its sheets are 'one', 'two'"):
        read_table(tmp_path / "t.xlsx", sheet="three")
    with pytest.raises(InputError, match=r"1 column\(s\) and 0 row\(s\)"):
        read_table(tmp_path / "t.xlsx", sheet="two")


def test_numbers_that_a_sheet_cannot_hold_go_through_it_as_text(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [0.5, float("inf"), 1e300], "b": [2**60 + 1, 5, None]})
    write_table(frame, TableFile(frame, "t"), tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx").frame.equals(frame)


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(InputError, match=r"pip install 'cocomplete\[excel\]'"):
        excel.read(b"PK", "t.xlsx", ReadOptions())


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    real, link = tmp_path / "folder" / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder", "link.csv", "real.csv"]
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(InputError, match="cannot be written"):
        write_atomically(link, b"new")


def test_words_and_numbers_for_unknown_are_the_caller_s_in_every_format(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, -999, 3, -999], "b": ["x", "k.A.", "y", "x"]})
    frame.write_parquet(tmp_path / "t.parquet")
    assert "--missing=-999" in read_table(tmp_path / "t.parquet").notes[0]
    table = read_table(tmp_path / "t.parquet", missing=["-999", "k.A."])
    assert table.frame.to_dict(as_series=False) == {"a": [1, None, 3, None], "b": ["x", None, "y", "x"]}
    assert table.frame.schema == frame.schema
    assert table.notes == ()


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("1.50\n2.25", 3.14159, "3.14"),
        ("1\n2", 3.05, "3"),
        ("1.5\n2.25\n90", 3.0, "3"),
        ("$1.5\n$2", 3.0, "$3.00"),
        ('"1,234.5"\n"2,345,678.0"', 9876543.21, '"9,876,543.2"'),
        ("1.5e-3\n2.5e-4", 0.00123, "1.2e-3"),
        ("1.5e-03\n2.5e+04", 0.00123, "1.2e-03"),
        ("1.5e-3\n25", 0.00123, "0.0012"),
        ("(3)\n4", -5.0, "(5)"),
        ("+3\n-4", 5.0, "+5"),
        ("-0.5\n0.5", -0.01, "0.0"),
        ("TRUE\nTRUE", 0.0, "FALSE"),
        ("Yes\nYes", False, "No"),
        ('"red"\n"blue"', "red", '"red"'),
        ("red\nblue", "a,b", '"a,b"'),
        (" 1\n 2", 3, " 3"),
        ("", 0.123456789, "0.123457"),
    ],
)
def test_fills_are_written_with_the_precision_and_marks_of_the_column(
    tmp_path: Path, column: str, value: Any, expected: str
) -> None:
    rows = [f"{cell},1" for cell in [*column.split("\n"), "?"]]
    content = "\n".join(["a,b", *rows]) + "\n"
    table = parse_table(content.encode(), "t.csv", ReadOptions(path="t.csv"))
    before = table.frame["a"]
    fresh = pl.Series("a", [*before.to_list()[:-1], value], strict=False)
    done = table.frame.with_columns(fresh.fill_null(value) if before.null_count() == len(before) else fresh)
    text = written(done, table, tmp_path)
    assert text.splitlines()[-1] == f"{expected},1"
    if column:
        assert text.splitlines()[:-1] == content.splitlines()[:-1]


def test_other_rows_and_columns_are_written_in_the_styles_of_the_file(tmp_path: Path) -> None:
    table = parse_table(b"a;b\n1,50;ja\n2,25;nein\n", "t.csv", ReadOptions(path="t.csv"))
    new = pl.DataFrame({"a": [0.5], "b": [True], "p": [0.25]})
    assert written(new, table, tmp_path) == "a;b;p\n0,50;ja;0.25\n"


def test_cells_that_stay_unknown_keep_their_word(tmp_path: Path) -> None:
    content = b"a,b\n1.5,n/a\n?,x\n"
    table = parse_table(content, "t.csv", ReadOptions(path="t.csv"))
    done = table.frame.with_columns(pl.col("a").fill_null(float("nan")))
    assert written(done, table, tmp_path) == content.decode()


def test_text_that_an_encoding_lacks_is_written_as_utf_8(tmp_path: Path) -> None:
    table = parse_table("a,b\nMüller,1\n,2\n".encode("cp1252"), "t.csv", ReadOptions(path="t.csv"))
    write_table(table.frame, table, tmp_path / "same.csv")
    assert (tmp_path / "same.csv").read_bytes() == "a,b\nMüller,1\n,2\n".encode("cp1252")
    write_table(table.frame.with_columns(a=pl.Series(["Müller", "δ"])), table, tmp_path / "more.csv")
    assert (tmp_path / "more.csv").read_bytes().decode("utf-8-sig") == "a,b\nMüller,1\nδ,2\n"


def test_a_table_that_a_format_cannot_hold_is_refused(tmp_path: Path) -> None:
    table = parse_table(b"a,b\nred,1\n", "t.csv", ReadOptions(path="t.csv"))
    with pytest.raises(InputError, match=r"column 'a' holds String, but LIBSVM has numbers alone"):
        write_table(table.frame, table, tmp_path / "o.libsvm")
    long = pl.DataFrame({"a": ["x" * 40_000]})
    with pytest.raises(InputError, match="column 'a' has a cell of more than 32767 letters"):
        write_table(long, TableFile(long, "t"), tmp_path / "o.xlsx")
    nested = pl.DataFrame({"a": [[1, 2]]})
    write_table(nested, TableFile(nested, "t"), tmp_path / "o.csv")
    assert list(tmp_path.iterdir()) == [tmp_path / "o.csv"]


def test_columns_are_chosen_by_name_or_pattern() -> None:
    names = ["a", "b,c", "b1", "b2"]
    assert select(names, ["b,c"], "--labels", "t.csv") == ["b,c"]
    assert select(names, ["b?,a"], "--labels", "t.csv") == ["a", "b1", "b2"]
    with pytest.raises(InputError, match="--labels 'z' matches no column"):
        select(names, ["z"], "--labels", "t.csv")


@pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime("us")])
def test_dates_that_no_calendar_has_are_refused(tmp_path: Path, dtype: pl.DataType) -> None:
    days = pl.Series("day", [0, 2_000_000_000], dtype=pl.Int32 if dtype == pl.Date else pl.Int64)
    frame = pl.DataFrame([(days if dtype == pl.Date else days * 10**9).cast(dtype)])
    frame.write_ipc(tmp_path / "t.feather")
    with pytest.raises(InputError, match="column 'day' holds dates or times that no calendar has"):
        read_table(tmp_path / "t.feather")


def test_a_panic_of_polars_is_one_sentence_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "t.parquet"
    pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]}).write_parquet(file)
    whole = file.read_bytes()
    for at in range(0, len(whole), 7):
        file.write_bytes(whole[:at] + b"\xff\xff\xff\x7f" + whole[at + 4 :])
        with contextlib.suppress(InputError):
            read_table(file)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("stream", [False, True])
def test_buffers_that_claim_too_much_are_refused_before_memory_is_taken(
    tmp_path: Path, *, stream: bool
) -> None:
    frame = pl.DataFrame({"a": list(range(1000)), "b": ["x", "y"] * 500})
    buffer = io.BytesIO()
    (frame.write_ipc_stream if stream else frame.write_ipc)(buffer, compression="zstd")
    whole = buffer.getvalue()
    assert parse_table(whole, "t.feather", ReadOptions(path="t.feather")).frame.equals(frame)
    prefix = (8000).to_bytes(8, "little")
    assert whole.count(prefix) >= 1
    damaged = whole.replace(prefix, (2**60).to_bytes(8, "little"))
    with pytest.raises(InputError, match=r"t\.feather says it unpacks to more than 8 GB"):
        parse_table(damaged, "t.feather", ReadOptions(path="t.feather"))
