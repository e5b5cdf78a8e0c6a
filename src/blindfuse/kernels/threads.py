"""Splitting of loops among threads. Kernels release the GIL, so that threads run in parallel."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from numbers import Integral
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from blindfuse.errors import BadParameter

Result = TypeVar("Result")

MAX_POOL_THREADS = 256
"""Upper limit of the thread pool, which starts threads only when they are needed."""
MIN_ITEMS_PER_THREAD = 8_000
"""With fewer items per thread, starting the thread costs more than it saves."""


def thread_count(threads: int | None) -> int:
    """Return the number of threads to use; None means all cores that this process may run on."""
    if threads is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if not isinstance(threads, Integral) or threads < 1:
        raise BadParameter(
            f"threads={threads!r} must be an integer of at least 1. "
            "Leave it out to use all available cores."
        )
    return threads


def split_range(total: int, threads: int, min_block: int) -> list[range]:
    """Split ``range(total)`` into at most one block per thread, of at least ``min_block`` each.

    Returns at least one block.
    """
    count = max(1, min(threads, total // min_block))
    bounds = [total * block // count for block in range(count + 1)]
    return [range(begin, end) for begin, end in pairwise(bounds)]


def map_threads(
    work: Callable[[int, int], Result],
    total: int,
    threads: int | None,
    min_block: int = MIN_ITEMS_PER_THREAD,
) -> list[Result]:
    """Call ``work(begin, end)`` on blocks of ``range(total)``, one per thread; results in order.

    The calling thread works on the first block, because it already runs on a core.
    """
    first, *others = split_range(total, thread_count(threads), min_block)
    if not others:
        return [work(first.start, first.stop)]
    rest = [_pool().submit(work, block.start, block.stop) for block in others]
    return [work(first.start, first.stop), *(future.result() for future in rest)]


@cache
def _pool() -> ThreadPoolExecutor:
    """One pool that is kept, because EM uses it in every iteration.

    Work in the pool never submits work itself, so it cannot deadlock.
    """
    return ThreadPoolExecutor(MAX_POOL_THREADS)


if hasattr(os, "register_at_fork"):  # the pool's threads do not exist in a forked process
    os.register_at_fork(after_in_child=_pool.cache_clear)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread inside a with statement.

    The matrices here are small. On a busy machine the threads of BLAS wait for each other, and an
    eigenvector takes twenty times as long.
    """
    with _blas_controller().limit(limits=1, user_api="blas"):
        yield


@cache
def _blas_controller() -> ThreadpoolController:
    """Return the controller, cached: searching for the libraries takes as long as a small fit."""
    return ThreadpoolController()
