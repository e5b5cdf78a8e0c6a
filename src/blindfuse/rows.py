"""Rows of answers in compressed form, and how answers are sorted into them."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.coding import smallest_integer

Repeats = Literal["last", "first", "error"]


class Rows(NamedTuple):
    """One compressed view of the answers: row ``r`` is ``starts[r]:starts[r + 1]`` of the rest.

    ``codes`` are annotators when rows are items, and items when rows are annotators.
    """

    starts: NDArray[Any]
    codes: NDArray[Any]
    labels: NDArray[Any]


def sort_once(cells: NDArray[np.int64], repeats: Repeats) -> tuple[NDArray[Any] | slice, int]:
    """How to sort the cells with each kept once, and how many that drops."""
    if len(cells) < 2 or np.all(cells[1:] > cells[:-1]):
        return slice(None), 0
    order = np.argsort(cells, kind="stable")
    differs = cells[order[1:]] != cells[order[:-1]]
    keep = np.append(True, differs) if repeats == "first" else np.append(differs, True)
    return order[keep], int(len(keep) - np.count_nonzero(keep))


def first_repeat(cells: NDArray[np.int64]) -> np.int64:
    """The lowest cell that comes more than once; there must be one."""
    ordered = np.sort(cells)
    return np.int64(ordered[1:][ordered[1:] == ordered[:-1]][0])


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
