"""How work is cut into pieces for threads; kernels release the GIL."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from blindfuse.errors import BadParameter

Result = TypeVar("Result")

MOST_HELPERS = 256
"""Threads at most; no more are started than were ever needed at once."""


def thread_count(threads: int | None) -> int:
    """The number of threads to use: as many as this process may run on, unless given."""
    if threads is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if threads < 1:
        raise BadParameter(f"threads={threads} must be at least 1.")
    return threads


def pieces(total: int, threads: int, least: int) -> list[range]:
    """Cut ``range(total)`` into one piece a thread, none smaller than ``least``; never empty."""
    count = max(1, min(threads, total // least))
    bounds = [total * piece // count for piece in range(count + 1)]
    return [range(begin, end) for begin, end in pairwise(bounds)]


def map_threads(
    work: Callable[[int, int], Result], total: int, threads: int | None, least: int
) -> list[Result]:
    """Do ``work(begin, end)`` on pieces of ``range(total)``, one a thread; results in order.

    The first piece is the caller's own: its thread is on a core already.
    """
    first, *others = pieces(total, thread_count(threads), least)
    if not others:
        return [work(first.start, first.stop)]
    rest = [_helpers().submit(work, cut.start, cut.stop) for cut in others]
    return [work(first.start, first.stop), *(future.result() for future in rest)]


@cache
def _helpers() -> ThreadPoolExecutor:
    """Threads that are started when first needed and then wait: EM asks for them every round.

    Work that is given to them never asks for help itself, so it cannot wait for its own kind.
    """
    return ThreadPoolExecutor(MOST_HELPERS)


if hasattr(os, "register_at_fork"):  # a forked process has no threads but its own
    os.register_at_fork(after_in_child=_helpers.cache_clear)


@contextmanager
def quiet_blas() -> Iterator[None]:
    """BLAS without threads of its own, meanwhile.

    Its matrices are small here; on a busy machine its threads wait for each other, and an
    eigenvector takes twenty times as long.
    """
    with _libraries().limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries() -> ThreadpoolController:
    """The libraries with threads of their own; to look for them takes as long as a small fit."""
    return ThreadpoolController()
