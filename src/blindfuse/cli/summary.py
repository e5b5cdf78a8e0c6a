"""The summary of a fusion: a table for the terminal, or a JSON document."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from blindfuse.cli.fuse_options import FusionResult
from blindfuse.cli.screen import text
from blindfuse.cli.tables import annotator_frame, as_rows, fused_frame
from blindfuse.fusion.fuse import Fusion
from blindfuse.fusion.gold_check import GoldCheck


def paragraph_table(rows: Iterable[tuple[str, str]]) -> Table:
    """Return a table with headings on the left and text on the right."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for heading, sentence in rows:
        grid.add_row(heading, text(sentence))
    return grid


def summary_table(fused: FusionResult) -> Table:
    """Return what was fused and how, followed by the diagnostics that matter here."""
    fusion, responses = fused.fusion, fused.fusion.responses
    symbols = "" if responses.is_plain else f", as {responses.n_symbols:,} symbols"
    size = (
        f"{responses.n_responses:,} responses by {responses.n_annotators:,} annotators to "
        f"{responses.n_items:,} items in {responses.n_classes:,} classes{symbols}."
    )
    rows = [("Fused", size), ("Method", f"{fusion.method}. {fusion.why}")]
    if fused.gold_check is not None:
        rows.append(("Gold labels", fused.gold_check.summary()))
    paragraphs = fusion.diagnostics.paragraphs()
    rows += [(one.heading, one.text) for one in paragraphs if one.warning or not one.detail]
    return paragraph_table(rows)


def saved_model_notes(fusion: Fusion, path: Path) -> list[str]:
    """Return how many items the saved model alone labels in another way, if there are any.

    A saved model has confusion matrices and a prior. Votes, merged groups and averages of models
    need more than that.
    """
    fused = np.ones(len(fusion.labels), bool) if fusion.is_gold is None else ~fusion.is_gold
    by_model = fusion.model.labels(fusion.responses, threads=fusion.threads)
    n_other, n_fused = int(np.sum((by_model != fusion.labels)[fused])), int(fused.sum())
    if not n_other:
        return []
    return [
        f"{path} has confusion matrices and a prior only, and labels {n_other:,} of {n_fused:,} "
        f"items ({100 * n_other / n_fused:.2g} %) differently from this fusion. For the same "
        "labels, fuse new items together with these instead of using `blindfuse predict`."
    ]


def json_document(fused: FusionResult, notes: Sequence[str]) -> dict[str, Any]:
    """Return the whole result as one JSON object."""
    fusion, diagnostics = fused.fusion, fused.fusion.diagnostics
    dependence, responses = diagnostics.dependence, fusion.responses
    return {
        "n_items": responses.n_items,
        "n_annotators": responses.n_annotators,
        "n_responses": responses.n_responses,
        "classes": responses.classes.tolist(),
        "symbols": responses.symbols.tolist(),
        "class_prior": fusion.model.prior.tolist(),
        "method": fusion.method,
        "why": fusion.why,
        "expected_error": fusion.expected_error.value,
        "expected_error_low": fusion.expected_error.low,
        "expected_error_high": fusion.expected_error.high,
        "effective_votes": dependence.effective_votes,
        "misfit": diagnostics.fit.misfit,
        "gold": _gold_document(fused.gold_check),
        "dependent_groups": [dependence.names[list(g)].tolist() for g in dependence.groups],
        "needs_another_label": int(np.count_nonzero(diagnostics.items.needs_another_label)),
        "notes": list(notes),
        "annotators": as_rows(annotator_frame(fusion)),
        "items": as_rows(fused_frame(fusion)),
    }


def _gold_document(check: GoldCheck | None) -> dict[str, Any] | None:
    """The error on gold labels of a fusion that was not given them."""
    if check is None:
        return None
    return {
        "items": check.items,
        "error": check.error.value,
        "vote_error": check.vote_error.value,
        "calibration_error": check.calibration_error,
    }
