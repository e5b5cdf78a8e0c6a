"""Annotators connected through common items."""

import numpy as np

from blindfuse.kernels.compilation import inlined, kernel


@inlined
def _root(parents, node):
    """Return the root of a node's tree (union-find), and halve the path to it."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@kernel
def connected_components(starts, annotators, n_annotators):
    """Return ``roots[annotator]``, equal for annotators that are connected by common items.

    ``starts`` and ``annotators`` are the responses by item.
    """
    parents = np.empty(n_annotators, np.int64)
    for annotator in range(n_annotators):
        parents[annotator] = annotator
    for item in range(starts.size - 1):
        for response in range(starts[item] + 1, starts[item + 1]):
            one = _root(parents, np.int64(annotators[response - 1]))
            other = _root(parents, np.int64(annotators[response]))
            parents[max(one, other)] = min(one, other)
    for annotator in range(n_annotators):
        parents[annotator] = _root(parents, annotator)
    return parents
