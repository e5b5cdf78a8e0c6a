"""Hot loops compared with the limits of the machine, measured in the same run.

Counting is compared with AND and popcount of words in cache, and the E-step with reading the bytes
of the responses from memory, both with the same number of threads.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindfuse import Simulation
from blindfuse.kernels.compilation import kernel, popcount
from blindfuse.kernels.threads import thread_count
from blindfuse.model.posteriors import expected_counts
from blindfuse.moments.counts import MomentCounts
from experiments.settings import FIGURE_3
from report import Check, Section
from side_by_side import sparse_responses
from speed import seconds

ROWS, WORDS = 16, 256
"""16 rows of 2 KiB fit into the first-level cache of current machines."""

UNCACHED_BYTES = 2 * 10**9
"""Bytes that are read to measure the speed of memory: more than any cache holds."""


@kernel
def and_and_count(rows: Any, repeats: Any) -> Any:
    """AND every row with every row and count the bits, ``repeats`` times."""
    total = np.uint64(0)
    for _ in range(repeats):
        for first in range(rows.shape[0]):
            for other in range(rows.shape[0]):
                for word in range(WORDS):
                    total += popcount(rows[first, word] & rows[other, word])  # type: ignore[call-arg]
    return total


@kernel
def sum_words(words: Any) -> Any:
    """Read every word once."""
    total = np.uint64(0)
    for index in range(words.size):
        total += words[index]
    return total


def counting(n_items: int = 10**6, n_annotators: int = 30) -> Section:
    """Third moments of complete responses; one class of five follows from the margins."""
    responses = FIGURE_3.draw(n_items, 0, n_annotators=n_annotators).responses
    rows_of_bits = sum(
        comb(n_annotators, order) * (responses.n_classes - 1) ** order for order in (2, 3)
    )
    words = rows_of_bits * n_items // 64
    rows = _rows_in_cache()
    threads = thread_count(None)
    repeats = [words // (ROWS * ROWS * WORDS * threads)] * threads
    with ThreadPoolExecutor(threads) as pool:
        limit = seconds(lambda: list(pool.map(partial(and_and_count, rows), repeats)), 3)
    return _compare(
        f"Counting third moments, N = {n_items:,}, M = {n_annotators}, K = 5",
        "AND and popcount of the same number of words in cache",
        limit,
        lambda threads: MomentCounts.count(responses, threads),
        required=4,
    )


def e_step(n_items: int = 4 * 10**6) -> Section:
    """Expected counts of complete responses; the E-step only reads the responses."""
    drawn = FIGURE_3.draw(n_items, 0)
    n_bytes = sum(array.nbytes for array in drawn.responses.by_item)
    return _compare(
        f"E-step of EM, N = {n_items:,}, M = 10, K = 5, {n_bytes / n_items:.0f} bytes per item",
        "reading the same number of bytes",
        _reading_seconds(n_bytes),
        partial(_e_step, drawn),
        required=3,
    )


def sparse_e_step(n_items: int = 4 * 10**5) -> Section:
    """The same for a sparse crowd, in which every response is processed."""
    drawn = sparse_responses(n_items, 0)
    n_bytes = sum(array.nbytes for array in drawn.responses.by_item)
    section = _compare(
        f"E-step of EM, a sparse crowd, {drawn.responses.n_responses:,} labels, M = 500, K = 4",
        "reading the same number of bytes",
        _reading_seconds(n_bytes),
        partial(_e_step, drawn),
    )
    section.note = (
        f"Each response takes {n_bytes / drawn.responses.n_responses:.0f} bytes to read, and then "
        "one product and one sum per class, so no limit by memory speed is required here."
    )
    return section


def _e_step(drawn: Simulation, threads: int | None) -> object:
    model = drawn.model
    return expected_counts(drawn.responses, model.confusions, model.prior, threads)


def _reading_seconds(n_bytes: int) -> float:
    """Return the seconds in which all threads read this number of bytes from memory."""
    blocks = np.array_split(np.ones(UNCACHED_BYTES // 8, np.uint64), thread_count(None))
    with ThreadPoolExecutor(len(blocks)) as pool:
        return seconds(lambda: list(pool.map(sum_words, blocks))) * n_bytes / UNCACHED_BYTES


def _rows_in_cache() -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(2**64, size=(ROWS, WORDS), dtype=np.uint64)


def _machine_speedup() -> float:
    """Return the speedup of a second thread where nothing is shared: AND and popcount in cache."""
    rows = _rows_in_cache()
    with ThreadPoolExecutor(2) as pool:
        both = seconds(lambda: list(pool.map(partial(and_and_count, rows), [2000] * 2)))
    return seconds(lambda: and_and_count(rows, 4000)) / both


def _compare(
    title: str,
    reference: str,
    limit: float,
    function: Callable[[int | None], object],
    required: float | None = None,
) -> Section:
    """Compare the time of all threads with the limit, and measure the speedup of two threads."""
    section = Section(title, ["measured", "value"])
    all_threads, one, two = (seconds(lambda n=n: function(n), 15) for n in (None, 1, 2))  # type: ignore[misc]
    section.rows = [
        [f"time / time of {reference}, all threads", f"{all_threads / limit:.2f}"],
        ["speedup of two threads", f"{one / two:.2f}"],
        ["speedup of two threads on AND and popcount in cache", f"{_machine_speedup():.2f}"],
    ]
    if required is not None:
        section.checks.append(Check(f"time / time of {reference}", all_threads / limit, required))
    section.checks.append(Check("speedup of two threads", one / two, 1.7, at_most=False))
    return section
