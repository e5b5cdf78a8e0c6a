"""The charts of the page: Altair charts as Vega-Lite specifications, each with a description.

Every helper draws rows with the same fields: ``name`` or a place, ``value``, an interval from
``low`` to ``high``, and whether it is ``flagged``. Colours are variables of the page's style sheet,
so that charts follow light mode, dark mode and print. Names of items, annotators and classes are
only ever data, never fields, expressions or scales.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt

from blindfuse.report.blocks import Chart, Row

INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"
BLUE, ORANGE = "var(--blue)", "var(--orange)"

MAX_NAMED = 30
"""Points that are drawn by name; of more, at most ``MAX_RANKED`` by rank."""
MAX_RANKED = 240
MAX_LARGE_CELLS = 12
"""Rows up to which a heat map has large cells."""
MIN_COLOR_RANGE = 0.2
"""A heat map's darkest colour stands for its largest value, but never for less than this."""

PERCENT = ".1%"
ROWS = alt.NamedData("rows")

Tips = Sequence[tuple[str, str, str]]
"""What a tooltip shows: a field, its title and its format, which is empty for texts."""

_COLOR = alt.condition("datum.flagged", alt.value(ORANGE), alt.value(BLUE))
_SHAPE = alt.condition("datum.flagged", alt.value("diamond"), alt.value("circle"))


def _chart(name: str, drawing: Any, height: int, rows: Sequence[Row], description: str) -> Chart:
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
            description=description,
            width="container",
            height=height,
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        )
    )
    with alt.theme.enable("none"):
        spec: dict[str, Any] = styled.to_dict(validate=False)
    del spec["$schema"]  # the page passes the mode to Vega-Embed and names no URL
    return Chart(name, {**spec, "datasets": {"rows": rows}}, description)


def _base(tips: Tips, **encoding: Any) -> Any:
    tooltip = [
        alt.Tooltip(f"{name}:Q", title=title, format=how)
        if how
        else alt.Tooltip(f"{name}:N", title=title)
        for name, title, how in tips
    ]
    return alt.Chart(ROWS).encode(tooltip=tooltip, **encoding)


def bars(
    name: str, rows: Sequence[Row], tips: Tips, description: str, title: str | None = None
) -> Chart:
    """Horizontal bars of the shares ``value``, with intervals and orange ticks at ``mark``."""
    base = _base(tips, y=alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=210)))
    largest = max(row.get(key) or 0.0 for row in rows for key in ("value", "high", "mark"))
    axis, scale = alt.Axis(format="%", tickCount=5), alt.Scale(domain=[0, 1.3 * largest or 1])
    x = alt.X("value:Q", title=title, axis=axis, scale=scale)
    layers = [
        base.mark_bar(opacity=0.75, height={"band": 0.62}).encode(x=x, color=_COLOR),
        base.mark_text(align="right", color=INK, fontSize=12).encode(
            x=alt.value("width"), text=alt.Text("value:Q", format=PERCENT)
        ),
    ]
    if "low" in rows[0]:
        whiskers = base.mark_rule(color=INK, strokeWidth=1.5)
        layers.insert(1, whiskers.encode(x="low:Q", x2="high:Q"))
    if "mark" in rows[0]:
        ticks = base.mark_tick(color=ORANGE, thickness=2.5, height={"band": 0.9})
        layers.insert(-1, ticks.encode(x="mark:Q"))
    return _chart(name, alt.layer(*layers), 26 * len(rows), rows, description)


