"""The charts of the page: Altair charts as Vega-Lite specifications, each with a description.

Every helper draws the rows of a table, whose fields are the tooltip and whose caption describes the
chart to screen readers. A column ``value`` has its interval in ``value_low`` and ``value_high``, if
rows have them; rows that are ``flagged`` are orange. Colours are variables of the page's style
sheet, so that charts follow light mode, dark mode and print. Names of items, annotators and classes
are only ever data, never fields, expressions or scales.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np

from blindfuse.report.blocks import Chart, Field, Table
from blindfuse.result import json_rows
from blindfuse.typing import Floats

INK, SOFT, LINE, BLUE, ORANGE = (f"var(--{x})" for x in ("ink", "soft", "line", "blue", "orange"))
MAX_NAMED = 40
"""Points up to which they are drawn by name, and by rank above."""
MAX_LARGE_CELLS = 12
"""Rows up to which a heat map has large cells."""
MIN_COLOR_RANGE = 0.2
"""A heat map's darkest colour stands for its largest value, but never for less than this."""

_COLOR = alt.condition("datum.flagged", alt.value(ORANGE), alt.value(BLUE))
_SHAPE = alt.condition("datum.flagged", alt.value("diamond"), alt.value("circle"))


def _chart(name: str, data: Table, layers: Sequence[Any], height: int) -> Chart:
    """Return the specification, whatever the theme of the caller; ``charts.js`` styles it.

    The rows are passed by name: Altair would validate each of them and repeat them in every layer.
    """
    size = alt.AutoSizeParams(type="fit-x", contains="padding")
    drawing = alt.layer(*layers).properties(width="container", height=height, autosize=size)
    with alt.theme.enable("none"):
        spec: dict[str, Any] = drawing.to_dict(validate=False)
    del spec["$schema"]  # the page passes the mode to Vega-Embed and names no URL
    return Chart(name, {**spec, "datasets": {"rows": data.rows}}, data.caption)


def _base(data: Table, **encoding: Any) -> Any:
    tooltip = []
    for name, title, how, to in data.fields:
        ends = {name: f"{title} from", to: "to"} if to else {name: title}
        for end, text in ends.items():
            number = alt.Tooltip(f"{end}:Q", title=text, format=how)
            tooltip.append(number if how.strip("#") else alt.Tooltip(f"{end}:N", title=text))
    return alt.Chart(alt.NamedData("rows")).encode(tooltip=tooltip, **encoding)


def bars(name: str, data: Table, value: str, title: str | None = None, mark: str = "") -> Chart:
    """Horizontal bars of the shares ``value``, with orange ticks at ``mark``."""
    rows, low, high = data.rows, f"{value}_low", f"{value}_high"
    base = _base(data, y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=210)))
    largest = max(row.get(key) or 0.0 for row in rows for key in (value, high, mark))
    axis, scale = alt.Axis(format="%", tickCount=5), alt.Scale(domain=[0, 1.5 * largest or 1])
    x = alt.X(f"{value}:Q", title=title, axis=axis, scale=scale)
    layers = [base.mark_bar(opacity=0.75, height={"band": 0.62}).encode(x=x, color=_COLOR)]
    if low in rows[0]:
        whiskers = base.mark_rule(color=INK, strokeWidth=1.5)
        layers.append(whiskers.encode(x=f"{low}:Q", x2=f"{high}:Q"))
    if mark:
        ticks = base.mark_tick(color=ORANGE, thickness=2.5, height={"band": 0.9})
        layers.append(ticks.encode(x=f"{mark}:Q"))
    numbers = base.mark_text(align="right", color=INK, fontSize=12)
    shown = alt.Text(f"{value}:Q", format=".1%")
    return _chart(
        name, data, [*layers, numbers.encode(x=alt.value("width"), text=shown)], 26 * len(rows)
    )


