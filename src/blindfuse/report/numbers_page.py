"""The HTML page of fused ratings: contents as dataclasses, charts, and the filled template."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from blindfuse.metrics import Interval
from blindfuse.numbers.annotators import FLAGS
from blindfuse.numbers.number_fusion import NumberFusion
from blindfuse.report.charts import BLUE, ORANGE, ROWS, Chart, Plot, chart_specification
from blindfuse.report.names import distinct_names, visible
from blindfuse.report.rendering import fill_template
from blindfuse.report.script_data import script_json
from blindfuse.result import Paragraph

MAX_ANNOTATORS = 500
"""Annotators in the table: those with remarks, then those with most ratings."""
MAX_DRAWN = 40
"""Annotators in the chart."""
MAX_ITEMS = 200
"""Items in the table: those with the widest spread of ratings."""
MAX_PAIRS = 50
BINS = 30


@dataclass(frozen=True)
class NumberAnnotatorRow:
    """One annotator, with the values of ``RatedAnnotators``."""

    name: str
    ratings: int
    bias: float
    scale: float
    noise: float
    reliability: float
    remark: str


@dataclass(frozen=True)
class NumberItemRow:
    """One item: its estimate with the interval, and the spread of its ratings."""

    name: str
    estimate: float
    low: float
    high: float
    ratings: int
    lowest: float
    highest: float
    spread: float


@dataclass(frozen=True)
class NumberContents:
    """Everything on the page; ``histogram`` holds edges and counts of the estimates."""

    title: str
    size: str
    method: str
    why: str
    paragraphs: tuple[Paragraph, ...]
    notes: tuple[str, ...]
    agreement: tuple[tuple[str, Interval], ...]
    annotators: tuple[NumberAnnotatorRow, ...]
    n_annotators: int
    items: tuple[NumberItemRow, ...]
    n_items: int
    pairs: tuple[tuple[str, str, float, float], ...]
    edges: tuple[float, ...]
    counts: tuple[int, ...]


def number_report_html(
    fusion: NumberFusion, *, title: str = "Fused ratings", notes: Sequence[str] = ()
) -> str:
    """Return one self-contained HTML page that loads nothing from the network or from disk.

    Parameters
    ----------
    fusion
        what ``fuse_numbers`` returned.
    title, notes
        title of the page, and what was detected when the ratings were read.
    """
    contents = gather_number_contents(fusion, title, notes)
    charts = build_number_charts(contents)
    data = script_json({"charts": {name: chart.spec for name, chart in charts.items()}})
    return fill_template("numbers.html", contents=contents, charts=charts, data=data)


def gather_number_contents(
    fusion: NumberFusion, title: str, notes: Sequence[str]
) -> NumberContents:
    """Return the numbers and sentences of the page."""
    numbers = fusion.numbers
    counts, edges = np.histogram(fusion.values, BINS)
    copies = fusion.copies
    names = distinct_names(numbers.annotators)
    return NumberContents(
        title=visible(title),
        size=f"{numbers.n_ratings:,} ratings by {numbers.n_annotators:,} annotators of "
        f"{numbers.n_items:,} items",
        method=fusion.method,
        why=fusion.why,
        paragraphs=tuple(fusion.paragraphs()),
        notes=tuple(map(visible, notes)),
        agreement=tuple(fusion.agreement.items()),
        annotators=_annotator_rows(fusion, names),
        n_annotators=numbers.n_annotators,
        items=_item_rows(fusion),
        n_items=numbers.n_items,
        pairs=tuple(
            (names[first], names[second], float(correlation), float(identical))
            for (first, second), correlation, identical in zip(
                copies.pairs[:MAX_PAIRS].tolist(),
                copies.correlation[:MAX_PAIRS],
                copies.identical[:MAX_PAIRS],
                strict=True,
            )
        ),
        edges=tuple(map(float, edges)),
        counts=tuple(counts.tolist()),
    )


def build_number_charts(contents: NumberContents) -> dict[str, Chart]:
    """Return the charts of annotators and of estimates."""
    plots = {
        "annotators": (
            _plot_annotators(contents.annotators),
            "Bias of annotators, with their noise as bars; the table below has the numbers.",
        ),
        "estimates": (
            _plot_estimates(contents.edges, contents.counts),
            f"Histogram of {contents.n_items:,} estimates.",
        ),
    }
    return {
        name: Chart(chart_specification(plot, description), description)
        for name, (plot, description) in plots.items()
    }


def _annotator_rows(fusion: NumberFusion, names: list[str]) -> tuple[NumberAnnotatorRow, ...]:
    rated = fusion.annotators
    busiest = np.argsort(-rated.n_ratings, kind="stable").tolist()
    chosen = sorted(busiest, key=lambda m: not rated.flags[m])[:MAX_ANNOTATORS]
    chosen.sort(key=lambda m: float(rated.reliability[m]))
    return tuple(
        NumberAnnotatorRow(
            name=names[m],
            ratings=int(rated.n_ratings[m]),
            bias=float(rated.bias[m]),
            scale=float(rated.scale[m]),
            noise=float(rated.noise[m]),
            reliability=float(rated.reliability[m]),
            remark=FLAGS.get(rated.flags[m], "" if rated.n_ratings[m] else "no ratings"),
        )
        for m in chosen
    )


def _item_rows(fusion: NumberFusion) -> tuple[NumberItemRow, ...]:
    numbers, spread = fusion.numbers, fusion.numbers.spreads()
    rated_twice = np.flatnonzero(~np.isnan(spread))
    widest = rated_twice[np.argsort(-spread[rated_twice], kind="stable")][:MAX_ITEMS]
    rows = []
    for n in widest.tolist():
        ratings = numbers.values[numbers.starts[n] : numbers.starts[n + 1]]
        rows.append(
            NumberItemRow(
                name=visible(numbers.items[n]),
                estimate=float(fusion.values[n]),
                low=float(fusion.low[n]),
                high=float(fusion.high[n]),
                ratings=len(ratings),
                lowest=float(ratings.min()),
                highest=float(ratings.max()),
                spread=float(spread[n]),
            )
        )
    return tuple(rows)


def _plot_annotators(annotators: Sequence[NumberAnnotatorRow]) -> Plot:
    rows: list[dict[str, Any]] = [
        {
            "annotator": row.name,
            "bias": row.bias,
            "low": row.bias - row.noise,
            "high": row.bias + row.noise,
            "scale": row.scale,
            "flagged": bool(row.remark),
        }
        for row in sorted(annotators, key=lambda row: -row.ratings)[:MAX_DRAWN]
    ]
    base = alt.Chart(ROWS).encode(
        y=alt.Y("annotator:N", sort=None, title=None),
        color=alt.condition("datum.flagged", alt.value(ORANGE), alt.value(BLUE)),
        tooltip=[
            alt.Tooltip("annotator:N", title="annotator"),
            alt.Tooltip("bias:Q", title="bias", format=".3g"),
            alt.Tooltip("scale:Q", title="scale", format=".2f"),
        ],
    )
    bars = base.mark_rule(strokeWidth=2, opacity=0.6).encode(
        x=alt.X("low:Q", title="bias ± noise, in units of the ratings"), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=60, opacity=1).encode(x="bias:Q")
    return Plot(alt.layer(bars, points), 22 * len(rows), rows)


def _plot_estimates(edges: Sequence[float], counts: Sequence[int]) -> Plot:
    rows = [
        {"from": edges[at], "to": edges[at + 1], "items": count} for at, count in enumerate(counts)
    ]
    bars = (
        alt.Chart(ROWS)
        .mark_bar(color=BLUE, opacity=0.75)
        .encode(
            x=alt.X("from:Q", bin="binned", title="estimate"),
            x2="to:Q",
            y=alt.Y("items:Q", title="items"),
        )
    )
    return Plot(bars, 180, rows)
