"""Render the HTML page of a result from its sections, the style sheet and the scripts."""

import os
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any, TypedDict, Unpack

from jinja2 import Environment, PackageLoader, StrictUndefined

from blindfuse.auditing.audit import AuditResult
from blindfuse.errors import BadFile, BadParameter
from blindfuse.files import write_atomically
from blindfuse.fusion.compare import Comparison
from blindfuse.fusion.fuse import Fusion
from blindfuse.fusion.fuse_clusters import ClusterFusion
from blindfuse.fusion.gold_check import GoldCheck
from blindfuse.numbers.number_fusion import NumberFusion
from blindfuse.report.blocks import (
    MAX_PARAGRAPH_LENGTH,
    Chart,
    Listing,
    Page,
    visible_paragraphs,
)
from blindfuse.report.checks import check_sections
from blindfuse.report.clusters import cluster_figures, cluster_sections
from blindfuse.report.labels import check_warnings, label_figures, label_sections
from blindfuse.report.names import distinct_names, visible
from blindfuse.report.numbers import number_figures, number_sections
from blindfuse.report.scripts import script_json, table_data, vega_script
from blindfuse.report.sets import set_figures, set_sections
from blindfuse.result import Result
from blindfuse.sets.set_fusion import SetFusion

KINDS: dict[type, tuple[str, Any, Any]] = {
    Fusion: ("labels", label_figures, label_sections),
    SetFusion: ("sets", set_figures, set_sections),
    NumberFusion: ("numbers", number_figures, number_sections),
    ClusterFusion: ("clusters", cluster_figures, cluster_sections),
}
"""For every kind of result, its name, the figures at the top of its page, and its sections."""

MAX_NOTES, MAX_NOTE_LENGTH = 30, 400
"""Notes, and characters of each."""


class ReportOptions(TypedDict, total=False):
    """The options of :func:`report_html`, which describes them."""

    title: str | None
    notes: Sequence[str]
    compared: Sequence[Comparison]
    gold: GoldCheck | None
    audit: AuditResult | None


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    **options: Unpack[ReportOptions],
) -> None:
    """Write :func:`report_html` to a file, atomically; an existing file is replaced."""
    page = report_html(result, **options)
    try:
        write_atomically(path, page.encode())
    except OSError as error:
        raise BadFile(
            f"{os.fspath(path)} cannot be written: {error.strerror or error}. "
            "Choose a file in an existing folder with write permission."
        ) from error


def report_html(result: Result, **options: Unpack[ReportOptions]) -> str:
    """Return one self-contained HTML page that loads nothing from the network or from disk.

    Parameters
    ----------
    result
        what ``fuse``, ``fuse_sets``, ``fuse_numbers`` or ``fuse_clusters`` returned.
    title
        title of the page; by default, what was fused.
    notes
        what was detected when the responses were read, ``Read.notes``.
    compared
        what ``compare`` returned, for labels.
    gold
        what ``check_on_gold`` returned for a fusion that was not given the gold labels.
    audit
        what ``audit`` returned.
    """
    return render(gather_page(result, **options))


def gather_page(
    result: Result,
    *,
    title: str | None = None,
    notes: Sequence[str] = (),
    compared: Sequence[Comparison] = (),
    gold: GoldCheck | None = None,
    audit: AuditResult | None = None,
) -> Page:
    """Return everything that the page shows about a result."""
    if type(result) not in KINDS:
        raise BadParameter(
            f"result= is a {type(result).__name__}, not a fusion. Pass what fuse, fuse_sets, "
            "fuse_numbers or fuse_clusters returned."
        )
    kind, figures, sections = KINDS[type(result)]
    checks = (gold, audit) if kind == "labels" else ()
    facts = [each for each in result.paragraphs() if each.heading != "Note"]  # they are notes too
    paragraphs = visible_paragraphs(facts)
    warnings = visible_paragraphs(check_warnings(gold, audit))
    all_notes = list(dict.fromkeys([*notes, *result.notes]))[:MAX_NOTES]
    return Page(
        kind=kind,
        title=visible(title or f"Fused {kind}"),
        size=result.size,
        method=f"{result.method[:1].upper()}{result.method[1:]}",
        why=visible(result.why, MAX_PARAGRAPH_LENGTH),
        figures=tuple(figures(result, *checks)),
        warnings=(*warnings, *(each for each in paragraphs if each.warning)),
        paragraphs=tuple(each for each in paragraphs if not each.warning),
        notes=tuple(visible(note, MAX_NOTE_LENGTH) for note in all_notes),
        sections=(*sections(result), *check_sections(compared, gold, audit)),
        classes=tuple(distinct_names(result.responses.classes)) if checks else (),  # type: ignore[attr-defined]
    )


def render(page: Page) -> str:
    """Return the page as HTML; the same contents give the same bytes."""
    listings = page.blocks(Listing)
    data: dict[str, Any] = {
        "classes": page.classes,
        "charts": {chart.name: chart.spec for chart in page.blocks(Chart)},
    }
    for listing in listings:
        data |= {listing.name: table_data(listing.rows), **listing.data}
    names = ("charts.js", "report.js") if listings else ("charts.js",)
    scripts = (vega_script(), *map(_page_file, names))
    environment = Environment(
        loader=PackageLoader("blindfuse.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        page=page,
        listings=listings,
        data=script_json(data),
        style=_page_file("report.css"),
        scripts=scripts,
        policy=_content_security_policy(*scripts),
    )


def _content_security_policy(*scripts: str) -> str:
    """A policy that allows these scripts only, and no requests."""
    hashes = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _page_file(name: str) -> str:
    return files("blindfuse.report").joinpath("page", name).read_text(encoding="utf-8")
