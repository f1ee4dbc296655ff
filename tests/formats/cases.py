"""Nasty files and what each is expected to give."""

import math
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

LETTERS = ("NA", "n/a", "N.A.", "NaN", "none", "None", "unknown", "missing", "null", "NULL", "<NA>")
UNKNOWN = ("", *LETTERS, "#N/A", "#NV", "-", "--", ".", "?")
NB, NNB = "\u00a0", "\u202f"


class Case(NamedTuple):
    """A file and its outcome.

    ``columns`` has the values that are expected, ``note`` what one of the notes says, ``error`` what the
    sentence says if the file is refused, ``kept`` whether a CSV is written as it was, byte for byte.
    """

    content: str | bytes
    columns: dict[str, list[Any]] | None = None
    note: str | None = None
    error: str | None = None
    kept: bool = True
    file: str = "t.csv"
    options: dict[str, Any] = {}  # noqa: RUF012 (never changed)


NUMBERS = {
    "point": Case("a,b\n1.5,1\n2,2\n", {"a": [1.5, 2.0], "b": [1, 2]}),
    "decimal comma": Case("a;b\n1,5;1\n2;2\n", {"a": [1.5, 2.0], "b": [1, 2]}),
    "quoted decimal comma": Case('a,b\n"1,5",1\n"2,25",2\n', {"a": [1.5, 2.25]}),
    "thousands commas": Case('a,b\n"1,234.5",1\n"12,345,678.25",2\n', {"a": [1234.5, 12345678.25]}),
    "thousands points": Case("a;b\n1.234,5;1\n12.345.678,25;2\n", {"a": [1234.5, 12345678.25]}),
    "thousands points alone": Case("a,b\n12.345.678,1\n1.234,2\n", {"a": [12345678, 1234]}),
    "thousands spaces": Case("a;b\n1 234,5;1\n12 345;2\n", {"a": [1234.5, 12345.0]}),
    "thousands no-break spaces": Case(f"a;b\n1{NB}234,5;1\n2;2\n", {"a": [1234.5, 2.0]}),
    "thousands narrow no-break spaces": Case(f"a;b\n1{NNB}234{NNB}567;1\n2;2\n", {"a": [1234567, 2]}),
    "thousands apostrophes": Case("a,b\n1'234.5,1\n2,2\n", {"a": [1234.5, 2.0]}),
    "1,234 beside 0.5 is thousands": Case(
        'a,b\n"1,234",0.5\n"2,345",1.5\n', {"a": [1234, 2345]}, note="was read as 1234"
    ),
    "1,234 beside 0,5 is a fraction": Case(
        "a;b\n1,234;0,5\n2,345;1,5\n", {"a": [1.234, 2.345]}, note="was read as 1.234"
    ),
    "1,234 alone between semicolons": Case(
        "a;b\n1,234;1\n2,345;2\n", {"a": [1.234, 2.345]}, note="--decimal"
    ),
    "1,234 alone between commas": Case('a,b\n"1,234",1\n"2,345",2\n', {"a": [1234, 2345]}, note="--decimal"),
    "1.234 beside 0,5 is thousands": Case("a;b\n1.234;0,5\n2.345;1,5\n", {"a": [1234, 2345]}, note="1234"),
    "1.234 alone is a fraction": Case("a,b\n1.234,1\n2.345,2\n", {"a": [1.234, 2.345]}),
    "the caller knows the mark": Case("a;b\n1,234;1\n", {"a": [1234]}, options={"decimal": "."}),
    "percents": Case("a,b\n12.5%,1\n7 %,2\n", {"a": [12.5, 7.0]}),
    "some percents": Case("a,b\n12.5%,1\n7,2\n", {"a": ["12.5%", "7"]}),
    "dollars": Case('a,b\n"$1,234.50",1\n-$5.00,2\n', {"a": [1234.5, -5.0]}),
    "euros after": Case("a;b\n1.234,50 €;1\n5,00 €;2\n", {"a": [1234.5, 5.0]}),
    "codes": Case("a,b\nEUR 5,1\nEUR 12,2\n", {"a": [5, 12]}),
    "two currencies": Case("a,b\n$5,1\n€12,2\n", {"a": ["$5", "€12"]}),
    "accounting": Case('a,b\n"(1,200)",1\n30,2\n', {"a": [-1200, 30]}, note="read as -1200"),
    "one bracket": Case("a,b\n(12,1\n30,2\n", {"a": ["(12", "30"]}),
    "minus after": Case("a,b\n12-,1\n30,2\n", {"a": [-12, 30]}),
    "true minus": Case("a,b\n−12.5,1\n30,2\n", {"a": [-12.5, 30.0]}),
    "plus": Case("a,b\n+12,1\n+3,2\n", {"a": [12, 3]}),
    "scientific": Case("a,b\n1.5e-3,1\n2E4,2\n", {"a": [0.0015, 20000.0]}),
    "no digit before the point": Case("a,b\n.5,1\n-.25,2\n", {"a": [0.5, -0.25]}),
    "infinite": Case("a,b\ninf,1\n-inf,2\n0,3\n", {"a": [float("inf"), float("-inf"), 0.0]}),
    "leading zeros": Case("a,b\n007,1\n10,2\n", {"a": ["007", "10"]}),
    "hexadecimal": Case("a,b\n0x1F,1\n0x2A,2\n", {"a": ["0x1F", "0x2A"]}),
    "long identifiers": Case("a,b\n12345678901234567891,1\n5,2\n", {"a": ["12345678901234567891", "5"]}),
    "long but exact": Case("a,b\n100000000000000000000,1\n5,2\n", {"a": [1e20, 5.0]}),
    "Unix times": Case("a,b\n1708600000,1\n1708600001,2\n", {"a": [1708600000, 1708600001]}),
    "hundreds of digits": Case(f"a,b\n{'9' * 400},1\n5,2\n", {"a": ["9" * 400, "5"]}),
    "thousands of digits": Case(f"a,b\n{'9' * 5000}.5,1\n5,2\n", {"a": [math.inf, 5.0]}),
    "digits of another script": Case("a,b\n١٢,1\n٣,2\n", {"a": ["١٢", "٣"]}),
    "digits that are codes": Case("a,b\n12,1\nNA,2\n", {"a": ["12", None]}, options={"as_text": ["a"]}),
    "almost numbers": Case(
        "a,b\n" + "1,2\n" * 9 + "heavy,3\n", {"a": ["1"] * 9 + ["heavy"]}, note="'heavy' (line 11)"
    ),
    "versions are no dates": Case("a,b\n1.2.3,1\n1.2.10,2\n", {"a": ["1.2.3", "1.2.10"]}),
}

