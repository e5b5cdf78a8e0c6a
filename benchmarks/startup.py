"""Start-up time: import, help, and the first fuse with and without compiled kernels."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from report import Section

FUSE = "from blindfuse import fuse; fuse([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 0]] * 50)"


def startup() -> Section:
    """The shortest of five processes; a cold start has no compiled kernels in its cache."""
    section = Section("Start-up time relative to `python -c pass`", ["command", "ratio"])
    command = str(Path(sys.executable).with_name("blindfuse"))
    empty = _seconds(sys.executable, "-c", "pass")
    with TemporaryDirectory() as cache:
        cold = _seconds(sys.executable, "-c", FUSE, cache=cache, repeats=1)
        warm = _seconds(sys.executable, "-c", FUSE, cache=cache)
    costs = {
        "import blindfuse": _seconds(sys.executable, "-c", "import blindfuse"),
        "blindfuse --help": _seconds(command, "--help"),
        "first fuse, warm": warm,
        "first fuse, cold": cold,
    }
    section.rows = [[name, f"{cost / empty:.1f}"] for name, cost in costs.items()]
    section.rows.append(["first fuse, cold / warm", f"{cold / warm:.1f}"])
    return section


def _seconds(*command: str, cache: str | None = None, repeats: int = 5) -> float:
    """Return the shortest time of a command; compiled kernels are kept in ``cache``."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    times = []
    for _ in range(repeats):
        started = perf_counter()
        subprocess.run(command, env=environment, capture_output=True, check=True)
        times.append(perf_counter() - started)
    return min(times)
