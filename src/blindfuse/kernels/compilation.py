"""How kernels are compiled, and machine instructions that Numba does not offer by itself."""

from collections.abc import Callable
from typing import Any, Literal

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

REORDER = {"reassoc", "contract", "nsz"}
"""Lets a sum run in several lanes at once; NaN and infinity keep their meaning."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use, keep the result on disk, run without the GIL, divide as NumPy does."""
    return _compiled(function, "never")


def fragment(function: Callable[..., Any]) -> Callable[..., Any]:
    """A part of kernels, written into them before they are compiled: arrays stay in registers."""
    return _compiled(function, "always")


def _compiled(
    function: Callable[..., Any], inline: Literal["never", "always"]
) -> Callable[..., Any]:
    compiled: Callable[..., Any] = numba.njit(
        cache=True, nogil=True, error_model="numpy", fastmath=REORDER, inline=inline
    )(function)
    return compiled


LOWEST_BITS = 0x3FE6A09E667F3BCD
"""The bits of √½: numbers are split into a power of two and a factor between √½ and √2."""
LN_2, LN_2_REST = 0.693147180369123816490, 1.90821492927058770002e-10
"""The logarithm of two: its first 32 bits, and the rest."""


def lanes_of(count: int) -> tuple[float, ...]:
    """As many entries as classes, by which a kernel is compiled for this number of them."""
    return (0.0,) * count


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """How many bits of a 64-bit word are set."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def bits_of(typing_context: Any, number: Any) -> Any:
    """The 64 bits of a float."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def float_of(typing_context: Any, bits: Any) -> Any:
    """The float with these 64 bits."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@fragment
def logarithm(x):
    """The natural logarithm of a normal positive number, without a call: several run at once.

    With x = 2^e f and s = (f − 1) / (f + 1): log x = e log 2 + 2 (s + s³/3 + s⁵/5 + …).
    """
    bits = bits_of(x)
    exponent = (bits - LOWEST_BITS) >> 52
    factor = float_of(bits - (exponent << 52))
    s = (factor - 1.0) / (factor + 1.0)
    z = s * s
    series = 1 / 21
    for n in range(19, 1, -2):
        series = series * z + 1 / n
    return exponent * LN_2 + (exponent * LN_2_REST + 2.0 * s * (1.0 + z * series))


@intrinsic
def prefetch(typing_context: Any, array: Any, row: Any, offset: Any) -> Any:
    """Ask for the cache line at ``offset`` bytes into ``array[row]``, which will be needed soon."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0])
        stride = cgutils.unpack_tuple(builder, data.strides, kind.ndim)[0]
        byte, word, half = ir.IntType(8).as_pointer(), ir.IntType(64), ir.IntType(32)
        place = builder.add(builder.mul(stride, arguments[1]), arguments[2])
        address = builder.inttoptr(builder.add(builder.ptrtoint(data.data, word), place), byte)
        instruction = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, half, half, half]),
            "llvm.prefetch.p0",
        )
        builder.call(instruction, [address, half(1), half(3), half(1)])  # to write, keep, data
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate
