"""``blindfuse methods``: the names that --method takes."""

import click

from blindfuse.cli.fuse_options import FUSE
from blindfuse.cli.options import as_json


@click.command(
    epilog="""\b
Examples:
  blindfuse methods
  blindfuse fuse votes.csv --method dawid-skene
"""
)
@as_json
def command(as_json: bool) -> None:
    """The methods that --method takes; case, spaces and hyphens do not matter."""
    from blindfuse.cli.screen import Screen, write_json
    from blindfuse.cli.summary import facts
    from blindfuse.estimators.registry import METHODS
    from blindfuse.fusion.fuse import fuse

    rows = [{"method": FUSE, "what": _first_sentence(fuse), "needs": None}]
    for name, make in METHODS.items():
        method = make()
        what = _first_sentence(type(method))
        variant = "" if name == type(method).__name__ else f"{method!r}: "
        rows.append({"method": name, "what": variant + what, "needs": make.needs})
    if as_json:
        write_json({"methods": rows})
        return
    needs = [f" Needs {row['needs']}." if row["needs"] else "" for row in rows]
    lines = [
        (str(row["method"]), f"{row['what']}{need}") for row, need in zip(rows, needs, strict=True)
    ]
    Screen().show(facts(lines))


def _first_sentence(documented: object) -> str:
    first = (documented.__doc__ or "").strip().partition("\n\n")[0]
    return " ".join(first.replace("``", "").split())
