"""Render the HTML page of a fusion from its contents, charts, style sheet and scripts."""

import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from blindfuse.auditing.audit import AuditResult
from blindfuse.errors import BadFile
from blindfuse.files import write_atomically
from blindfuse.fusion.compare import Comparison
from blindfuse.fusion.fuse import Fusion
from blindfuse.fusion.gold_check import GoldCheck
from blindfuse.report.annotators import AnnotatorRow
from blindfuse.report.charts import Chart, build_charts
from blindfuse.report.contents import Contents, gather_contents
from blindfuse.report.items import ItemRow
from blindfuse.report.script_data import script_json, table_data
from blindfuse.report.scripts import vega_script

TITLE = "Fused labels"


def write_report(
    fusion: Fusion,
    path: str | os.PathLike[str],
    *,
    title: str = TITLE,
    notes: Sequence[str] = (),
    compared: Sequence[Comparison] = (),
    gold: GoldCheck | None = None,
    audit: AuditResult | None = None,
) -> None:
    """Write :func:`report_html` to a file, atomically; an existing file is replaced."""
    page = report_html(fusion, title=title, notes=notes, compared=compared, gold=gold, audit=audit)
    try:
        write_atomically(path, page.encode())
    except OSError as error:
        raise BadFile(
            f"{os.fspath(path)} cannot be written: {error.strerror or error}. "
            "Choose a file in an existing folder with write permission."
        ) from error


def report_html(
    fusion: Fusion,
    *,
    title: str = TITLE,
    notes: Sequence[str] = (),
    compared: Sequence[Comparison] = (),
    gold: GoldCheck | None = None,
    audit: AuditResult | None = None,
) -> str:
    """Return one self-contained HTML page that loads nothing from the network or from disk.

    Parameters
    ----------
    fusion
        what ``fuse`` returned.
    title
        title of the page.
    notes
        what was detected when the responses were read, ``Read.notes``.
    compared
        what ``compare`` returned.
    gold
        what ``check_on_gold`` returned for a fusion that was not given the gold labels.
    audit
        what ``audit`` returned.
    """
    given = gather_contents(
        fusion, title=title, notes=notes, compared=compared, gold=gold, audit=audit
    )
    return render(given)


def render(contents: Contents) -> str:
    """Return the page of these contents; the same contents give the same bytes."""
    charts = build_charts(contents)
    data = script_json(_script_data(contents, charts))
    return fill_template("report.html", "report.js", contents=contents, charts=charts, data=data)


def fill_template(template: str, *scripts: str, **values: Any) -> str:
    """Return a page of the folder ``page/``, with the style sheet, the scripts and a policy.

    All pages extend ``base.html`` and draw their charts by ``charts.js``; ``scripts`` are others.
    """
    contents = (vega_script(), *map(_page_file, ("charts.js", *scripts)))
    return _template(template).render(
        style=_page_file("report.css"),
        scripts=contents,
        policy=_content_security_policy(*contents),
        **values,
    )


def _script_data(contents: Contents, charts: Mapping[str, Chart]) -> dict[str, Any]:
    """What ``report.js`` reads."""
    return {
        "classes": contents.classes,
        "matrix_classes": contents.annotators.matrix_classes,
        "matrix_symbols": contents.annotators.matrix_symbols,
        "annotators": table_data(AnnotatorRow, contents.annotators.rows),
        "items": table_data(ItemRow, contents.items.rows),
        "voters": contents.items.voters,
        "charts": {name: chart.spec for name, chart in charts.items()},
    }


def _content_security_policy(*scripts: str) -> str:
    """A policy that allows these scripts only, and no requests."""
    hashes = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("blindfuse.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda share, digits=1: f"{100 * share:.{digits}f}\u00a0%"
    environment.filters["points"] = lambda share: f"{100 * share:+.1f}"
    environment.filters["thousands"] = lambda count: f"{count:,}"
    return environment.get_template(name)


def _page_file(name: str) -> str:
    return files("blindfuse.report").joinpath("page", name).read_text(encoding="utf-8")
