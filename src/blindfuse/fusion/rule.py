"""The rule of `fuse`: votes, models, how far the models may go, confidences, expected error.

:class:`~blindfuse.model.fused_model.FusedModel` has the formula for the posteriors. This module
decides which models enter it, and w, the probability that errors are correlated. The rule is the
same for classes, scores, probabilities and abstentions; they differ in their votes and models.
"""

from dataclasses import dataclass, replace

import numpy as np

from blindfuse.diagnostics.expected_error import (
    ExpectedError,
    Features,
    measure_features,
    share_error,
)
from blindfuse.diagnostics.pairs import evenly_spaced
from blindfuse.estimators.base import Estimator
from blindfuse.estimators.dawid_skene import MACE, DawidSkene
from blindfuse.fusion.evidence import SIGNIFICANT_Z, Evidence, confirmed_confidence
from blindfuse.model.fused_model import (
    FusedModel,
    majority_vote,
    mean_error,
    power_for_error,
    vote_preference,
)
from blindfuse.model.model import Model, decide
from blindfuse.model.posteriors import most_likely
from blindfuse.model.shrinkage import has_own_matrices, implied_model
from blindfuse.responses.table import gold_codes
from blindfuse.typing import Codes, Floats

NO_CORRELATION, CERTAIN_CORRELATION = 1.0, 3.0
"""Standard errors of the gain of a second subtype up to which errors count as independent, and from
which on they count as correlated."""
MIN_MODELLED = 3
"""Annotators that a model needs: of two who differ, nothing says which one is right."""

MAJORITY_VOTE, CORRECTED_VOTE = "MajorityVote", "corrected majority vote"
"""Names of the method if no model is used, and if models correct close votes only."""
SOFT_VOTE = "weighted soft vote"
"""The name of the method for probabilities."""


@dataclass(frozen=True, eq=False)
class Decision:
    """What the rule decided about the responses, and ``why``, in at most three sentences.

    ``posteriors[item, class]`` are those of the ``model``, and ``history[iteration]`` the
    log-likelihoods of EM, empty if no model was fitted. ``features``, from which it is estimated,
    and ``expected_error`` are None if the responses do not tell.
    """

    method: str
    why: str
    model: FusedModel
    posteriors: Floats
    history: Floats
    features: Features | None = None
    expected_error: ExpectedError | None = None


def decide_labels(evidence: Evidence) -> Decision:
    """Apply the rule to the responses."""
    method, model, why = choose_model(evidence)
    combined = model.combined(evidence.responses, threads=evidence.threads)
    if model.dependence == 1 and not model.is_shared:
        model = model.described_by(_one_iteration_from(combined, evidence))
        combined[evidence.responses.responses_per_item == 0] = model.prior
    is_fitted = method not in (MAJORITY_VOTE, SOFT_VOTE) and evidence.no_overlap is None
    history = evidence.fitted.log_likelihoods_ if is_fitted else np.empty(0)
    if evidence.order_gain is not None:
        order = " < ".join(map(str, evidence.responses.classes.tolist()))
        used = evidence.order_gain.z > SIGNIFICANT_Z
        why += (
            f" The order of the classes, {order}, {'was' if used else 'was not'} used: it predicts "
            f"held-out responses {'better' if used else 'no better'} ({evidence.order_gain})."
        )
    if model.reach:
        why += f" {describe_changes(combined, evidence.votes)}"
    decision = expect_error(Decision(method, why, model, combined, history), evidence)
    return _recalibrated(decision, evidence)


def expect_error(decision: Decision, evidence: Evidence) -> Decision:
    """Return the decision with its expected error, if the responses tell.

    Gold labels are correct, and items without responses are guesses by the prior.
    """
    counted = _counted_items(evidence)
    if not evidence.is_informative or not has_own_matrices(evidence.responses) or not len(counted):
        return decision
    features = observe(evidence, decision, counted)
    responses, n_items = evidence.responses, evidence.responses.n_items
    guessed = np.flatnonzero(responses.responses_per_item == 0)
    guessed = np.setdiff1d(guessed, gold_codes(responses, evidence.gold)[0])
    rest = mean_error(decision.posteriors[guessed]) * len(guessed) / n_items
    expected = features.expect(len(counted)).scaled(len(counted) / n_items, rest)
    return replace(decision, features=features, expected_error=expected)


