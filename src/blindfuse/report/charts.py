"""The charts of the page: Altair charts as Vega-Lite specifications, each with a description.

Every helper draws the rows of a table, whose fields are the tooltip and whose caption describes the
chart to screen readers. Rows have the same keys: ``name`` or a place, ``value``, an interval from
``low`` to ``high``, and whether it is ``flagged``. Colours are variables of the page's style sheet,
so that charts follow light mode, dark mode and print. Names of items, annotators and classes are
only ever data, never fields, expressions or scales.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt

from blindfuse.report.blocks import Chart, Row, Table

INK, SOFT, LINE, BLUE, ORANGE = (f"var(--{x})" for x in ("ink", "soft", "line", "blue", "orange"))
MAX_NAMED, MAX_RANKED = 30, 240
"""Points that are drawn by name; of more, at most ``MAX_RANKED`` by rank."""
MAX_LARGE_CELLS = 12
"""Rows up to which a heat map has large cells."""
MIN_COLOR_RANGE = 0.2
"""A heat map's darkest colour stands for its largest value, but never for less than this."""

_COLOR = alt.condition("datum.flagged", alt.value(ORANGE), alt.value(BLUE))
_SHAPE = alt.condition("datum.flagged", alt.value("diamond"), alt.value("circle"))


def _chart(name: str, data: Table, drawing: Any, height: int) -> Chart:
    """Return the specification with the page's fonts and colours, in any theme of the caller.

    The rows are passed by name: Altair would validate each of them and repeat them in every layer.
    """
    styled = (
        drawing.configure(background="transparent", font="system-ui, sans-serif", aria=False)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK,
            titleColor=SOFT,
            titleFontWeight="normal",
            titleFontSize=12,
            labelFontSize=12,
            labelLimit=160,
            gridColor=LINE,
            domain=False,
            ticks=False,
            labelPadding=6,
            titlePadding=10,
        )
        .properties(
            description=data.caption,
            width="container",
            height=height,
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        )
    )
    with alt.theme.enable("none"):
        spec: dict[str, Any] = styled.to_dict(validate=False)
    del spec["$schema"]  # the page passes the mode to Vega-Embed and names no URL
    return Chart(name, {**spec, "datasets": {"rows": data.rows}}, data.caption)


def _base(data: Table, **encoding: Any) -> Any:
    tooltip = [
        alt.Tooltip(f"{name}:Q", title=title, format=how)
        if how.strip("#")
        else alt.Tooltip(f"{name}:N", title=title)
        for name, title, how in data.fields
    ]
    return alt.Chart(alt.NamedData("rows")).encode(tooltip=tooltip, **encoding)


def bars(name: str, data: Table, title: str | None = None) -> Chart:
    """Horizontal bars of the shares ``value``, with intervals and orange ticks at ``mark``."""
    rows = data.rows
    base = _base(data, y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=210)))
    largest = max(row.get(key) or 0.0 for row in rows for key in ("value", "high", "mark"))
    axis, scale = alt.Axis(format="%", tickCount=5), alt.Scale(domain=[0, 1.3 * largest or 1])
    x = alt.X("value:Q", title=title, axis=axis, scale=scale)
    layers = [
        base.mark_bar(opacity=0.75, height={"band": 0.62}).encode(x=x, color=_COLOR),
        base.mark_text(align="right", color=INK, fontSize=12).encode(
            x=alt.value("width"), text=alt.Text("value:Q", format=".1%")
        ),
    ]
    if "low" in rows[0]:
        whiskers = base.mark_rule(color=INK, strokeWidth=1.5)
        layers.insert(1, whiskers.encode(x="low:Q", x2="high:Q"))
    if "mark" in rows[0]:
        ticks = base.mark_tick(color=ORANGE, thickness=2.5, height={"band": 0.9})
        layers.insert(-1, ticks.encode(x="mark:Q"))
    return _chart(name, data, alt.layer(*layers), 26 * len(rows))


