"""Small exports of annotation tools, written as their documentation shows them."""

from typing import Any

# Label Studio

LABEL_STUDIO_USER = {"id": 10, "email": "ann@example.com", "first_name": "", "last_name": ""}


def label_studio_choice(label: str, question: str = "sentiment") -> dict[str, Any]:
    value = {"choices": [label]}
    return {"from_name": question, "to_name": "text", "type": "choices", "value": value}


def label_studio_annotation(user: Any, *results: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": 1001, "completed_by": user, "result": list(results), **fields}


def label_studio_task(
    number: int, *annotations: dict[str, Any], predictions: Any = ()
) -> dict[str, Any]:
    return {
        "id": number,
        "data": {"text": f"t{number}"},
        "annotations": list(annotations),
        "predictions": list(predictions),
    }


LABEL_STUDIO_SHORT = [
    {"id": 1, "text": "t1", "mood": "x", "annotator": 1, "annotation_id": 5, "lead_time": 2.5},
    {"id": 1, "text": "t1", "mood": "y", "annotator": 2, "annotation_id": 6, "lead_time": 2.5},
    {"id": 2, "text": "t2", "mood": "y", "annotator": 1, "annotation_id": 7, "lead_time": 2.5},
    {"id": 3, "text": "t3", "mood": "x", "annotator": 2, "annotation_id": 8, "lead_time": 2.5},
]

# Toloka and Mechanical Turk

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


def mturk_assignment(
    number: int, worker: str, status: str = "Approved", **answers: str
) -> dict[str, str]:
    """Return one row; ``q__yes="true"`` gives the column ``Answer.q.yes``."""
    about = {"HITId": f"3X{number}", "Title": "Pick", "WorkerId": worker}
    given = {f"Answer.{name.replace('__', '.')}": value for name, value in answers.items()}
    return {**about, "AssignmentStatus": status, "Input.url": f"u{number}", **given}


# Prodigy, doccano, Argilla


def prodigy_task(
    item: int, session: str | None, answer: str = "accept", **fields: Any
) -> dict[str, Any]:
    hashes = {"_input_hash": item, "_task_hash": item + 1}
    return {"text": f"t{item}", **hashes, "_session_id": session, "answer": answer, **fields}


DOCCANO = {
    "ann": [{"id": 1, "text": "a", "label": ["x"]}, {"id": 2, "text": "b", "label": []}],
    "bob": [{"id": 1, "text": "a", "label": ["y", "x"]}, {"id": 2, "text": "b", "label": ["x"]}],
}
"""The records of each annotator's file."""


def argilla_record(number: int, responses: Any, suggestions: Any = None) -> dict[str, Any]:
    about = {"id": f"r{number}", "fields": {"text": f"t{number}"}, "metadata": {}, "vectors": {}}
    return {**about, "responses": responses, "suggestions": suggestions or {}, "_server_id": "s"}
