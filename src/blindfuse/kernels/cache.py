"""Machine code of kernels on disk, so that only the first run on a machine compiles.

Numba's own cache has an index, and processes that write it at once can name the wrong file
(numba#4807): of twelve times that four processes started at once, one left a kernel that could not
be called. A truncated file is an error there (numba#10434). Here each signature has a file of its
own, and a file that cannot be used, or that belongs to another source, Numba or Python, counts as
absent. Where no folder is writable, every run compiles.
"""

import hashlib
import logging
import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from blindfuse.files import cache_folder, write_atomically

logger = logging.getLogger("blindfuse")

COMPILING = "Compiling kernels for this machine; later runs start faster."
NOT_KEPT = (
    "Compiled kernels cannot be kept ({reason}), so every run compiles them again. Set "
    "NUMBA_CACHE_DIR to a folder that is writable and has space."
)
SOURCES = Path(__file__).parent
"""The folder of all kernels. They are compiled into each other, so each depends on all sources."""


@dataclass
class CacheUsage:
    """What this process compiled, the folder of the last kernel, and why one was not kept."""

    compiled: int = 0
    folder: Path | None = None
    problem: str = ""


usage = CacheUsage()


class KernelCache(NullCache):
    """The machine code of one kernel, one file per signature and processor."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for a signature, or None if it has to be compiled."""
        target_context.refresh()
        name, stamp = self._file_name(sig, target_context.codegen()), _stamp()
        for folder in _folders():
            try:
                content = (folder / name).read_bytes()
                if content.startswith(stamp):
                    reduced = pickle.loads(content[len(stamp) :])
                    usage.folder = folder
                    return CompileResult._rebuild(target_context, *reduced)
            except Exception:  # unpickling and LLVM have no common base error
                continue
        _log_once(logging.INFO, COMPILING)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code of a signature in the first folder that accepts it."""
        usage.compiled += 1
        name, content = self._file_name(sig, data.codegen), _stamp() + dumps(data._reduce())
        problems = []
        for folder in _folders():
            try:
                folder.mkdir(parents=True, exist_ok=True)
                write_atomically(folder / name, content)
                usage.folder = folder
                return
            except OSError as error:
                problems.append(error.strerror or str(error))
        usage.problem = NOT_KEPT.format(reason=problems[0])
        _log_once(logging.WARNING, usage.problem)

    def _file_name(self, sig: Any, codegen: Any) -> str:
        return f"{self._name}.{_digest(repr((sig, codegen.magic_tuple())).encode()).hex()}.kernel"


def _folders() -> list[Path]:
    """Return the folders to read from and to write to, in this order.

    NUMBA_CACHE_DIR replaces the others, so that a test or a benchmark can start without a cache.
    """
    name = f"kernels-{_digest(os.fsencode(SOURCES)).hex()}"
    chosen: str = getattr(config, "CACHE_DIR", "")
    if chosen:
        return [Path(chosen).absolute() / name]
    folders = [SOURCES / "__pycache__", cache_folder() / name]
    return [folder for folder in folders if folder.is_absolute()]  # no "~" without a home folder


@cache
def _stamp() -> bytes:
    """Return a hash of all that machine code depends on; its files begin with it."""
    sources = (path.read_bytes() for path in sorted(SOURCES.glob("*.py")))
    return _digest(b"".join([numba.__version__.encode(), sys.version.encode(), *sources]))


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=12).digest()


@cache
def _log_once(level: int, message: str) -> None:
    logger.log(level, message)
