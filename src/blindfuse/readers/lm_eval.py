"""Samples of lm-evaluation-harness: ``samples_TASK_DATE.jsonl``, one folder per model.

Annotators are the models, or the runs; labels are their answers.
"""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from blindfuse.errors import BadFile
from blindfuse.readers.reader import (
    ParsedResponses,
    Row,
    expected_structure,
    frame_of_rows,
    select_question,
)
from blindfuse.readers.tables import Record, Table, load_records
from blindfuse.responses.detection import ColumnOptions, existing_column

TITLE = "samples of lm-evaluation-harness"

_COLUMNS = {"doc_id", "resps", "filtered_resps"}


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are raw and filtered responses by document."""
    return tables[0].records is not None and set(tables[0].columns) >= _COLUMNS


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the answer of every model to every document, or the metric named as the label."""
    name = tables[0].name
    label = existing_column(tables[0], options.label) if options.label else "filtered_resps"
    rows, truths = list[Row](), list[Row]()
    with expected_structure(name, "lm-evaluation-harness"):
        for table, model in zip(tables, _models(tables), strict=True):
            for record in load_records([table]):
                item = record["doc_id"]
                value = record[label]
                answer = _answer(value) if label == "filtered_resps" else value
                rows.append((record.get("filter", "none"), item, model, answer))
                truths.append((None, item, None, _gold(record)))
    frame, _ = select_question(name, frame_of_rows(rows), options)
    gold = frame_of_rows(truths).select("item", target="label")
    columns = {"item": "doc_id", "annotator": "folder", "label": label}
    return ParsedResponses(frame, columns, gold=gold if label == "filtered_resps" else None)


def _models(tables: Sequence[Table]) -> list[str]:
    """Return the model of each file: its folder, or its own name if all are in one folder."""
    paths = [PurePath(table.name.rpartition(": ")[2]) for table in tables]
    folders = [path.parent.name for path in paths]
    names = folders if len(set(folders)) == len(paths) else [path.stem for path in paths]
    if len(set(names)) < len(names):
        raise BadFile(
            f"{tables[0].name} and another file are samples of the same model. Pass one file per "
            "model, of the same task."
        )
    return names


def _answer(filtered: Any) -> Any:
    """Return the text of an answer, or the number of the likeliest choice.

    Choices have a log likelihood each, with whether it is what greedy decoding would say.
    """
    values = [value[0] if isinstance(value, list) and value else value for value in filtered]
    if len(values) > 1 and all(isinstance(value, int | float) for value in values):
        return values.index(max(values))
    return values[0].strip() if values and isinstance(values[0], str) else None


def _gold(record: Record) -> Any:
    target = record.get("target")
    return target.strip() if isinstance(target, str) else target
