"""What the responses say about the methods that could fuse them, computed when first used."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.correlated_errors import CorrelatedErrors, score_correlated_errors
from blindfuse.diagnostics.dependence import Dependence, find_dependence
from blindfuse.diagnostics.fit import Fit, measure_fit
from blindfuse.diagnostics.pairs import PairCounts, Pairs, count_pairs
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.fusion.choice import FuseContext
from blindfuse.fusion.held_out import (
    Gain,
    HeldOut,
    HeldOutScores,
    fit_independent,
    fit_subtypes,
)
from blindfuse.fusion.pooled_model import PooledModel, fit_pooled_model
from blindfuse.model.posteriors import weighted_votes
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT
from blindfuse.moments.requirements import counting_is_cheap
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


@dataclass(eq=False)
class Evidence:
    """The evidence that the steps of a selection rule share.

    ``refusals`` are the reasons, in clauses, why earlier steps did not choose their method.
    """

    context: FuseContext
    refusals: list[str] = field(default_factory=list)

    @property
    def responses(self) -> Responses:
        return self.context.responses

    @cached_property
    def votes(self) -> Floats:
        """Number of responses ``[item, class]``."""
        return weighted_votes(self.responses)

    @cached_property
    def pooled_model(self) -> PooledModel:
        """One confusion matrix for all annotators, fitted to a sample of the items."""
        return fit_pooled_model(weighted_votes(self.context.sample))

    @cached_property
    def pairs(self) -> PairCounts:
        """Counts of the responses of pairs of annotators."""
        return count_pairs(self.responses)

    @cached_property
    def dawid_skene(self) -> DawidSkene:
        """EM from the paper's method, or from the vote where moments would cost far more than EM.

        Where errors are not correlated, both end at the same model.
        """
        if counting_is_cheap(self.responses):
            return self.context.fit_dawid_skene(start="blind")
        return self.context.dawid_skene_from_vote

    @cached_property
    def after_blind_ensemble(self) -> DawidSkene:
        """EM from the paper's method, whatever moments cost."""
        if self.dawid_skene.start == "blind":
            return self.dawid_skene
        return self.context.fit_dawid_skene(start="blind")

    @cached_property
    def correlated_errors(self) -> CorrelatedErrors:
        """Whether errors on the same item are correlated under EM."""
        fitted = self.dawid_skene
        return score_correlated_errors(
            self.responses, fitted.model_, fitted.posteriors_, self.context.threads
        )

    @cached_property
    def compared_pairs(self) -> Pairs:
        """The responses of pairs of annotators, compared with EM."""
        return self.pairs.compare_with(self.dawid_skene.model_)

    @cached_property
    def fit(self) -> Fit:
        """How far pairwise agreement deviates from EM."""
        return measure_fit(self.compared_pairs, self.responses.n_annotators)

    @cached_property
    def dependence(self) -> Dependence:
        """Pairs and groups of annotators who agree more than EM and the other pairs explain."""
        return find_dependence(self.compared_pairs, self.responses.annotators)

    @property
    def correlation(self) -> float:
        """Mean excess agreement of pairs of annotators under EM, at least zero."""
        return max(self.dependence.correlation, 0.0)

    @cached_property
    def second_subtype(self) -> Gain:
        """How much better two subtypes per class predict held-out responses than one."""
        return self._held_out.gain(self._two_subtypes, over=self._one_subtype)

    @cached_property
    def third_subtype(self) -> Gain:
        """How much better three subtypes per class predict held-out responses than two."""
        three = self._held_out.predict(fit_subtypes(3, self.context.threads))
        return self._held_out.gain(three, over=self._two_subtypes)

    @cached_property
    def _held_out(self) -> HeldOut:
        return HeldOut(self.context.sample)

    @cached_property
    def _one_subtype(self) -> HeldOutScores:
        fit = fit_independent(self.context.threads, shrinkage=DEFAULT_PSEUDO_COUNT)
        return self._held_out.predict(fit)

    @cached_property
    def _two_subtypes(self) -> HeldOutScores:
        return self._held_out.predict(fit_subtypes(2, self.context.threads))
