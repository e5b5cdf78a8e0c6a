"""Which response counts where an annotator labelled an item more than once."""

from typing import Any, Literal, get_args

import numpy as np

from blindfuse.errors import BadParameter, list_names
from blindfuse.responses.notes import count_note
from blindfuse.typing import Array, Flags

Repeats = Literal["most_frequent", "last", "first", "error"]
"""Values of ``repeats=``. Only ``"last"`` and ``"first"`` depend on the order of the rows."""
NumberRepeats = Literal["mean", "median", "last", "first", "error"]
"""Values of ``repeats=`` where responses are numbers."""


def check_repeats(repeats: Any, allowed: Any) -> None:
    """Raise BadParameter unless ``repeats`` is one of the ``Repeats`` or ``NumberRepeats``."""
    if repeats not in get_args(allowed):
        raise BadParameter(f"repeats={repeats!r} must be one of {list_names(get_args(allowed))}.")


def resolve_repeats(
    starts: Array, codes: Array, symbols: Array, repeats: str
) -> tuple[Array, Array, Array, int, int]:
    """Keep one response per row and code; the codes of a row must be in ascending order.

    Also returns the number of responses beyond the first per row and code, and the number of pairs
    of row and code that are dropped because they have no most frequent symbol.
    """
    equals_previous = np.zeros(len(codes) + 1, dtype=bool)  # the last entry stays False
    np.equal(codes[1:], codes[:-1], out=equals_previous[1:-1])
    equals_previous[starts] = False
    again = np.flatnonzero(equals_previous)
    if not len(again):
        return starts, codes, symbols, 0, 0
    if repeats in ("last", "first", "error"):
        dropped = again - 1 if repeats == "last" else again
        return *_drop(starts, codes, symbols, dropped), len(again), 0
    firsts = again[np.diff(again, prepend=-1) != 1] - 1
    members = np.concatenate([firsts, again])
    run_of_member = np.searchsorted(firsts, members, side="right") - 1
    is_tied = np.zeros(len(firsts), dtype=bool)
    if repeats == "most_frequent":
        combined, is_tied = _most_frequent(run_of_member, symbols[members])
    else:
        combined = _centres(run_of_member, symbols[members], repeats)
    dropped = np.sort(np.concatenate([again, firsts[is_tied]]))
    rows = _drop(starts, codes, symbols, dropped)
    remaining = firsts[~is_tied]
    rows[2][remaining - np.searchsorted(dropped, remaining)] = combined[~is_tied]
    return *rows, len(again), int(np.count_nonzero(is_tied))


def _drop(
    starts: Array, codes: Array, symbols: Array, dropped: Array
) -> tuple[Array, Array, Array]:
    """Return rows without the responses at these positions, which ascend."""
    kept = np.ones(len(codes), dtype=bool)
    kept[dropped] = False
    rows = np.searchsorted(starts, dropped, side="right")
    n_before = np.cumsum(np.bincount(rows, minlength=len(starts)))
    return (starts - n_before).astype(starts.dtype), codes[kept], symbols[kept]


def _most_frequent(runs: Array, symbols: Array) -> tuple[Array, Flags]:
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


def _centres(runs: Array, numbers: Array, how: str) -> Array:
    """Return the mean or the median of the numbers of each run.

    Numbers are sorted first, so that rounding does not depend on the order of the rows.
    """
    order = np.lexsort((numbers, runs))
    ordered, starts = numbers[order], np.flatnonzero(np.diff(runs[order], prepend=-1))
    sizes = np.diff(starts, append=len(runs))
    if how == "mean":
        return np.asarray(np.add.reduceat(ordered, starts) / sizes)
    return np.asarray((ordered[starts + (sizes - 1) // 2] + ordered[starts + sizes // 2]) / 2)


def repeat_notes(repeated: int, contradictory: int, noun: str = "response") -> list[str]:
    """Return notes about annotators who responded to an item more than once."""
    return [
        *count_note(repeated, f"repeated {noun}{{s}}: one per item and annotator counts"),
        *count_note(
            contradictory,
            "contradictory response{s} treated as missing, because an annotator labelled the item "
            "more than once and no label is the most frequent. Pass repeats='last' or 'first' "
            "(--repeats) to keep one, or item= (--item) if another column names the items",
        ),
    ]
