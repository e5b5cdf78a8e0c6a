"""Responses as a sparse matrix, whose products replace kernels for small tables."""

from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array

from blindfuse.responses.responses import Responses
from blindfuse.typing import Codes

_matrices: WeakKeyDictionary[Responses, csr_array] = WeakKeyDictionary()
_observed: WeakKeyDictionary[Responses, tuple[csr_array, Codes]] = WeakKeyDictionary()


def incidence(responses: Responses) -> csr_array:
    """Return the matrix ``[item, (annotator, symbol)]`` that is one where a response is.

    It is kept as long as the responses are, because EM needs it in every iteration.
    """
    found = _matrices.get(responses)
    if found is None:
        starts, annotators, symbols = responses.by_item
        cells = annotators.astype(np.intp) * responses.n_symbols + symbols
        shape = responses.n_items, responses.n_annotators * responses.n_symbols
        found = csr_array((np.ones(len(cells)), cells, starts), shape=shape)
        _matrices[responses] = found
    return found


def observed_incidence(responses: Responses) -> tuple[csr_array, Codes]:
    """Return the columns of :func:`incidence` that are not empty, and their positions.

    With many classes, an annotator reports few of them.
    """
    found = _observed.get(responses)
    if found is None:
        _, annotators, symbols = responses.by_item
        cells = annotators.astype(np.intp) * responses.n_symbols + symbols
        positions, columns = np.unique(cells, return_inverse=True)
        shape = responses.n_items, len(positions)
        matrix = csr_array((np.ones(len(cells)), columns, responses.by_item.starts), shape=shape)
        found = _observed[responses] = matrix, positions
    return found
