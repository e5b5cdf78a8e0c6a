"""Memory of fusing ten million items by ten annotators from a memory-mapped file."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from blindfuse import fuse
from children import in_child
from experiments.settings import FIGURE_3
from report import Check, Section


def ten_million(n_items: int = 10**7) -> Section:
    """The responses are simulated in one process and fused in another, which is measured."""
    section = Section(
        f"fuse of {n_items:,} items × 10 annotators, int8, memory-mapped, K = 5",
        ["measured", "value"],
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "votes.npy"
        in_child(write_responses, path, n_items)
        peak, method = in_child(fuse_file, path)
    gigabytes = peak * 1024 / 1e9
    section.rows = [
        ["peak memory of the process, GB", f"{gigabytes:.2f}"],
        ["bytes per label", f"{peak * 1024 / n_items / 10:.1f}"],
        ["method", method],
    ]
    section.checks = [Check("peak memory in GB", gigabytes, 3)]
    return section


def write_responses(path: Path, n_items: int) -> None:
    np.save(path, FIGURE_3.draw(n_items, 0).responses.matrix().astype(np.int8))


def fuse_file(path: Path) -> tuple[int, str]:
    """Return the peak memory of this process in KiB, mapped pages included, and the method."""
    fusion = fuse(np.load(path, mmap_mode="r"))
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]), fusion.method
