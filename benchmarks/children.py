"""Run functions in their own process, to measure their time and peak memory alone."""

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
    """Seconds, additional peak memory in MiB, and the result."""

    seconds: float
    mebibytes: float
    result: Any


def in_child(function: Callable[..., Result], *arguments: Any, timeout: float = 600) -> Result:
    """Return the result of a module-level function that runs in a process of its own.

    After ``timeout`` seconds the process is stopped and multiprocessing's TimeoutError is raised.
    """
    with get_context("spawn").Pool(1) as pool:
        return pool.apply_async(function, arguments).get(timeout)


def measure(function: Callable[[], Any], min_seconds: float = 0.5) -> Run:
    """Return the peak memory of the first call and the shortest time of repeated calls.

    The calls are repeated until they have taken ``min_seconds`` in total.
    """
    times, results = list[float](), list[Any]()

    def timed() -> None:
        started = perf_counter()
        results[:] = [function()]
        times.append(perf_counter() - started)

    mebibytes = additional_memory(timed)
    while sum(times) < min_seconds:
        timed()
    return Run(min(times), mebibytes, results[0])


def additional_memory(function: Callable[[], object]) -> float:
    """Return the peak memory in MiB that a call needs beyond that of the process before it."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # return freed memory, or this call would reuse it
    before = process_memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # reset the recorded peak
    function()
    return process_memory("VmHWM") - before


def peak_memory_of(code: str, *arguments: str) -> float:
    """Return the peak memory in MiB of a new Python process that runs this code.

    It does not use getrusage, where a process starts with the peak of its parent.
    """
    last = "\nprint(open('/proc/self/status').read())"
    command = [sys.executable, "-c", code + last, *arguments]
    return _mebibytes(
        "VmHWM", subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )


def process_memory(field: str) -> float:
    """Return a field of the status of this process in MiB: VmRSS is now, VmHWM at its peak."""
    return _mebibytes(field, Path("/proc/self/status").read_text())


def _mebibytes(field: str, status: str) -> float:
    return int(status.split(f"{field}:")[1].split()[0]) / 1024
