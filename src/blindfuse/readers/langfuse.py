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
    """Return whether there are names and values of scores by trace."""
    fields = _fields(tables[0])
    return {"name", "value", "source"} <= set(tables[0].columns) and "trace" in fields


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one response per score; a score is named after its evaluator and its author.

    With one name of scores, the annotator is the author, or the source of the score.
    """
    table, fields = tables[0], _fields(tables[0])
    chosen = [name for name in (options.item, options.annotator, options.label) if name]
    named = [existing_column(table, str(name)) for name in chosen]
    frame = load_columns(tables, ["name", "value", "source", *fields.values(), *named])
    observation, text, author = (
        pl.col(fields[field]) if field in fields else pl.lit(None, pl.String)
        for field in ("observation", "text", "author")
    )
    several = frame["name"].n_unique() > 1
    who = pl.coalesce(author, pl.lit(None) if several else pl.col("source"))
    parts = [pl.col("name"), who] if several else [who]
    annotator = pl.concat_str(parts, separator=", ", ignore_nulls=True)
    item = pl.concat_str(fields["trace"], observation, separator=" ", ignore_nulls=True)
    label = pl.coalesce(text, "value")
    return ParsedResponses(
        frame.select(
            item=pl.col(options.item) if options.item else item,
            annotator=pl.col(str(options.annotator)) if options.annotator else annotator,
            label=pl.col(options.label) if options.label else label,
        ),
        {
            "item": options.item or fields["trace"],
            "annotator": str(options.annotator or ("name" if several else "author")),
            "label": options.label or "value",
        },
    )


def _fields(table: Table) -> dict[str, str]:
    """Return the column of each field that the table has."""
    return {
        field: name for field, names in _FIELDS.items() for name in names if name in table.columns
    }