def _recalibrated(decision: Decision, evidence: Evidence) -> Decision:
    """The decision with posteriors whose mean error is the expected one.

    If none is stated, it is that of the shares of votes.
    """
    counted = _counted_items(evidence)
    items = counted[evenly_spaced(len(counted))]
    if not len(items):
        return decision
    combined = decision.posteriors
    if decision.features is None:
        target = share_error(evidence.votes[items], most_likely(combined[items]))
    else:
        target = decision.features.expect(len(counted)).value
    model = replace(decision.model, recalibration=power_for_error(combined[items], target))
    responded = evidence.responses.responses_per_item > 0
    return replace(decision, model=model, posteriors=model.recalibrate(combined, responded))


def choose_model(evidence: Evidence) -> tuple[str, FusedModel, str]:
    """Return the method's name, the models and their weight as one model, and the reason.

    Votes alone, if annotators give probabilities, do not agree beyond chance or are fewer than
    three; the vote and one iteration of EM, if no item has three responses; otherwise the model of
    conditionally independent annotators, weighed against votes that models may correct.
    """
    responses, votes, threads = evidence.responses, evidence.votes, evidence.threads
    if responses.probabilities is not None:
        weights = confirmed_confidence(responses)
        model = majority_vote(responses, votes, threads, vote_weights=weights)
        return SOFT_VOTE, model, _describe_weights(weights)
    if responses.anchor.kind == "none":  # clusters have no names, so nothing can be voted for
        why = "EM learns what the clusters of every annotator mean, from a spectral clustering."
        return _method_name(evidence, 0.0), FusedModel.of(evidence.fitted.model_), why
    reason = _why_votes_alone(evidence)
    if reason is not None:
        return MAJORITY_VOTE, majority_vote(responses, votes, threads), reason
    preference = vote_preference(votes)
    if evidence.no_overlap is not None:
        near, rule = evidence.one_iteration.model_, evidence.one_iteration.score_rule_
        model = FusedModel.of(
            near, others=(near,), dependence=1.0, preference=preference, score_rule=rule
        )
        why = f"{evidence.no_overlap} One iteration of EM therefore only breaks ties of the vote."
        return CORRECTED_VOTE, model, why
    (w, why), fitted = dependence_weight(evidence), evidence.fitted.model_
    others = [fitted] if w == 1 else []
    if w and not evidence.is_one_sided:
        others.append(evidence.one_iteration.model_)
    model = FusedModel.of(
        fitted,
        others=tuple(others),
        dependence=w,
        correlation=max(evidence.dependence.correlation, 0.0) if w else 0.0,
        preference=preference,
        score_rule=getattr(evidence.fitted, "score_rule_", None),
    )
    return _method_name(evidence, w), model, why


def _describe_weights(weights: Floats | None) -> str:
    if weights is None:
        return "Probabilities are averaged."
    return (
        "Probabilities are averaged; each annotator counts as far as the others confirm its "
        f"confidence (weights {weights.min():.2f} to {weights.max():.2f})."
    )


def _why_votes_alone(evidence: Evidence) -> str | None:
    """Why no model can be trusted, or None if one may."""
    if not evidence.is_informative and evidence.information is None:
        return (
            "No item has two responses, so nothing in them says which ones are right; the labels "
            "are the responses."
        )
    if not evidence.is_informative and np.count_nonzero(evidence.votes.sum(axis=0)) == 1:
        return "All responses are the same, so nothing in them says which ones are right."
    if not evidence.is_informative:
        return (
            "Annotators agree no more than by chance, so the labels are the majority vote and "
            "nothing in the responses says how many are wrong."
        )
    if not has_own_matrices(evidence.responses):
        return (
            f"Confusion matrices of {evidence.responses.n_classes:,} classes for every annotator "
            "need more responses, so the majority vote is used."
        )
    if evidence.votes_only:
        return "Errors are correlated in all questions together, so the majority vote is used."
    if np.count_nonzero(evidence.responses.responses_per_annotator) < MIN_MODELLED:
        return (
            "Two annotators do not determine a model, so the majority vote is used; ties go to the "
            "class that is reported more often."
        )
    return None


