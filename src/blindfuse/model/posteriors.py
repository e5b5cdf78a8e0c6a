"""Posteriors of items, and the counts of responses that they imply for each annotator.

Posteriors ``[item, class]`` come from the majority vote or from a model. Most methods need only
their sums over items, :class:`ExpectedCounts`; those are computed without storing the posteriors.
The number of classes in a model may differ from the number of symbols that annotators report.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from blindfuse.kernels import posteriors as kernels
from blindfuse.kernels.compilation import MIN_COMPILED, lanes_of
from blindfuse.kernels.threads import map_threads
from blindfuse.model.anchored_votes import (
    ScoreRule,
    class_votes,
    initial_codes,
    score_votes,
)
from blindfuse.model.checks import check_shape
from blindfuse.model.incidence import observed_incidence
from blindfuse.responses.packing import PackedResponses
from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes, Floats

MIN_ITEMS_PER_THREAD = 8_000
"""With fewer items per thread, starting the thread costs more than it saves."""


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
    entropy
        sum over items of the entropy of the posteriors in nats; 0 if it was not computed.
    """

    counts: Floats
    totals: Floats
    log_likelihood: float = 0.0
    entropy: float = 0.0

    def __add__(self, other: "ExpectedCounts") -> "ExpectedCounts":
        return ExpectedCounts(
            self.counts + other.counts,
            self.totals + other.totals,
            self.log_likelihood + other.log_likelihood,
            self.entropy + other.entropy,
        )

    @property
    def entropy_per_item(self) -> float:
        """The mean entropy of the posteriors of an item."""
        return self.entropy / max(float(self.totals.sum()), 1.0)

    def with_entropy(self, confusions: Floats, prior: Floats) -> "ExpectedCounts":
        """The same with the entropy, if the posteriors are those of this model.

        The log-likelihood is the expected log-likelihood of responses and classes plus the entropy
        of the classes (Neal and Hinton 1998).
        """
        complete = np.sum(self.counts * safe_log(confusions)) + self.totals @ safe_log(prior)
        return replace(self, entropy=max(self.log_likelihood - float(complete), 0.0))


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
    if not responses.is_plain:
        return _anchored_units(responses, rule)
    if responses.n_responses < MIN_COMPILED:
        return _units_of_winners(weighted_votes(responses))
    units = np.empty((responses.n_items, responses.n_classes))
    lanes = lanes_of(responses.n_classes)
    map_threads(
        lambda begin, end: kernels.vote_posteriors(*responses.by_item, begin, end, lanes, units),
        responses.n_items,
        threads,
        MIN_ITEMS_PER_THREAD,
    )
    return units


def _units_of_winners(votes: Floats) -> Floats:
    """The classes with most votes ``[item, class]`` share the units of an item."""
    most = votes.max(axis=1, keepdims=True)
    wins = votes == most
    share = np.floor(kernels.UNITS_PER_VOTE / wins.sum(axis=1, keepdims=True))
    return np.where(wins & (most > 0), share, 0.0)


def _anchored_units(responses: Responses, rule: ScoreRule | None) -> Floats:
    """The same for symbols that are not classes; sums of votes are rounded, so that ties are."""
    codes = initial_codes(responses, rule)
    if codes is None:
        return _units_of_winners(np.round(class_votes(responses), 9))
    units = np.zeros((responses.n_items, responses.n_classes))
    known = np.flatnonzero(codes >= 0)
    units[known, codes[known]] = kernels.UNITS_PER_VOTE
    return units


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
    if responses.n_responses < MIN_COMPILED:
        return _count_small(responses, _vote_units(responses, threads, rule))
    if not responses.is_plain:
        return count_posteriors(responses, _vote_units(responses, threads, rule), threads)
    K = responses.n_classes
    lanes = lanes_of(K)
    return _sum_over_items(responses, K, threads, kernels.vote_counts, lanes)


def votes_from_units(units: ExpectedCounts) -> ExpectedCounts:
    """Convert the units of :func:`count_vote_units` to votes."""
    return ExpectedCounts(
        units.counts / kernels.UNITS_PER_VOTE, units.totals / kernels.UNITS_PER_VOTE
    )


def weighted_votes(
    responses: Responses, weights: Floats | None = None, rule: ScoreRule | None = None
) -> Floats:
    """Return the sum of ``weights[annotator]`` per item and class, ``[item, class]``.

    Without weights, every response counts as one vote. Where symbols are not classes, a response
    votes through the anchor (:func:`~blindfuse.model.anchored_votes.class_votes`).
    """
    if not responses.is_plain:
        return class_votes(responses, weights, rule)
    N, K = responses.n_items, responses.n_classes
    if responses.n_responses >= MIN_COMPILED:
        votes = np.zeros((N, K))
        given = np.ones(responses.n_annotators) if weights is None else weights
        factors = np.ascontiguousarray(given, dtype=float)
        check_shape(factors, "weights", (responses.n_annotators,))
        kernels.item_votes(*responses.by_item, factors, votes)
        return votes
    cells = responses.item_of_response()
    cells *= K
    cells += responses.by_item.symbols
    each = None if weights is None else weights[responses.by_item.codes]
    return np.bincount(cells, each, minlength=N * K).reshape(N, K).astype(float)


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
    if len(posteriors) < MIN_COMPILED:
        return np.asarray(np.argmax(posteriors, axis=1))
    codes = np.empty(len(posteriors), dtype=np.intp)
    kernels.argmax_rows(posteriors, codes)
    return codes


