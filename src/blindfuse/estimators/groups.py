"""EM in which a group of annotators who err together answers as one.

A group's answers to an item, taken together, are one answer of K^g possible ones: what its members
say alike or apart is then worth what it is, however they copy from one another.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.estimators.em import Parameters, make_e_step, plain_parameters, run_em
from blindfuse.model.model import Model
from blindfuse.model.posteriors import ExpectedCounts, compute_posteriors, count_posteriors
from blindfuse.model.shrinkage import DEFAULT_PSEUDO_COUNT, normalize_columns, pooled_pseudo_counts
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]

MOST_TOGETHER = 1_000
"""Answers that a group may give together; a larger group is cut down to its busiest members."""


class Joint(NamedTuple):
    """Responses in which each group is one annotator, after those who are in none.

    ``alone[i]`` are the positions of the latter; group g answered in the ways
    ``ways[g][row, member]``, −1 where a member did not answer, and ``row`` is the label.
    """

    responses: Responses
    alone: NDArray[np.intp]
    groups: list[NDArray[np.intp]]
    ways: list[NDArray[np.intp]]


def fit_groups(
    responses: Responses,
    groups: Sequence[Sequence[int]],
    weights: Floats,
    start: Floats,
    threads: int | None = None,
) -> tuple[Model, Floats, Floats]:
    """A model, posteriors ``[item, class]`` and log-likelihoods, with each of these groups as one.

    EM starts from the posteriors ``start``. A way in which a group seldom answers is credited with
    one label, spread like the product of its members' own probabilities, each to the power of its
    weight. The model has a matrix for every annotator, and these ``weights`` for new items.
    """
    joint = together(responses, groups)
    sums = count_posteriors(joint.responses, start, threads)

    def m_step(found: ExpectedCounts) -> Parameters:
        return _m_step(found, joint, weights, responses.n_classes)

    found = run_em(
        make_e_step(joint.responses, threads), m_step, sums, joint.responses.n_responses, 1000, 1e-7
    )
    beliefs, _ = compute_posteriors(joint.responses, *found.parameters.evidence, threads)
    counts = count_posteriors(responses, beliefs, threads).counts
    confusions = normalize_columns(counts + pooled_pseudo_counts(counts, DEFAULT_PSEUDO_COUNT))
    names = responses.annotators, responses.classes
    return Model(confusions, found.parameters.prior, *names, weights), beliefs, found.history


def together(responses: Responses, groups: Sequence[Sequence[int]]) -> Joint:
    """The answers of each group to an item as one label."""
    K, N = responses.n_classes, responses.n_items
    kept = [_busiest(responses, group) for group in groups]
    alone = np.setdiff1d(np.arange(responses.n_annotators), np.concatenate(kept))
    place = np.full(responses.n_annotators, -1)
    place[alone] = np.arange(len(alone))
    items = responses.item_of_response()
    _, annotators, labels = responses.by_item
    single = place[annotators] >= 0
    cells = [(items[single], place[annotators[single]], labels[single].astype(np.int64))]
    ways = []
    for g, members in enumerate(kept):
        code = np.zeros(N, dtype=np.int64)
        for m in members:
            own = annotators == m
            code *= K + 1
            code[items[own]] += labels[own] + 1
        answered = np.flatnonzero(code)
        distinct, row = np.unique(code[answered], return_inverse=True)
        digits = [distinct // (K + 1) ** power % (K + 1) for power in range(len(members))]
        ways.append(np.column_stack(digits[::-1]) - 1)
        cells.append((answered, np.full(len(answered), len(alone) + g), row))
    n_ways = max(K, *(len(way) for way in ways))
    merged = Responses.from_codes(
        *(np.concatenate(part) for part in zip(*cells, strict=True)),
        items=responses.items,
        annotators=np.arange(len(alone) + len(kept)),
        classes=np.arange(n_ways),
    )
    return Joint(merged, alone, kept, ways)


def _busiest(responses: Responses, group: Sequence[int]) -> NDArray[np.intp]:
    """As many members as may answer together, those with most labels first."""
    most = int(np.log(MOST_TOGETHER) / np.log(responses.n_classes + 1))
    members = np.array(group)
    order = np.argsort(-responses.responses_per_annotator[members], kind="stable")
    return np.sort(members[order[:most]])


def _m_step(sums: ExpectedCounts, joint: Joint, weights: Floats, n_classes: int) -> Parameters:
    K, n_alone = n_classes, len(joint.alone)
    confusions = np.full_like(sums.counts, 1.0)
    alone = sums.counts[:n_alone, :K]
    if n_alone:
        confusions[:n_alone, :K] = normalize_columns(
            alone + pooled_pseudo_counts(alone, DEFAULT_PSEUDO_COUNT)
        )
    for g, (members, way) in enumerate(zip(joint.groups, joint.ways, strict=True)):
        counts = sums.counts[n_alone + g, : len(way)]
        product = np.ones_like(counts)
        for m, said in zip(members, way.T, strict=True):
            own = np.full((K, K), 0.5 / K)
            np.add.at(own, said[said >= 0], counts[said >= 0])
            own /= own.sum(axis=0)
            product[said >= 0] *= own[said[said >= 0]] ** weights[m]
        pseudo = len(way) * product / product.sum(axis=0)
        confusions[n_alone + g, : len(way)] = (counts + pseudo) / (counts + pseudo).sum(axis=0)
    return plain_parameters(confusions, sums.totals / sums.totals.sum())