DATES = {
    "ISO": Case("a,b\n2024-02-01,1\n?,2\n", {"a": [date(2024, 2, 1), None]}),
    "dots": Case("a,b\n01.02.2024,1\n3.12.1999,2\n", {"a": [date(2024, 2, 1), date(1999, 12, 3)]}),
    "month first": Case("a,b\n01/02/2024,1\n12/31/1999,2\n", {"a": [date(2024, 1, 2), date(1999, 12, 31)]}),
    "day first": Case("a,b\n01/02/2024,1\n31/12/1999,2\n", {"a": [date(2024, 2, 1), date(1999, 12, 31)]}),
    "either first": Case("a,b\n01/02/2024,1\n", {"a": [date(2024, 2, 1)]}, note="day first"),
    "another column tells": Case(
        "a,b\n01/02/2024,12/31/2023\n", {"a": [date(2024, 1, 2)], "b": [date(2023, 12, 31)]}
    ),
    "the caller knows the order": Case(
        "a,b\n01/02/2024,1\n", {"a": [date(2024, 1, 2)]}, options={"day_first": False}
    ),
    "neither": Case("a,b\n13/02/2024,1\n02/13/2024,2\n", {"a": ["13/02/2024", "02/13/2024"]}),
    "no such day": Case("a,b\n2024-02-30,1\n2024-02-01,2\n", {"a": ["2024-02-30", "2024-02-01"]}),
    "month names": Case("a,b\n3 Feb 2024,1\n28 Dec 1999,2\n", {"a": [date(2024, 2, 3), date(1999, 12, 28)]}),
    "German months": Case(
        "a,b\n12. März 2024,1\n3. Mai 2023,2\n", {"a": [date(2024, 3, 12), date(2023, 5, 3)]}
    ),
    "French months": Case(
        "a,b\n3 févr. 2023,1\n14 mars 2024,2\n", {"a": [date(2023, 2, 3), date(2024, 3, 14)]}
    ),
    "French months without accents": Case("a,b\n3 AOUT 2023,1\n", {"a": [date(2023, 8, 3)]}),
    "Spanish months": Case("a,b\n4 de mayo de 2022,1\n1 de enero de 2021,2\n")._replace(
        columns={"a": [date(2022, 5, 4), date(2021, 1, 1)]}
    ),
    "months of two languages": Case(
        "a,b\n3 mars 2023,1\n4 enero 2022,2\n", {"a": ["3 mars 2023", "4 enero 2022"]}
    ),
    "words between numbers": Case(
        "a,b\n3 boxes 2023,1\n4 sacks 2022,2\n", {"a": ["3 boxes 2023", "4 sacks 2022"]}
    ),
    "months cut short with a dot": Case(
        "a,b\n3 Feb. 2024,1\n4 May 2024,2\n", {"a": [date(2024, 2, 3), date(2024, 5, 4)]}
    ),
    "two-digit years": Case(
        "a,b\n31/12/68,1\n01/01/69,2\n", {"a": [date(2068, 12, 31), date(1969, 1, 1)]}, note="two-digit years"
    ),
    "times": Case("a,b\n2024-02-01 13:45,1\n", {"a": [datetime(2024, 2, 1, 13, 45)]}),
    "times of day": Case("a,b\n2/1/2024 1:45 PM,1\n13/1/2024 12:05 am,2\n")._replace(
        columns={"a": [datetime(2024, 1, 2, 13, 45), datetime(2024, 1, 13, 0, 5)]}
    ),
    "zones": Case(
        "a,b\n2024-02-01T13:45:00+02:00,1\n2024-02-01T13:45:00Z,2\n",
        {"a": [datetime(2024, 2, 1, 11, 45, tzinfo=UTC), datetime(2024, 2, 1, 13, 45, tzinfo=UTC)]},
    ),
}

