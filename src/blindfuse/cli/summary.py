"""The summary of a fusion: a table for the terminal, or a JSON document."""

from collections.abc import Iterable, Sequence
from math import isnan
from typing import Any

import numpy as np
from rich.table import Table

from blindfuse.cli.fuse_options import FusionResult
from blindfuse.cli.screen import text
from blindfuse.cli.tables import annotator_frame, as_rows, fused_frame
from blindfuse.diagnostics.class_shares import ClassShares
from blindfuse.diagnostics.expected_error import ExpectedError
from blindfuse.diagnostics.information import Information
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
        f"{_count(responses.n_responses, 'response')} by "
        f"{_count(responses.n_annotators, 'annotator')} to {_count(responses.n_items, 'item')} in "
        f"{responses.n_classes:,} classes{symbols}."
    )
    method = f"{fusion.method[:1].upper()}{fusion.method[1:]}"
    rows = [("Fused", size), ("Method", f"{method}. {fusion.why}")]
    if fused.gold_check is not None:
        rows.append(("Gold labels", fused.gold_check.summary()))
    paragraphs = fusion.diagnostics.paragraphs()
    rows += [(one.heading, one.text) for one in paragraphs if one.warning or not one.detail]
    return paragraph_table(rows)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


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
        **expected_error_document(fusion.expected_error),
        "agreement": _agreement_document(diagnostics.information),
        "class_shares": _shares_document(diagnostics.class_shares),
        "effective_votes": dependence.effective_votes,
        "misfit": diagnostics.fit.misfit,
        "gold": _gold_document(fused.gold_check),
        "dependent_groups": [dependence.names[list(g)].tolist() for g in dependence.groups],
        "needs_another_label": int(np.count_nonzero(diagnostics.items.needs_another_label)),
        "notes": list(notes),
        "annotators": as_rows(annotator_frame(fusion)),
        "items": as_rows(fused_frame(fusion)),
    }


def expected_error_document(expected: ExpectedError | None) -> dict[str, float | None]:
    """Return the expected error and its interval; null if the responses do not tell."""
    names = {"": "value", "_low": "low", "_high": "high", "_if_independent": "if_independent"}
    return {f"expected_error{end}": getattr(expected, name, None) for end, name in names.items()}


def _agreement_document(information: Information | None) -> dict[str, float] | None:
    """Krippendorff's α with its 95 % interval; None if no item has two responses."""
    return None if information is None else information.alpha._asdict()


def _shares_document(shares: ClassShares) -> dict[str, dict[str, float | None]]:
    """The share of each class with its 80 % interval, and its share of the votes."""
    columns = (shares.share, shares.low, shares.high, shares.votes)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    names = "share", "low", "high", "votes"
    return {
        str(name): {key: None if isnan(x) else x for key, x in zip(names, row, strict=True)}
        for name, row in zip(shares.classes.tolist(), rows, strict=True)
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
