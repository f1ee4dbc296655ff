"""Options that several commands have, declared once."""

from typing import Annotated

import typer

Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        "-l",
        help="Label columns: names or glob patterns, comma-separated; repeatable. 'class=*' makes one label "
        "of every value of the column class, 'genres=;' of every tag in lists such as rock;live.",
    ),
]
Features = Annotated[
    list[str] | None,
    typer.Option("--features", "-f", help="Feature columns; same patterns. All others by default."),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore", "--id", "-i", help="Columns to carry over untouched and not use; same patterns."
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--types",
        "-t",
        help="COLUMN=KIND: number, positive, yes-no, category, ordinal, count, date, bounds such as 0..10, "
        "or levels from the lowest such as low<mid<high; repeatable.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", help="A further word for unknown, such as -999; repeatable."),
]
Separator = Annotated[str | None, typer.Option(help="Between the cells of a text file.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of a text file, '.' or ','.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file, such as cp1252.")]
Checked = Annotated[
    str | None, typer.Option(help="A word that ticks a box, such as x: empty cells of its column mean no.")
]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook.")]
SkipLines = Annotated[
    int, typer.Option("--skip-lines", min=0, help="Lines of a text file above its line of column names.")
]
Output = Annotated[
    str, typer.Option("--output", "-o", help="Where to write; '-' is standard output, as CSV.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing unless something is wrong.")]
Json = Annotated[bool, typer.Option("--json", help="Print what was found as JSON on standard output.")]
Seed = Annotated[int, typer.Option(min=0, help="Which cells are held out to judge by.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Threads; all cores by default.")]
