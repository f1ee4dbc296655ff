"""The report, as readers use it: with a mouse, with a keyboard, on a phone, on paper, without scripts."""

import csv
import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from cocomplete.report.html import render
from cocomplete.report.record import ReportRecord
from tests.browser.conftest import LONG_NAME, STRANGE_NAMES, OpenPage
from tests.report.example_record import UGLY_NAME, UGLY_VALUE


@pytest.fixture(scope="module")
def page(open_page: OpenPage, usual: ReportRecord) -> Page:
    return open_page(usual)


@pytest.fixture(autouse=True)
def _as_it_came(request: pytest.FixtureRequest) -> None:
    """Tests come in any order and share a page: it starts afresh for each."""
    if "page" in request.fixturenames:
        request.getfixturevalue("page").reload()


def rows(page: Page) -> list[list[str]]:
    """Read the rows in sight, from top to bottom."""
    found: list[list[str]] = page.eval_on_selector_all(
        "[data-grid-space] [role=row]",
        "rows => rows.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)"
        ".map(row => Array.from(row.children, cell => cell.textContent))",
    )
    return found


def test_contents_lead_to_every_part_in_order(page: Page) -> None:
    links = page.locator(".contents a")
    targets = [links.nth(place).get_attribute("href") for place in range(links.count())]
    assert targets == [
        f"#{part}" for part in ["verdict", "given", "columns", "labels", "found", "done", "limits", "cells"]
    ]
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_sentence_of_the_record_is_on_the_page(page: Page, usual: ReportRecord) -> None:
    text = page.locator("main").text_content()
    parts: list[Any] = [usual.verdict, usual.given, usual.given.holes, usual.given.never_together]
    parts += [usual.found, usual.done, usual.limits, usual.filled, *usual.columns, *usual.labels]
    for part in parts:
        assert part.sentence in text


def test_search_narrows_the_filled_cells(page: Page, usual: ReportRecord) -> None:
    cell = usual.filled.cells[17]
    name = usual.given.columns[cell.column].name
    # Words in any order, of the row, the column or the fill; capitals do not matter.
    page.get_by_label("Search").fill(f"{name.upper()} {cell.row}")
    assert [cell.row, name, cell.text] in [row[:3] for row in rows(page)]
    page.get_by_label("Search").fill("finding")
    wanted = sum(usual.given.columns[one.column].part == "label" for one in usual.filled.cells)
    expect(page.locator("[data-cells-found]")).to_have_text(f"{wanted} of 300 cells")
    assert all(row[1].startswith("finding") for row in rows(page))
    page.get_by_label("Search").fill("nothing of that name")
    expect(page.get_by_text("No filled cell is like that.")).to_be_visible()


@pytest.mark.parametrize("place", range(5))
def test_every_heading_sorts_both_ways(page: Page, place: int) -> None:
    button = page.locator("[data-grid] [role=columnheader] button").nth(place)
    column = page.locator("[data-grid] [role=columnheader]").nth(place)
    seen = []
    for _ in range(2):
        button.click()
        seen.append((column.get_attribute("aria-sort"), rows(page)[0][place]))
    seen.sort()
    assert [order for order, _ in seen] == ["ascending", "descending"]
    assert seen[0][1] != seen[1][1]


def test_rows_are_sorted_as_numbers_where_they_hold_numbers(page: Page) -> None:
    page.locator("[data-cells-column]").select_option(label="measurement 000")
    page.get_by_role("button", name="filled with").click()
    fills = [float(row[2]) for row in rows(page)]
    assert len(fills) > 9
    assert fills[0] < 0
    assert fills == sorted(fills)


def test_filters_by_column_and_by_certainty(page: Page, usual: ReportRecord) -> None:
    page.locator("[data-cells-column]").select_option(label="finding 00")
    assert {row[1] for row in rows(page)} == {"finding 00"}
    page.get_by_label("Certainty at most").fill("30")
    wanted = sum(
        usual.given.columns[cell.column].name == "finding 00" and round(cell.certainty, 3) <= 0.3
        for cell in usual.filled.cells
    )
    expect(page.locator("[data-cells-found]")).to_have_text(f"{wanted} of 300 cells")


def test_only_rows_in_sight_are_in_the_page(page: Page) -> None:
    assert 5 < page.locator("[data-grid-space] [role=row]").count() < 40
    last = max(
        page.eval_on_selector_all("[data-grid-space] [role=row]", "all => all.map(one => one.ariaRowIndex)")
    )
    page.locator("[data-grid-body]").evaluate("body => { body.scrollTop = body.scrollHeight; }")
    page.wait_for_selector('[aria-rowindex="301"]')
    assert int(last) < 301
    assert page.locator("[data-grid-space] [role=row]").count() < 40


