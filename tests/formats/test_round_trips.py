"""What goes into a file comes out of it: values, names, types, and the three states of a label."""

import datetime as dt
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cocomplete.formats import csv_rows, date_text, delimited, number_text, truth_words
from cocomplete.formats.date_style import DateStyle
from cocomplete.formats.files import parse_table, read_table, write_table
from cocomplete.formats.number_style import NumberStyle, style_of
from cocomplete.formats.table_file import ReadOptions, TableFile
from cocomplete.truth_words import PAIRS

FRAME = pl.DataFrame(
    {
        "whole": [1, None, -3, 4],
        "float": [0.5, None, -2.25, 1e-7],
        "truth": [True, None, False, True],
        "text": ["a", "b, c; d", None, 'it\'s "e"\nf'],
        "day": [dt.date(2020, 1, 2), None, dt.date(1999, 12, 31), dt.date(2024, 2, 29)],
        "time": [
            dt.datetime(2020, 1, 2, 3, 4, 5),
            None,
            dt.datetime(1999, 1, 1),
            dt.datetime(2000, 1, 1, 1, 0, 0, 250000),
        ],
        "y 1": [1, 0, None, 1],
        "y 2": [0, None, 1, 1],
    }
)
LEVELS = pl.Series("level", ["low", "high", None, "low"], dtype=pl.Enum(["low", "middle", "high"]))
NUMBERS = FRAME.select("whole", "float", "truth", "y 1", "y 2")
LABELS = ("y 1", "y 2")
ONE_EACH = pl.DataFrame({"feature 1": [0.5, 0.0], "label 0": [1, 0], "label 1": [0, 1]})
SPARSE = pl.DataFrame(
    {"feature 1": [0, 0, 0], "feature 2": [0.5, 0.0, None], "label 3": [1, 0, 0], "label 7": [0, 0, 1]}
)


def options(name: str) -> ReadOptions:
    return ReadOptions(path=name)


@pytest.mark.parametrize(
    ("ending", "frame", "knows_labels"),
    [
        (".csv", FRAME, False),
        (".tsv", FRAME, False),
        (".txt", FRAME, False),
        (".parquet", FRAME.with_columns(LEVELS), False),
        (".feather", FRAME.with_columns(LEVELS), False),
        (".arrow", FRAME, False),
        (".xlsx", FRAME, False),
        (".arff", FRAME.with_columns(LEVELS), True),
        (".arff", FRAME.select(*LABELS, "text", "float"), True),
        (".arff", FRAME.select("text", "float", *LABELS), True),
        (".npz", FRAME, True),
        (".libsvm", NUMBERS, True),
        (".libsvm", NUMBERS.select("y 1", "float", "y 2", "whole"), True),
        (".xmlc", NUMBERS, True),
    ],
)
def test_a_table_comes_back_from_every_format(
    tmp_path: Path, ending: str, frame: pl.DataFrame, *, knows_labels: bool
) -> None:
    file = tmp_path / f"table{ending}"
    write_table(frame, TableFile(frame, "source", labels=LABELS), file)
    back = read_table(file)
    assert back.frame.schema == frame.schema
    assert back.frame.equals(frame)
    assert back.labels == (LABELS if knows_labels else None)


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".xlsx", ".arff", ".npz"])
def test_types_survive_from_text_to_other_formats(tmp_path: Path, ending: str) -> None:
    text = "n;x;t;d;w\n1;1.234,5;ja;01.02.2024;red\n2;0,5;nein;;blue\n3;;;31.12.2023;red\n"
    table = parse_table(text.encode(), "t.csv", options("t.csv"))
    write_table(table.frame, table, tmp_path / f"o{ending}")
    back = read_table(tmp_path / f"o{ending}").frame
    assert back["n"].to_list() == [1, 2, 3]
    assert back["x"].to_list() == [1234.5, 0.5, None]
    assert back["t"].to_list() == [True, False, None]
    assert back["d"].to_list() == [dt.date(2024, 2, 1), None, dt.date(2023, 12, 31)]
    assert back["w"].to_list() == ["red", "blue", "red"]
    write_table(back, table, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == text


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6), st.sampled_from(",;|\t"))
def test_any_cells_come_back_letter_for_letter(rows: list[list[str]], separator: str) -> None:
    header = ["a", "b", "c"]
    lines = [
        separator.join(csv_rows.token(cell, separator, quoted=True) for cell in row)
        for row in [header, *rows]
    ]
    content = ("\n".join(lines) + "\n").encode()
    table = parse_table(content, "t.csv", ReadOptions(path="t.csv", separator=separator))
    assert table.text.rows() == [tuple(row) for row in rows]
    assert delimited.encode(table.frame, table, "t.csv")[0][1] == content
    # Without their quotes, but where they are needed, the cells are the same.
    plain = delimited.encode(table.frame, table, "t.tsv")[0][1]
    assert (
        parse_table(plain, "t.tsv", ReadOptions(path="t.tsv", separator="\t")).text.rows()
        == table.text.rows()
    )


