"""Verdicts of LLM judges or models: a long table in which failed votes are no answers."""

from collections.abc import Sequence

from blindfuse.readers import long
from blindfuse.readers.answers import Answers
from blindfuse.readers.guessing import Asked, pick, stem
from blindfuse.readers.tables import Table

JUDGES = frozenset(["judge", "grader", "evaluator", "model"])

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
"""What is written in place of a verdict when a judge gave none."""


def recognises(tables: Sequence[Table], asked: Asked) -> bool:
    """Whether the annotator's column is named after judges or models."""
    named = asked.annotator if isinstance(asked.annotator, str) else None
    annotator = pick("annotator", tables[0], named)
    return annotator is not None and stem(annotator) in JUDGES


def answers(tables: Sequence[Table], asked: Asked) -> Answers:
    """One verdict a row; words of failure count as no answer."""
    found = long.answers(tables, asked)
    found.missing = FAILED
    return found
