"""Responses of pairs of annotators to the items that they share, compared with a model."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.counts import add_pair_counts
from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

MAX_ITEMS = 100_000
"""Maximum number of items whose pairs are counted; of more, an evenly spaced sample."""
MAX_SAMPLED = 20_000
"""Maximum number of items that shares are measured on; standard errors are at most 0.4 points."""
MAX_COLUMNS = 3_000
"""Maximum number of annotators times symbols; beyond, the annotators with most responses."""
MIN_COMMON_ITEMS = 20
"""Items that a pair must share for its agreement to say something about the two annotators."""


def evenly_spaced(n_items: int, maximum: int = MAX_SAMPLED) -> Codes:
    """Positions of all items, or of at most ``maximum`` of them at equal distances."""
    return np.arange(0, n_items, -(-n_items // maximum) or 1)


def sample_items(responses: Responses, maximum: int = MAX_SAMPLED) -> Responses:
    """The responses to these items."""
    items = evenly_spaced(responses.n_items, maximum)
    return responses if len(items) == responses.n_items else responses.select_items(items)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs that share items: what they reported, compared with what a model predicts.

    With S[a, b] the share of common items for which i reported a and j reported b, and
    P = Γ_i Π Γ_jᵀ the model's prediction of it:

    Attributes
    ----------
    annotators ``[i]``, n_responses ``[i]``
        positions of the counted annotators, and their numbers of responses to all items.
    i, j ``[pair]``
        the annotators of each pair, as indices into ``annotators``.
    n_common, residual, squared_norm ``[pair]``
        number of common items, n_common · ‖S − P‖², and ‖P‖².
    agreement, expected_agreement ``[pair]``
        how often they agree: the traces of S and P.
    """

    annotators: Codes
    n_symbols: int
    n_responses: Floats
    i: Codes
    j: Codes
    n_common: Floats
    residual: Floats
    squared_norm: Floats
    agreement: Floats
    expected_agreement: Floats

    def for_positions(self, positions: Codes) -> "Pairs":
        """The same pairs in a table where annotator m is at ``positions[m]``."""
        return replace(self, annotators=positions[self.annotators])


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Responses of all pairs, before any model: ``counts[i, a, j, b]`` items for i < j.

    ``annotators`` and ``n_responses`` are as in :class:`Pairs`.
    """

    annotators: Codes
    n_responses: Floats
    counts: NDArray[np.int32]

    def compare_with(self, model: Model) -> Pairs:
        """Compare pairs that share items with a model of the same annotators."""
        confusions = model.confusions[self.annotators]
        n_common = self.counts.sum(axis=(1, 3))
        i, j = np.nonzero(np.triu(n_common, 1))
        n = n_common[i, j].astype(float)
        shares = self.counts[i, :, j, :] / n[:, None, None]
        joint = (confusions * model.prior)[i] @ confusions[j].swapaxes(1, 2)
        return Pairs(
            self.annotators,
            self.counts.shape[1],
            self.n_responses,
            *(i, j, n),
            residual=n * ((shares - joint) ** 2).sum(axis=(1, 2)),
            squared_norm=(joint**2).sum(axis=(1, 2)),
            agreement=np.trace(shares, axis1=1, axis2=2),
            expected_agreement=np.trace(joint, axis1=1, axis2=2),
        )


def count_pairs(responses: Responses) -> PairCounts:
    """Count pairs of the annotators with most responses, on at most ``MAX_ITEMS`` items."""
    table, R = sample_items(responses, MAX_ITEMS), responses.n_symbols
    busiest = np.argsort(-table.responses_per_annotator, kind="stable")
    counted = np.sort(busiest[: max(2, MAX_COLUMNS // R)])
    if len(counted) < table.n_annotators:
        table = table.select_annotators(counted)
    M = table.n_annotators
    counts = np.zeros((M * R, M * R), dtype=np.int32)
    add_pair_counts(*table.by_item, R, counts)
    # Of all items, not only those counted: the model fitted the first moments of all of them.
    n_responses = responses.responses_per_annotator[counted].astype(float)
    return PairCounts(counted, n_responses, counts.reshape(M, R, M, R))
