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
