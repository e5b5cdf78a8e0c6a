"""Machine code of kernels on disk: it may be read-only, full or damaged, and fusing still works.

Numba's own cache raises errors where no folder is writable, where a file is damaged and where the
disk is full. This one reads from every folder it knows, read-only ones included, and writes to the
first that accepts a file. A file that does not match its checksum counts as absent, so that the
kernel is compiled again. The logger ``blindfuse`` reports what could not be kept, once.
"""

import hashlib
import logging
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from blindfuse.files import cache_folder, write_atomically
from blindfuse.kernels import compile_lock

logger = logging.getLogger("blindfuse")

COMPILING = "Compiling kernels for this machine; later runs start faster."
NOT_KEPT = (
    "Compiled kernels cannot be kept ({reason}), so every run compiles them again. Set "
    "NUMBA_CACHE_DIR to a folder that is writable and has space."
)

_DIGEST_BYTES = 32


@dataclass
class CacheUsage:
    """What this process compiled, what it loaded, where it was kept, and why it was not."""

    compiled: int = 0
    loaded: int = 0
    folders: set[Path] = field(default_factory=set)
    problem: str = ""


usage = CacheUsage()


class KernelCache(NullCache):
    """The machine code of one kernel, one file per signature and processor."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._source = Path(function.__code__.co_filename)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for a signature, or None if it has to be compiled.

        If another process compiles it at this moment, wait for it.
        """
        target_context.refresh()
        name = self._file_name(sig, target_context.codegen())
        found = self._find(name, target_context)
        if found is None and compile_lock.acquire(self._lock_folder, name):
            found = self._find(name, target_context)
        if found is None:
            _log_once(logging.INFO, COMPILING)
            return None
        compile_lock.release(self._lock_folder, name)
        usage.loaded += 1
        return found

    def _find(self, name: str, target_context: Any) -> Any:
        """Return the machine code in the first folder that has it; None if no folder has."""
        for folder in _folders(self._source.parent):
            try:
                reduced = self._read(folder / name)
                if reduced is not None:
                    return CompileResult._rebuild(target_context, *reduced)
            except Exception:  # unpickling and LLVM have no common base error
                continue
        return None

    @property
    def _lock_folder(self) -> Path:
        return _shared_folder(self._source.parent)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code of a signature in the first folder that accepts it."""
        usage.compiled += 1
        name = self._file_name(sig, data.codegen)
        self._save(name, data)
        compile_lock.release(self._lock_folder, name)

    def _save(self, name: str, data: Any) -> None:
        content = dumps(data._reduce())
        problems = []
        for folder in _folders(self._source.parent):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                write_atomically(folder / name, self._digest(content) + content)
                usage.folders.add(folder)
                return
            except OSError as error:
                problems.append(error.strerror or str(error))
        usage.problem = NOT_KEPT.format(reason=problems[0])
        _log_once(logging.WARNING, usage.problem)

    def _file_name(self, sig: Any, codegen: Any) -> str:
        key = repr((sig, codegen.magic_tuple())).encode()
        short = hashlib.blake2b(key, digest_size=12).hexdigest()
        return f"{self._source.stem}.{self._function.__qualname__}.{short}.kernel"

    def _read(self, path: Path) -> Any:
        data = self._content(path)
        return None if data is None else pickle.loads(data)

    def _content(self, path: Path) -> bytes | None:
        """Return the content of a file; None if it is absent, unreadable, damaged or outdated."""
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        return data if digest == self._digest(data) else None

    def _digest(self, data: bytes) -> bytes:
        """Return a checksum of the data, the sources and the version of Numba."""
        state = hashlib.blake2b(_sources(self._source), digest_size=_DIGEST_BYTES)
        state.update(data)
        return state.digest()


def _shared_folder(source_folder: Path) -> Path:
    """Return the first folder in which processes can wait for each other's kernels."""
    folders = _folders(source_folder)
    return next(filter(compile_lock.is_available, folders), folders[0])


def _folders(source_folder: Path) -> list[Path]:
    """Return the folders to read from and to write to, in this order.

    NUMBA_CACHE_DIR replaces the others, so that a test or a benchmark can start without a cache.
    """
    chosen = getattr(config, "CACHE_DIR", "")
    if chosen:
        return [Path(chosen).absolute() / _unique_name(source_folder)]
    folders = [source_folder / "__pycache__", cache_folder() / _unique_name(source_folder)]
    return [folder for folder in folders if folder.is_absolute()]  # no "~" without a home folder


def _unique_name(folder: Path) -> str:
    digest = hashlib.blake2b(os.fsencode(folder), digest_size=8).hexdigest()
    return f"{folder.name}-{digest}"


@cache
def _sources(source: Path) -> bytes:
    """Return a hash of a module and of all kernels, because kernels are compiled into each other.

    It includes the version of Numba, whose files another version cannot read.
    """
    state = hashlib.blake2b(numba.__version__.encode())
    for path in [source, *sorted(Path(__file__).parent.glob("*.py"))]:
        state.update(path.read_bytes())
    return state.digest()


@cache
def _log_once(level: int, message: str) -> None:
    logger.log(level, message)
