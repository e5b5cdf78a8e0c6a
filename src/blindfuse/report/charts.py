"""The charts of the page: Altair charts as Vega-Lite specifications, each with a description.

Colours are variables of the page's style sheet, so that charts follow light mode, dark mode and
print. Names of items, annotators and classes are only ever data, never fields, expressions or
scales.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import altair as alt
import numpy as np

from blindfuse.fusion.compare import Comparison
from blindfuse.fusion.gold_check import GoldCheck
from blindfuse.report.annotators import AnnotatorRow
from blindfuse.report.contents import ClassSummary, Contents
from blindfuse.report.dependence import DependenceMap
from blindfuse.report.items import ItemTable

INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"
BLUE, ORANGE = "var(--blue)", "var(--orange)"

MAX_NAMED_ANNOTATORS = 30
"""Annotators that are drawn by name; of more, at most ``MAX_RANKED_ANNOTATORS`` by rank."""
MAX_RANKED_ANNOTATORS = 240
MAX_LARGE_CELLS = 12
"""Annotators up to which the map of dependence has large cells."""
MIN_COLOR_RANGE = 0.2
"""The map's darkest colour stands for its largest excess, but never for less than this."""

ROWS = alt.NamedData("rows")
PERCENT = ".1%"


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification, and a description for screen readers."""

    spec: dict[str, Any]
    description: str


@dataclass(frozen=True)
class Plot:
    """An Altair chart of ``ROWS``, its height in pixels, and the rows.

    The rows are passed by name: Altair would validate each of them and repeat them in every layer.
    """

    chart: Any
    height: int
    rows: Sequence[dict[str, Any]]


def build_charts(contents: Contents) -> dict[str, Chart]:
    """Return every chart that has data, by the name of its place on the page."""
    plots: dict[str, tuple[Callable[..., Plot], Any, str]] = {
        "classes": (
            _plot_classes,
            contents.class_summaries,
            _describe_classes(contents.class_summaries),
        ),
        "annotators": (
            _plot_named_annotators
            if len(contents.annotators.rows) <= MAX_NAMED_ANNOTATORS
            else _plot_ranked_annotators,
            contents.annotators.rows,
            "Estimated accuracy of annotators with 95 % intervals; the table below has the "
            "numbers.",
        ),
        "dependence": (
            _plot_dependence,
            contents.dependence if contents.dependence.cells else (),
            f"Map of excess agreement between {len(contents.dependence.names)} annotators; "
            "dependent pairs are listed below.",
        ),
        "items": (
            _plot_confidence,
            contents.items,
            f"Histogram of confidence; {contents.items.n_needing_label:,} of "
            f"{contents.items.total:,} labels could change with one more response.",
        ),
        "convergence": (
            _plot_convergence,
            contents.history if len(contents.history) > 1 else (),
            f"Log-likelihood over {contents.n_iterations} iterations.",
        ),
        "methods": (
            _plot_methods,
            [one for one in contents.comparisons if one.failed is None],
            "Comparison of methods; the table below has the numbers.",
        ),
        "calibration": (
            _plot_calibration,
            contents.gold_check,
            "Accuracy of labels against their confidence; the table below has the numbers.",
        ),
    }
    return {
        name: Chart(chart_specification(plot(data), description), description)
        for name, (plot, data, description) in plots.items()
        if data
    }


def chart_specification(plot: Plot, description: str) -> dict[str, Any]:
    """Return the Vega-Lite specification with the page's fonts and colours, in any theme."""
    styled = (
        plot.chart.configure(background="transparent", font="system-ui, sans-serif", aria=False)
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
            height=plot.height,
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        )
    )
    with alt.theme.enable("none"):
        spec: dict[str, Any] = styled.to_dict(validate=False)
    del spec["$schema"]  # the page passes the mode to Vega-Embed and names no URL
    return {**spec, "datasets": {"rows": plot.rows}}


def _describe_classes(classes: Sequence[ClassSummary]) -> str:
    most_common = sorted(classes, key=lambda one: -one.share)[:5]
    named = ", ".join(f"{one.name} {100 * one.share:.0f} %" for one in most_common)
    return f"Class proportions; the most common classes: {named}."


