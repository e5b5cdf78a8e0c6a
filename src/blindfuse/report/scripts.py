"""The scripts that draw the pictures, as one text without an outside request."""

from contextlib import suppress
from importlib.metadata import version

import vl_convert

from blindfuse.files import cache_folder, write_whole


def vega_script() -> str:
    """Vega, Vega-Lite and Vega-Embed, with the interpreter that needs no ``eval``.

    vl-convert takes seconds to bundle them, so the bundle of its version is kept on disk.
    """
    kept = cache_folder() / f"vega-{version('vl-convert-python')}.js"
    with suppress(OSError):
        return kept.read_text(encoding="utf-8")
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, script.encode())
    return script
