"""Posteriors for annotators with correlated errors: labels of one method, confidence of another.

A model of conditionally independent annotators counts correlated responses as if each were new
evidence, so its posteriors are far too confident. :class:`MixedMembership` is not; these rules
keep a method's labels and lower its confidence.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.fit import measure_fit
from blindfuse.diagnostics.pairs import Pairs
from blindfuse.estimators.mixed_membership import MixedMembership
from blindfuse.fusion.choice import Choice, FuseContext, PosteriorsOf
from blindfuse.model.posteriors import most_likely, weighted_votes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

LOWERED = "Pairwise agreement does not quite fit, so confidences are lowered."
"""Appended to the reason of a choice whose confidences were lowered."""
TIE_MARGIN = 1e-6
"""Relative lead of the kept label over a class that would otherwise be more probable."""


@dataclass(frozen=True, eq=False)
class TemperedPosteriors:
    """A method's labels with the mean of its posteriors and those of ``mixed``."""

    posteriors_of: PosteriorsOf
    mixed: MixedMembership

    def __call__(self, responses: Responses) -> Floats:
        return self.temper(self.posteriors_of(responses), responses)

    def temper(self, posteriors: Floats, responses: Responses) -> Floats:
        """These posteriors ``[item, class]`` of the responses, less confident."""
        return keep_labels(posteriors, (posteriors + self.mixed.predict_proba(responses)) / 2)


@dataclass(frozen=True, eq=False)
class ShareConfidence:
    """Labels by ``scores``, with the mean of vote shares and of a model's posteriors as confidence.

    For sources that report few classes each, a model cannot say how confident it is, but it knows
    which of them tell something. ``prior[class]`` adds one vote to the shares.
    """

    scores: PosteriorsOf
    model: PosteriorsOf
    prior: Floats

    def __call__(self, responses: Responses) -> Floats:
        votes = weighted_votes(responses)
        shares = (votes + self.prior) / (votes.sum(axis=1, keepdims=True) + 1)
        return keep_labels(self.scores(responses), (shares + self.model(responses)) / 2)


def temper_misfit(choice: Choice, context: FuseContext, pairs: Pairs) -> Choice:
    """The choice as it is where its model fits pairs of annotators, otherwise less confident."""
    fit = measure_fit(pairs, context.responses.n_annotators)
    if fit.holds:
        return choice
    own = choice.posteriors_of or partial(choice.model.posteriors, threads=context.threads)
    tempered = TemperedPosteriors(own, context.mixed_membership)
    why = f"{choice.why} {LOWERED}"
    posteriors = tempered.temper(choice.posteriors, context.responses)
    return replace(choice, why=why, posteriors=posteriors, posteriors_of=tempered)


def keep_labels(scores: Floats, posteriors: Floats) -> Floats:
    """The posteriors with the class of the largest score made the most probable.

    Where it is not, its posterior is raised just above the largest, and all are rescaled.
    """
    kept, items = posteriors.copy(), np.arange(len(posteriors))
    chosen, largest = most_likely(scores), most_likely(posteriors)
    raised = posteriors[items, largest] * np.where(chosen == largest, 1, 1 + TIE_MARGIN)
    kept[items, chosen] = raised
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))
