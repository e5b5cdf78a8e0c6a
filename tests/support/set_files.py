"""Files of sets as tools and people write them; all hold the same four responses."""

import json
from typing import Any

from tests.support.reader_files import as_json_lines, as_table
from tests.support.tool_exports import (
    argilla_record,
    label_studio_annotation,
    label_studio_task,
    mturk_assignment,
    prodigy_task,
)

EXPECTED = {
    ("1", "ann"): {"x", "y"},
    ("1", "bob"): {"x"},
    ("2", "ann"): set(),
    ("2", "bob"): {"y", "z"},
}
RESPONSES = [(1, "ann", ["x", "y"]), (1, "bob", ["x"]), (2, "ann", []), (2, "bob", ["z", "y"])]


def rows(spell: Any) -> list[dict[str, Any]]:
    return [{"item": n, "annotator": who, "label": spell(one)} for n, who, one in RESPONSES]


def choices(names: list[str]) -> dict[str, Any]:
    value = {"choices": names}
    return {"from_name": "tags", "to_name": "text", "type": "choices", "value": value}


LABEL_STUDIO = [
    label_studio_task(
        n,
        *(
            label_studio_annotation(who, *([choices(names)] if names else []))
            for number, who, names in RESPONSES
            if number == n
        ),
    )
    for n in (1, 2)
]
TICKS = [
    mturk_assignment(n, who, **{f"q__{name}": str(name in names).lower() for name in "xyz"})
    for n, who, names in RESPONSES
]
FILES = {
    "CSV: a|b": ("s.csv", as_table(rows("|".join))),
    "CSV: a;b": ("s.csv", as_table(rows(";".join))),
    "CSV: a, b": ("s.csv", as_table(rows(", ".join))),
    "CSV: JSON lists": ("s.csv", as_table(rows(json.dumps))),
    "CSV: lists as Python prints them": ("s.csv", as_table(rows(str))),
    "JSON lines: lists": ("s.jsonl", as_json_lines(rows(list))),
    "CSV: one column of 0 and 1 per class": (
        "s.csv",
        as_table(
            [
                {"item": n, "annotator": who, **{name: int(name in names) for name in "xyz"}}
                for n, who, names in RESPONSES
            ]
        ),
    ),
    "Label Studio: JSON with several choices": ("s.json", json.dumps(LABEL_STUDIO).encode()),
    "Label Studio: JSON-MIN with several choices": (
        "s.json",
        json.dumps(
            [
                {"id": n, "tags": {"choices": names}, "annotator": who, "annotation_id": at}
                for at, (n, who, names) in enumerate(RESPONSES)
            ]
        ).encode(),
    ),
    "Argilla: multi-label question": (
        "s.json",
        json.dumps(
            [
                argilla_record(
                    n,
                    {
                        "tags": [
                            {"user_id": who, "value": names, "status": "submitted"}
                            for number, who, names in RESPONSES
                            if number == n
                        ]
                    },
                )
                for n in (1, 2)
            ]
        ).encode(),
    ),
    "Prodigy: accept with several choices": (
        "s.jsonl",
        as_json_lines([prodigy_task(n, who, accept=names) for n, who, names in RESPONSES]),
    ),
    "MTurk: tick boxes": ("s.csv", as_table(TICKS)),
    "MTurk: ticks joined by |": (
        "s.csv",
        as_table([mturk_assignment(n, who, q="|".join(names)) for n, who, names in RESPONSES]),
    ),
    "Toloka: JSON lists": (
        "s.tsv",
        as_table(
            [
                {
                    "INPUT:image": n,
                    "OUTPUT:tags": json.dumps(names),
                    "ASSIGNMENT:task_id": n,
                    "ASSIGNMENT:worker_id": who,
                    "ASSIGNMENT:status": "APPROVED",
                }
                for n, who, names in RESPONSES
            ],
            "\t",
        ),
    ),
}
