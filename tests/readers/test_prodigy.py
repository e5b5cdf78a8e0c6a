"""Prodigy exports: choices, and binary answers."""

import pytest

from blindfuse import BadFile
from tests.support.reader_files import has_note, labels_by_name, read_json_lines
from tests.support.tool_exports import prodigy_task


def test_choices_are_read() -> None:
    found = read_json_lines(
        [
            prodigy_task(-7, "set-ann", accept=["x"]),
            prodigy_task(-7, "set-bob", accept=["y", "x"]),
            prodigy_task(8, "set-ann", "ignore", accept=["y"]),
            prodigy_task(8, "set-bob", "reject", accept=["y"]),
            prodigy_task(9, None, accept=[1], _annotator_id="set-cy"),
        ]
    )
    assert found.format == "prodigy"
    assert labels_by_name(found.responses) == {
        ("-7", "set-ann"): "x",
        ("-7", "set-bob"): "y",
        ("9", "set-cy"): "1",
    }
    assert has_note(found, "1 ignored response skipped")
    assert has_note(found, "1 response with several labels")


def test_binary_answers_about_one_label_are_read() -> None:
    records = [prodigy_task(n, "ann", "accept" if n else "reject", label="SPAM") for n in range(2)]
    expected = {("0", "ann"): "reject", ("1", "ann"): "accept"}
    assert labels_by_name(read_json_lines(records).responses) == expected
    plain = [{k: v for k, v in one.items() if k != "label"} for one in records]
    assert labels_by_name(read_json_lines(plain).responses) == expected
    mixed = [*records, prodigy_task(0, "ann", label="HAM"), prodigy_task(1, "ann", label="HAM")]
    with pytest.raises(BadFile, match="several questions: 'SPAM', 'HAM'"):
        read_json_lines(mixed)
    chosen = read_json_lines(mixed, question="HAM")
    assert labels_by_name(chosen.responses)["0", "ann"] == "accept"
