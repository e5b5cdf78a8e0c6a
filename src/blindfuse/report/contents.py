"""Everything that the page shows, as dataclasses. The page is a function of :class:`Contents`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.diagnose import Paragraph
from blindfuse.diagnostics.items import CONFIDENT
from blindfuse.errors import BadLabels
from blindfuse.fusion.audit import AuditResult
from blindfuse.fusion.compare import Comparison
from blindfuse.fusion.fuse import Fusion
from blindfuse.fusion.gold_check import GoldCheck
from blindfuse.metrics import Agreement, fleiss_kappa, krippendorff_alpha
from blindfuse.model.posteriors import most_likely, weighted_votes
from blindfuse.report.annotators import (
    AnnotatorTable,
    annotator_table,
    most_common_classes,
)
from blindfuse.report.audit import AuditSection, audit_section
from blindfuse.report.dependence import DependenceMap, dependence_map
from blindfuse.report.items import ItemTable, item_table
from blindfuse.report.names import distinct_names, visible
from blindfuse.report.panel import PanelSection, panel_section

Floats = NDArray[np.float64]

MAX_PARAGRAPH_LENGTH = 2_000
"""Characters of a paragraph that may list names."""
MAX_NOTES, MAX_NOTE_LENGTH = 30, 400
"""Notes, and characters of each."""
MAX_CLASSES = 40
"""Classes of the chart of class proportions; of more, the most common ones."""
MAX_RESAMPLED_ITEMS = 20_000_000
"""Items times bootstrap resamples for the intervals of the agreement coefficients."""
MAX_HISTORY = 400
"""Points of the chart of convergence."""


@dataclass(frozen=True)
class KeyFigure:
    """One of the numbers at the top, as text."""

    value: str
    description: str


@dataclass(frozen=True)
class ClassSummary:
    """A class: its estimated prior, how many items have this label, and its share of responses."""

    name: str
    prior: float
    n_labels: int
    response_share: float


@dataclass(frozen=True)
class AgreementCoefficients:
    """Agreement between annotators beyond chance."""

    krippendorff: Agreement
    fleiss: Agreement


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
    agreement
        None where no item has two responses.
    history, n_iterations
        pairs of iteration and log-likelihood, and the number of all iterations.
    comparisons, gold_check
        what ``compare`` and ``check_on_gold`` returned; empty and None without them.
    audit
        what ``audit`` returned; None without one.
    confident
        the confidence below which an item needs another label.
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
    panel: PanelSection
    dependence: DependenceMap
    agreement: AgreementCoefficients | None
    items: ItemTable
    history: tuple[tuple[int, float], ...]
    n_iterations: int
    comparisons: tuple[Comparison, ...]
    gold_check: GoldCheck | None
    audit: AuditSection | None = None
    confident: float = CONFIDENT


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
            *_method_warnings(fusion),
            *_audit_warnings(audited),
            *_gold_warnings(gold),
            *(paragraph for paragraph in paragraphs if paragraph.warning),
        ),
        notes=tuple(
            visible(note, MAX_NOTE_LENGTH) for note in [*notes, *responses.notes][:MAX_NOTES]
        ),
        classes=tuple(classes),
        class_summaries=_class_summaries(fusion, model.prior, classes),
        annotators=annotator_table(diagnostics, model, names),
        panel=panel_section(diagnostics, names),
        dependence=dependence_map(diagnostics.dependence),
        agreement=_agreement(fusion),
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
    dependence, fit = diagnostics.dependence, diagnostics.fit
    needing = diagnostics.items.needs_another_label.sum()
    outvoted = diagnostics.items.outvoted.sum()
    return (
        *_gold_figures(gold),
        _expected_error_figure(fusion),
        KeyFigure(f"{needing:,}", f"items need another label ({100 * needing / n:.0f} %)"),
        KeyFigure(
            f"{outvoted:,}",
            f"labels against the majority vote ({100 * outvoted / n:.1f} %); ties do not count",
        ),
        KeyFigure(
            f"{dependence.effective_votes:.1f}",
            f"independent votes from {dependence.n_annotators:,} annotators on one item",
        ),
        KeyFigure(
            f"{fit.misfit:.2g}\u00a0×",
            f"misfit relative to sampling noise: {fit.verdict}",
        ),
    )


def _expected_error_figure(fusion: Fusion) -> KeyFigure:
    """The figure as the paragraph about it states it."""
    value, _, interval = str(fusion.expected_error).replace(" %", "\u00a0%").partition(" (")
    return KeyFigure(value, f"expected error ({interval}")


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


def _method_warnings(fusion: Fusion) -> tuple[Paragraph, ...]:
    """The warning that the labels are only the majority vote."""
    if fusion.method != "MajorityVote":
        return ()
    text = "The labels are the majority vote: how accurate each annotator is was not used."
    return (Paragraph("Method", text, warning=True),)


def _class_summaries(fusion: Fusion, prior: Floats, classes: list[str]) -> tuple[ClassSummary, ...]:
    responses = fusion.responses
    n_labels = np.bincount(most_likely(fusion.posteriors), minlength=len(classes))
    votes = weighted_votes(responses).sum(axis=0)
    response_shares = votes / max(votes.sum(), 1)
    return tuple(
        ClassSummary(
            name=classes[k],
            prior=round(float(prior[k]), 4),
            n_labels=int(n_labels[k]),
            response_share=round(float(response_shares[k]), 4),
        )
        for k in most_common_classes(prior, MAX_CLASSES)
    )


def _agreement(fusion: Fusion) -> AgreementCoefficients | None:
    """Agreement with bootstrap intervals; fewer resamples for many items, to limit the time."""
    responses = fusion.responses
    if not responses.is_plain:
        return None
    resamples = int(np.clip(MAX_RESAMPLED_ITEMS // max(responses.n_items, 1), 100, 1000))
    try:
        return AgreementCoefficients(
            krippendorff_alpha(responses, resamples=resamples),
            fleiss_kappa(responses, resamples=resamples),
        )
    except BadLabels:
        return None


def _thinned(history: Floats) -> tuple[tuple[int, float], ...]:
    """Evenly spaced iterations with their log-likelihoods, the first and the last included."""
    steps = np.linspace(0, len(history) - 1, min(MAX_HISTORY, len(history))).astype(int)
    return tuple((int(step) + 1, float(history[step])) for step in np.unique(steps))
