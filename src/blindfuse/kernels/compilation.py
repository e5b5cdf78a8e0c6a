"""Decorators that compile kernels, and machine instructions that Numba does not offer."""

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from blindfuse.kernels.cache import KernelCache

FAST_MATH = {"reassoc", "contract", "nsz"}
"""LLVM flags that let a sum run in several SIMD lanes. NaN and infinity keep their meaning."""


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