def points(
    name: str,
    data: Table,
    title: str,
    *,
    axis_format: str = "%",
    x: str | None = None,
    diagonal: bool = False,
) -> Chart:
    """Points at ``value`` with whiskers from ``low`` to ``high``, if rows have them.

    They are drawn by name; if there are many, by rank in this order, and of very many an evenly
    spaced sample. With the title of ``x``, they are shares above shares ``x`` from zero to one; a
    dashed ``diagonal`` marks equal ones, and both axes then start at the lowest.
    """
    axis, scale = alt.Axis(format=axis_format, tickCount=5), alt.Scale(zero=False, nice=True)
    rows, size, lowest, height = data.rows, 60, 0.0, 300
    place: Any
    if x is not None:
        if diagonal:
            lowest = min(min(row["x"], row["low"]) for row in rows)
        scale = alt.Scale(domain=[lowest, 1], nice=False, zero=False)
        place = alt.X("x:Q", title=x, axis=axis, scale=scale)
    elif len(rows) <= MAX_NAMED:
        place, height = alt.Y("name:N", sort=None, title=None), 22 * len(rows)
    else:
        size, every = 30, -(-len(rows) // MAX_RANKED)
        data = replace(data, rows=[{**row, "rank": at} for at, row in enumerate(rows, 1)][::every])
        end = alt.Scale(nice=False)
        place = alt.X("rank:Q", title="annotators in order", axis=alt.Axis(grid=False), scale=end)
    along, across, Along = ("y", "x", alt.Y) if isinstance(place, alt.X) else ("x", "y", alt.X)
    value, low = (Along(f"{at}:Q", title=title, axis=axis, scale=scale) for at in ("value", "low"))
    base = _base(data, color=_COLOR, **{across: place})
    marks = base.mark_point(filled=True, size=size, opacity=1)
    layers = [marks.encode(shape=_SHAPE, **{along: value})]
    if "low" in rows[0]:
        whiskers = base.mark_rule(strokeWidth=1.5, opacity=0.5)
        layers.insert(0, whiskers.encode(**{along: low, f"{along}2": "high:Q"}))
    if diagonal:
        ends = alt.Data(values=[{"x": end, "value": end} for end in (lowest, 1.0)])  # type: ignore[no-untyped-call]
        line = alt.Chart(ends).mark_line(color=SOFT, strokeDash=[4, 4], strokeWidth=1.2)
        layers.insert(0, line.encode(x=place, y=value))
    return _chart(name, data, alt.layer(*layers), height)


def histogram(name: str, data: Table, title: str, *, axis_format: str = "%") -> Chart:
    """Bars of ``count`` from ``low`` to ``high``; orange bars of ``marked`` in front of them."""
    axis = alt.Axis(format=axis_format, tickCount=6, grid=False)
    base = _base(data, x=alt.X("low:Q", bin="binned", title=title, axis=axis), x2="high:Q")
    y = alt.Y("count:Q", title="items", axis=alt.Axis(tickCount=4))
    layers = [base.mark_bar(binSpacing=1, color=BLUE, opacity=0.75).encode(y=y)]
    if "marked" in data.rows[0]:
        layers.append(base.mark_bar(binSpacing=1, color=ORANGE).encode(y="marked:Q"))
    return _chart(name, data, alt.layer(*layers), 180)


def heat_map(name: str, data: Table, names: Sequence[str]) -> Chart:
    """Cells of ``first`` by ``second``, blue where ``value`` is positive and orange elsewhere.

    Cells with a large value are darker, and ``framed`` cells have a frame.
    """
    # The diagonal keeps both axes in this order.
    blank = alt.Data(values=[{"first": each, "second": each} for each in names])  # type: ignore[no-untyped-call]
    largest = max(MIN_COLOR_RANGE, *(abs(row["value"]) for row in data.rows))
    crowded = len(names) > MAX_LARGE_CELLS
    style: Row = {"grid": False, "labelFontSize": 11 if crowded else 12, "labelLimit": 110}
    angle = -90 if max(map(len, names)) > 3 else 0
    x_axis = alt.Axis(labelAngle=angle, labelOverlap="greedy", **style)
    x = alt.X("second:N", sort=None, title=None, axis=x_axis)
    y = alt.Y("first:N", sort=None, title=None, axis=alt.Axis(**style))
    base = _base(data, x=x, y=y)
    shade = alt.Scale(domain=[0, largest], range=[0, 1])
    drawing = alt.layer(
        alt.Chart(blank).mark_rect(color=LINE, opacity=0.6).encode(x=x, y=y),
        base.transform_calculate(size="abs(datum.value)")
        .mark_rect()
        .encode(
            color=alt.condition("datum.value > 0", alt.value(BLUE), alt.value(ORANGE)),
            opacity=alt.Opacity("size:Q", scale=shade, legend=None),
        ),
        base.transform_filter("datum.framed").mark_rect(filled=False, stroke=INK, strokeWidth=1.5),
    )
    return _chart(name, data, drawing, (16 if crowded else 24) * len(names))
