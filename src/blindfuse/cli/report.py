"""The HTML report of a fusion, for the commands that write one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from blindfuse.cli.output_files import FileWriter, string_writer

if TYPE_CHECKING:
    from blindfuse import AuditResult, Comparison
    from blindfuse.cli.fuse_options import FusionResult

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


def report_writer(
    title: str, notes: Sequence[str], fused: "FusionResult", audit: "AuditResult | None" = None
) -> FileWriter:
    """Return a function that writes the report of a fusion, with a comparison of methods."""
    from blindfuse import report_html

    return string_writer(
        report_html(
            fused.fusion,
            title=title,
            notes=notes,
            compared=_compare(fused),
            gold=fused.gold_check,
            audit=audit,
        )
    )


def _compare(fused: "FusionResult") -> "list[Comparison]":
    """Compare the methods that are fast enough for this number of responses."""
    from blindfuse.estimators.registry import METHODS
    from blindfuse.fusion.compare import compare

    responses = fused.fusion.responses
    if responses.n_responses > MAX_RESPONSES_FAST_METHODS:
        return []
    compare_all = responses.n_responses <= MAX_RESPONSES_ALL_METHODS
    methods = {name: METHODS[name] for name in (METHODS if compare_all else FAST_METHODS)}
    return compare(responses, fused.gold, methods, fused=fused.blind if fused.automatic else None)
