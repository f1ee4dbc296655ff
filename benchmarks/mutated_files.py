"""Damaged files of every format through the readers: each gives a table, or one sentence that names it.

``make mutated`` runs 50 000; the tests run 2 000.
"""

import argparse
import datetime as dt
import io
import random
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from cocomplete.exceptions import InputError
from cocomplete.formats.files import parse_table
from cocomplete.formats.mulan_xml import read_labels, write_labels
from cocomplete.formats.registry import BY_ENDING
from cocomplete.formats.table_file import ReadOptions, TableFile

CSV = """# visits of a clinic
id;age; weight ;cost;share;seen;smoker;note;y 1;y 2
a1;61;80,50;€ 1.234,50;12,5%;01.02.2024;ja;"says ""no""; twice";1;0
b2;;72,25;€ 99,00;7,0%;15.02.2024;nein;plain;0;NA
c3;45;n/a;(€ 5,00);100%;31.12.2023;?;"two
lines";1;1

d4;39;66,00;;0,5%;-;nein;;;0
"""
ARFF = """@relation 'songs: -C 2'
@attribute loud {0,1}
@attribute 'not \\'soft\\'' {0,1}
@attribute tempo numeric
@attribute key {c, 'd sharp', e}
@attribute heard date "yyyy-MM-dd"
@data
1,0,120.5,c,"2020-01-02"
?,1,?,'d sharp',?
0,?,-2e1,e,"1999-12-31"
"""
SPARSE = """@relation s
@attribute a numeric
@attribute b {x,y}
@attribute c {0,1}
@data
{0 1.5,2 1}
{}
{1 y}
"""
XMLC = "3 4 2\n0,1 0:1.5 3:2\n 1:0.5\n1 2:nan 3:-1e3\n"
INSERTED = (
    b'"',
    b"'",
    b"\0",
    b"\n",
    b"\r",
    b",",
    b";",
    b"\t",
    b"{",
    b"}",
    b"%",
    b":",
    b"-",
    b"9" * 30,
    b"8" * 5000,
    b"\xff",
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "cp1252", "latin-1", "utf-32")


def seeds() -> list[tuple[str, bytes]]:
    """Give small whole files, each with the ending that says what it is."""
    frame = pl.DataFrame(
        {
            "n": [1, None, 3, 4],
            "x": [0.5, None, -2.25, 1e-7],
            "yes": [True, None, False, True],
            "text": ["a", "b, c", None, 'd "e"'],
            "day": [dt.date(2020, 1, 2), None, dt.date(1999, 12, 31), dt.date(2024, 2, 29)],
            "y1": [1, 0, None, 1],
            "y2": [0, None, 1, 1],
        }
    )
    numbers = frame.drop("text", "day")
    found = [
        (".csv", CSV.encode()),
        (".csv", CSV.replace(";", "\t").encode("utf-16")),
        (".txt", XMLC.encode()),
    ]
    found += [(".arff", ARFF.encode()), (".arff", SPARSE.encode()), (".xml", write_labels(("y1", "y & 2")))]
    for ending in (".csv", ".tsv", ".parquet", ".feather", ".xlsx", ".arff", ".npz", ".libsvm", ".xmlc"):
        table = numbers if ending in (".libsvm", ".xmlc") else frame
        file = TableFile(table, "seed", labels=("y1", "y2"))
        found.append((ending, BY_ENDING[ending].encode(table, file, f"seed{ending}")[0][1]))
    # Other compressions: a damaged size may ask for any amount of memory.
    for ending, compression in (
        (".feather", "zstd"),
        (".feather", "lz4"),
        (".parquet", "snappy"),
        (".parquet", "gzip"),
    ):
        buffer = io.BytesIO()
        write = frame.write_ipc if ending == ".feather" else frame.write_parquet
        write(buffer, compression=compression)
        found.append((ending, buffer.getvalue()))
    return found


