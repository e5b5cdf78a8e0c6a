"""Rows of answers in compressed form, and how answers are sorted into them."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.kernels.sorting import count_rows, keep_one, scatter
from blindfuse.kernels.threads import map_threads
from blindfuse.responses.coding import smallest_integer

Repeats = Literal["last", "first", "error"]

LEAST_ANSWERS = 1_000_000
"""Fewer are not worth a thread."""


class Rows(NamedTuple):
    """One compressed view of the answers: row ``r`` is ``starts[r]:starts[r + 1]`` of the rest.

    ``codes`` are annotators when rows are items, and items when rows are annotators.
    """

    starts: NDArray[Any]
    codes: NDArray[Any]
    labels: NDArray[Any]


def grouped(
    rows: NDArray[Any], codes: NDArray[Any], labels: NDArray[Any], n_rows: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Answers row by row, within a row as they came: starts, codes and labels."""
    n_answers = len(rows)
    counts = map_threads(
        lambda begin, end: (begin, count_rows(rows[begin:end], n_rows)),
        n_answers,
        None,
        LEAST_ANSWERS,
    )
    starts = starts_of(sum(count for _, count in counts))
    free, place = {}, starts[:-1]
    for begin, count in counts:  # a piece's answers come after those of the pieces before it
        free[begin] = place.copy()
        place = place + count
    row_codes, row_labels = np.empty_like(codes), np.empty_like(labels)

    def put(begin: int, end: int) -> None:
        piece = rows[begin:end], codes[begin:end], labels[begin:end]
        scatter(*piece, free[begin], row_codes, row_labels)

    map_threads(put, n_answers, None, LEAST_ANSWERS)
    return starts, row_codes, row_labels


def sorted_once(
    rows: NDArray[Any],
    codes: NDArray[Any],
    labels: NDArray[Any],
    shape: tuple[int, int],
    repeats: Repeats,
) -> tuple[Rows, int]:
    """Answers row by row, each row sorted by code, each code once; and how many were dropped.

    ``shape`` is the number of rows and of codes. Sorted by code first, then by row: what has the
    same row stays sorted by code, and what has the same code too, as it came.
    """
    n_rows, n_codes = shape
    ends, rows, labels = grouped(codes, rows, labels, n_codes)
    codes = np.repeat(np.arange(n_codes, dtype=codes.dtype), np.diff(ends))
    starts, codes, labels = grouped(rows, codes, labels, n_rows)
    kept = np.empty(n_rows, starts.dtype)
    total = keep_one(starts, codes, labels, repeats == "last", kept)
    repeated = len(codes) - total
    if repeated:
        starts, codes, labels = starts_of(kept), codes[:total].copy(), labels[:total].copy()
    return frozen(starts, codes, labels), repeated


def starts_of(counts: NDArray[Any]) -> NDArray[Any]:
    """Where each row starts, with the end of the last one appended."""
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts.astype(smallest_integer(int(starts[-1]), np.int32, np.int64))


def frozen(starts: NDArray[Any], codes: NDArray[Any], labels: NDArray[Any]) -> Rows:
    """Contiguous rows that nobody can change."""
    return Rows(*(read_only(np.ascontiguousarray(part)) for part in (starts, codes, labels)))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