def test_a_click_says_why(page: Page, usual: ReportRecord) -> None:
    row = rows(page)[1]
    page.locator('[data-place="1"]').click()
    cell = next(cell for cell in usual.filled.cells if cell.row == row[0])
    panel = page.locator("[data-why]")
    expect(panel.get_by_role("heading", level=3)).to_have_text(f"Why {row[1]} of {row[0]} is {row[2]}")
    table = panel.locator("table").inner_text()
    for pull in cell.why.pulls:
        assert usual.given.columns[pull.column].name in table
        assert pull.value in table
    expect(panel).to_contain_text("70\u00a0% of the answer")
    expect(panel).to_contain_text(", ".join(cell.similar))


def test_the_keyboard_alone_goes_from_search_to_why_and_back(page: Page) -> None:
    page.get_by_label("Search").focus()
    for _ in range(8):  # column, certainty, five headings, the first row
        page.keyboard.press("Tab")
    focused = page.locator(":focus")
    expect(focused).to_have_attribute("aria-rowindex", "2")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    expect(focused).to_have_attribute("aria-rowindex", "3")
    page.keyboard.press("End")
    expect(focused).to_have_attribute("aria-rowindex", "301")
    page.keyboard.press("PageUp")
    page.keyboard.press("Enter")
    expect(focused).to_contain_text("Why ")
    page.keyboard.press("Escape")
    assert 280 < int(focused.get_attribute("aria-rowindex")) < 301
    page.keyboard.press("Home")
    expect(focused).to_have_attribute("aria-rowindex", "2")


def test_focus_can_be_seen(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the verdict")
    page.get_by_label("Search").focus()
    page.keyboard.press("Tab")
    assert page.locator(":focus").evaluate("one => getComputedStyle(one).outlineStyle") == "solid"


def test_the_slider_says_where_the_mean_tips(page: Page, usual: ReportRecord) -> None:
    says, slider = page.locator("[data-tipping-says]"), page.locator("[data-tipping-shift]")
    tipping = usual.limits.tipping[0]
    expect(says).to_have_text(
        f"As filled, the mean of {tipping.name} is 10.20 ± 0.3. "
        "The tipping point is ±0.3 standard deviations."
    )
    slider.fill("0.29")
    expect(says).to_contain_text("no more than its error")
    slider.fill("-0.31")
    expect(says).to_contain_text("lower, the mean of measurement 000 would be 9.89 instead of 10.20: more")
    slider.fill("1")
    expect(says).to_contain_text("would be 11.20")
    page.get_by_label("Column or label").select_option(label="finding 02")
    expect(says).to_contain_text("As filled, the rate of finding 02 is 31.0\u00a0%")
    assert page.locator("[data-tipping-chart] svg").get_attribute("aria-label") == says.inner_text()


@pytest.mark.parametrize("figure", ["d0", "h0", "h4", "r1", "f1", "after", "holes"])
def test_numbers_of_figures_come_as_csv(page: Page, usual: ReportRecord, figure: str) -> None:
    with page.expect_download() as download:
        page.locator(f'[data-figure="{figure}"]').click()
    assert download.value.suggested_filename.endswith(".csv")
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    heading, *lines = csv.reader(io.StringIO(text))
    assert all(len(line) == len(heading) for line in lines)
    if figure == "d0":
        distribution = usual.columns[0].distribution
        assert heading == ["from", "to", "observed cells", "filled cells"]
        assert [int(line[2]) for line in lines] == list(distribution.observed)
        assert [int(line[3]) for line in lines] == list(distribution.filled)
    if figure == "h0":
        truths = [point.truth for point in usual.columns[0].held_out.points]
        assert len(lines) == 40
        assert float(lines[0][0]) == pytest.approx(truths[0], rel=1e-3)


def test_columns_are_found_and_ordered(page: Page, usual: ReportRecord) -> None:
    page.get_by_label("Find a column").fill("ordinal")
    cards = page.locator("[data-cards=columns] .card")
    assert [one for one in cards.all() if one.is_visible()] != []
    expect(page.locator("[data-finder=columns] .found")).to_have_text("1 of 7 columns")
    page.get_by_label("Find a column").fill("")
    page.locator("[data-finder=columns] select").select_option("filled")
    filled = cards.evaluate_all("all => all.map(one => Number(one.dataset.filled))")
    assert filled == sorted((column.filled for column in usual.columns), reverse=True)


def test_light_and_dark(page: Page, open_page: OpenPage, usual: ReportRecord) -> None:
    def background(of: Page) -> str:
        return str(of.evaluate("getComputedStyle(document.documentElement).backgroundColor"))

    light = background(page)
    dark = background(open_page(usual, color_scheme="dark"))
    assert light != dark
    button = page.get_by_role("button", name="Dark colours")
    button.click()
    assert background(page) == dark
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    assert background(page) == light


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["usual", "strange"])
def test_axe_finds_nothing_serious(
    open_page: OpenPage, axe: str, scheme: str, which: str, request: pytest.FixtureRequest
) -> None:
    page = open_page(request.getfixturevalue(which), color_scheme=scheme)
    page.locator('[data-place="0"]').click()
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    page.evaluate(axe)
    found: list[dict[str, Any]] = page.evaluate("axe.run().then(result => result.violations)")
    said = [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"][:3]
    ]
    assert said == []


