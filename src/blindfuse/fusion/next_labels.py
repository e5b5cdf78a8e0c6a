"""Which items to send out again, and to whom."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from blindfuse.errors import BadParameter
from blindfuse.fusion.fuse import Fusion

Floats = NDArray[np.float64]

CANDIDATES = 20
"""Annotators that are considered for an item: those who tell most on average."""
BLOCK = 20_000
"""Items whose gains are formed at once."""


@dataclass(frozen=True, eq=False)
class LabelRequests:
    """Answers to ask for, the most telling first.

    ``items[request]`` and ``annotators[request]`` are names, ``gains[request]`` the expected fall
    of the entropy of the item's label, in nats.
    """

    items: NDArray[Any]
    annotators: NDArray[Any]
    gains: Floats

    def __len__(self) -> int:
        return len(self.items)


def next_labels(
    fusion: Fusion, budget: int, *, most_per_annotator: int | None = None
) -> LabelRequests:
    """The ``budget`` answers that are expected to tell most, at most one new one an item.

    An answer of annotator m tells I = H(p) − Σ_a q_a H(p Γ_m(a, ·)/q_a) nats about an item with
    posterior p, where q_a = Σ_k p_k Γ_m(a, k). Nobody is asked twice about an item, nor more than
    ``most_per_annotator`` items in all.
    """
    if budget < 1:
        raise BadParameter(f"budget={budget!r} must be at least 1.")
    if most_per_annotator is not None and most_per_annotator < 1:
        raise BadParameter(f"most_per_annotator={most_per_annotator!r} must be at least 1.")
    able = _most_telling(fusion)
    gains = _gains(fusion, able)
    left = np.full(len(able), budget if most_per_annotator is None else most_per_annotator)
    items: list[int] = []
    annotators: list[int] = []
    found: list[float] = []
    while len(items) < budget:
        # The best of every item that is left; an annotator takes the best of those up to its limit.
        choice = gains.argmax(axis=1)
        best = gains[np.arange(len(gains)), choice]
        ranked = np.argsort(-best, kind="stable")[: budget - len(items)]
        ranked = ranked[best[ranked] > 0]
        if not len(ranked):
            break
        for item in ranked.tolist():
            m = choice[item]
            if left[m] > 0:
                items.append(item)
                annotators.append(able[m])
                found.append(best[item])
                gains[item] = 0.0
                left[m] -= 1
        gains[:, left == 0] = 0.0
    order = np.argsort(-np.array(found), kind="stable")
    return LabelRequests(
        fusion.responses.items[np.array(items, dtype=np.intp)[order]],
        fusion.responses.annotators[np.array(annotators, dtype=np.intp)[order]],
        np.array(found)[order],
    )


def _most_telling(fusion: Fusion) -> NDArray[np.intp]:
    """The annotators whose answer tells most about an item of which only the prior is known."""
    model = fusion.model
    tells = _information(model.prior[None], model.confusions)[0]
    return np.argsort(-tells, kind="stable")[:CANDIDATES]


def _gains(fusion: Fusion, able: NDArray[np.intp]) -> Floats:
    """What an answer would tell, ``[item, candidate]``; nothing where it was given already."""
    responses, confusions = fusion.responses, fusion.model.confusions[able]
    gains = np.empty((responses.n_items, len(able)))
    for begin in range(0, responses.n_items, BLOCK):
        cut = slice(begin, begin + BLOCK)
        gains[cut] = _information(fusion.posteriors[cut], confusions)
    place = np.full(responses.n_annotators, -1)
    place[able] = np.arange(len(able))
    items = responses.item_of_response()
    candidate = place[responses.by_item.codes]
    gains[items[candidate >= 0], candidate[candidate >= 0]] = 0.0
    return gains


def _information(beliefs: Floats, confusions: Floats) -> Floats:
    """I ``[item, annotator]`` for beliefs ``[item, class]``: H(answer) − H(answer | class)."""
    answers = np.einsum("mak,nk->nma", confusions, beliefs)
    given = entr(confusions).sum(axis=1)
    return np.asarray(np.maximum(entr(answers).sum(axis=2) - beliefs @ given.T, 0.0))
