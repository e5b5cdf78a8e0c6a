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


def sort_once(
    cells: NDArray[np.int64], repeats: Repeats
) -> tuple[NDArray[np.int64], NDArray[Any] | slice, int]:
    """The cells sorted, each once; where they were; and how many were dropped.

    The array that comes in may be changed.
    """
    if len(cells) < 2 or np.all(cells[1:] > cells[:-1]):
        return cells, slice(None), 0
    order = _sort(cells)
    differs = cells[1:] != cells[:-1]
    repeated = len(differs) - int(np.count_nonzero(differs))
    if not repeated:
        return cells, order, 0
    if repeats == "error":
        return cells[1:][~differs], order, repeated
    keep = np.append(True, differs) if repeats == "first" else np.append(differs, True)
    return cells[keep], order[keep], repeated


def _sort(cells: NDArray[np.int64]) -> NDArray[Any]:
    """Sort the cells in place, equal ones as they came, and say where each of them was.

    Cell and position are sorted as one number where they fit into it: a sort of plain numbers
    takes a fraction of the time of a stable argsort, and needs less memory.
    """
    bits = len(cells).bit_length()
    if int(cells.max()) >> (63 - bits):
        order = np.argsort(cells, kind="stable")
        cells[:] = cells[order]
        return order
    place = smallest_integer(len(cells), np.int32, np.int64)
    cells <<= bits
    cells |= np.arange(len(cells), dtype=place)
    cells.sort()
    order = np.bitwise_and(
        cells, (1 << bits) - 1, out=np.empty(len(cells), place), casting="unsafe"
    )
    cells >>= bits
    return order


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
