"""Who said what about which item, as text, before it becomes Responses."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from blindfuse.errors import BadFile, meant, naming
from blindfuse.readers.guessing import is_categorical

Row = tuple[str | None, Any, Any, Any]
"""Question, item, annotator, label."""


class Gold(NamedTuple):
    """Labels that stand beside answers as the truth: columns ``item`` and ``label``, and where."""

    frame: pl.DataFrame
    where: str


@dataclass
class Answers:
    """What a format's reader found.

    Attributes
    ----------
    frame
        columns ``item``, ``annotator`` and ``label``, all text. A label of null is no answer: its
        item and its annotator, if there is one, are kept.
    columns
        where each of the three was found.
    notes
        what a person should know: what was skipped, and why.
    missing
        labels that stand for no answer, in lower case, beside empty ones.
    gold
        what the file gives as the truth, or None.
    """

    frame: pl.DataFrame
    columns: dict[str, str]
    notes: list[str] = field(default_factory=list)
    missing: frozenset[str] = frozenset()
    gold: Gold | None = None


@contextmanager
def shaped(name: str, format: str) -> Iterator[None]:
    """An error about the file where its objects are not of the shape that the format has."""
    try:
        yield
    except (KeyError, AttributeError, TypeError) as error:
        raise BadFile(
            f"{name} is not as {format} writes it ({error!r}). Export it again, or say format=."
        ) from error


def counted(count: int, what: str) -> list[str]:
    """A note, if there is anything to note; ``what`` is in the plural."""
    return [f"{count:,} {what}"] if count else []


def from_rows(name: str, rows: Iterable[Row], question: str | None) -> tuple[pl.DataFrame, str]:
    """The rows of one question as a frame, and that question.

    A row with an empty question tells of an item only.
    """
    cells = [[as_name(cell) for cell in row] for row in rows]
    schema = dict.fromkeys(("question", "item", "annotator", "label"), pl.String)
    return of_question(name, pl.DataFrame(cells, schema=schema, orient="row"), question)


def of_question(name: str, frame: pl.DataFrame, question: str | None) -> tuple[pl.DataFrame, str]:
    """The rows of the question asked for, or of the only one, or of the only one with classes."""
    asked = frame["question"].drop_nulls().unique(maintain_order=True).to_list()
    if question is not None and question not in asked:
        raise BadFile(f"{name} has no question {question!r}: {meant(question, asked)}")
    if question is None and len(asked) > 1:
        classes = [one for one in asked if is_categorical(_labels(frame, one))]
        if len(classes) != 1:
            raise BadFile(
                f"{name} asks several questions: {naming(asked)}. "
                f"Say which with question=, as in question={asked[0]!r}."
            )
        question = classes[0]
    if question is None and not asked:
        raise BadFile(f"{name} holds no answer that names a class: nothing can be fused.")
    chosen = question if question is not None else asked[0]
    mine = (pl.col("question") == chosen) & pl.col("label").is_not_null()
    answered = frame.with_row_index("row").filter(mine)
    others = frame.with_row_index("row").join(answered, on="item", how="anti")
    silent = others.unique("item", keep="first").with_columns(
        annotator=pl.lit(None, pl.String), label=pl.lit(None, pl.String)
    )
    rows = pl.concat([answered, silent], how="diagonal").sort("row")
    return rows.select("item", "annotator", "label"), chosen


def _labels(frame: pl.DataFrame, question: str) -> pl.Series:
    return frame.filter(pl.col("question") == question)["label"]


def first_choices(column: pl.Series) -> tuple[pl.Series, int]:
    """Lists in JSON as the first of their choices, other text as it is; how many had several."""
    listed = column.str.starts_with("[")
    if not listed.any():
        return column, 0
    lists = pl.select(pl.when(listed).then(column)).to_series()
    try:
        choices = lists.str.json_decode(pl.List(pl.String))
    except pl.exceptions.PolarsError:
        return column, 0
    firsts = pl.select(pl.when(listed).then(choices.list.first()).otherwise(column)).to_series()
    return firsts, int((choices.list.len() > 1).sum())


def as_name(value: Any) -> str | None:
    """A person, an item or a class as text; of an object, what tells it apart."""
    if isinstance(value, dict):
        known = ("email", "username", "name", "label", "value", "id")
        return next((as_name(value[key]) for key in known if value.get(key) is not None), None)
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def named_objects(column: pl.Series) -> pl.Series:
    """Objects in JSON as the name or id that they hold, other text as it is."""
    nested = column.str.starts_with("{")
    if not nested.any():
        return column
    keys = ("email", "username", "name", "id")
    within = [column.str.json_path_match(f"$.{key}") for key in keys]
    name = pl.coalesce(*within, column)
    return pl.select(pl.when(nested).then(name).otherwise(column)).to_series().alias(column.name)


def first_choice(value: Any) -> tuple[Any, bool]:
    """The first of a list of choices, and whether there are more; anything else as it is."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value, False
    return (value[0] if value else None), len(value) > 1
