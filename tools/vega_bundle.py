"""Write the script that draws the charts of a report: Vega, Vega-Lite and Vega-Embed in one file.

    python tools/vega_bundle.py

makes it with the pinned vl-convert. The package ships the file, so that a report needs neither
vl-convert, which takes 84 MB, nor the seconds in which it bundles.
"""

from pathlib import Path

import vl_convert

BUNDLE = Path(__file__).parents[1] / "src" / "blindfuse" / "report" / "page" / "vega.js"
LICENCE = "// Vega, Vega-Lite, Vega-Embed and what they import: see vega-licences.txt\n"


def bundle() -> str:
    """Return the script, with the interpreter that needs no ``eval``, for a script element."""
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return LICENCE + script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


if __name__ == "__main__":
    BUNDLE.write_text(bundle(), encoding="utf-8")
