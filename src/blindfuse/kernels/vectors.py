"""Rows of class probabilities: vectors in registers if the classes are few, otherwise in memory.

A loop over a few classes is too short for LLVM's vectoriser, so a row of up to MAX_LANES classes is
a :class:`Vector`, a type of LLVM that Numba does not offer. Compiling takes longer with its length;
a longer row is a :class:`MemoryRow`, for which one compiled kernel serves all lengths.

``lanes`` tell which (see :func:`blindfuse.kernels.compilation.lanes_of`). Arrays are contiguous
arrays of floats, and ``at`` is the flat position of a row's first entry. Functions that return a
row may overwrite their first argument; ``buffer[class]`` is where a row in memory is written.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from blindfuse.kernels.compilation import FAST_MATH

FLAGS = tuple(sorted(FAST_MATH))
DOUBLE, INDEX = ir.DoubleType(), ir.IntType(64)


class Vector(types.Type):
    """The Numba type of ``count`` floats in registers."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"Vector({count})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(DOUBLE, kind.count))


class MemoryRow(types.Type):
    """The Numba type of a row in memory: its address and its length."""

    def __init__(self) -> None:
        super().__init__(name="MemoryRow")


@register_model(MemoryRow)
class _MemoryRowModel(models.StructModel):
    def __init__(self, manager: Any, kind: MemoryRow) -> None:
        members = [("data", types.CPointer(types.float64)), ("size", types.intp)]
        super().__init__(manager, kind, members)


MEMORY_ROW = MemoryRow()


def _row_type(lanes: Any) -> Any:
    return MEMORY_ROW if isinstance(lanes, types.Array) else Vector(len(lanes))


def _check_contiguous(array: Any) -> None:
    if array.layout != "C" or array.dtype != types.float64:
        raise TypeError(f"Vectors need contiguous arrays of float64, not {array}.")


def _pointer(context: Any, builder: ir.IRBuilder, kind: Any, array: Any, at: Any) -> Any:
    """Return the address of entry ``at`` of an array."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [at])


def _as_vector(builder: ir.IRBuilder, pointer: Any, count: int) -> Any:
    return builder.bitcast(pointer, ir.VectorType(DOUBLE, count).as_pointer())


def _memory_row(
    context: Any, builder: ir.IRBuilder, pointer: Any, lanes_kind: Any, lanes: Any
) -> Any:
    """Return the row in memory that begins at a pointer and is as long as ``lanes``."""
    row = cgutils.create_struct_proxy(MEMORY_ROW)(context, builder)
    row.data = pointer
    shape = context.make_array(lanes_kind)(context, builder, lanes).shape
    row.size = builder.extract_value(shape, 0)
    return row


def _opened(context: Any, builder: ir.IRBuilder, row: Any) -> Any:
    return cgutils.create_struct_proxy(MEMORY_ROW)(context, builder, value=row)


def _fill(builder: ir.IRBuilder, row: Any, entry: Callable[[Any], Any]) -> Any:
    """Replace the entries of a row in memory by ``entry(index)``; return the row."""
    with cgutils.for_range(builder, row.size) as loop:
        builder.store(entry(loop.index), builder.gep(row.data, [loop.index]))
    return row._getvalue()


def _entry(builder: ir.IRBuilder, row: Any, index: Any) -> Any:
    return builder.load(builder.gep(row.data, [index]))


def _spread(builder: ir.IRBuilder, value: Any, count: int) -> Any:
    """Return a vector of equal entries."""
    kind = ir.VectorType(DOUBLE, count)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)


@intrinsic
def load(typing_context: Any, array: Any, at: Any, lanes: Any) -> Any:
    """Return the row that begins at entry ``at`` of an array, to be read only."""
    _check_contiguous(array)
    kind = _row_type(lanes)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, array, *arguments[:2])
        if kind is MEMORY_ROW:
            return _memory_row(context, builder, pointer, lanes, arguments[2])._getvalue()
        return builder.load(_as_vector(builder, pointer, kind.count), align=8)

    return kind(array, types.uint64, lanes), generate


@intrinsic
def copied(typing_context: Any, array: Any, at: Any, buffer: Any, lanes: Any) -> Any:
    """Return a copy of the row that begins at entry ``at`` of an array."""
    _check_contiguous(array)
    kind = _row_type(lanes)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, array, *arguments[:2])
        if kind is not MEMORY_ROW:
            return builder.load(_as_vector(builder, pointer, kind.count), align=8)
        source = _memory_row(context, builder, pointer, lanes, arguments[3])
        target = _pointer(context, builder, buffer, arguments[2], INDEX(0))
        row = _memory_row(context, builder, target, lanes, arguments[3])
        return _fill(builder, row, lambda index: _entry(builder, source, index))

    return kind(array, types.uint64, buffer, lanes), generate


@intrinsic
def filled(typing_context: Any, value: Any, buffer: Any, lanes: Any) -> Any:
    """Return a row of equal entries."""
    kind = _row_type(lanes)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        if kind is not MEMORY_ROW:
            return _spread(builder, arguments[0], kind.count)
        target = _pointer(context, builder, buffer, arguments[1], INDEX(0))
        row = _memory_row(context, builder, target, lanes, arguments[2])
        return _fill(builder, row, lambda index: arguments[0])

    return kind(types.float64, buffer, lanes), generate


@intrinsic
def store(typing_context: Any, array: Any, at: Any, row: Any) -> Any:
    """Store a row into an array, from entry ``at`` on; a row in memory may be there already."""
    _check_contiguous(array)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, array, *arguments[:2])
        if isinstance(row, Vector):
            builder.store(arguments[2], _as_vector(builder, pointer, row.count), align=8)
        else:
            source = _opened(context, builder, arguments[2])
            with builder.if_then(builder.icmp_unsigned("!=", source.data, pointer)):
                target = _opened(context, builder, arguments[2])
                target.data = pointer
                _fill(builder, target, lambda index: _entry(builder, source, index))
        return context.get_dummy_value()

    return types.void(array, types.uint64, row), generate


@intrinsic
def times(typing_context: Any, row: Any, other: Any) -> Any:
    """Multiply two rows entry by entry."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        if isinstance(row, Vector):
            return builder.fmul(*arguments, flags=FLAGS)
        one, factors = (_opened(context, builder, each) for each in arguments)

        def product(index: Any) -> Any:
            both = _entry(builder, one, index), _entry(builder, factors, index)
            return builder.fmul(*both, flags=FLAGS)

        return _fill(builder, one, product)

    return row(row, other), generate


