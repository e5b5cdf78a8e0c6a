"""Selection rules: which method to trust, decided without ground truth, and why."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.pairs import count_pairs
from blindfuse.errors import NotIdentifiable, list_names
from blindfuse.estimators.base import Estimator
from blindfuse.estimators.latent_subtypes import LatentSubtypes
from blindfuse.estimators.ordinal_dawid_skene import OrdinalDawidSkene
from blindfuse.fusion.bounded_correction import (
    MAJORITY_VOTE,
    ConfidentLabels,
    correct_votes,
    correct_with,
    only_vote,
)
from blindfuse.fusion.camps import ITEMS_TO_CHECK, ONE_CAMP, CampPosteriors, find_camps
from blindfuse.fusion.choice import Choice, FuseContext, SelectionRule
from blindfuse.fusion.evidence import Evidence
from blindfuse.fusion.guards import (
    FITTING_GUARDS,
    MODEL_GUARDS,
    describe_changes,
    misnames_a_class,
    object_to_labels,
    vote_prior,
)
from blindfuse.fusion.held_out import HeldOut, fit_independent
from blindfuse.fusion.merged_groups import merge_groups
from blindfuse.fusion.model_pool import ModelPool, average_models
from blindfuse.fusion.outvoted_groups import doubt_labels
from blindfuse.fusion.repetition import Repetition, find_repetition
from blindfuse.fusion.tempering import ShareConfidence, TemperedPosteriors, temper_misfit
from blindfuse.model.implied import implied_model
from blindfuse.model.posteriors import most_likely
from blindfuse.moments.requirements import require_overlap
from blindfuse.responses.coding import positions
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

SIGNIFICANT_Z = 2.0
"""Standard errors by which evidence against the simpler model must differ from zero."""
FEW_CLASSES = 0.6
"""Share of the expected number of classes up to which an annotator is one-sided: with two classes,
one who reports only one of them."""
MIN_ONE_SIDED = 0.5
"""Share of responses by one-sided annotators from which on a table counts as weak supervision."""
MIN_SUBTYPE_RESPONSES = 5
"""Responses to one item that two subtypes per class need to be determined."""


def select_by_prediction(context: FuseContext) -> Choice:
    """The first step of LADDER that chooses a method: the simplest that the responses justify."""
    evidence = Evidence(context)
    for step in LADDER:
        choice = step(evidence)
        if choice is not None:
            return replace(choice, why=_explain(choice, evidence))
    raise AssertionError("the last step always chooses")


def _explain(choice: Choice, evidence: Evidence) -> str:
    """Why the choice was made, what it changes in the vote, and what to do."""
    sentences = [choice.why]
    if choice.method != MAJORITY_VOTE:
        sentences.append(describe_changes(choice.label_codes(), evidence.votes))
    return " ".join([*sentences, choice.advice]).rstrip()


def vote_without_overlap(evidence: Evidence) -> Choice | None:
    """The vote where too few annotators share items for any model to be determined."""
    try:
        require_overlap(evidence.responses)
    except NotIdentifiable as refusal:
        return only_vote(evidence, refusal.reason)
    return None


def use_one_sided_sources(evidence: Evidence) -> Choice | None:
    """The vote, corrected by :class:`MACE`, where most annotators report few of the classes.

    Such sources (labelling functions, keyword rules) abstain rather than report another class.
    Their confusion matrices are not determined, and EM would give all items to one class.
    """
    reported = np.rint(evidence.context.vote_counts.counts.sum(axis=2))
    share = one_sided_share(evidence.responses, reported)
    if share < MIN_ONE_SIDED:
        return None
    context, responses = evidence.context, evidence.responses
    fitted = context.mace
    why = (
        f"{100 * share:.0f} % of the responses come from annotators who report few of the classes, "
        "so confusion matrices are not determined. The majority vote is used, corrected by MACE "
        "where it is close."
    )
    corrected = correct_with(evidence, fitted.predict_proba, correlation=0.0)
    shares = ShareConfidence(corrected, fitted.predict_proba, vote_prior(evidence.votes))
    posteriors = shares(responses)
    model = implied_model(responses, posteriors, context.threads)
    return _guarded(
        evidence,
        Choice(
            "MACE",
            why,
            model,
            posteriors,
            fitted.log_likelihoods_,
            posteriors_of=shares,
            rates_by_labels=True,
        ),
    )


def settle_camps(evidence: Evidence) -> Choice | None:
    """The vote where annotators form two camps, or the camp that gold labels decide for."""
    context, responses = evidence.context, evidence.responses
    camps = find_camps(responses, evidence.compared_pairs, context.threads)
    if camps is None:
        return None
    side = camps.settled_by(context)
    disputed = tuple(camps.different[:ITEMS_TO_CHECK].tolist())
    if side is None:
        meanwhile = "The responses cannot tell which is right, so the majority vote is used."
        choice = only_vote(evidence, f"{camps.describe()} {meanwhile}")
        possible = camps.possible_errors(choice.label_codes())
        return replace(
            choice,
            why=f"{choice.why} If the other camp is right, {100 * max(possible):.0f} % of the "
            "labels are wrong.",
            advice=camps.advise(),
            disputed=disputed,
            possible_errors=possible,
        )
    posteriors = camps.fits[side].posteriors_
    chosen = responses.annotators[camps.members[side]]
    why = f"{camps.describe()} The gold labels decide for the camp of {list_names(chosen)}."
    model = implied_model(responses, posteriors, context.threads)
    of_camp = CampPosteriors(camps.members[side], camps.fits[side])
    return Choice(ONE_CAMP, why, model, posteriors, np.empty(0), posteriors_of=of_camp)


def vote_against_repetition(evidence: Evidence) -> Choice | None:
    """The vote where annotators who repeat each other give half of the responses."""
    found = find_repetition(evidence.responses, evidence.pairs)
    return None if found is None else _vote_because(evidence, found)


def correct_misnamed_classes(evidence: Evidence) -> Choice | None:
    """The corrected vote where EM gives a class to items for which annotators report another.

    Its latent classes are then not those of the annotators, whatever else the responses show.
    """
    labels, classes = most_likely(evidence.dawid_skene.posteriors_), evidence.responses.classes
    objection = object_to_labels(labels, evidence.votes, classes, (misnames_a_class,))
    if objection is None:
        return None
    evidence.refusals.append(f"EM {objection}")
    return correct_votes(evidence)


def merge_dependent_groups(evidence: Evidence) -> Choice | None:
    """EM in which each group of annotators with correlated errors is merged into one.

    The vote where annotators who repeat each other explain the groups as well.
    """
    found = merge_groups(evidence.context, evidence.pairs, SIGNIFICANT_Z, evidence.fit.holds)
    if isinstance(found, Repetition):
        return _vote_because(evidence, found)
    chosen = None if found is None else _guarded(evidence, found)
    return chosen and doubt_labels(chosen, chosen.groups, evidence.responses)


def _vote_because(evidence: Evidence, found: Repetition) -> Choice:
    return only_vote(evidence, found.describe())


def use_independence(evidence: Evidence) -> Choice | None:
    """EM where errors on the same item are not correlated, and pairs of annotators fit as well.

    Two diagnostics must agree: the score test of correlated errors (or, where it is significant,
    the prediction of held-out responses) and the pairwise agreement.
    """
    errors, fit = evidence.correlated_errors, evidence.fit
    if fit.verdict == "does not fit":
        evidence.refusals.append(
            "pairwise agreement is far from that of conditionally independent annotators"
        )
        return None
    if errors.z <= SIGNIFICANT_Z:
        fitted = evidence.dawid_skene
        reason = f"errors on the same item are not correlated beyond chance ({errors})"
    elif evidence.second_subtype.z <= SIGNIFICANT_Z:
        fitted = evidence.after_blind_ensemble
        reason = (
            "a second subtype per class predicts held-out responses no better "
            f"({evidence.second_subtype})"
        )
    else:
        evidence.refusals.append(f"errors on the same item are correlated ({errors})")
        return None
    choice = Choice(
        "BlindEnsemble + EM" if fitted.start == "blind" else "DawidSkene",
        f"Annotators appear conditionally independent: {reason}.",
        fitted.model_,
        fitted.posteriors_,
        fitted.log_likelihoods_,
    )
    pairs = evidence.pairs.compare_with(choice.model)
    averaged = average_models(choice, evidence.context, pairs, although=reason)
    return _guarded(evidence, averaged, fits=fit.holds)


def use_subtypes(evidence: Evidence) -> Choice | None:
    """The vote, corrected by :class:`LatentSubtypes`, where those explain the correlated errors.

    Ambiguous items affect all pairs of annotators alike. Where pairs deviate from EM, some of them
    repeat each other, and subtypes would describe those.
    Two subtypes per class are 2K latent classes; by Kruskal's condition (Section III), four
    annotators do not determine them, five do.
    """
    context, responses = evidence.context, evidence.responses
    if evidence.correlated_errors.z <= SIGNIFICANT_Z:
        return None
    second = evidence.second_subtype
    if second.z <= SIGNIFICANT_Z:
        return None
    if responses.responses_per_item.max(initial=0) < MIN_SUBTYPE_RESPONSES:
        evidence.refusals.append(
            f"{MIN_SUBTYPE_RESPONSES} responses per item would be needed for latent subtypes"
        )
        return None
    if not evidence.fit.holds:
        evidence.refusals.append("latent subtypes do not explain which pairs agree")
        return None
    third = evidence.third_subtype
    if third.z > SIGNIFICANT_Z:
        evidence.refusals.append(
            "three latent subtypes per class predict held-out responses better than two"
        )
        return None
    fitted = LatentSubtypes(threads=context.threads).fit(responses)
    models = ModelPool((fitted.predict_proba, context.one_iteration.predict_proba))
    tempered = TemperedPosteriors(fitted.predict_proba, context.mixed_membership)
    labelled = ConfidentLabels(correct_with(evidence, models, evidence.correlation), tempered)
    why = (
        "Errors are correlated on ambiguous items: a second subtype per class predicts held-out "
        f"responses better ({second}), and a third does not ({third}). The majority vote is used, "
        "corrected by LatentSubtypes and one EM iteration where it is close."
    )
    return _guarded(
        evidence,
        Choice(
            "LatentSubtypes",
            why,
            fitted.model_,
            labelled(responses),
            fitted.log_likelihoods_,
            posteriors_of=labelled,
            explains_dependence=True,
        ),
    )


LADDER: tuple[Callable[[Evidence], Choice | None], ...] = (
    vote_without_overlap,
    use_one_sided_sources,
    settle_camps,
    vote_against_repetition,
    correct_misnamed_classes,
    merge_dependent_groups,
    use_independence,
    use_subtypes,
    correct_votes,
)
"""The steps of the default rule, in order. A step returns its choice, or None."""


def one_sided_share(responses: Responses, reported: Floats) -> float:
    """The share of responses by annotators who report few of the classes.

    ``reported[annotator, class]`` counts their responses. As many responses by someone who reports
    all classes as often as the crowd does would contain Σ_k 1 − (1 − p_k)^n classes on average.
    """
    number = reported.sum(axis=1)
    rarity = 1 - responses.responses_per_symbol / max(responses.n_responses, 1)
    expected = np.sum(1 - rarity ** number[:, None], axis=1)
    one_sided = np.count_nonzero(reported, axis=1) <= FEW_CLASSES * expected
    return float(number[one_sided].sum() / max(responses.n_responses, 1))


def _guarded(evidence: Evidence, choice: Choice, *, fits: bool = False) -> Choice | None:
    """The choice, or None if a guard objects; the objection becomes a refusal.

    ``fits`` says that pairwise agreement supports the model; it may then overrule majorities.
    """
    guards = FITTING_GUARDS if fits else MODEL_GUARDS
    objection = object_to_labels(
        choice.label_codes(), evidence.votes, evidence.responses.classes, guards
    )
    if objection is None:
        return choice
    evidence.refusals.append(f"{choice.method} {objection}")
    return None


def select_by_order(context: FuseContext) -> Choice:
    """For ordered classes: :class:`OrdinalDawidSkene` if it predicts held-out responses better.

    It is compared with :class:`DawidSkene`, which does not know the order. If the order does not
    help, the choice is that of :func:`select_by_prediction`.
    """
    held_out = HeldOut(context.sample)
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
            getattr(fitted, "model_", None)
            or implied_model(responses, np.eye(responses.n_classes)[labels], context.threads),
            fitted.posteriors_,
            getattr(fitted, "log_likelihoods_", np.empty(0)),
            labels,
            fitted.predict_proba,
            keeps_posteriors=True,
        )

    return select