def test_every_chart_says_what_it_shows(page: Page) -> None:
    charts = page.eval_on_selector_all(
        "svg.chart", "all => all.map(one => [one.getAttribute('role'), one.getAttribute('aria-label')])"
    )
    assert len(charts) > 30
    assert all(role == "img" and len(label) > 8 for role, label in charts)


@pytest.mark.parametrize("which", ["usual", "strange", "wide"])
def test_a_phone_never_scrolls_sideways(
    open_page: OpenPage, which: str, request: pytest.FixtureRequest
) -> None:
    page = open_page(request.getfixturevalue(which), viewport={"width": 360, "height": 740})
    page.locator('[data-place="0"]').click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_names_and_values_are_only_text(open_page: OpenPage, strange: ReportRecord) -> None:
    page = open_page(strange)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3
    shown = page.locator("main").inner_text()
    for name in (UGLY_NAME, UGLY_VALUE, LONG_NAME, *STRANGE_NAMES[:4], "</script><!--"):
        assert name.strip() in shown
    for place in range(len(strange.filled.cells)):
        page.locator(f'[data-place="{place}"]').click()
    page.locator("[data-tipping-shift]").fill("0.5")
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3


def test_the_policy_stops_what_the_page_did_not_bring(
    browser: Browser, usual: ReportRecord, tmp_path: Path
) -> None:
    file = tmp_path / "page.html"
    file.write_text(render(usual), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
            const image = document.createElement("div");
            image.innerHTML = "<img src=x onerror='window.ran = true'><p style='color: red'>red?</p>";
            document.body.append(image);
        }"""
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    assert page.get_by_text("red?").evaluate("one => getComputedStyle(one).color") != "rgb(255, 0, 0)"


def test_on_paper_all_is_open_and_nothing_is_to_be_pressed(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = false; })")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert [one for one in page.locator("button, input, select").all() if one.is_visible()] == []
    expect(page.get_by_role("heading", name="The least certain")).to_be_visible()
    expect(page.locator("[data-cards=labels] svg").last).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator("details[open]").count() == 0


def test_without_scripts_sentences_charts_and_tables_are_there(
    open_page: OpenPage, usual: ReportRecord
) -> None:
    page = open_page(usual, java_script_enabled=False)
    expect(page.get_by_text(usual.verdict.sentence)).to_be_visible()
    expect(page.locator("#columns svg").first).to_be_visible()
    expect(page.get_by_role("heading", name="The least certain")).to_be_visible()
    assert [one for one in page.locator("button, input, select").all() if one.is_visible()] == []


def test_columns_of_a_wide_table_are_drawn_when_opened(open_page: OpenPage, wide: ReportRecord) -> None:
    page = open_page(wide)
    expect(page.locator("#columns svg")).to_have_count(3)  # of the first, which is open
    page.get_by_label("Find a column").fill("measurement 077")
    card = page.locator("[data-cards=columns] .card:not([hidden])")
    expect(card).to_have_count(1)
    card.locator("summary").click()
    expect(card.locator("svg[role=img]")).to_have_count(3)
    assert (
        card.locator("svg").first.get_attribute("aria-label").startswith("Distribution of measurement 077: ")
    )
    with page.expect_download() as download:
        card.get_by_role("button", name="Numbers as CSV: Held-out cells").click()
    assert download.value.suggested_filename == "measurement 077 - Held-out cells.csv"
