"""The pictures: Altair charts as Vega-Lite specifications, each with words for those who listen.

Colours are variables of the page's style sheet, so that pictures follow light, dark and paper.
Names are only ever values of data, never fields, expressions or scales.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from blindfuse.fusion.compare import Comparison
from blindfuse.fusion.gold_check import GoldCheck
from blindfuse.report.annotators import Annotator
from blindfuse.report.contents import ClassShare, Contents
from blindfuse.report.dependence import Together
from blindfuse.report.items import ItemTable

INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"
BLUE, ORANGE, PAPER = "var(--blue)", "var(--orange)", "var(--paper)"

NAMED = 30
"""Annotators that are drawn with their names; of more, RANKED are drawn by rank."""
RANKED = 240

LEAST_DEEPEST = 0.2
"""The map's deepest colour stands for its largest excess, but not for less than this."""

ROWS = alt.NamedData("rows")
SHARE = ".1%"


@dataclass(frozen=True)
class Picture:
    """A Vega-Lite specification, and what it shows in words."""

    spec: dict[str, Any]
    says: str


@dataclass(frozen=True)
class Drawing:
    """A chart of ``ROWS``, its height in pixels, and the rows.

    The rows come in by name: Altair would check each of them, and repeat them in every layer.
    """

    chart: Any
    height: int
    rows: Sequence[dict[str, Any]]


def pictures(contents: Contents) -> dict[str, Picture]:
    """Every picture that there is something to show on, by the name of its place on the page."""
    drawn: dict[str, tuple[Callable[..., Drawing], Any, str]] = {
        "classes": (_classes, contents.shares, _classes_in_words(contents.shares)),
        "annotators": (
            _named if len(contents.annotators.rows) <= NAMED else _ranked,
            contents.annotators.rows,
            "Accuracy of annotators with 95 % intervals; the table below has the numbers.",
        ),
        "together": (
            _together,
            contents.together if contents.together.cells else (),
            f"Map of pairs of {len(contents.together.names)} annotators: how much more often than "
            "expected they agree. Pairs that stand out are listed below.",
        ),
        "items": (
            _certainties,
            contents.items,
            f"Histogram of how sure labels are: {contents.items.needs:,} of "
            f"{contents.items.total:,} are below 90 %.",
        ),
        "convergence": (
            _convergence,
            contents.history if len(contents.history) > 1 else (),
            f"Log-likelihood over {contents.iterations} iterations.",
        ),
        "compared": (
            _compared,
            [one for one in contents.compared if one.failed is None],
            "Methods compared; the table below has the numbers.",
        ),
        "calibration": (
            _calibration,
            contents.checked,
            "How often labels are right against how sure they are; the table below has the "
            "numbers.",
        ),
    }
    return {
        name: Picture(_specification(draw(what), says), says)
        for name, (draw, what, says) in drawn.items()
        if what
    }


def _specification(drawing: Drawing, says: str) -> dict[str, Any]:
    """With the page's type and colours, whatever theme the caller has set."""
    styled = (
        drawing.chart.configure(background="transparent", font="system-ui, sans-serif", aria=False)
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
            description=says,
            width="container",
            height=drawing.height,
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        )
    )
    with alt.theme.enable("none"):
        spec: dict[str, Any] = styled.to_dict(validate=False)
    del spec["$schema"]  # the page is told the language, and names no outside address
    return {**spec, "datasets": {"rows": drawing.rows}}


def _classes_in_words(shares: Sequence[ClassShare]) -> str:
    largest = sorted(shares, key=lambda one: -one.share)[:5]
    named = ", ".join(f"{one.name} {100 * one.share:.0f} %" for one in largest)
    return f"Shares of classes; the largest: {named}."


def _classes(shares: Sequence[ClassShare]) -> Drawing:
    rows = [
        {"class": one.name, "share": one.share, "answers": one.answers, "labels": one.labels}
        for one in shares
    ]
    base = alt.Chart(ROWS).encode(
        y=alt.Y("class:N", sort=None, title=None),
        tooltip=[
            alt.Tooltip("class:N", title="class"),
            alt.Tooltip("share:Q", title="share of items", format=SHARE),
            alt.Tooltip("labels:Q", title="items with this label", format=","),
            alt.Tooltip("answers:Q", title="share of answers", format=SHARE),
        ],
    )
    shared = alt.X(
        "share:Q",
        title=None,
        axis=alt.Axis(format="%", tickCount=5),
        scale=alt.Scale(domain=[0, 1.3 * max(max(one.share, one.answers) for one in shares)]),
    )
    bars = base.mark_bar(color=BLUE, opacity=0.75, height={"band": 0.62}).encode(x=shared)
    ticks = base.mark_tick(color=ORANGE, thickness=2.5, height={"band": 0.9}).encode(x="answers:Q")
    texts = base.mark_text(align="right", color=INK, fontSize=12).encode(
        x=alt.value("width"), text=alt.Text("share:Q", format=SHARE)
    )
    return Drawing(alt.layer(bars, ticks, texts), 26 * len(rows), rows)


