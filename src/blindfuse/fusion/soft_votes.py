"""Weights of annotators who give probabilities: how far the others confirm their confidence."""

import numpy as np

from blindfuse.model.posteriors import baseline_votes
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

MIN_WEIGHTED = 4
"""Annotators from which on weights are learned: of fewer, two may confirm each other's errors."""
PSEUDO_ITEMS = 30.0
"""Items for which the mean weight counts in that of each annotator."""


def confirmed_confidence(responses: Responses) -> Floats | None:
    """Return weights ``[annotator]`` with mean one; None if there are too few annotators.

    With y_n the class by the soft vote of all others and c the agreement by chance, annotator m
    claims to be right in excess of chance by mean max_k P_nm(k) − c, and the others confirm
    mean P_nm(y_n) − c. The weight is the root of the share that is confirmed, so that constant,
    reversed and overconfident annotators count little.
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
    found = np.bincount(codes, confirmed, M) / number
    chance = np.array([_chance(probabilities[codes == m], others[codes == m]) for m in range(M)])
    share = np.maximum(found - chance, 0) / np.maximum(claimed - chance, 1e-6)
    weights = np.sqrt(np.where(claimed - chance > 1e-6, share, 0.0))
    weights = (number * weights + PSEUDO_ITEMS * weights.mean()) / (number + PSEUDO_ITEMS)
    return weights / weights.mean() if weights.any() else None


def _chance(own: Floats, others: Codes) -> float:
    """The mean probability of the others' class if it did not depend on the item."""
    if not len(own):
        return 0.0
    shares = np.bincount(others, minlength=own.shape[1]) / len(others)
    return float(own.mean(axis=0) @ shares)
