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
    equals_previous = np.zeros(len(codes) + 1, dtype=bool)  # the last entry is always False
    np.equal(codes[1:], codes[:-1], out=equals_previous[1:-1])
    equals_previous[starts] = False
    repeated = int(np.count_nonzero(equals_previous))
    if not repeated:
        return Resolved(starts, codes, symbols)
    is_first = ~equals_previous[:-1]
    kept, contradictory = is_first, 0
    if repeats == "last":
        kept = ~equals_previous[1:]
    elif repeats == "most_frequent":
        in_run = equals_previous[:-1] | equals_previous[1:]
        runs, winners = _most_frequent(np.cumsum(is_first)[in_run], symbols[in_run])
        firsts = np.flatnonzero(is_first)[runs - 1]
        symbols = symbols.copy()
        symbols[firsts] = winners
        kept[firsts[winners < 0]] = False
        contradictory = int(np.count_nonzero(winners < 0))
    kept_before = np.concatenate(([0], np.cumsum(kept)))
    return Resolved(
        kept_before[starts].astype(starts.dtype),
        codes[kept],
        symbols[kept],
        repeated,
        contradictory,
    )


def _most_frequent(runs: NDArray[Any], symbols: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct runs in ascending order and the mode of each, −1 if it is tied."""
    n_symbols = int(symbols.max()) + 1
    pairs, counts = np.unique(runs * n_symbols + symbols, return_counts=True)
    run_of_pair, symbol_of_pair = np.divmod(pairs, n_symbols)
    order = np.lexsort((counts, run_of_pair))
    run_of_pair, symbol_of_pair, counts = (
        array[order] for array in (run_of_pair, symbol_of_pair, counts)
    )
    is_last = np.append(run_of_pair[1:] != run_of_pair[:-1], True)
    best = np.flatnonzero(is_last)
    second = np.maximum(best - 1, 0)
    is_tied = (best > 0) & (run_of_pair[second] == run_of_pair[best])
    is_tied &= counts[second] == counts[best]
    return run_of_pair[best], np.where(is_tied, -1, symbol_of_pair[best])


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
