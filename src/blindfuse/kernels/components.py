"""Who is linked to whom through items that they share."""

import numpy as np

from blindfuse.kernels.compilation import kernel


@kernel
def _head(heads, one):
    """The head of one's group; on the way there, everybody moves closer to it."""
    while heads[one] != one:
        heads[one] = heads[heads[one]]
        one = heads[one]
    return one


@kernel
def link(starts, annotators, n_annotators):
    """The head of each annotator's group, ``[annotator]``: equal for those who share items."""
    heads = np.arange(n_annotators)
    for item in range(starts.size - 1):
        for answer in range(starts[item] + 1, starts[item + 1]):
            one = _head(heads, np.int64(annotators[answer - 1]))
            other = _head(heads, np.int64(annotators[answer]))
            heads[max(one, other)] = min(one, other)
    for annotator in range(n_annotators):
        heads[annotator] = _head(heads, annotator)
    return heads
