"""Label Studio: JSON with annotations and predictions, and its short forms, JSON-MIN and CSV."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from blindfuse.errors import BadFile
from blindfuse.readers.answers import (
    Answers,
    Gold,
    Row,
    as_name,
    counted,
    first_choice,
    first_choices,
    from_rows,
    named_objects,
    shaped,
)
from blindfuse.readers.guessing import Asked, existing, one_question
from blindfuse.readers.tables import Record, Table, all_records, together

_DONE = ("annotations", "completions")
_SHORT = frozenset(["annotator", "annotation_id"])
_CLASSES = {
    "choices": "choices",
    "rating": "rating",
    "pairwise": "selected",
    "taxonomy": "taxonomy",
}
_ABOUT = frozenset(
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


def recognises(tables: Sequence[Table], asked: Asked) -> bool:
    """Whether there are tasks with annotations or predictions, or rows of annotations."""
    columns = set(tables[0].columns)
    return _is_full(tables[0]) or columns >= _SHORT


def answers(tables: Sequence[Table], asked: Asked) -> Answers:
    """Answers to one question, by people and by models."""
    return _full(tables, asked) if _is_full(tables[0]) else _short(tables, asked)


def _is_full(table: Table) -> bool:
    nested = {*_DONE, "predictions"} & set(table.columns)
    return table.records is not None and bool(nested) and "data" in table.columns


def _full(tables: Sequence[Table], asked: Asked) -> Answers:
    item, who = asked.item or "id", str(asked.annotator or "completed_by")
    rows: list[Row] = []
    gold: list[Row] = []
    seen: Counter[str] = Counter()
    with shaped(tables[0].name, "Label Studio"):
        for task in all_records(tables):
            name = task.get(item, task["data"].get(item))
            if name is None:
                raise BadFile(f"{tables[0].name} has a task without {item!r}. Say another item=.")
            rows.append((None, name, None, None))
            for annotator, results, is_gold in _results(task, who, seen):
                said = [(one, name, annotator, said) for one, said in _classes(results, seen)]
                (gold if is_gold else rows).extend(said)
    wish = asked.label or asked.question
    frame, question = from_rows(tables[0].name, rows, wish)
    notes = [
        *counted(seen["cancelled"], "cancelled annotations left out"),
        *counted(seen["empty"], "annotations without a result"),
        *counted(seen["gold"], "annotations marked as ground truth are gold, not answers"),
        *counted(seen["several"], "answers with several choices: the first is taken"),
    ]
    columns = {"item": item, "annotator": who, "label": question}
    return Answers(frame, columns, notes, gold=_of_question(gold, question) if gold else None)


def _of_question(gold: Sequence[Row], question: str) -> Gold:
    pairs = [(as_name(item), as_name(said)) for one, item, _, said in gold if one == question]
    schema = dict.fromkeys(("item", "label"), pl.String)
    return Gold(pl.DataFrame(pairs, schema=schema, orient="row"), "ground_truth")


def _results(
    task: Record, who: str, seen: Counter[str]
) -> Iterator[tuple[Any, list[Record], bool]]:
    """Each annotator, or version of a model, with the results given, and whether they are gold."""
    for annotation in next((task[key] for key in _DONE if task.get(key)), []):
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            seen["cancelled"] += 1
            continue
        result = annotation.get("result") or []
        seen["gold"] += bool(annotation.get("ground_truth"))
        seen["empty"] += not result
        yield annotation.get(who) or "unknown", result, bool(annotation.get("ground_truth"))
    for prediction in task.get("predictions") or []:
        if isinstance(prediction, dict):  # else the number of one that was not exported
            model = prediction.get("model_version") or "prediction"
            yield model, prediction.get("result") or [], False


def _classes(results: list[Record], seen: Counter[str]) -> Iterator[tuple[str, Any]]:
    """Questions and the classes that were chosen; boxes, spans and texts are none."""
    for result in results:
        key = _CLASSES.get(str(result.get("type")).lower())
        if key is None:
            continue
        label, several = first_choice(result["value"].get(key))
        label = " / ".join(map(str, label)) if isinstance(label, list) else label
        seen["several"] += several
        yield result["from_name"], label


def _short(tables: Sequence[Table], asked: Asked) -> Answers:
    table = tables[0]
    candidates = [column for column in table.columns if column not in _ABOUT]
    columns = {
        "item": existing(table, asked.item or "id"),
        "annotator": existing(table, str(asked.annotator or "annotator")),
        "label": one_question(table, candidates, "", asked),
    }
    cancelling = ["was_cancelled"] if "was_cancelled" in table.columns else []
    frame = together(tables, [*columns.values(), *cancelling])
    cancelled = pl.col("was_cancelled").str.to_lowercase() == "true"
    kept = frame.filter(~cancelled.fill_null(False)) if cancelling else frame
    label = kept[columns["label"]]
    label = pl.select(pl.coalesce(label.str.json_path_match("$.choices"), label)).to_series()
    chosen, several = first_choices(label)
    return Answers(
        kept.select(
            item=pl.col(columns["item"]),
            annotator=named_objects(kept[columns["annotator"]]),
            label=chosen,
        ),
        columns,
        [
            *counted(len(frame) - len(kept), "cancelled annotations left out"),
            *counted(several, "answers with several choices: the first is taken"),
        ],
    )
