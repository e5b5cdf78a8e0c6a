"""Responses in compressed rows (CSR), and sorting of responses into rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.sorting import count_rows, scatter
from blindfuse.kernels.threads import map_threads
from blindfuse.responses.coding import smallest_integer_dtype
from blindfuse.responses.repeats import Repeats, Resolved, resolve_repeats

MIN_RESPONSES_PER_THREAD = 1_000_000
"""With fewer responses, another thread saves no time."""


class Rows(NamedTuple):
    """Responses by row: row ``r`` is the slice ``starts[r]:starts[r + 1]`` of the other arrays.

    ``codes`` are annotators if rows are items, and items if rows are annotators. ``symbols`` are
    codes of what the annotators reported.
    """

    starts: NDArray[Any]
    codes: NDArray[Any]
    symbols: NDArray[Any]


def sort_into_rows(
    rows: NDArray[Any], codes: NDArray[Any], symbols: NDArray[Any], n_rows: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Sort responses into rows, stably; return the starts, codes and symbols of :class:`Rows`."""
    n_responses = len(rows)
    counts = map_threads(
        lambda begin, end: (begin, count_rows(rows[begin:end], n_rows)),
        n_responses,
        None,
        MIN_RESPONSES_PER_THREAD,
    )
    starts = row_starts(sum(count for _, count in counts))
    free, next_free = {}, starts[:-1]
    for begin, count in counts:  # the responses of a block come after those of earlier blocks
        free[begin] = next_free.copy()
        next_free = next_free + count
    row_codes, row_symbols = np.empty_like(codes), np.empty_like(symbols)

    def scatter_block(begin: int, end: int) -> None:
        block = rows[begin:end], codes[begin:end], symbols[begin:end]
        scatter(*block, free[begin], row_codes, row_symbols)

    map_threads(scatter_block, n_responses, None, MIN_RESPONSES_PER_THREAD)
    return starts, row_codes, row_symbols


def sort_and_deduplicate(
    rows: NDArray[Any],
    codes: NDArray[Any],
    symbols: NDArray[Any],
    shape: tuple[int, int],
    repeats: Repeats,
) -> Resolved:
    """Sort responses into rows, by code within a row, and keep one per code.

    ``shape`` holds the numbers of rows and of codes. Two stable sorts, first by code and then by
    row, keep responses with the same row and code in their original order.
    """
    n_rows, n_codes = shape
    ends, rows, symbols = sort_into_rows(codes, rows, symbols, n_codes)
    codes = np.repeat(np.arange(n_codes, dtype=codes.dtype), np.diff(ends))
    return resolve_repeats(*sort_into_rows(rows, codes, symbols, n_rows), repeats)


def row_starts(counts: NDArray[Any]) -> NDArray[Any]:
    """Return the start of each row, and the end of the last, from the number of entries per row."""
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts.astype(smallest_integer_dtype(int(starts[-1]), np.int32, np.int64))


def freeze_rows(starts: NDArray[Any], codes: NDArray[Any], symbols: NDArray[Any]) -> Rows:
    """Return contiguous, read-only rows."""
    return Rows(*(read_only(np.ascontiguousarray(array)) for array in (starts, codes, symbols)))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view
