"""Label Studio: JSON with annotations and predictions, and the short forms JSON-MIN and CSV."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.nested_values import (
    choose,
    choose_from_texts,
    name_of,
    names_of_objects,
    set_text,
)
from blindfuse.readers.parsed_responses import (
    EMPTY_SET,
    GoldLabels,
    ParsedResponses,
    expected_structure,
    suggestion_note,
    with_empty_sets,
)
from blindfuse.readers.questions import Row, question_column, select_from_rows
from blindfuse.readers.tables import Record, Table, load_columns, load_records
from blindfuse.responses.detection import ColumnOptions, existing_column
from blindfuse.responses.notes import count_note

NAME = "label-studio"
TITLE = "a Label Studio export"

_ANNOTATIONS = ("annotations", "completions")
_SHORT_COLUMNS = frozenset(["annotator", "annotation_id"])
_VALUE_OF_TYPE = {
    "choices": "choices",
    "rating": "rating",
    "pairwise": "selected",
    "taxonomy": "taxonomy",
}
"""Result types that name a class, and the key of the class."""
_METADATA = frozenset(
    [
        "id",
        "annotator",
        "annotation_id",
        "created_at",
        "updated_at",
        "lead_time",
        "was_cancelled",
        "agreement",
    ]
)
_CANCELLED = "cancelled annotation{s} skipped"


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are tasks with annotations or predictions, or rows of annotations."""
    return _is_full(tables[0]) or set(tables[0].columns) >= _SHORT_COLUMNS


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return the responses of people and models to one question."""
    return _read_full(tables, options) if _is_full(tables[0]) else _read_short(tables, options)


def _is_full(table: Table) -> bool:
    nested = {*_ANNOTATIONS, "predictions"} & set(table.columns)
    return table.records is not None and bool(nested) and "data" in table.columns


def _read_full(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    item, annotator = options.item or "id", str(options.annotator or "completed_by")
    rows: list[Row] = []
    gold: list[Row] = []
    submitted: list[tuple[Any, Any]] = []
    counts: Counter[str] = Counter()
    labels_of = _label_sets if options.all_choices else _labels
    with expected_structure(tables[0].name, "Label Studio"):
        for task in load_records(tables):
            name = _item(tables[0], task, item)
            rows.append((None, name, None, None))
            for who, results, is_gold in _annotations(task, annotator, counts):
                labels = [(asked, name, who, label) for asked, label in labels_of(results, counts)]
                (gold if is_gold else rows).extend(labels)
                if not is_gold:
                    submitted.append((name, who))
    frame, question = select_from_rows(tables[0].name, rows, options.with_label_as_question())
    empty = "annotation{s} without a result skipped"
    if options.all_choices:
        frame, counts["empty"] = _with_empty_responses(frame, submitted)
        empty = "annotation{s} without a choice read as empty sets"
    return ParsedResponses(
        frame,
        {"item": item, "annotator": annotator, "label": question},
        [
            *count_note(counts["cancelled"], _CANCELLED),
            *count_note(counts["empty"], empty),
            *suggestion_note(counts["predicted"], "prediction"),
            *count_note(
                counts["gold"],
                "annotation{s} marked as ground truth used as gold labels, not as responses",
            ),
        ],
        several=counts["several"],
        gold=_gold_of_question(gold, question) if gold else None,
    )


def _item(table: Table, task: Record, item: str) -> Any:
    name = task.get(item, task["data"].get(item))
    if name is None:
        raise BadFile(f"{table.name} has a task without {item!r}. Name another field with item=.")
    return name


def _gold_of_question(gold: Sequence[Row], question: str) -> GoldLabels:
    pairs = [(name_of(item), name_of(label)) for asked, item, _, label in gold if asked == question]
    schema = dict.fromkeys(("item", "label"), pl.String)
    return GoldLabels(pl.DataFrame(pairs, schema=schema, orient="row"), "ground_truth")


def _annotations(
    task: Record, annotator: str, counts: Counter[str]
) -> Iterator[tuple[Any, list[Record], bool]]:
    """Iterate over (annotator or model version, results, whether they are gold labels)."""
    for annotation in next((task[key] for key in _ANNOTATIONS if task.get(key)), []):
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            counts["cancelled"] += 1
            continue
        results = annotation.get("result") or []
        is_gold = bool(annotation.get("ground_truth"))
        counts["gold"] += is_gold
        counts["empty"] += not results
        yield annotation.get(annotator) or "unknown", results, is_gold
    for prediction in task.get("predictions") or []:
        if isinstance(prediction, dict):  # else the id of a prediction that was not exported
            counts["predicted"] += 1
            model = prediction.get("model_version") or "prediction"
            yield model, prediction.get("result") or [], False


def _labels(results: list[Record], counts: Counter[str]) -> Iterator[tuple[str, Any]]:
    """Iterate over (question, class); boxes, spans and texts do not name a class."""
    for question, value in _values(results):
        label, has_more = choose(value, all_choices=False)
        counts["several"] += has_more
        yield question, _taxonomy_name(label)


def _label_sets(results: list[Record], counts: Counter[str]) -> Iterator[tuple[str, str]]:
    """Iterate over (question, all classes as JSON); the regions of a question are joined."""
    found: dict[str, list[Any]] = {}
    for question, value in _values(results):
        choices = value if isinstance(value, list) else [] if value is None else [value]
        found.setdefault(question, []).extend(map(_taxonomy_name, choices))
    for question, names in found.items():
        yield question, set_text(list(dict.fromkeys(names)))


def _values(results: list[Record]) -> Iterator[tuple[str, Any]]:
    """Iterate over (question, value) of the results that name classes."""
    for result in results:
        key = _VALUE_OF_TYPE.get(str(result.get("type")).lower())
        if key is not None:
            yield result["from_name"], result["value"].get(key)


def _taxonomy_name(label: Any) -> Any:
    """Return the path of a taxonomy as text; other labels as they are."""
    return " / ".join(map(str, label)) if isinstance(label, list) else label


def _with_empty_responses(
    frame: pl.DataFrame, submitted: Sequence[tuple[Any, Any]]
) -> tuple[pl.DataFrame, int]:
    """Add an empty set for every annotation that names no class, and count them."""
    schema = dict.fromkeys(("item", "annotator"), pl.String)
    pairs = [[name_of(cell) for cell in pair] for pair in submitted]
    everyone = pl.DataFrame(pairs, schema=schema, orient="row").unique(maintain_order=True)
    lacking = everyone.join(frame, on=["item", "annotator"], how="anti", maintain_order="left")
    empty = lacking.with_columns(label=pl.lit(EMPTY_SET))
    return pl.concat([frame, empty]), len(empty)


def _possible_questions(table: Table, item: str) -> list[str]:
    """Return the columns that may hold labels: not metadata, and not data of the tasks.

    Data of a task is the same in all of its rows, and nearly every task has other data.
    """
    others = [column for column in table.columns if column not in _METADATA]
    n_tasks = table.sample[item].n_unique()

    def is_data(column: str) -> bool:
        n_values = table.sample[column].n_unique()
        pairs = table.sample.select(item, column).n_unique()
        return pairs == n_tasks > 2 and 2 * n_values > n_tasks

    return [column for column in others if not is_data(column)] or others


def _read_short(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    table = tables[0]
    item = existing_column(table, options.item or "id")
    candidates = _possible_questions(table, item)
    columns = {
        "item": item,
        "annotator": existing_column(table, str(options.annotator or "annotator")),
        "label": question_column(table, candidates, "", options),
    }
    cancelling = ["was_cancelled"] if "was_cancelled" in table.columns else []
    frame = load_columns(tables, [*columns.values(), *cancelling])
    is_cancelled = pl.col("was_cancelled").str.to_lowercase() == "true"
    kept = frame.filter(~is_cancelled.fill_null(False)) if cancelling else frame
    label = kept[columns["label"]]
    label = pl.select(pl.coalesce(label.str.json_path_match("$.choices"), label)).to_series()
    chosen, several = choose_from_texts(label, options.all_choices)
    notes = count_note(len(frame) - len(kept), _CANCELLED)
    if options.all_choices:
        chosen, empty_notes = with_empty_sets(tables, chosen)
        notes += empty_notes
    return ParsedResponses(
        kept.select(
            item=pl.col(columns["item"]),
            annotator=names_of_objects(kept[columns["annotator"]]),
            label=chosen,
        ),
        columns,
        notes,
        several=several,
    )
