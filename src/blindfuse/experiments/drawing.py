"""Charts of the figures: lines with error bars, the same colour for a method everywhere."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from blindfuse.experiments.methods import (
    EIGEN,
    EM,
    EM_PRIOR,
    FIXED,
    FUSE,
    GROUPS,
    PUBLISHED_KOS,
    SML,
    SPECTRAL,
    TE,
    VOTE,
    grouped,
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
    FIXED: "#17becf",
    "Alg. 2 ML": "#98df8a",
    "Alg. 2 MAP": "#2ca02c",
    FUSE: "#1f77b4",
    "Oracle ML": "#c7c7c7",
    "Oracle MAP": "#000000",
    "bound": "#e377c2",
    "slope −½": "#7f7f7f",
    **dict(zip(map(grouped, GROUPS), ("#08306b", "#2171b5", "#6baed6", "#c6dbef"), strict=True)),
}


def lines(
    rows: list[dict[str, Any]],
    x: str,
    y: str,
    *,
    log_x: bool = True,
    log_y: bool = True,
    panels: Sequence[str] = (),
) -> Any:
    """Lines through points of ``x`` and ``y`` by method; one panel for each value of ``panel``."""
    if not panels:
        return _panel(rows, x, y, log_x, log_y)
    charts = [
        _panel([row for row in rows if row["panel"] == panel], x, y, log_x, log_y).properties(
            title=panel
        )
        for panel in panels
    ]
    return alt.hconcat(*charts)


def _panel(rows: list[dict[str, Any]], x: str, y: str, log_x: bool, log_y: bool) -> Any:
    methods = [method for method in COLOURS if any(row["method"] == method for row in rows)]
    others = sorted({row["method"] for row in rows} - COLOURS.keys())
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "x:Q",
            title=x,
            scale=alt.Scale(type="log" if log_x else "linear", zero=False),
            axis=alt.Axis(format="~s" if log_x else "~g", grid=False),
        ),
        color=alt.Color(
            "method:N",
            title=None,
            scale=alt.Scale(
                domain=methods + others, range=[COLOURS[name] for name in methods] + ["#555"]
            ),
            sort=methods,
        ),
    )
    scale = alt.Scale(type="log" if log_y else "linear", zero=not log_y)
    line = base.mark_line(point=alt.OverlayMarkDef(size=30)).encode(
        y=alt.Y("y:Q", title=y, scale=scale, axis=alt.Axis(format="~g"))
    )
    bars = base.mark_rule(opacity=0.6).encode(y=alt.Y("low:Q", title=y, scale=scale), y2="high:Q")
    return alt.layer(bars, line).properties(width=WIDTH, height=HEIGHT)
