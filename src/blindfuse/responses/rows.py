"""Responses in compressed rows (CSR): sorting, checks, and which of repeated responses counts."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.kernels.tables import scatter
from blindfuse.responses.coding import check_equal_lengths, smallest_integer_dtype
from blindfuse.responses.notes import count_note
from blindfuse.typing import Array, Codes, Flags

_FEW_RESPONSES = 1_000
"""Responses at the start of a table that are checked before all others."""


class Rows(NamedTuple):
    """Responses by row: row ``r`` is the slice ``starts[r]:starts[r + 1]`` of the other arrays.

    ``codes`` are annotators if rows are items, and items if rows are annotators. ``symbols`` are
    what the annotators reported: codes of labels or sets, or numbers.
    """

    starts: Array
    codes: Array
    symbols: Array


def sort_into_rows(rows: Array, codes: Array, symbols: Array, n_rows: int) -> Rows:
    """Sort responses into rows, stably."""
    starts = row_starts(np.bincount(rows, minlength=n_rows))
    row_codes, row_symbols = np.empty_like(codes), np.empty_like(symbols)
    scatter(rows, codes, symbols, starts[:-1].astype(np.int64), row_codes, row_symbols)
    return Rows(starts, row_codes, row_symbols)


def sort_by_row_and_code(rows: Array, codes: Array, symbols: Array, shape: tuple[int, int]) -> Rows:
    """Sort responses into rows, by code within a row, stably; repeats are kept.

    ``shape`` holds the numbers of rows and of codes.
    """
    n_rows, n_codes = shape
    if _ascend_strictly(rows, codes):
        return Rows(row_starts(np.bincount(rows, minlength=n_rows)), codes, symbols.copy())
    ends, rows, symbols = sort_into_rows(codes, rows, symbols, n_codes)
    return sort_into_rows(rows, row_of_entry(ends, codes.dtype), symbols, n_rows)


def _ascend_strictly(rows: Array, codes: Array) -> bool:
    """Whether responses are sorted by row and code without repeats, as exported tables often are.

    The first few responses are checked first, because they tell of most tables that they are not.
    """
    for size in (_FEW_RESPONSES, len(rows)):
        row, code = rows[:size], codes[:size]
        same_row = row[1:] == row[:-1]
        if not np.all((row[1:] > row[:-1]) | (same_row & (code[1:] > code[:-1]))):
            return False
    return True


def row_starts(counts: Array) -> Array:
    """Return the start of each row, and the end of the last, from the number of entries per row."""
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts.astype(item_dtype(int(starts[-1])))


def row_of_entry(starts: Array, dtype: Any = np.intp) -> Array:
    """Return the row of each entry of compressed rows."""
    return np.repeat(np.arange(len(starts) - 1, dtype=dtype), np.diff(starts))


def is_present(symbols: Array) -> Flags:
    """Return which symbols are not missing: codes that are not negative, and numbers but NaN."""
    return ~np.isnan(symbols) if symbols.dtype.kind == "f" else symbols >= 0


def check_rows(rows: Rows, shape: tuple[int, int, int | None]) -> Rows:
    """Return read-only rows that kernels can process; raise BadLabels if an index is out of bounds.

    Kernels do not check indices, so every table is checked here, in one pass over each array.
    ``shape`` holds the numbers of rows, codes and symbols; None for symbols that are numbers. Codes
    ascend within a row.
    """
    n_rows, n_codes, n_symbols = shape
    starts, codes = as_codes(rows.starts, "starts"), as_codes(rows.codes, "codes")
    symbols = rows.symbols if n_symbols is None else as_codes(rows.symbols, "symbols")
    if not (
        len(starts) == n_rows + 1
        and len(codes) == len(symbols)
        and starts[0] == 0
        and starts[-1] == len(codes)
        and np.all(starts[1:] >= starts[:-1])
        and are_below(codes, n_codes)
        and (n_symbols is None or are_below(symbols, n_symbols))
        and _ascend_within_rows(starts, codes)
    ):
        raise BadLabels(
            f"These are not {n_rows:,} compressed rows: starts must ascend from 0 to the number of "
            f"codes, codes lie below {n_codes:,} and ascend within a row, and symbols lie below "
            f"{n_symbols or 0:,}. Create the table with from_long or from_codes."
        )
    return Rows(
        read_only(starts.astype(item_dtype(len(codes)), copy=False)),
        read_only(codes.astype(annotator_dtype(n_codes), copy=False)),
        read_only(symbols.astype(symbol_dtype(n_symbols), copy=False)),
    )


def item_dtype(n_items: int) -> np.dtype[Any]:
    """Return the integer type of codes of items, and of starts of rows."""
    return smallest_integer_dtype(n_items, np.int32, np.int64)


def annotator_dtype(n_annotators: int) -> np.dtype[Any]:
    """Return the integer type of annotator codes; kernels are compiled for few types."""
    return smallest_integer_dtype(n_annotators, np.int16, np.int32)


def symbol_dtype(n_symbols: int | None) -> np.dtype[Any]:
    """Return the type of symbol codes, or of numbers; kernels are compiled for few types."""
    if n_symbols is None:
        return np.dtype(np.float64)
    return smallest_integer_dtype(n_symbols, np.int8, np.int16, np.int32)


def as_codes(values: Any, name: str) -> Array:
    """Return a one-dimensional array of integers in native byte order; raise BadLabels if not."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        array = np.empty(1, dtype=object)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise BadLabels(
            f"{name} must be a one-dimensional array of integers, not {array.dtype} of shape "
            f"{array.shape}. Pass codes, or use Responses.from_long for names."
        )
    native = array.dtype.newbyteorder("=") if array.dtype.kind in "iu" else np.dtype(np.intp)
    return array.astype(native, copy=False)