def _plot_classes(classes: Sequence[ClassSummary]) -> Plot:
    rows = [
        {
            "class": one.name,
            "share": one.share,
            "low": one.low,
            "high": one.high,
            "labels": one.n_labels,
            "votes": one.votes,
        }
        for one in classes
    ]
    base = alt.Chart(ROWS).encode(
        y=alt.Y("class:N", sort=None, title=None),
        tooltip=[
            alt.Tooltip("class:N", title="class"),
            alt.Tooltip("share:Q", title="share of the items", format=PERCENT),
            alt.Tooltip("low:Q", title="80 % interval from", format=PERCENT),
            alt.Tooltip("high:Q", title="to", format=PERCENT),
            alt.Tooltip("labels:Q", title="items with this label", format=","),
            alt.Tooltip("votes:Q", title="share of the votes", format=PERCENT),
        ],
    )
    largest = max(max(one.share, one.high or 0.0, one.votes) for one in classes)
    x = alt.X(
        "share:Q",
        title=None,
        axis=alt.Axis(format="%", tickCount=5),
        scale=alt.Scale(domain=[0, 1.3 * largest]),
    )
    bars = base.mark_bar(color=BLUE, opacity=0.75, height={"band": 0.62}).encode(x=x)
    whiskers = base.mark_rule(color=INK, strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    ticks = base.mark_tick(color=ORANGE, thickness=2.5, height={"band": 0.9}).encode(x="votes:Q")
    texts = base.mark_text(align="right", color=INK, fontSize=12).encode(
        x=alt.value("width"), text=alt.Text("share:Q", format=PERCENT)
    )
    return Plot(alt.layer(bars, whiskers, ticks, texts), 26 * len(rows), rows)


def _by_accuracy(rows: Sequence[AnnotatorRow]) -> list[dict[str, Any]]:
    """The annotators with responses, the most accurate first."""
    ordered = sorted((row for row in rows if row.responses), key=lambda row: -row.accuracy)
    return [
        {
            "annotator": row.name,
            "rank": rank,
            "accuracy": row.accuracy,
            "low": row.low,
            "high": row.high,
            "responses": row.responses,
            "remarks": ", ".join(row.remarks) or "none",
            "flagged": bool(row.remarks),
        }
        for rank, row in enumerate(ordered, 1)
    ]


_ANNOTATOR_TIPS = [
    alt.Tooltip("annotator:N", title="annotator"),
    alt.Tooltip("accuracy:Q", title="accuracy", format=PERCENT),
    alt.Tooltip("low:Q", title="95 % interval from", format=PERCENT),
    alt.Tooltip("high:Q", title="to", format=PERCENT),
    alt.Tooltip("responses:Q", title="responses", format=","),
    alt.Tooltip("remarks:N", title="remarks"),
]

_REMARK_COLOR = alt.condition("datum.flagged", alt.value(ORANGE), alt.value(BLUE))
_REMARK_SHAPE = alt.condition("datum.flagged", alt.value("diamond"), alt.value("circle"))


def _plot_named_annotators(rows: Sequence[AnnotatorRow]) -> Plot:
    """All annotators by name."""
    shown = _by_accuracy(rows)
    base = alt.Chart(ROWS).encode(
        y=alt.Y("annotator:N", sort=None, title=None),
        color=_REMARK_COLOR,
        tooltip=_ANNOTATOR_TIPS,
    )
    axis = alt.Axis(format="%", tickCount=5)
    scale = alt.Scale(zero=False, nice=True)
    whiskers = base.mark_rule(strokeWidth=2, opacity=0.6).encode(
        x=alt.X(
            "low:Q",
            title="estimated accuracy with 95 % interval",
            axis=axis,
            scale=scale,
        ),
        x2="high:Q",
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        x="accuracy:Q", shape=_REMARK_SHAPE
    )
    return Plot(alt.layer(whiskers, points), 22 * len(shown), shown)


def _plot_ranked_annotators(rows: Sequence[AnnotatorRow]) -> Plot:
    """Many annotators by rank; if too many, an evenly spaced sample."""
    ordered = _by_accuracy(rows)
    step = max(1, -(-len(ordered) // MAX_RANKED_ANNOTATORS))
    base = alt.Chart(ROWS).encode(
        x=alt.X(
            "rank:Q",
            title="annotators, most accurate first",
            axis=alt.Axis(grid=False),
            scale=alt.Scale(nice=False),
        ),
        color=_REMARK_COLOR,
        tooltip=_ANNOTATOR_TIPS,
    )
    axis = alt.Axis(format="%", tickCount=5)
    whiskers = base.mark_rule(strokeWidth=1.2, opacity=0.45).encode(
        y=alt.Y(
            "low:Q",
            title="estimated accuracy",
            axis=axis,
            scale=alt.Scale(domain=[0, 1]),
        ),
        y2="high:Q",
    )
    points = base.mark_point(filled=True, opacity=1).encode(
        y="accuracy:Q",
        shape=_REMARK_SHAPE,
        size=alt.condition("datum.flagged", alt.value(45), alt.value(20)),
    )
    return Plot(alt.layer(whiskers, points), 260, ordered[::step])


def _plot_dependence(dependence: DependenceMap) -> Plot:
    """Blue where a pair agrees more often than the model predicts, orange where less often."""
    rows = [
        {
            "first": cell.first,
            "second": cell.second,
            "excess": cell.excess,
            "size": abs(cell.excess),
            "more": cell.excess > 0,
            "dependent": cell.dependent,
        }
        for cell in dependence.cells
    ]
    # The diagonal keeps both axes in this order.
    blank = [{"first": name, "second": name} for name in dependence.names]
    largest = max(MIN_COLOR_RANGE, *(abs(cell.excess) for cell in dependence.cells))
    crowded = len(dependence.names) > MAX_LARGE_CELLS
    style: dict[str, Any] = {
        "grid": False,
        "labelFontSize": 11 if crowded else 12,
        "labelLimit": 110,
    }
    rotated = max(map(len, dependence.names)) > 3
    x_axis = alt.Axis(labelAngle=-90 if rotated else 0, labelOverlap="greedy", **style)
    x = alt.X("second:N", sort=None, title=None, axis=x_axis)
    y = alt.Y("first:N", sort=None, title=None, axis=alt.Axis(**style))
    diagonal = _chart(blank).mark_rect(color=LINE, opacity=0.6)
    base = alt.Chart(ROWS).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("first:N", title="annotator"),
            alt.Tooltip("second:N", title="and"),
            alt.Tooltip("excess:Q", title="excess agreement", format="+.1%"),
            alt.Tooltip("dependent:N", title="significant"),
        ],
    )
    cells = base.mark_rect().encode(
        color=alt.condition("datum.more", alt.value(BLUE), alt.value(ORANGE)),
        opacity=alt.Opacity(
            "size:Q", scale=alt.Scale(domain=[0, largest], range=[0, 1]), legend=None
        ),
    )
    frames = base.transform_filter("datum.dependent").mark_rect(
        filled=False, stroke=INK, strokeWidth=1.5
    )
    height = (16 if crowded else 24) * len(dependence.names)
    return Plot(alt.layer(diagonal.encode(x=x, y=y), cells, frames), height, rows)


def _plot_confidence(items: ItemTable) -> Plot:
    """Orange bars are items that one more response could change, in front of all items."""
    columns = zip(pairwise(items.edges), items.counts, items.counts_needing, strict=True)
    rows = [
        {"low": low, "high": high, "items": count, "needing": needing}
        for (low, high), count, needing in columns
    ]
    base = alt.Chart(ROWS).encode(
        x=alt.X(
            "low:Q",
            bin="binned",
            title="confidence (orange: one more response could change the label)",
            axis=alt.Axis(format="%", tickCount=6, grid=False),
        ),
        x2="high:Q",
        tooltip=[
            alt.Tooltip("low:Q", title="confidence from", format=PERCENT),
            alt.Tooltip("high:Q", title="to", format=PERCENT),
            alt.Tooltip("items:Q", title="items", format=","),
            alt.Tooltip("needing:Q", title="could change", format=","),
        ],
    )
    y = alt.Y("items:Q", title="items", axis=alt.Axis(tickCount=4))
    bars = base.mark_bar(binSpacing=1, color=BLUE, opacity=0.75).encode(y=y)
    needing = base.mark_bar(binSpacing=1, color=ORANGE).encode(y="needing:Q")
    return Plot(alt.layer(bars, needing), 180, rows)


def _plot_convergence(history: Sequence[tuple[int, float]]) -> Plot:
    rows = [{"iteration": step, "log_likelihood": value} for step, value in history]
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
                "log_likelihood:Q",
                title="log-likelihood",
                scale=alt.Scale(zero=False),
                axis=alt.Axis(tickCount=4, format=f",.{digits}f"),
            ),
            tooltip=[
                alt.Tooltip("iteration:Q"),
                alt.Tooltip("log_likelihood:Q", title="log-likelihood", format=",.2f"),
            ],
        )
    )
    return Plot(chart, 180, rows)


