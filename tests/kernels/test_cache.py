"""The disk cache of kernels: a read-only, full or damaged one leads to compilation, no error."""

import errno
import logging
import os
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
from numba.core.caching import IndexDataCacheFile

import blindfuse
from blindfuse.kernels import compilation as kernel_cache
from blindfuse.kernels.compilation import kernel


def double(numbers: Any) -> Any:
    for at in range(numbers.size):
        numbers[at] *= 2
    return numbers


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The cache folder, which is empty; messages are logged and sources read again."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    cached = kernel_cache.kernel_folder, kernel_cache.source_hash, kernel_cache._log_once
    for function in cached:
        function.cache_clear()
    yield kernel_cache.kernel_folder()
    for function in cached:
        function.cache_clear()


def compilations() -> int:
    """Call a new dispatcher of a function, check the result, and count what it compiled."""
    dispatcher: Any = kernel(double)
    assert dispatcher(np.arange(5)).tolist() == [0, 2, 4, 6, 8]
    return sum(dispatcher.stats.cache_misses.values())


def test_machine_code_is_kept_and_compiling_is_logged_once(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "blindfuse"):
        assert [compilations(), compilations()] == [1, 0]
        for path in folder.iterdir():
            path.unlink()
        assert compilations() == 1
    assert caplog.messages == [kernel_cache.COMPILING]


@pytest.mark.parametrize("suffix", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize(
    "damaged",
    [
        lambda content: bytes(len(content)),
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: np.random.default_rng(0).bytes(len(content)),
        lambda content: b"\x80\x04N.",  # a valid pickle of something else
    ],
    ids=["zeros", "empty", "truncated", "random", "another object"],
)
def test_a_damaged_file_is_compiled_again_and_replaced(
    folder: Path, suffix: str, damaged: Callable[[bytes], bytes]
) -> None:
    compilations()
    [path] = folder.glob(suffix)
    path.write_bytes(damaged(path.read_bytes()))
    assert [compilations(), compilations()] == [1, 0]


def test_a_file_of_another_signature_is_compiled_again(folder: Path) -> None:
    """As two processes leave it that write an index at once."""
    compilations()
    [path] = folder.glob("*.nbc")
    kernel(double)(np.ones(5))
    path.write_bytes(next(other for other in folder.glob("*.nbc") if other != path).read_bytes())
    assert [compilations(), compilations()] == [1, 0]


def test_files_of_other_sources_or_of_another_numba_are_compiled_again(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path_factory.mktemp("kernels")
    monkeypatch.setattr(kernel_cache, "SOURCES", sources)
    for text, version in (("one", "0.0.1"), ("two", "0.0.1"), ("two", "0.0.2")):
        (sources / "other.py").write_text(text)
        monkeypatch.setattr(numba, "__version__", version)
        kernel_cache.source_hash.cache_clear()
        assert [compilations(), compilations()] == [1, 0]
    assert len(list(folder.iterdir())) == 2  # a new version replaces the old files


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_folder_that_cannot_be_written_is_reported_once(
    folder: Path, code: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code), str(folder))

    monkeypatch.setattr(IndexDataCacheFile, "save", refuse)
    with caplog.at_level(logging.WARNING, "blindfuse"):
        assert [compilations(), compilations()] == [1, 1]
    [message] = caplog.messages
    assert os.strerror(code) in message
    assert "Set NUMBA_CACHE_DIR" in message


def test_processes_that_compile_at_once_leave_a_cache_that_works(tmp_path: Path) -> None:
    program = (
        "import sys, numpy as np\n"
        "from blindfuse.kernels.compilation import kernel\n"
        "@kernel\n"
        "def total(numbers): return numbers.sum()\n"
        "assert total(np.array([1, 3, 2], sys.argv[1])) == 6\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        processes = [
            subprocess.Popen([sys.executable, "-c", program, dtype], env=environment)
            for dtype in ["int8", "int16"] * 2
        ]
        assert [process.wait() for process in processes] == [0] * 4


@pytest.mark.parametrize("is_writable", [True, False])
def test_the_cache_is_in_the_package_or_else_in_the_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_writable: bool
) -> None:
    sources, user = tmp_path / "kernels", tmp_path / "user"
    monkeypatch.setattr(kernel_cache, "SOURCES", sources)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("BLINDFUSE_CACHE", str(user))
    if not is_writable:
        sources.write_text("a file in place of the folder")
    found = kernel_cache.kernel_folder.__wrapped__()
    assert found.parent == (sources / "__pycache__" if is_writable else user)
    assert found.is_dir()


def test_without_a_home_folder_only_the_package_is_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kernel_cache, "SOURCES", Path("/dev/null"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("BLINDFUSE_CACHE", "~/.cache")
    assert kernel_cache.kernel_folder.__wrapped__().is_relative_to("/dev/null")
    assert not list(tmp_path.iterdir())


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


@pytest.mark.slow
def test_a_user_without_home_runs_a_package_that_root_installed() -> None:
    python, libraries = interpreter_for_everyone(), Path(np.__file__).parents[1]
    with tempfile.TemporaryDirectory() as name:  # nobody may not enter tmp_path
        folder, package = Path(name), Path(name) / "site" / "blindfuse"
        folder.chmod(0o755)
        without_code = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(blindfuse.__file__).parent, package, ignore=without_code)
        rows = (f"{i},{a},{(i + (i * a) % 3 % 2) % 2}\n" for i in range(60) for a in range(4))
        (folder / "votes.csv").write_text("item,annotator,label\n" + "".join(rows))

        def fuse(user: str) -> str:
            process = subprocess.run(
                [python, "-m", "blindfuse", "fuse", "votes.csv", "-o", "-"],
                user=user,
                extra_groups=[],
                cwd=folder,
                env={"PYTHONPATH": f"{package.parent}:{libraries}"},
                capture_output=True,
                text=True,
                check=False,
            )
            assert process.returncode == 0, process.stderr
            assert process.stdout.startswith("item,label")
            return process.stderr

        notes = [line for line in fuse("nobody").splitlines() if "Compiled kernels" in line]
        assert len(notes) == 1
        assert "Permission denied" in notes[0]
        fuse("root")  # as an image would at build time
        assert "Compiled kernels" not in fuse("nobody")
        assert sorted(path.name for path in folder.iterdir()) == ["site", "votes.csv"]
