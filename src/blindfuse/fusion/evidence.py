"""What the responses say before a label is chosen: votes, models, agreement and dependence.

Everything is computed once, when it is first used. The rule, the expected error, the diagnostics
and the report read it from here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from blindfuse.diagnostics.dependence import Dependence, find_dependence
from blindfuse.diagnostics.information import Information, measure_information
from blindfuse.diagnostics.pairs import Pairs, count_pairs
from blindfuse.errors import NotIdentifiable
from blindfuse.estimators.dawid_skene import MACE, DawidSkene
from blindfuse.estimators.em import EMEstimator
from blindfuse.estimators.held_out import (
    Gain,
    fit_independent,
    fit_subtypes,
    held_out_gain,
    sample_items,
)
from blindfuse.estimators.ordinal_dawid_skene import OrdinalDawidSkene
from blindfuse.model.anchored_votes import symbol_counts
from blindfuse.model.model import Model
from blindfuse.model.posteriors import (
    ExpectedCounts,
    baseline_votes,
    count_votes,
    weighted_votes,
)
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT, has_own_matrices
from blindfuse.moments.requirements import counting_is_cheap, require_overlap
from blindfuse.responses.responses import Responses
from blindfuse.typing import Floats

SIGNIFICANT_Z = 2.0
"""Standard errors by which one model must predict better than another to replace it."""
FEW_CLASSES = 0.6
"""Share of the expected number of classes up to which an annotator is one-sided: with two classes,
one who reports only one of them."""
MIN_ONE_SIDED = 0.5
"""Share of responses by one-sided annotators from which on no confusion matrix is determined."""
MIN_WEIGHTED = 4
"""Annotators from which on weights are learned: of fewer, two may confirm each other's errors."""
PSEUDO_ITEMS = 30.0
"""Items for which the mean weight counts in that of each annotator."""


