"""Known labels of some items, as positions and class codes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.errors import BadLabels, naming
from blindfuse.responses.coding import as_names, positions
from blindfuse.responses.responses import Responses


def gold_codes(
    responses: Responses, gold: Mapping[Any, Any]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the gold items stand among the items, and the codes of their classes."""
    if not gold:  # names of items are not looked up in vain
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    items, labels = as_names(list(gold)), as_names(list(gold.values()))
    item_at, class_at = positions(items, responses.items), positions(labels, responses.classes)
    if np.any(item_at < 0):
        raise BadLabels(f"Gold items {naming(items[item_at < 0])} have no answers. Leave them out.")
    if np.any(class_at < 0):
        raise BadLabels(
            f"Gold labels {naming(labels[class_at < 0])} are none of the classes "
            f"{naming(responses.classes)}. Name them in classes=."
        )
    return item_at, class_at
