"""The Bayes-optimal use of an annotator's own symbols: each is read as the class it speaks for."""

import numpy as np

from blindfuse.model.model import Model
from blindfuse.responses.responses import Responses
from blindfuse.responses.rows import Rows
from blindfuse.typing import Codes


def decided_classes(model: Model) -> Codes:
    """Return the class argmax_k π_k Γ_m(r, k) that each symbol speaks for, ``[annotator, symbol]``.

    With a single annotator, this is the MAP rule (20).
    """
    return np.asarray((model.confusions * model.prior).argmax(axis=2))


def decide(responses: Responses, model: Model) -> tuple[Responses, Model]:
    """Return the responses and the model in classes, as if annotators had reported decisions.

    The accuracies of the returned model are those of the given one. Both must have the same
    annotators and symbols, in the same order.
    """
    decided = decided_classes(model)
    starts, annotators, symbols = responses.by_item
    rows = Rows(starts, annotators, decided[annotators, symbols])
    one_hot = np.eye(len(model.classes))[decided]
    confusions = np.einsum("mrc,mrk->mck", one_hot, model.confusions)
    annotators, classes = responses.annotators, responses.classes
    table = Responses(responses.items, annotators, rows, classes=classes)
    return table, Model(confusions, model.prior, annotators, classes)
