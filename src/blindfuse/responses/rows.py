"""Responses in compressed rows (CSR), and sorting of responses into rows."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from blindfuse.errors import BadLabels, BadParameter, list_names
from blindfuse.kernels.compilation import MIN_COMPILED
from blindfuse.kernels.sorting import scatter
from blindfuse.responses.coding import check_equal_lengths, smallest_integer_dtype
from blindfuse.responses.repeats import resolve_repeats
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


def sort_into_rows(
    rows: Array, codes: Array, symbols: Array, n_rows: int
) -> tuple[Array, Array, Array]:
    """Sort responses into rows, stably; return the starts, codes and symbols of :class:`Rows`."""
    starts = row_starts(np.bincount(rows, minlength=n_rows))
    if len(rows) < MIN_COMPILED:
        order = np.argsort(rows, kind="stable")
        return starts, codes[order], symbols[order]
    row_codes, row_symbols = np.empty_like(codes), np.empty_like(symbols)
    scatter(rows, codes, symbols, starts[:-1].astype(np.int64), row_codes, row_symbols)
    return starts, row_codes, row_symbols


def sort_by_row_and_code(
    rows: Array, codes: Array, symbols: Array, shape: tuple[int, int]
) -> tuple[Array, Array, Array]:
    """Sort responses into rows, by code within a row, stably: :class:`Rows` with repeats.

    ``shape`` holds the numbers of rows and of codes.
    """
    n_rows, n_codes = shape
    if _ascend_strictly(rows, codes):
        return row_starts(np.bincount(rows, minlength=n_rows)), codes, symbols.copy()
    ends, rows, symbols = sort_into_rows(codes, rows, symbols, n_codes)
    return sort_into_rows(rows, row_of_entry(ends, codes.dtype), symbols, n_rows)


def sort_and_deduplicate(
    rows: Array, codes: Array, symbols: Array, shape: tuple[int, int], repeats: str
) -> tuple[Rows, int, int]:
    """Sort responses into rows, by code within a row, and keep one per code.

    Returns the rows, how many responses there were beyond the first per row and code, and how many
    pairs were dropped as contradictory.
    """
    sorted_rows = sort_by_row_and_code(rows, codes, symbols, shape)
    *arrays, repeated, contradictory = resolve_repeats(*sorted_rows, repeats)
    return Rows(*arrays), repeated, contradictory


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
    if not len(starts) == n_rows + 1 or not len(codes) == len(symbols):
        raise BadLabels(
            f"{n_rows:,} rows need {n_rows + 1:,} starts, and as many codes as symbols, but there "
            f"are {len(starts):,}, {len(codes):,} and {len(symbols):,}. {_USE_A_CONSTRUCTOR}"
        )
    if starts[0] != 0 or starts[-1] != len(codes) or np.any(starts[1:] < starts[:-1]):
        raise BadLabels(
            f"starts must ascend from 0 to {len(codes):,}, the number of codes. "
            f"{_USE_A_CONSTRUCTOR}"
        )
    if not are_below(codes, n_codes) or not (n_symbols is None or are_below(symbols, n_symbols)):
        raise BadLabels(
            f"codes must be from 0 to {n_codes - 1:,}, and symbols from 0 to "
            f"{(n_symbols or 0) - 1:,}. {_USE_A_CONSTRUCTOR}"
        )
    if not _ascend_within_rows(starts, codes):
        raise BadLabels(f"codes must ascend within every row. {_USE_A_CONSTRUCTOR}")
    return Rows(
        read_only(starts.astype(item_dtype(len(codes)), copy=False)),
        read_only(codes.astype(annotator_dtype(n_codes), copy=False)),
        read_only(symbols.astype(symbol_dtype(n_symbols), copy=False)),
    )


_USE_A_CONSTRUCTOR = "Create the table with from_long or from_codes."


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


def check_codes(columns: Mapping[str, Any], names: Mapping[str, Array]) -> list[Array]:
    """Return the codes of responses that are not missing: those whose last code is not negative.

    Raise BadLabels unless the columns have the same length and codes are positions in the names.
    """
    codes = {kind: as_codes(column, f"{kind}_codes") for kind, column in columns.items()}
    check_equal_lengths({f"{kind}_codes": column for kind, column in codes.items()})
    present = codes[next(reversed(codes))] >= 0
    for kind, column in codes.items():
        codes[kind] = column if present.all() else column[present]
        if not are_below(codes[kind], len(names[kind])):
            outside = codes[kind][(codes[kind] < 0) | (codes[kind] >= len(names[kind]))]
            raise BadLabels(
                f"There is no {kind} {list_names(outside)}: codes run from 0 to "
                f"{len(names[kind]) - 1:,}. Number them from zero, and pass a name for each."
            )
    return list(codes.values())


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