def count_posteriors(
    responses: Responses, posteriors: Floats, threads: int | None = None
) -> ExpectedCounts:
    """Return the expected counts under given posteriors ``[item, class]``."""
    L = np.shape(posteriors)[-1]
    check_shape(posteriors, "posteriors", (responses.n_items, L))
    if responses.n_responses < MIN_COMPILED:
        return _count_small(responses, posteriors)
    lanes = lanes_of(L)
    inputs = np.ascontiguousarray(posteriors, dtype=float), lanes
    return _sum_over_items(responses, L, threads, kernels.posterior_counts, *inputs)


def compute_posteriors(
    responses: Responses, confusions: Floats, prior: Floats, threads: int | None = None
) -> tuple[Floats, float]:
    """Return a model's posteriors ``[item, class]``, (20) and (26), and the log-likelihood.

    P(class k given the responses to item n) ∝ π_k Π_m Γ_m(f_m(n), k).
    """
    _check_parameters(responses, confusions, prior)
    if responses.n_responses < MIN_COMPILED:
        posteriors, log_likelihoods = _small_posteriors(responses, confusions, prior)
        return posteriors, float(log_likelihoods.sum())
    posteriors = np.empty((responses.n_items, len(prior)))
    model = _floored(confusions), _floored(prior), lanes_of(len(prior)), _long(responses)
    sums = map_threads(
        lambda begin, end: kernels.model_posteriors(
            *responses.by_item, begin, end, *model, posteriors
        ),
        responses.n_items,
        threads,
        MIN_ITEMS_PER_THREAD,
    )
    return posteriors, float(sum(sums))


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
    if sizes is not None:
        check_shape(sizes, "sizes", (responses.n_items,))
    if responses.n_responses < MIN_COMPILED:
        posteriors, log_likelihoods = _small_posteriors(responses, confusions, prior)
        weights = np.ones(responses.n_items) if sizes is None else sizes
        expected = _count_small(responses, weights[:, None] * posteriors)
        return replace(expected, log_likelihood=float((weights * log_likelihoods).sum()))
    L, parameters = len(prior), (_floored(confusions), _floored(prior))
    if responses.packed is not None:
        return _packed_expected_counts(responses.packed, *parameters, threads, sizes)
    model = *parameters, lanes_of(L), _long(responses), sizes
    return _sum_over_items(responses, L, threads, kernels.model_counts, *model)


def _packed_expected_counts(
    packed: PackedResponses,
    confusions: Floats,
    prior: Floats,
    threads: int | None,
    sizes: Floats | None,
) -> ExpectedCounts:
    """The same for packed responses: joint probabilities of several annotators are looked up."""
    tables, divisors = packed.tables(confusions, prior)
    weights = packed.pattern_weights(sizes)
    in_pairs, lanes = len(packed.groups) == 2, lanes_of(len(prior))

    def sum_block(begin: int, end: int) -> tuple[Floats, float]:
        sums = np.zeros_like(tables)
        if in_pairs:  # blocks end where the patterns of a first code end
            first, last = np.searchsorted(packed.starts[:-1], (begin, end))
            block = packed.starts, packed.codes, first, last
            return sums, kernels.packed_pair_counts(*block, tables, lanes, weights, sums)
        return sums, kernels.packed_counts(packed.codes, begin, end, tables, lanes, weights, sums)

    blocks = map_threads(sum_block, len(packed.codes), threads, MIN_ITEMS_PER_THREAD)
    (sums, log_likelihood), *others = blocks
    for other_sums, other_log_likelihood in others:
        sums += other_sums
        log_likelihood += other_log_likelihood
    if in_pairs:
        sums *= tables
    if divisors is not None:
        log_likelihood += float(sums.sum(axis=1) @ np.log(divisors))
    return ExpectedCounts(*packed.unpack_counts(sums, confusions.shape[1]), log_likelihood)


def _small_posteriors(
    responses: Responses, confusions: Floats, prior: Floats
) -> tuple[Floats, Floats]:
    """Return posteriors ``[item, class]`` and log-likelihoods ``[item]`` without a kernel."""
    matrix, rows = observed_incidence(responses)
    joint = matrix @ safe_log(confusions.reshape(-1, len(prior))[rows]) + safe_log(prior)
    best = joint.max(axis=1, keepdims=True)
    posteriors = np.exp(joint - best)
    total = posteriors.sum(axis=1, keepdims=True)
    posteriors /= total
    return posteriors, (best + np.log(total))[:, 0]


def _count_small(responses: Responses, posteriors: Floats) -> ExpectedCounts:
    """Return the expected counts without a kernel; sums are in the same order as the kernel's."""
    matrix, rows = observed_incidence(responses)
    counts = np.zeros((responses.n_annotators, responses.n_symbols, posteriors.shape[1]))
    counts.reshape(-1, posteriors.shape[1])[rows] = matrix.T @ posteriors
    return ExpectedCounts(counts, posteriors.sum(axis=0))


def _sum_over_items(
    responses: Responses,
    n_true: int,
    threads: int | None,
    add_items: Callable[..., float | None],
    *arguments: Any,
) -> ExpectedCounts:
    """Run a kernel that adds items to counts and totals on one block of items per thread."""
    shape = responses.n_annotators, responses.n_symbols, n_true

    def sum_block(begin: int, end: int) -> ExpectedCounts:
        counts, totals = np.zeros(shape), np.zeros(n_true)
        log_likelihood = add_items(*responses.by_item, begin, end, *arguments, counts, totals)
        return ExpectedCounts(counts, totals, log_likelihood or 0.0)

    return reduce(add, map_threads(sum_block, responses.n_items, threads, MIN_ITEMS_PER_THREAD))


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


def _long(responses: Responses) -> bool | None:
    """Return None if no item has more responses than can be multiplied without underflow.

    Kernels are then compiled without the code for such items.
    """
    longest = responses.responses_per_item.max(initial=0)
    return True if longest > kernels.MAX_FACTORS else None
