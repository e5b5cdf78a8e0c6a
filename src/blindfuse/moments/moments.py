"""Sample moments (17)–(19) and (25) of the responses, and the objective (21) that matches them."""

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from blindfuse.model.arrays import check_shape, matrix_shape
from blindfuse.typing import Array, Codes, Floats

Positions = Codes

Counts = Array


def all_tuples(n_annotators: int, size: int) -> Positions:
    """Return all pairs m < m' (``size=2``) or triples m < m' < m'' (3) ``[tuple, member]``."""
    groups = np.arange(n_annotators)[:, None]
    for _ in range(size - 1):
        larger = n_annotators - 1 - groups[:, -1]
        ends = np.cumsum(larger)
        last = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends, larger) + n_annotators
        groups = np.column_stack([np.repeat(groups, larger, axis=0), last])
    return groups


def tuple_rank(groups: Positions, n_annotators: int) -> Positions:
    """Return the row of each group in :func:`all_tuples`; its members may be in any order."""
    members = np.sort(groups, axis=1)
    size = members.shape[1]
    rank = np.zeros(len(members), dtype=np.intp)
    for position in range(size):
        remaining = size - position
        begin = members[:, position - 1] + 1 if position else np.zeros(len(members), np.intp)
        rank += _choose(n_annotators - begin, remaining)
        rank -= _choose(n_annotators - members[:, position], remaining)
    return rank


def gather_tables(tables: Array, groups: Positions, n_annotators: int) -> Array:
    """Return the tables of these groups, with axes in the order of each group's members.

    ``tables[tuple, symbol, …]`` has one table per row of :func:`all_tuples`.
    """
    axes = np.argsort(np.argsort(groups, axis=1), axis=1)
    sorted_tables = tables[tuple_rank(groups, n_annotators)]
    gathered = np.empty_like(sorted_tables)
    for order in permutations(range(groups.shape[1])):
        rows = np.all(axes == order, axis=1)
        gathered[rows] = sorted_tables[rows].transpose(0, *(1 + axis for axis in order))
    return gathered


def _choose(n: Positions, k: int) -> Positions:
    """Return binomial coefficients, for k up to three."""
    product = np.ones_like(n)
    for i in range(k):
        product = product * (n - i) // (i + 1)
    return product


@dataclass(frozen=True, eq=False)
class Moments:
    """Sample moments (25), and the number of items that each is an average over.

    Attributes
    ----------
    n_items
        number of items, including those without responses.
    first ``[annotator, symbol]``
        μ_m.
    second ``[pair, symbol, symbol]``
        S_mm' for annotators m < m', in lexicographic order.
    third ``[triple, symbol, symbol, symbol]``
        T_mm'm'' for annotators m < m' < m'', in lexicographic order.
    items_per_annotator ``[annotator]``, items_per_pair ``[pair]``, items_per_triple ``[triple]``
        number of items labelled by all of these annotators; where it is zero, so is the moment.
    """

    n_items: float
    first: Floats
    second: Floats
    third: Floats
    items_per_annotator: Counts
    items_per_pair: Counts
    items_per_triple: Counts

    def __post_init__(self) -> None:
        M, K = matrix_shape(self.first, "first")
        n_pairs, n_triples = math.comb(M, 2), math.comb(M, 3)
        check_shape(self.second, "second", (n_pairs, K, K))
        check_shape(self.third, "third", (n_triples, K, K, K))
        check_shape(self.items_per_annotator, "items_per_annotator", (M,))
        check_shape(self.items_per_pair, "items_per_pair", (n_pairs,))
        check_shape(self.items_per_triple, "items_per_triple", (n_triples,))

    def reordered(self, annotators: Codes, symbols: Codes) -> "Moments":
        """Return the moments of the annotators and symbols at these positions, in this order."""
        M = len(self.first)
        pairs = annotators[all_tuples(len(annotators), 2)]
        triples = annotators[all_tuples(len(annotators), 3)]
        second = gather_tables(self.second, pairs, M)
        third = gather_tables(self.third, triples, M)
        return Moments(
            self.n_items,
            self.first[annotators][:, symbols],
            second[:, symbols][:, :, symbols],
            third[:, symbols][:, :, symbols][:, :, :, symbols],
            self.items_per_annotator[annotators],
            self.items_per_pair[tuple_rank(pairs, M)],
            self.items_per_triple[tuple_rank(triples, M)],
        )

    def weights(self, weighting: str) -> tuple[Floats, Floats, Floats]:
        """Return the weights of the first-, second- and third-order moments in the objective.

        ``"counts"``: the number of items labelled by all of its annotators, divided by N.
        ``"equal"``: one, as in the paper, or zero if there is no such item.
        """
        counts = (self.items_per_annotator, self.items_per_pair, self.items_per_triple)
        if weighting == "equal":
            first, second, third = ((count > 0).astype(float) for count in counts)
        else:
            first, second, third = (count / (self.n_items or 1) for count in counts)
        return first, second, third

    def objective(self, confusions: Floats, prior: Floats, weights: str = "counts") -> float:
        """Return h_N of (21) with weighted terms, computed from its definition."""
        M = len(confusions)
        scaled = confusions * prior
        pair, triple = all_tuples(M, 2).T, all_tuples(M, 3).T
        models: tuple[Array, ...] = (
            confusions @ prior,
            np.einsum("pak,pbk->pab", scaled[pair[0]], confusions[pair[1]]),
            np.einsum(
                "tak,tbk,tck->tabc",
                scaled[triple[0]],
                confusions[triple[1]],
                confusions[triple[2]],
                optimize=True,
            ),
        )
        return 0.5 * sum(
            float(weight @ ((sample - model) ** 2).reshape(len(weight), -1).sum(axis=1))
            for weight, sample, model in zip(
                self.weights(weights), (self.first, self.second, self.third), models, strict=True
            )
        )
