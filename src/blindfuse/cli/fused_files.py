"""``FusedFiles``: where a result of any kind is written, and what the terminal shows of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blindfuse.cli.output_files import FileWriter, string_writer
from blindfuse.cli.output_options import OutputOptions

if TYPE_CHECKING:
    from rich.table import Table

    from blindfuse import AuditResult, Comparison
    from blindfuse.cli.fuse_options import FusionResult
    from blindfuse.cli.screen import Step

MAX_RESPONSES_ALL_METHODS, MAX_RESPONSES_FAST_METHODS = 50_000, 1_000_000
"""Numbers of responses up to which the report compares all methods, or only the fast ones."""
FAST_METHODS = (
    "MajorityVote",
    "Wawa",
    "DawidSkene",
    "OneCoin",
    "BayesianDawidSkene",
    "LatentSubtypes",
    "MACE",
)


@dataclass(frozen=True)
class FusedFiles:
    """The files that a result is written to."""

    output: OutputOptions
    report: Path | None = None
    annotators: Path | None = None
    model: Path | None = None

    def others(
        self, fused: "FusionResult", title: str, notes: Sequence[str], step: "Step"
    ) -> dict[Path, FileWriter]:
        """Return what writes the annotators, the model and the report, where asked for."""
        from blindfuse.cli.tables import data_frame, writer

        others: dict[Path, FileWriter] = {}
        if self.annotators is not None:
            frame = data_frame(fused.fusion.annotator_columns())
            others[self.annotators] = writer(frame, self.annotators, self.output.spreadsheet)
        if self.model is not None:
            others[self.model] = fused.fusion.save
        if self.report is not None:
            step("writing the report")
            others[self.report] = report_writer(title, notes, fused)
        return others

    def write(
        self,
        fused: "FusionResult",
        notes: Sequence[str],
        others: dict[Path, FileWriter],
        nothing_written: str,
    ) -> None:
        """Write all files and print the summary, or ``nothing_written`` below it."""
        from blindfuse.cli.tables import data_frame

        self.output.write(
            data_frame(fused.fusion.item_columns()),
            text=lambda: [summary_table(fused)],
            document=lambda: _json_document(fused, notes),
            other_files=others,
        )
        if self.output.path is None and not self.output.as_json:
            self.output.screen.note(nothing_written)


def summary_table(fused: "FusionResult") -> "Table":
    """Return what was fused and how, the error on gold labels, and what matters besides."""
    from blindfuse.cli.screen import paragraph_table

    result, check = fused.fusion, fused.gold_check
    method = f"{result.method[:1].upper()}{result.method[1:]}"
    rows = [("Fused", result.size), ("Method", f"{method}. {result.why}")]
    if check is not None:
        rows.append(("Gold labels", check.summary()))
    paragraphs = (each for each in result.paragraphs() if each.warning or not each.detail)
    return paragraph_table([*rows, *((each.heading, each.text) for each in paragraphs)])


def _json_document(fused: "FusionResult", notes: Sequence[str]) -> dict[str, Any]:
    """The whole result as one JSON object, with the notes of reading and the error on gold."""
    document: dict[str, Any] = fused.fusion.to_json()
    check = fused.gold_check
    document["notes"] = list(dict.fromkeys([*notes, *document["notes"]]))
    if check is None:
        return document
    gold = {
        "items": check.items,
        "error": check.error.value,
        "vote_error": check.vote_error.value,
        "calibration_error": check.calibration_error,
    }
    return {**document, "gold": gold}


def report_writer(
    title: str, notes: Sequence[str], fused: "FusionResult", audit: "AuditResult | None" = None
) -> FileWriter:
    """Return a function that writes the report of a result, for labels with other methods."""
    from blindfuse import report_html

    compared, gold = _compare(fused), fused.gold_check
    page = report_html(
        fused.fusion, title=title, notes=notes, compared=compared, gold=gold, audit=audit
    )
    return string_writer(page)


def _compare(fused: "FusionResult") -> "list[Comparison]":
    """Compare the methods for labels that are fast enough for this number of responses."""
    from blindfuse.estimators.registry import METHODS
    from blindfuse.fusion.compare import compare
    from blindfuse.fusion.fuse import Fusion

    if not isinstance(fused.fusion, Fusion):
        return []
    responses = fused.fusion.responses
    if responses.n_responses > MAX_RESPONSES_FAST_METHODS:
        return []
    compare_all = responses.n_responses <= MAX_RESPONSES_ALL_METHODS
    methods = {name: METHODS[name] for name in (METHODS if compare_all else FAST_METHODS)}
    return compare(responses, fused.gold, methods, fused=fused.blind if fused.automatic else None)