def points(
    name: str,
    rows: Sequence[Row],
    tips: Tips,
    description: str,
    title: str,
    axis_format: str = "%",
) -> Chart:
    """Points at ``value`` with whiskers, by name; if there are many, by rank in this order.

    Of very many, an evenly spaced sample is drawn.
    """
    axis = alt.Axis(format=axis_format, tickCount=5)
    scale = alt.Scale(zero=False, nice=True)
    if len(rows) <= MAX_NAMED:
        base = _base(tips, y=alt.Y("name:N", sort=None, title=None), color=_COLOR)
        x = alt.X("low:Q", title=title, axis=axis, scale=scale)
        whiskers = base.mark_rule(strokeWidth=2, opacity=0.6).encode(x=x, x2="high:Q")
        marks = base.mark_point(filled=True, size=60, opacity=1).encode(x="value:Q", shape=_SHAPE)
        return _chart(name, alt.layer(whiskers, marks), 22 * len(rows), rows, description)
    ranked = [{**row, "rank": rank} for rank, row in enumerate(rows, 1)]
    place = alt.X(
        "rank:Q",
        title="annotators in order",
        axis=alt.Axis(grid=False),
        scale=alt.Scale(nice=False),
    )
    base = _base(tips, x=place, color=_COLOR)
    y = alt.Y("low:Q", title=title, axis=axis, scale=scale)
    whiskers = base.mark_rule(strokeWidth=1.2, opacity=0.45).encode(y=y, y2="high:Q")
    size = alt.condition("datum.flagged", alt.value(45), alt.value(20))
    marks = base.mark_point(filled=True, opacity=1).encode(y="value:Q", shape=_SHAPE, size=size)
    sample = ranked[:: -(-len(ranked) // MAX_RANKED)]
    return _chart(name, alt.layer(whiskers, marks), 260, sample, description)


def scatter(
    name: str,
    rows: Sequence[Row],
    tips: Tips,
    description: str,
    titles: tuple[str, str],
    diagonal: bool = False,
) -> Chart:
    """Points at the shares ``x`` and ``y``, with vertical intervals if rows have them.

    With ``diagonal``, a dashed line marks equal shares.
    """
    lowest = min(min(row["x"], row.get("low", row["y"])) for row in rows) if diagonal else 0.0
    scale = alt.Scale(domain=[lowest, 1], nice=False, zero=False)
    axis = alt.Axis(format="%", tickCount=5)
    x = alt.X("x:Q", title=titles[0], scale=scale, axis=axis)
    y = alt.Y("y:Q", title=titles[1], scale=scale, axis=axis)
    base = _base(tips, x=x, y=y, color=_COLOR)
    layers = [base.mark_point(filled=True, size=65, opacity=0.85)]
    if "low" in rows[0]:
        whiskers = base.mark_rule(opacity=0.5, strokeWidth=2)
        layers.insert(0, whiskers.encode(y=alt.Y("low:Q", scale=scale), y2="high:Q"))
    if diagonal:
        ends = alt.Data(values=[{"x": end, "y": end} for end in (lowest, 1.0)])  # type: ignore[no-untyped-call]
        line = alt.Chart(ends).mark_line(color=SOFT, strokeDash=[4, 4], strokeWidth=1.2)
        layers.insert(0, line.encode(x=x, y=y))
    return _chart(name, alt.layer(*layers), 300, rows, description)


def histogram(
    name: str,
    rows: Sequence[Row],
    tips: Tips,
    description: str,
    title: str,
    axis_format: str = "%",
) -> Chart:
    """Bars of ``count`` from ``low`` to ``high``; orange bars of ``marked`` in front of them."""
    axis = alt.Axis(format=axis_format, tickCount=6, grid=False)
    base = _base(tips, x=alt.X("low:Q", bin="binned", title=title, axis=axis), x2="high:Q")
    y = alt.Y("count:Q", title="items", axis=alt.Axis(tickCount=4))
    layers = [base.mark_bar(binSpacing=1, color=BLUE, opacity=0.75).encode(y=y)]
    if "marked" in rows[0]:
        layers.append(base.mark_bar(binSpacing=1, color=ORANGE).encode(y="marked:Q"))
    return _chart(name, alt.layer(*layers), 180, rows, description)


def heat_map(
    name: str, names: Sequence[str], rows: Sequence[Row], tips: Tips, description: str
) -> Chart:
    """Cells of ``first`` by ``second``, blue where ``value`` is positive and orange elsewhere.

    Cells with a large value are darker, and ``framed`` cells have a frame.
    """
    # The diagonal keeps both axes in this order.
    blank = alt.Data(values=[{"first": each, "second": each} for each in names])  # type: ignore[no-untyped-call]
    largest = max(MIN_COLOR_RANGE, *(abs(row["value"]) for row in rows))
    crowded = len(names) > MAX_LARGE_CELLS
    style: Row = {"grid": False, "labelFontSize": 11 if crowded else 12, "labelLimit": 110}
    angle = -90 if max(map(len, names)) > 3 else 0
    x_axis = alt.Axis(labelAngle=angle, labelOverlap="greedy", **style)
    x = alt.X("second:N", sort=None, title=None, axis=x_axis)
    y = alt.Y("first:N", sort=None, title=None, axis=alt.Axis(**style))
    base = _base(tips, x=x, y=y)
    shade = alt.Scale(domain=[0, largest], range=[0, 1])
    cells = base.transform_calculate(size="abs(datum.value)").mark_rect()
    frames = base.transform_filter("datum.framed").mark_rect(
        filled=False, stroke=INK, strokeWidth=1.5
    )
    drawing = alt.layer(
        alt.Chart(blank).mark_rect(color=LINE, opacity=0.6).encode(x=x, y=y),
        cells.encode(
            color=alt.condition("datum.value > 0", alt.value(BLUE), alt.value(ORANGE)),
            opacity=alt.Opacity("size:Q", scale=shade, legend=None),
        ),
        frames,
    )
    return _chart(name, drawing, (16 if crowded else 24) * len(names), rows, description)
