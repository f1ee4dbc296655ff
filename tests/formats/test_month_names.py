"""Months by their names: fills are written in the language, and the manner, of their column."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from cocomplete.formats.files import read_table, write_table
from cocomplete.formats.month_names import LANGUAGES, language_of, month_number, names_like


@pytest.mark.parametrize(
    ("seen", "filled"),
    [
        (("3 Feb 2024", "28 Dec 1999"), "9 Apr 2024"),
        (("3 FEB 2024", "28 DEC 1999"), "9 APR 2024"),
        (("February 3, 2024", "May 5, 1999"), "April 9, 2024"),
        (("3 Feb. 2024", "5 May 1999"), "9 Apr. 2024"),
        (("12. März 2024", "3. Mai 2023"), "9. April 2024"),
        (("12. Mrz. 2024", "03. Okt. 2023"), "09. Apr. 2024"),
        (("3 févr. 2023", "14 mars 2024"), "9 avr. 2024"),
        (("3 Février 2023", "14 Mars 2024"), "9 Avril 2024"),
        (("4 de mayo de 2022", "1 de enero de 2021"), "9 de abril de 2024"),
        (("4 de mar de 2022", "1 de may de 2021"), "9 de abr de 2024"),
        (("4 mayo 2022", "1 ene 2021"), "9 abril 2024"),
    ],
)
def test_fills_are_written_as_their_column_is(tmp_path: Path, seen: tuple[str, ...], filled: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a;b\n" + "".join(f"{cell};1\n" for cell in (*seen, "")), encoding="utf-8")
    table = read_table(file)
    assert table.frame.schema["a"] == pl.Date
    write_table(table.frame.with_columns(pl.col("a").fill_null(date(2024, 4, 9))), table, file)
    assert file.read_text(encoding="utf-8") == "a;b\n" + "".join(f"{cell};1\n" for cell in (*seen, filled))


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_names_are_read_as_they_are_written(language: str) -> None:
    long, short, _ = LANGUAGES[language]
    for names in (long.split(), short.split()):
        assert language_of(names) == language
        assert [month_number(name, language) for name in names] == list(range(1, 13))
        assert names_like(names, language) == tuple(names)


def test_words_that_are_no_months_have_no_language() -> None:
    assert language_of(["mars", "enero"]) is None
    assert language_of(["boxes"]) is None
