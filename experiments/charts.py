"""Line charts with error bars; each method has the same colour in all figures."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from experiments.methods import (
    ALG_2_FIXED_PRIOR,
    EIGEN,
    EM,
    EM_PRIOR,
    FUSE,
    GROUP_COUNTS,
    PUBLISHED_KOS,
    SML,
    SPECTRAL,
    TE,
    VOTE,
    grouped_name,
)

WIDTH, HEIGHT = 340, 260

COLOURS = {
    VOTE: "#7f7f7f",
    PUBLISHED_KOS: "#bcbd22",
    EIGEN: "#c49c94",
    TE: "#c5b0d5",
    SML: "#8c564b",
    EM: "#ff7f0e",
    EM_PRIOR: "#d62728",
    SPECTRAL: "#9467bd",
    ALG_2_FIXED_PRIOR: "#17becf",
    "Alg. 2 ML": "#98df8a",
    "Alg. 2 MAP": "#2ca02c",
    FUSE: "#1f77b4",
    "Oracle ML": "#c7c7c7",
    "Oracle MAP": "#000000",
    "bound": "#e377c2",
    "slope −½": "#7f7f7f",
    **dict(
        zip(
            map(grouped_name, GROUP_COUNTS),
            ("#08306b", "#2171b5", "#6baed6", "#c6dbef"),
            strict=True,
        )
    ),
}

DASHES = {EM_PRIOR: [2, 2], SPECTRAL: [4, 4], FUSE: [8, 3], "slope −½": [2, 2]}
"""Dash patterns of lines that often overlap another."""
SETTING_COLOURS = ("#1f77b4", "#2ca02c", "#d62728", "#9467bd")
"""Colours of lines that are settings instead of methods."""


def line_chart(
    rows: list[dict[str, Any]],
    x: str,
    y: str,
    *,
    log_x: bool = True,
    log_y: bool = True,
    panels: Sequence[str] = (),
) -> Any:
    """Return lines through the points ``x``, ``y`` per method, with one panel per ``panel``."""
    encodings = _line_encodings(rows)
    if not panels:
        return _panel(rows, x, y, log_x, log_y, encodings)
    charts = [
        _panel(
            [row for row in rows if row["panel"] == panel], x, y, log_x, log_y, encodings
        ).properties(title=panel)
        for panel in panels
    ]
    return alt.hconcat(*charts)


def _line_encodings(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return colours and dashes, equal in all panels; settings come before methods."""
    drawn = list(dict.fromkeys(row["method"] for row in rows))
    settings = [name for name in drawn if name not in COLOURS]
    names = [*settings, *(name for name in COLOURS if name in drawn)]
    colours = [
        COLOURS.get(name) or SETTING_COLOURS[settings.index(name) % len(SETTING_COLOURS)]
        for name in names
    ]
    dashes = [DASHES.get(name, [1, 0]) for name in names]
    return {
        "color": alt.Color("method:N", title=None, scale=alt.Scale(domain=names, range=colours)),
        "strokeDash": alt.StrokeDash(
            "method:N", title=None, scale=alt.Scale(domain=names, range=dashes)
        ),
    }


def _panel(
    rows: list[dict[str, Any]], x: str, y: str, log_x: bool, log_y: bool, encodings: dict[str, Any]
) -> Any:
    x_axis = alt.X(
        "x:Q",
        title=x,
        scale=alt.Scale(type="log" if log_x else "linear", zero=False),
        axis=alt.Axis(format="~s" if log_x else "~r", grid=False, tickCount=6),
    )
    scale = alt.Scale(type="log" if log_y else "linear", zero=not log_y)
    axis = alt.Axis(format="~g", gridOpacity=0.4, tickCount=6)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x_axis, **encodings)
    line = base.mark_line(point=alt.OverlayMarkDef(size=30)).encode(
        y=alt.Y("y:Q", title=y, scale=scale, axis=axis)
    )
    bars = base.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
    return alt.layer(line, bars).properties(width=WIDTH, height=HEIGHT)
