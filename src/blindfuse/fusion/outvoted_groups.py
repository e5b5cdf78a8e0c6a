"""Groups of annotators that the labels outvote: they share errors, or they know better.

Experts whom a biased majority contradicts look like annotators who copy each other: both agree
with each other on items that all others label differently.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import list_names
from blindfuse.fusion.choice import Choice
from blindfuse.model.posteriors import weighted_votes
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]
Group = tuple[int, ...]
"""Positions of annotators."""

MIN_MEMBERS = 3
"""Minimum number of members of a group that may be right against all others."""
MAX_RESPONSES = 0.5
"""Share of all responses up to which a group is not the majority itself."""
MIN_AGREEMENT = 0.5
"""Minimum chance-corrected agreement with the labels of a group that may consist of experts: those
agree with the others on the items that are clear to all."""
MIN_SHARE = 0.1
"""Share of the labels that a group must contradict, as for two camps."""


def doubt_labels(choice: Choice, groups: Sequence[Group], responses: Responses) -> Choice:
    """The choice, with the share of its labels that are wrong if one of the groups is right.

    The group that contradicts most labels counts, and the advice names it.
    """
    labels = choice.label_codes()
    shares = {group: outvoted_share(group, responses, labels) for group in groups}
    group = max(shares, key=lambda one: shares[one], default=())
    if not group or shares[group] < MIN_SHARE:
        return choice
    names = list_names(responses.annotators[list(group)])
    sentence = (
        f"If the group of {names} is right against all others, {100 * shares[group]:.0f} % of the "
        "labels are wrong: check some items if these may be experts."
    )
    return replace(choice, outvoted=shares[group], advice=f"{sentence} {choice.advice}".rstrip())


def outvoted_share(group: Group, responses: Responses, labels: NDArray[np.intp]) -> float:
    """The share of ``labels[item]`` that are wrong if a group of experts is right.

    A group speaks for a class if at least two of its members, and more than half of those who
    responded to the item, report it. One standard error of the sample of items is added. 0 if the
    group is half of the crowd, or agrees too little with the labels to consist of experts.
    """
    given = responses.responses_per_annotator[list(group)].sum()
    if len(group) < MIN_MEMBERS or given > MAX_RESPONSES * responses.n_responses:
        return 0.0
    votes = weighted_votes(responses.select_annotators(list(group)))
    speaks = votes.max(axis=1) > np.maximum(votes.sum(axis=1) / 2, 1)
    if chance_corrected_agreement(votes[speaks], labels[speaks]) < MIN_AGREEMENT:
        return 0.0
    share = float(np.mean(speaks & (votes.argmax(axis=1) != labels)))
    return share + float(np.sqrt(share * (1 - share) / len(labels)))


def chance_corrected_agreement(votes: Floats, labels: NDArray[np.intp]) -> float:
    """How often responses are equal to the label, beyond what class proportions explain.

    Every item counts the same. Zero if there is only one class, or no item.
    """
    if len(labels) == 0:
        return 0.0
    shares = votes / votes.sum(axis=1, keepdims=True)
    agreement = float(shares[np.arange(len(labels)), labels].mean())
    of_labels = np.bincount(labels, minlength=votes.shape[1]) / len(labels)
    chance = float(of_labels @ (votes.sum(axis=0) / votes.sum()))
    return (agreement - chance) / (1 - chance) if chance < 1 else 0.0