WORDS = {
    "yes and no": Case("a,b\nYes,1\nNO,2\n,3\n", {"a": [True, False, None]}),
    "only yes": Case("a,b\nyes,1\nyes,2\n", {"a": [True, True]}),
    "only f": Case("a,b\nf,1\nf,2\n", {"a": ["f", "f"]}),
    "ja": Case("a,b\nja,1\nnein,2\n", {"a": [True, False]}),
    "oui": Case("a,b\noui,1\nnon,2\n", {"a": [True, False]}),
    "sí": Case("a,b\nsí,1\nno,2\n", {"a": [True, False]}),
    "pos": Case("a,b\nPos,1\nneg,2\n", {"a": [True, False]}),
    "plus and minus": Case("a,b\n+,1\n-,2\n?,3\n", {"a": [True, False, None]}),
    "0 and 1 stay numbers": Case("a,b\n0,1\n1,2\n", {"a": [0, 1]}),
    "crosses, if told": Case("a,b\nx,1\n,2\n?,3\n", {"a": [True, False, None]}, options={"checked": "x"}),
    "crosses, if not": Case("a,b\nx,1\n,2\n", {"a": ["x", None]}),
    "every word for unknown": Case(
        "a,b\n" + "".join(f"{word},1\n" for word in UNKNOWN) + "5,1\n", {"a": [None] * len(UNKNOWN) + [5]}
    ),
    "a word of one's own": Case("a,b\nk.A.,1\n5,2\n", {"a": [None, 5]}, options={"missing": ["k.A."]}),
    "none is an answer": Case(
        "a,b\nnone,1\nmild,2\nsevere,3\n",
        {"a": ["none", "mild", "severe"]},
        note="'none' is taken for an answer",
    ),
    "none beside holes": Case("a,b\nnone,1\nmild,2\nNA,3\n", {"a": [None, "mild", None]}),
    "-999": Case("a,b\n-999,1\n5,2\n6,3\n-999,4\n", {"a": [-999, 5, 6, -999]}, note="-999 in column 'a'"),
    "99": Case("a,b\n99,1\n1,2\n2,3\n99,4\n", {"a": [99, 1, 2, 99]}, note="--missing=99"),
    "nothing known": Case("a,b\n,1\nNA,2\n", {"a": [None, None]}),
}

