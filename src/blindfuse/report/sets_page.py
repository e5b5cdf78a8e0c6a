"""The HTML page of fused sets of classes: contents as dataclasses, charts, the filled template."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

from blindfuse.errors import BadLabels
from blindfuse.metrics import Interval, krippendorff_alpha
from blindfuse.report.charts import BLUE, ORANGE, ROWS, Chart, Plot, chart_specification
from blindfuse.report.names import distinct_names, visible
from blindfuse.report.rendering import fill_template
from blindfuse.report.script_data import script_json
from blindfuse.result import Paragraph
from blindfuse.sets.annotators import FLAGS
from blindfuse.sets.set_fusion import SetFusion

MAX_CLASSES = 100
"""Classes in the table and in the chart: the most common."""
MAX_ANNOTATORS = 500
"""Annotators in the table: those with remarks, then those with most responses."""
MAX_DRAWN = 200
"""Annotators in the chart."""
MAX_ITEMS = 200
"""Items in the table: those with the least probable sets."""
MAX_RELATED = 20
CLEAR = 0.9
"""Posterior of a decision from which on it is clear."""


@dataclass(frozen=True)
class ClassRow:
    """One class; ``uncertain`` is the number of items in which it has no clear posterior."""

    name: str
    items: int
    share: float
    response_share: float
    uncertain: int
    alpha: float | None


@dataclass(frozen=True)
class SetAnnotatorRow:
    """One annotator, with the values of ``RatedSetAnnotators``; None where undefined."""

    name: str
    responses: int
    mean_size: float
    recall: float
    recall_low: float
    recall_high: float
    precision: float | None
    f1: float | None
    remark: str


@dataclass(frozen=True)
class SetItemRow:
    """One item: its set, the class in doubt, and how many responses name each class."""

    name: str
    labels: str
    confidence: float
    doubtful: str
    posterior: float
    votes: str


@dataclass(frozen=True)
class SetContents:
    """Everything on the page."""

    title: str
    size: str
    method: str
    why: str
    paragraphs: tuple[Paragraph, ...]
    notes: tuple[str, ...]
    agreement: tuple[tuple[str, Interval], ...]
    classes: tuple[ClassRow, ...]
    n_classes: int
    related: tuple[tuple[str, str, float], ...]
    annotators: tuple[SetAnnotatorRow, ...]
    n_annotators: int
    items: tuple[SetItemRow, ...]
    n_items: int


def set_report_html(
    fusion: SetFusion, *, title: str = "Fused sets", notes: Sequence[str] = ()
) -> str:
    """Return one self-contained HTML page that loads nothing from the network or from disk.

    Parameters
    ----------
    fusion
        what ``fuse_sets`` returned.
    title, notes
        title of the page, and what was detected when the responses were read.
    """
    contents = gather_set_contents(fusion, title, notes)
    charts = build_set_charts(contents)
    data = script_json({"charts": {name: chart.spec for name, chart in charts.items()}})
    return fill_template("sets.html", contents=contents, charts=charts, data=data)


def gather_set_contents(fusion: SetFusion, title: str, notes: Sequence[str]) -> SetContents:
    """Return the numbers and sentences of the page."""
    table = fusion.responses
    return SetContents(
        title=visible(title),
        size=f"{table.n_responses:,} responses by {table.n_annotators:,} annotators to "
        f"{table.n_items:,} items, {table.n_classes:,} classes",
        method=fusion.method[0].upper() + fusion.method[1:],
        why=fusion.why,
        paragraphs=tuple(fusion.paragraphs()),
        notes=tuple(map(visible, notes)),
        agreement=tuple(fusion.agreement.items()),
        classes=_class_rows(fusion),
        n_classes=table.n_classes,
        related=tuple(
            (visible(first), visible(second), correlation)
            for first, second, correlation in fusion.related_classes()[:MAX_RELATED]
        ),
        annotators=_annotator_rows(fusion),
        n_annotators=table.n_annotators,
        items=_item_rows(fusion),
        n_items=table.n_items,
    )


def build_set_charts(contents: SetContents) -> dict[str, Chart]:
    """Return the charts of classes and of annotators."""
    plots = {
        "classes": (
            _plot_classes(contents.classes),
            "Share of items with each class, and share of responses that name it.",
        ),
        "annotators": (
            _plot_annotators(contents.annotators),
            "Recall and precision of annotators; the table below has the numbers.",
        ),
    }
    return {
        name: Chart(chart_specification(plot, description), description)
        for name, (plot, description) in plots.items()
    }


def _class_rows(fusion: SetFusion) -> tuple[ClassRow, ...]:
    table, counts = fusion.responses, fusion.chosen.sum(axis=0)
    names = distinct_names(table.classes)
    doubtful = (fusion.posteriors > 1 - CLEAR) & (fusion.posteriors < CLEAR)
    order = np.lexsort((-table.responses_per_class, -counts))[:MAX_CLASSES]
    return tuple(
        ClassRow(
            name=names[k],
            items=int(counts[k]),
            share=float(counts[k] / max(table.n_items, 1)),
            response_share=float(table.responses_per_class[k] / table.n_responses),
            uncertain=int(doubtful[:, k].sum()),
            alpha=_alpha(fusion, k),
        )
        for k in order.tolist()
    )


def _alpha(fusion: SetFusion, k: int) -> float | None:
    try:
        return krippendorff_alpha(fusion.responses.question(k), resamples=1).value
    except BadLabels:
        return None


def _annotator_rows(fusion: SetFusion) -> tuple[SetAnnotatorRow, ...]:
    rated, names = fusion.annotators, distinct_names(fusion.responses.annotators)
    active = np.flatnonzero(rated.n_responses)
    busiest = active[np.argsort(-rated.n_responses[active], kind="stable")].tolist()
    chosen = sorted(busiest, key=lambda m: not rated.flags[m])[:MAX_ANNOTATORS]
    f1 = rated.f1
    chosen.sort(key=lambda m: float(np.nan_to_num(f1[m])))
    return tuple(
        SetAnnotatorRow(
            name=names[m],
            responses=int(rated.n_responses[m]),
            mean_size=float(rated.mean_size[m]),
            recall=float(np.nan_to_num(rated.recall[m])),
            recall_low=float(rated.recall_low[m]),
            recall_high=float(rated.recall_high[m]),
            precision=None if np.isnan(rated.precision[m]) else float(rated.precision[m]),
            f1=None if np.isnan(f1[m]) else float(f1[m]),
            remark=FLAGS.get(rated.flags[m], ""),
        )
        for m in chosen
    )


def _item_rows(fusion: SetFusion) -> tuple[SetItemRow, ...]:
    table, sets = fusion.responses, fusion.sets
    names, classes = distinct_names(table.items), distinct_names(table.classes)
    order = np.argsort(fusion.confidence, kind="stable")[:MAX_ITEMS]
    shares, counts = table.shares(), table.responses_per_item
    rows = []
    for n in order.tolist():
        k = int(np.argmin(np.abs(fusion.posteriors[n] - 0.5)))
        votes = np.rint(shares[n] * counts[n]).astype(int)
        named = [f"{classes[j]} {votes[j]}" for j in np.argsort(-votes, kind="stable") if votes[j]]
        rows.append(
            SetItemRow(
                name=names[n],
                labels=" | ".join(map(visible, sets[n])) or "–",
                confidence=float(fusion.confidence[n]),
                doubtful=classes[k],
                posterior=float(fusion.posteriors[n, k]),
                votes=f"{', '.join(named) or 'none'} of {counts[n]}",
            )
        )
    return tuple(rows)


def _plot_classes(classes: Sequence[ClassRow]) -> Plot:
    rows = [
        {"class": row.name, "items": row.share, "responses": row.response_share} for row in classes
    ]
    base = alt.Chart(ROWS).encode(
        y=alt.Y("class:N", sort=None, title=None),
        tooltip=[
            alt.Tooltip("class:N", title="class"),
            alt.Tooltip("items:Q", title="share of items", format=".1%"),
            alt.Tooltip("responses:Q", title="share of responses", format=".1%"),
        ],
    )
    bars = base.mark_bar(color=BLUE, opacity=0.75).encode(
        x=alt.X("items:Q", title="share of items", axis=alt.Axis(format=".0%"))
    )
    ticks = base.mark_tick(color=ORANGE, thickness=3).encode(x="responses:Q")
    return Plot(alt.layer(bars, ticks), 22 * len(rows), rows)


def _plot_annotators(annotators: Sequence[SetAnnotatorRow]) -> Plot:
    rows = [
        {
            "annotator": row.name,
            "recall": row.recall,
            "precision": row.precision,
            "responses": row.responses,
            "flagged": bool(row.remark),
        }
        for row in sorted(annotators, key=lambda row: -row.responses)[:MAX_DRAWN]
        if row.precision is not None
    ]
    points = (
        alt.Chart(ROWS)
        .mark_point(filled=True, size=60, opacity=0.8)
        .encode(
            x=alt.X("recall:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%")),
            y=alt.Y("precision:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%")),
            color=alt.condition("datum.flagged", alt.value(ORANGE), alt.value(BLUE)),
            tooltip=[
                alt.Tooltip("annotator:N", title="annotator"),
                alt.Tooltip("recall:Q", title="recall", format=".0%"),
                alt.Tooltip("precision:Q", title="precision", format=".0%"),
                alt.Tooltip("responses:Q", title="responses"),
            ],
        )
    )
    return Plot(points, 300, rows)
