"""Sections about methods and checks of fused labels: comparison, gold labels and audit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from blindfuse.auditing.audit import AuditResult
from blindfuse.auditing.candidates import FUSION
from blindfuse.fusion.compare import Comparison
from blindfuse.fusion.gold_check import GoldCheck
from blindfuse.metrics import Interval
from blindfuse.report.blocks import (
    Block,
    Paragraphs,
    Section,
    Table,
    Text,
    percent,
    percent_range,
    visible_paragraphs,
)
from blindfuse.report.charts import PERCENT, bars, scatter
from blindfuse.report.names import distinct_names

MAX_ANNOTATORS, MAX_CLASSES = 50, 40
"""Annotators with most checked responses and largest classes that an audit lists."""


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
    has_errors = any(one.error is not None for one in compared)
    rows: list[dict[str, Any]] = [
        {
            "name": one.method,
            "value": one.error if has_errors else one.differs,
            "seconds": one.seconds,
            "flagged": one.method == "fuse",
        }
        for one in compared
        if one.failed is None
    ]
    rows.sort(key=lambda row: float(row["value"]))
    title = "error" if has_errors else "labels that differ from fuse"
    tips = [("name", "method", ""), ("value", title, ".2%"), ("seconds", "seconds", ".2f")]
    caption = (
        "Every method on the same responses. Methods break ties between classes in different "
        "ways, so the majority vote may differ from labels that follow it."
    )
    if has_errors:
        caption += " The error is measured on the gold labels."
    table = Table(
        caption,
        ("Method", "Error#", "Differs from fuse#", "Seconds#"),
        [
            (
                f"{one.method}: {one.failed}" if one.failed else one.method,
                percent(one.error, 2),
                percent(one.differs, 2),
                "–" if one.seconds is None else f"{one.seconds:.2f}",
            )
            for one in compared
        ],
    )
    text = "Comparison of methods; the table below has the numbers."
    chart = bars("methods", rows, tips, text, title)
    return Section("methods", "Methods", "Comparison of methods", (chart, table))


def _gold_section(gold: GoldCheck) -> Section:
    error, vote = gold.error, gold.vote_error
    rows = [
        {
            "x": one.confidence,
            "y": one.accuracy.value,
            "low": one.accuracy.low,
            "high": one.accuracy.high,
            "items": one.items,
        }
        for one in gold.bins
    ]
    tips = [
        ("items", "items", ","),
        ("x", "confidence", PERCENT),
        ("y", "accuracy", PERCENT),
        ("low", "95 % interval from", PERCENT),
        ("high", "to", PERCENT),
    ]
    blocks = (
        Text(
            f"{percent(error.value)} of the labels are wrong on {gold.items:,} gold items, fused "
            f"without the gold labels (95 % interval {percent_range(error.low, error.high)}). The "
            f"expected error was {percent(gold.expected_error)}. The majority vote is wrong on "
            f"{percent(vote.value)} ({percent_range(vote.low, vote.high)})."
        ),
        Text(
            f"The calibration error is {percent(gold.calibration_error)}: the mean difference "
            "between confidence and accuracy. Points below the dashed line are overconfident."
        ),
        scatter(
            "calibration",
            rows,
            tips,
            "Accuracy of labels against their confidence; the table below has the numbers.",
            ("confidence", "accuracy"),
            diagonal=True,
        ),
        Table(
            "Calibration",
            ("Items#", "Confidence#", "Accuracy#", "95 % interval#"),
            [
                (
                    *(f"{one.items:,}", percent(one.confidence), percent(one.accuracy.value)),
                    percent_range(one.accuracy.low, one.accuracy.high),
                )
                for one in gold.bins
            ],
            folded=True,
        ),
    )
    return Section("gold", "Gold labels", "Check against gold labels", blocks)


def _audit_section(audit: AuditResult) -> Section:
    annotators = audit.annotators
    names = distinct_names(annotators.names)
    most = np.argsort(-annotators.n_checked, kind="stable")[:MAX_ANNOTATORS].tolist()
    classes = distinct_names(audit.fusion.responses.classes)
    shares = dict(zip(classes, audit.class_shares.values(), strict=True))
    largest = sorted(shares, key=lambda name: -shares[name].value)[:MAX_CLASSES]
    errors = {name: one for name, one in audit.errors.items() if name != FUSION}
    blocks: list[Block] = [
        Paragraphs(visible_paragraphs(audit.paragraphs())),
        _estimates(
            "Share of wrong labels among all items.",
            "Labels of",
            _by_value({**errors, "fused labels": audit.error}),
        ),
        Table(
            "Error of other methods minus that of the fused labels, in points; negative is better. "
            "Where the interval includes zero, the checks do not decide.",
            ("Method", "Estimate#", "95 % interval#"),
            [
                (
                    *(name, f"{100 * one.value:+.1f}"),
                    f"{100 * one.low:+.1f} to {100 * one.high:+.1f}",
                )
                for name, one in _by_value(audit.differences).items()
            ],
        ),
        _estimates(
            "Class proportions among all items, corrected by the checks.",
            "Class",
            {name: shares[name] for name in largest},
        ),
    ]
    checked = [m for m in most if annotators.n_checked[m]]
    if checked:
        caption = "Accuracy of the annotators with most checked responses, corrected by the checks."
        estimates = [annotators.interval(m) for m in checked]
        rows = [
            (
                *(names[m], f"{annotators.n_checked[m]:,}", percent(one.value)),
                percent_range(one.low, one.high),
            )
            for m, one in zip(checked, estimates, strict=True)
        ]
        blocks.append(
            Table(caption, ("Annotator", "Checked#", "Estimate#", "95 % interval#"), rows)
        )
    return Section("audit", "Audit", "Audit", tuple(blocks))


def _by_value(estimates: Mapping[Any, Interval]) -> dict[str, Interval]:
    return {str(name): one for name, one in sorted(estimates.items(), key=lambda x: x[1].value)}


def _estimates(caption: str, heading: str, estimates: Mapping[str, Interval]) -> Table:
    rows = [
        (name, percent(one.value), percent_range(one.low, one.high))
        for name, one in estimates.items()
    ]
    return Table(caption, (heading, "Estimate#", "95 % interval#"), rows)
