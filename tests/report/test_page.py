"""The page as text: one file, nothing fetched, nothing that could run but its own script."""

import json
import re
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from zlib import decompress

import pytest

from cocomplete.report.html import render
from cocomplete.report.record import Judged, ReportRecord
from cocomplete.report.words import headline
from tests.report.example_record import UGLY_NAME, example_record
from tests.report.wide_record import wide_record

MEGABYTE = 1_000_000


class Elements(HTMLParser):
    """The page's elements with their attributes, and the text of its scripts and style sheet."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] in {"script", "style"} and data.strip():
            self.inside.append(data)


@pytest.fixture(scope="module")
def page() -> str:
    return render(example_record())


def block(page: str, name: str) -> str:
    return re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', page, re.S)[1]


def test_the_same_record_gives_the_same_bytes(page: str) -> None:
    assert render(example_record()).encode() == page.encode()


def test_the_policy_knows_its_style_sheet_and_script_and_nothing_else(page: str) -> None:
    elements = Elements(page)
    policy = next(
        attributes["content"]
        for tag, attributes in elements.found
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    script = re.search(r"<script>(.*?)</script>", page, re.S)[1]
    for kind, text in (("style", style), ("script", script)):
        assert f"{kind}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_nothing_is_fetched_and_nothing_runs_in_attributes(page: str) -> None:
    for tag, attributes in Elements(page).found:
        assert tag not in {"img", "iframe", "object", "embed", "base", "form", "audio", "video"}
        for name, value in attributes.items():
            assert name != "style"
            assert not name.startswith("on")
            if name in {"src", "href"}:
                assert value.startswith("#") or value == "data:,"
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    assert set(re.findall(r"url\(([^)]*)\)", style)) == {'"#hatch"', '"#uncertain"'}
    assert "@import" not in style


def test_names_cannot_end_a_block_of_data() -> None:
    record = example_record()
    columns = list(record.given.columns)
    names = ("</script><script>alert(1)</script>", "<!-- <script>", "a\u2028b\u2029c", "\ud800 half", "&amp;")
    for place, name in enumerate(names):
        columns[place] = replace(columns[place], name=name)
    page = render(replace(record, given=replace(record.given, columns=tuple(columns))))
    assert page.count("</script>") == 3
    inside = block(page, "numbers")
    assert not set("<>&\u2028\u2029") & set(inside)
    read = [column[0] for column in json.loads(inside)["columns"]]
    assert read[: len(names)] == [*names[:3], "\ufffd half", names[4]]
    page.encode()  # halves of characters would not let it


def test_packed_numbers_are_those_of_the_record(page: str) -> None:
    packed = json.loads(decompress(b64decode(block(page, "figures"))))
    distribution = example_record().columns[0].distribution
    assert packed["numbers"]["d0"][3:] == [list(distribution.observed), list(distribution.filled)]
    assert packed["drawings"] == {}


def test_sentences_and_names_are_on_the_page_escaped(page: str) -> None:
    record = example_record()
    assert UGLY_NAME not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    for part in (record.verdict, record.given, record.found, record.done, record.limits, record.filled):
        assert part.sentence in page


def test_500_columns_with_long_names_fit_in_two_megabytes() -> None:
    record = wide_record(480, 20, 1000)
    long = [f"a rather long name, as questionnaires have them, {one.name}" for one in record.given.columns]
    columns = zip(record.given.columns, long, strict=True)
    given = replace(record.given, columns=tuple(replace(one, name=name) for one, name in columns))
    tipping = tuple(replace(one, name=long[one.column]) for one in record.limits.tipping)
    page = render(replace(record, given=given, limits=replace(record.limits, tipping=tipping)))
    assert len(page.encode()) < 2 * MEGABYTE
    packed = json.loads(decompress(b64decode(block(page, "figures"))))
    assert len(packed["drawings"]) > 1400


def without(record: ReportRecord) -> ReportRecord:
    """Take away whatever a record may lack."""
    return replace(
        record,
        verdict=replace(record.verdict, judged=(), source="none"),
        labels=(),
        found=replace(record.found, member=None, factors=(), neighbours=(), together=None),
        done=replace(record.done, members=(), certificate=None, seconds=None),
        limits=replace(record.limits, tipping=()),
        filled=replace(record.filled, total=0, cells=()),
    )


def test_what_a_record_lacks_the_page_leaves_out() -> None:
    page = render(without(example_record()))
    for absent in ('id="labels"', "data-tipping ", "data-browse ", "Certificate", "Leading factors"):
        assert absent not in page


def test_certificate_and_time_are_told(page: str) -> None:
    assert "proved to lie within 0.0007 of the minimum" in page
    assert "1.5 seconds" in page


def judged(part: str, compared: str) -> Judged:
    return Judged(part, "share wrong", 0.1, 0.2, "the commoner value", 9, compared)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([], ""),
        ([("features", "better")], "Features were filled better than by the trivial answer."),
        (
            [("features", "better"), ("labels", "level"), ("labels of new rows", "worse")],
            "Features were filled better than by the trivial answer; labels no better; labels of new rows "
            "worse.",
        ),
        (
            [("labels", "level"), ("labels", "better")],
            "Labels were filled no better than by the trivial answer.",
        ),
        (
            [("labels", "better"), ("labels", "worse")],
            "Labels were filled worse than by the trivial answer.",
        ),
    ],
)
def test_the_headline_follows_from_the_numbers(parts: list[tuple[str, str]], said: str) -> None:
    assert headline([judged(part, compared) for part, compared in parts]) == said
