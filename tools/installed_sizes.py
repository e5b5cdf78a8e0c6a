"""Renew the tables of docs/install.md: what each package is for, and how large it is.

    python tools/installed_sizes.py docs/install.md

Run it where blindfuse is installed with all extras. A package counts for the first of ours that
needs it; sizes are those of the files of the wheels, without compiled Python.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

PURPOSES = {
    "numpy": "arrays",
    "numba": "compiles the numerical loops, with LLVM, which is most of it",
    "scipy": "special functions, optimisers and sparse matrices",
    "polars": "reads and writes CSV, JSON, Parquet and Arrow files",
    "narwhals": "takes pandas, Polars and Arrow frames",
    "jinja2": "writes the report",
    "altair": "describes the charts of the report",
    "rich": "tables and progress in the terminal",
    "click": "the command line",
    "fsspec": "opens archives, compressed files and URLs",
    "threadpoolctl": "keeps NumPy from using more threads than asked for",
    "platformdirs": "finds the folder of cached files",
}
EXTRAS = {
    "sklearn": "`blindfuse.sklearn`",
    "datasets": "`blindfuse.datasets` downloads public crowds and feature tables",
    "files": "DuckDB databases, Excel workbooks and `.zst` files",
    "inspect": "logs of Inspect in its `.eval` format",
    "dask": "`blindfuse.engines.dask`",
    "spark": "`blindfuse.engines.spark`; needs Java 17, too",
}
"""The extras for users, and what each is for."""


def requirements(name: str, extra: str = "") -> Iterator[str]:
    """Yield the names that a package requires, or those that its extra adds."""
    for line in distribution(name).requires or ():
        required = Requirement(line)
        marker = required.marker
        if (marker.evaluate({"extra": extra}) if marker else not extra) and not (
            extra and marker and marker.evaluate({"extra": ""})
        ):
            if required.name == "blindfuse":
                for other in required.extras:
                    yield from requirements("blindfuse", other)
            else:
                yield _normal(required.name)


def closure(name: str, known: set[str]) -> list[str]:
    """Return a package and what it needs beside ``known``, to which these are added."""
    if name in known:
        return []
    known.add(name)
    return [name, *(each for other in requirements(name) for each in closure(other, known))]


def size(name: str) -> int:
    """Return the bytes of the files of a package, without compiled Python."""
    files = distribution(name).files or []
    return sum(file.size or 0 for file in files if file.suffix != ".pyc")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _megabytes(names: list[str]) -> float:
    return sum(map(size, names)) / 1e6


def tables() -> dict[str, str]:
    """Return the two tables by the names of their places on the page."""
    known = set[str]()
    order = [*PURPOSES, *sorted(set(requirements("blindfuse")) - set(PURPOSES))]
    brought = {name: closure(name, known) for name in order}
    lines = ["| package | with | MB | what it is for |", "|---|---|---|---|"]
    sizes = {name: _megabytes(names) for name, names in brought.items()}
    for name in sorted(brought, key=lambda each: -sizes[each]):
        with_it = ", ".join(brought[name][1:])
        lines.append(f"| {name} | {with_it} | {sizes[name]:.1f} | {PURPOSES[name]} |")
    own = _megabytes(["blindfuse"])
    lines.append(f"| **all**, blindfuse included | | {own + sum(sizes.values()):.0f} | |")
    extras = ["| extra | adds | MB | what it is for |", "|---|---|---|---|"]
    for extra, purpose in EXTRAS.items():
        new = set(known)
        names = [each for name in requirements("blindfuse", extra) for each in closure(name, new)]
        direct = ", ".join(sorted({*names} & {*requirements("blindfuse", extra)}))
        extras.append(f"| `blindfuse[{extra}]` | {direct} | {_megabytes(names):.0f} | {purpose} |")
    return {"packages": "\n".join(lines), "extras": "\n".join(extras)}


def renewed(text: str) -> str:
    """Return the page with new tables."""
    for place, table in tables().items():
        before, rest = text.split(f"<!-- {place} -->\n", 1)
        after = rest[rest.index("<!-- end -->") :]
        text = f"{before}<!-- {place} -->\n{table}\n{after}"
    return text


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
