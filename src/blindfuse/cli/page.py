"""The report of a fusion, as a page to be written."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blindfuse.cli.targets import Write
    from blindfuse.cli.work import Fused

MOST_COMPARED = 200_000
"""Labels up to which a report compares all methods: beyond, some of them take a minute each."""


def page(title: str, notes: Sequence[str], fused: "Fused") -> "Write":
    """What writes the report of a fusion, with all methods compared where that is quick."""
    from blindfuse import compare

    responses = fused.fusion.responses
    compared = compare(responses, fused.gold) if responses.n_labels <= MOST_COMPARED else ()
    report_html = import_module("blindfuse.report.writing").report_html
    text = report_html(fused.fusion, title=title, notes=notes, compared=compared, gold=fused.check)

    def write(place: Path) -> None:
        place.write_text(text, encoding="utf-8")

    return write
