"""Mechanical Turk results: labels in columns, in choices, or in JSON."""

import io
import json

import pytest

from blindfuse import BadFile, read
from tests.support.reader_files import as_table, has_note, labels_by_name, read_table
from tests.support.tool_exports import mturk_assignment


def test_assignments_that_were_not_rejected_are_read() -> None:
    rows = [
        mturk_assignment(1, "A1", label="x"),
        mturk_assignment(1, "A2", "Submitted", label="y"),
        mturk_assignment(1, "A3", "", label="y"),
        mturk_assignment(2, "A1", "Rejected", label="y"),
    ]
    found = read_table(rows)
    assert found.format == "mturk"
    assert labels_by_name(found.responses) == {
        ("3X1", "A1"): "x",
        ("3X1", "A2"): "y",
        ("3X1", "A3"): "y",
    }
    assert has_note(found, "1 rejected assignment skipped")
    assert read_table(rows, item="Input.url").responses.items.tolist() == ["u1"]


def test_choices_and_json_are_read() -> None:
    choices = [
        mturk_assignment(1, "A1", q__yes="true", q__no="false"),
        mturk_assignment(1, "A2", q__yes="false", q__no="true"),
        mturk_assignment(2, "A1", q__yes="false", q__no="false"),
    ]
    expected = {("3X1", "A1"): "yes", ("3X1", "A2"): "no"}
    assert labels_by_name(read_table(choices).responses) == expected
    as_json = [
        mturk_assignment(1, "A1", taskAnswers='[{"q":{"yes":true,"no":false}}]'),
        mturk_assignment(1, "A2", taskAnswers='[{"q":{"yes":false,"no":true}}]'),
    ]
    assert labels_by_name(read_table(as_json).responses) == expected
    picked = [mturk_assignment(1, "A1", taskAnswers='[{"mood":{"label":"Positive"}}]')]
    assert labels_by_name(read_table(picked).responses) == {("3X1", "A1"): "Positive"}
    with pytest.raises(BadFile, match=r"row 1: Answer\.taskAnswers"):
        read_table([mturk_assignment(1, "A1", taskAnswers="[{")])


def with_task_answers(*documents: str, **answers: str) -> io.BytesIO:
    rows = [
        mturk_assignment(1, f"A{n}", taskAnswers=document, **answers)
        for n, document in enumerate(documents)
    ]
    return io.BytesIO(as_table(rows))


def test_labels_in_json_keep_their_text() -> None:
    documents = [json.dumps([{"q": {"label": label}}]) for label in ("день", 'a "b" c', None)]
    found = read(with_task_answers(*documents))
    assert found.responses.classes.tolist() == ['a "b" c', "день"]
    assert found.responses.n_responses == 2


@pytest.mark.parametrize("text", [r'[{"q": "\ud800"}]', "[" * 100_000])
def test_malformed_json_is_refused(text: str) -> None:
    with pytest.raises(BadFile, match="is not a JSON list of answers"):
        read(with_task_answers(text))


def test_a_question_in_json_and_in_a_column_is_refused() -> None:
    with pytest.raises(BadFile, match=r"columns of the same name: 'Answer\.q'"):
        read(with_task_answers('[{"q": "x"}]', q="y"))
