"""Files as people have them: each with the table, the note or the sentence it must give."""

from pathlib import Path

import pytest

from cocomplete.exceptions import InputError
from cocomplete.formats.files import read_table, write_table
from tests.formats.cases import CASES


@pytest.mark.parametrize("name", CASES)
def test_a_nasty_file_gives_what_it_should(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    file = tmp_path / case.file
    file.write_bytes(case.content.encode() if isinstance(case.content, str) else case.content)
    if case.error is not None:
        with pytest.raises(InputError) as caught:
            read_table(file, **case.options)
        assert case.error in str(caught.value)
        assert len(str(caught.value).splitlines()) == 1
        return
    table = read_table(file, **case.options)
    for column, values in (case.columns or {}).items():
        assert table.frame[column].to_list() == values
        assert [type(value) for value in table.frame[column]] == [type(value) for value in values]
    assert (case.note is not None) == bool(table.notes), table.notes
    assert case.note is None or any(case.note in note for note in table.notes), table.notes
    if case.file == "t.csv":
        again = tmp_path / "again.csv"
        write_table(table.frame, table, again)
        assert (again.read_bytes() == file.read_bytes()) is case.kept


def test_there_are_many() -> None:
    assert len(CASES) >= 60