def _annotator_rows(rows: Sequence[Annotator]) -> list[dict[str, Any]]:
    ordered = sorted((row for row in rows if row.labels), key=lambda row: -row.accuracy)
    return [
        {
            "annotator": row.name,
            "rank": rank,
            "accuracy": row.accuracy,
            "low": row.low,
            "high": row.high,
            "labels": row.labels,
            "remarks": ", ".join(row.remarks) or "none",
            "look": bool(row.remarks),
        }
        for rank, row in enumerate(ordered, 1)
    ]


_ANNOTATOR_TIPS = [
    alt.Tooltip("annotator:N", title="annotator"),
    alt.Tooltip("accuracy:Q", title="accuracy", format=SHARE),
    alt.Tooltip("low:Q", title="at least", format=SHARE),
    alt.Tooltip("high:Q", title="at most", format=SHARE),
    alt.Tooltip("labels:Q", title="labels", format=","),
    alt.Tooltip("remarks:N", title="remarks"),
]

_LOOK_COLOR = alt.condition("datum.look", alt.value(ORANGE), alt.value(BLUE))
_LOOK_SHAPE = alt.condition("datum.look", alt.value("diamond"), alt.value("circle"))


def _named(rows: Sequence[Annotator]) -> Drawing:
    """Everybody by name, the best first."""
    shown = _annotator_rows(rows)
    base = alt.Chart(ROWS).encode(
        y=alt.Y("annotator:N", sort=None, title=None), color=_LOOK_COLOR, tooltip=_ANNOTATOR_TIPS
    )
    axis = alt.Axis(format="%", tickCount=5)
    scale = alt.Scale(zero=False, nice=True)
    whiskers = base.mark_rule(strokeWidth=2, opacity=0.6).encode(
        x=alt.X("low:Q", title="accuracy, with 95 % interval", axis=axis, scale=scale), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x="accuracy:Q", shape=_LOOK_SHAPE
    )
    return Drawing(alt.layer(whiskers, points), 22 * len(shown), shown)


def _ranked(rows: Sequence[Annotator]) -> Drawing:
    """Many, by rank; if too many, at even distances."""
    ordered = _annotator_rows(rows)
    step = max(1, -(-len(ordered) // RANKED))
    base = alt.Chart(ROWS).encode(
        x=alt.X(
            "rank:Q",
            title="annotators, the best first",
            axis=alt.Axis(grid=False),
            scale=alt.Scale(nice=False),
        ),
        color=_LOOK_COLOR,
        tooltip=_ANNOTATOR_TIPS,
    )
    axis = alt.Axis(format="%", tickCount=5)
    whiskers = base.mark_rule(strokeWidth=1.2, opacity=0.45).encode(
        y=alt.Y("low:Q", title="accuracy", axis=axis, scale=alt.Scale(domain=[0, 1])), y2="high:Q"
    )
    points = base.mark_point(filled=True, opacity=1).encode(
        y="accuracy:Q",
        shape=_LOOK_SHAPE,
        size=alt.condition("datum.look", alt.value(45), alt.value(20)),
    )
    return Drawing(alt.layer(whiskers, points), 260, ordered[::step])


def _together(found: Together) -> Drawing:
    """Blue where a pair agrees more often than the model expects, orange where less often."""
    rows = [
        {
            "one": cell.one,
            "other": cell.other,
            "excess": cell.excess,
            "size": abs(cell.excess),
            "more": cell.excess > 0,
            "stands": cell.stands_out,
        }
        for cell in found.cells
    ]
    blank = [{"one": one, "other": one} for one in found.names]  # keeps both axes in this order
    most = max(LEAST_DEEPEST, *(abs(cell.excess) for cell in found.cells))
    small = len(found.names) > 12
    style: dict[str, Any] = {"grid": False, "labelFontSize": 11 if small else 12, "labelLimit": 110}
    upright = max(map(len, found.names)) > 3
    across = alt.Axis(labelAngle=-90 if upright else 0, labelOverlap="greedy", **style)
    x = alt.X("other:N", sort=None, title=None, axis=across)
    y = alt.Y("one:N", sort=None, title=None, axis=alt.Axis(**style))
    diagonal = _chart(blank).mark_rect(color=LINE, opacity=0.6)
    base = alt.Chart(ROWS).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("one:N", title="annotator"),
            alt.Tooltip("other:N", title="with"),
            alt.Tooltip("excess:Q", title="excess agreement", format="+.1%"),
            alt.Tooltip("stands:N", title="stands out"),
        ],
    )
    cells = base.mark_rect().encode(
        color=alt.condition("datum.more", alt.value(BLUE), alt.value(ORANGE)),
        opacity=alt.Opacity("size:Q", scale=alt.Scale(domain=[0, most], range=[0, 1]), legend=None),
    )
    frames = base.transform_filter("datum.stands").mark_rect(
        filled=False, stroke=INK, strokeWidth=1.5
    )
    height = (16 if small else 24) * len(found.names)
    return Drawing(alt.layer(diagonal.encode(x=x, y=y), cells, frames), height, rows)


