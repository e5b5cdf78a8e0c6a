"""Render the HTML page of a result from its sections, the style sheet and the scripts."""

import json
import os
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from blindfuse.auditing.audit import AuditResult
from blindfuse.errors import BadFile, BadParameter, capitalize
from blindfuse.files import write_atomically
from blindfuse.fusion.compare import Comparison, GoldCheck
from blindfuse.report.blocks import (
    MAX_PARAGRAPH_LENGTH,
    Chart,
    Listing,
    Page,
    visible,
    visible_paragraphs,
)
from blindfuse.report.checks import Checks
from blindfuse.result import Result

MAX_NOTES, MAX_NOTE_LENGTH = 30, 400
"""Notes, and characters of each."""


def write_report(result: Result, path: str | os.PathLike[str], **options: Any) -> None:
    """Write :func:`report_html` to a file, atomically; an existing file is replaced."""
    page = report_html(result, **options)
    try:
        write_atomically(path, page.encode())
    except OSError as error:
        raise BadFile(
            f"{os.fspath(path)} cannot be written: {error.strerror or error}. "
            "Choose a file in an existing folder with write permission."
        ) from error


def report_html(
    result: Result,
    *,
    title: str | None = None,
    notes: Sequence[str] = (),
    compared: Sequence[Comparison] = (),
    gold: GoldCheck | None = None,
    audit: AuditResult | None = None,
) -> str:
    """Return one self-contained HTML page that loads nothing from the network or from disk.

    Parameters
    ----------
    result
        what ``fuse``, ``fuse_sets``, ``fuse_numbers``, ``fuse_clusters`` or ``fuse_pairs``
        returned.
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
    return render(gather_page(result, title, notes, Checks(compared, gold, audit)))


def gather_page(result: Result, title: str | None, notes: Sequence[str], checks: Checks) -> Page:
    """Return everything that the page shows about a result."""
    kind = getattr(result, "kind", None)
    if not isinstance(kind, str) or not find_spec(f"blindfuse.report.{kind}"):
        raise BadParameter(
            f"result= is of type {type(result).__name__}, not a fusion. Pass what fuse, fuse_sets, "
            "fuse_numbers, fuse_clusters or fuse_pairs returned."
        )
    module = import_module(f"blindfuse.report.{kind}")
    facts = [each for each in result.paragraphs() if each.heading != "Note"]  # they are notes too
    paragraphs = visible_paragraphs(facts)
    warnings = visible_paragraphs(checks.warnings())
    all_notes = list(dict.fromkeys([*notes, *result.notes]))[:MAX_NOTES]
    return Page(
        kind=kind,
        title=visible(title or f"Fused {kind}"),
        size=result.size,
        method=capitalize(result.method),
        why=visible(result.why, MAX_PARAGRAPH_LENGTH),
        figures=(*checks.figures(), *module.figures(result)),
        warnings=(*warnings, *(each for each in paragraphs if each.warning)),
        paragraphs=tuple(each for each in paragraphs if not each.warning),
        notes=tuple(visible(note, MAX_NOTE_LENGTH) for note in all_notes),
        sections=(*module.sections(result), *checks.sections()),
    )


def render(page: Page) -> str:
    """Return the page as HTML; the same contents give the same bytes."""
    listings = page.blocks(Listing)
    data: dict[str, Any] = {"charts": {chart.name: chart.spec for chart in page.blocks(Chart)}}
    for listing in listings:
        data |= {listing.name: listing.rows, **listing.data}
    names = ["vega.js", "charts.js", *(["report.js"] if listings else [])]
    scripts = tuple(map(_page_file, names))
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


def script_json(value: Any) -> str:
    """Return JSON for a script element, without characters that could end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


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
