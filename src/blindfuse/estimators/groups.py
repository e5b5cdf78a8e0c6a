"""EM in which each group of dependent annotators counts as one annotator.

The responses of a group to an item are joined into one symbol, of which there are up to (K + 1)^g.
The confusion matrix of the group then contains the probabilities of all joint responses, whatever
the correlation of its members.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.em import EMParameters, make_e_step, run_em
from blindfuse.model.model import Model, weigh_confusions
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


@dataclass(frozen=True, eq=False)
class JointModel:
    """Confusion matrices of single annotators, and of groups whose joint response is one response.

    Attributes
    ----------
    annotators
        the model of all annotators one by one, with the weights of members of groups.
    groups
        positions of the members of each group.
    singles ``[single, reported, true]``
        confusion matrices of the annotators in no group.
    patterns, probabilities
        ``patterns[g][symbol, member]`` are the joint responses of group g in the fit, and
        ``probabilities[g][symbol, true]`` those of each of them.
    threads
        maximum number of threads.
    """

    annotators: Model
    groups: list[NDArray[np.intp]]
    singles: Floats
    patterns: list[NDArray[np.intp]]
    probabilities: list[Floats]
    threads: int | None = None

    def posteriors(self, responses: Responses) -> Floats:
        """Return the posteriors ``[item, class]`` of these items, as :meth:`Model.posteriors`.

        The members of a group count with the probability of their joint response. One that no
        item of the fit had counts with the sum of those that are equal to it in all responses
        given, so that missing members are summed over. If there are none either, it counts with
        the product of the members' own probabilities, each to the power of the member's weight.
        """
        known = responses.recoded(self.annotators.annotators, self.annotators.classes)
        joined = join_groups(known, self.groups)
        n_singles, K = len(self.singles), known.n_classes
        confusions = np.ones((joined.responses.n_annotators, joined.responses.n_symbols, K))
        confusions[:n_singles, :K] = self.singles
        for g, pattern in enumerate(joined.patterns):
            confusions[n_singles + g, : len(pattern)] = self._probabilities_of(g, pattern)
        prior = self.annotators.prior
        return compute_posteriors(joined.responses, confusions, prior, self.threads)[0]

    def _probabilities_of(self, g: int, pattern: NDArray[np.intp]) -> Floats:
        """Probabilities ``[symbol, true]`` of the joint responses ``pattern[symbol, member]``."""
        same = pattern[:, None] == self.patterns[g]
        counted = same.all(axis=2)  # [symbol, symbol of the fit]
        is_new = ~counted.any(axis=1)
        counted[is_new] = (same | (pattern < 0)[:, None])[is_new].all(axis=2)
        found = counted @ self.probabilities[g]
        unknown = ~counted.any(axis=1)
        members = self.annotators.weighted_confusions[self.groups[g]]
        found[unknown] = _multiply_members(members, pattern[unknown])
        return np.asarray(found)


def fit_groups(
    responses: Responses,
    groups: Sequence[Sequence[int]],
    weights: Floats,
    start: Floats,
    threads: int | None = None,
    tolerance: float = TOLERANCE,
) -> tuple[JointModel, Floats, Floats]:
    """Run EM with each group as one annotator.

    Return a model, its posteriors ``[item, class]`` and log-likelihoods ``[iteration]``. EM starts
    from the posteriors ``start``. Joint symbols have one pseudo-count each on average, in
    proportion to the product of the members' own probabilities, each to the power of its weight.
    EM stops when the log-likelihood per response rises by less than ``tolerance``.
    """
    joined = join_groups(responses, [_most_active(responses, group) for group in groups])
    initial = count_posteriors(joined.responses, start, threads)
    K, n_singles = responses.n_classes, len(joined.singles)
    shrinkage = make_shrinkage("learned", initial.counts[:n_singles, :K]) if n_singles else None

    def m_step(expected: ExpectedCounts) -> EMParameters:
        return _m_step(expected, joined, weights, shrinkage)

    e_step = make_e_step(joined.responses, threads)
    n_responses = joined.responses.n_responses
    result = run_em(e_step, m_step, initial, n_responses, MAX_ITER, tolerance)
    confusions, prior = result.parameters.evidence
    joint = JointModel(
        _model_of_annotators(responses, joined, e_step(result.parameters), prior, weights),
        joined.groups,
        confusions[:n_singles, :K],
        joined.patterns,
        [confusions[n_singles + g, : len(pattern)] for g, pattern in enumerate(joined.patterns)],
        threads,
    )
    return joint, joint.posteriors(responses), result.log_likelihoods


def _model_of_annotators(
    responses: Responses,
    joined: JoinedResponses,
    expected: ExpectedCounts,
    prior: Floats,
    weights: Floats,
) -> Model:
    """One confusion matrix per annotator, from the expected counts of the joined responses."""
    K, n_singles = responses.n_classes, len(joined.singles)
    counts = np.empty((responses.n_annotators, K, K))
    counts[joined.singles] = expected.counts[:n_singles, :K]
    for g, (members, pattern) in enumerate(zip(joined.groups, joined.patterns, strict=True)):
        counts[members] = _member_counts(expected.counts[n_singles + g], pattern)
    confusions = make_shrinkage("learned", counts).shrink(counts)
    return Model(confusions, prior, responses.annotators, responses.classes, weights)


def join_groups(responses: Responses, groups: list[NDArray[np.intp]]) -> JoinedResponses:
    """Join the responses of each group to an item into one symbol."""
    singles = np.setdiff1d(np.arange(responses.n_annotators), np.concatenate(groups))
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
    for g, members in enumerate(groups):
        labelled, joint_symbols, pattern = _join_group(responses, members)
        patterns.append(pattern)
        cells.append((labelled, np.full(len(labelled), len(singles) + g), joint_symbols))
    n_symbols = max(responses.n_classes, *(len(pattern) for pattern in patterns))
    joined = Responses.from_codes(
        *(np.concatenate(columns) for columns in zip(*cells, strict=True)),
        items=responses.items,
        annotators=np.arange(len(singles) + len(groups)),
        classes=np.arange(n_symbols),
    )
    return JoinedResponses(joined, singles, groups, patterns)


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
        own = _member_counts(counts, pattern) + 0.5 / K
        own /= own.sum(axis=1, keepdims=True)
        product = _multiply_members(weigh_confusions(own, weights[members]), pattern)
        total = counts + len(pattern) * product / product.sum(axis=0)
        confusions[n_singles + g, : len(pattern)] = total / total.sum(axis=0)
    prior = expected.totals / expected.totals.sum()
    return EMParameters(confusions, prior, (confusions, prior), log_prior)


def _member_counts(counts: Floats, pattern: NDArray[np.intp]) -> Floats:
    """Counts ``[member, reported, true]`` from those of joint symbols, ``counts[symbol, true]``."""
    K = counts.shape[1]
    own = np.zeros((pattern.shape[1], K, K))
    for member, reported in enumerate(pattern.T):
        symbols = np.flatnonzero(reported >= 0)
        np.add.at(own[member], reported[symbols], counts[symbols])
    return own


def _multiply_members(confusions: Floats, pattern: NDArray[np.intp]) -> Floats:
    """Π_m Γ_m(pattern[symbol, m], k) of the members that responded, ``[symbol, true]``."""
    product = np.ones((len(pattern), confusions.shape[2]))
    for own, reported in zip(confusions, pattern.T, strict=True):
        is_given = reported >= 0
        product[is_given] *= own[reported[is_given]]
    return product