def check_codes(columns: Sequence[Any], names: Sequence[Array]) -> list[Array]:
    """Return the codes of items, annotators and symbols of the responses that are not missing.

    Those with a negative symbol are. Raise BadLabels unless the columns have the same length and
    codes are positions in the names.
    """
    kinds = "item", "annotator", "symbol"
    given = {f"{kind}_codes": column for kind, column in zip(kinds, columns, strict=True)}
    given = {name: as_codes(column, name) for name, column in given.items()}
    check_equal_lengths(given)
    present = given["symbol_codes"] >= 0
    codes = [column if present.all() else column[present] for column in given.values()]
    for kind, column, known in zip(kinds, codes, names, strict=True):
        if not are_below(column, len(known)):
            outside = column[(column < 0) | (column >= len(known))]
            raise BadLabels(
                f"There is no {kind} {list_names(outside)}: codes run from 0 to "
                f"{len(known) - 1:,}. Number them from zero, and pass a name for each."
            )
    return codes


def are_below(codes: Array, limit: int) -> bool:
    """Return whether all codes are from 0 to ``limit − 1``.

    Read as unsigned numbers, negative ones are large, so that one pass suffices.
    """
    unsigned = codes.view(codes.dtype.str.replace("i", "u"))
    return not len(codes) or int(unsigned.max()) < limit


def _ascend_within_rows(starts: Array, codes: Array) -> bool:
    ascends = np.empty(len(codes), dtype=bool)
    np.greater(codes[1:], codes[:-1], out=ascends[1:])
    ascends[starts[starts < len(codes)]] = True  # the first of every row
    return bool(ascends.all())


def read_only(array: Array) -> Array:
    """Return a contiguous, read-only view."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


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
    entries = first + np.arange(counts.sum())
    return Rows(row_starts(counts), rows.codes[entries], rows.symbols[entries]), entries


# Repeated responses

Repeats = Literal["most_frequent", "last", "first", "error"]
"""Values of ``repeats=``. Only ``"last"`` and ``"first"`` depend on the order of the rows."""
NumberRepeats = Literal["mean", "median", "last", "first", "error"]
"""Values of ``repeats=`` where responses are numbers."""


def check_repeats(repeats: Any, allowed: Any) -> None:
    """Raise BadParameter unless ``repeats`` is one of the ``Repeats`` or ``NumberRepeats``."""
    if repeats not in get_args(allowed):
        raise BadParameter(f"repeats={repeats!r} must be one of {list_names(get_args(allowed))}.")


def resolve_repeats(rows: Rows, repeats: str) -> tuple[Rows, int, int]:
    """Keep one response per row and code; the codes of a row must be in ascending order.

    Also returns the number of responses beyond the first per row and code, and the number of pairs
    of row and code that are dropped because they have no most frequent symbol.
    """
    starts, codes, symbols = rows
    equals_previous = np.zeros(len(codes) + 1, dtype=bool)  # the last entry stays False
    np.equal(codes[1:], codes[:-1], out=equals_previous[1:-1])
    equals_previous[starts] = False
    again = np.flatnonzero(equals_previous)
    if not len(again):
        return rows, 0, 0
    if repeats in ("last", "first", "error"):
        dropped = again - 1 if repeats == "last" else again
        return _drop(rows, dropped), len(again), 0
    firsts = again[np.diff(again, prepend=-1) != 1] - 1
    members = np.concatenate([firsts, again])
    run_of_member = np.searchsorted(firsts, members, side="right") - 1
    is_tied = np.zeros(len(firsts), dtype=bool)
    if repeats == "most_frequent":
        combined, is_tied = _most_frequent(run_of_member, symbols[members])
    else:
        combined = _centres(run_of_member, symbols[members], repeats)
    dropped = np.sort(np.concatenate([again, firsts[is_tied]]))
    rows = _drop(rows, dropped)
    remaining = firsts[~is_tied]
    rows.symbols[remaining - np.searchsorted(dropped, remaining)] = combined[~is_tied]
    return rows, len(again), int(np.count_nonzero(is_tied))


def _drop(rows: Rows, dropped: Array) -> Rows:
    """Return rows without the responses at these positions, which ascend."""
    starts, codes, symbols = rows
    kept = np.ones(len(codes), dtype=bool)
    kept[dropped] = False
    n_before = np.searchsorted(dropped, starts)
    return Rows((starts - n_before).astype(starts.dtype), codes[kept], symbols[kept])


def _most_frequent(runs: Array, symbols: Array) -> tuple[Array, Flags]:
    """Return a most frequent symbol of each run, and whether another one is as frequent."""
    n_symbols = int(symbols.max()) + 1
    pairs, counts = np.unique(runs * n_symbols + symbols, return_counts=True)
    order = np.lexsort((counts, pairs // n_symbols))
    run, counts = pairs[order] // n_symbols, counts[order]
    best = np.flatnonzero(np.append(run[1:] != run[:-1], True))
    second = np.maximum(best - 1, 0)
    is_tied = (second < best) & (run[second] == run[best]) & (counts[second] == counts[best])
    return pairs[order][best] % n_symbols, is_tied


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