def dependence_weight(evidence: Evidence) -> tuple[float, str]:
    """Return w, the probability that errors are correlated, and the reason.

    It rises from 0 to 1 as the gain of a second subtype per class rises from one to three standard
    errors. Scores have no votes that a model could overrule, so the model decides there.
    """
    if evidence.responses.anchor.kind == "order":
        return 0.0, (
            f"EM learns what each of {evidence.responses.n_symbols:,} symbols means for every "
            "annotator, starting from the mean of the standardised scores."
        )
    gain, prefix = evidence.second_subtype, ""
    w = (gain.z - NO_CORRELATION) / (CERTAIN_CORRELATION - NO_CORRELATION)
    w = float(np.clip(w, 0, 1))
    if evidence.is_one_sided:
        prefix = (
            f"{100 * evidence.one_sided_share:.0f} % of the responses come from annotators who "
            "report few of the classes, so MACE takes the place of confusion matrices. "
        )
    if w == 0:
        return w, (
            f"{prefix}Annotators appear conditionally independent: a second subtype per class "
            f"predicts held-out responses no better ({gain})."
        )
    better = f"a second subtype per class predicts held-out responses better ({gain})"
    if w == 1:
        return w, f"{prefix}Errors are correlated: {better}, so models only correct close votes."
    return w, (
        f"{prefix}Errors may be correlated: {better}, so the model counts {100 * (1 - w):.0f} % "
        f"and the vote that models may correct {100 * w:.0f} %."
    )


def observe(evidence: Evidence, decision: Decision, counted: Codes) -> Features:
    """Measure what a sample of the items shows of the error of their labels.

    Symbols that are not classes count as the class that they speak for.
    """
    items = counted[evenly_spaced(len(counted))]
    table = evidence.responses.select_items(items)
    fitted = evidence.one_iteration if evidence.no_overlap is not None else evidence.fitted
    independent = fitted.model_.posteriors(table, threads=evidence.threads)
    methods: tuple[Estimator, Estimator]
    if table.is_plain:
        methods = evidence.mace, evidence.one_iteration
    else:
        table, _ = decide(table, decision.model.independent)
        near = DawidSkene(max_iter=1, threads=evidence.threads)
        methods = MACE(threads=evidence.threads).fit(table), near.fit(table)
    posteriors = independent, *(method.predict_proba(table) for method in methods)
    score = evidence.second_subtype.z if evidence.no_overlap is None else 0.0
    labels = most_likely(decision.posteriors[items])
    return measure_features(table, labels, posteriors, score, evidence.is_one_sided)


def _one_iteration_from(combined: Floats, evidence: Evidence) -> Model:
    """The confusion matrices after one iteration of EM from these labels.

    Labels alone would count their own errors against annotators who are right.
    """
    responses, threads = evidence.responses, evidence.threads
    labels = np.eye(responses.n_classes)[most_likely(combined)]
    labelled = implied_model(responses, labels, threads)
    return implied_model(responses, labelled.posteriors(responses, threads=threads), threads)


def _counted_items(evidence: Evidence) -> Codes:
    """Positions of the items that have responses and no gold label."""
    counted = evidence.responses.responses_per_item > 0
    counted[gold_codes(evidence.responses, evidence.gold)[0]] = False
    return np.flatnonzero(counted)


def _method_name(evidence: Evidence, w: float) -> str:
    """The name of the model, or of the votes that it corrects."""
    if w == 1:
        return CORRECTED_VOTE
    fitted = evidence.fitted
    blind = getattr(fitted, "start", None) == "blind"
    name = "BlindEnsemble + EM" if blind else type(fitted).__name__
    return name if w == 0 else f"{name} and {CORRECTED_VOTE}"


def describe_changes(posteriors: Floats, votes: Floats) -> str:
    """In how many items the labels differ from the vote, and whether it was close there.

    It is close if the lead is at most √n of n votes.
    """
    labels, winners = most_likely(posteriors), most_likely(votes)
    items = np.flatnonzero(labels != winners)
    trailing = votes[items, winners[items]] - votes[items, labels[items]]
    items, trailing = items[trailing > 0], trailing[trailing > 0]
    count = len(items)
    if count == 0:
        return "No label differs from the majority vote, apart from ties."
    n_close = int(np.count_nonzero(trailing <= np.sqrt(votes[items].sum(axis=1))))
    which = "all" if n_close == count else f"{n_close:,}"
    return (
        f"{count:,} of {len(labels):,} labels differ from the majority vote, {which} where it was "
        "close."
    )
