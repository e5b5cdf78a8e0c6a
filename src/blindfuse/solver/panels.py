"""Panels: the distinct sets of annotators that items were given to.

Gram matrices depend on who answered an item, not on what was said, so items of one panel share
them. Complete answers are one panel; crowds that work in batches have far fewer panels than items.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindfuse.responses import Responses, Rows


@dataclass(frozen=True)
class Panels:
    """Panels with their annotators, annotators with their panels, and items per panel.

    Both views are those of responses whose items are the panels; all labels are zero, because
    a panel is who answered, not what.
    """

    by_panel: Rows
    by_annotator: Rows
    sizes: NDArray[np.int64]


def find_panels(responses: Responses) -> Panels:
    """Group items by the set of annotators who answered them."""
    starts, codes, _ = responses.by_item
    # Two sets get the same sum of random 64-bit keys with a chance of N²/2⁶⁵: for ten million
    # different panels one in four hundred thousand, and then one Gram matrix is a little off.
    keys = np.random.default_rng(0).integers(2**64, size=responses.n_annotators, dtype=np.uint64)
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(keys[codes])])
    sums = running[starts[1:]] - running[starts[:-1]]
    _, example, sizes = np.unique(sums, return_index=True, return_counts=True)
    panels = responses.select_items(example)
    return Panels(_unlabelled(panels.by_item), _unlabelled(panels.by_annotator), sizes)


def _unlabelled(rows: Rows) -> Rows:
    zeros = np.zeros_like(rows.labels)
    zeros.flags.writeable = False
    return rows._replace(labels=zeros)
