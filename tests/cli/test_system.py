"""Limits of the system: an error of one line, and no file is left half written."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from blindfuse.cli.options import free_memory

ROOT = Path(__file__).parents[2]
FULL_DEVICE = Path("/dev/full")


def run(
    *arguments: str,
    folder: Path,
    limit: tuple[int, int] | None = None,
    output: str | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Run the program in a folder, with a resource limit; standard output may be a device."""
    with open(output or os.devnull, "w") as stdout:
        return subprocess.run(
            [sys.executable, "-m", "blindfuse", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            preexec_fn=limit and (lambda: resource.setrlimit(limit[0], (limit[1], limit[1]))),
        )


def refusal(process: "subprocess.CompletedProcess[str]") -> str:
    """Return the error message, which must be one line."""
    assert process.returncode == 2, process.stderr
    lines = [line for line in process.stderr.splitlines() if not line.startswith("·")]
    assert len(lines) == 1, process.stderr
    return lines[0]


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("votes")
    assert run("simulate", "--items", "400", "-o", "votes.csv", folder=folder).returncode == 0
    return folder / "votes.csv"


OUTPUTS = ["-o", "f.csv", "--annotators", "a.jsonl", "--model", "m.npz"]


def test_a_limit_on_the_file_size(votes: Path, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("old")
    command = ["fuse", str(votes), "-q", "--force", *OUTPUTS]
    message = refusal(run(*command, folder=tmp_path, limit=(resource.RLIMIT_FSIZE, 8192)))
    assert "'f.csv' cannot be written: File too large" in message
    assert [path.name for path in tmp_path.iterdir()] == ["f.csv"]
    assert (tmp_path / "f.csv").read_text() == "old"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize(
    "outputs",
    [["-o", "f.csv.gz"], ["--report", "r.html"], ["--model", "m.npz", "-o", "f.parquet"]],
    ids=" ".join,
)
def test_a_full_disk(votes: Path, small_disk: Path, outputs: list[str]) -> None:
    (small_disk / "filler").write_bytes(b"0" * 12_000)
    command = ["fuse", str(votes), "-q", *outputs]
    message = refusal(run(*command, folder=small_disk))
    assert "cannot be written: No space left on device. Free some space" in message
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


@pytest.mark.skipif(not FULL_DEVICE.exists(), reason="/dev/full does not exist")
@pytest.mark.parametrize(
    "options", [["-q", "-o", "-"], ["--json"], []], ids=["table", "document", "text"]
)
def test_a_full_standard_output(votes: Path, tmp_path: Path, options: list[str]) -> None:
    process = run("fuse", str(votes), *options, folder=tmp_path, output=str(FULL_DEVICE))
    assert "No space left on device. Free some space" in refusal(process)


def test_a_memory_limit_too_low_for_the_responses(tmp_path: Path) -> None:
    """A matrix of ten billion simulated responses does not fit."""
    limit = (resource.RLIMIT_AS, 4 * 10**9)
    command = ["simulate", "--items", "1000000000", "-o", "s.csv"]
    message = refusal(run(*command, folder=tmp_path, limit=limit))
    assert message == (
        "blindfuse: Not enough memory. Free some, raise the limit, or fuse fewer items."
    )
    assert list(tmp_path.iterdir()) == []


def test_memory_that_can_be_reclaimed_is_free() -> None:
    free, available = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), free_memory()
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert available is None or 0.5 * free < available <= total
