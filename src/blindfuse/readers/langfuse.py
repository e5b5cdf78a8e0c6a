"""Scores of Langfuse, exported from its pages, its API or to a bucket."""

from collections.abc import Sequence

import polars as pl

from blindfuse.readers.reader import ParsedResponses
from blindfuse.readers.tables import Table, load_columns
from blindfuse.responses.detection import ColumnOptions, existing_column

TITLE = "scores of Langfuse"

_FIELDS = {
    "trace": ("traceId", "trace_id"),
    "observation": ("observationId", "observation_id"),
    "text": ("stringValue", "string_value"),
    "author": ("authorUserId", "author_user_id", "authorUserName", "author"),
}
"""The names of a field in the exports."""


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether there are names and values of scores by trace.

    If the item or the annotator is named, the scores are read as a long table.
    """
    has_scores = {"name", "value", "source"} <= set(tables[0].columns)
    return has_scores and "trace" in _fields(tables[0]) and not (options.item or options.annotator)


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per score; a score is named after its evaluator and its author.

    With one name of scores, the annotator is the author, or the source of the score.
    """
    table, fields = tables[0], _fields(tables[0])
    named = [existing_column(table, options.label)] if options.label else []
    frame = load_columns(tables, ["name", "value", "source", *fields.values(), *named])
    frame = frame.with_columns(pl.all().replace("", None))  # cells in quotes
    observation, text, author = (
        pl.col(fields[field]) if field in fields else pl.lit(None, pl.String)
        for field in ("observation", "text", "author")
    )
    several = frame["name"].n_unique() > 1
    parts = [pl.col("name"), author] if several else [pl.coalesce(author, "source")]
    return ParsedResponses(
        frame.select(
            item=pl.concat_str(fields["trace"], observation, separator=" ", ignore_nulls=True),
            annotator=pl.concat_str(parts, separator=", ", ignore_nulls=True),
            label=pl.col(*named) if named else pl.coalesce(text, "value"),
        ),
        {
            "item": fields["trace"],
            "annotator": "name" if several else "author",
            "label": options.label or "value",
        },
    )


def _fields(table: Table) -> dict[str, str]:
    """Return the column of each field that the table has."""
    return {
        field: name for field, names in _FIELDS.items() for name in names if name in table.columns
    }
