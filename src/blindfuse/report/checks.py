"""What was measured about fused labels: other methods, gold labels and audits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindfuse.auditing.audit import AuditResult
from blindfuse.auditing.candidates import FUSION
from blindfuse.errors import counted
from blindfuse.fusion.compare import Comparison, GoldCheck
from blindfuse.metrics import Interval
from blindfuse.report.blocks import (
    Block,
    Field,
    Row,
    Section,
    Table,
    Text,
    distinct_names,
    interval_fields,
    percent,
    visible,
)
from blindfuse.report.charts import bars, points
from blindfuse.report.tables import MAX_ITEMS
from blindfuse.result import Paragraph


@dataclass(frozen=True)
class Checks:
    """What ``compare``, ``check_on_gold`` and ``audit`` returned."""

    compared: Sequence[Comparison] = ()
    gold: GoldCheck | None = None
    audit: AuditResult | None = None

    def figures(self) -> Iterator[tuple[str, str]]:
        """Yield measured errors with their descriptions, for the top of the page."""
        if self.audit is not None:
            checked = f"error measured on {counted(self.audit.n_checked, 'checked item')}"
            yield percent(self.audit.error.value), checked
        if self.gold is not None:
            checked = f"error measured on {counted(self.gold.items, 'gold label')}"
            vote = f"that of the majority vote is {percent(self.gold.vote_error.value)}"
            yield percent(self.gold.error.value), f"{checked}; {vote}"

    def warnings(self) -> Iterator[Paragraph]:
        """Yield the warnings of the audit, and that more gold labels are wrong than expected."""
        for each in () if self.audit is None else self.audit.paragraphs():
            if each.warning:
                yield Paragraph(f"Audit, {each.heading.lower()}", each.text, warning=True)
        if self.gold is not None and self.gold.expected_error < self.gold.error.low:
            yield Paragraph("Gold labels", self.gold.summary(), warning=True)

    def sections(self) -> Iterator[Section]:
        """Yield a section for each of these that there is."""
        if self.compared:
            yield _method_section(self.compared)
        if self.gold is not None:
            yield _gold_section(self.gold)
        if self.audit is not None:
            yield Section("audit", "Audit", tuple(_audit_blocks(self.audit)))


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
    shown = [row for row in rows if row[drawn.name] is not None]
    shown.sort(key=lambda row: float(row[drawn.name]))
    caption = (
        "Every method on the same responses. An item on which a method ties does not differ. "
        "Errors are measured on the gold labels, if there are any."
    )
    text = "Comparison of methods; the table below has the numbers."
    chart = bars("methods", Table(text, fields, shown), drawn.name, drawn.title)
    blocks = chart, Text(caption), Table(caption, fields, rows, folded=True)
    return Section("methods", "Comparison of methods", blocks)


def _gold_section(gold: GoldCheck) -> Section:
    rows = [
        {"items": each.items, "confidence": each.confidence, **_estimate(each.accuracy, "accuracy")}
        for each in gold.bins
    ]
    items, confidence = Field("items", "items", ","), Field("confidence", "confidence", ".1%")
    fields = items, confidence, *interval_fields("accuracy", "accuracy", ".1%")
    text = "Accuracy of labels against their confidence; the table below has the numbers."
    blocks = (
        Text(f"{gold.summary()} Points below the dashed line are overconfident."),
        points("calibration", Table(text, fields, rows), "accuracy", "accuracy", x="confidence"),
        Table("Calibration", fields, rows, folded=True),
    )
    return Section("gold-labels", "Check against gold labels", blocks)


def _audit_blocks(audit: AuditResult) -> Iterator[Block]:
    for each in audit.paragraphs():
        yield Text(visible(f"{each.heading}: {each.text}", 2000))
    errors = {method: each for method, each in audit.errors.items() if method != FUSION}
    errors["fused labels"] = audit.error
    yield _estimates("Share of wrong labels among all items.", "labels of", errors)
    caption = (
        "Error of other methods minus that of the fused labels; negative is better. Where the "
        "interval includes zero, the checks do not decide."
    )
    yield _estimates(caption, "method", audit.differences, "+.1%")
    classes = distinct_names(audit.fusion.responses.classes)
    shares = dict(zip(classes, audit.class_shares.values(), strict=True))
    yield _estimates("Class proportions among all items, corrected by the checks.", "class", shares)
    rated = audit.annotators
    names, counts = distinct_names(rated.names), rated.n_checked
    busiest = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    accuracies = {names[m]: rated.interval(m) for m in busiest[:MAX_ITEMS].tolist()}
    caption = "Accuracy of the annotators with most checked responses, corrected by the checks."
    yield _estimates(caption, "annotator", accuracies)


def _estimates(
    caption: str, name: str, estimates: Mapping[Any, Interval], format: str = ".1%"
) -> Table:
    """Estimates by name, the lowest first."""
    rows = [{"name": str(key), **_estimate(each, "value")} for key, each in estimates.items()]
    rows.sort(key=lambda row: float(row["value"]))
    fields = Field("name", name), *interval_fields("value", "estimate", format)
    return Table(caption, fields, rows[:MAX_ITEMS])


def _estimate(estimate: Interval, name: str) -> Row:
    low, high = f"{name}_low", f"{name}_high"
    return {name: estimate.value, low: estimate.low, high: estimate.high}