def points(
    name: str,
    data: Table,
    value: str,
    title: str,
    *,
    x: str | None = None,
    axis_format: str = "%",
    order: str = "annotators in order",
) -> Chart:
    """Points at ``value``, by name, or if there are many, by rank in this ``order``.

    With the column ``x``, they are shares above shares, and a dashed line marks equal ones.
    """
    rows, layers, height = data.rows, list[Any](), 300
    low, high = f"{value}_low", f"{value}_high"
    axis, scale = alt.Axis(format=axis_format, tickCount=5), alt.Scale(zero=False, nice=True)
    place: Any
    if x is not None:
        lowest = min(min(row[x], row.get(low, row[value])) for row in rows)
        scale = alt.Scale(domain=[lowest, 1], nice=False, zero=False)
        place = alt.X(f"{x}:Q", title=x, axis=axis, scale=scale)
        ends = alt.Data(values=[{x: end, value: end} for end in (lowest, 1.0)])  # type: ignore[no-untyped-call]
        diagonal = alt.Chart(ends).mark_line(color=SOFT, strokeDash=[4, 4], strokeWidth=1.2)
        layers.append(diagonal.encode(x=place, y=alt.Y(f"{value}:Q")))
    elif len(rows) <= MAX_NAMED:
        place, height = alt.Y("name:N", sort=None, title=None), 22 * len(rows)
    else:
        data = replace(data, rows=[{**row, "rank": at} for at, row in enumerate(rows, 1)])
        grid, ranks = alt.Axis(grid=False), alt.Scale(nice=False, zero=False)
        place = alt.X("rank:Q", title=order, axis=grid, scale=ranks)
    along, across, Along = ("y", "x", alt.Y) if isinstance(place, alt.X) else ("x", "y", alt.X)
    at_value, at_low = (
        Along(f"{column}:Q", title=title, axis=axis, scale=scale) for column in (value, low)
    )
    base = _base(data, color=_COLOR, **{across: place})
    if low in rows[0]:
        whiskers = base.mark_rule(strokeWidth=1.5, opacity=0.5)
        layers.append(whiskers.encode(**{along: at_low, f"{along}2": f"{high}:Q"}))
    marks = base.mark_point(filled=True, size=30 if "rank" in data.rows[0] else 60, opacity=1)
    layers.append(marks.encode(shape=_SHAPE, **{along: at_value}))
    return _chart(name, data, layers, height)


def histogram(
    name: str,
    text: str,
    title: str,
    values: Floats,
    bins: int | Floats,
    marked: Floats | None = None,
    *,
    axis_format: str = ".0%",
) -> Chart:
    """Bars of the number of items by their values; orange bars of ``marked`` in front of them."""
    counts, edges = np.histogram(values, bins)
    columns = {"low": edges[:-1], "high": edges[1:], "count": counts}
    fields = [
        *(Field("low", "from", axis_format), Field("high", "to", axis_format)),
        Field("count", "items", ","),
    ]
    if marked is not None:
        columns["marked"] = np.histogram(marked, edges)[0]
        fields.append(Field("marked", "orange", ","))
    data = Table(text, fields, json_rows(columns))
    axis = alt.Axis(format=axis_format.replace("g", "~g"), tickCount=6, grid=False)
    base = _base(data, x=alt.X("low:Q", bin="binned", title=title, axis=axis), x2="high:Q")
    y = alt.Y("count:Q", title="items", axis=alt.Axis(tickCount=4))
    layers = [base.mark_bar(binSpacing=1, color=BLUE, opacity=0.75).encode(y=y)]
    if marked is not None:
        layers.append(base.mark_bar(binSpacing=1, color=ORANGE).encode(y="marked:Q"))
    return _chart(name, data, layers, 180)


def heat_map(name: str, data: Table, names: Sequence[str]) -> Chart:
    """Cells of ``first`` by ``second``, blue where ``value`` is positive and orange elsewhere.

    Cells with a large value are darker, and ``framed`` cells have a frame.
    """
    # The diagonal keeps both axes in this order.
    blank = alt.Data(values=[{"first": each, "second": each} for each in names])  # type: ignore[no-untyped-call]
    largest = max(MIN_COLOR_RANGE, *(abs(row["value"]) for row in data.rows))
    crowded = len(names) > MAX_LARGE_CELLS
    style: dict[str, Any] = {"grid": False, "labelFontSize": 11 if crowded else 12}
    angle = -90 if max(map(len, names)) > 3 else 0
    x_axis = alt.Axis(labelAngle=angle, labelOverlap="greedy", **style)
    x = alt.X("second:N", sort=None, title=None, axis=x_axis)
    y = alt.Y("first:N", sort=None, title=None, axis=alt.Axis(**style))
    base = _base(data, x=x, y=y)
    shade = alt.Scale(domain=[0, largest], range=[0, 1])
    layers = (
        alt.Chart(blank).mark_rect(color=LINE, opacity=0.6).encode(x=x, y=y),
        base.transform_calculate(size="abs(datum.value)")
        .mark_rect()
        .encode(
            color=alt.condition("datum.value > 0", alt.value(BLUE), alt.value(ORANGE)),
            opacity=alt.Opacity("size:Q", scale=shade, legend=None),
        ),
        base.transform_filter("datum.framed").mark_rect(filled=False, stroke=INK, strokeWidth=1.5),
    )
    return _chart(name, data, layers, (16 if crowded else 24) * len(names))
