"""Posteriors of items, and the counts of responses that they imply for each annotator.

Posteriors ``[item, class]`` come from the majority vote or from a model. Most methods need only
their sums over items, :class:`ExpectedCounts`; those are computed without storing the posteriors.
The number of classes in a model may differ from the number of symbols that annotators report.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from blindfuse.kernels import posteriors as kernels
from blindfuse.kernels.posteriors import LANES
from blindfuse.kernels.threads import map_threads
from blindfuse.kernels.vectors import padded, padded_length
from blindfuse.model.anchored_votes import (
    ScoreRule,
    class_votes,
    initial_codes,
    score_votes,
)
from blindfuse.model.arrays import check_shape
from blindfuse.model.halves import halve
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

BLOCK_ITEMS = 16_384
"""Items whose likelihoods are held at once."""
NO_WEIGHTS = np.empty(0)
"""Every item counts once."""


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Posteriors summed over items. The sums of disjoint sets of items can be added.

    Attributes
    ----------
    counts ``[annotator, reported, true]``
        expected number of items of each true class for which the annotator reported each symbol.
    totals ``[true]``
        expected number of items of each class.
    log_likelihood
        log-likelihood of the responses under the model; 0 if the posteriors are not a model's.
    """

    counts: Floats
    totals: Floats
    log_likelihood: float = 0.0

    def __add__(self, other: "ExpectedCounts") -> "ExpectedCounts":
        return ExpectedCounts(
            self.counts + other.counts,
            self.totals + other.totals,
            self.log_likelihood + other.log_likelihood,
        )


def vote_posteriors(
    responses: Responses, threads: int | None = None, rule: ScoreRule | None = None
) -> Floats:
    """Return the majority vote as posteriors ``[item, class]``.

    The winning class has probability one; tied classes share it equally. The row of an item
    without responses is zero. Where symbols are not classes, this is what their anchor says of the
    item (:mod:`blindfuse.model.anchored_votes`); new scores need the ``rule`` of earlier ones.
    """
    return _vote_units(responses, threads, rule) / kernels.UNITS_PER_VOTE


def _vote_units(responses: Responses, threads: int | None, rule: ScoreRule | None = None) -> Floats:
    """Return the majority vote ``[item, class]`` in units of 1/720720 vote."""
    codes = None if responses.is_plain else initial_codes(responses, rule)
    if codes is not None:
        units = np.zeros((responses.n_items, responses.n_classes))
        known = np.flatnonzero(codes >= 0)
        units[known, codes[known]] = kernels.UNITS_PER_VOTE
        return units
    votes = weighted_votes(responses, threads=threads)
    if not responses.is_plain:
        votes = np.round(votes, 9)  # so that ties of sums are ties
    map_threads(lambda *block: kernels.vote_units(votes, *block), responses.n_items, threads)
    return votes


def count_votes(
    responses: Responses, threads: int | None = None, rule: ScoreRule | None = None
) -> ExpectedCounts:
    """Return the expected counts under the majority vote.

    The result is exact: it depends neither on the order of the items nor on the threads. A
    partition of scores needs the ``rule`` of the whole table.
    """
    return votes_from_units(count_vote_units(responses, threads, rule))


def count_vote_units(
    responses: Responses, threads: int | None = None, rule: ScoreRule | None = None
) -> ExpectedCounts:
    """Return the expected counts under the majority vote, in integer units of 1/720720 vote.

    Shares of tied classes are whole numbers of units, so sums over items are exact.
    """
    return count_posteriors(responses, _vote_units(responses, threads, rule), threads)


def votes_from_units(units: ExpectedCounts) -> ExpectedCounts:
    """Convert the units of :func:`count_vote_units` to votes."""
    return ExpectedCounts(
        units.counts / kernels.UNITS_PER_VOTE, units.totals / kernels.UNITS_PER_VOTE
    )


