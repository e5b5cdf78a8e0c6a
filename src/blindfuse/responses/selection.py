"""Rows and positions that a user selects."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindfuse.errors import BadParameter
from blindfuse.responses.rows import Rows, row_starts


def as_positions(chosen: ArrayLike, count: int, kind: str) -> NDArray[np.intp]:
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


def select_rows(rows: Rows, places: NDArray[np.intp]) -> tuple[Rows, NDArray[np.intp]]:
    """Return the rows at these positions, in this order, and the positions of their entries."""
    counts = np.diff(rows.starts)[places]
    first = np.repeat(rows.starts[places] - (np.cumsum(counts) - counts), counts)
    chosen = first + np.arange(counts.sum())
    return Rows(row_starts(counts), rows.codes[chosen], rows.symbols[chosen]), chosen
