"""Toloka results."""

import pytest

from blindfuse import BadFile, read
from tests.support.reader_files import has_note, labels_by_name, read_table, stream
from tests.support.tool_exports import TOLOKA


def test_accepted_and_submitted_assignments_are_read() -> None:
    found = read_table(TOLOKA, "\t")
    assert found.format == "toloka"
    assert found.responses.items.tolist() == ["000", "001", "002", "003"]
    assert labels_by_name(found.responses)["001", "w1"] == "cat"
    assert found.responses.n_responses == 6
    assert found.columns["label"] == "OUTPUT:result"
    assert has_note(found, "2 assignments skipped")


def test_without_task_ids_the_only_input_is_the_item() -> None:
    rows = [{k: v for k, v in row.items() if k != "ASSIGNMENT:task_id"} for row in TOLOKA]
    with pytest.raises(BadFile, match="'INPUT:image', 'INPUT:size'"):
        read_table(rows, "\t")
    found = read_table(rows, "\t", item="INPUT:image", question="result")
    assert found.responses.items.tolist()[0] == "0.jpg"
    one_input = [{k: v for k, v in row.items() if k != "INPUT:size"} for row in rows]
    assert read_table(one_input, "\t").columns["item"] == "INPUT:image"


def test_one_of_several_outputs_is_read() -> None:
    rows = [{**row, "OUTPUT:sure": "yes"} for row in TOLOKA]
    with pytest.raises(BadFile, match=r"several questions: 'result', 'sure'.*question='result'"):
        read_table(rows, "\t")
    assert read_table(rows, "\t", question="sure").responses.classes.tolist() == ["yes"]
    with pytest.raises(BadFile, match="did you mean 'OUTPUT:result'"):
        read_table(rows, "\t", question="resul")


def test_golden_outputs_are_gold_labels() -> None:
    names = "INPUT:image", "OUTPUT:result", "GOLDEN:result", "ASSIGNMENT:worker_id"
    rows = [("1", "cat", "dog", "w"), ("1", "dog", "dog", "v"), ("2", "cat", "", "w")]
    text = "\n".join("\t".join(row) for row in [names, *rows])
    found = read(stream(text))
    assert found.gold == {"1": "dog"}
    assert has_note(found, "in 'GOLDEN:result'")