LAYOUTS = {
    "tabs": Case("a\tb\n1\tx y\n", {"a": [1], "b": ["x y"]}, file="t.tsv"),
    "bars": Case("a|b\n1|2,5\n", {"a": [1], "b": [2.5]}),
    "sep=": Case("sep=;\na;b\n1;2\n", {"a": [1], "b": [2]}),
    "a separator of one's own": Case("a^b\n1^2\n", {"a": [1], "b": [2]}, options={"separator": "^"}),
    "comments and blank lines": Case(
        "# one\n\n# two, three\na,b\n1,2\n\n# four\n3,4\n", {"a": [1, 3], "b": [2, 4]}
    ),
    "rows of nothing before the header": Case(",,\n,,\na,b,c\n1,2,3\n,,\n", {"a": [1, None], "c": [3, None]}),
    "a row of nothing": Case("a\tb\n\t\n1\t2\n", {"a": [None, 1]}),
    "names in a comment": Case(
        "# made by x\n#a,b\n1,2\n3,4\n", {"a": [1, 3], "b": [2, 4]}, note="begins with #"
    ),
    "a quote in a comment": Case('# x, "y\na,b\n1,2\n', {"a": [1], "b": [2]}),
    "a cell that begins with #": Case("a,b\n#1,2\n#2,3\n", {"a": ["#1", "#2"]}),
    "spaces in the header": Case(" a , b\n1, 2\n3, 4\n", {"a": [1, 3], "b": [2, 4]}, note="spaces around"),
    "duplicate names": Case("a,a,a.1\n1,2,3\n", {"a": [1], "a.2": [2], "a.1": [3]}, note="'a' became 'a.2'"),
    "empty names": Case("a,,\n1,2,3\n", {"a": [1], "column 2": [2], "column 3": [3]}, note="'column 2'"),
    "names that are numbers": Case(
        "1,2\n3,4\n", {"1": [3], "2": [4]}, note="the first line holds numbers alone"
    ),
    "row names": Case(
        "a,b\nr1,1,2\nr2,3,4\n", {"column 1": ["r1", "r2"], "a": [1, 3]}, note="one cell more", kept=False
    ),
    "a separator at every end": Case(
        "a,b\n1,2,\n3,4,\n", {"a": [1, 3], "column 3": [None, None]}, note="ends in", kept=False
    ),
    "quotes": Case('a,b\n"x, ""y""",1\n', {"a": ['x, "y"']}),
    "quotes in the middle": Case('a,b\n5" pipe,1\n', {"a": ['5" pipe']}),
    "spaces before quotes": Case('a,b\n1, "x, y"\n', {"b": ["x, y"]}),
    "line ends in quotes": Case('a,b\r\n"x\r\ny",1\r\nz,2\r\n', {"a": ["x\r\ny", "z"]}),
    "CRLF": Case("a,b\r\n1,2\r\n", {"a": [1], "b": [2]}),
    "CR": Case("a,b\r1,2\r3,4\r", {"a": [1, 3], "b": [2, 4]}),
    "no final line end": Case("a,b\n1,2", {"a": [1], "b": [2]}),
    "one column": Case("a\n1\n\n3\n", {"a": [1, None, 3]}),
    "UTF-8 with mark": Case("é,b\n1,2\n".encode("utf-8-sig"), {"é": [1]}),
    "UTF-16": Case("é,b\n1,2\n".encode("utf-16"), {"é": [1]}),
    "UTF-16 big-endian": Case(b"\xfe\xff" + "é,b\n1,2\n".encode("utf-16-be"), {"é": [1]}),
    "UTF-16 without mark": Case("a,b\n1,2\n".encode("utf-16-le"), {"a": [1]}),
    "Windows-1252": Case("a,b\nMüller “x”,2\n".encode("cp1252"), {"a": ["Müller “x”"]}, note="Windows-1252"),
    "Latin-1 where 1252 has nothing": Case(b"a,b\n\x81,2\n", {"b": [2]}, note="Latin-1"),
    "an encoding of one's own": Case(
        "а,b\n1,2\n".encode("koi8-r"), {"а": [1]}, options={"encoding": "koi8-r"}
    ),
}

