"""Decorators that compile kernels, instructions that Numba does not offer, and the cache on disk.

Numba's own cache has an index, and processes that write it at once can name the wrong file
(numba#4807): of twelve times that four processes started at once, one left a kernel that could not
be called. A truncated file is an error there (numba#10434). Here each signature has a file of its
own, and a file that cannot be used, or that belongs to another source, Numba or Python, counts as
absent. Where no folder is writable, every run compiles, and says so once.
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
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.extending import intrinsic

from blindfuse.files import cache_folder, write_atomically

logger = logging.getLogger("blindfuse")

COMPILING = "Compiling kernels for this machine; later runs start faster."
NOT_KEPT = (
    "Compiled kernels cannot be kept ({reason}), so every run compiles them again. Set "
    "NUMBA_CACHE_DIR to a folder that is writable and has space."
)
SOURCES = Path(__file__).parent
"""The folder of all kernels. They are compiled into each other, so each depends on all sources."""

FAST_MATH = {"reassoc", "contract", "nsz"}
"""LLVM flags that let a sum run in several SIMD lanes. NaN and infinity keep their meaning."""


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


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use, cache on disk, release the GIL, and divide by zero as NumPy does."""
    return _compiled(function, fastmath=FAST_MATH)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like :func:`kernel`, for functions that kernels call: LLVM copies them into their callers.

    Otherwise each would exist twice, alone and in its caller, optimised for itself, and results of
    the process that compiles it and of those that load it would differ in their last digits.
    """
    return _compiled(function, fastmath=FAST_MATH, forceinline=True)


def nested(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like :func:`kernel`, for larger functions that kernels call: sums keep their order.

    So the copy in the caller and the function itself give the same result.
    """
    return _compiled(function, fastmath=False)


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    compiled: Callable[..., Any] = numba.njit(nogil=True, error_model="numpy", **options)(function)
    compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
    return compiled


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """Count the bits that are set in a 64-bit word."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def prefetch(typing_context: Any, array: Any, at: Any) -> Any:
    """Prefetch the cache line of the flat position ``at`` of a contiguous array."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        instruction = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, number, number, number]),
            "llvm.prefetch.p0",
        )
        builder.call(instruction, [address, number(1), number(3), number(1)])  # write, keep, data
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate
