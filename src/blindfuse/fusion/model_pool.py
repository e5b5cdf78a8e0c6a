"""The mean of the posteriors of several models, where none of them can be trusted alone.

Whether annotators are conditionally independent is often not visible: a small or sparse table would
look the same if they were not. There the models below err on different items: EM to convergence
follows annotators who agree with each other, one iteration of EM stays near the vote,
:class:`MACE` knows annotators who fall back on a favourite class, and :class:`MixedMembership`
knows ambiguous items. The mean of their posteriors (a linear opinion pool) gives a class to an item
only if most of them do, or if one is confident and the others are not.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.calibration import BASE_RATE, probability_of_dependence
from blindfuse.diagnostics.pairs import Pairs
from blindfuse.errors import capitalize
from blindfuse.fusion.choice import Choice, FuseContext, PosteriorsOf
from blindfuse.fusion.recalibration import measure
from blindfuse.fusion.tempering import temper_misfit
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MEAN_OF_MODELS = "mean of models"
"""The name of the method if models are averaged."""


@dataclass(frozen=True, eq=False)
class ModelPool:
    """The mean of the posteriors of its ``members``."""

    members: tuple[PosteriorsOf, ...]

    def __call__(self, responses: Responses) -> Floats:
        """Posteriors ``[item, class]`` of these responses."""
        return np.asarray(sum(member(responses) for member in self.members) / len(self.members))


@dataclass(frozen=True, eq=False)
class AveragedPosteriors:
    """(1 − w) of a method's own posteriors and w of their mean with those of a pool of others."""

    own: PosteriorsOf
    others: ModelPool
    weight: float

    def __call__(self, responses: Responses) -> Floats:
        return self.average(self.own(responses), self.others(responses))

    def average(self, own: Floats, others: Floats) -> Floats:
        """The method's ``own[item, class]`` posteriors, averaged with the mean of the others."""
        number = len(self.others.members)
        share = self.weight * number / (number + 1)
        return np.asarray((1 - share) * own + share * others)


def models_beside_em(context: FuseContext) -> ModelPool:
    """One iteration of EM, :class:`MACE` and :class:`MixedMembership`.

    The last two do not know a model of annotators from earlier work; where one was given, they are
    left out.
    """
    if context.prior_model is not None:
        return ModelPool((context.one_iteration.predict_proba,))
    models = context.one_iteration, context.mace, context.mixed_membership
    return ModelPool(tuple(model.predict_proba for model in models))


def all_models(context: FuseContext) -> ModelPool:
    """EM to convergence and the models beside it."""
    em = context.dawid_skene_from_vote.predict_proba
    return ModelPool((em, *models_beside_em(context).members))


def pooled_posteriors(context: FuseContext, *, with_em: bool) -> Floats:
    """Posteriors ``[item, class]`` of the responses to fuse by all models, or by those beside EM.

    They are those that the pool predicts, but nothing is computed twice.
    """
    found = [context.one_iteration.posteriors_]
    if with_em:
        found.append(context.dawid_skene_from_vote.posteriors_)
    if context.prior_model is None:
        found += [context.mace.predict_proba(context.responses), context.mixed_posteriors]
    return np.asarray(sum(found) / len(found))


def average_models(choice: Choice, context: FuseContext, pairs: Pairs, although: str) -> Choice:
    """The choice of a model, averaged with others unless its independence was shown.

    The weight of the mean is the probability of dependence that the model does not explain, as a
    share of the probability in a table that cannot show dependence. With a weight of zero the
    choice stays as it is, or less confident if the model does not fit the ``pairs`` of annotators.
    Annotators are rated by the model itself: the mean blurs their confusion matrices. ``although``
    is the evidence of independence, as a clause.
    """
    _, independence, _ = measure(choice, context)
    weight = min(probability_of_dependence(independence) / BASE_RATE, 1.0)
    if weight == 0:
        return temper_misfit(choice, context, pairs)
    pool, pooled = models_beside_em(context), pooled_posteriors(context, with_em=False)
    averaged = AveragedPosteriors(choice.model.posteriors, pool, weight)
    others = "one EM iteration"
    if context.prior_model is None:
        others += ", MACE and MixedMembership"
    why = (
        f"{capitalize(although)}, but this table cannot rule out correlated errors, so "
        f"{choice.method} is averaged with {others}."
    )
    return replace(
        choice,
        method=MEAN_OF_MODELS,
        why=why,
        posteriors=averaged.average(choice.posteriors, pooled),
        posteriors_of=averaged,
        independence=independence,
    )
