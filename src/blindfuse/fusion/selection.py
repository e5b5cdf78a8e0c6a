"""Selection rules: which method to trust, decided without ground truth, and why."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.correlated_errors import score_correlated_errors
from blindfuse.diagnostics.pairs import PairCounts, count_pairs
from blindfuse.errors import NotIdentifiable
from blindfuse.estimators.base import Estimator
from blindfuse.estimators.dawid_skene import DawidSkene
from blindfuse.estimators.latent_subtypes import LatentSubtypes
from blindfuse.estimators.ordinal_dawid_skene import OrdinalDawidSkene
from blindfuse.estimators.wawa import Wawa
from blindfuse.fusion.choice import Choice, FuseContext, SelectionRule
from blindfuse.fusion.held_out import Gain, HeldOut, fit_independent, fit_subtypes
from blindfuse.fusion.merged_groups import merge_groups
from blindfuse.fusion.tempering import TemperedPosteriors, VotePosteriors, temper_misfit
from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors, count_votes
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT, vote_confusions
from blindfuse.moments.requirements import counting_is_cheaper, require_overlap
from blindfuse.responses.coding import positions
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

SIGNIFICANT_Z = 2.0
"""Standard errors by which evidence against the simpler model must differ from zero."""


def select_by_prediction(context: FuseContext) -> Choice:
    """The simplest model that predicts held-out responses as well as a richer one.

    1. Groups of annotators with correlated errors, the rest conditionally independent: EM with
       each group merged into one annotator.
    2. Annotators conditionally independent, because errors on the same item are not correlated or
       because two subtypes per class predict no better than one: the paper's method and EM.
    3. Two subtypes per class predict better, three do not: :class:`LatentSubtypes`.
    4. Otherwise the majority vote, in which a fitted model only breaks ties.
    """
    responses = context.responses
    try:
        require_overlap(responses)
    except NotIdentifiable as refusal:
        return _select_vote(context, Wawa().fit(responses), refusal.reason)
    pairs = count_pairs(responses)
    merged = merge_groups(context, pairs, SIGNIFICANT_Z)
    if merged is not None:
        return merged
    # EM from the vote ends as well where errors are not correlated, and costs less than moments
    # of many annotators.
    by_counts = counting_is_cheaper(responses)
    fitted = context.fit_dawid_skene(start="blind" if by_counts else "mv")
    errors = score_correlated_errors(responses, fitted.model_, fitted.posteriors_, context.threads)
    if errors.z <= SIGNIFICANT_Z:
        reason = f"errors on the same item are not correlated beyond chance ({errors})"
        return _select_independent(context, fitted, pairs, reason)
    held_out = HeldOut(responses, context.seed)
    one = held_out.predict(fit_independent(context.threads, shrinkage=DEFAULT_PSEUDO_COUNT))
    two = held_out.predict(fit_subtypes(2, context.threads))
    second = held_out.gain(two, over=one)
    if second.z <= SIGNIFICANT_Z:
        reason = f"a second subtype per class predicts held-out responses no better ({second})"
        fitted = fitted if by_counts else context.fit_dawid_skene(start="blind")
        return _select_independent(context, fitted, pairs, reason)
    third = held_out.gain(held_out.predict(fit_subtypes(3, context.threads)), over=two)
    if third.z <= SIGNIFICANT_Z:
        return _select_subtypes(context, second, third)
    why = (
        "No model explains the correlated errors: two subtypes per class predict held-out "
        f"responses better than one ({second}), and three better than two ({third}). The majority "
        "vote is used, and a fitted model only breaks ties."
    )
    return _select_vote(context, context.fit_dawid_skene() if by_counts else fitted, why)


def select_by_order(context: FuseContext) -> Choice:
    """For ordered classes: :class:`OrdinalDawidSkene` if it predicts held-out responses better.

    It is compared with :class:`DawidSkene`, which does not know the order. If the order does not
    help, the choice is that of :func:`select_by_prediction`.
    """
    held_out = HeldOut(context.responses, context.seed)
    by_order = held_out.predict(fit_independent(context.threads, OrdinalDawidSkene))
    gain = held_out.gain(by_order, over=held_out.predict(fit_independent(context.threads)))
    if gain.z <= SIGNIFICANT_Z:
        choice = select_by_prediction(context)
        why = (
            f"{choice.why} The order of the classes was not used, because a model of it predicts "
            f"held-out responses no better ({gain})."
        )
        return replace(choice, why=why)
    fitted = OrdinalDawidSkene(threads=context.threads).fit(context.responses, context.gold)
    choice = Choice(
        "OrdinalDawidSkene",
        f"Annotators confuse neighbouring classes: a model of that predicts held-out responses "
        f"better than one of unordered classes ({gain}).",
        fitted.model_,
        fitted.posteriors_,
        fitted.log_likelihoods_,
    )
    return temper_misfit(choice, context, count_pairs(context.responses).compare_with(choice.model))


def select_method(
    name: str,
    make: Callable[[], Estimator],
    *,
    gold: Mapping[Any, Any] | None = None,
    **parameters: Any,
) -> SelectionRule:
    """The rule that always takes one method, with these parameters.

    Methods that learn from ``gold`` labels get them. A method without a model is described by the
    confusion matrices of its labels.
    """

    def select(context: FuseContext) -> Choice:
        responses = context.responses
        method = make().set_params(**parameters)
        if "threads" in method.get_params():
            method.set_params(threads=context.threads)
        takes_gold = "gold" in signature(method.fit).parameters
        fitted = method.fit(responses, **({"gold": gold} if takes_gold else {}))
        labels = positions(fitted.labels_, responses.classes)
        return Choice(
            name,
            "This method was requested.",
            getattr(fitted, "model_", None) or _model_of_labels(responses, labels, context.threads),
            fitted.posteriors_,
            getattr(fitted, "log_likelihoods_", np.empty(0)),
            labels,
            fitted.predict_proba,
        )

    return select


def _select_independent(
    context: FuseContext, fitted: DawidSkene, pairs: PairCounts, reason: str
) -> Choice:
    """EM from the paper's method or from the vote, less confident where pairs do not fit."""
    choice = Choice(
        "BlindEnsemble + EM" if fitted.start == "blind" else "DawidSkene",
        f"Annotators appear conditionally independent: {reason}.",
        fitted.model_,
        fitted.posteriors_,
        fitted.log_likelihoods_,
    )
    return temper_misfit(choice, context, pairs.compare_with(choice.model))


