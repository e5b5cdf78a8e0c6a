"""The items of a large table that are looked at where more would change nothing."""

import numpy as np

from blindfuse.typing import Codes

MAX_SAMPLED = 20_000
"""Maximum number of items that agreement, features and confidences are measured on. A share of them
has a standard error of at most 0.4 points."""


def evenly_spaced(n_items: int, maximum: int = MAX_SAMPLED) -> Codes:
    """Positions of all items, or of at most ``maximum`` of them at equal distances."""
    return np.arange(0, n_items, -(-n_items // maximum) or 1)
