"""`next_labels`: which responses to ask for next, from which annotators."""

from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from blindfuse.auditing.candidates import IS_FUSION
from blindfuse.fusion.fuse import Fusion
from blindfuse.parameters import integer_at_least, optional
from blindfuse.typing import Array, Codes, Floats

MAX_CANDIDATES = 20
"""Annotators considered for every item: those whose response is most informative about an item
without responses."""


@dataclass(frozen=True, eq=False)
class LabelRequests:
    """Responses to ask for, the most informative first.

    ``items[request]`` and ``annotators[request]`` are names; ``gains[request]`` is the expected
    decrease of the entropy of the item's label, in nats.
    """

    items: Array
    annotators: Array
    gains: Floats

    def __len__(self) -> int:
        return len(self.items)


def next_labels(
    fusion: Fusion, budget: int, *, max_per_annotator: int | None = None
) -> LabelRequests:
    """The ``budget`` most informative responses, at most one new response per item.

    A response of annotator m gives I = H(p) − Σ_a q_a H(p Γ_m(a, ·)/q_a) nats about an item with
    posterior p, where q_a = Σ_k p_k Γ_m(a, k). Nobody is asked about the same item twice, or about
    more than ``max_per_annotator`` items.
    """
    IS_FUSION.check("fusion", fusion)
    integer_at_least(1).check("budget", budget)
    optional(integer_at_least(1)).check("max_per_annotator", max_per_annotator)
    usual = _information(fusion.model.prior[None], fusion.model.confusions)[0]
    candidates = np.argsort(-usual, kind="stable")[:MAX_CANDIDATES]
    gains = _gains(fusion, candidates)
    left = np.full(len(candidates), budget if max_per_annotator is None else max_per_annotator)
    requests: list[tuple[float, int, int]] = []
    while len(requests) < budget:
        # Take the best candidate of every item; annotators accept their best items up to the limit.
        choice = gains.argmax(axis=1)
        best = gains[np.arange(len(gains)), choice]
        ranked = np.argsort(-best, kind="stable")[: budget - len(requests)]
        ranked = ranked[best[ranked] > 0]
        if not len(ranked):
            break
        for item in ranked.tolist():
            m = choice[item]
            if left[m] > 0:
                requests.append((best[item], item, candidates[m]))
                gains[item] = 0.0
                left[m] -= 1
        gains[:, left == 0] = 0.0
    rows = np.array(requests, dtype=float).reshape(-1, 3)
    rows = rows[np.argsort(-rows[:, 0], kind="stable")]
    items, annotators = rows[:, 1:].T.astype(np.intp)
    table = fusion.responses
    return LabelRequests(table.items[items], table.annotators[annotators], rows[:, 0])


def _gains(fusion: Fusion, candidates: Codes) -> Floats:
    """Expected information gain ``[item, candidate]``; zero where there is a response already."""
    responses, confusions = fusion.responses, fusion.model.confusions[candidates]
    gains = np.empty((responses.n_items, len(candidates)))
    step = 1 + 10_000_000 // confusions[:, :, 0].size  # blocks of 80 MB
    for begin in range(0, responses.n_items, step):
        cut = slice(begin, begin + step)
        gains[cut] = _information(fusion.posteriors[cut], confusions)
    place = np.full(responses.n_annotators, -1)
    place[candidates] = np.arange(len(candidates))
    items = responses.item_of_response()
    candidate = place[responses.by_item.codes]
    gains[items[candidate >= 0], candidate[candidate >= 0]] = 0.0
    return gains


def _information(posteriors: Floats, confusions: Floats) -> Floats:
    """I ``[item, annotator]`` for posteriors ``[item, class]``: H(f) − H(f | class)."""
    responses = np.einsum("mak,nk->nma", confusions, posteriors)
    given = entr(confusions).sum(axis=1)
    return np.asarray(np.maximum(entr(responses).sum(axis=2) - posteriors @ given.T, 0.0))
