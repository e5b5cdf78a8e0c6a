"""Compiling in another process while files are read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from blindfuse.cli import cold_start

COMMAND = """
import sys
from blindfuse.cli.main import blindfuse
from blindfuse.kernels import cache
try: blindfuse.main(["fuse", "votes.csv"])
finally: print(cache.usage.compiled, cache.usage.loaded, file=sys.stderr)
"""


@pytest.mark.slow
def test_a_first_run_gives_the_same_labels_as_later_ones(tmp_path: Path) -> None:
    """Also if two of them start together, and compile or load each other's kernels."""
    simulate = [sys.executable, "-m", "blindfuse", "simulate", "--items", "80", "--missing", "0.4"]
    subprocess.run([*simulate, "-o", "votes.csv"], cwd=tmp_path, check=True)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}

    def start() -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    first = [process.communicate() for process in (start(), start())]
    again = start().communicate()
    assert {output for output, _ in first} == {again[0]}
    assert again[1].splitlines()[-1].startswith("0 ")


@pytest.mark.filterwarnings("ignore::blindfuse.NotConverged")
def test_no_process_is_started_if_the_kernels_are_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cold_start.main()
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *arguments, **_: started.append(arguments))
    cold_start.compile_in_background()
    assert not started


@pytest.mark.parametrize(("cores", "expected"), [(1, 0), (2, 1)])
def test_a_process_is_started_if_kernels_are_missing_and_there_are_cores(
    cores: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    class Process:
        def __init__(self, command: list[str], **_: object) -> None:
            started.append(command)

        def kill(self) -> None:
            """Called when this process ends."""

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr("blindfuse.kernels.cache.is_missing", lambda kernel: True)
    monkeypatch.setattr("blindfuse.kernels.threads.thread_count", lambda threads: cores)
    cold_start.compile_in_background()
    assert [command[1:] for command in started] == [["-m", "blindfuse.cli.cold_start"]] * expected
