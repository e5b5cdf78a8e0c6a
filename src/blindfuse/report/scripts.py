"""The JavaScript libraries that draw the charts, bundled into one text."""

from contextlib import suppress
from importlib.metadata import version

import vl_convert

from blindfuse.files import cache_folder, write_atomically


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
