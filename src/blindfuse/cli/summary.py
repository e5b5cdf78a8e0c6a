"""A fusion in a few words for a person, or as a document for a program."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from blindfuse.cli.fuse_options import Fused
from blindfuse.cli.screen import text
from blindfuse.cli.tables import annotator_frame, as_rows, fused_frame
from blindfuse.diagnostics.fit import SEVERE_MISFIT


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Names on the left, sentences on the right."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, sentence in rows:
        grid.add_row(name, text(sentence))
    return grid


def summary(fused: Fused) -> Table:
    """What was fused, how, how far to trust it, and what to look at."""
    fusion, told = fused.fusion, fused.fusion.diagnostics
    size = fusion.responses
    rows = [
        (
            "Fused",
            f"{size.n_responses:,} responses by {size.n_annotators:,} annotators to "
            f"{size.n_items:,} items in {size.n_classes:,} classes.",
        ),
        ("Method", f"{fusion.method}: {fusion.why}"),
        ("Error", told.expected.summary()),
    ]
    if fused.check is not None:
        rows.append(("Gold", fused.check.summary()))
    if told.fit.misfit >= SEVERE_MISFIT:
        rows.append(("Trust", told.fit.summary()))
    rows += [
        ("Annotators", told.annotators.summary()),
        ("Together", told.dependence.summary()),
        ("Items", told.items.summary()),
    ]
    return facts(rows)


def document(fused: Fused, notes: Sequence[str]) -> dict[str, Any]:
    """All of it for a program."""
    fusion, told = fused.fusion, fused.fusion.diagnostics
    names, size = told.dependence.names, fusion.responses
    return {
        "n_items": size.n_items,
        "n_annotators": size.n_annotators,
        "n_responses": size.n_responses,
        "classes": size.classes.tolist(),
        "class_shares": fusion.model.prior.tolist(),
        "method": fusion.method,
        "why": fusion.why,
        "expected_error": told.expected.error,
        "misfit": told.fit.misfit,
        "gold": gold_document(fused),
        "groups": [names[list(group)].tolist() for group in told.dependence.groups],
        "need_another_label": int(np.count_nonzero(told.items.needs)),
        "notes": list(notes),
        "annotators": as_rows(annotator_frame(fusion)),
        "items": as_rows(fused_frame(fusion)),
    }


def gold_document(fused: Fused) -> dict[str, Any] | None:
    """How a fusion without the gold did on it."""
    if fused.check is None:
        return None
    return {
        "items": fused.check.items,
        "error": fused.check.error.value,
        "vote_error": fused.check.vote.value,
        "calibration_error": fused.check.calibration,
    }
