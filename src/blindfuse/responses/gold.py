"""Gold labels of some items, as positions and class codes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.responses.coding import as_names, positions
from blindfuse.responses.responses import Responses
from blindfuse.responses.table import AnnotationTable
from blindfuse.typing import Codes


def check_gold(gold: Mapping[Any, Any] | None, what: str = "gold labels") -> None:
    """Raise BadParameter if gold labels, or labels called ``what``, are not a dictionary."""
    if gold is not None and not isinstance(gold, Mapping):
        raise BadParameter(
            f"{what} must be a dictionary {{item: label}}, not a {type(gold).__name__}. "
            "Name the items: dict(zip(items, labels)), or series.to_dict() for a pandas Series."
        )


def gold_positions(table: AnnotationTable, gold: Mapping[Any, Any], kind: str = "Gold") -> Codes:
    """Return the positions of the gold items among the items."""
    names = as_names(list(gold))
    places = positions(names, table.items)
    if np.any(places < 0):
        raise BadLabels(
            f"{kind} items {list_names(names[places < 0])} are not among the items. Leave them out."
        )
    return places


def gold_codes(
    responses: Responses, gold: Mapping[Any, Any] | None, kind: str = "Gold"
) -> tuple[Codes, Codes]:
    """Return the positions of the gold items among the items, and the codes of their classes."""
    check_gold(gold)
    if not gold:  # saves the look-up of all item names
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    item_at, labels = gold_positions(responses, gold, kind), as_names(list(gold.values()))
    class_at = positions(labels, responses.classes)
    if np.any(class_at < 0):
        unknown = dict.fromkeys(labels[class_at < 0].tolist())
        raise BadLabels(
            f"{kind} labels {list_names(unknown)} are not among the classes "
            f"{list_names(responses.classes)}. Add them to classes=."
        )
    return item_at, class_at
