"""The scripts of the page: the libraries that draw the charts, and the data that scripts read."""

import json
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import vl_convert

from blindfuse.files import cache_folder, write_atomically
from blindfuse.report.blocks import Row


def vega_script() -> str:
    """Return Vega, Vega-Lite and Vega-Embed, with the interpreter that needs no ``eval``.

    vl-convert takes seconds to bundle them, so the bundle is cached on disk per version.
    """
    cached = cache_folder() / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError):
        return cached.read_text(encoding="utf-8")
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    with suppress(OSError):
        cached.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(cached, script.encode())
    return script


def script_json(value: Any) -> str:
    """Return JSON for a script element, without characters that could end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def table_data(rows: Sequence[Row]) -> dict[str, Any]:
    """Return rows with the names of their columns stated once, to save space."""
    columns = list(rows[0]) if rows else []
    return {"columns": columns, "rows": [list(row.values()) for row in rows]}


def count_fitting(rows: Sequence[Any], max_bytes: int) -> int:
    """Return how many of the first rows fit into ``max_bytes`` of JSON."""
    left = max_bytes
    for count, row in enumerate(rows):
        left -= len(script_json(row).encode()) + 1
        if left < 0:
            return count
    return len(rows)
