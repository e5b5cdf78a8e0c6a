"""Requirements of moment matching: overlap of annotators, memory, and computing cost."""

from math import comb

import numpy as np

from blindfuse.errors import BadParameter, NotIdentifiable, counted
from blindfuse.responses.responses import Responses

TYPICAL_SWEEPS = 60
"""Number of sweeps of Algorithm 1 that is assumed when costs are compared."""
TYPICAL_ITERATIONS = 30
"""Number of iterations of EM that is assumed when costs are compared."""
CHEAP_MULTIPLICATIONS = 5e8
"""Multiplications that take a fraction of a second."""
MAX_AUTO_MOMENT_BYTES = 2**28
"""Maximum size of explicit moments with ``moments="auto"``."""
MAX_MOMENT_BYTES = 2**32
"""Maximum size of explicit moments with ``moments="counts"`` or ``weights="equal"``."""


def require_overlap(responses: Responses) -> None:
    """Raise NotIdentifiable unless third-order moments were observed, as Lemma 1 requires.

    At least three annotators must have responded, and some item needs three responses.
    """
    n_responding = int(np.count_nonzero(responses.responses_per_annotator))
    if n_responding < 3:
        raise not_identifiable(
            f"Only {counted(n_responding, 'annotator')} responded; moment matching needs at least "
            "three."
        )
    if responses.responses_per_item.max() < 3:
        raise no_triples()


def no_triples() -> NotIdentifiable:
    """Return the error for responses in which no three annotators labelled the same item."""
    return not_identifiable(
        "No item was labelled by three annotators, so no third-order moment was observed."
    )


def not_identifiable(reason: str) -> NotIdentifiable:
    """Return the error with this reason and the common remedy."""
    return NotIdentifiable(reason, "Use the majority vote, which needs only one response per item.")


def moment_bytes(n_annotators: int, n_symbols: int) -> int:
    """Return the bytes of all third-order moments, unfolded for each of their annotators."""
    return 3 * comb(n_annotators, 3) * n_symbols**3 * 8


def require_memory(n_annotators: int, n_symbols: int) -> None:
    """Raise BadParameter if the third-order moments would not fit into memory."""
    size = moment_bytes(n_annotators, n_symbols)
    if size > MAX_MOMENT_BYTES:
        raise BadParameter(
            f"The third-order moments of {n_annotators:,} annotators would take "
            f"{size / 2**30:,.0f} GiB, more than the limit of {MAX_MOMENT_BYTES / 2**30:,.0f} GiB. "
            "Use moments='labels' with weights='counts', or fit groups of annotators."
        )


def counting_is_cheaper(responses: Responses) -> bool:
    """Return whether explicit moments cost fewer multiplications than sweeps over responses.

    Explicit moments are counted once, about a hundred items per operation because the kernel
    works on bit sets; then a sweep costs O(M³R³K). A sweep over responses costs O(responses · K²).
    """
    K = responses.n_classes
    if moment_bytes(responses.n_annotators, responses.n_symbols) > MAX_AUTO_MOMENT_BYTES:
        return False
    return _cost_of_counting(responses) < responses.n_responses * K * (K + 4) * 4 * TYPICAL_SWEEPS


def counting_is_cheap(responses: Responses) -> bool:
    """Return whether explicit moments cost little, in themselves or relative to EM."""
    em = responses.n_responses * responses.n_classes * TYPICAL_ITERATIONS
    affordable = max(CHEAP_MULTIPLICATIONS, em)
    return counting_is_cheaper(responses) and _cost_of_counting(responses) <= affordable


def _cost_of_counting(responses: Responses) -> float:
    """Return the multiplications that explicit moments and the sweeps over them take."""
    M, R, K = responses.n_annotators, responses.n_symbols, responses.n_classes
    return comb(M, 3) * R**3 * (responses.n_items / 100 + 4 * K * TYPICAL_SWEEPS)
