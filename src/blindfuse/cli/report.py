"""The report of a fusion, as a page to be written."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blindfuse import Comparison
    from blindfuse.cli.fuse_options import Fused
    from blindfuse.cli.output_files import Write

MOST_COMPARED, MOST_QUICK = 50_000, 1_000_000
"""Labels up to which a report compares all methods, and up to which those that are quick."""
QUICK = (
    "MajorityVote",
    "Wawa",
    "DawidSkene",
    "OneCoin",
    "BayesianDawidSkene",
    "LatentSubtypes",
    "MACE",
)


def page(title: str, notes: Sequence[str], fused: "Fused") -> "Write":
    """What writes the report of a fusion, with other methods compared where that is quick."""
    from blindfuse import report_html

    text = report_html(
        fused.fusion, title=title, notes=notes, compared=_compared(fused), gold=fused.check
    )

    def write(place: Path) -> None:
        place.write_text(text, encoding="utf-8")

    return write


def _compared(fused: "Fused") -> "list[Comparison]":
    from blindfuse.estimators.registry import METHODS
    from blindfuse.fusion.compare import compare

    responses = fused.fusion.responses
    if responses.n_responses > MOST_QUICK:
        return []
    chosen = METHODS if responses.n_responses <= MOST_COMPARED else QUICK
    methods = {name: METHODS[name] for name in chosen}
    return compare(responses, fused.gold, methods, fused=fused.blind if fused.chosen else None)
