"""Single operations that loops do on whole vectors of numbers at once, since no number is widened on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic


def on_whole(kind: Any, operation: Callable[[Any, Any, Any], Any]) -> Any:
    """Return an operation on two whole numbers of a kind, with a result of that kind.

    Parameters
    ----------
    kind : numba type
    operation : callable
        Takes LLVM's builder and the two values.
    """

    @intrinsic
    def apply(typing_context: Any, a: Any, b: Any) -> Any:
        return kind(kind, kind), lambda context, builder, signature, args: operation(builder, *args)

    return apply


def _add(builder: Any, a: Any, b: Any) -> Any:
    return builder.add(a, b)


def _subtract(builder: Any, a: Any, b: Any) -> Any:
    return builder.sub(a, b)


def _least(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _gap(builder: Any, a: Any, b: Any) -> Any:
    difference = builder.sub(a, b)
    negative = builder.icmp_signed("<", difference, difference.type(0))
    return builder.select(negative, builder.neg(difference), difference)


add_16, add_32 = on_whole(types.int16, _add), on_whole(types.int32, _add)
gap_16, gap_32 = on_whole(types.int16, _gap), on_whole(types.int32, _gap)
subtract_32, least_32 = on_whole(types.int32, _subtract), on_whole(types.int32, _least)


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
