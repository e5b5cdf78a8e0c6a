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

from blindfuse.kernels import posteriors as kernels
from blindfuse.kernels.compilation import lanes_of
from blindfuse.kernels.threads import map_threads
from blindfuse.responses.packing import Packed
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

LEAST_ITEMS = 8_000
"""Fewer do not make up for a thread."""


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Beliefs added up over items; those of other items can be added.

    ``counts[annotator, reported, true]`` shares each answer among the classes by belief,
    ``totals[true]`` shares each item; ``likelihood`` is the log-likelihood of a model's answers.
    """

    counts: Floats
    totals: Floats
    likelihood: float = 0.0

    def __add__(self, other: "ExpectedCounts") -> "ExpectedCounts":
        return ExpectedCounts(
            self.counts + other.counts,
            self.totals + other.totals,
            self.likelihood + other.likelihood,
        )


def vote_shares(responses: Responses, threads: int | None = None) -> Floats:
    """The majority vote as beliefs ``[item, class]``: tied classes share the item equally.

    An item without answers believes in nothing (zeros).
    """
    shares = np.empty((responses.n_items, responses.n_classes))
    map_threads(
        lambda begin, end: kernels.vote_posteriors(
            *responses.by_item, begin, end, lanes_of(responses.n_classes), shares
        ),
        responses.n_items,
        threads,
        LEAST_ITEMS,
    )
    return shares / kernels.UNITS_PER_VOTE


def count_votes(responses: Responses, threads: int | None = None) -> ExpectedCounts:
    """What the majority vote says of annotators and classes; exact, whatever the items' order."""
    return votes_from_units(count_vote_units(responses, threads))


def count_vote_units(responses: Responses, threads: int | None = None) -> ExpectedCounts:
    """The same in parts of a vote: whole numbers, so that they add up exactly over items."""
    K = responses.n_classes
    return _sums(responses, K, threads, kernels.vote_counts, lanes_of(K))


def votes_from_units(parts: ExpectedCounts) -> ExpectedCounts:
    """Votes from their parts."""
    return ExpectedCounts(
        parts.counts / kernels.UNITS_PER_VOTE, parts.totals / kernels.UNITS_PER_VOTE
    )


def weighted_votes(responses: Responses, weights: Floats | None = None) -> Floats:
    """Votes ``[item, class]``, each annotator's of its weight (one, if not given)."""
    N, K = responses.n_items, responses.n_classes
    cells = responses.item_of_response()
    cells *= K
    cells += responses.by_item.labels
    each = None if weights is None else weights[responses.by_item.codes]
    return np.bincount(cells, each, minlength=N * K).reshape(N, K).astype(float)


def most_likely(found: Floats) -> NDArray[np.intp]:
    """The class of each item that is believed in most, ``[item]``; of equals, the first."""
    codes = np.empty(len(found), dtype=np.intp)
    kernels.largest(found, codes)
    return codes


def count_posteriors(
    responses: Responses, found: Floats, threads: int | None = None
) -> ExpectedCounts:
    """What given beliefs ``[item, class]`` say of annotators and classes."""
    L = found.shape[1]
    each = np.ascontiguousarray(found, dtype=float), lanes_of(L)
    return _sums(responses, L, threads, kernels.posterior_counts_given, *each)


def posterior_products(responses: Responses, found: Floats, threads: int | None = None) -> Floats:
    """Σ_n w_nk w_nl of beliefs w over each annotator's answers, ``[annotator, reported, k, l]``."""
    M, K, L = responses.n_annotators, responses.n_classes, found.shape[1]

    def add_piece(begin: int, end: int) -> Floats:
        squares = np.zeros((M, K, L, L))
        tables = found, lanes_of(L), squares
        kernels.posterior_products(*responses.by_item, begin, end, *tables)
        return squares

    return reduce(add, map_threads(add_piece, responses.n_items, threads, LEAST_ITEMS))


def compute_posteriors(
    responses: Responses, confusions: Floats, prior: Floats, threads: int | None = None
) -> tuple[Floats, float]:
    """Posteriors ``[item, class]`` by (20) and (26), and the log-likelihood of all answers."""
    found = np.empty((responses.n_items, len(prior)))
    tables = _floored(confusions), _floored(prior), lanes_of(len(prior)), _long(responses)
    parts = map_threads(
        lambda begin, end: kernels.model_posteriors(*responses.by_item, begin, end, *tables, found),
        responses.n_items,
        threads,
        LEAST_ITEMS,
    )
    return found, float(sum(parts))


def expected_counts(
    responses: Responses,
    confusions: Floats,
    prior: Floats,
    threads: int | None = None,
    sizes: Floats | None = None,
) -> ExpectedCounts:
    """What a model's posteriors say of annotators and classes; rows need not sum to one.

    ``sizes[item]`` says how often each item counts; once, if not given.
    """
    L = len(prior)
    if responses.packed is not None:
        return _packed_sums(responses.packed, _floored(confusions), _floored(prior), threads, sizes)
    tables = _floored(confusions), _floored(prior), lanes_of(L), _long(responses), sizes
    return _sums(responses, L, threads, kernels.posterior_counts, *tables)


def _packed_sums(
    packed: Packed,
    confusions: Floats,
    prior: Floats,
    threads: int | None,
    sizes: Floats | None,
) -> ExpectedCounts:
    """The same by looking up joint answers of several annotators."""
    tables, divisors = packed.tables(confusions, prior)
    each = packed.weigh(sizes)
    in_pairs, lanes = len(packed.groups) == 2, lanes_of(len(prior))

    def add_piece(begin: int, end: int) -> tuple[Floats, float]:
        found = np.zeros_like(tables)
        if in_pairs:  # a piece ends where a first code does
            first, last = np.searchsorted(packed.starts[:-1], (begin, end))
            piece = packed.starts, packed.codes, first, last
            return found, kernels.paired_counts(*piece, tables, lanes, each, found)
        return found, kernels.packed_counts(packed.codes, begin, end, tables, lanes, each, found)

    (found, likelihood), *others = map_threads(add_piece, len(packed.codes), threads, LEAST_ITEMS)
    for more, also in others:
        found += more
        likelihood += also
    if in_pairs:
        found *= tables
    if divisors is not None:
        likelihood += float(found.sum(axis=1) @ np.log(divisors))
    return ExpectedCounts(*packed.spread(found, confusions.shape[1]), likelihood)


def _sums(
    responses: Responses,
    n_true: int,
    threads: int | None,
    add_up: Callable[..., float | None],
    *model: Any,
) -> ExpectedCounts:
    shape = responses.n_annotators, responses.n_classes, n_true

    def add_piece(begin: int, end: int) -> ExpectedCounts:
        counts, totals = np.zeros(shape), np.zeros(n_true)
        likelihood = add_up(*responses.by_item, begin, end, *model, counts, totals)
        return ExpectedCounts(counts, totals, likelihood or 0.0)

    return reduce(add, map_threads(add_piece, responses.n_items, threads, LEAST_ITEMS))


def safe_log(probabilities: Floats) -> Floats:
    """Logarithms as the kernels would have them: finite for a probability of zero."""
    return np.asarray(np.log(_floored(probabilities)))


def _floored(probabilities: Floats) -> Floats:
    """With nothing below the least probability that the kernels know."""
    return np.maximum(probabilities, kernels.LEAST, order="C")


def _long(responses: Responses) -> tuple[float, ...]:
    """Empty, unless some item has more answers than a kernel may multiply."""
    longest = responses.responses_per_item.max(initial=0)
    return (0.0,) if longest > kernels.RUN else ()
