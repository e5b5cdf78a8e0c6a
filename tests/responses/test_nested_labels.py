"""Labels that are objects as text, in frames, columns and matrices, as in files."""

import io
import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest

from blindfuse import BadLabels, Responses, read
from tests.support.reader_files import as_csv, labels_by_name

ROWS = [("i", "a", "yes"), ("i", "b", "no"), ("j", "a", "no"), ("j", "b", "no")]

FORMS: dict[str, Callable[[str], str]] = {
    "JSON": lambda label: json.dumps({"label": label, "reason": "so"}),
    "Python": lambda label: str({"verdict": label}),
    "Markdown fence": lambda label: f"```json\n{json.dumps({'verdict': label})}\n```",
    "fenced word": lambda label: f"```\n{label}\n```",
    "fenced word on one line": lambda label: f"```{label}```",
    "fenced object on one line": lambda label: f"```json {json.dumps({'verdict': label})}```",
    "fence with a language": lambda label: f"Verdict:\n```toml \n{label}```\nDone.",
    "reasoning": lambda label: f"<think>well\n</think>\n{label}",
    "object in an object": lambda label: json.dumps({"response": {"label": label}}),
    "spaces before it": lambda label: f"  {json.dumps({'label': label})}",
    "value, answer and explanation": lambda label: json.dumps(
        {"value": label, "answer": "42", "explanation": "so"}
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_frames_columns_matrices_and_files_agree(form: Callable[[str], str]) -> None:
    rows = [(item, annotator, form(label)) for item, annotator, label in ROWS]
    columns = dict(zip(("item", "annotator", "label"), zip(*rows, strict=True), strict=True))
    labels = [label for *_, label in rows]
    found: list[Responses] = [
        Responses.from_frame(pd.DataFrame(columns)),
        Responses.from_frame(pl.DataFrame(columns)),
        Responses.from_long(*map(list, columns.values())),
        Responses.from_matrix([labels[:2], labels[2:]], items=["i", "j"], annotators=["a", "b"]),
        read(io.BytesIO(as_csv(rows))).responses,
    ]
    expected = {(item, annotator): label for item, annotator, label in ROWS}
    for responses in found:
        assert labels_by_name(responses) == expected


def notes_of(labels: list[Any]) -> str:
    items = [str(n) for n in range(len(labels))]
    return "; ".join(Responses.from_long(items, ["a"] * len(labels), labels).notes)


def test_errors_and_damaged_objects_are_missing() -> None:
    verdicts = [json.dumps({"label": label}) for label in ("yes", "no", "yes")]
    notes = notes_of([*verdicts, '{"label": "ye'])
    assert "their field 'label' is read" in notes
    assert "1 label treated as missing, because their JSON is damaged" in notes
    responses = Responses.from_long(["i"] * 3, ["a", "b", "c"], ["yes", "no", '{"error": "quota"}'])
    assert responses.n_responses == 2
    assert "1 label treated as missing: objects that are errors" in "; ".join(responses.notes)


def test_unclear_objects_are_refused() -> None:
    with pytest.raises(BadLabels, match="'x', 'y', none of which is clearly the label"):
        notes_of([json.dumps({"x": n % 2, "y": "b"}) for n in range(4)])


@pytest.mark.parametrize("label", ["not sure", "no", "maybe yes"])
def test_a_word_on_the_line_of_a_fenced_label_belongs_to_it(label: str) -> None:
    responses = Responses.from_long(["i", "i"], ["a", "b"], ["x", f"```{label}```"])
    assert set(responses.classes.tolist()) == {"x", label}


@pytest.mark.parametrize("label", ["{", "{}", "{A}", "``````", "a ``` b", "<think>", "{1, 2}"])
def test_labels_that_only_look_like_objects_are_kept(label: str) -> None:
    responses = Responses.from_long(["i", "i"], ["a", "b"], ["x", label])
    assert label in responses.classes.tolist()
