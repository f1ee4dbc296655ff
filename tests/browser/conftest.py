"""A browser for the tests of the report: Debian's Chromium, driven by Playwright, and axe-core from npm.

A developer without them sees the tests skipped, with what to do; where ``CI=true`` they fail instead.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from cocomplete.report.html import render
from cocomplete.report.record import ReportRecord
from tests.report.example_record import example_record
from tests.report.wide_record import wide_record

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"

# Nothing but the page: no sandbox for root, and none of Chromium's own calls home.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

LONG_NAME = "length " * 42 + "of three hundred"
STRANGE_NAMES = ("🫁 lung capacity", "ضغط الدم", LONG_NAME, "x" * 300, "</script><!-- \u2028 -->")

OpenPage = Callable[..., Page]


def not_here(reason: str) -> None:
    """Skip the tests, or let them fail where they must run."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start one browser for a module."""
    program = os.environ.get("COCOMPLETE_CHROMIUM") or shutil.which("chromium")
    if program is None:
        not_here("no chromium: install Debian's package chromium, or name one in COCOMPLETE_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """Read axe-core, which looks for what shuts readers out."""
    if not AXE.exists():
        not_here("no axe-core: run `make browser`")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def open_page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPage]:
    """Open pages of records; in the end, none may have complained or asked for anything outside."""
    folder = tmp_path_factory.mktemp("pages")
    complaints: list[str] = []
    asked: set[str] = set()
    files: dict[int, Path] = {}

    def open_one(record: ReportRecord, **context: object) -> Page:
        file = files.setdefault(id(record), folder / f"{len(files)}.html")
        if not file.exists():
            file.write_text(render(record), encoding="utf-8")
        settings = {"viewport": {"width": 1280, "height": 900}} | context
        page = browser.new_context(**settings).new_page()  # type: ignore[arg-type]
        page.set_default_timeout(4000)
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type == "error" else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"a script of the table ran: {dialog.message}"))
        page.on("request", lambda request: asked.add(request.url))
        page.goto(file.as_uri())
        return page

    yield open_one
    assert complaints == []
    assert {url for url in asked if not url.startswith(("file:", "data:", "blob:"))} == set()
    assert {url for url in asked if url.startswith("file:")} <= {file.as_uri() for file in files.values()}


@pytest.fixture(scope="session")
def usual() -> ReportRecord:
    """Make a record with 7 features, 3 labels and 300 filled cells; its first column tips at 0.3."""
    record = wide_record(7, 3, 300, points=40)
    first = replace(
        record.limits.tipping[0], mean=10.2, standard_error=0.3, share_filled=0.2, sd=5.0, delta=0.3
    )
    return replace(record, limits=replace(record.limits, tipping=(first, *record.limits.tipping[1:])))


@pytest.fixture(scope="session")
def wide() -> ReportRecord:
    """Make a record of so many columns that the script draws them."""
    return wide_record(90, 5, 300, points=40)


@pytest.fixture(scope="session")
def strange() -> ReportRecord:
    """Make a record in which every name is one that pages trip over."""
    record = example_record()
    columns = list(record.given.columns)
    for place, name in zip((0, 1, 3, 4, 5), STRANGE_NAMES, strict=True):
        columns[place] = replace(columns[place], name=name)
    tipping = (replace(record.limits.tipping[0], name=STRANGE_NAMES[4]), *record.limits.tipping[1:])
    labels = (replace(record.labels[0], name=LONG_NAME), *record.labels[1:])
    return replace(
        record,
        title=STRANGE_NAMES[4],
        given=replace(record.given, columns=tuple(columns)),
        labels=labels,
        limits=replace(record.limits, tipping=tipping),
    )