def _plot_methods(comparisons: Sequence[Comparison]) -> Plot:
    """Errors if there are gold labels, else the share of labels that differ from ``fuse``."""
    has_errors = any(one.error is not None for one in comparisons)
    rows: list[dict[str, Any]] = [
        {
            "method": one.method,
            "value": one.error if has_errors else one.differs,
            "seconds": one.seconds,
            "is_fuse": one.method == "fuse",
        }
        for one in comparisons
    ]
    rows.sort(key=lambda row: float(row["value"]))
    title = "error" if has_errors else "labels that differ from fuse"
    largest = max(row["value"] for row in rows)
    base = alt.Chart(ROWS).encode(
        x=alt.X(
            "value:Q",
            title=title,
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, 1.25 * largest or 1]),
        ),
        y=alt.Y("method:N", sort=None, title=None, axis=alt.Axis(labelLimit=210)),
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("value:Q", title=title, format=".2%"),
            alt.Tooltip("seconds:Q", format=".2f"),
        ],
    )
    bars = base.mark_bar(opacity=0.75, height={"band": 0.62}).encode(
        color=alt.condition("datum.is_fuse", alt.value(ORANGE), alt.value(BLUE))
    )
    texts = base.mark_text(align="left", dx=6, color=INK, fontSize=12).encode(
        text=alt.Text("value:Q", format=PERCENT)
    )
    return Plot(alt.layer(bars, texts), 22 * len(rows), rows)


