"""Argilla records: nested and flat."""

from typing import Any

import pytest

from blindfuse import BadFile
from tests.support.reader_files import has_note, labels_by_name, read_json, read_json_lines
from tests.support.tool_exports import argilla_record


def test_nested_records_are_read() -> None:
    records = [
        argilla_record(
            1,
            {"mood": [{"value": "x", "user_id": "u1"}, {"value": "y", "user_id": "u2"}]},
            {"mood": {"value": "x", "score": 0.5, "agent": "model"}},
        ),
        argilla_record(2, {"mood": [{"value": "y", "user_id": "u1", "status": "discarded"}]}),
        argilla_record(3, {"mood": [{"value": ["y", "x"], "user_id": "u1"}]}),
    ]
    found = read_json(records)
    assert found.format == "argilla"
    assert labels_by_name(found.responses) == {
        ("r1", "u1"): "x",
        ("r1", "u2"): "y",
        ("r1", "model"): "x",
        ("r3", "u1"): "y",
    }
    assert found.responses.items.tolist() == ["r1", "r2", "r3"]
    assert has_note(found, "1 draft or discarded response skipped")
    assert "t1" in read_json(records, item="text").responses.items


def test_the_categorical_question_of_flat_records_is_read() -> None:
    records = [
        {
            "id": f"r{n}",
            "text": "t",
            "mood.responses": ["x", "y"],
            "mood.responses.users": ["u1", "u2"],
            "mood.responses.status": ["submitted", "draft" if n else "submitted"],
            "mood.suggestion": "y",
            "mood.suggestion.agent": None,
            "why.responses": [f"because {n}", f"since {n}"],
            "why.responses.users": ["u1", "u2"],
        }
        for n in range(3)
    ]
    found = read_json_lines(records)
    labels = labels_by_name(found.responses)
    assert found.columns["label"] == "mood"
    assert labels["r0", "u2"] == "y"
    assert labels["r2", "suggestion"] == "y"
    assert ("r2", "u2") not in labels


@pytest.mark.parametrize(
    "records",
    [
        [{"id": 1, "fields": {}, "responses": {"q": "x"}}],
        [{"id": 1, "fields": {}, "responses": [1]}],
    ],
)
def test_records_with_another_structure_are_refused(records: Any) -> None:
    with pytest.raises(BadFile, match="does not have the structure of an export from Argilla"):
        read_json(records)