def _select_subtypes(context: FuseContext, second: Gain, third: Gain) -> Choice:
    fitted = LatentSubtypes(threads=context.threads).fit(context.responses)
    tempered = TemperedPosteriors(fitted.predict_proba, context.mixed_membership)
    why = (
        "Errors are correlated on ambiguous items: a second subtype per class predicts held-out "
        f"responses better ({second}), and a third does not ({third})."
    )
    return Choice(
        "LatentSubtypes",
        why,
        fitted.model_,
        tempered(context.responses),
        fitted.log_likelihoods_,
        posteriors_of=tempered,
    )


def _select_vote(context: FuseContext, tie_breaker: Estimator, why: str) -> Choice:
    """The vote's labels; a fitted method breaks ties."""
    responses = context.responses
    votes = count_votes(responses)
    prior = (votes.totals + 1 / len(votes.totals)) / (votes.totals.sum() + 1)
    by_votes = VotePosteriors(tie_breaker, context.mixed_membership)
    return Choice(
        "MajorityVote",
        why,
        Model(vote_confusions(votes.counts), prior, responses.annotators, responses.classes),
        by_votes(responses),
        getattr(tie_breaker, "log_likelihoods_", np.empty(0)),
        posteriors_of=by_votes,
    )


def _model_of_labels(responses: Responses, labels: NDArray[np.intp], threads: int | None) -> Model:
    """The confusion matrices and prior under the labels ``[item]`` (class codes)."""
    counts = count_posteriors(responses, np.eye(responses.n_classes)[labels], threads)
    prior = counts.totals / counts.totals.sum()
    return Model(vote_confusions(counts.counts), prior, responses.annotators, responses.classes)
