"""Beliefs about items ``[item, class]``, and what they say of annotators.

Beliefs come from the majority vote or from a model. Where only their sums over items are needed,
they are not stored. What is believed in need not be the classes that annotators report: a model
may know more, or fewer, kinds of items.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels import labelling
from blindfuse.kernels.machine import lanes_of
from blindfuse.packing import Packed
from blindfuse.responses import Responses
from blindfuse.threads import in_pieces

Floats = NDArray[np.float64]

LEAST_ITEMS = 8_000
"""Fewer do not make up for a thread."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Beliefs added up over items; those of other items can be added.

    ``counts[annotator, reported, true]`` shares each answer among the classes by belief,
    ``totals[true]`` shares each item; ``likelihood`` is the log-likelihood of a model's answers.
    """

    counts: Floats
    totals: Floats
    likelihood: float = 0.0

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.counts + other.counts,
            self.totals + other.totals,
            self.likelihood + other.likelihood,
        )


def vote_shares(responses: Responses, threads: int | None = None) -> Floats:
    """The majority vote as beliefs ``[item, class]``: tied classes share the item equally.

    An item without answers believes in nothing (zeros).
    """
    shares = np.empty((responses.n_items, responses.n_classes))
    in_pieces(
        lambda begin, end: labelling.vote_beliefs(
            *responses.by_item, begin, end, lanes_of(responses.n_classes), shares
        ),
        responses.n_items,
        threads,
        LEAST_ITEMS,
    )
    return shares / labelling.WHOLE_VOTE


def vote_sums(responses: Responses, threads: int | None = None) -> Sums:
    """What the majority vote says of annotators and classes; exact, whatever the items' order."""
    return whole_votes(vote_parts(responses, threads))


def vote_parts(responses: Responses, threads: int | None = None) -> Sums:
    """The same in parts of a vote: whole numbers, so that they add up exactly over items."""
    K = responses.n_classes
    return _sums(responses, K, threads, labelling.vote_counts, lanes_of(K))


def whole_votes(parts: Sums) -> Sums:
    """Votes from their parts."""
    return Sums(parts.counts / labelling.WHOLE_VOTE, parts.totals / labelling.WHOLE_VOTE)


def weighted_votes(responses: Responses, weights: Floats | None = None) -> Floats:
    """Votes ``[item, class]``, each annotator's of its weight (one, if not given)."""
    N, K = responses.n_items, responses.n_classes
    cells = responses.item_of_answer()
    cells *= K
    cells += responses.by_item.labels
    each = None if weights is None else weights[responses.by_item.codes]
    return np.bincount(cells, each, minlength=N * K).reshape(N, K).astype(float)


def most_likely(found: Floats) -> NDArray[np.intp]:
    """The class of each item that is believed in most, ``[item]``; of equals, the first."""
    codes = np.empty(len(found), dtype=np.intp)
    labelling.largest(found, codes)
    return codes


def belief_sums(responses: Responses, found: Floats, threads: int | None = None) -> Sums:
    """What given beliefs ``[item, class]`` say of annotators and classes."""
    L = found.shape[1]
    each = np.ascontiguousarray(found, dtype=float), lanes_of(L)
    return _sums(responses, L, threads, labelling.belief_counts, *each)


def belief_squares(responses: Responses, found: Floats, threads: int | None = None) -> Floats:
    """Σ_n w_nk w_nl of beliefs w over each annotator's answers, ``[annotator, reported, k, l]``."""
    M, K, L = responses.n_annotators, responses.n_classes, found.shape[1]

    def add_piece(begin: int, end: int) -> Floats:
        squares = np.zeros((M, K, L, L))
        tables = found, lanes_of(L), squares
        labelling.belief_squares(*responses.by_item, begin, end, *tables)
        return squares

    return reduce(add, in_pieces(add_piece, responses.n_items, threads, LEAST_ITEMS))


def posteriors(
    responses: Responses, confusions: Floats, prior: Floats, threads: int | None = None
) -> tuple[Floats, float]:
    """Posteriors ``[item, class]`` by (20) and (26), and the log-likelihood of all answers."""
    found = np.empty((responses.n_items, len(prior)))
    tables = _floored(confusions), _floored(prior), lanes_of(len(prior)), _long(responses)
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
    responses: Responses,
    confusions: Floats,
    prior: Floats,
    threads: int | None = None,
    sizes: Floats | None = None,
) -> Sums:
    """What a model's posteriors say of annotators and classes; rows need not sum to one.

    ``sizes[item]`` says how often each item counts; once, if not given.
    """
    L = len(prior)
    if responses.packed is not None:
        return _packed_sums(responses.packed, _floored(confusions), _floored(prior), threads, sizes)
    tables = _floored(confusions), _floored(prior), lanes_of(L), _long(responses), sizes
    return _sums(responses, L, threads, labelling.posterior_counts, *tables)


def _packed_sums(
    packed: Packed,
    confusions: Floats,
    prior: Floats,
    threads: int | None,
    sizes: Floats | None,
) -> Sums:
    """The same by looking up joint answers of several annotators."""
    tables, divisors = packed.tables(confusions, prior)
    each = packed.weigh(sizes)
    in_pairs, lanes = len(packed.groups) == 2, lanes_of(len(prior))

    def add_piece(begin: int, end: int) -> tuple[Floats, float]:
        found = np.zeros_like(tables)
        if in_pairs:  # a piece ends where a first code does
            first, last = np.searchsorted(packed.starts[:-1], (begin, end))
            piece = packed.starts, packed.codes, first, last
            return found, labelling.paired_counts(*piece, tables, lanes, each, found)
        return found, labelling.packed_counts(packed.codes, begin, end, tables, lanes, each, found)

    (found, likelihood), *others = in_pieces(add_piece, len(packed.codes), threads, LEAST_ITEMS)
    for more, also in others:
        found += more
        likelihood += also
    if in_pairs:
        found *= tables
    if divisors is not None:
        likelihood += float(found.sum(axis=1) @ np.log(divisors))
    return Sums(*packed.spread(found, confusions.shape[1]), likelihood)


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

    return reduce(add, in_pieces(add_piece, responses.n_items, threads, LEAST_ITEMS))


def log_of(probabilities: Floats) -> Floats:
    """Logarithms as the kernels would have them: finite for a probability of zero."""
    return np.asarray(np.log(_floored(probabilities)))


def _floored(probabilities: Floats) -> Floats:
    """With nothing below the least probability that the kernels know."""
    return np.maximum(probabilities, labelling.LEAST, order="C")


def _long(responses: Responses) -> tuple[float, ...]:
    """Empty, unless some item has more answers than a kernel may multiply."""
    longest = responses.labels_per_item.max(initial=0)
    return (0.0,) if longest > labelling.RUN else ()