REFUSED = {
    "empty": Case("", error="t.csv is empty"),
    "blank": Case(" \n\n", error="t.csv is empty"),
    "a lone header": Case("a,b\n", error="2 column(s) and 0 row(s)"),
    "comments alone": Case("# x\n# y\n", error="no line of column names"),
    "a row too long": Case(
        "a,b\n1,2\n1,2,3\n", error="line 3, column 3: the row has 3 cell(s), more than the 2"
    ),
    "a row too short": Case(
        "a,b,c\n1,2,3\n1,2\n", error="line 3, column 3: the row has 2 cell(s), fewer than the 3"
    ),
    "prose under one name": Case(
        "name\nSmith, John\nDoe, Jane\n", error="line 2, column 2: the row has 2 cell(s)"
    ),
    "a title above the header": Case(
        "Report\n\na,b\n1,2\n",
        error="line 3 looks like the line of column names",
    ),
    "titles in a spreadsheet": Case(
        "Report;;\n2024;;\n;;\na;b;c\nx;y;z\n", error="say --skip-lines 3 if it is"
    ),
    "titles above text": Case("Report\na;b\nx;y\n", error="line 2 looks like the line of column names"),
    "titles that are skipped": Case(
        'A "report;\r\nof, ours\r\na;b\r\n1;2\r\n', {"a": [1], "b": [2]}, options={"skip_lines": 2}
    ),
    "lines are counted from the first": Case(
        "Report\na;b\n1;2\n3\n", error="line 4, column 2", options={"skip_lines": 1}
    ),
    "more lines skipped than there are": Case(
        "a;b\n1;2\n", error="has no line of column names", options={"skip_lines": 5}
    ),
    "less than no line skipped": Case("a\n1\n", error="must be 0 or more", options={"skip_lines": -1}),
    "a name alone above unnamed columns": Case(
        "a,,\n1,2,3\n4,5,6\n", {"a": [1, 4], "column 2": [2, 5]}, note="column(s) without a name"
    ),
    "a quote left open": Case(
        'a,b\n1,"2\n3,4\n', error="line 2, column 2: a quote is opened and never closed"
    ),
    "text after a quote": Case('a,b\n"1"2,3\n', error="line 2, column 1: '2' follows a closing quote"),
    "NUL": Case("a,b\n1,\x002\n", error="line 2: character 3 is NUL"),
    "not the encoding named": Case(
        b"a,b\n\xff,1\n", error="is not UTF-8 text", options={"encoding": "utf-8"}
    ),
    "half a character of UTF-16": Case("a,b\n1,2\n".encode("utf-16") + b"x", error="is not UTF-16-LE text"),
    "no such encoding": Case(
        "a,b\n1,2\n", error="there is no encoding 'klingon'", options={"encoding": "klingon"}
    ),
    "a separator of two": Case("a,b\n1,2\n", error="must be one character", options={"separator": "::"}),
    "a decimal mark of no kind": Case("a,b\n1,2\n", error="decimal must be", options={"decimal": ";"}),
    "no Parquet": Case("PAR1 no", error="cannot be read as Parquet", file="t.parquet"),
    "no Feather": Case("ARROW1 no", error="cannot be read as Feather", file="t.feather"),
    "no workbook": Case("PK no", error="cannot be read as an Excel workbook", file="t.xlsx"),
    "no NPZ": Case("PK no", error="cannot be read as NPZ", file="t.npz"),
    "no ARFF": Case("hello", error="t.arff is not valid ARFF", file="t.arff"),
    "an ARFF word in numbers": Case(
        "@relation r\n@attribute a numeric\n@data\nx\n", error="not valid ARFF", file="t.arff"
    ),
    "an ARFF index too high": Case(
        "@relation r\n@attribute a numeric\n@data\n{5 1}\n", error="not valid ARFF", file="t.arff"
    ),
    "MEKA with more labels than attributes": Case(
        "@relation 'r: -C 3'\n@attribute a {0,1}\n@data\n1\n", error="says -C 3, but it has 1", file="t.arff"
    ),
    "LIBSVM with words": Case("1 1:x\n", error="line 1, column 2: '1:x' is no pair", file="t.libsvm"),
    "LIBSVM with a wrong label": Case("1,a 1:2\n", error="line 1, column 1: 'a' is no label", file="t.svm"),
    "LIBSVM with an index twice": Case("1 1:2 1:3\n", error="index 1 occurs twice", file="t.svm"),
    "LIBSVM of nothing": Case("# x\n", error="holds no row", file="t.svm"),
    "LIBSVM wider than memory": Case("1 99999999999:1\n", error="too many to complete", file="t.svm"),
    "sizes of other rows": Case("3 2 2\n0 0:1\n", error="says 3 rows, but 1 follow", file="t.xmlc"),
    "sizes of fewer features": Case("1 2 2\n0 5:1\n", error="one has the index 5", file="t.xmlc"),
    "sizes of fewer labels": Case("1 2 2\n7 1:1\n", error="but one is 7", file="t.xmlc"),
    "sizes beyond memory": Case("1 2 999999999999\n7 1:1\n", error="too many to complete", file="t.xmlc"),
    "names of LIBSVM damaged": Case("# columns: {x\n1 1:1\n", error="line 1: the comment", file="t.svm"),
    "an unknown ending": Case("a,b\n1,2\n", error="no known kind of table", file="t.ods"),
}

