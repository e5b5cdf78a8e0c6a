"""What responses must have for moments to be matched, and what the moments would cost."""

from math import comb

import numpy as np

from blindfuse.errors import BadParameter, NotIdentifiable
from blindfuse.responses.responses import Responses

TYPICAL_SWEEPS = 60
"""Sweeps that Algorithm 1 usually takes, for comparing costs."""
CHOSEN_MOMENT_BYTES = 2**28
"""Explicit moments are chosen automatically up to this size."""
MAX_MOMENT_BYTES = 2**32
"""Explicit moments are formed on request up to this size."""


def require_overlap(responses: Responses) -> None:
    """Refuse responses that Lemma 1 excludes.

    It needs three annotators, and items that three annotators labelled.
    """
    n_responding = int(np.count_nonzero(responses.responses_per_annotator))
    if n_responding < 3:
        raise not_identifiable(
            f"Only {n_responding} annotators responded; moment matching needs at least three."
        )
    if responses.responses_per_item.max() < 3:
        raise no_triples()


def no_triples() -> NotIdentifiable:
    """The error for responses in which no three annotators share an item."""
    return not_identifiable(
        "No item was labelled by three annotators, so no third-order moment was observed."
    )


def not_identifiable(reason: str) -> NotIdentifiable:
    """The error with this reason, and the remedy that all of them share."""
    return NotIdentifiable(reason, "Use the majority vote, which needs only one response per item.")


def moment_bytes(n_annotators: int, n_classes: int) -> int:
    """Bytes of all third-order moments, unfolded for each of their three annotators."""
    return 3 * comb(n_annotators, 3) * n_classes**3 * 8


def require_memory(n_annotators: int, n_classes: int) -> None:
    """Refuse third-order moments that would not fit into memory."""
    taken = moment_bytes(n_annotators, n_classes)
    if taken > MAX_MOMENT_BYTES:
        raise BadParameter(
            f"The third-order moments of {n_annotators:,} annotators would take "
            f"{taken / 2**30:,.0f} GiB. Use moments='labels' with weights='counts', or groups of "
            "annotators."
        )


def counting_is_cheaper(responses: Responses) -> bool:
    """Whether forming explicit moments costs fewer multiplications than sweeping over responses.

    Counting on bit sets processes about a hundred items per operation.
    """
    M, K = responses.n_annotators, responses.n_classes
    if moment_bytes(M, K) > CHOSEN_MOMENT_BYTES:
        return False
    triples = comb(M, 3)
    explicit = triples * K**3 * (responses.n_items / 100 + 4 * K * TYPICAL_SWEEPS)
    direct = responses.n_responses * K * (K + 4) * 4 * TYPICAL_SWEEPS
    return explicit < direct