def _plot_calibration(gold_check: GoldCheck) -> Plot:
    """The reliability diagram, with the diagonal of perfect calibration."""
    rows = [
        {
            "items": one.items,
            "confidence": one.confidence,
            "accuracy": one.accuracy.value,
            "low": one.accuracy.low,
            "high": one.accuracy.high,
        }
        for one in gold_check.bins
    ]
    lowest = min(min(one.confidence, one.accuracy.low) for one in gold_check.bins)
    scale = alt.Scale(domain=[lowest, 1], nice=False, zero=False)
    axis = alt.Axis(format="%", tickCount=5)
    x = alt.X("confidence:Q", title="confidence", scale=scale, axis=axis)
    ends = [{"confidence": end, "accuracy": end} for end in (lowest, 1.0)]
    ideal = (
        _chart(ends)
        .mark_line(color=SOFT, strokeDash=[4, 4], strokeWidth=1.2)
        .encode(x=x, y="accuracy:Q")
    )
    base = alt.Chart(ROWS).encode(
        x=x,
        tooltip=[
            alt.Tooltip("items:Q", format=","),
            alt.Tooltip("confidence:Q", format=PERCENT),
            alt.Tooltip("accuracy:Q", format=PERCENT),
            alt.Tooltip("low:Q", title="95 % interval from", format=PERCENT),
            alt.Tooltip("high:Q", title="to", format=PERCENT),
        ],
    )
    whiskers = base.mark_rule(color=BLUE, opacity=0.5, strokeWidth=2).encode(
        y=alt.Y("low:Q", title="accuracy", scale=scale, axis=axis), y2="high:Q"
    )
    points = base.mark_point(filled=True, color=BLUE, size=70, opacity=1).encode(y="accuracy:Q")
    return Plot(alt.layer(ideal, whiskers, points), 300, rows)


def _chart(rows: Sequence[dict[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]