@dataclass(eq=False)
class Evidence:
    """The responses to fuse, in canonical order, and what they say.

    Attributes
    ----------
    ordered
        whether the classes are ordered.
    seed
        random seed of the sample of items on which large tables are compared.
    gold
        gold labels of some items, ``{item: label}``, which are held fixed.
    prior_model, prior_count
        a Model of annotators from earlier work, and the pseudo-counts per class it is worth.
    votes_only
        whether other questions to the same annotators show correlated errors, so that no model is
        used.
    """

    responses: Responses
    ordered: bool = False
    seed: int = 0
    gold: Mapping[Any, Any] | None = None
    prior_model: Model | None = None
    prior_count: float = 20.0
    threads: int | None = None
    votes_only: bool = False

    @cached_property
    def votes(self) -> Floats:
        """Number of votes ``[item, class]``; a score votes for the class that it lies in."""
        return weighted_votes(self.responses)

    @cached_property
    def information(self) -> Information | None:
        """Agreement beyond chance; None if no item has two responses that can be compared."""
        return measure_information(self.responses)

    @property
    def is_informative(self) -> bool:
        """Whether annotators agree beyond chance, are known, or cannot be compared by agreement."""
        has_names = self.responses.anchor.kind != "none"
        if self.prior_model is not None or not has_names or self.has_one_sided_sources:
            return True
        return self.information is not None and self.information.is_beyond_chance

    @cached_property
    def no_overlap(self) -> str | None:
        """Why no model of single annotators is determined (Lemma 1), or None if one is."""
        try:
            require_overlap(self.responses)
        except NotIdentifiable as refusal:
            return refusal.reason
        return None

    @property
    def is_modelled(self) -> bool:
        """Whether a model of the annotators is determined and worth fitting."""
        return self.is_informative and self.no_overlap is None and has_own_matrices(self.responses)

    @cached_property
    def one_sided_share(self) -> float:
        """The share of responses by annotators who report few of the classes.

        As many responses by someone who reports all classes as often as the crowd does would
        contain Σ_k 1 − (1 − p_k)^n classes on average.
        """
        reported = symbol_counts(self.responses)
        if self.responses.anchor.matrix is not None:  # an abstention is no report of a class
            reported = reported[:, self.responses.anchor.matrix.any(axis=1)]
        number, n_responses = reported.sum(axis=1), max(reported.sum(), 1.0)
        rarity = 1 - reported.sum(axis=0) / n_responses
        expected = np.sum(1 - rarity ** number[:, None], axis=1)
        one_sided = np.count_nonzero(reported, axis=1) <= FEW_CLASSES * expected
        return float(number[one_sided].sum() / n_responses)

    @property
    def has_one_sided_sources(self) -> bool:
        """Whether most responses come from sources that report few of the classes.

        Such sources (labelling functions, keyword rules) abstain rather than report another class.
        """
        reports_classes = self.responses.anchor.kind in ("identity", "matrix")
        return reports_classes and self.one_sided_share >= MIN_ONE_SIDED

    @property
    def is_one_sided(self) -> bool:
        """Whether sources are one-sided and their abstentions are not used."""
        return self.responses.is_plain and self.has_one_sided_sources

    @cached_property
    def fitted(self) -> EMEstimator:
        """The model of conditionally independent annotators.

        EM from the paper's method (Remark 2), or from the vote where moments would cost far more
        than EM; with an order that predicts better, :class:`OrdinalDawidSkene`; for one-sided
        sources, :class:`MACE`, because their confusion matrices are not determined.
        """
        if self.is_one_sided:
            return self.mace
        if self.order_gain is not None and self.order_gain.z > SIGNIFICANT_Z:
            return OrdinalDawidSkene(threads=self.threads).fit(self.responses, self.gold)
        cheap = self.responses.is_plain and counting_is_cheap(self.responses)
        return self.fit_dawid_skene(start="blind" if cheap else "mv")

    @cached_property
    def one_iteration(self) -> DawidSkene:
        """One iteration of Dawid–Skene from the majority vote, which stays near it."""
        return self.fit_dawid_skene(max_iter=1)

    @cached_property
    def mace(self) -> MACE:
        """:class:`MACE`, fitted to a sample."""
        table = self.responses
        sample = self.sample.recoded(table.annotators, table.classes, table.symbols)
        return MACE(threads=self.threads).fit(sample)

    def fit_dawid_skene(self, **parameters: Any) -> DawidSkene:
        """Fit Dawid–Skene with these parameters, the gold labels and the prior model."""
        method = DawidSkene(
            prior_model=self.prior_model,
            prior_count=self.prior_count,
            threads=self.threads,
            **parameters,
        )
        votes = None if self.gold else self._vote_counts
        return method.fit(self.responses, gold=self.gold, votes=votes)

    @cached_property
    def pairs(self) -> Pairs:
        """The responses of pairs of annotators, compared with the model."""
        return count_pairs(self.responses).compare_with(self.fitted.model_)

    @cached_property
    def dependence(self) -> Dependence:
        """Pairs of annotators who agree more than the model and the other pairs explain."""
        return find_dependence(self.pairs, self.responses)

    @cached_property
    def second_subtype(self) -> Gain:
        """How much better two latent subtypes per class predict held-out responses than one.

        If annotators are conditionally independent given the class, a second subtype has nothing to
        explain, and predicts no better.
        """
        one = fit_independent(self.threads, shrinkage=DEFAULT_PSEUDO_COUNT)
        return held_out_gain(self.sample, fit_subtypes(2, self.threads), over=one)

    @cached_property
    def order_gain(self) -> Gain | None:
        """How much better a model of ordered classes predicts; None if they are not ordered."""
        if not self.ordered or not has_own_matrices(self.responses):
            return None
        by_order = fit_independent(self.threads, OrdinalDawidSkene)
        return held_out_gain(self.sample, by_order, over=fit_independent(self.threads))

    @cached_property
    def sample(self) -> Responses:
        """The responses on which models are compared: all, or those of a sample of the items."""
        return sample_items(self.responses, self.seed)

    @cached_property
    def _vote_counts(self) -> ExpectedCounts:
        return count_votes(self.responses, self.threads)


def confirmed_confidence(responses: Responses) -> Floats | None:
    """How far the others confirm the probabilities of each annotator: weights with mean one.

    With y_n the class by the soft vote of all others and c the agreement by chance, annotator m
    claims to be right in excess of chance by mean max_k P_nm(k) − c, and the others confirm
    mean P_nm(y_n) − c. The weight is the root of the share that is confirmed, so that constant,
    reversed and overconfident annotators count little. None if there are too few annotators.
    """
    M, probabilities = responses.n_annotators, responses.probabilities
    if probabilities is None or M < MIN_WEIGHTED:
        return None
    total, _ = baseline_votes(responses)
    items, codes = responses.item_of_response(), responses.by_item.codes
    others = (total[items] - probabilities).argmax(axis=1)
    confirmed = probabilities[np.arange(len(items)), others]
    number = np.maximum(np.bincount(codes, minlength=M), 1)
    claimed = np.bincount(codes, probabilities.max(axis=1), M) / number
    agreed = np.bincount(codes, confirmed, M) / number
    mean = [np.bincount(codes, column, M) / number for column in probabilities.T]
    shares = [np.bincount(codes, others == k, M) / number for k in range(len(mean))]
    chance = np.einsum("km,km->m", mean, shares)
    share = np.maximum(agreed - chance, 0) / np.maximum(claimed - chance, 1e-6)
    weights = np.sqrt(np.where(claimed - chance > 1e-6, share, 0.0))
    weights = (number * weights + PSEUDO_ITEMS * weights.mean()) / (number + PSEUDO_ITEMS)
    return weights / weights.mean() if weights.any() else None
