"""Reading ten million rows of CSV into Responses, compared with Polars alone."""

import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import polars as pl

from blindfuse import read
from children import peak_memory_of
from report import Check, Section

N_ROWS = 10**7


def write_votes(path: Path, n_rows: int) -> None:
    """Write an unsorted long table of n_rows / 10 items, 2,000 annotators and 5 classes."""
    rng = np.random.default_rng(0)
    codes = {
        name: rng.integers(0, count, n_rows)
        for name, count in (("item", n_rows // 10), ("worker", 2000), ("class", 5))
    }
    columns = {name: pl.format(f"{name}-{{}}", name) for name in codes}
    pl.DataFrame(codes).select(
        item=columns["item"], annotator=columns["worker"], label=columns["class"]
    ).write_csv(path)


def long_csv() -> Section:
    """Both are timed alternately, after one run each; memory is measured in a new process."""
    section = Section(f"Reading {N_ROWS:,} rows of long CSV into Responses", ["measured", "value"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        write_votes(path, N_ROWS)
        ratios = [_time_ratio(path) for _ in range(6)][1:]
        code = "import sys, blindfuse; blindfuse.read(sys.argv[1])"
        gibibytes = peak_memory_of(code, str(path)) / 1024
    section.rows = [
        [
            "time / time of pl.read_csv with all columns as text, median of 5",
            f"{median(ratios):.2f}",
        ],
        ["peak memory, GiB", f"{gibibytes:.2f}"],
    ]
    section.checks = [
        Check("time / time of pl.read_csv", median(ratios), 3),
        Check("peak memory in GB", gibibytes * 2**30 / 1e9, 2.5),
    ]
    return section


def _time_ratio(path: Path) -> float:
    started = perf_counter()
    pl.read_csv(path, infer_schema=False)
    between = perf_counter()
    read(path)
    return (perf_counter() - between) / (between - started)
