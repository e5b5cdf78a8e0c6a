"""The same responses in another order and under other names."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse import Responses


@dataclass(frozen=True, eq=False)
class Shuffled:
    """Shuffled and renamed responses, and where their items and classes come from."""

    responses: Responses
    items: NDArray[np.intp]
    classes: NDArray[np.intp]

    def restore(self, labels: NDArray[np.str_]) -> NDArray[np.intp]:
        """Class codes of the labels, in the order and coding of the original responses."""
        codes = np.array([int(label.removeprefix("class ")) for label in labels.tolist()])
        restored = np.empty(len(labels), dtype=np.intp)
        restored[self.items] = self.classes[codes]
        return restored


def shuffle(responses: Responses, seed: int) -> Shuffled:
    """Shuffle rows, items, annotators and classes, and rename the classes."""
    rng = np.random.default_rng(seed)
    items, annotators, classes = (
        rng.permutation(n) for n in (responses.n_items, responses.n_annotators, responses.n_classes)
    )
    rows = rng.permutation(responses.n_responses)
    table = Responses.from_codes(
        np.argsort(items)[responses.item_of_response()][rows],
        np.argsort(annotators)[responses.by_item.codes][rows],
        np.argsort(classes)[responses.by_item.symbols][rows],
        items=responses.items[items],
        annotators=responses.annotators[annotators],
        classes=[f"class {k}" for k in range(responses.n_classes)],
    )
    return Shuffled(table, items, classes)