def _flip(content: bytearray, at: int, draw: random.Random) -> bytes:
    content[at] ^= 1 << draw.randrange(8)
    return bytes(content)


def _delete(content: bytearray, at: int, draw: random.Random) -> bytes:
    del content[at : at + draw.choice((1, 1, 2, 8, 40))]
    return bytes(content)


def _double(content: bytearray, at: int, draw: random.Random) -> bytes:
    content[at:at] = content[at : at + draw.choice((1, 4, 40, 400))]
    return bytes(content)


def _truncate(content: bytearray, at: int, draw: random.Random) -> bytes:
    return bytes(content[:at])


def _insert(content: bytearray, at: int, draw: random.Random) -> bytes:
    content[at:at] = draw.choice(INSERTED)
    return bytes(content)


def _overwrite(content: bytearray, at: int, draw: random.Random) -> bytes:
    length = draw.choice((1, 2, 4, 8))
    content[at : at + length] = draw.choice((b"\xff" * length, b"\0" * length, draw.randbytes(length)))
    return bytes(content)


def _encode(content: bytearray, at: int, draw: random.Random) -> bytes:
    return content.decode("utf-8", errors="replace").encode(draw.choice(ENCODINGS), errors="replace")


MUTATIONS: tuple[Callable[[bytearray, int, random.Random], bytes], ...] = (
    *(_flip, _delete, _double, _truncate, _insert, _overwrite),
    _encode,
)


def mutated(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Give damaged files: of a seed in turn, one to four mutations, of an archive also inside its parts."""
    draw = random.Random(seed)
    whole = seeds()
    for number in range(count):
        ending, content = whole[number % len(whole)]
        if ending in (".xlsx", ".npz") and draw.random() < 0.5:
            parts = _unzipped(content)
            name = draw.choice(sorted(parts))
            parts[name] = _damaged(parts[name], draw)
            yield ending, _zipped(parts)
        else:
            yield ending, _damaged(content, draw)


def _damaged(content: bytes, draw: random.Random) -> bytes:
    for _ in range(draw.choice((1, 1, 2, 4))):
        mutation = draw.choice(MUTATIONS)
        if mutation is _encode and draw.random() < 0.7:
            mutation = _flip
        content = mutation(bytearray(content), draw.randrange(len(content)), draw) if content else b""
    return content


def _unzipped(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _zipped(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def outcome(ending: str, content: bytes) -> str:
    """Read a file, and write it if it is a table: ``table``, ``sentence``, or what got out instead."""
    name = f"file{ending}"
    try:
        if ending == ".xml":
            read_labels(content, name)
        else:
            table = parse_table(content, name, ReadOptions(path=name))
            for target in (ending, ".csv"):
                BY_ENDING[target].encode(table.frame, table, f"{name}{target}")
    except InputError as error:
        text = str(error)
        return (
            "sentence"
            if name in text and len(text.splitlines()) == 1
            else f"not one sentence: {text[:300]!r}"
        )
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "table"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for files that were not read as they should be")
    parser.add_argument("--last", type=Path, help="where each file is kept while it is read, for crashes")
    arguments = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for number, (ending, content) in enumerate(mutated(arguments.count, arguments.seed)):
        if arguments.last:
            arguments.last.write_bytes(ending.encode() + b"\n" + content)
        result = outcome(ending, content)
        counts[ending, result] += 1
        if result not in ("table", "sentence"):
            print(f"{number} {ending}: {result}", flush=True)
            if arguments.keep:
                (arguments.keep / f"{number}{ending}").write_bytes(content)
    for ending in sorted({ending for ending, _ in counts}):
        tables, sentences = counts[ending, "table"], counts[ending, "sentence"]
        print(f"{ending:10} {tables:6} tables {sentences:6} sentences")
    wrong = sum(count for (_, result), count in counts.items() if result not in ("table", "sentence"))
    print(f"{arguments.count} files, {wrong} of them neither a table nor one sentence")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