OTHERS = {
    "sparse ARFF": Case(
        "@relation s\n@attribute a numeric\n@attribute b {x,y}\n@data\n{0 1.5}\n{1 y}\n",
        {"a": [1.5, 0.0], "b": ["x", "y"]},
        file="t.arff",
    ),
    "ARFF with dates and words": Case(
        '@relation s\n@attribute d date "yyyy-MM-dd"\n@attribute b {no,yes}\n@data\n"2020-01-02",yes\n?,?\n',
        {"d": [date(2020, 1, 2), None], "b": [True, None]},
        file="t.arff",
    ),
    "LIBSVM with one label": Case("+1 1:2\n-1 2:0.5\n", {"feature 1": [2, 0], "label": [1, 0]}, file="t.svm"),
    "LIBSVM with three states": Case(
        "0,2 1:2\n?2 1:nan\n 1:1\n", {"feature 1": [2, None, 1], "label 2": [1, None, 0]}, file="t.libsvm"
    ),
    "sizes in a .txt": Case(
        "2 2 2\n0 0:1\n0,1 1:0.5\n", {"feature 1": [0.0, 0.5], "label 1": [0, 1]}, file="t.txt"
    ),
    "numbers in a .txt": Case("3 4 5\n1\n2\n", {"3 4 5": [1, 2]}, file="t.txt"),
}

CASES = {**NUMBERS, **DATES, **WORDS, **LAYOUTS, **REFUSED, **OTHERS}