@intrinsic
def scaled(typing_context: Any, row: Any, factor: Any) -> Any:
    """Multiply a row by a number."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        value, number = arguments
        if isinstance(row, Vector):
            return builder.fmul(value, _spread(builder, number, row.count), flags=FLAGS)
        one = _opened(context, builder, value)
        return _fill(
            builder, one, lambda at: builder.fmul(_entry(builder, one, at), number, flags=FLAGS)
        )

    return row(row, types.float64), generate


@intrinsic
def plus_scaled(typing_context: Any, row: Any, other: Any, factor: Any) -> Any:
    """Add ``factor`` times another row to a row."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        value, added, number = arguments
        if isinstance(row, Vector):
            by = _spread(builder, number, row.count)
            return builder.fadd(value, builder.fmul(added, by, flags=FLAGS), flags=FLAGS)
        one, two = _opened(context, builder, value), _opened(context, builder, added)

        def plus(index: Any) -> Any:
            product = builder.fmul(_entry(builder, two, index), number, flags=FLAGS)
            return builder.fadd(_entry(builder, one, index), product, flags=FLAGS)

        return _fill(builder, one, plus)

    return row(row, other, types.float64), generate


def _vector_total(builder: ir.IRBuilder, vector: Any, count: int) -> Any:
    reduction = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(DOUBLE, [DOUBLE, ir.VectorType(DOUBLE, count)]),
        f"llvm.vector.reduce.fadd.v{count}f64",
    )
    return builder.call(reduction, [DOUBLE(-0.0), vector], fastmath=FLAGS)


def _memory_total(builder: ir.IRBuilder, size: Any, entry: Callable[[Any], Any]) -> Any:
    """Return the sum of ``entry(index)`` over the indices below ``size``."""
    result = cgutils.alloca_once_value(builder, DOUBLE(0.0))
    builder.store(DOUBLE(0.0), result)
    with cgutils.for_range(builder, size) as loop:
        more = builder.fadd(builder.load(result), entry(loop.index), flags=FLAGS)
        builder.store(more, result)
    return builder.load(result)


@intrinsic
def total(typing_context: Any, row: Any) -> Any:
    """Return the sum of all entries."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        if isinstance(row, Vector):
            return _vector_total(builder, arguments[0], row.count)
        one = _opened(context, builder, arguments[0])
        return _memory_total(builder, one.size, lambda index: _entry(builder, one, index))

    return types.float64(row), generate


@intrinsic
def dot(typing_context: Any, row: Any, other: Any) -> Any:
    """Return the sum of the products of the entries of two rows."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        if isinstance(row, Vector):
            product = builder.fmul(*arguments, flags=FLAGS)
            return _vector_total(builder, product, row.count)
        one, two = (_opened(context, builder, each) for each in arguments)

        def product_at(index: Any) -> Any:
            both = _entry(builder, one, index), _entry(builder, two, index)
            return builder.fmul(*both, flags=FLAGS)

        return _memory_total(builder, one.size, product_at)

    return types.float64(row, other), generate
