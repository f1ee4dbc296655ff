"""Errors of single columns as lines of text: the numbers of the report."""

from dataclasses import replace

from cocomplete.cli.quality import quality_lines
from tests.report.example_record import example_record


def test_every_column_with_held_out_cells_has_a_line_beside_the_trivial_answer() -> None:
    record = example_record()
    head, *lines = quality_lines(record)
    assert head.split() == ["column", "kind", "held", "out", "error", "trivial"]
    features = [one for one in record.columns if one.held_out is not None]
    labels = [cells for one in record.labels for cells in (one.held_out, one.new_rows) if cells is not None]
    assert min(len(features), len(labels)) > 0
    assert len(lines) == len(features) + len(labels)
    for line, one in zip(lines, features, strict=False):
        found = one.held_out
        assert found is not None
        errors = [
            f"{each:.1%} wrong" if found.measure == "share wrong" else f"off by {each:.2f} sd"
            for each in (found.error, found.trivial)
        ]
        assert f"{found.cells}" in line.split()
        assert errors[0] in line
        assert errors[1] in line[line.index(errors[0]) + len(errors[0]) :]
        assert line.endswith(found.compared)
    for line, cells in zip(lines[len(features) :], labels, strict=True):
        assert f"{cells.wrong:.1%} wrong" in line
        assert f"{cells.trivial_wrong:.1%} wrong" in line


def test_without_held_out_cells_it_says_so() -> None:
    record = example_record()
    bare = replace(
        record,
        columns=tuple(replace(one, held_out=None, new_rows=None) for one in record.columns),
        labels=tuple(replace(one, held_out=None, new_rows=None) for one in record.labels),
    )
    assert list(quality_lines(bare)) == ["no cells were held out: nothing can be said of single columns"]
