"""Pairs and triples of annotators, in lexicographic order, and tables that belong to them."""

from itertools import combinations, permutations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.intp]


def all_tuples(n_annotators: int, size: int) -> Positions:
    """All pairs m < m' (``size`` 2) or triples m < m' < m'' (3), one a row."""
    count = comb(n_annotators, size)
    flat = (m for group in combinations(range(n_annotators), size) for m in group)
    return np.fromiter(flat, np.intp, count * size).reshape(count, size)


def rank(groups: Positions, n_annotators: int) -> Positions:
    """Where each group, in any order of its members, stands among all of its size."""
    members = np.sort(groups, axis=1)
    size = members.shape[1]
    before = np.zeros(len(members), dtype=np.intp)
    for position in range(size):
        left = size - position
        begin = members[:, position - 1] + 1 if position else np.zeros(len(members), np.intp)
        before += _choose(n_annotators - begin, left)
        before -= _choose(n_annotators - members[:, position], left)
    return before


def tables_of(tables: NDArray[Any], groups: Positions, n_annotators: int) -> NDArray[Any]:
    """The tables ``[tuple, label, …]`` of these groups, with axes in the order of their members."""
    axes = np.argsort(np.argsort(groups, axis=1), axis=1)
    picked = tables[rank(groups, n_annotators)]
    turned = np.empty_like(picked)
    for order in permutations(range(groups.shape[1])):
        rows = np.all(axes == order, axis=1)
        turned[rows] = picked[rows].transpose(0, *(1 + axis for axis in order))
    return turned


def _choose(n: Positions, k: int) -> Positions:
    """Binomial coefficients for k up to three."""
    product = np.ones_like(n)
    for i in range(k):
        product = product * (n - i) // (i + 1)
    return product
