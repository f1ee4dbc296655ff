"""The pages in ``reproduction/`` follow from its stored results, and from nothing else."""

from pathlib import Path
from typing import Any

import pytest

from cocomplete.experiments import pages, table_1, table_2
from cocomplete.experiments.runner import Results

pytestmark = pytest.mark.usual_folds

FOLDER = Path(__file__).parents[2] / "reproduction"


@pytest.fixture(scope="module")
def built() -> dict[str, Any]:
    return pages.build(FOLDER)


def test_pages_match_the_stored_results(built: dict[str, Any]) -> None:
    assert built.keys() == {path.name for path in FOLDER.iterdir() if path.is_file()}
    for name, content in built.items():
        stored = (FOLDER / name).read_bytes()
        if name.endswith((".svg", ".png")):
            # Bytes of a drawing depend on matplotlib's version; what it was drawn from is written into it.
            digest = pages.digest(Results(FOLDER / "results" / f"{Path(name).stem}.jsonl").read()).encode()
            assert digest in content, name
            assert digest in stored, f"{name} is of other results: run make reproduction-pages"
        else:
            assert stored == content, f"{name} is out of date: run make reproduction-pages"


def test_the_summary_states_its_verdicts(built: dict[str, Any]) -> None:
    summary = built[pages.README].decode()
    for sentence in (
        "**Table 1 is reproduced.**",
        "**On features the objective is better than the algorithm.**",
        "**Its rows of Maxide and Mc look exchanged in Table 2.**",
        "**Column means beat the paper's X errors on CAL500**",
        "**Maxide tuned**",
        "**Mc tuned**",
        "**Theorem 2**",
        "**λ2 ≥ λ1 means interpolation**",
        "## What the paper leaves open",
        "## What it took",
    ):
        assert sentence in summary


@pytest.mark.parametrize("name", pages.PAGES)
def test_every_record_belongs_to_the_full_run_and_the_summary_says_how_many_there_are(
    built: dict[str, Any], name: str
) -> None:
    planned = {trial.key for trial in pages.PAGES[name].trials()}
    kept = {record.key for record in pages.results(FOLDER, name).read()}
    assert kept <= planned
    sentence = (
        f"All {len(kept)} trials of the full run are stored."
        if kept == planned
        else f"{len(kept)} of the full run's {len(planned)} trials are stored so far."
    )
    assert sentence in built[pages.README].decode()


def test_the_run_kept_its_limits() -> None:
    records = pages.results(FOLDER, table_1.NAME).read()
    own = [record for record in records if record.method in table_1.ALGORITHM_1]
    # No more than half of two full SVDs per iteration.
    timed = [record for record in own if record.svd_seconds]
    costs = [record.seconds / record.figures["iterations"] / record.svd_seconds for record in timed]
    assert len(costs) >= 20
    assert sorted(costs)[len(costs) // 2] <= 1
    assert max(record.memory for record in records) < 6 * 1024
    # All of the printed rows but Algorithm 1 within an hour on two cores.
    others = [
        record
        for record in records
        if record.method not in table_1.ALGORITHM_1 and table_1.setting_of(record) in table_1.PUBLISHED
    ]
    others += pages.results(FOLDER, table_2.NAME).read()
    assert sum(record.seconds + (record.svd_seconds or 0) for record in others) / 2 <= 3600


def test_pages_of_a_folder_with_a_few_results(tmp_path: Path) -> None:
    results = pages.results(tmp_path, "table1")
    for record in pages.results(FOLDER, "table1").read()[:6]:
        results.append(record)
    written = {path.name for path in pages.write(tmp_path)}
    assert written == {"README.md", "table1.md", "table1.tex", "table1.html"}
    assert pages.write(tmp_path) == []
