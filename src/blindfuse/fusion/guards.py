"""Guards: what no model may do to the majority vote, however likely it makes the responses.

A guard compares labels with the votes and returns an objection, a clause that completes "The model
was not used, because it …", or None. The thresholds are conventional.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from blindfuse.diagnostics.visible import count_naming, vote_margins
from blindfuse.errors import list_names

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Guard = Callable[[Codes, Floats, NDArray[np.object_]], str | None]

MIN_CLASS_ITEMS = 10
"""Items that the vote must give to a class for it to count as filled."""
MIN_CLASS_SHARE = 0.01
"""Share of the items that the vote must give to a class for it to count as filled."""
NEARLY_EMPTY_SHARE, EMPTY_SHARE = 0.1, 0.01
"""Shares of its votes below which a class is nearly empty, and empty. The vote may well give a rare
class ten times as many items as it has, so a model that fits is only stopped at the second."""
MAX_OVERRULED = 0.1
"""Share of all items in which majorities beyond sampling noise may be overruled."""
MAX_RIVAL = 1.25
"""Responses of another class, per response of the label's own class, on the items of a label."""
SIGNIFICANT_Z = 3.0
"""Standard errors by which another class must lead before it counts as reported more often."""


def object_to_labels(
    labels: Codes, votes: Floats, classes: NDArray[np.object_], guards: tuple[Guard, ...]
) -> str | None:
    """Return the first objection to the labels ``[item]``, given ``votes[item, class]``."""
    voted = votes.sum(axis=1) > 0
    objections = (guard(labels[voted], votes[voted], classes) for guard in guards)
    return next((objection for objection in objections if objection is not None), None)


def nearly_empties_a_class(
    labels: Codes, votes: Floats, classes: NDArray[np.object_]
) -> str | None:
    """Object if a class that the vote fills gets fewer than a tenth of its items."""
    return _object_to_class_sizes(labels, votes, classes, NEARLY_EMPTY_SHARE)


def empties_a_class(labels: Codes, votes: Floats, classes: NDArray[np.object_]) -> str | None:
    """Object if a class that the vote fills gets fewer than a hundredth of its items."""
    return _object_to_class_sizes(labels, votes, classes, EMPTY_SHARE)


def _object_to_class_sizes(
    labels: Codes, votes: Floats, classes: NDArray[np.object_], share: float
) -> str | None:
    by_vote = _vote_shares(votes).sum(axis=0)
    by_label = np.bincount(labels, minlength=len(classes))
    filled = by_vote >= max(MIN_CLASS_ITEMS, MIN_CLASS_SHARE * len(labels))
    emptied = filled & (by_label < share * by_vote)
    if not emptied.any():
        return None
    k = int(np.argmax(np.where(emptied, by_vote, 0)))
    return (
        f"gives class {list_names(classes[[k]])} {by_label[k]:,} items, where the vote gives it "
        f"{by_vote[k]:,.0f}"
    )


def moves_the_prior(labels: Codes, votes: Floats, classes: NDArray[np.object_]) -> str | None:
    """Object if more items move between classes than have close votes.

    Only close votes can be wrong by sampling noise, so noise cannot explain a larger move.
    """
    by_vote = _vote_shares(votes).mean(axis=0)
    by_label = np.bincount(labels, minlength=len(classes)) / len(labels)
    moved = np.abs(by_vote - by_label).sum() / 2
    close = np.mean(vote_margins(votes) <= np.sqrt(votes.sum(axis=1)))
    if moved <= close:
        return None
    return (
        f"moves {100 * moved:.0f} % of the items to other classes, where only {100 * close:.0f} % "
        "have close votes"
    )


def overrules_majorities(labels: Codes, votes: Floats, classes: NDArray[np.object_]) -> str | None:
    """Object if labels trail the vote's winner by more than √n of n votes on many items."""
    trailing = votes.max(axis=1) - votes[np.arange(len(labels)), labels]
    share = float(np.mean(trailing > np.sqrt(votes.sum(axis=1))))
    if share <= MAX_OVERRULED:
        return None
    return f"overrules clear majorities on {100 * share:.0f} % of the items"


def misnames_a_class(labels: Codes, votes: Floats, classes: NDArray[np.object_]) -> str | None:
    """Object if annotators report another class far more often on the items labelled k than k.

    Annotators who agree little more than by chance determine latent classes that are not the ones
    they report; Assumption 2 of the paper, by which classes are named, does not hold there.
    """
    own, rival, rivals = count_naming(votes, labels)
    misnamed = (rival > MAX_RIVAL * own) & (rival - own > SIGNIFICANT_Z * np.sqrt(rival + own))
    if not misnamed.any():
        return None
    k = int(np.argmax(np.where(misnamed, rival, 0)))
    name, other = (list_names(classes[[j]]) for j in (k, rivals[k]))
    return (
        f"gives class {name} to items for which annotators report {other} {rival[k]:,.0f} times "
        f"and {name} {own[k]:,.0f} times"
    )


CORRECTION_GUARDS: tuple[Guard, ...] = (
    nearly_empties_a_class,
    moves_the_prior,
    overrules_majorities,
)
"""Guards of a model that may correct the vote within a bound."""
MODEL_GUARDS: tuple[Guard, ...] = (misnames_a_class, *CORRECTION_GUARDS)
"""Guards of a model that decides alone."""
FITTING_GUARDS: tuple[Guard, ...] = (empties_a_class, misnames_a_class)
"""Guards of a model that fits the pairwise agreement of annotators. It may move the class prior and
overrule majorities, but neither empty a class nor give a class the items of another."""


def describe_changes(labels: Codes, votes: Floats) -> str:
    """In how many items the labels differ from the vote, and whether it was close there.

    It is close if the lead is at most √n of n votes.
    """
    trailing = votes.max(axis=1) - votes[np.arange(len(labels)), labels]
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


def vote_prior(votes: Floats) -> Floats:
    """The class prior by the majority vote, ``[class]``."""
    return np.asarray(_vote_shares(votes[votes.sum(axis=1) > 0]).mean(axis=0))


def _vote_shares(votes: Floats) -> Floats:
    """The majority vote as shares ``[item, class]``; tied classes share an item."""
    winners = votes == votes.max(axis=1, keepdims=True)
    return np.asarray(winners / winners.sum(axis=1, keepdims=True))
