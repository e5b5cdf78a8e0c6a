"""Rows and positions that a user selects."""

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadParameter
from blindfuse.responses.rows import Rows, row_starts
from blindfuse.typing import Codes


def as_positions(chosen: ArrayLike, count: int, kind: str) -> Codes:
    """Convert positions (possibly negative) or a mask to positions from 0."""
    try:
        index = np.atleast_1d(np.asarray(chosen))
        places = np.arange(count)[index if index.size else []]
        if places.ndim == 1:
            return places
        reason = f"the selection has the shape {places.shape}"
    except (IndexError, ValueError) as error:
        reason = str(error)
    raise BadParameter(
        f"These {kind} cannot be selected: {reason}. Pass positions below {count:,}, or a mask."
    )


def select_rows(rows: Rows, places: Codes) -> tuple[Rows, Codes]:
    """Return the rows at these positions, in this order, and the positions of their entries."""
    counts = np.diff(rows.starts)[places]
    first = np.repeat(rows.starts[places] - (np.cumsum(counts) - counts), counts)
    chosen = first + np.arange(counts.sum())
    return Rows(row_starts(counts), rows.codes[chosen], rows.symbols[chosen]), chosen
