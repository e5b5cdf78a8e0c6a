"""Processes that start together compile each kernel once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from blindfuse.kernels import compile_lock

PROGRAM = """
import numpy as np
from blindfuse.kernels import cache
from blindfuse.kernels.posteriors import argmax_rows
argmax_rows(np.zeros((2, 3)), 0, 2, np.zeros(2, np.int64))
print(cache.usage.compiled, cache.usage.loaded)
"""

HOLD = """
import sys, time
from pathlib import Path
from blindfuse.kernels import compile_lock
compile_lock.acquire(Path(sys.argv[1]), "kernel")
print("held", flush=True)
time.sleep(60)
"""


def start(program: str, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_one_process_compiles_and_the_others_load(tmp_path: Path) -> None:
    processes = [start(PROGRAM, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(3)]
    found = [process.communicate()[0].split() for process in processes]
    assert all(process.returncode == 0 for process in processes)
    assert sum(int(compiled) for compiled, _ in found) < 3 * max(int(one) for one, _ in found)


def test_the_lock_of_a_process_that_is_killed_is_free(tmp_path: Path) -> None:
    holder = start(HOLD, str(tmp_path))
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    started = time.monotonic()
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    compile_lock.acquire(tmp_path, "kernel")
    assert time.monotonic() - started < 10
    compile_lock.release(tmp_path, "kernel")


def test_a_lock_that_is_held_too_long_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_lock, "MAX_WAIT_SECONDS", 0.2)
    with start(HOLD, str(tmp_path)) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert compile_lock.acquire(tmp_path, "kernel")
        assert not compile_lock.acquire(tmp_path, "another kernel")
        holder.kill()
    compile_lock.release(tmp_path, "another kernel")


def test_a_folder_that_cannot_be_written_has_no_locks(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "folder"
    assert not compile_lock.is_available(folder)
    assert not compile_lock.acquire(folder, "kernel")
    compile_lock.release(folder, "kernel")
