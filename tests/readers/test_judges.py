"""Judgements by item: lists of annotators beside lists of labels."""

import json

import pytest

from blindfuse import BadFile, read
from tests.support.reader_files import labels_by_name, stream

RECORDS = [
    {"id": 1, "annotators": ["ann", "bob"], "labels": ["cat", "dog"]},
    {"id": 2, "annotators": ["ann", "eve"], "labels": ["dog", None]},
    {"id": 3, "annotators": [], "labels": []},
]
CELLS = {("1", "ann"): "cat", ("1", "bob"): "dog", ("2", "ann"): "dog"}


@pytest.mark.parametrize(
    ("annotators", "labels"),
    [("annotators", "labels"), ("workers", "answers"), ("annotator_ids", "label")],
)
def test_lists_of_annotators_and_labels_are_read_in_pairs(annotators: str, labels: str) -> None:
    rows = [
        {"id": one["id"], annotators: one["annotators"], labels: one["labels"]} for one in RECORDS
    ]
    found = read(stream(json.dumps(rows)))
    assert found.format == "judges"
    assert labels_by_name(found.responses) == CELLS


def test_lists_of_different_lengths_are_refused() -> None:
    late = [*RECORDS * 30, {"id": 9, "annotators": ["ann"], "labels": ["cat", "dog"]}]
    with pytest.raises(BadFile, match="different lengths"):
        read(stream(json.dumps(late)))
    with pytest.raises(BadFile, match="one row per response"):
        read(stream(json.dumps([*RECORDS, {"id": 9, "annotators": ["ann"], "labels": []}])))


PAIRS = {"1": {"ann": "cat", "bob": "dog"}, "2": {"ann": "dog"}}
"""As ``CELLS``, by item."""

FIELDS = ["annotations", "evaluations", "reviews", "results", "raters", "crowd_labels", "x"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("annotator", ["annotator", "workerId", "judge_name"])
def test_lists_of_annotators_and_labels_may_have_any_name(field: str, annotator: str) -> None:
    records = [
        {"id": item, field: [{annotator: a, "label": one} for a, one in pairs.items()]}
        for item, pairs in PAIRS.items()
    ]
    found = read(stream(json.dumps(records)))
    assert found.format == "judges"
    assert labels_by_name(found.responses) == CELLS


@pytest.mark.parametrize("field", FIELDS)
def test_a_named_field_may_map_annotators_to_labels(field: str) -> None:
    records = [{"id": item, field: pairs} for item, pairs in PAIRS.items()]
    found = read(stream(json.dumps(records)), label=field)
    assert labels_by_name(found.responses) == CELLS


def test_lists_without_a_clear_annotator_are_refused() -> None:
    records = [{"id": n, "comments": [{"author": a, "score": n} for a in "xy"]} for n in range(9)]
    with pytest.raises(BadFile, match="'comments'"):
        read(stream(json.dumps(records)))


def test_one_column_beside_nested_values_is_no_wide_table() -> None:
    records = [{"vars": f"q{n}", "grading": {"parts": [{"p": n % 2}]}} for n in range(20)]
    with pytest.raises(BadFile, match="column 'grading' holds nested values"):
        read(stream(json.dumps(records)))


def test_lists_on_lines_are_refused_as_lists_without_names() -> None:
    lines = "".join(json.dumps([item, "ann", "x"]) + "\n" for item in "abc")
    with pytest.raises(BadFile, match="does not contain a list of JSON objects"):
        read(stream(lines))
