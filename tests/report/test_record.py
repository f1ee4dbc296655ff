"""The record: the same text for the same numbers, and nothing in it that JSON does not know."""

import json
from dataclasses import replace

from cocomplete.report.record import SCHEMA, as_json
from tests.report.example_record import UGLY_NAME, UGLY_VALUE, example_record


def test_json_is_the_same_text_with_sorted_keys() -> None:
    text = as_json(example_record())
    assert text == as_json(example_record())
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    assert text.isascii()


def test_ugly_names_pass_through_as_plain_text() -> None:
    read = json.loads(as_json(example_record()))
    assert read["schema"] == SCHEMA
    assert read["given"]["columns"][2]["name"] == UGLY_NAME
    assert read["filled"]["cells"][1]["text"] == UGLY_VALUE


def test_what_is_no_finite_number_is_null() -> None:
    record = example_record()
    done = replace(record.done, seconds=float("inf"))
    assert json.loads(as_json(replace(record, done=done)))["done"]["seconds"] is None
