"""Known labels of some items, as positions and class codes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse.coding import key
from blindfuse.errors import BadLabels, naming
from blindfuse.responses import Responses


def gold_codes(
    responses: Responses, gold: Mapping[Any, Any]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the gold items stand among the items, and the codes of their classes."""
    item_at = {key(name): at for at, name in enumerate(responses.items.tolist())}
    class_at = {key(name): at for at, name in enumerate(responses.classes.tolist())}
    strangers = [item for item in gold if key(item) not in item_at]
    if strangers:
        raise BadLabels(f"Gold items {naming(strangers)} have no answers. Leave them out.")
    unknown = [label for label in gold.values() if key(label) not in class_at]
    if unknown:
        raise BadLabels(
            f"Gold labels {naming(unknown)} are none of the classes {naming(responses.classes)}. "
            "Name them in classes=."
        )
    positions = np.array([item_at[key(item)] for item in gold], dtype=np.intp)
    truth = np.array([class_at[key(label)] for label in gold.values()], dtype=np.intp)
    return positions, truth
