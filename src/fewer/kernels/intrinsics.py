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


# Cells of histograms, four numbers each (sum of gradients, sum of hessians, rows, bin), are read and written whole. The
# caller answers for places inside the array: nothing is checked, so that loops have no branches.
DOUBLE, WHOLE, SHORT = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
FOUR = ir.VectorType(DOUBLE, 4)
NOTHING = ir.Constant(FOUR, [ir.Constant(DOUBLE, 0.0)] * 4)
ROWS, BIN = ir.Constant(SHORT, 2), ir.Constant(SHORT, 3)


def _number(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    return builder.gep(context.make_array(kind)(context, builder, value=array).data, [i])


def _place(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    return builder.bitcast(_number(context, builder, kind, array, i), FOUR.as_pointer())


def _read(builder: Any, place: Any) -> Any:
    cell = builder.load(place)
    cell.align = 8
    return cell


def _write(builder: Any, cell: Any, place: Any) -> None:
    builder.store(cell, place).align = 8


def _is_used(builder: Any, cell: Any) -> Any:
    """Return 1 where a cell counts rows, else 0."""
    rows = builder.extract_element(cell, ROWS)
    return builder.zext(builder.fcmp_ordered(">", rows, ir.Constant(DOUBLE, 0.0)), WHOLE)


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
def take_cell(typing_context: Any, lists: Any, i: Any, dense: Any, j: Any, name: Any) -> Any:
    """Move the cell dense[j : j + 4] to lists[i : i + 4] under the name of its bin; return 1 if it counts rows."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature.args[2], *args[2:4])
        cell = _read(builder, place)
        _write(builder, NOTHING, place)
        named = builder.insert_element(cell, args[4], BIN)
        _write(builder, named, _place(context, builder, signature.args[0], *args[:2]))
        return _is_used(builder, cell)

    return types.int64(lists, types.int64, dense, types.int64, types.float64), build


@intrinsic
def part_cell(typing_context: Any, lists: Any, i: Any, dense: Any, j: Any, rest: Any, part: Any) -> Any:
    """Part the cell at i: what dense[j] has goes to `part`, the rest to `rest`; dense[j] becomes zero.

    Returns 1 if the part counts rows, plus 2 if anything is left: residues of the subtraction stay in the list, as they
    stay in scikit-learn's histograms, unless all three sums are exactly zero.
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        whole = _read(builder, _place(context, builder, kind, *args[:2]))
        place = _place(context, builder, signature.args[2], *args[2:4])
        cell = _read(builder, place)
        _write(builder, NOTHING, place)
        named = builder.insert_element(cell, builder.extract_element(whole, BIN), BIN)
        _write(builder, named, _place(context, builder, kind, args[0], args[5]))
        left = builder.fsub(whole, cell)
        _write(builder, left, _place(context, builder, kind, args[0], args[4]))
        four = ir.IntType(4)
        nonzero = builder.bitcast(builder.fcmp_unordered("!=", left, NOTHING), four)
        stays = builder.icmp_unsigned("!=", builder.and_(nonzero, ir.Constant(four, 7)), ir.Constant(four, 0))
        return builder.or_(_is_used(builder, cell), builder.shl(builder.zext(stays, WHOLE), ir.Constant(WHOLE, 1)))

    numbers = types.int64
    return numbers(lists, numbers, dense, numbers, numbers, numbers), build


@intrinsic
def power_of_two(typing_context: Any, k: Any) -> Any:
    """Return 2.0**k for a whole number from -1022 to 1023, from its bits."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.shl(builder.add(args[0], ir.Constant(WHOLE, 1023)), ir.Constant(WHOLE, 52))
        return builder.bitcast(bits, DOUBLE)

    return types.float64(types.int64), build
