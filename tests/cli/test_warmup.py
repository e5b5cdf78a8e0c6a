"""`blindfuse warmup`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BLINDFUSE = [sys.executable, "-m", "blindfuse"]
REPORT_COMPILED = """
import sys
from blindfuse.cli.main import blindfuse
from blindfuse.kernels import compilation as cache
try: blindfuse.main(sys.argv[1:])
finally: print(cache.usage.compiled, file=sys.stderr)
"""


def run(command: list[str], kernels: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        cwd=kernels.parent,
        env={**os.environ, "NUMBA_CACHE_DIR": str(kernels), "COLUMNS": "500"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_after_the_warmup_nothing_is_compiled(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    first = run([*BLINDFUSE, "warmup"], kernels)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("Compiled ")
    assert str(kernels) in first.stdout
    again = run([*BLINDFUSE, "warmup", "-q"], kernels)
    assert (again.returncode, again.stdout) == (0, "")
    for items, classes, missing in ((100, 2, 0.5), (100, 7, 0.0), (9000, 3, 0.6), (9000, 2, 0.0)):
        size = ["--items", items, "--classes", classes, "--missing", missing]
        simulate = ["simulate", *map(str, size), "-o", "votes.csv", "--force"]
        assert run([*BLINDFUSE, *simulate], kernels).returncode == 0
        fused = run([sys.executable, "-c", REPORT_COMPILED, "fuse", "votes.csv"], kernels)
        assert fused.stderr.splitlines()[-1] == "0", (items, classes)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """Everything is loaded from the cache of the package, except for one kernel."""
    code = (
        "from blindfuse.kernels import compilation as cache\n"
        "from blindfuse.cli import warmup\n"
        "from blindfuse.cli.main import main\n"
        "warmup._fuse_tables = lambda *_: None\n"
        "cache.usage.problem = cache.NOT_KEPT.format(reason='Read-only file system')\n"
        "main()"
    )
    process = run([sys.executable, "-c", code, "warmup"], tmp_path / "kernels")
    assert process.returncode == 2
    assert process.stderr.startswith("blindfuse: Compiled kernels cannot be kept (Read-only file")
