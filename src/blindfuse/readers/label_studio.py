"""Label Studio: JSON with annotations and predictions, and the short forms JSON-MIN and CSV."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.reader import (
    EMPTY_SET,
    ParsedResponses,
    Row,
    expected_structure,
    frame_of_rows,
    names_of_objects,
    question_column,
    select_question,
    suggestion_note,
)
from blindfuse.readers.tables import Record, Table, load_columns, load_records
from blindfuse.responses.detection import ColumnOptions, existing_column
from blindfuse.responses.markers import word_set
from blindfuse.responses.notes import count_note

TITLE = "a Label Studio export"

_ANNOTATIONS = ("annotations", "completions")
_VALUE_OF_TYPE = {
    "choices": "choices",
    "rating": "rating",
    "pairwise": "selected",
    "taxonomy": "taxonomy",
}
"""Result types that name a class, and the key of the class; boxes, spans and texts do not."""
_METADATA = word_set(
    "id annotator annotation_id created_at updated_at lead_time was_cancelled agreement"
)


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are tasks with annotations or predictions, or rows of annotations."""
    return _is_full(tables[0]) or {"annotator", "annotation_id"} <= set(tables[0].columns)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the responses of people and models to one question."""
    return _read_full(tables, options) if _is_full(tables[0]) else _read_short(tables, options)


def _is_full(table: Table) -> bool:
    nested = {*_ANNOTATIONS, "predictions"} & set(table.columns)
    return table.records is not None and bool(nested) and "data" in table.columns


def _read_full(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    item, annotator = options.item or "id", str(options.annotator or "completed_by")
    table, rows, counts = tables[0], list[Row](), Counter[str]()
    with expected_structure(table.name, "Label Studio"):
        for task in load_records(tables):
            name = task.get(item, task["data"].get(item))
            if name is None:
                raise BadFile(
                    f"{table.name} has a task without {item!r}. Name another field with item=."
                )
            rows.append(Row(name))
            for who, results, is_gold in _annotations(task, annotator, counts):
                for question, chosen in _choices(results).items():
                    label = {"gold": chosen} if is_gold else {"annotator": who, "label": chosen}
                    rows.append(Row(name, question=question, **label))
                rows.append(Row(name, None if is_gold else who))
    both = frame_of_rows(rows)
    every, truth = both.filter(pl.col("gold").is_null()), both.drop_nulls("gold")
    frame, question = select_question(table.name, every, options.with_label_as_question())
    empty = "annotation{s} without a result skipped"
    if options.all_choices:
        pair = ["item", "annotator"]
        everyone = every.drop_nulls(pair).select(pair).unique(maintain_order=True)
        lacking = everyone.join(frame, on=pair, how="anti", maintain_order="left")
        lacking = lacking.with_columns(label=pl.lit(EMPTY_SET))
        frame = pl.concat([frame, lacking], how="diagonal")
        counts["empty"], empty = len(lacking), "annotation{s} without a choice read as empty sets"
    gold_note = "annotation{s} marked as ground truth used as gold labels, not as responses"
    return ParsedResponses(
        frame,
        {"item": item, "annotator": annotator, "label": question},
        [
            *count_note(counts["cancelled"], "cancelled annotation{s} skipped"),
            *count_note(counts["empty"], empty),
            *suggestion_note(counts["predicted"], "prediction"),
            *count_note(counts["gold"], gold_note),
        ],
        gold=truth.filter(question=question).select("item", ground_truth="gold"),
    )


def _annotations(
    task: Record, annotator: str, counts: Counter[str]
) -> Iterator[tuple[Any, list[Record], bool]]:
    """Iterate over (annotator or model version, results, whether they are gold labels)."""
    for annotation in next((task[key] for key in _ANNOTATIONS if task.get(key)), []):
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            counts["cancelled"] += 1
            continue
        results, is_gold = annotation.get("result") or [], bool(annotation.get("ground_truth"))
        counts["gold"] += is_gold
        counts["empty"] += not results
        yield annotation.get(annotator) or "unknown", results, is_gold
    for prediction in task.get("predictions") or []:
        if isinstance(prediction, dict):  # else the id of a prediction that was not exported
            counts["predicted"] += 1
            model = prediction.get("model_version") or "prediction"
            yield model, prediction.get("result") or [], False


def _choices(results: list[Record]) -> dict[str, list[Any]]:
    """Return the distinct classes of each question, those of all regions joined.

    The path of a taxonomy is one class.
    """
    choices: dict[str, dict[Any, None]] = {}
    for result in results:
        key = _VALUE_OF_TYPE.get(str(result.get("type")).lower())
        if key is not None:
            value = result["value"].get(key)
            values = value if isinstance(value, list) else [value]
            names = (" / ".join(map(str, v)) if isinstance(v, list) else v for v in values)
            choices.setdefault(result["from_name"], {}).update(dict.fromkeys(names))
    return {question: list(names) for question, names in choices.items()}


def _read_short(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    table = tables[0]
    item = existing_column(table, options.item or "id")
    columns = {
        "item": item,
        "annotator": existing_column(table, str(options.annotator or "annotator")),
        "label": question_column(table, _possible_questions(table, item), "", options),
    }
    cancelling = {"was_cancelled"}.intersection(table.columns)
    frame = load_columns(tables, [*columns.values(), *cancelling])
    marks = [pl.col(column).str.to_lowercase().ne_missing("true") for column in cancelling]
    kept = frame.filter(pl.lit(True), *marks)
    label = pl.col(columns["label"])
    return ParsedResponses(
        kept.select(
            item=pl.col(item),
            annotator=names_of_objects(kept[columns["annotator"]]),
            label=pl.coalesce(label.str.json_path_match("$.choices"), label),
        ),
        columns,
        count_note(len(frame) - len(kept), "cancelled annotation{s} skipped"),
        empty_cells_are_sets=True,
    )


def _possible_questions(table: Table, item: str) -> list[str]:
    """Return the columns that may hold labels: not metadata, and not data of the tasks.

    Data of a task is the same in all of its rows, and nearly every task has other data.
    """
    others = [column for column in table.columns if column not in _METADATA]
    n_tasks = table.sample[item].n_unique()

    def is_data(column: str) -> bool:
        pairs = table.sample.select(item, column).n_unique()
        return pairs == n_tasks > 2 and 2 * table.sample[column].n_unique() > n_tasks

    return [column for column in others if not is_data(column)] or others