def _certainties(found: ItemTable) -> Drawing:
    rows = [
        {"low": low, "high": high, "items": count, "doubt": high <= 0.9 + 1e-9}
        for low, high, count in zip(found.edges, found.edges[1:], found.counts, strict=False)
    ]
    chart = (
        alt.Chart(ROWS)
        .mark_bar(binSpacing=1, opacity=0.75)
        .encode(
            x=alt.X(
                "low:Q",
                bin="binned",
                title="how sure a label is (orange: below 90 %)",
                axis=alt.Axis(format="%", tickCount=6, grid=False),
            ),
            x2="high:Q",
            y=alt.Y("items:Q", title="items", axis=alt.Axis(tickCount=4)),
            color=alt.condition("datum.doubt", alt.value(ORANGE), alt.value(BLUE)),
            tooltip=[
                alt.Tooltip("low:Q", title="from", format=SHARE),
                alt.Tooltip("high:Q", title="to", format=SHARE),
                alt.Tooltip("items:Q", title="items", format=","),
            ],
        )
    )
    return Drawing(chart, 180, rows)


def _convergence(history: Sequence[tuple[int, float]]) -> Drawing:
    rows = [{"iteration": step, "likelihood": value} for step, value in history]
    values = [value for _, value in history]
    digits = int(np.clip(np.ceil(1 - np.log10(max(np.ptp(values), 1e-9))), 0, 6))
    last = history[-1][0]
    ticks = list(range(1, last + 1, -(-last // 8)))
    chart = (
        alt.Chart(ROWS)
        .mark_line(color=BLUE, point={"color": BLUE, "size": 20})
        .encode(
            x=alt.X(
                "iteration:Q",
                title="iteration",
                axis=alt.Axis(grid=False, values=ticks),
                scale=alt.Scale(zero=False, nice=False),
            ),
            y=alt.Y(
                "likelihood:Q",
                title="log-likelihood",
                scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=4, format=f",.{digits}f"),
            ),
            tooltip=[
                alt.Tooltip("iteration:Q"),
                alt.Tooltip("likelihood:Q", title="log-likelihood", format=",.2f"),
            ],
        )
    )
    return Drawing(chart, 180, rows)


def _compared(found: Sequence[Comparison]) -> Drawing:
    """Errors if the truth is known, else how many labels differ from those of ``fuse``."""
    known = any(one.error is not None for one in found)
    rows: list[dict[str, Any]] = [
        {
            "method": one.method,
            "value": one.error if known else one.differs,
            "seconds": one.seconds,
            "ours": one.method == "fuse",
        }
        for one in found
    ]
    rows.sort(key=lambda row: float(row["value"]))
    title = "wrong labels" if known else "labels unlike those of fuse"
    most = max(row["value"] for row in rows)
    base = alt.Chart(ROWS).encode(
        x=alt.X(
            "value:Q",
            title=title,
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, 1.25 * most or 1]),
        ),
        y=alt.Y("method:N", sort=None, title=None, axis=alt.Axis(labelLimit=210)),
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("value:Q", title=title, format=".2%"),
            alt.Tooltip("seconds:Q", format=".2f"),
        ],
    )
    bars = base.mark_bar(opacity=0.75, height={"band": 0.62}).encode(
        color=alt.condition("datum.ours", alt.value(ORANGE), alt.value(BLUE))
    )
    texts = base.mark_text(align="left", dx=6, color=INK, fontSize=12).encode(
        text=alt.Text("value:Q", format=SHARE)
    )
    return Drawing(alt.layer(bars, texts), 22 * len(rows), rows)


def _calibration(found: GoldCheck) -> Drawing:
    rows = [
        {
            "items": one.items,
            "sure": one.sure,
            "right": one.right.value,
            "low": one.right.low,
            "high": one.right.high,
        }
        for one in found.bins
    ]
    least = min(min(one.sure, one.right.low) for one in found.bins)
    scale = alt.Scale(domain=[least, 1], nice=False, zero=False)
    axis = alt.Axis(format="%", tickCount=5)
    x = alt.X("sure:Q", title="how sure the labels are", scale=scale, axis=axis)
    ends: list[dict[str, Any]] = [{"sure": least, "right": least}, {"sure": 1, "right": 1}]
    ideal = (
        _chart(ends)
        .mark_line(color=SOFT, strokeDash=[4, 4], strokeWidth=1.2)
        .encode(x=x, y="right:Q")
    )
    base = alt.Chart(ROWS).encode(
        x=x,
        tooltip=[
            alt.Tooltip("items:Q", format=","),
            alt.Tooltip("sure:Q", format=SHARE),
            alt.Tooltip("right:Q", format=SHARE),
            alt.Tooltip("low:Q", title="at least", format=SHARE),
            alt.Tooltip("high:Q", title="at most", format=SHARE),
        ],
    )
    whiskers = base.mark_rule(color=BLUE, opacity=0.5, strokeWidth=2).encode(
        y=alt.Y("low:Q", title="how many are right", scale=scale, axis=axis), y2="high:Q"
    )
    points = base.mark_point(filled=True, color=BLUE, size=70, opacity=1).encode(y="right:Q")
    return Drawing(alt.layer(ideal, whiskers, points), 300, rows)


def _chart(rows: Sequence[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]
