"""Responses as a sparse matrix, whose products replace kernels for small tables."""

from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array

from blindfuse.responses.responses import Responses

_matrices: WeakKeyDictionary[Responses, csr_array] = WeakKeyDictionary()


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
