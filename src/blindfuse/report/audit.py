"""The audit of a fusion, as the page shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindfuse.auditing.audit import AuditResult
from blindfuse.auditing.candidates import FUSION
from blindfuse.metrics.interval import Interval
from blindfuse.report.names import distinct_names, visible
from blindfuse.result import Paragraph

MAX_ANNOTATORS, MAX_CLASSES = 50, 40
"""Annotators with most checked responses and largest classes that are listed."""
MAX_TEXT_LENGTH = 2_000


@dataclass(frozen=True)
class EstimateRow:
    """An estimate with its interval; ``count`` is the number of checked responses, or None."""

    name: str
    estimate: Interval
    count: int | None = None


@dataclass(frozen=True)
class AuditSection:
    """Paragraphs and tables about checked labels; ``better`` is the better method, or None."""

    n_checked: int
    error: Interval
    better: str | None
    paragraphs: tuple[Paragraph, ...]
    errors: tuple[EstimateRow, ...]
    differences: tuple[EstimateRow, ...]
    classes: tuple[EstimateRow, ...]
    annotators: tuple[EstimateRow, ...]


def audit_section(result: AuditResult) -> AuditSection:
    """Return what the page shows of an audit."""
    found = result.annotators
    names = distinct_names(found.names)
    most = np.argsort(-found.n_checked, kind="stable")[:MAX_ANNOTATORS]
    classes = distinct_names(result.fusion.responses.classes)
    shares = zip(classes, result.class_shares.values(), strict=True)
    return AuditSection(
        n_checked=result.n_checked,
        error=result.error,
        better=result.better_method,
        paragraphs=tuple(
            Paragraph(one.heading, visible(one.text, MAX_TEXT_LENGTH), one.warning)
            for one in result.paragraphs()
        ),
        errors=_rows({**result.errors, "fused labels": result.error}, without=FUSION),
        differences=_rows(result.differences),
        classes=tuple(
            EstimateRow(name, one)
            for name, one in sorted(shares, key=lambda pair: -pair[1].value)[:MAX_CLASSES]
        ),
        annotators=tuple(
            EstimateRow(
                names[m],
                found.interval(m),
                int(found.n_checked[m]),
            )
            for m in most.tolist()
            if found.n_checked[m]
        ),
    )


def _rows(estimates: Mapping[Any, Interval], without: str = "") -> tuple[EstimateRow, ...]:
    """Rows sorted by value, the smallest first."""
    named = [EstimateRow(str(name), one) for name, one in estimates.items() if name != without]
    return tuple(sorted(named, key=lambda row: row.estimate.value))
