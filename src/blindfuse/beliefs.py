"""Beliefs about items ``[item, class]``, and what they say of annotators."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels import labelling
from blindfuse.responses import Responses
from blindfuse.threads import pieces, thread_count

Floats = NDArray[np.float64]

_LEAST_ITEMS = 20_000


def vote_shares(responses: Responses, threads: int | None = None) -> Floats:
    """The majority vote as beliefs ``[item, class]``: tied classes share the item equally."""
    shares = np.zeros((responses.n_items, responses.n_classes))
    starts, _, labels = responses.by_item
    _over_items(
        lambda piece: labelling.vote_shares(starts, labels, piece.start, piece.stop, shares),
        responses,
        threads,
    )
    return shares


def posteriors(
    responses: Responses, log_confusions: Floats, log_prior: Floats, threads: int | None = None
) -> tuple[Floats, float]:
    """Posteriors ``[item, class]`` by (20) and (26), and the log-likelihood of all answers."""
    beliefs = np.empty((responses.n_items, responses.n_classes))
    parts = _over_items(
        lambda piece: labelling.posteriors(
            *responses.by_item, piece.start, piece.stop, log_confusions, log_prior, beliefs
        ),
        responses,
        threads,
    )
    return beliefs, float(sum(parts))


def expected_counts(responses: Responses, beliefs: Floats, threads: int | None = None) -> Floats:
    """``counts[annotator, reported, true]``: each answer shared among the classes by belief."""
    parts = _over_items(
        lambda piece: labelling.expected_counts(
            *responses.by_item, piece.start, piece.stop, beliefs, responses.n_annotators
        ),
        responses,
        threads,
    )
    total: Floats = np.sum(parts, axis=0)
    return total


def _over_items(
    work: Callable[[range], Any], responses: Responses, threads: int | None
) -> list[Any]:
    """Do the work on pieces of the items, one a thread; results in the order of the items."""
    cuts = pieces(responses.n_items, thread_count(threads), _LEAST_ITEMS)
    if len(cuts) == 1:
        return [work(cuts[0])]
    with ThreadPoolExecutor(len(cuts)) as pool:
        return list(pool.map(work, cuts))
