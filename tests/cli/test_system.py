"""What the machine refuses is told in one line, and nothing is left half written."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from blindfuse.cli.system import LEAST, in_words

BLINDFUSE = [sys.executable, "-m", "blindfuse"]
FULL = Path("/dev/full")


def run(
    *words: str, folder: Path, limit: tuple[int, int] | None = None, output: str | None = None
) -> "subprocess.CompletedProcess[str]":
    """The program in a folder, with a limit of the system; standard output may be a device."""
    with open(output or os.devnull, "w") as stdout:
        return subprocess.run(
            [*BLINDFUSE, *words],
            cwd=folder,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            preexec_fn=limit and (lambda: resource.setrlimit(limit[0], (limit[1], limit[1]))),
        )


def refusal(found: "subprocess.CompletedProcess[str]") -> str:
    """The one line."""
    assert found.returncode == 2, found.stderr
    lines = [line for line in found.stderr.splitlines() if not line.startswith("·")]
    assert len(lines) == 1, found.stderr
    return lines[0]


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("votes")
    assert run("simulate", "--items", "400", "-o", "votes.csv", folder=folder).returncode == 0
    return folder / "votes.csv"


OUTPUTS = ["-o", "f.csv", "--annotators", "a.jsonl", "--model", "m.npz"]


def test_no_file_may_grow_so_large(votes: Path, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("old")
    words = ["fuse", str(votes), "-q", "--force", *OUTPUTS]
    said = refusal(run(*words, folder=tmp_path, limit=(resource.RLIMIT_FSIZE, 8192)))
    assert "'f.csv' cannot be written: File too large" in said
    assert [path.name for path in tmp_path.iterdir()] == ["f.csv"]
    assert (tmp_path / "f.csv").read_text() == "old"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("a small disk cannot be mounted here, which takes root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("output", ["f.csv", "f.parquet"])
def test_a_full_disk(votes: Path, small_disk: Path, output: str) -> None:
    words = ["fuse", str(votes), "-q", "-o", output, "--report", "r.html"]
    said = refusal(run(*words, folder=small_disk))
    assert "cannot be written: No space left on device. Make room" in said
    assert list(small_disk.iterdir()) == []


def test_a_reproduction_on_a_full_disk_goes_on_when_there_is_room(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(b"0" * 12_000)
    words = ["reproduce", "theorem2", "--quick", "--runs", "1", "--out", "out"]
    assert "No space left on device" in refusal(run(*words, folder=small_disk))
    results = small_disk / "out" / "results" / "results.jsonl"
    page = small_disk / "out" / "reproduction.md"
    whole = results.read_bytes().rpartition(b"\n")[0]
    assert whole
    assert not page.exists()
    subprocess.run(["mount", "-o", "remount,size=9m", str(small_disk)], check=True)
    assert run(*words, folder=small_disk).returncode == 0
    assert results.read_bytes().startswith(whole)
    assert all(json.loads(line) for line in results.read_bytes().splitlines())
    assert "## " in page.read_text()


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "words", [["-q", "-o", "-"], ["--json"], []], ids=["table", "document", "words"]
)
def test_standard_output_takes_no_more(votes: Path, tmp_path: Path, words: list[str]) -> None:
    found = run("fuse", str(votes), *words, folder=tmp_path, output=str(FULL))
    assert "No space left on device. Make room" in refusal(found)


def test_a_folder_that_is_a_file(votes: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = refusal(run("reproduce", "table1", "--quick", "--out", "file/x", folder=tmp_path))
    assert said == "blindfuse: Not a directory: file/x/results. Choose another place."
    said = refusal(run("fuse", str(votes), "-o", "file/x.csv", folder=tmp_path))
    assert "there is no folder file" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_read_only(votes: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "is read-only" in refusal(run("fuse", str(votes), "-o", "f.csv", folder=tmp_path))
    said = refusal(run("reproduce", "table1", "--quick", folder=tmp_path))
    assert "Permission denied: reproduction" in said
    tmp_path.chmod(0o700)


def test_names_that_are_too_long(votes: Path, tmp_path: Path) -> None:
    long = "x" * 300 + ".csv"
    for words in (["fuse", long], ["fuse", str(votes), "-o", long]):
        assert "Choose a shorter name." in refusal(run(*words, folder=tmp_path))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_memory_limit_below_what_libraries_take(
    votes: Path, tmp_path: Path, share: float
) -> None:
    limit = (resource.RLIMIT_AS, int(share * LEAST))
    said = refusal(run("fuse", str(votes), "-o", "f.csv", folder=tmp_path, limit=limit))
    assert "too low: the libraries alone reserve 2 GB" in said
    assert list(tmp_path.iterdir()) == []


def test_a_memory_limit_below_what_answers_take(tmp_path: Path) -> None:
    """A matrix of a billion simulated answers does not fit."""
    limit = (resource.RLIMIT_AS, 2 * LEAST)
    words = ["simulate", "--items", "1000000000", "-o", "s.csv"]
    said = refusal(run(*words, folder=tmp_path, limit=limit))
    assert said == (
        "blindfuse: There is not enough memory. Free some or raise the limit, or fuse fewer items."
    )
    assert list(tmp_path.iterdir()) == []


def test_libraries_that_find_no_memory_in_their_own_words() -> None:
    try:
        try:
            raise OSError("libx.so: failed to map segment from shared object")
        except OSError as first:
            raise ImportError("libx cannot be loaded") from first
    except ImportError as error:
        assert "not enough memory" in str(in_words(error))  # noqa: PT017
    assert in_words(FileNotFoundError(2, "No such file", "ours.html")) is None
    assert in_words(ImportError("no module")) is None
    assert in_words(RuntimeError("a bug")) is None
