"""Single operations that loops do on whole vectors of numbers at once, since no number is widened on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def on_whole(kind: Any, operation: Callable[[Any, Any, Any], Any]) -> Any:
    """Return an operation on two whole numbers of a kind, with a result of that kind.

    Parameters
    ----------
    kind : numba type
        A type of whole numbers.
    operation : callable
        Takes LLVM's builder and the two values.
    """

    @intrinsic
    def apply(typing_context: Any, a: Any, b: Any) -> Any:
        return kind(kind, kind), lambda context, builder, signature, args: operation(builder, *args)

    return apply


def _least(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _gap(builder: Any, a: Any, b: Any) -> Any:
    difference = builder.sub(a, b)
    negative = builder.icmp_signed("<", difference, difference.type(0))
    return builder.select(negative, builder.neg(difference), difference)


add_16, add_32 = on_whole(types.int16, ir.IRBuilder.add), on_whole(types.int32, ir.IRBuilder.add)
gap_16, gap_32 = on_whole(types.int16, _gap), on_whole(types.int32, _gap)
subtract_32, least_32 = on_whole(types.int32, ir.IRBuilder.sub), on_whole(types.int32, _least)


def on_floats(operator: str) -> Any:
    """Return the choice of one of two floats of one precision by a comparison, neither of them NaN.

    Parameters
    ----------
    operator : str
        The first is chosen where it is this beside the second.
    """

    @intrinsic
    def choose(typing_context: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            flags = ("nnan", "nsz")
            return builder.select(builder.fcmp_ordered(operator, *args, flags=flags), *args, flags=flags)

        kind = types.float32 if a == b == types.float32 else types.float64
        return kind(kind, kind), build

    return choose


least_float, largest_float = on_floats("<"), on_floats(">")


# Cells of histograms, four numbers each (sum of gradients, sum of hessians, rows, 0), are read and written whole. The
# caller answers for places inside the array: nothing is checked, so that loops have no branches.
DOUBLE, WHOLE = ir.DoubleType(), ir.IntType(64)
FOUR = ir.VectorType(DOUBLE, 4)
NOTHING = ir.Constant(FOUR, [ir.Constant(DOUBLE, 0.0)] * 4)
BYTES = ir.VectorType(ir.IntType(8), 64)


def _number(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    return builder.gep(builder.extract_value(array, context.data_model_manager[kind].get_field_position("data")), [i])


def _place(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    return builder.bitcast(_number(context, builder, kind, array, i), FOUR.as_pointer())


def _read(builder: Any, place: Any) -> Any:
    cell = builder.load(place)
    cell.align = 8
    return cell


def _write(builder: Any, cell: Any, place: Any) -> None:
    builder.store(cell, place).align = 8


@intrinsic
def get(typing_context: Any, array: Any, i: Any) -> Any:
    """Read array[i] unchecked."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_number(context, builder, signature.args[0], *args))

    return array.dtype(array, types.int64), build


@intrinsic
def put(typing_context: Any, array: Any, i: Any, value: Any) -> Any:
    """Write array[i] unchecked."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _number(context, builder, signature.args[0], *args[:2]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), build


@intrinsic
def add_cell(typing_context: Any, to: Any, i: Any, source: Any, j: Any) -> Any:
    """Do to[i : i + 4] += source[j : j + 4]."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[0], *args[:2])
        more = _read(builder, _place(context, builder, signature.args[2], *args[2:]))
        _write(builder, builder.fadd(_read(builder, place), more), place)
        return context.get_dummy_value()

    return types.void(to, types.int64, source, types.int64), build


@intrinsic
def move_cell(typing_context: Any, dense: Any, j: Any, to: Any, i: Any) -> Any:
    """Move the cell dense[j : j + 4] to to[i : i + 4]; zeros stay."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[0], *args[:2])
        cell = _read(builder, place)
        _write(builder, NOTHING, place)
        _write(builder, cell, _place(context, builder, signature.args[2], *args[2:]))
        return context.get_dummy_value()

    return types.void(dense, types.int64, to, types.int64), build


@intrinsic
def subtract_cell(typing_context: Any, cells: Any, i: Any, j: Any) -> Any:
    """Do cells[i : i + 4] -= cells[j : j + 4]; return 1 if nothing is left, else 0.

    Residues of the subtraction are left, as they are in scikit-learn's histograms.
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[0], args[0], args[1])
        other = _place(context, builder, signature.args[0], args[0], args[2])
        left = builder.fsub(_read(builder, place), _read(builder, other))
        _write(builder, left, place)
        four = ir.IntType(4)
        nonzero = builder.bitcast(builder.fcmp_unordered("!=", left, NOTHING), four)
        return builder.zext(builder.icmp_unsigned("==", nonzero, ir.Constant(four, 0)), WHOLE)

    return types.uint64(cells, types.int64, types.int64), build


@intrinsic
def take_marks(typing_context: Any, marks: Any, i: Any) -> Any:
    """Return which of the 64 bytes from marks[i] on are not zero, as bits, and make them zero."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.bitcast(_number(context, builder, signature.args[0], *args), BYTES.as_pointer())
        read = builder.load(place)
        read.align = 1
        nothing = ir.Constant(BYTES, [ir.Constant(BYTES.element, 0)] * 64)
        builder.store(nothing, place).align = 1
        return builder.bitcast(builder.icmp_unsigned("!=", read, nothing), WHOLE)

    return types.uint64(marks, types.int64), build


@intrinsic
def lowest_bit(typing_context: Any, bits: Any) -> Any:
    """Return the number of the lowest bit that is set; there must be one."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), build


@intrinsic
def power_of_two(typing_context: Any, k: Any) -> Any:
    """Return 2.0**k for a whole number from -1022 to 1023, from its bits."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.shl(builder.add(args[0], ir.Constant(WHOLE, 1023)), ir.Constant(WHOLE, 52))
        return builder.bitcast(bits, DOUBLE)

    return types.float64(types.int64), build
