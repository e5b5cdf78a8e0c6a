"""Beliefs about items ``[item, class]``, and what they say of annotators.

Beliefs come from the majority vote or from a model. Where only their sums over items are needed,
they are not stored. What is believed in need not be the classes that annotators report: a model
may know more, or fewer, kinds of items.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels import labelling
from blindfuse.responses import Responses
from blindfuse.threads import in_pieces

Floats = NDArray[np.float64]

LEAST_ITEMS = 20_000
"""Fewer do not make up for a thread."""


class Sums(NamedTuple):
    """Beliefs added up over items.

    ``counts[annotator, reported, true]`` shares each answer among the classes by belief,
    ``totals[true]`` shares each item; ``likelihood`` is the log-likelihood of a model's answers.
    """

    counts: Floats
    totals: Floats
    likelihood: float


def vote_shares(responses: Responses, threads: int | None = None) -> Floats:
    """The majority vote as beliefs ``[item, class]``: tied classes share the item equally.

    An item without answers believes in nothing (zeros).
    """
    shares = np.empty((responses.n_items, responses.n_classes))
    in_pieces(
        lambda begin, end: labelling.vote_beliefs(*responses.by_item, begin, end, shares),
        responses.n_items,
        threads,
        LEAST_ITEMS,
    )
    return shares / labelling.WHOLE_VOTE


def vote_sums(responses: Responses, threads: int | None = None) -> Sums:
    """What the majority vote says of annotators and classes; exact, whatever the items' order."""
    counts, totals, _ = _sums(responses, responses.n_classes, threads, labelling.vote_counts)
    return Sums(counts / labelling.WHOLE_VOTE, totals / labelling.WHOLE_VOTE, 0.0)


def weighted_votes(responses: Responses, weights: Floats | None = None) -> Floats:
    """Votes ``[item, class]``, each annotator's of its weight (one, if not given)."""
    N, K = responses.n_items, responses.n_classes
    cells = responses.item_of_answer()
    cells *= K
    cells += responses.by_item.labels
    each = None if weights is None else weights[responses.by_item.codes]
    return np.bincount(cells, each, minlength=N * K).reshape(N, K).astype(float)


def belief_sums(responses: Responses, found: Floats, threads: int | None = None) -> Sums:
    """What given beliefs ``[item, class]`` say of annotators and classes."""
    L = found.shape[1]
    return _sums(responses, L, threads, labelling.belief_counts, found, _lanes(L))


def posteriors(
    responses: Responses, confusions: Floats, prior: Floats, threads: int | None = None
) -> tuple[Floats, float]:
    """Posteriors ``[item, class]`` by (20) and (26), and the log-likelihood of all answers."""
    found = np.empty((responses.n_items, len(prior)))
    tables = _floored(confusions), _floored(prior), _lanes(len(prior)), _long(responses)
    parts = in_pieces(
        lambda begin, end: labelling.posterior_beliefs(
            *responses.by_item, begin, end, *tables, found
        ),
        responses.n_items,
        threads,
        LEAST_ITEMS,
    )
    return found, float(sum(parts))


def posterior_sums(
    responses: Responses, confusions: Floats, prior: Floats, threads: int | None = None
) -> Sums:
    """What a model's posteriors say of annotators and classes; rows need not sum to one."""
    L = len(prior)
    tables = _floored(confusions), _floored(prior), _lanes(L), _long(responses)
    return _sums(responses, L, threads, labelling.posterior_counts, *tables)


def _sums(
    responses: Responses,
    n_true: int,
    threads: int | None,
    add_up: Callable[..., float | None],
    *model: Any,
) -> Sums:
    shape = responses.n_annotators, responses.n_classes, n_true

    def add_piece(begin: int, end: int) -> Sums:
        counts, totals = np.zeros(shape), np.zeros(n_true)
        likelihood = add_up(*responses.by_item, begin, end, *model, counts, totals)
        return Sums(counts, totals, likelihood or 0.0)

    parts = in_pieces(add_piece, responses.n_items, threads, LEAST_ITEMS)
    counts, totals, likelihoods = zip(*parts, strict=True)
    return Sums(np.sum(counts, axis=0), np.sum(totals, axis=0), float(sum(likelihoods)))


def log_of(probabilities: Floats) -> Floats:
    """Logarithms as the kernels would have them: finite for a probability of zero."""
    return np.asarray(np.log(_floored(probabilities)))


def _floored(probabilities: Floats) -> Floats:
    """With nothing below the least probability that the kernels know."""
    return np.maximum(probabilities, labelling.LEAST)


def _lanes(n_true: int) -> tuple[float, ...]:
    """As many entries as classes, by which a kernel is compiled for this number of them."""
    return (0.0,) * n_true


def _long(responses: Responses) -> tuple[float, ...]:
    """Empty, unless some item has more answers than a kernel may multiply."""
    longest = responses.labels_per_item.max(initial=0)
    return (0.0,) if longest > labelling.RUN else ()
