"""Confidence of each item's label, and which items one more response could change."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.threads import map_threads
from blindfuse.model.fused_model import FusedModel
from blindfuse.model.model import Model
from blindfuse.model.posteriors import most_likely
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Flags, Floats

GOOD_ANNOTATOR = 0.75
"""Quantile of the annotators' accuracies that a good annotator has."""
BLOCK_ITEMS = 50_000
"""Items that are rated at once, by one thread, so that they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Items:
    """Ratings ``[item]``.

    Attributes
    ----------
    confidence, margin
        posterior of the label, and its difference to that of the second most probable class.
    needs_another_label, gain
        whether one more response, by a good annotator, could change the label, and by how much the
        probability of a correct label is expected to rise with it.
    outvoted
        whether another class has more votes than the label.
    """

    confidence: Floats
    margin: Floats
    needs_another_label: Flags
    gain: Floats
    outvoted: Flags

    def ranked(self) -> Codes:
        """Positions of the items that need another label, the largest gain first."""
        order = np.argsort(-self.gain, kind="stable")
        return np.asarray(order[self.needs_another_label[order]])

    def summary(self) -> str:
        """How many labels one more response could change, and what the first ones would bring."""
        total, ranked = len(self.confidence), self.ranked()
        if not len(ranked):
            return f"No label of {total:,} would change with one more response."
        first = ranked[:50]
        which = f"the {len(first):,} with the largest gain" if len(ranked) > len(first) else "all"
        corrected = self.gain[first].sum()
        number = f"about {corrected:.0f}" if corrected >= 1 else "fewer than 1"
        return (
            f"{len(ranked):,} of {total:,} labels ({100 * len(ranked) / total:.0f} %) could change "
            f"with one more response; asking for {which} would correct {number}."
        )


def rate_items(
    responses: Responses,
    model: Model,
    posteriors: Floats,
    is_gold: Flags | None = None,
    votes: Floats | None = None,
) -> Items:
    """Rate items by their ``posteriors[item, class]`` and by what a response would change.

    Gold labels do not change. ``votes[item, class]`` are those of plain responses, if counted.
    """
    fused = model if isinstance(model, FusedModel) else FusedModel.of(model)
    by_model, mean = fused.parts(responses)
    if votes is None:
        votes, number = fused.votes(responses)
    else:
        number = responses.responses_per_item.astype(float)

    def rate_block(at: slice) -> tuple[NDArray[np.generic], ...]:
        e = None if by_model is None else by_model[at]
        q = None if mean is None else mean[at]
        return _rate_block(fused, posteriors[at], e, q, votes[at], number[at])

    def rate(begin: int, end: int) -> list[tuple[NDArray[np.generic], ...]]:
        starts = range(begin, max(end, 1), BLOCK_ITEMS)
        return [rate_block(slice(start, min(start + BLOCK_ITEMS, end))) for start in starts]

    rated = chain.from_iterable(map_threads(rate, responses.n_items, None, BLOCK_ITEMS))
    items = Items(*(np.concatenate(column) for column in zip(*rated, strict=True)))
    if is_gold is not None:
        items.needs_another_label[is_gold], items.gain[is_gold] = False, 0.0
    return items


def _rate_block(
    model: FusedModel,
    posteriors: Floats,
    by_model: Floats | None,
    mean: Floats | None,
    votes: Floats,
    number: Floats,
) -> tuple[NDArray[np.generic], ...]:
    """The fields of :class:`Items` for a block of items.

    A good annotator of accuracy a, at most 0.95, reports the second most probable class, j instead
    of k. That multiplies e_j/e_k by a (K − 1)/(1 − a) and adds one vote to j. The label changes if
    j is then more probable. The gain is P(j is reported) times the lead of j over k after it.
    """
    n_items, K = posteriors.shape
    items = np.arange(n_items)
    label, others = most_likely(posteriors), posteriors.copy()
    first = posteriors[items, label]
    others[items, label] = -1.0
    rival = most_likely(others)
    second = posteriors[items, rival]
    accuracy = min(float(np.quantile(model.accuracies, GOOD_ANNOTATOR)), 0.95)
    wrong = (1 - accuracy) / max(K - 1, 1)
    lead = np.zeros(n_items)
    if by_model is not None:
        of_rival = by_model[items, rival]
        difference = accuracy * of_rival - wrong * by_model[items, label]
        updated = difference / (wrong + (accuracy - wrong) * of_rival)
        lead += (1 - model.dependence) * updated
    if model.dependence > 0:
        added = votes.copy()
        added[items, rival] += 1
        near_votes = model.near_votes(added, number + 1, mean)
        lead += model.dependence * (near_votes[items, rival] - near_votes[items, label])
    lead[rival == label] = 0.0  # there is one class only
    reported = second * accuracy + (1 - second) * wrong
    outvoted = votes[items, label] < votes.max(axis=1)
    gain = np.where(lead > 0, reported * lead, 0.0)
    return first, first - second, lead > 0, gain, outvoted
