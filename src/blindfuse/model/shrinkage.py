"""Shrinkage of confusion matrices: towards the annotator's own traits, or by pseudo-counts.

An annotator with three responses has mostly zeros in the estimated confusion matrix, and a zero
excludes a class. Shrinkage mixes the counts of every annotator with a prior: a hierarchical one
that is learned from how annotators differ (:mod:`blindfuse.model.annotator_prior`), or a fixed
number of pseudo-counts, distributed like the responses of the whole crowd.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from blindfuse.model.annotator_prior import (
    AnnotatorPrior,
    DiagonalCounts,
    known_share,
    learn_annotator_prior,
)
from blindfuse.model.posteriors import safe_log
from blindfuse.model.strengths import column_sums, learn_symbol_strength, symbol_centres
from blindfuse.responses.anchor import IDENTITY, Anchor
from blindfuse.typing import Floats

ShrinkageOption = Literal["learned"] | float | None
"""How to shrink: ``"learned"``, pseudo-counts per class, or None for not at all."""

DEFAULT_PSEUDO_COUNT = 3.0
"""Pseudo-counts per class, distributed like the responses of all annotators, if not learned."""

VOTE_PSEUDO_COUNT = 1.0
"""The same for confusion matrices against the majority vote: enough to fill empty columns."""


class Shrinkage(Protocol):
    """A prior for the confusion matrices of certain annotators."""

    def shrink(self, counts: Floats) -> Floats:
        """Confusion matrices from ``counts[annotator, reported, true]`` and the prior."""
        ...

    def log_density(self, confusions: Floats) -> float:
        """The log density of the last result under the prior, up to a constant."""
        ...


@dataclass(frozen=True, eq=False)
class PseudoCounts:
    """Pseudo-counts that are added to the counts; their axes are those of the counts, or fewer."""

    pseudo_counts: Floats

    def shrink(self, counts: Floats) -> Floats:
        return normalize_columns(counts + self.pseudo_counts)

    def log_density(self, confusions: Floats) -> float:
        # Not by BLAS, whose threads would busy-wait between iterations.
        return float((self.pseudo_counts * safe_log(confusions)).sum())


@dataclass(eq=False)
class LearnedShrinkage:
    """The learned hierarchical prior, and the present ``skills[annotator]``."""

    prior: AnnotatorPrior
    skills: Floats

    def shrink(self, counts: Floats) -> Floats:
        """Update the skills by one Newton step, then return the posterior means."""
        self.skills = self.prior.step(DiagonalCounts.from_counts(counts), self.skills)
        return self.prior.confusions(counts, self.skills)

    def log_density(self, confusions: Floats) -> float:
        return self.prior.log_density(confusions, self.skills)


def make_shrinkage(
    option: ShrinkageOption,
    counts: Floats,
    anchor: Anchor = IDENTITY,
    entropy_per_item: float = 0.0,
) -> Shrinkage:
    """Return the prior that ``option`` asks for, learned from or distributed like the counts.

    ``entropy_per_item`` is that of the posteriors from which the counts were made.
    Where symbols are not classes, there is no skill to learn: columns are shrunk towards the
    crowd's (:func:`~blindfuse.model.strengths.symbol_centres`) with a learned strength.
    """
    if anchor.kind == "identity":
        if isinstance(option, str):
            known = known_share(counts, entropy_per_item)
            return LearnedShrinkage(*learn_annotator_prior(counts, known))
        return PseudoCounts(pooled_pseudo_counts(counts, 0.0 if option is None else float(option)))
    centres = symbol_centres(counts, anchor)
    strength = 0.0 if option is None else option
    if isinstance(strength, str):
        strength = learn_symbol_strength(counts, centres)
    return PseudoCounts(float(strength) * centres)


def normalize_columns(counts: Floats) -> Floats:
    """Return confusion matrices from ``counts[m, reported, true]``; an empty column is uniform."""
    sums = column_sums(counts)[:, None]
    if sums.all():
        return np.asarray(counts / sums)
    uniform = np.full_like(counts, 1 / counts.shape[1])
    return np.asarray(np.divide(counts, sums, out=uniform, where=sums > 0))


def pooled_pseudo_counts(counts: Floats, strength: float) -> Floats:
    """Return ``strength`` pseudo-counts per class, distributed like all annotators' responses."""
    pooled = counts.sum(axis=0) + _weak_counts(counts.shape[1])
    pseudo_counts: Floats = strength * pooled / pooled.sum(axis=0)
    return pseudo_counts


def vote_confusions(counts: Floats, anchor: Anchor = IDENTITY) -> Floats:
    """Return confusion matrices that take the majority vote for the truth.

    ``counts[m, reported, true]`` are those of :func:`~blindfuse.model.posteriors.count_votes`.
    """
    if anchor.kind != "identity":
        return normalize_columns(counts + VOTE_PSEUDO_COUNT * symbol_centres(counts, anchor))
    return normalize_columns(counts + pooled_pseudo_counts(counts, VOTE_PSEUDO_COUNT))


def _weak_counts(n_classes: int) -> Floats:
    """One count per class, half of it correct and half spread evenly, for an empty table."""
    return 0.5 * np.eye(n_classes) + 0.5 / n_classes
