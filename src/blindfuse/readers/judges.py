"""Verdicts of LLM judges or models: a long table in which failed verdicts are missing."""

from collections.abc import Sequence

from blindfuse.readers import long
from blindfuse.readers.detection import ColumnOptions, base_name, detect_column
from blindfuse.readers.parsed_responses import ParsedResponses
from blindfuse.readers.tables import Table

NAME = "judge"
TITLE = "a long table of judge verdicts"

JUDGE_NAMES = frozenset(["judge", "grader", "evaluator", "model"])
"""Names of annotator columns that hold judges or models."""

FAILED = frozenset(
    [
        "error",
        "failed",
        "failure",
        "fail_to_parse",
        "unparsable",
        "unparseable",
        "unparsed",
        "parse_error",
        "invalid",
        "timeout",
        "refusal",
        "refused",
        "none",
        "null",
        "n/a",
    ]
)
"""Labels that say that a judge gave no verdict."""


def recognizes(tables: Sequence[Table], options: ColumnOptions) -> bool:
    """Return whether the name of the annotator column says judges or models."""
    named = options.annotator if isinstance(options.annotator, str) else None
    annotator = detect_column("annotator", tables[0], named)
    return annotator is not None and base_name(annotator) in JUDGE_NAMES


def read(tables: Sequence[Table], options: ColumnOptions) -> ParsedResponses:
    """Return one verdict per row; labels in ``FAILED`` are treated as missing."""
    parsed = long.read(tables, options)
    parsed.missing = FAILED
    return parsed
