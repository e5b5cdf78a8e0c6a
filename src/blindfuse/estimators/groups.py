"""EM in which each group of dependent annotators counts as one annotator.

The responses of a group to an item are joined into one symbol, of which there are up to (K + 1)^g.
The confusion matrix of the group then contains the probabilities of all joint responses, whatever
the correlation of its members.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.em import EMParameters, make_e_step, run_em
from blindfuse.model.model import Model
from blindfuse.model.posteriors import ExpectedCounts, compute_posteriors, count_posteriors
from blindfuse.model.shrinkage import Shrinkage, make_shrinkage
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MAX_JOINT_SYMBOLS = 1_000
"""Joint symbols of a group; a larger group keeps only its members with most responses."""
MAX_ITER, TOLERANCE = 1000, 1e-7
"""Iterations of EM, and the rise of the log-likelihood per response at which it stops."""


class JoinedResponses(NamedTuple):
    """Responses in which each group is one annotator, listed after the single annotators.

    ``singles[i]`` are the positions of annotators in no group, and ``groups[g]`` those of the
    members of each group. ``patterns[g][symbol, member]`` is the symbol that each member reported
    in a joint symbol of group g, or −1 if it is missing.
    """

    responses: Responses
    singles: NDArray[np.intp]
    groups: list[NDArray[np.intp]]
    patterns: list[NDArray[np.intp]]


def fit_groups(
    responses: Responses,
    groups: Sequence[Sequence[int]],
    weights: Floats,
    start: Floats,
    threads: int | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[Model, Floats, Floats]:
    """Run EM with each group as one annotator.

    Return a model, posteriors ``[item, class]`` and log-likelihoods ``[iteration]``. EM starts from
    the posteriors ``start``. Joint symbols have one pseudo-count each on average, in proportion to
    the product of the members' own probabilities, each to the power of its weight. The model has
    one confusion matrix per annotator, and these ``weights`` for new items. EM stops when the
    log-likelihood per response rises by less than ``tolerance``.
    """
    joined = join_groups(responses, groups)
    initial = count_posteriors(joined.responses, start, threads)
    K, n_singles = responses.n_classes, len(joined.singles)
    shrinkage = make_shrinkage("learned", initial.counts[:n_singles, :K]) if n_singles else None

    def m_step(expected: ExpectedCounts) -> EMParameters:
        return _m_step(expected, joined, weights, shrinkage)

    e_step = make_e_step(joined.responses, threads)
    n_responses = joined.responses.n_responses
    result = run_em(e_step, m_step, initial, n_responses, MAX_ITER, tolerance)
    posteriors, _ = compute_posteriors(joined.responses, *result.parameters.evidence, threads)
    counts = count_posteriors(responses, posteriors, threads).counts
    confusions = make_shrinkage("learned", counts).shrink(counts)
    names = responses.annotators, responses.classes
    model = Model(confusions, result.parameters.prior, *names, weights)
    return model, posteriors, result.log_likelihoods


def join_groups(responses: Responses, groups: Sequence[Sequence[int]]) -> JoinedResponses:
    """Join the responses of each group to an item into one symbol."""
    kept = [_most_active(responses, group) for group in groups]
    singles = np.setdiff1d(np.arange(responses.n_annotators), np.concatenate(kept))
    new_position = np.full(responses.n_annotators, -1)
    new_position[singles] = np.arange(len(singles))
    items = responses.item_of_response()
    _, annotators, symbols = responses.by_item
    is_single = new_position[annotators] >= 0
    cells = [
        (
            items[is_single],
            new_position[annotators[is_single]],
            symbols[is_single].astype(np.int64),
        )
    ]
    patterns = []
    for g, members in enumerate(kept):
        labelled, joint_symbols, pattern = _join_group(responses, members)
        patterns.append(pattern)
        cells.append((labelled, np.full(len(labelled), len(singles) + g), joint_symbols))
    n_symbols = max(responses.n_classes, *(len(pattern) for pattern in patterns))
    joined = Responses.from_codes(
        *(np.concatenate(columns) for columns in zip(*cells, strict=True)),
        items=responses.items,
        annotators=np.arange(len(singles) + len(kept)),
        classes=np.arange(n_symbols),
    )
    return JoinedResponses(joined, singles, kept, patterns)


def _join_group(
    responses: Responses, members: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the items that the group labelled, their joint symbols, and the symbols' patterns."""
    K = responses.n_classes
    items = responses.item_of_response()
    _, annotators, symbols = responses.by_item
    code = np.zeros(responses.n_items, dtype=np.int64)
    for m in members:
        own = annotators == m
        code *= K + 1
        code[items[own]] += symbols[own] + 1
    labelled = np.flatnonzero(code)
    distinct, joint_symbols = np.unique(code[labelled], return_inverse=True)
    digits = [distinct // (K + 1) ** power % (K + 1) for power in range(len(members))]
    return labelled, joint_symbols, np.column_stack(digits[::-1]) - 1


def _most_active(responses: Responses, group: Sequence[int]) -> NDArray[np.intp]:
    """Return as many members as MAX_JOINT_SYMBOLS allows, those with most responses first."""
    max_members = int(np.log(MAX_JOINT_SYMBOLS) / np.log(responses.n_classes + 1))
    members = np.array(group)
    order = np.argsort(-responses.responses_per_annotator[members], kind="stable")
    return np.sort(members[order[:max_members]])


def _m_step(
    expected: ExpectedCounts, joined: JoinedResponses, weights: Floats, shrinkage: Shrinkage | None
) -> EMParameters:
    K, n_singles = len(expected.totals), len(joined.singles)
    confusions, log_prior = np.full_like(expected.counts, 1.0), 0.0
    if shrinkage is not None:
        singles = shrinkage.shrink(expected.counts[:n_singles, :K])
        log_prior = shrinkage.log_density(singles)
        confusions[:n_singles, :K] = singles
    for g, (members, pattern) in enumerate(zip(joined.groups, joined.patterns, strict=True)):
        counts = expected.counts[n_singles + g, : len(pattern)]
        product = _independent_probabilities(counts, pattern, weights[members])
        total = counts + len(pattern) * product / product.sum(axis=0)
        confusions[n_singles + g, : len(pattern)] = total / total.sum(axis=0)
    prior = expected.totals / expected.totals.sum()
    return EMParameters(confusions, prior, (confusions, prior), log_prior)


def _independent_probabilities(
    counts: Floats, pattern: NDArray[np.intp], weights: Floats
) -> Floats:
    """Return Π_m Γ_m(pattern[symbol, m], k)^w_m of the members of a group, ``[symbol, true]``.

    The members' confusion matrices come from the ``counts[symbol, true]`` of the group.
    """
    K = counts.shape[1]
    product = np.ones_like(counts)
    for reported, weight in zip(pattern.T, weights, strict=True):
        is_given = reported >= 0
        own = np.full((K, K), 0.5 / K)
        np.add.at(own, reported[is_given], counts[is_given])
        own /= own.sum(axis=0)
        product[is_given] *= own[reported[is_given]] ** weight
    return product
