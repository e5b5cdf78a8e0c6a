"""Label Studio exports: JSON, JSON-MIN and CSV."""

import json
from typing import Any

import pytest

from blindfuse import BadFile, read
from tests.support.reader_files import has_note, labels_by_name, read_json, read_table, stream
from tests.support.tool_exports import (
    LABEL_STUDIO_SHORT,
    LABEL_STUDIO_USER,
    label_studio_annotation,
    label_studio_choice,
    label_studio_task,
)


def test_responses_of_annotators_and_models_are_read() -> None:
    model = {
        "model_version": "model 1",
        "result": [label_studio_choice("да")],
        "score": 0.9,
    }
    found = read_json(
        [
            label_studio_task(
                1,
                label_studio_annotation(LABEL_STUDIO_USER, label_studio_choice("да")),
                label_studio_annotation(7, label_studio_choice("нет")),
                predictions=[model],
            ),
            label_studio_task(
                2, label_studio_annotation(7, label_studio_choice("да"), ground_truth=True)
            ),
            label_studio_task(3),
        ]
    )
    assert found.format == "label-studio"
    assert labels_by_name(found.responses) == {
        ("1", "ann@example.com"): "да",
        ("1", "7"): "нет",
        ("1", "model 1"): "да",
    }
    assert found.gold == {"2": "да"}
    assert found.responses.items.tolist() == ["1", "2", "3"]
    assert found.columns == {"item": "id", "annotator": "completed_by", "label": "sentiment"}
    assert has_note(found, "1 annotation marked as ground truth")


def test_cancelled_annotations_are_skipped_and_empty_ones_and_several_choices_counted() -> None:
    box = {"from_name": "box", "type": "rectanglelabels", "value": {"rectanglelabels": ["Car"]}}
    several = {**label_studio_choice("x"), "value": {"choices": ["x", "y"]}}
    cancelled = label_studio_annotation(2, label_studio_choice("y"), was_cancelled=True)
    found = read_json(
        [
            label_studio_task(1, label_studio_annotation(1, label_studio_choice("x")), cancelled),
            label_studio_task(
                2,
                label_studio_annotation(1),
                label_studio_annotation(2, box, several),
                predictions=[17],
            ),
        ]
    )
    assert labels_by_name(found.responses) == {("1", "1"): "x", ("2", "2"): "x"}
    assert has_note(found, "1 cancelled annotation skipped")
    assert has_note(found, "1 annotation without a result")
    assert has_note(found, "1 response with several labels")


def test_repeated_annotations_older_exports_and_other_item_fields_are_read() -> None:
    repeated = label_studio_task(
        1,
        label_studio_annotation(1, label_studio_choice("x")),
        label_studio_annotation(1, label_studio_choice("y")),
    )
    found = read_json([repeated])
    assert labels_by_name(found.responses) == {}
    assert labels_by_name(read_json([repeated], repeats="last").responses) == {("1", "1"): "y"}
    assert found.responses.repeated == 1
    completions = [label_studio_annotation(1, label_studio_choice("x"))]
    older = {"id": 4, "data": {"text": "a"}, "completions": completions}
    assert labels_by_name(read_json([older], item="text").responses) == {("a", "1"): "x"}


def test_one_of_several_questions_is_read() -> None:
    stars = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
    tasks = [
        label_studio_task(n, label_studio_annotation(1, label_studio_choice("x"), stars))
        for n in range(3)
    ]
    assert labels_by_name(read_json(tasks, question="stars").responses)["0", "1"] == "4"
    with pytest.raises(BadFile, match="several questions: 'sentiment', 'stars'"):
        read_json(tasks)
    with pytest.raises(BadFile, match="did you mean 'stars'"):
        read_json(tasks, question="star")


def test_short_exports_are_read() -> None:
    expected = {("1", "1"): "x", ("1", "2"): "y", ("2", "1"): "y", ("3", "2"): "x"}
    short = LABEL_STUDIO_SHORT
    assert labels_by_name(read_json(short, question="mood").responses) == expected
    found = read_json([{**row, "text": f"{row['text']} {n}"} for n, row in enumerate(short)])
    assert found.format == "label-studio"
    assert labels_by_name(found.responses) == expected
    assert found.columns["label"] == "mood"
    cells = [{key: str(value) for key, value in row.items()} for row in short]
    cancelled = [{**row, "was_cancelled": str(row["id"] == "3")} for row in cells]
    table = read_table(cancelled, question="mood")
    assert len(labels_by_name(table.responses)) == 3
    assert has_note(table, "1 cancelled")


def test_the_first_of_several_choices_is_used_in_short_exports() -> None:
    rows = [{**row, "mood": {"choices": [row["mood"], "z"]}} for row in LABEL_STUDIO_SHORT[:2]]
    found = read_json(rows, question="mood")
    assert labels_by_name(found.responses) == {("1", "1"): "x", ("1", "2"): "y"}
    assert has_note(found, "2 responses with several labels")


def test_ground_truth_annotations_are_gold_labels_of_their_question() -> None:
    def annotation(user: int, colour: str, size: str, gold: bool = False) -> dict[str, Any]:
        results = [
            {"from_name": question, "type": "choices", "value": {"choices": [label]}}
            for question, label in (("colour", colour), ("size", size))
        ]
        return {"completed_by": user, "ground_truth": gold, "result": results}

    tasks = [
        {
            "id": 1,
            "data": {},
            "annotations": [annotation(1, "red", "big"), annotation(9, "blue", "small", True)],
        },
        {"id": 2, "data": {}, "annotations": [annotation(1, "blue", "small")]},
    ]
    for question, label in (("colour", "blue"), ("size", "small")):
        found = read(stream(json.dumps(tasks)), question=question)
        assert found.gold == {"1": label}
        assert found.responses.annotators.tolist() == ["1"]
        assert has_note(
            found, "1 annotation marked as ground truth used as gold labels, not as responses"
        )


@pytest.mark.parametrize(
    "tasks",
    [
        [{"id": 1, "data": {}, "annotations": [3]}],
        [{"id": 1, "data": None, "annotations": []}],
        [{"id": 1, "data": {}, "annotations": [{"result": [{"type": "choices"}]}]}],
    ],
)
def test_exports_with_another_structure_are_refused(tasks: Any) -> None:
    with pytest.raises(BadFile, match="does not have the structure of an export from Label Studio"):
        read_json(tasks)
