"""The disk cache of kernels: a read-only, full or damaged one leads to compilation, no error."""

import errno
import logging
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import blindfuse
from blindfuse.kernels import cache as kernel_cache
from blindfuse.kernels.compilation import kernel


def double(numbers: Any) -> Any:
    for at in range(numbers.size):
        numbers[at] *= 2
    return numbers


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The only cache folder, which is empty; messages are logged again."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(kernel_cache, "_folders", lambda source_folder: [tmp_path])
    kernel_cache._log_once.cache_clear()
    yield tmp_path
    kernel_cache._log_once.cache_clear()


def compilations(function: Callable[..., Any] = double) -> int:
    """Call a new dispatcher of a function, check the result, and count what it compiled."""
    dispatcher: Any = kernel(function)
    assert dispatcher(np.arange(5)).tolist() == [0, 2, 4, 6, 8]
    return sum(dispatcher.stats.cache_misses.values())


def test_machine_code_is_kept(folder: Path) -> None:
    assert compilations() == 1
    assert compilations() == 0
    assert len(files(folder)) == 1


def files(folder: Path) -> list[Path]:
    return list(folder.glob("*.kernel"))


def zeros(content: bytes, rng: random.Random) -> bytes:
    return bytes(len(content))


def truncated(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def one_bit(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]


def random_bytes(content: bytes, rng: random.Random) -> bytes:
    return rng.randbytes(len(content))


def empty(content: bytes, rng: random.Random) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [zeros, truncated, one_bit, random_bytes, empty])
@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_file_is_compiled_again_and_replaced(
    folder: Path, damage: Callable[[bytes, random.Random], bytes], seed: int
) -> None:
    compilations()
    [path] = files(folder)
    path.write_bytes(damage(path.read_bytes(), random.Random(seed)))
    assert compilations() == 1
    assert compilations() == 0


def test_a_file_that_is_right_but_cannot_be_rebuilt_is_compiled_again(folder: Path) -> None:
    compilations()
    [path] = files(folder)
    content = pickle.dumps(("not", "a", "compile result"))
    path.write_bytes(kernel_cache.KernelCache(double)._digest(content) + content)
    assert compilations() == 1


def test_files_of_other_sources_or_of_another_numba_are_compiled_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compilations()
    for version in ("0.0.1", "0.0.2"):
        with monkeypatch.context() as patched:
            patched.setattr(numba, "__version__", version)
            kernel_cache._sources.cache_clear()
            assert compilations() == 1
            assert compilations() == 0
    kernel_cache._sources.cache_clear()
    assert len(files(folder)) == 1  # a new version replaces the old file


def test_a_change_of_another_kernel_module_is_noticed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels are compiled into each other, so the sources of all of them count."""
    sources = tmp_path_factory.mktemp("kernels")
    monkeypatch.setattr(kernel_cache, "__file__", str(sources / "cache.py"))
    for text in ("one", "two"):
        (sources / "other.py").write_text(text)
        kernel_cache._sources.cache_clear()
        assert (compilations(), compilations()) == (1, 0)
    kernel_cache._sources.cache_clear()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_folder_that_cannot_be_written_is_reported_once(
    folder: Path, code: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(path: Path, content: bytes) -> None:
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(kernel_cache, "write_atomically", refuse)
    with caplog.at_level(logging.WARNING, "blindfuse"):
        assert compilations() == 1
        assert compilations() == 1
    [message] = caplog.messages
    assert os.strerror(code) in message
    assert "Set NUMBA_CACHE_DIR" in message


def test_compiling_is_logged_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "blindfuse"):
        compilations()
        files(folder)[0].unlink()
        compilations()
    assert caplog.messages == [kernel_cache.COMPILING]


def test_without_a_home_folder_only_the_package_is_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("BLINDFUSE_CACHE", "~/.cache")
    assert kernel_cache._folders(Path("/package")) == [Path("/package/__pycache__")]


def interpreter_for_everyone() -> str:
    """Return a Python of this version that any user can run, or skip the test."""
    if os.geteuid() != 0:
        pytest.skip("running as another user needs root")
    own, system = Path(sys.executable), Path("/usr/bin") / Path(sys.executable).resolve().name
    for path in (own, system):
        command = [str(path), "-c", "import sqlite3, lzma"]
        try:
            subprocess.run(command, user="nobody", env={}, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError, LookupError):
            continue
        return str(path)
    pytest.skip("no Python of this version can be run by the user nobody")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike tmp_path, which the next run of pytest closes."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def container(open_folder: Path) -> Iterator[Callable[..., "subprocess.CompletedProcess[str]"]]:
    """Run Python with a package that root installed, as nobody without HOME, or as root."""
    python, package = interpreter_for_everyone(), open_folder / "site" / "blindfuse"
    shutil.copytree(
        Path(blindfuse.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    (open_folder / "votes.csv").write_text(
        "item,annotator,label\n"
        + "".join(f"{i},{a},{(i + (i * a) % 3 % 2) % 2}\n" for i in range(60) for a in range(4))
    )
    libraries = Path(np.__file__).parents[1]

    def run(*arguments: str, user: str = "nobody") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [python, "-m", "blindfuse", *arguments],
            user=user,
            extra_groups=[],
            cwd=open_folder,
            env={"PYTHONPATH": f"{package.parent}:{libraries}"},
            capture_output=True,
            text=True,
            check=False,
        )

    yield run
    assert sorted(path.name for path in open_folder.iterdir()) == ["site", "votes.csv"]


FUSE = ["fuse", "votes.csv", "--method", "majority-vote", "-o", "-"]


def test_a_user_without_home_runs_a_package_that_root_installed(
    container: Callable[..., "subprocess.CompletedProcess[str]"],
) -> None:
    process = container(*FUSE)
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("item,label")
    notes = [line for line in process.stderr.splitlines() if "Compiled kernels" in line]
    assert len(notes) == 1
    assert "Permission denied" in notes[0]
    assert container(*FUSE, user="root").returncode == 0  # as an image would at build time
    again = container(*FUSE)
    assert (again.returncode, "Compiled kernels" in again.stderr) == (0, False)


@pytest.mark.slow
def test_the_default_method_runs_without_a_cache(
    container: Callable[..., "subprocess.CompletedProcess[str]"],
) -> None:
    process = container("fuse", "votes.csv")
    assert process.returncode == 0, process.stderr
    assert process.stderr.count("Compiled kernels") == 1
