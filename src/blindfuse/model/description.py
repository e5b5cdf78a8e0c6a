"""The model that given posteriors imply: what their labels say about the annotators."""

import numpy as np
from numpy.typing import NDArray

from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors
from blindfuse.model.shrinkage import make_shrinkage
from blindfuse.responses.responses import Responses

Floats = NDArray[np.float64]


def describe_posteriors(responses: Responses, posteriors: Floats, threads: int | None) -> Model:
    """The confusion matrices and prior that these posteriors imply, with learned shrinkage."""
    counts = count_posteriors(responses, posteriors, threads)
    confusions = make_shrinkage("learned", counts.counts).shrink(counts.counts)
    prior = counts.totals / counts.totals.sum()
    return Model(confusions, prior, responses.annotators, responses.classes)
