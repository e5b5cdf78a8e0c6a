"""The time of a first run, which compiles, beside that of a second one."""

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from report import Check, Section, public_data


def first_run() -> Section:
    """``blindfuse fuse`` of a small crowd without and with compiled kernels, median of three."""
    section = Section("First run: `blindfuse fuse rte.csv`", ["measured", "cold / warm"])
    folder = public_data()
    fuse = str(Path(sys.executable).with_name("blindfuse")), "fuse"
    file = str(Path(folder) / "crowd" / "rte" / "labels.csv.gz")
    wall, processor = [], []
    for _ in range(3):
        with TemporaryDirectory() as cache:
            cold, warm = (_costs(*fuse, file, cache=cache) for _ in range(2))
        wall.append(cold[0] / warm[0])
        processor.append(cold[1] / warm[1])
    section.rows = [
        ["seconds", f"{median(wall):.1f}"],
        ["processor seconds of all processes", f"{median(processor):.1f}"],
    ]
    section.checks = [Check("cold / warm", median(wall), 4)]
    return section


def _costs(*command: str, cache: str) -> tuple[float, float]:
    """Return the seconds of a command, and the processor seconds of it and its children."""
    before, started = os.times(), perf_counter()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    subprocess.run(command, env=environment, capture_output=True, check=True)
    seconds, after = perf_counter() - started, os.times()
    used = after.children_user + after.children_system
    return seconds, used - before.children_user - before.children_system
