"""All that the page says, as plain dataclasses: the page is a function of them and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.fit import SEVERE_MISFIT, Fit
from blindfuse.errors import BadLabels
from blindfuse.fusion.compare import Comparison
from blindfuse.fusion.fuse import Fusion
from blindfuse.fusion.gold_check import GoldCheck
from blindfuse.fusion.merged_groups import MERGED_GROUPS
from blindfuse.metrics import Agreement, fleiss_kappa, krippendorff_alpha
from blindfuse.model.posteriors import most_likely
from blindfuse.report.annotators import AnnotatorTable, annotator_table, common_classes
from blindfuse.report.dependence import Together, who_errs_together
from blindfuse.report.items import ItemTable, item_table
from blindfuse.report.names import distinct, shown

Floats = NDArray[np.float64]

SENTENCE = 2_000
"""Characters of a sentence that names people or files."""
MOST_NOTES, NOTE = 30, 400
"""Notes, and characters of each."""
LISTED_CLASSES = 40
"""Classes of the picture of class shares; of more, the most common ones."""
DRAWS = 20_000_000
"""Items times resamples that an interval of agreement may cost."""
HISTORY = 400
"""Points of the picture of convergence."""


@dataclass(frozen=True)
class Figure:
    """One of the numbers at the top: as text, and what it counts."""

    value: str
    what: str


@dataclass(frozen=True)
class Said:
    """A sentence or two under a heading of their own."""

    heading: str
    text: str


@dataclass(frozen=True)
class ClassShare:
    """A class: its ``share`` by the model, of ``labels`` given to items, and of ``answers``."""

    name: str
    share: float
    labels: int
    answers: float


@dataclass(frozen=True)
class Agreements:
    """How far annotators agree with each other, beyond chance."""

    krippendorff: Agreement
    fleiss: Agreement


@dataclass(frozen=True)
class Contents:
    """Everything that the page says.

    ``warnings`` speak against trusting the labels; ``said`` is what was measured, in words;
    ``notes`` what the reader of the file guessed and left out. ``classes`` are the names that codes
    stand for, ``shares`` the most common of them; ``agreement`` is None where no item has two
    answers, ``history`` has pairs of iteration and log-likelihood, and ``checked`` is None without
    gold labels.
    """

    title: str
    size: str
    method: str
    why: str
    figures: tuple[Figure, ...]
    warnings: tuple[str, ...]
    said: tuple[Said, ...]
    notes: tuple[str, ...]
    classes: tuple[str, ...]
    shares: tuple[ClassShare, ...]
    annotators: AnnotatorTable
    together: Together
    agreement: Agreements | None
    items: ItemTable
    history: tuple[tuple[int, float], ...]
    iterations: int
    compared: tuple[Comparison, ...]
    checked: GoldCheck | None


def gather(
    fusion: Fusion,
    *,
    title: str,
    notes: Sequence[str] = (),
    compared: Sequence[Comparison] = (),
    gold: GoldCheck | None = None,
) -> Contents:
    """What the page says of this fusion."""
    responses, found = fusion.responses, fusion.diagnostics
    names = distinct(responses.annotators)
    classes = distinct(responses.classes)
    model = fusion.model.for_annotators(responses.annotators, responses.classes)
    return Contents(
        title=shown(title),
        size=(
            f"{responses.n_items:,} items, {responses.n_annotators:,} annotators, "
            f"{responses.n_classes:,} classes, {responses.n_responses:,} labels"
        ),
        method=fusion.method,
        why=shown(fusion.why, SENTENCE),
        figures=_figures(fusion),
        warnings=_warnings(fusion),
        said=_said(fusion),
        notes=tuple(shown(note, NOTE) for note in [*notes, *responses.notes][:MOST_NOTES]),
        classes=tuple(classes),
        shares=_shares(fusion, model.prior, classes),
        annotators=annotator_table(found, model, names),
        together=who_errs_together(found.dependence),
        agreement=_agreement(fusion),
        items=item_table(fusion, names),
        history=_thinned(fusion.history),
        iterations=len(fusion.history),
        compared=tuple(compared),
        checked=gold,
    )


def _figures(fusion: Fusion) -> tuple[Figure, ...]:
    found, n = fusion.diagnostics, fusion.responses.n_items
    needs, outvoted = found.items.needs.sum(), found.items.outvoted.sum()
    return (
        Figure(f"{100 * found.expected.error:.1f}\u00a0%", "of labels expected to be wrong"),
        Figure(f"{needs:,}", f"items need another label ({100 * needs / n:.0f} %)"),
        Figure(f"{outvoted:,}", f"labels against the majority vote ({100 * outvoted / n:.1f} %)"),
        Figure(
            f"{found.dependence.votes:.1f}",
            f"independent votes in those of {found.dependence.n_annotators:,} annotators",
        ),
        Figure(f"{found.fit.misfit:.2g}\u00a0×", f"misfit over noise: {_fits(found.fit)}"),
    )


def _fits(fit: Fit) -> str:
    return "fits" if fit.holds else "fits roughly" if fit.misfit < SEVERE_MISFIT else "does not fit"


def _warnings(fusion: Fusion) -> tuple[str, ...]:
    """What speaks against trusting the labels; the same thresholds as the diagnostics have."""
    found = fusion.diagnostics
    against = (
        (not found.fit.holds, found.fit.summary()),
        (
            found.dependence.groups and fusion.method != MERGED_GROUPS,
            f"Some err together more than others do, and their votes count in full: "
            f"{found.dependence.named_groups()}.",
        ),
        (
            not found.identifiability.holds or len(found.identifiability.rare),
            found.identifiability.summary(),
        ),
        (
            fusion.method == "MajorityVote",
            "No model was trusted beyond the majority vote; certainties tell how answers divide.",
        ),
        (
            np.any(found.annotators.adversary),
            f"{np.count_nonzero(found.annotators.adversary):,} annotators are worse than chance. "
            "If most annotators were, no method could know.",
        ),
    )
    return tuple(shown(words, SENTENCE) for holds, words in against if holds)


def _said(fusion: Fusion) -> tuple[Said, ...]:
    found = fusion.diagnostics
    parts = (
        ("Expected error", found.expected),
        ("Items", found.items),
        ("Annotators", found.annotators),
        ("Dependence", found.dependence),
        ("Fit", found.fit),
        ("What can be known", found.identifiability),
    )
    return tuple(Said(heading, shown(part.summary(), SENTENCE)) for heading, part in parts)


def _shares(fusion: Fusion, prior: Floats, classes: list[str]) -> tuple[ClassShare, ...]:
    responses = fusion.responses
    labels = np.bincount(most_likely(fusion.posteriors), minlength=len(classes))
    answers = responses.responses_per_class / max(responses.n_responses, 1)
    return tuple(
        ClassShare(
            classes[k], round(float(prior[k]), 4), int(labels[k]), round(float(answers[k]), 4)
        )
        for k in common_classes(prior, LISTED_CLASSES)
    )


def _agreement(fusion: Fusion) -> Agreements | None:
    """With fewer resamples for many items: intervals of many items are narrow and smooth."""
    responses = fusion.responses
    resamples = int(np.clip(DRAWS // max(responses.n_items, 1), 100, 1000))
    try:
        return Agreements(
            krippendorff_alpha(responses, resamples=resamples),
            fleiss_kappa(responses, resamples=resamples),
        )
    except BadLabels:
        return None


def _thinned(
    history: Floats,
) -> tuple[tuple[int, float], ...]:
    steps = np.unique(np.linspace(0, len(history) - 1, min(HISTORY, len(history))).astype(int))
    return tuple((int(step) + 1, float(history[step])) for step in steps)
