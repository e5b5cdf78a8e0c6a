"""Vectors of LANES floats in registers, a type of LLVM that Numba does not offer.

A loop over a few classes is too short for LLVM's vectoriser: as a plain loop, the E-step of five
classes takes three times as long. Arrays end in zeros up to a multiple of LANES (:func:`padded`),
so that one compiled kernel serves every number of classes. They are contiguous arrays of floats,
and ``at`` is the flat position of a vector's first entry.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from blindfuse.kernels.compilation import FAST_MATH
from blindfuse.typing import Floats

LANES = 8
"""Entries of a vector: a register of AVX-512, or two of AVX2."""

FLAGS = tuple(sorted(FAST_MATH))
DOUBLE = ir.DoubleType()
EIGHT = ir.VectorType(DOUBLE, LANES)


class Vector(types.Type):
    """The Numba type of LANES floats in registers."""

    def __init__(self) -> None:
        super().__init__(name="Vector")


VECTOR = Vector()


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, EIGHT)


def padded(array: Floats, padding: float = 0.0) -> Floats:
    """Return a copy whose last axis is padded to a multiple of LANES."""
    *shape, length = array.shape
    result = np.full((*shape, padded_length(length)), padding)
    result[..., :length] = array
    return result


def padded_length(length: int) -> int:
    """Return the next multiple of LANES."""
    return -(-length // LANES) * LANES


def aligned_empty(shape: tuple[int, ...]) -> Floats:
    """Return an uninitialised array whose vectors do not cross cache lines."""
    size = int(np.prod(shape))
    entries = np.empty(size + LANES)
    offset = -(entries.ctypes.data // entries.itemsize) % LANES
    return entries[offset : offset + size].reshape(shape)


def _address(context: Any, builder: ir.IRBuilder, kind: Any, array: Any, at: Any) -> Any:
    if kind.layout != "C" or kind.dtype != types.float64:
        raise TypeError(f"Vectors need contiguous arrays of float64, not {kind}.")
    first = builder.gep(context.make_array(kind)(context, builder, array).data, [at])
    return builder.bitcast(first, EIGHT.as_pointer())


@intrinsic
def load(typing_context: Any, array: Any, at: Any) -> Any:
    """Return the vector that begins at entry ``at`` of an array."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return builder.load(_address(context, builder, array, *arguments), align=8)

    return VECTOR(array, types.uint64), generate


@intrinsic
def store(typing_context: Any, array: Any, at: Any, vector: Any) -> Any:
    """Store a vector into an array, from entry ``at`` on."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _address(context, builder, array, *arguments[:2]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, VECTOR), generate


def _entry_by_entry(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Return the intrinsic of an operation of LLVM on two vectors."""

    @intrinsic
    def combine(typing_context: Any, vector: Any, other: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            return operation(builder, *arguments)

        return VECTOR(VECTOR, VECTOR), generate

    return combine


plus, times = map(_entry_by_entry, (ir.IRBuilder.fadd, ir.IRBuilder.fmul))


@intrinsic
def filled(typing_context: Any, value: Any) -> Any:
    """Return a vector of equal entries."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        undefined = ir.Constant(EIGHT, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, undefined, zeros)

    return VECTOR(types.float64), generate


@intrinsic
def total(typing_context: Any, vector: Any) -> Any:
    """Return the sum of all entries."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        reduction = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(DOUBLE, [DOUBLE, EIGHT]),
            f"llvm.vector.reduce.fadd.v{LANES}f64",
        )
        return builder.call(reduction, [DOUBLE(-0.0), *arguments], fastmath=FLAGS)

    return types.float64(VECTOR), generate
