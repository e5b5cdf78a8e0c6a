"""Exports of annotation tools, written here as their documentation shows them."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from blindfuse import BadFile, read
from blindfuse.readers.reading import Read
from tests.readers.test_reading import file, said, stream


def from_json(document: Any, **options: Any) -> Read:
    return read(stream(json.dumps(document, ensure_ascii=False)), **options)


def from_lines(records: list[dict[str, Any]], **options: Any) -> Read:
    return read(stream("".join(json.dumps(record) + "\n" for record in records)), **options)


def from_table(rows: list[dict[str, str]], separator: str = ",", **options: Any) -> Read:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return read(stream(text.getvalue()), **options)


def noted(found: Read, what: str) -> bool:
    return any(what in note for note in found.notes)


# Label Studio


def choice(label: str, question: str = "sentiment") -> dict[str, Any]:
    value = {"choices": [label]}
    return {"from_name": question, "to_name": "text", "type": "choices", "value": value}


def annotation(who: Any, *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 1001, "completed_by": who, "result": list(results), **more}


def task(number: int, *annotations: dict[str, Any], models: Any = ()) -> dict[str, Any]:
    about = {"id": number, "data": {"text": f"t{number}"}}
    return {**about, "annotations": list(annotations), "predictions": list(models)}


ANN = {"id": 10, "email": "ann@example.com", "first_name": "", "last_name": ""}


def test_label_studio_annotators_and_models() -> None:
    model = {"model_version": "model 1", "result": [choice("да")], "score": 0.9}
    found = from_json(
        [
            task(1, annotation(ANN, choice("да")), annotation(7, choice("нет")), models=[model]),
            task(2, annotation(7, choice("да"), ground_truth=True)),
            task(3),
        ]
    )
    assert found.format == "label-studio"
    assert said(found.responses) == {
        ("1", "ann@example.com"): "да",
        ("1", "7"): "нет",
        ("1", "model 1"): "да",
    }
    assert found.gold == {"2": "да"}
    assert found.responses.items.tolist() == ["1", "2", "3"]
    assert found.columns == {"item": "id", "annotator": "completed_by", "label": "sentiment"}
    assert noted(found, "1 annotations marked as ground truth")


def test_label_studio_skips_cancelled_and_counts_empty_and_several() -> None:
    box = {"from_name": "box", "type": "rectanglelabels", "value": {"rectanglelabels": ["Car"]}}
    several = {**choice("x"), "value": {"choices": ["x", "y"]}}
    found = from_json(
        [
            task(1, annotation(1, choice("x")), annotation(2, choice("y"), was_cancelled=True)),
            task(2, annotation(1), annotation(2, box, several), models=[17]),
        ]
    )
    assert said(found.responses) == {("1", "1"): "x", ("2", "2"): "x"}
    assert noted(found, "1 cancelled annotations")
    assert noted(found, "1 annotations without a result")
    assert noted(found, "1 answers with several choices")


def test_label_studio_repeats_older_exports_and_other_items() -> None:
    again = task(1, annotation(1, choice("x")), annotation(1, choice("y")))
    found = from_json([again])
    assert said(found.responses) == {("1", "1"): "y"}
    assert found.responses.repeated == 1
    older = {"id": 4, "data": {"text": "a"}, "completions": [annotation(1, choice("x"))]}
    assert said(from_json([older], item="text").responses) == {("a", "1"): "x"}


def test_label_studio_questions() -> None:
    stars = {"from_name": "stars", "type": "rating", "value": {"rating": 4}}
    tasks = [task(n, annotation(1, choice("x"), stars)) for n in range(3)]
    assert said(from_json(tasks, question="stars").responses)["0", "1"] == "4"
    with pytest.raises(BadFile, match="several questions: 'sentiment', 'stars'"):
        from_json(tasks)
    with pytest.raises(BadFile, match="did you mean 'stars'"):
        from_json(tasks, question="star")


SHORT = [
    {"id": 1, "text": "t1", "mood": "x", "annotator": 1, "annotation_id": 5, "lead_time": 2.5},
    {"id": 1, "text": "t1", "mood": "y", "annotator": 2, "annotation_id": 6, "lead_time": 2.5},
    {"id": 2, "text": "t2", "mood": "y", "annotator": 1, "annotation_id": 7, "lead_time": 2.5},
    {"id": 3, "text": "t3", "mood": "x", "annotator": 2, "annotation_id": 8, "lead_time": 2.5},
]


def test_label_studio_in_short() -> None:
    expected = {("1", "1"): "x", ("1", "2"): "y", ("2", "1"): "y", ("3", "2"): "x"}
    assert said(from_json(SHORT, question="mood").responses) == expected
    found = from_json([{**row, "text": f"{row['text']} {n}"} for n, row in enumerate(SHORT)])
    assert found.format == "label-studio"
    assert said(found.responses) == expected
    assert found.columns["label"] == "mood"
    cells = [{key: str(value) for key, value in row.items()} for row in SHORT]
    dropped = [{**row, "was_cancelled": str(row["id"] == "3")} for row in cells]
    table = from_table(dropped, question="mood")
    assert len(said(table.responses)) == 3
    assert noted(table, "1 cancelled")


def test_label_studio_in_short_with_several_choices() -> None:
    rows = [{**row, "mood": {"choices": [row["mood"], "z"]}} for row in SHORT[:2]]
    found = from_json(rows, question="mood")
    assert said(found.responses) == {("1", "1"): "x", ("1", "2"): "y"}
    assert noted(found, "2 answers with several choices")


# Toloka and MTurk

TOLOKA = [
    {
        "INPUT:image": f"{n}.jpg",
        "INPUT:size": "1",
        "OUTPUT:result": "cat" if n % 2 else "dog",
        "OUTPUT:comment": f"free text {n}",
        "GOLDEN:result": "",
        "ASSIGNMENT:task_id": f"00{n % 4}",
        "ASSIGNMENT:worker_id": f"w{n // 4}",
        "ASSIGNMENT:status": status,
    }
    for n, status in enumerate(["APPROVED"] * 3 + ["SUBMITTED"] * 3 + ["REJECTED", "EXPIRED"])
]


def test_toloka() -> None:
    found = from_table(TOLOKA, "\t")
    assert found.format == "toloka"
    assert found.responses.items.tolist() == ["000", "001", "002", "003"]
    assert said(found.responses)["001", "w1"] == "cat"
    assert found.responses.n_responses == 6
    assert found.columns["label"] == "OUTPUT:result"
    assert noted(found, "2 assignments left out")


def test_toloka_without_task_ids() -> None:
    rows = [{k: v for k, v in row.items() if k != "ASSIGNMENT:task_id"} for row in TOLOKA]
    with pytest.raises(BadFile, match="'INPUT:image', 'INPUT:size'"):
        from_table(rows, "\t")
    found = from_table(rows, "\t", item="INPUT:image", question="result")
    assert found.responses.items.tolist()[0] == "0.jpg"
    one = [{k: v for k, v in row.items() if k != "INPUT:size"} for row in rows]
    assert from_table(one, "\t").columns["item"] == "INPUT:image"


def test_toloka_with_two_questions() -> None:
    rows = [{**row, "OUTPUT:sure": "yes"} for row in TOLOKA]
    with pytest.raises(BadFile, match=r"several questions: 'result', 'sure'.*question='result'"):
        from_table(rows, "\t")
    assert from_table(rows, "\t", question="sure").responses.classes.tolist() == ["yes"]
    with pytest.raises(BadFile, match="did you mean 'OUTPUT:result'"):
        from_table(rows, "\t", question="resul")


def hit(number: int, worker: str, status: str = "Approved", **answers: str) -> dict[str, str]:
    about = {"HITId": f"3X{number}", "Title": "Pick", "WorkerId": worker}
    given = {f"Answer.{name.replace('__', '.')}": value for name, value in answers.items()}
    return {**about, "AssignmentStatus": status, "Input.url": f"u{number}", **given}


def test_mturk() -> None:
    rows = [
        hit(1, "A1", label="x"),
        hit(1, "A2", "Submitted", label="y"),
        hit(1, "A3", "", label="y"),
        hit(2, "A1", "Rejected", label="y"),
    ]
    found = from_table(rows)
    assert found.format == "mturk"
    assert said(found.responses) == {("3X1", "A1"): "x", ("3X1", "A2"): "y", ("3X1", "A3"): "y"}
    assert noted(found, "1 rejected assignments")
    assert from_table(rows, item="Input.url").responses.items.tolist() == ["u1"]


def test_mturk_radio_buttons_and_json() -> None:
    ticks = [
        hit(1, "A1", q__yes="true", q__no="false"),
        hit(1, "A2", q__yes="false", q__no="true"),
        hit(2, "A1", q__yes="false", q__no="false"),
    ]
    expected = {("3X1", "A1"): "yes", ("3X1", "A2"): "no"}
    assert said(from_table(ticks).responses) == expected
    as_json = [
        hit(1, "A1", taskAnswers='[{"q":{"yes":true,"no":false}}]'),
        hit(1, "A2", taskAnswers='[{"q":{"yes":false,"no":true}}]'),
    ]
    assert said(from_table(as_json).responses) == expected
    picked = [hit(1, "A1", taskAnswers='[{"mood":{"label":"Positive"}}]')]
    assert said(from_table(picked).responses) == {("3X1", "A1"): "Positive"}
    with pytest.raises(BadFile, match=r"row 1: Answer\.taskAnswers"):
        from_table([hit(1, "A1", taskAnswers="[{")])


# Prodigy, doccano, Argilla


def prodigy(item: int, who: str | None, answer: str = "accept", **more: Any) -> dict[str, Any]:
    hashes = {"_input_hash": item, "_task_hash": item + 1}
    return {"text": f"t{item}", **hashes, "_session_id": who, "answer": answer, **more}


def test_prodigy_with_choices() -> None:
    found = from_lines(
        [
            prodigy(-7, "set-ann", accept=["x"]),
            prodigy(-7, "set-bob", accept=["y", "x"]),
            prodigy(8, "set-ann", "ignore", accept=["y"]),
            prodigy(8, "set-bob", "reject", accept=["y"]),
            prodigy(9, None, accept=[1], _annotator_id="set-cy"),
        ]
    )
    assert found.format == "prodigy"
    assert said(found.responses) == {
        ("-7", "set-ann"): "x",
        ("-7", "set-bob"): "y",
        ("9", "set-cy"): "1",
    }
    assert noted(found, "1 ignored")
    assert noted(found, "1 answers with several choices")


def test_prodigy_with_binary_labels() -> None:
    records = [prodigy(n, "ann", "accept" if n else "reject", label="SPAM") for n in range(2)]
    assert said(from_lines(records).responses) == {("0", "ann"): "reject", ("1", "ann"): "accept"}
    plain = [{k: v for k, v in one.items() if k != "label"} for one in records]
    assert said(from_lines(plain).responses) == {("0", "ann"): "reject", ("1", "ann"): "accept"}
    mixed = [*records, prodigy(0, "ann", label="HAM"), prodigy(1, "ann", label="HAM")]
    with pytest.raises(BadFile, match="several questions: 'SPAM', 'HAM'"):
        from_lines(mixed)
    assert said(from_lines(mixed, question="HAM").responses)["0", "ann"] == "accept"


DOCCANO = {
    "ann": [{"id": 1, "text": "a", "label": ["x"]}, {"id": 2, "text": "b", "label": []}],
    "bob": [{"id": 1, "text": "a", "label": ["y", "x"]}, {"id": 2, "text": "b", "label": ["x"]}],
}


def test_doccano_folder_and_archive(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for who, records in DOCCANO.items():
            text = "\n".join(map(json.dumps, records))
            file(folder, f"{who}.jsonl", text)
            archive.writestr(f"{who}.jsonl", text)
    for path in (folder, tmp_path / "export.zip"):
        found = read(path)
        assert found.format == "doccano"
        assert said(found.responses) == {
            ("1", "ann"): "x",
            ("1", "bob"): "y",
            ("2", "bob"): "x",
        }
        assert noted(found, "1 answers with several labels")
        assert noted(found, "1 empty answers")


def test_doccano_spans_are_no_classes() -> None:
    with pytest.raises(BadFile, match="spans"):
        from_lines([{"id": 1, "text": "a b", "label": [[0, 1, "PER"]]}])


def argilla(number: int, responses: Any, suggestions: Any = None) -> dict[str, Any]:
    about = {"id": f"r{number}", "fields": {"text": f"t{number}"}, "metadata": {}, "vectors": {}}
    return {**about, "responses": responses, "suggestions": suggestions or {}, "_server_id": "s"}


def test_argilla_nested() -> None:
    records = [
        argilla(
            1,
            {"mood": [{"value": "x", "user_id": "u1"}, {"value": "y", "user_id": "u2"}]},
            {"mood": {"value": "x", "score": 0.5, "agent": "model"}},
        ),
        argilla(2, {"mood": [{"value": "y", "user_id": "u1", "status": "discarded"}]}),
        argilla(3, {"mood": [{"value": ["y", "x"], "user_id": "u1"}]}),
    ]
    found = from_json(records)
    assert found.format == "argilla"
    assert said(found.responses) == {
        ("r1", "u1"): "x",
        ("r1", "u2"): "y",
        ("r1", "model"): "x",
        ("r3", "u1"): "y",
    }
    assert found.responses.items.tolist() == ["r1", "r2", "r3"]
    assert noted(found, "1 drafts and discarded")
    assert "t1" in from_json(records, item="text").responses.items


def test_argilla_flat_with_a_text_question() -> None:
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
    found = from_lines(records)
    assert found.columns["label"] == "mood"
    assert said(found.responses)["r0", "u2"] == "y"
    assert said(found.responses)["r2", "suggestion"] == "y"
    assert ("r2", "u2") not in said(found.responses)


# Judges


def test_judges() -> None:
    records: list[dict[str, Any]] = [
        {"sample_id": "s1", "judge": "gpt", "verdict": "A", "score": 0.7},
        {"sample_id": "s1", "judge": "claude", "verdict": "B", "score": 0.1},
        {"sample_id": "s2", "judge": "gpt", "verdict": "ERROR", "score": None},
        {"sample_id": "s2", "judge": "claude", "verdict": None},
        {"sample_id": "s3", "judge": {"name": "gpt"}, "verdict": "A"},
    ]
    found = from_lines(records)
    assert found.format == "judge"
    assert said(found.responses) == {("s1", "gpt"): "A", ("s1", "claude"): "B", ("s3", "gpt"): "A"}
    assert noted(found, "1 labels taken as no answer: 'ERROR'")
    assert noted(found, "1 empty answers")
    named = from_lines(records, classes=["A", "B", "ERROR"])
    assert said(named.responses)["s2", "gpt"] == "ERROR"


@pytest.mark.parametrize(
    "shape",
    [
        [{"id": 1, "data": {}, "annotations": [3]}],
        [{"id": 1, "data": None, "annotations": []}],
        [{"id": 1, "data": {}, "annotations": [{"result": [{"type": "choices"}]}]}],
        [{"id": 1, "fields": {}, "responses": {"q": "x"}}],
        [{"id": 1, "fields": {}, "responses": [1]}],
    ],
)
def test_exports_of_another_shape_are_named(shape: Any) -> None:
    with pytest.raises(BadFile, match="is not as"):
        from_json(shape)
