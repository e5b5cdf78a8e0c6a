"""Rows of classes as vectors in registers: a type of LLVM that Numba does not offer by itself.

A loop over a few classes is too short for Numba's vectoriser. ``lanes`` are tuples with as many
entries as classes (see :func:`blindfuse.kernels.compilation.lanes_of`); arrays are contiguous, of
floats, and addressed by the place of a row's first entry.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from blindfuse.kernels.compilation import REORDER

FLAGS = tuple(sorted(REORDER))
DOUBLE = ir.DoubleType()


class Vector(types.Type):
    """So many floats in registers."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"Vector({count})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(DOUBLE, kind.count))


def _contiguous(array: Any) -> None:
    if array.layout != "C" or array.dtype != types.float64:
        raise TypeError(f"Vectors come from contiguous arrays of floats, not from {array}.")


def _address(
    context: Any, builder: ir.IRBuilder, kind: Any, array: Any, at: Any, count: int
) -> Any:
    """Where the vector that begins at entry ``at`` of an array lies."""
    data = context.make_array(kind)(context, builder, array).data
    place = builder.gep(data, [at])
    return builder.bitcast(place, ir.VectorType(DOUBLE, count).as_pointer())


@intrinsic
def load(typing_context: Any, array: Any, at: Any, lanes: Any) -> Any:
    """The vector that begins at entry ``at`` of an array."""
    _contiguous(array)
    count = len(lanes)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        place = _address(context, builder, array, arguments[0], arguments[1], count)
        return builder.load(place, align=8)

    return Vector(count)(array, types.uint64, lanes), generate


@intrinsic
def store(typing_context: Any, array: Any, at: Any, vector: Any) -> Any:
    """Put a vector where entry ``at`` of an array is, and after it."""
    _contiguous(array)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        place = _address(context, builder, array, arguments[0], arguments[1], vector.count)
        builder.store(arguments[2], place, align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, vector), generate


def _entrywise(name: str) -> Callable[..., Any]:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return getattr(builder, name)(*arguments, flags=FLAGS)

    return generate


@intrinsic
def times(typing_context: Any, one: Any, other: Any) -> Any:
    """Entry by entry."""
    return one(one, other), _entrywise("fmul")


@intrinsic
def plus(typing_context: Any, one: Any, other: Any) -> Any:
    """Entry by entry."""
    return one(one, other), _entrywise("fadd")


@intrinsic
def filled(typing_context: Any, value: Any, lanes: Any) -> Any:
    """A vector of equal entries."""
    kind = ir.VectorType(DOUBLE, len(lanes))

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        first = builder.insert_element(
            ir.Constant(kind, ir.Undefined), arguments[0], ir.IntType(32)(0)
        )
        same = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), same)

    return Vector(len(lanes))(types.float64, lanes), generate


@intrinsic
def total(typing_context: Any, vector: Any) -> Any:
    """The sum of all entries."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind = ir.VectorType(DOUBLE, vector.count)
        add_up = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(DOUBLE, [DOUBLE, kind]),
            f"llvm.vector.reduce.fadd.v{vector.count}f64",
        )
        return builder.call(add_up, [DOUBLE(-0.0), arguments[0]], fastmath=FLAGS)

    return types.float64(vector), generate