STYLES = st.builds(
    NumberStyle,
    decimal=st.just("."),
    thousands=st.sampled_from(["", ",", " ", "'", "\u202f"]),
    decimals=st.integers(1, 6),
    fixed=st.booleans(),
    prefix=st.sampled_from(["", "$", "EUR "]),
    negative=st.sampled_from(["-<{}>", "<-{}>", "(<{}>)", "<{}>-"]),
)


@given(STYLES, st.booleans(), st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=5))
def test_written_numbers_are_read_as_they_were(style: NumberStyle, comma: bool, values: list[float]) -> None:
    if comma and style.thousands != ",":
        style = NumberStyle(**{**vars(style), "decimal": ","})
    rounded = [round(value, style.decimals or 0) for value in values]
    text = pl.Series("x", style.write(pl.Series(rounded)))
    # A cell with a fraction of another length than three leaves no doubt about the marks.
    scanned = number_text.scan(pl.concat([text, pl.Series(style.write(pl.Series([0.5])))]))
    assert scanned is not None
    read = number_text.read(scanned, style.decimal, "x")
    assert read is not None
    assert read[0].to_list()[:-1] == pytest.approx(rounded, abs=1e-12, rel=1e-15)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_floats_that_never_were_text_are_written_exactly(values: list[float]) -> None:
    column = pl.Series("x", values)
    assert [float(text) for text in style_of(column).write(column)] == values


DATE_STYLES = st.builds(
    DateStyle,
    order=st.sampled_from(["ymd", "dmy", "mdy"]),
    marks=st.sampled_from([("-", "-"), ("/", "/")]),
    padded=st.booleans(),
    between=st.sampled_from(["", " ", "T"]),
    seconds=st.just(value=True),
    noon=st.sampled_from(["", " PM", "am"]),
)


@given(
    DATE_STYLES,
    st.lists(st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9999, 12, 31)), min_size=1, max_size=4),
)
def test_written_dates_are_read_as_they_were(style: DateStyle, moments: list[dt.datetime]) -> None:
    values = [moment.replace(microsecond=0) if style.between else moment.date() for moment in moments]
    text = pl.Series("d", style.write(pl.Series(values)))
    scanned = date_text.scan(text)
    assert scanned is not None
    read = date_text.read(scanned, "d", text, day_first=style.order == "dmy")
    assert read is not None
    assert read[0].to_list() == values
    assert read[1].write(read[0]) == text.to_list() or not style.padded or style.noon


@given(
    st.sampled_from(PAIRS),
    st.lists(st.booleans(), min_size=1, max_size=5),
    st.sampled_from("lut"),
)
def test_written_truth_is_read_as_it_was(pair: tuple[str, str], values: list[bool], case: str) -> None:
    spell = {"l": str.lower, "u": str.upper, "t": str.capitalize}[case]
    words = [spell(pair[0] if value else pair[1]) for value in [*values, True, False]]
    read = truth_words.read_truth(pl.Series(words))
    assert read is not None
    assert read[0].to_list()[:-2] == values
    assert read[1].write(read[0]) == words


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_fills_take_the_style_of_their_column(data: st.DataObject) -> None:
    number = data.draw(st.floats(-1e6, 1e6).filter(lambda value: not math.isnan(value)))
    text = "a;b;c;d;e\n€ 1.234,50;12,5%;03.04.2024;Ja;x\n€ 2,00;7%;13.04.2024;Nein;y\n;;;;\n"
    table = parse_table(text.encode(), "t.csv", options("t.csv"))
    done = table.frame.with_columns(
        pl.col("a", "b").fill_null(number),
        pl.col("c").fill_null(dt.date(2023, 1, 2)),
        pl.col("d").fill_null(value=True),
        pl.col("e").fill_null("y"),
    )
    last = delimited.encode(done, table, "o.csv")[0][1].decode().splitlines()[-1].split(";")
    assert last[2:] == ["02.01.2023", "Ja", "y"]
    again = parse_table(delimited.encode(done, table, "o.csv")[0][1], "o.csv", options("o.csv")).frame
    assert again["a"][2] == pytest.approx(round(number, 2), abs=0.0051)
    assert again["b"][2] == pytest.approx(round(number, 1), abs=0.051)
    assert last[1].endswith("%")


@pytest.mark.parametrize("ending", [".libsvm", ".xmlc"])
@pytest.mark.parametrize("frame", [ONE_EACH, SPARSE])
def test_labels_of_libsvm_keep_their_numbers(tmp_path: Path, ending: str, frame: pl.DataFrame) -> None:
    labels = tuple(name for name in frame.columns if name.startswith("label"))
    write_table(frame, TableFile(frame, "t", labels=labels), tmp_path / f"t{ending}")
    back = read_table(tmp_path / f"t{ending}")
    assert back.frame.schema == frame.schema
    assert back.frame.equals(frame)
    assert back.labels == labels
