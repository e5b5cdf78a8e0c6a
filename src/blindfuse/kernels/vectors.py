"""Rows of class probabilities as vectors in registers, a type of LLVM that Numba does not offer.

A loop over a few classes is too short for LLVM's vectoriser. ``lanes`` are tuples with one entry
per class (see :func:`blindfuse.kernels.compilation.lanes_of`). Arrays are contiguous arrays of
floats, and ``at`` is the flat position of a row's first entry.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from blindfuse.kernels.compilation import FAST_MATH

FLAGS = tuple(sorted(FAST_MATH))
DOUBLE = ir.DoubleType()


class Vector(types.Type):
    """The Numba type of ``count`` floats in registers."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"Vector({count})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(DOUBLE, kind.count))


def _check_contiguous(array: Any) -> None:
    if array.layout != "C" or array.dtype != types.float64:
        raise TypeError(f"Vectors need contiguous arrays of float64, not {array}.")


def _address(
    context: Any, builder: ir.IRBuilder, kind: Any, array: Any, at: Any, count: int
) -> Any:
    """Return the address of the vector that begins at entry ``at`` of an array."""
    data = context.make_array(kind)(context, builder, array).data
    entry = builder.gep(data, [at])
    return builder.bitcast(entry, ir.VectorType(DOUBLE, count).as_pointer())


@intrinsic
def load(typing_context: Any, array: Any, at: Any, lanes: Any) -> Any:
    """Load the vector that begins at entry ``at`` of an array."""
    _check_contiguous(array)
    count = len(lanes)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments[0], arguments[1], count)
        return builder.load(address, align=8)

    return Vector(count)(array, types.uint64, lanes), generate


@intrinsic
def store(typing_context: Any, array: Any, at: Any, vector: Any) -> Any:
    """Store a vector into an array, from entry ``at`` on."""
    _check_contiguous(array)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        address = _address(context, builder, array, arguments[0], arguments[1], vector.count)
        builder.store(arguments[2], address, align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, vector), generate


def _entrywise(name: str) -> Callable[..., Any]:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        return getattr(builder, name)(*arguments, flags=FLAGS)

    return generate


@intrinsic
def times(typing_context: Any, one: Any, other: Any) -> Any:
    """Multiply two vectors entry by entry."""
    return one(one, other), _entrywise("fmul")


@intrinsic
def plus(typing_context: Any, one: Any, other: Any) -> Any:
    """Add two vectors entry by entry."""
    return one(one, other), _entrywise("fadd")


@intrinsic
def filled(typing_context: Any, value: Any, lanes: Any) -> Any:
    """Return a vector of equal entries."""
    kind = ir.VectorType(DOUBLE, len(lanes))

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        first = builder.insert_element(
            ir.Constant(kind, ir.Undefined), arguments[0], ir.IntType(32)(0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)

    return Vector(len(lanes))(types.float64, lanes), generate


@intrinsic
def total(typing_context: Any, vector: Any) -> Any:
    """Return the sum of all entries."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        kind = ir.VectorType(DOUBLE, vector.count)
        reduction = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(DOUBLE, [DOUBLE, kind]),
            f"llvm.vector.reduce.fadd.v{vector.count}f64",
        )
        return builder.call(reduction, [DOUBLE(-0.0), arguments[0]], fastmath=FLAGS)

    return types.float64(vector), generate
