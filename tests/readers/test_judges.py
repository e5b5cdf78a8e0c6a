"""Verdicts of LLM judges."""

from typing import Any

from tests.support.reader_files import has_note, labels_by_name, read_json_lines


def test_failed_verdicts_are_missing_unless_they_are_classes() -> None:
    records: list[dict[str, Any]] = [
        {"sample_id": "s1", "judge": "gpt", "verdict": "A", "score": 0.7},
        {"sample_id": "s1", "judge": "claude", "verdict": "B", "score": 0.1},
        {"sample_id": "s2", "judge": "gpt", "verdict": "ERROR", "score": None},
        {"sample_id": "s2", "judge": "claude", "verdict": None},
        {"sample_id": "s3", "judge": {"name": "gpt"}, "verdict": "A"},
    ]
    found = read_json_lines(records)
    assert found.format == "judge"
    assert labels_by_name(found.responses) == {
        ("s1", "gpt"): "A",
        ("s1", "claude"): "B",
        ("s3", "gpt"): "A",
    }
    assert has_note(found, "1 label treated as missing: 'ERROR'")
    assert has_note(found, "1 empty label treated as missing")
    named = read_json_lines(records, classes=["A", "B", "ERROR"])
    assert labels_by_name(named.responses)["s2", "gpt"] == "ERROR"