def weighted_votes(
    responses: Responses,
    weights: Floats | None = None,
    rule: ScoreRule | None = None,
    threads: int | None = None,
) -> Floats:
    """Return the sum of ``weights[annotator]`` per item and class, ``[item, class]``.

    Without weights, every response counts as one vote. Where symbols are not classes, a response
    votes through the anchor (:func:`~blindfuse.model.anchored_votes.class_votes`).
    """
    if not responses.is_plain:
        return class_votes(responses, weights, rule)
    given = np.ones(responses.n_annotators) if weights is None else weights
    factors = np.ascontiguousarray(given, dtype=float)
    check_shape(factors, "weights", (responses.n_annotators,))
    votes = np.zeros((responses.n_items, responses.n_classes))
    map_threads(
        lambda *block: kernels.item_votes(*responses.by_item, *block, factors, votes),
        responses.n_items,
        threads,
    )
    return votes


def baseline_votes(
    responses: Responses, rule: ScoreRule | None = None, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the votes ``[item, class]`` before any model, and their number ``[item]``.

    Scores are read by the ``rule`` (:func:`~blindfuse.model.anchored_votes.score_votes`), and
    probabilities count as parts of a vote. ``weights[annotator]`` multiply the votes. Symbols that
    speak for no class, such as abstentions, do not count.
    """
    if rule is not None or responses.anchor.kind == "order":
        return score_votes(responses, rule), responses.responses_per_item.astype(float)
    if responses.probabilities is None:
        votes = weighted_votes(responses, weights)
        return votes, votes.sum(axis=1)
    items, parts = responses.item_of_response(), responses.probabilities
    if weights is not None:
        parts = parts * weights[responses.by_item.codes][:, None]
    votes = np.stack([np.bincount(items, part, responses.n_items) for part in parts.T], axis=1)
    return votes, votes.sum(axis=1)


def most_likely(posteriors: Floats) -> Codes:
    """Return the most probable class of each item, ``[item]``; ties go to the first class."""
    check_shape(posteriors, "posteriors", (len(posteriors), max(1, np.shape(posteriors)[-1])))
    rows, codes = np.ascontiguousarray(posteriors, dtype=float), np.empty(len(posteriors), np.intp)
    map_threads(lambda *block: kernels.argmax_rows(rows, *block, codes), len(rows), None)
    return codes


def count_posteriors(
    responses: Responses, posteriors: Floats, threads: int | None = None
) -> ExpectedCounts:
    """Return the expected counts under given posteriors ``[item, class]``."""
    L = np.shape(posteriors)[-1]
    check_shape(posteriors, "posteriors", (responses.n_items, L))
    rows = np.ascontiguousarray(posteriors, dtype=float)

    def add_items(first: int, last: int, *sums: Floats) -> float:
        kernels.posterior_counts(*responses.by_item, first, last, rows, *sums)
        return 0.0

    return _sum_over_items(responses, L, threads, add_items)


def compute_posteriors(
    responses: Responses, confusions: Floats, prior: Floats, threads: int | None = None
) -> tuple[Floats, float]:
    """Return a model's posteriors ``[item, class]``, (20) and (26), and the log-likelihood.

    P(class k given the responses to item n) ∝ π_k Π_m Γ_m(f_m(n), k).
    """
    _check_parameters(responses, confusions, prior)
    posteriors = np.empty((responses.n_items, len(prior)))
    tables, no_sums = _model_tables(responses, confusions, prior), (np.empty((0, 0, 0)), NO_WEIGHTS)

    def fill(first: int, last: int) -> float:
        return _run_model(responses, first, last, tables, NO_WEIGHTS, posteriors, *no_sums)

    return posteriors, sum(map_threads(fill, responses.n_items, threads))


def expected_counts(
    responses: Responses,
    confusions: Floats,
    prior: Floats,
    threads: int | None = None,
    sizes: Floats | None = None,
) -> ExpectedCounts:
    """Return the expected counts under a model's posteriors: the E-step of EM.

    ``confusions`` need not sum to one over the reported symbols. ``sizes[item]`` is the weight of
    each item (one, if not given).
    """
    _check_parameters(responses, confusions, prior)
    halves = halve(responses, len(prior)) if sizes is None else None
    if halves is not None:
        counts, log_likelihood = halves.expected_counts(
            _floored(confusions), _floored(prior), threads
        )
        return ExpectedCounts(counts, counts[0].sum(axis=0), log_likelihood)
    weights = NO_WEIGHTS
    if sizes is not None:
        check_shape(sizes, "sizes", (responses.n_items,))
        weights = np.ascontiguousarray(sizes, dtype=float)
    tables, nowhere = _model_tables(responses, confusions, prior), np.empty((0, len(prior)))

    def add_items(first: int, last: int, *sums: Floats) -> float:
        return _run_model(responses, first, last, tables, weights, nowhere, *sums)

    return _sum_over_items(responses, len(prior), threads, add_items)


def _run_model(
    responses: Responses,
    first: int,
    last: int,
    tables: tuple[Floats, ...],
    weights: Floats,
    *arrays: Floats,
) -> float:
    """Store or add up the posteriors of the items ``first … last − 1``; return the log-likelihood.

    Likelihoods are kept for a block of items, for NumPy's logarithm: with that of the kernel,
    Dawid–Skene on 5·10⁶ sparse responses takes 1.35 times as long.
    """
    log_likelihood = 0.0
    for begin in range(first, last, BLOCK_ITEMS):
        end = min(begin + BLOCK_ITEMS, last)
        exponents, factors = np.empty((2, end - begin))
        kernels.model_posteriors(
            *responses.by_item, begin, end, *tables, weights, *arrays, exponents, factors
        )
        logs = np.log(factors) + exponents
        log_likelihood += float(np.sum(logs * weights[begin:end] if weights.size else logs))
    return log_likelihood


def _model_tables(
    responses: Responses, confusions: Floats, prior: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return confusion matrices and prior for the kernels, and their logarithms.

    If no item has more than MAX_FACTORS responses, the logarithms are never read.
    """
    model = padded(_floored(confusions), LANES), padded(_floored(prior), LANES)
    if responses.responses_per_item.max(initial=0) <= kernels.MAX_FACTORS:
        return *model, *model
    return *model, padded(safe_log(confusions), LANES), padded(safe_log(prior), LANES, -np.inf)


def _sum_over_items(
    responses: Responses,
    n_true: int,
    threads: int | None,
    add_items: Callable[[int, int, Floats, Floats], float],
) -> ExpectedCounts:
    """Add up counts and totals, on one block of items per thread.

    ``add_items(first, last, counts, totals)`` returns the log-likelihood of the block.
    """
    shape = responses.n_annotators, responses.n_symbols, padded_length(n_true, LANES)

    def sum_block(first: int, last: int) -> ExpectedCounts:
        sums = np.zeros(shape), np.zeros(shape[-1])
        return ExpectedCounts(*sums, add_items(first, last, *sums))

    expected: ExpectedCounts = reduce(add, map_threads(sum_block, responses.n_items, threads))
    counts = np.ascontiguousarray(expected.counts[..., :n_true])
    return replace(expected, counts=counts, totals=expected.totals[:n_true].copy())


def safe_log(probabilities: Floats) -> Floats:
    """Return logarithms with the same floor on probabilities as the kernels, so all are finite."""
    return np.asarray(np.log(_floored(probabilities)))


def _check_parameters(responses: Responses, confusions: Floats, prior: Floats) -> None:
    """Raise BadModel if the confusion matrices and the prior do not fit the responses."""
    shape = responses.n_annotators, responses.n_symbols, len(prior)
    check_shape(confusions, "confusions", shape)
    check_shape(prior, "prior", (len(prior),))


def _floored(probabilities: Floats) -> Floats:
    """Probabilities raised to the kernels' minimum, so that no single response is a veto."""
    return np.maximum(probabilities, kernels.MIN_PROBABILITY, order="C")
