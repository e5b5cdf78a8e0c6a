"""Why `fuse` used a method, in at most three sentences."""

import numpy as np

from blindfuse.fusion.evidence import SIGNIFICANT_Z, Evidence
from blindfuse.fusion.rule import MIN_MODELLED, SOFT_VOTE, Decision, misnames_a_class
from blindfuse.model.posteriors import most_likely
from blindfuse.typing import Floats


def explain(decision: Decision, evidence: Evidence) -> str:
    """The reason for the method, whether the order of classes helped, and what it changes."""
    sentences = [_reason(decision, evidence)]
    if evidence.order_gain is not None and evidence.order_gain.z <= SIGNIFICANT_Z:
        sentences.append(
            "The order of the classes was not used: it predicts held-out responses no better "
            f"({evidence.order_gain})."
        )
    if decision.model.reach:
        sentences.append(describe_changes(decision.posteriors, evidence.votes))
    return " ".join(sentences)


def _reason(decision: Decision, evidence: Evidence) -> str:
    w, weights = decision.model.dependence, decision.model.vote_weights
    if decision.method == SOFT_VOTE:
        return (
            "Probabilities are averaged."
            if weights is None
            else "Probabilities are averaged; each annotator counts as far as the others confirm "
            f"its confidence (weights {weights.min():.2f} to {weights.max():.2f})."
        )
    if not evidence.is_informative:
        return _no_information(evidence)
    if evidence.votes_only:
        return "Errors are correlated in all questions together, so the majority vote is used."
    if np.count_nonzero(evidence.responses.responses_per_annotator) < MIN_MODELLED:
        return (
            "Two annotators do not determine a model, so the majority vote is used; ties go to the "
            "class that is reported more often."
        )
    if evidence.no_overlap is not None:
        return f"{evidence.no_overlap} One iteration of EM therefore only breaks ties of the vote."
    if evidence.responses.anchor.kind == "none":
        return "EM learns what the clusters of every annotator mean, from a spectral clustering."
    if w == 1 and not evidence.has_one_sided_sources and misnames_a_class(evidence):
        return (
            "The classes of the fitted model are not those that annotators report, so models only "
            "correct close votes."
        )
    if evidence.responses.anchor.kind == "order":
        return (
            f"EM learns what each of {evidence.responses.n_symbols:,} symbols means for every "
            "annotator, starting from the mean of the standardised scores."
        )
    prefix = ""
    if evidence.is_one_sided:
        prefix = (
            f"{100 * evidence.one_sided_share:.0f} % of the responses come from annotators who "
            "report few of the classes, so MACE takes the place of confusion matrices. "
        )
    return f"{prefix}{_dependence(w, evidence)}"


def _dependence(w: float, evidence: Evidence) -> str:
    """What the held-out responses say about correlated errors."""
    gain = evidence.second_subtype
    if w == 0:
        return (
            "Annotators appear conditionally independent: a second subtype per class predicts "
            f"held-out responses no better ({gain})."
        )
    better = f"a second subtype per class predicts held-out responses better ({gain})"
    if w == 1:
        return f"Errors are correlated: {better}, so models only correct close votes."
    return (
        f"Errors may be correlated: {better}, so the model counts {100 * (1 - w):.0f} % and the "
        f"vote that models may correct {100 * w:.0f} %."
    )


def _no_information(evidence: Evidence) -> str:
    if evidence.information is None:
        return (
            "No item has two responses, so nothing in them says which ones are right; the labels "
            "are the responses."
        )
    if np.count_nonzero(evidence.votes.sum(axis=0)) == 1:
        return "All responses are the same, so nothing in them says which ones are right."
    return (
        "Annotators agree no more than by chance, so the labels are the majority vote and nothing "
        "in the responses says how many are wrong."
    )


def describe_changes(posteriors: Floats, votes: Floats) -> str:
    """In how many items the labels differ from the vote, and whether it was close there.

    It is close if the lead is at most √n of n votes.
    """
    labels, items = most_likely(posteriors), np.arange(len(posteriors))
    trailing = votes[items, most_likely(votes)] - votes[items, labels]
    changed = trailing > 0
    count = int(np.count_nonzero(changed))
    if count == 0:
        return "No label differs from the majority vote, apart from ties."
    n_close = int(np.count_nonzero(trailing[changed] <= np.sqrt(votes[changed].sum(axis=1))))
    if count == 1:
        which, verb = ("which was close" if n_close else "which was clear"), "differs"
    else:
        which = f"{'all' if n_close == count else f'{n_close:,}'} where it was close"
        verb = "differ"
    return f"{count:,} of {len(labels):,} labels {verb} from the majority vote, {which}."
