"""Confidence of each item's label, and which items need another label."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from blindfuse.model.posteriors import most_likely, vote_posteriors
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

CONFIDENT = 0.9
"""Items with a lower confidence need another label. Asking for one pays off below this threshold
if an error costs as much as ten responses."""

BLOCK_ITEMS = 200_000
"""Items that are rated at once, to limit memory."""


@dataclass(frozen=True, eq=False)
class Items:
    """Ratings per item.

    Attributes
    ----------
    confidence ``[item]``
        posterior of the label.
    margin ``[item]``
        difference to the posterior of the second most probable class.
    entropy ``[item]``
        entropy of the posterior, in nats.
    needs_another_label ``[item]``
        whether the confidence is below ``CONFIDENT``.
    outvoted ``[item]``
        whether another class has more votes than the label.
    """

    confidence: Floats
    margin: Floats
    entropy: Floats
    needs_another_label: NDArray[np.bool_]
    outvoted: NDArray[np.bool_]

    def summary(self) -> str:
        """How many items need another label, and where to begin if most do."""
        total, count = len(self.confidence), int(np.count_nonzero(self.needs_another_label))
        text = (
            f"{count:,} of {total:,} ({100 * count / max(total, 1):.0f} %) need another label: "
            f"confidence below {100 * CONFIDENT:.0f} %."
        )
        return (
            f"{text} Begin with those that `blindfuse next` lists." if 2 * count > total else text
        )


def rate_items(responses: Responses, posteriors: Floats) -> Items:
    """Rate items by their posteriors ``[item, class]`` and their votes."""
    if not responses.is_plain:  # what an anchor says of an item depends on all items
        return Items(*_rate_block(responses, posteriors))
    blocks = [
        _rate_block(responses.select_items(block), posteriors[block])
        for block in np.array_split(
            np.arange(responses.n_items), -(-responses.n_items // BLOCK_ITEMS)
        )
    ]
    return Items(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def _rate_block(responses: Responses, posteriors: Floats) -> tuple[NDArray[Any], ...]:
    """The fields of ``Items`` for a block of items."""
    *_, second, first = np.sort(posteriors, axis=1).T
    outvoted = np.zeros(len(posteriors), dtype=bool)
    if responses.anchor.kind != "none":  # there, symbols name no class, and nothing is voted for
        votes = vote_posteriors(responses)
        label_votes = votes[np.arange(len(votes)), most_likely(posteriors)]
        outvoted = (label_votes == 0) & (responses.responses_per_item > 0)
    return first, first - second, entr(posteriors).sum(axis=1), first < CONFIDENT, outvoted
