"""Vectors of a few floats in registers, a type of LLVM that Numba does not offer.

A loop over a few classes is too short for LLVM's vectoriser: as plain loops, the E-step of five
classes takes three times as long, and a sweep of Algorithm 1 over sparse responses twice as long.
Rows of arrays end in zeros up to a multiple of ``lanes`` (:func:`padded`), so that one compiled
kernel serves every number of classes. Arrays are contiguous, and ``at`` is the flat position of a
vector's first entry.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from blindfuse.kernels.compilation import FAST_MATH
from blindfuse.typing import Floats

CACHE_LINE = 8
"""Floats per cache line."""

FLAGS = tuple(sorted(FAST_MATH))
DOUBLE = ir.DoubleType()


class Vector(types.Type):
    """The Numba type of this many floats in registers."""

    def __init__(self, lanes: int) -> None:
        super().__init__(name=f"Vector({lanes})")
        self.lanes = lanes


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(DOUBLE, kind.lanes))


def padded(array: Floats, lanes: int, padding: float = 0.0) -> Floats:
    """Return a copy whose last axis is padded to a multiple of ``lanes``."""
    *shape, length = array.shape
    result = np.full((*shape, padded_length(length, lanes)), padding)
    result[..., :length] = array
    return result


def padded_length(length: int, lanes: int) -> int:
    """Return the next multiple of ``lanes``."""
    return -(-length // lanes) * lanes


def aligned_empty(shape: tuple[int, ...]) -> Floats:
    """Return an uninitialised array that begins at a cache line.

    Otherwise sweeps over sparse responses take twice as long.
    """
    size = int(np.prod(shape))
    entries = np.empty(size + CACHE_LINE)
    offset = -(entries.ctypes.data // entries.itemsize) % CACHE_LINE
    return entries[offset : offset + size].reshape(shape)


def _address(
    context: Any, builder: ir.IRBuilder, kind: Any, place: tuple[Any, Any], lanes: int
) -> Any:
    """The address of a vector at a place: an array, and the position of its first entry."""
    if kind.layout != "C" or kind.dtype != types.float64:
        raise TypeError(f"Vectors need contiguous arrays of float64, not {kind}.")
    array, at = place
    first = builder.gep(context.make_array(kind)(context, builder, array).data, [at])
    return builder.bitcast(first, ir.VectorType(DOUBLE, lanes).as_pointer())


@intrinsic(prefer_literal=True)
def load(typing_context: Any, array: Any, at: Any, lanes: Any) -> Any:
    """Return the vector of ``lanes`` floats that begins at entry ``at`` of an array."""
    vector = Vector(lanes.literal_value)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        place = _address(context, builder, array, arguments[:2], vector.lanes)
        return builder.load(place, align=8)

    return vector(array, types.uint64, lanes), generate


@intrinsic
def store(typing_context: Any, array: Any, at: Any, vector: Any) -> Any:
    """Store a vector into an array, from entry ``at`` on."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        place = _address(context, builder, array, arguments[:2], vector.lanes)
        builder.store(arguments[2], place, align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, vector), generate


@intrinsic(prefer_literal=True)
def filled(typing_context: Any, value: Any, lanes: Any) -> Any:
    """Return a vector of equal entries."""
    vector = Vector(lanes.literal_value)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind = ir.VectorType(DOUBLE, vector.lanes)
        undefined, number = ir.Constant(kind, ir.Undefined), ir.IntType(32)
        first = builder.insert_element(undefined, arguments[0], number(0))
        zeros = ir.Constant(ir.VectorType(number, vector.lanes), [0] * vector.lanes)
        return builder.shuffle_vector(first, undefined, zeros)

    return vector(types.float64, lanes), generate


@intrinsic
def total(typing_context: Any, vector: Any) -> Any:
    """Return the sum of all entries."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        reduction = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(DOUBLE, [DOUBLE, ir.VectorType(DOUBLE, vector.lanes)]),
            f"llvm.vector.reduce.fadd.v{vector.lanes}f64",
        )
        return builder.call(reduction, [DOUBLE(-0.0), *arguments], fastmath=FLAGS)

    return types.float64(vector), generate


def _define(operation: Any, instruct: Any) -> None:
    """Let an operator compute with two vectors, entry by entry."""

    @type_callable(operation)
    def typed(context: Any) -> Any:
        return lambda one, other: one if isinstance(one, Vector) and one == other else None

    @lower_builtin(operation, Vector, Vector)
    def lowered(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return instruct(builder, *arguments)


_define(operator.add, ir.IRBuilder.fadd)
_define(operator.sub, ir.IRBuilder.fsub)
_define(operator.mul, ir.IRBuilder.fmul)
