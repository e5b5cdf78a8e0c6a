"""Comparisons: one row per comparison, with columns for both items and the winner."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from blindfuse.comparisons.table import Comparisons
from blindfuse.errors import BadFile, BadLabels
from blindfuse.readers.numbers import as_floats
from blindfuse.readers.reader import Read, name_of
from blindfuse.readers.tables import Table, load_responses
from blindfuse.responses.detection import detect_columns

TITLE = "comparisons"


def read_comparisons(
    tables: Sequence[Table], named: Mapping[str, str | None], missing: Iterable[Any] = ()
) -> Read[Comparisons]:
    """Return the comparisons in tables with one row each.

    Columns that are not ``named`` are detected; winners in ``missing`` are left out.
    """
    name, columns = tables[0].name, detect_columns(tables[0], named)
    frame, notes = load_responses(tables, list(columns.values()))
    arrays = {role: frame[column].to_numpy() for role, column in columns.items()}
    if "winner" in columns:
        winner, markers = frame[columns["winner"]], [name_of(each) for each in missing]
        is_missing = winner.is_in([each for each in markers if each is not None]).fill_null(False)
        arrays["winner"] = winner.set(is_missing, None).to_numpy()
    if "weight" in columns:
        weights, weight_notes = as_floats(frame[columns["weight"]])
        wrong = frame[columns["weight"]].filter(weights.is_null())
        if len(wrong):
            raise BadFile(f"{name}: the weight {wrong[0]!r} is not a finite number. Correct it.")
        arrays["weight"], notes = weights.to_numpy(), [*notes, *weight_notes]
    try:
        return Read(Comparisons.from_roles(arrays), columns, notes)
    except BadLabels as error:
        raise BadFile(f"{name}: {error}") from None
