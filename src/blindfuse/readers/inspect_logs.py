"""Logs of Inspect: JSON, or ``.eval`` through the package inspect_ai.

Annotators are the scorers of each log. If every log has one scorer, they are the models, and labels
are their responses. The task is the question.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blindfuse.errors import BadFile
from blindfuse.readers.reader import (
    ParsedResponses,
    Row,
    check_output,
    expected_structure,
    frame_of_rows,
    question_of,
)
from blindfuse.readers.sources import Source, damage, needed, refuse_bombs
from blindfuse.readers.tables import Record, Table, load_records
from blindfuse.responses.detection import ColumnOptions

TITLE = "logs of Inspect"


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are the samples of an evaluation."""
    return tables[0].records is not None and {"eval", "samples"} <= set(tables[0].columns)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the verdict of every scorer, or the answer of every model."""
    name, rows, outputs = tables[0].name, list[Row](), dict[str, Any]()
    with expected_structure(name, "Inspect"):
        samples = [(log["eval"], one) for log in load_records(tables) for one in log["samples"]]
        scorers = {scorer for _, sample in samples for scorer in sample.get("scores") or {}}
        are_judges = len(scorers) > 1
        label = options.label or ("value" if are_judges else "answer")
        several_models = len({about["model"] for about, _ in samples}) > 1
        several_epochs = len({sample.get("epoch") for _, sample in samples}) > 1
        for about, sample in samples:
            model, task, item = about["model"], about.get("task"), str(sample["id"])
            item += f", epoch {sample['epoch']}" if several_epochs else ""
            item += f", {model}" if several_models and are_judges else ""
            if are_judges:
                output = (sample.get("output") or {}).get("completion")
                check_output(name, outputs, f"{task}: {item}", output)
            target = _only(sample.get("target")) if label == "answer" else None
            rows.append(Row(item, question=task, gold=target))  # also of a sample that failed
            for scorer, score in (sample.get("scores") or {}).items():
                rows.append(Row(item, scorer if are_judges else model, _value(score, label), task))
    frame = frame_of_rows(rows)
    if frame["question"].n_unique() > 1:
        frame = frame.filter(question=question_of(name, frame, options))
    return ParsedResponses(
        frame,
        {"item": "id", "annotator": "scorer" if are_judges else "model", "label": label},
        gold=frame.select("item", target="gold"),
    )


def as_json(source: Source) -> Source:
    """Return a log in the format ``.eval`` as JSON."""
    if not isinstance(source.content, Path):
        raise BadFile(f"{source.name} is packed. Unpack it.")
    logs = needed("inspect_ai.log", "inspect", source.name)
    refuse_bombs(source)
    with damage(source.name, "Inspect"):
        log = logs.read_eval_log(str(source.content))
    return Source(source.name, log.model_dump_json().encode())


def _value(score: Record, label: str) -> Any:
    """Return a field of a score; verdicts C, I, P and N become words."""
    value = score.get(label)
    return _VERDICTS.get(value, value) if label == "value" and isinstance(value, str) else value


_VERDICTS = {"C": "correct", "I": "incorrect", "P": "partial", "N": None}
"""What Inspect's scorers write; N marks a missing one."""


def _only(target: Any) -> Any:
    """Return the target if there is one; several are alternatives."""
    if isinstance(target, list):
        return target[0] if len(target) == 1 else None
    return target
