"""Pairs and triples of annotators in lexicographic order, and the tables stored in that order."""

from itertools import permutations

import numpy as np

from blindfuse.typing import Array, Codes

Positions = Codes


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
