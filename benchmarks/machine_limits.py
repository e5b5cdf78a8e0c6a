"""How near the hot loops come to what the machine can do, measured in the same run.

Counting is held against AND and popcount of words that lie in cache, the E-step against reading
as many bytes as its answers have, both with as many threads.
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
from side_by_side import sparse_answers
from speed import seconds

ROWS, WORDS = 16, 256
"""Rows of 2 KiB: together they stay in the first-level cache of any machine of today."""


UNCACHED = 2 * 10**9
"""Bytes that are read to know the speed of memory: more than any cache holds."""


@kernel
def and_and_count(rows: Any, repeats: Any) -> Any:
    """AND every row with every row and count the bits, so many times."""
    total = np.uint64(0)
    for _ in range(repeats):
        for first in range(rows.shape[0]):
            for other in range(rows.shape[0]):
                for word in range(WORDS):
                    total += popcount(rows[first, word] & rows[other, word])  # type: ignore[call-arg]
    return total


@kernel
def add_up(words: Any) -> Any:
    """Read every word once."""
    total = np.uint64(0)
    for at in range(words.size):
        total += words[at]
    return total


def counting(n_items: int = 10**6, n_annotators: int = 30) -> Section:
    """Third moments of complete answers: one class of five follows from the margins."""
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
    return _against(
        f"Counting third moments, N = {n_items:,}, M = {n_annotators}, K = 5",
        "AND and popcount of as many words in cache",
        limit,
        lambda threads: MomentCounts.count(responses, threads),
        asked=4,
    )


def e_step(n_items: int = 4 * 10**6) -> Section:
    """Posteriors of complete answers added up, nothing stored: what it reads is the answers."""
    drawn = FIGURE_3.draw(n_items, 0)
    n_bytes = sum(part.nbytes for part in drawn.responses.by_item)
    return _against(
        f"E-step of EM, N = {n_items:,}, M = 10, K = 5, {n_bytes / n_items:.0f} bytes an item",
        "reading as many bytes",
        _reading(n_bytes),
        partial(_posteriors_of, drawn),
        asked=3,
    )


def sparse_e_step(n_items: int = 4 * 10**5) -> Section:
    """The same of a sparse crowd, in which every answer is looked at."""
    drawn = sparse_answers(n_items, 0)
    n_bytes = sum(part.nbytes for part in drawn.responses.by_item)
    section = _against(
        f"E-step of EM, a sparse crowd, {drawn.responses.n_responses:,} labels, M = 500, K = 4",
        "reading as many bytes",
        _reading(n_bytes),
        partial(_posteriors_of, drawn),
    )
    section.note = (
        f"An answer takes {n_bytes / drawn.responses.n_responses:.0f} bytes to read, then a row of "
        "classes is multiplied and another one added to: no limit of memory is asked for here."
    )
    return section


def _posteriors_of(drawn: Simulation, threads: int | None) -> object:
    model = drawn.model
    return expected_counts(drawn.responses, model.confusions, model.prior, threads)


def _reading(n_bytes: int) -> float:
    """Seconds in which all threads read so many bytes from memory."""
    parts = np.array_split(np.ones(UNCACHED // 8, np.uint64), thread_count(None))
    with ThreadPoolExecutor(len(parts)) as pool:
        return seconds(lambda: list(pool.map(add_up, parts))) * n_bytes / UNCACHED


def _rows_in_cache() -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(2**64, size=(ROWS, WORDS), dtype=np.uint64)


def _machines_own() -> float:
    """What a second thread brings where nothing is shared: AND and popcount in cache."""
    rows = _rows_in_cache()
    with ThreadPoolExecutor(2) as pool:
        both = seconds(lambda: list(pool.map(partial(and_and_count, rows), [2000] * 2)))
    return seconds(lambda: and_and_count(rows, 4000)) / both


def _against(
    title: str,
    what: str,
    limit: float,
    work: Callable[[int | None], object],
    asked: float | None = None,
) -> Section:
    """The work with all threads in times of the limit, and what a second thread brings."""
    section = Section(title, ["measured", "value"])
    all_threads, one, two = (seconds(lambda n=n: work(n), 15) for n in (None, 1, 2))  # type: ignore[misc]
    section.rows = [
        [f"in times of {what}, all threads", f"{all_threads / limit:.2f}"],
        ["two threads, times as fast as one", f"{one / two:.2f}"],
        ["two threads on AND and popcount in cache", f"{_machines_own():.2f}"],
    ]
    if asked is not None:
        section.checks.append(Check(f"in times of {what}", all_threads / limit, asked))
    section.checks.append(Check("two threads, times as fast as one", one / two, 1.7, at_most=False))
    return section
