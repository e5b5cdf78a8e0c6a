"""From a fusion to one HTML page: what it says, its pictures, its style and its scripts."""

import os
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from blindfuse.errors import BadFile
from blindfuse.files import write_whole
from blindfuse.fusion.compare import Comparison
from blindfuse.fusion.fuse import Fusion
from blindfuse.fusion.gold_check import GoldCheck
from blindfuse.report.charts import pictures
from blindfuse.report.contents import Contents, gather
from blindfuse.report.names import as_json
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
) -> None:
    """Write :func:`report_html` to a file, whole or not at all; one that is there is replaced."""
    page = report_html(fusion, title=title, notes=notes, compared=compared, gold=gold)
    try:
        write_whole(path, page.encode())
    except OSError as why:
        raise BadFile(
            f"{os.fspath(path)} cannot be written: {why.strerror or why}. "
            "Name a file in a folder that exists and that you may write to."
        ) from why


def report_html(
    fusion: Fusion,
    *,
    title: str = TITLE,
    notes: Sequence[str] = (),
    compared: Sequence[Comparison] = (),
    gold: GoldCheck | None = None,
) -> str:
    """One page that needs nothing else: no network, no other file.

    Parameters
    ----------
    fusion
        what ``fuse`` returned.
    notes
        what was guessed when the answers were read, ``Read.notes``.
    compared
        what ``compare`` returned.
    gold
        what ``check_on_gold`` says of a fusion that did not see the known labels.
    """
    return render(gather(fusion, title=title, notes=notes, compared=compared, gold=gold))


def render(contents: Contents) -> str:
    """The page of these contents; the same contents give the same bytes."""
    drawn = pictures(contents)
    vega, own = vega_script(), _file("report.js")
    return _template().render(
        contents=contents,
        pictures=drawn,
        data=as_json(_for_the_script(contents, {name: one.spec for name, one in drawn.items()})),
        style=_file("report.css"),
        scripts=(vega, own),
        policy=_policy(vega, own),
    )


def _for_the_script(contents: Contents, specs: dict[str, Any]) -> dict[str, Any]:
    return {
        "classes": contents.classes,
        "matrixClasses": contents.annotators.matrix_classes,
        "annotators": [asdict(row) for row in contents.annotators.rows],
        "items": [asdict(row) for row in contents.items.rows],
        "voters": contents.items.voters,
        "pictures": specs,
    }


def _policy(*scripts: str) -> str:
    """A browser that keeps to this runs these scripts, nothing else, and fetches nothing."""
    hashes = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("blindfuse.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda share, digits=1: f"{100 * share:.{digits}f}\u00a0%"
    environment.filters["thousands"] = lambda count: f"{count:,}"
    return environment.get_template("report.html")


def _file(name: str) -> str:
    return files("blindfuse.report").joinpath("page", name).read_text(encoding="utf-8")
