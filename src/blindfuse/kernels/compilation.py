"""Decorators that compile kernels, instructions that Numba does not offer, and the cache on disk.

The cache is Numba's, in a folder of ours. Its files can be damaged (numba#10434), and processes
that write an index at once can name the wrong file in it (numba#4807): of twelve times that four
processes started at once, one left a kernel that could not be called. Such files count as absent
here. Where no folder is writable, every run compiles, and says so once.
"""

import hashlib
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.extending import intrinsic

from blindfuse.files import cache_folder

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
    """How many kernels this process compiled, and why one was not kept."""

    compiled: int = 0
    problem: str = ""


usage = CacheUsage()


@cache
def kernel_folder() -> Path:
    """Return the folder of the cache: the first that exists or can be created.

    NUMBA_CACHE_DIR replaces the others. A folder that an administrator filled is used by everyone.
    """
    name = f"kernels-{hashlib.blake2b(os.fsencode(SOURCES), digest_size=12).hexdigest()}"
    chosen: str = getattr(config, "CACHE_DIR", "")
    parents = [Path(chosen).absolute()] if chosen else [SOURCES / "__pycache__", cache_folder()]
    folders = [parent / name for parent in parents]
    for folder in filter(Path.is_absolute, folders):  # not "~", without a home folder
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            return folder
    return folders[0]


@cache
def source_hash() -> bytes:
    """Return a hash of the sources of all kernels."""
    sources = (path.read_bytes() for path in sorted(SOURCES.glob("*.py")))
    return hashlib.blake2b(b"".join(sources)).digest()


@cache
def _log_once(level: int, message: str) -> None:
    logger.log(level, message)


class _Locator(_CacheLocator):
    """Tells Numba where the cache is, and by what to recognise outdated kernels."""

    def get_cache_path(self) -> str:
        return str(kernel_folder())

    def get_source_stamp(self) -> bytes:
        return source_hash()

    def get_disambiguator(self) -> str:
        return ""

    @classmethod
    def from_function(cls, function: Any, path: str) -> "_Locator":
        return cls()


class _CompiledKernels(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # type: ignore[list-item]  # noqa: RUF012


class KernelCache(FunctionCache):
    """Numba's cache of one kernel, in which files that cannot be used count as absent."""

    _impl_class = _CompiledKernels

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for a signature, or None if it has to be compiled."""
        try:
            result = super().load_overload(sig, target_context)
            if result is not None and result.signature.args == sig:
                return result
        except Exception:  # unpickling and LLVM have no common base error
            with suppress(OSError):
                self.flush()  # or the index could not be written either
        _log_once(logging.INFO, COMPILING)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code of a signature, if the folder accepts it."""
        usage.compiled += 1
        try:
            super().save_overload(sig, data)
        except OSError as error:
            usage.problem = NOT_KEPT.format(reason=error.strerror or error)
            _log_once(logging.WARNING, usage.problem)


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
