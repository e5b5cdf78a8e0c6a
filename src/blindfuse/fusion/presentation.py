"""How fused labels are shown: the tables of items and annotators, and the JSON document."""

from typing import TYPE_CHECKING, Any

import numpy as np

from blindfuse.diagnostics.diagnose import Diagnostics
from blindfuse.diagnostics.expected_error import ExpectedError
from blindfuse.diagnostics.items import Items
from blindfuse.errors import counted
from blindfuse.responses.responses import Responses
from blindfuse.result import (
    Columns,
    json_rows,
    optional_texts,
    posterior_columns,
    sorted_columns,
)
from blindfuse.typing import Array, Floats

if TYPE_CHECKING:
    from blindfuse.fusion.fuse import Fusion


def describe_size(responses: Responses) -> str:
    """Return how many responses, annotators, items and classes there are."""
    symbols = "" if responses.is_plain else f", as {responses.n_symbols:,} symbols"
    return (
        f"{counted(responses.n_responses, 'response')} by "
        f"{counted(responses.n_annotators, 'annotator')} to {counted(responses.n_items, 'item')} "
        f"in {counted(responses.n_classes, 'class')}{symbols}."
    )


def label_columns(
    items: Array, labels: Array, posteriors: Floats, classes: Array, rated: Items
) -> Columns:
    """Return one row per item: its label, the confidence and the posteriors of all classes."""
    return {
        "item": items,
        "label": labels,
        "confidence": rated.confidence,
        "margin": rated.margin,
        "needs_another_label": rated.needs_another_label,
        "gain": rated.gain,
        **posterior_columns(classes, posteriors),
    }


def annotator_columns(diagnostics: Diagnostics) -> Columns:
    """Return one row per annotator, the least accurate first."""
    rated, coverage = diagnostics.annotators, diagnostics.coverage
    flags = [next(iter(rated.flags_of(m)), None) for m in range(len(rated.names))]
    group_of = np.zeros(len(rated.names), dtype=int)
    for group, members in enumerate(diagnostics.dependence.groups, 1):
        group_of[list(members)] = group
    columns = {
        "annotator": rated.names,
        "responses": rated.n_responses,
        "accuracy": rated.accuracy,
        "accuracy_low": rated.low,
        "accuracy_high": rated.high,
        **({} if rated.roc_area is None else {"roc_area": rated.roc_area}),
        "coverage": coverage.coverage,
        "overlap": coverage.overlap,
        "conflict": coverage.conflict,
        "worst_class": rated.classes[rated.worst_class],
        "confused_with": rated.classes[rated.confused_with],
        "flag": optional_texts(flags),
        "dependent_group": np.ma.masked_equal(group_of, 0),
    }
    return sorted_columns(columns, by="accuracy")


def label_document(fusion: "Fusion") -> dict[str, Any]:
    """Return the whole result as one JSON object."""
    responses, diagnostics = fusion.responses, fusion.diagnostics
    dependence, information = diagnostics.dependence, diagnostics.information
    shares, votes = diagnostics.class_shares, dependence.effective_votes
    columns = {name: getattr(shares, name) for name in ("share", "low", "high", "votes")}
    rows = zip(*(np.ma.masked_invalid(column).tolist() for column in columns.values()), strict=True)
    named = zip(shares.classes.tolist(), rows, strict=True)
    return {
        "n_items": responses.n_items,
        "n_annotators": responses.n_annotators,
        "n_responses": responses.n_responses,
        "classes": responses.classes.tolist(),
        "symbols": responses.symbols.tolist(),
        "class_prior": fusion.model.prior.tolist(),
        "method": fusion.method,
        "why": fusion.why,
        **expected_error_document(fusion.expected_error),
        "agreement": None if information is None else information.alpha._asdict(),
        "class_shares": {str(name): dict(zip(columns, row, strict=True)) for name, row in named},
        "effective_votes": None if np.isnan(votes) else votes,
        "misfit": diagnostics.fit.misfit,
        "gold": None,
        "dependent_groups": [dependence.names[list(g)].tolist() for g in dependence.groups],
        "needs_another_label": int(np.count_nonzero(fusion.item_ratings.needs_another_label)),
        "notes": list(fusion.notes),
        "annotators": json_rows(fusion.annotator_columns()),
        "items": json_rows(fusion.item_columns()),
    }


def expected_error_document(expected: ExpectedError | None) -> dict[str, float | None]:
    """Return the expected error and its interval; null if the responses do not tell."""
    names = {"": "value", "_low": "low", "_high": "high", "_if_independent": "if_independent"}
    return {f"expected_error{end}": getattr(expected, name, None) for end, name in names.items()}
