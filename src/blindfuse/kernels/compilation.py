"""Decorators that compile kernels, and machine instructions that Numba does not offer."""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from blindfuse.kernels.cache import KernelCache
from blindfuse.typing import Floats

FAST_MATH = {"reassoc", "contract", "nsz"}
"""LLVM flags that let a sum run in several SIMD lanes. NaN and infinity keep their meaning."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use, cache on disk, release the GIL, and divide by zero as NumPy does."""
    return _compiled(function, fastmath=FAST_MATH)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like :func:`kernel`, but inlined into its callers, so that vectors stay in registers."""
    return _compiled(function, fastmath=FAST_MATH, inline="always")


def nested(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like :func:`kernel`, for kernels that other kernels call: sums keep their order.

    Such a kernel exists twice, alone and in its caller, each optimised for itself, and the copy
    that is loaded first is called: in the process that compiles it another one than later. If sums
    could be reordered, results of these processes would differ in their last digits.
    """
    return _compiled(function, fastmath=False)


def embedded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like :func:`nested`, for long sums, which must run in several SIMD lanes.

    LLVM copies the function into its callers, so that there is no other copy to call. That takes
    longer to compile.
    """
    return _compiled(function, fastmath=FAST_MATH, forceinline=True)


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    compiled: Callable[..., Any] = numba.njit(nogil=True, error_model="numpy", **options)(function)
    compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
    return compiled


SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
"""The bits of √½: a number is split into a power of two and a factor between √½ and √2."""
LN_2, LN_2_REST = 0.693147180369123816490, 1.90821492927058770002e-10
"""The logarithm of two: its leading 32 bits and the remainder."""


MIN_COMPILED = 20_000
"""Responses from which compiling a kernel of its own pays. Smaller tables use NumPy where it is
almost as fast, and kernels for any number of classes, so that a first run compiles less."""

MAX_LANES = 32
"""Classes for whose number a kernel is compiled; with more, one kernel serves all numbers."""


def lanes_of(count: int) -> tuple[tuple[()], ...] | Floats:
    """Return an object of length ``count``, the number of classes, that tells kernels about rows.

    Up to MAX_LANES it is a tuple, whose length is part of its type, so that a row of classes is a
    vector in registers. Its entries are empty, because others would become arguments of every
    function. With more classes it is an array, and rows are in memory (see
    ``blindfuse.kernels.vectors``).
    """
    return register_lanes(count, MIN_COMPILED) or np.empty(count)


def register_lanes(count: int, n_responses: int) -> tuple[tuple[()], ...] | None:
    """Return the lanes of a row in registers; None for more than MAX_LANES and small tables."""
    in_registers = count <= MAX_LANES and n_responses >= MIN_COMPILED
    return ((),) * count if in_registers else None


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """Count the bits that are set in a 64-bit word."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def bits_of(typing_context: Any, number: Any) -> Any:
    """Return the 64 bits of a float as an integer."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def float_of(typing_context: Any, bits: Any) -> Any:
    """Return the float with these 64 bits."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@inlined
def logarithm(x):
    """Return log x of a normal positive number without a function call, so that it vectorises.

    With x = 2^e f and s = (f − 1) / (f + 1): log x = e log 2 + 2 (s + s³/3 + s⁵/5 + …).
    """
    bits = bits_of(x)
    exponent = (bits - SQRT_HALF_BITS) >> 52
    factor = float_of(bits - (exponent << 52))
    s = (factor - 1.0) / (factor + 1.0)
    z = s * s
    series = 1 / 21
    for n in range(19, 1, -2):
        series = series * z + 1 / n
    return exponent * LN_2 + (exponent * LN_2_REST + 2.0 * s * (1.0 + z * series))


@intrinsic
def prefetch(typing_context: Any, array: Any, row: Any, offset: Any) -> Any:
    """Prefetch the cache line ``offset`` bytes after the start of ``array[row]``."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0])
        stride = cgutils.unpack_tuple(builder, data.strides, kind.ndim)[0]
        byte, word, half = ir.IntType(8).as_pointer(), ir.IntType(64), ir.IntType(32)
        position = builder.add(builder.mul(stride, arguments[1]), arguments[2])
        address = builder.inttoptr(builder.add(builder.ptrtoint(data.data, word), position), byte)
        instruction = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, half, half, half]),
            "llvm.prefetch.p0",
        )
        builder.call(instruction, [address, half(1), half(3), half(1)])  # write, keep, data
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate
