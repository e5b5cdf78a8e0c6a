"""Everything that the page shows, as dataclasses. The page is a function of :class:`Contents`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from blindfuse.auditing.audit import AuditResult
from blindfuse.diagnostics.diagnose import Diagnostics
from blindfuse.fusion.compare import Comparison
from blindfuse.fusion.fuse import Fusion
from blindfuse.fusion.gold_check import GoldCheck
from blindfuse.model.posteriors import most_likely
from blindfuse.report.annotators import (
    AnnotatorTable,
    annotator_table,
    most_common_classes,
)
from blindfuse.report.audit import AuditSection, audit_section
from blindfuse.report.dependence import DependenceMap, dependence_map
from blindfuse.report.items import ItemTable, item_table
from blindfuse.report.names import distinct_names, visible
from blindfuse.result import Paragraph
from blindfuse.typing import Floats

MAX_PARAGRAPH_LENGTH = 2_000
"""Characters of a paragraph that may list names."""
MAX_NOTES, MAX_NOTE_LENGTH = 30, 400
"""Notes, and characters of each."""
MAX_CLASSES = 40
"""Classes of the chart of class proportions; of more, the most common ones."""
MAX_HISTORY = 400
"""Points of the chart of convergence."""


@dataclass(frozen=True)
class KeyFigure:
    """One of the numbers at the top, as text."""

    value: str
    description: str


@dataclass(frozen=True)
class ClassSummary:
    """A class: its share of the items with an interval, the items with this label, its votes.

    ``low`` and ``high`` are None if the responses do not tell; ``votes`` is a share.
    """

    name: str
    share: float
    low: float | None
    high: float | None
    n_labels: int
    votes: float


@dataclass(frozen=True)
class Contents:
    """Everything that the page shows.

    Attributes
    ----------
    size, method, why
        what was fused, by which method and why, as text.
    paragraphs
        the diagnostics, in the order of :meth:`Diagnostics.paragraphs`.
    warnings
        the paragraphs that are a reason to distrust the labels.
    notes
        what the reader of the file detected and skipped.
    classes
        the names that class codes stand for.
    class_summaries
        the most common classes.
    history, n_iterations
        pairs of iteration and log-likelihood, and the number of all iterations.
    comparisons, gold_check
        what ``compare`` and ``check_on_gold`` returned; empty and None without them.
    audit
        what ``audit`` returned; None without one.
    """

    title: str
    size: str
    method: str
    why: str
    key_figures: tuple[KeyFigure, ...]
    paragraphs: tuple[Paragraph, ...]
    warnings: tuple[Paragraph, ...]
    notes: tuple[str, ...]
    classes: tuple[str, ...]
    class_summaries: tuple[ClassSummary, ...]
    annotators: AnnotatorTable
    dependence: DependenceMap
    items: ItemTable
    history: tuple[tuple[int, float], ...]
    n_iterations: int
    comparisons: tuple[Comparison, ...]
    gold_check: GoldCheck | None
    audit: AuditSection | None = None


def gather_contents(
    fusion: Fusion,
    *,
    title: str,
    notes: Sequence[str] = (),
    compared: Sequence[Comparison] = (),
    gold: GoldCheck | None = None,
    audit: AuditResult | None = None,
) -> Contents:
    """Return what the page shows about this fusion."""
    audited = None if audit is None else audit_section(audit)
    responses, diagnostics = fusion.responses, fusion.diagnostics
    names = distinct_names(responses.annotators)
    classes = distinct_names(responses.classes)
    model = fusion.model.for_annotators(responses.annotators, responses.classes, responses.symbols)
    paragraphs = tuple(map(_shortened, diagnostics.paragraphs()))
    return Contents(
        title=visible(title),
        size=(
            f"{responses.n_items:,} items, {responses.n_annotators:,} annotators, "
            f"{responses.n_classes:,} classes, {responses.n_responses:,} responses"
        ),
        method=fusion.method,
        why=visible(fusion.why, MAX_PARAGRAPH_LENGTH),
        key_figures=(*_audit_figures(audited), *_key_figures(fusion, gold)),
        paragraphs=paragraphs,
        warnings=(
            *_audit_warnings(audited),
            *_gold_warnings(gold),
            *(paragraph for paragraph in paragraphs if paragraph.warning),
        ),
        notes=tuple(
            visible(note, MAX_NOTE_LENGTH) for note in [*notes, *responses.notes][:MAX_NOTES]
        ),
        classes=tuple(classes),
        class_summaries=_class_summaries(fusion, classes),
        annotators=annotator_table(diagnostics, model, names),
        dependence=dependence_map(diagnostics.dependence),
        items=item_table(fusion, names),
        history=_thinned(fusion.history),
        n_iterations=len(fusion.history),
        comparisons=tuple(compared),
        gold_check=gold,
        audit=audited,
    )


def _shortened(paragraph: Paragraph) -> Paragraph:
    return replace(paragraph, text=visible(paragraph.text, MAX_PARAGRAPH_LENGTH))


def _key_figures(fusion: Fusion, gold: GoldCheck | None) -> tuple[KeyFigure, ...]:
    diagnostics, n = fusion.diagnostics, fusion.responses.n_items
    items, dependence = diagnostics.items, diagnostics.dependence
    needing, outvoted = items.needs_another_label.sum(), items.outvoted.sum()
    return (
        *_gold_figures(gold),
        *_expected_error_figures(diagnostics),
        *_agreement_figures(diagnostics),
        KeyFigure(
            f"{needing:,}",
            f"labels could change with one more response ({100 * needing / n:.0f} %)",
        ),
        KeyFigure(
            f"{outvoted:,}",
            f"labels against the majority vote ({100 * outvoted / n:.1f} %); ties do not count",
        ),
        KeyFigure(
            f"{dependence.effective_votes:.1f}",
            f"independent votes from {dependence.n_annotators:,} annotators on one item",
        ),
    )


def _expected_error_figures(diagnostics: Diagnostics) -> tuple[KeyFigure, ...]:
    """The figure as the paragraph about it states it, if it is stated."""
    expected = diagnostics.expected_error
    if expected is None or diagnostics.all_gold:
        return ()
    value, _, interval = expected.interval().replace(" %", "\u00a0%").partition(" (")
    return (KeyFigure(value, f"expected error ({interval}"),)


def _agreement_figures(diagnostics: Diagnostics) -> tuple[KeyFigure, ...]:
    if diagnostics.information is None:
        return ()
    alpha = diagnostics.information.alpha
    interval = f"{alpha.low:.2f} to {alpha.high:.2f}"
    return (KeyFigure(f"{alpha.value:.2f}", f"agreement, Krippendorff’s α ({interval})"),)


def _audit_figures(audit: AuditSection | None) -> tuple[KeyFigure, ...]:
    """The error measured on checked items, which comes first."""
    if audit is None:
        return ()
    measured = f"{100 * audit.error.value:.1f}\u00a0%"
    return (KeyFigure(measured, f"error measured on {audit.n_checked:,} checked items"),)


def _audit_warnings(audit: AuditSection | None) -> tuple[Paragraph, ...]:
    """The warnings of an audit, under one heading."""
    warnings = () if audit is None else audit.paragraphs
    return tuple(
        replace(one, heading=f"Audit, {one.heading.lower()}") for one in warnings if one.warning
    )


def _gold_figures(gold: GoldCheck | None) -> tuple[KeyFigure, ...]:
    """The measured error, which comes before the expected one."""
    if gold is None:
        return ()
    measured = f"{100 * gold.error.value:.1f}\u00a0%"
    return (KeyFigure(measured, f"error measured on {gold.items:,} gold labels"),)


def _gold_warnings(gold: GoldCheck | None) -> tuple[Paragraph, ...]:
    """The warning that the measured error is above what was expected."""
    if gold is None or gold.expected_error >= gold.error.low:
        return ()
    text = (
        f"{100 * gold.error.value:.1f} % of the labels are wrong on gold labels "
        f"({100 * gold.error.low:.1f} to {100 * gold.error.high:.1f} %), and "
        f"{100 * gold.expected_error:.1f} % were expected to be. Trust the measured error."
    )
    return (Paragraph("Gold labels", text, warning=True),)


def _class_summaries(fusion: Fusion, classes: list[str]) -> tuple[ClassSummary, ...]:
    found = fusion.diagnostics.class_shares
    n_labels = np.bincount(most_likely(fusion.posteriors), minlength=len(classes))
    return tuple(
        ClassSummary(
            name=classes[k],
            share=_rounded(found.share[k]),
            low=None if np.isnan(found.low[k]) else _rounded(found.low[k]),
            high=None if np.isnan(found.high[k]) else _rounded(found.high[k]),
            n_labels=int(n_labels[k]),
            votes=_rounded(found.votes[k]),
        )
        for k in most_common_classes(found.share, MAX_CLASSES)
    )


def _rounded(share: np.floating[Any]) -> float:
    return round(float(share), 4)


def _thinned(history: Floats) -> tuple[tuple[int, float], ...]:
    """Evenly spaced iterations with their log-likelihoods, the first and the last included."""
    steps = np.linspace(0, len(history) - 1, min(MAX_HISTORY, len(history))).astype(int)
    return tuple((int(step) + 1, float(history[step])) for step in np.unique(steps))
