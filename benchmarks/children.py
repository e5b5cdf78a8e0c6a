"""Work in a process of its own, where its time and its peak memory are nobody else's."""

import ctypes
import gc
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")


class Run(NamedTuple):
    """Seconds, peak memory in MiB beyond what the process held before, and what came of it."""

    seconds: float
    mebibytes: float
    result: Any


def in_child(work: Callable[..., Result], *arguments: Any, patience: float = 600) -> Result:
    """The result of ``work``, which must be a function of a module, in a process of its own.

    A child that takes longer than ``patience`` seconds is ended, with multiprocessing's
    TimeoutError here.
    """
    with get_context("spawn").Pool(1) as pool:
        return pool.apply_async(work, arguments).get(patience)


def measured(work: Callable[[], Any], enough: float = 0.5) -> Run:
    """The peak of the first run, the least time of as many as ``enough`` seconds have room for."""
    times, results = list[float](), list[Any]()

    def timed() -> None:
        began = perf_counter()
        results[:] = [work()]
        times.append(perf_counter() - began)

    mebibytes = extra_memory(timed)
    while sum(times) < enough:
        timed()
    return Run(min(times), mebibytes, results[0])


def extra_memory(work: Callable[[], object]) -> float:
    """Peak memory of a run in MiB beyond what this process held before it."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed is given back, or it would serve this run
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget earlier peaks
    work()
    return _memory("VmHWM") - before


def peak_of(code: str, *arguments: str) -> float:
    """Peak memory in MiB of a new Python that runs this code, and nothing else.

    Not by getrusage: there, a process begins with the peak of the one that it was forked from.
    """
    last = "\nprint(open('/proc/self/status').read())"
    words = [sys.executable, "-c", code + last, *arguments]
    return _mebibytes(
        "VmHWM", subprocess.run(words, capture_output=True, text=True, check=True).stdout
    )


def _memory(field: str) -> float:
    """A line of this process's status, in MiB."""
    return _mebibytes(field, Path("/proc/self/status").read_text())


def _mebibytes(field: str, status: str) -> float:
    return int(status.split(f"{field}:")[1].split()[0]) / 1024
