"""Which response counts where an annotator labelled an item more than once."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from blindfuse.responses.notes import count_note

Repeats = Literal["most_frequent", "last", "first", "error"]
"""Values of ``repeats=``. Only ``"last"`` and ``"first"`` depend on the order of the rows."""


class Resolved(NamedTuple):
    """Responses with at most one per row and code.

    ``repeated`` counts the responses beyond the first per row and code, and ``contradictory`` the
    pairs of row and code without a most frequent symbol, which are dropped.
    """

    starts: NDArray[Any]
    codes: NDArray[Any]
    symbols: NDArray[Any]
    repeated: int = 0
    contradictory: int = 0


def resolve_repeats(
    starts: NDArray[Any], codes: NDArray[Any], symbols: NDArray[Any], repeats: Repeats
) -> Resolved:
    """Keep one response per row and code; the codes of a row must be in ascending order."""
    equals_previous = np.zeros(len(codes) + 1, dtype=bool)  # the last entry stays False
    np.equal(codes[1:], codes[:-1], out=equals_previous[1:-1])
    equals_previous[starts] = False
    again = np.flatnonzero(equals_previous)
    if not len(again):
        return Resolved(starts, codes, symbols)
    dropped, n_tied = again, 0
    if repeats == "last":
        dropped = again - 1
    elif repeats == "most_frequent":
        firsts = again[np.diff(again, prepend=-1) != 1] - 1
        members = np.concatenate([firsts, again])
        run_of_member = np.searchsorted(firsts, members, side="right") - 1
        symbols = symbols.copy()
        symbols[firsts], is_tied = _most_frequent(run_of_member, symbols[members])
        n_tied = int(np.count_nonzero(is_tied))
        dropped = np.sort(np.concatenate([again, firsts[is_tied]]))
    return Resolved(
        (starts - np.searchsorted(dropped, starts)).astype(starts.dtype),
        np.delete(codes, dropped),
        np.delete(symbols, dropped),
        len(again),
        n_tied,
    )


def _most_frequent(
    runs: NDArray[Any], symbols: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return a most frequent symbol of each run, and whether another one is as frequent."""
    n_symbols = int(symbols.max()) + 1
    pairs, counts = np.unique(runs * n_symbols + symbols, return_counts=True)
    run_of_pair, symbol_of_pair = np.divmod(pairs, n_symbols)
    order = np.lexsort((counts, run_of_pair))
    run_of_pair, symbol_of_pair, counts = (
        array[order] for array in (run_of_pair, symbol_of_pair, counts)
    )
    best = np.flatnonzero(np.append(run_of_pair[1:] != run_of_pair[:-1], True))
    second = np.maximum(best - 1, 0)
    is_tied = (second < best) & (run_of_pair[second] == run_of_pair[best])
    return symbol_of_pair[best], is_tied & (counts[second] == counts[best])


def repeat_notes(repeated: int, contradictory: int) -> list[str]:
    """Return notes about annotators who labelled an item more than once."""
    return [
        *count_note(repeated, "repeated response{s}: one per item and annotator counts"),
        *count_note(
            contradictory,
            "contradictory response{s} treated as missing, because an annotator labelled the item "
            "more than once and no label is the most frequent. Pass repeats='last' or 'first' "
            "(--repeats) to keep one",
        ),
    ]
