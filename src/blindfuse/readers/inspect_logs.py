"""Logs of Inspect: JSON, or ``.eval`` through the package inspect_ai.

Annotators are the scorers of each log. If every log has one scorer, they are the models, and labels
are their responses.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from blindfuse.errors import BadFile
from blindfuse.readers.reader import ParsedResponses, Row, expected_structure, frame_of_rows
from blindfuse.readers.sources import Source, needed, refuse_bombs
from blindfuse.readers.tables import Record, Table, load_records
from blindfuse.responses.detection import ColumnOptions

TITLE = "logs of Inspect"


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are the samples of an evaluation."""
    return tables[0].records is not None and {"eval", "samples"} <= set(tables[0].columns)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the verdict of every scorer, or the answer of every model."""
    with expected_structure(tables[0].name, "Inspect"):
        logs = list(load_records(tables))
        samples = [(log["eval"]["model"], sample) for log in logs for sample in log["samples"]]
        scorers = {name for _, sample in samples for name in sample.get("scores") or {}}
        are_judges = len(scorers) > 1
        label = options.label or ("value" if are_judges else "answer")
        several_models = len({model for model, _ in samples}) > 1
        several_epochs = len({sample.get("epoch") for _, sample in samples}) > 1
        rows, truths = list[Row](), list[Row]()
        for model, sample in samples:
            item = str(sample["id"])
            item += f", epoch {sample['epoch']}" if several_epochs else ""
            item += f", {model}" if several_models and are_judges else ""
            rows.append((None, item, None, None))  # a sample that failed is an item
            for scorer, score in (sample.get("scores") or {}).items():
                rows.append((None, item, scorer if are_judges else model, _value(score, label)))
            truths.append((None, item, None, _only(sample.get("target"))))
    is_answer = label == "answer"
    return ParsedResponses(
        frame_of_rows(rows).drop("question"),
        {"item": "id", "annotator": "scorer" if are_judges else "model", "label": label},
        gold=frame_of_rows(truths).select("item", target="label") if is_answer else None,
    )


def as_json(source: Source) -> Source:
    """Return a log in the format ``.eval`` as JSON."""
    if not isinstance(source.content, Path):
        raise BadFile(f"{source.name} is packed. Unpack it.")
    logs = needed("inspect_ai.log", "inspect", source.name)
    refuse_bombs(source)
    try:
        log = logs.read_eval_log(str(source.content))
    except Exception as error:  # of the archive, or of its structure
        raise BadFile(f"{source.name} is a damaged log: {error}. Export it again.") from None
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
