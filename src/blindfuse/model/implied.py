"""The model that labels or posteriors imply, for methods without a model of their own."""

from blindfuse.model.model import Model
from blindfuse.model.posteriors import count_posteriors
from blindfuse.model.shrinkage import make_shrinkage
from blindfuse.responses.responses import Responses
from blindfuse.typing import Floats


def implied_model(responses: Responses, posteriors: Floats, threads: int | None) -> Model:
    """Confusion matrices and prior under posteriors ``[item, class]``, with learned shrinkage."""
    counts = count_posteriors(responses, posteriors, threads)
    shrinkage = make_shrinkage("learned", counts.counts, responses.anchor)
    prior = counts.totals / counts.totals.sum()
    names = responses.annotators, responses.classes, None, responses.symbols
    return Model(shrinkage.shrink(counts.counts), prior, *names)
