"""Start-up: importing and asking for help in times of an empty Python, cold and warm first fuse."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from report import Section

FUSE = "from blindfuse import fuse; fuse([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 0]] * 50)"


def startup() -> Section:
    """Whole processes, the least of five; cold is without anything compiled before."""
    section = Section("Start-up, in times of `python -c pass`", ["what", "times"])
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
    section.rows = [[what, f"{spent / empty:.1f}"] for what, spent in costs.items()]
    section.rows.append(["cold in times of warm", f"{cold / warm:.1f}"])
    return section


def _seconds(*command: str, cache: str | None = None, repeats: int = 5) -> float:
    """The least time of a command, from start to end; what it compiles is kept in ``cache``."""
    surroundings = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    times = []
    for _ in range(repeats):
        began = perf_counter()
        subprocess.run(command, env=surroundings, capture_output=True, check=True)
        times.append(perf_counter() - began)
    return min(times)
