"""What was measured about fused labels: other methods, gold labels and audits."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from blindfuse.auditing.audit import AuditResult
from blindfuse.auditing.candidates import FUSION
from blindfuse.fusion.compare import Comparison, GoldCheck
from blindfuse.metrics import Interval
from blindfuse.report.blocks import (
    Field,
    Paragraphs,
    Row,
    Section,
    Table,
    Text,
    distinct_names,
    percent,
    percent_range,
    visible_paragraphs,
)
from blindfuse.report.charts import bars, points
from blindfuse.result import Paragraph

MAX_CHECKED = 50
"""Annotators with most checked responses, and largest classes, that an audit lists."""

INTERVAL = Field("interval", "95 % interval", "#")
ESTIMATE = Field("value", "estimate", ".1%"), INTERVAL


def check_figures(gold: GoldCheck | None, audit: AuditResult | None) -> Iterator[tuple[str, str]]:
    """Yield measured errors with their descriptions, for the top of the page."""
    if audit is not None:
        yield percent(audit.error.value), f"error measured on {audit.n_checked:,} checked items"
    if gold is not None:
        yield percent(gold.error.value), f"error measured on {gold.items:,} gold labels"


def check_warnings(gold: GoldCheck | None, audit: AuditResult | None) -> Iterator[Paragraph]:
    """Yield the warnings of an audit, and that the error on gold labels is above the expected."""
    for each in () if audit is None else audit.paragraphs():
        if each.warning:
            yield Paragraph(f"Audit, {each.heading.lower()}", each.text, warning=True)
    if gold is not None and gold.expected_error < gold.error.low:
        yield Paragraph("Gold labels", gold.summary(), warning=True)


def check_sections(
    compared: Sequence[Comparison], gold: GoldCheck | None, audit: AuditResult | None
) -> Iterator[Section]:
    """Yield a section for each of these that there is."""
    if compared:
        yield _method_section(compared)
    if gold is not None:
        yield _gold_section(gold)
    if audit is not None:
        yield _audit_section(audit)


def _method_section(compared: Sequence[Comparison]) -> Section:
    """Errors if there are gold labels, else the share of labels that differ from ``fuse``."""
    rows: list[Row] = [
        {
            "name": each.method if each.failed is None else f"{each.method}: {each.failed}",
            "error": each.error,
            "differs": each.differs,
            "seconds": each.seconds,
            "flagged": each.method == "fuse",
        }
        for each in compared
    ]
    fields = (
        Field("name", "method"),
        Field("error", "error", ".2%"),
        Field("differs", "differs from fuse", ".2%"),
        Field("seconds", "seconds", ".2f"),
    )
    drawn = fields[1 if any(each.error is not None for each in compared) else 2]
    shown = [{**row, "value": row[drawn.name]} for row in rows if row[drawn.name] is not None]
    shown.sort(key=lambda row: float(row["value"]))
    caption = (
        "Every method on the same responses. Methods break ties between classes in different "
        "ways, so the majority vote may differ from labels that follow it. Errors are measured on "
        "the gold labels, if there are any."
    )
    text = "Comparison of methods; the table below has the numbers."
    chart = bars("methods", Table(text, fields, shown), drawn.title)
    blocks = chart, Table(caption, fields, rows)
    return Section("methods", "Methods", "Comparison of methods", blocks)


def _gold_section(gold: GoldCheck) -> Section:
    rows = [
        {"items": each.items, "x": each.confidence, **_interval_row(each.accuracy)}
        for each in gold.bins
    ]
    fields = (
        *(Field("items", "items", ","), Field("x", "confidence", ".1%")),
        *(Field("value", "accuracy", ".1%"), INTERVAL),
    )
    text = "Accuracy of labels against their confidence; the table below has the numbers."
    axes: dict[str, Any] = {"title": "accuracy", "x": "confidence", "diagonal": True}
    blocks = (
        Text(f"{gold.summary()} Points below the dashed line are overconfident."),
        points("calibration", Table(text, fields, rows), **axes),
        Table("Calibration", fields, rows, folded=True),
    )
    return Section("gold", "Gold labels", "Check against gold labels", blocks)


def _audit_section(audit: AuditResult) -> Section:
    annotators = audit.annotators
    busiest = np.argsort(-annotators.n_checked, kind="stable")[:MAX_CHECKED].tolist()
    names = distinct_names(annotators.names)
    rows = _rows({names[m]: annotators.interval(m) for m in busiest if annotators.n_checked[m]})
    counts = dict(zip(names, annotators.n_checked.tolist(), strict=True))
    rows = [{**row, "checked": counts[row["name"]]} for row in rows]
    name, checked = Field("name", "annotator"), Field("checked", "checked", ",")
    caption = "Accuracy of the annotators with most checked responses, corrected by the checks."
    class_names = distinct_names(audit.fusion.responses.classes)
    shares = dict(zip(class_names, audit.class_shares.values(), strict=True))
    errors = {method: each for method, each in audit.errors.items() if method != FUSION}
    errors["fused labels"] = audit.error
    blocks = (
        Paragraphs(visible_paragraphs(audit.paragraphs())),
        Table(
            "Share of wrong labels among all items.",
            (Field("name", "labels of"), *ESTIMATE),
            _rows(errors),
        ),
        Table(
            "Error of other methods minus that of the fused labels; negative is better. Where the "
            "interval includes zero, the checks do not decide.",
            (Field("name", "method"), Field("value", "estimate", "+.1%"), INTERVAL),
            _rows(audit.differences),
        ),
        Table(
            "Class proportions among all items, corrected by the checks.",
            (Field("name", "class"), *ESTIMATE),
            _rows(shares)[: -MAX_CHECKED - 1 : -1],
        ),
        Table(caption, (name, checked, *ESTIMATE), rows),
    )
    return Section("audit", "Audit", "Audit", blocks)


def _rows(estimates: Mapping[Any, Interval]) -> list[Row]:
    """The estimates by name, the lowest first."""
    rows = [{"name": str(name), **_interval_row(each)} for name, each in estimates.items()]
    return sorted(rows, key=lambda row: float(row["value"]))


def _interval_row(estimate: Interval) -> Row:
    return {**estimate._asdict(), "interval": percent_range(estimate.low, estimate.high)}
