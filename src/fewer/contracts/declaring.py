"""How a component declares its parameters: as fields, each with a type that says what values it may have."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from inspect import get_annotations
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, dataclass_transform, get_args, get_origin

from numpy.random import Generator
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

Count = Annotated[int, Interval(Integral, 1, 10**9, closed="both")]  # above, NumPy and joblib overflow
Whole = Annotated[int, Interval(Integral, 0, 10**9, closed="both")]
Repeats = Annotated[int, Interval(Integral, 1, 10**6, closed="both")]  # each costs time and memory of its own
Several = Annotated[int, Interval(Integral, 2, 10**6, closed="both")]
Positive = Annotated[float, Interval(Real, 0, None, closed="neither")]
NonNegative = Annotated[float, Interval(Real, 0, None, closed="left")]
Share = Annotated[float, Interval(Real, 0, 1, closed="both")]
Fraction = Annotated[float, Interval(Real, 0, 1, closed="neither")]
Scoring = Annotated[Any, str, callable, None]
# Types of parameters, with what values they may have.
RandomState = Annotated[Any, "random_state", Generator]
Declared = TypeVar("Declared")


@dataclass_transform(eq_default=False)
def parameters(kind: type[Declared]) -> type[Declared]:
    """Make the annotated fields of a class its parameters, each declared once: name, type and default.

    What values a parameter may have follows from its type: one of a `Literal`, true or false, a component of a kind, or
    what an `Annotated` type lists in scikit-learn's terms. It is kept in `_parameter_constraints`, and
    `Component.check_parameters` refuses anything else.

    Parameters
    ----------
    kind : class
        A component or a scikit-learn estimator.

    Returns
    -------
    class
        The same, with an `__init__` that keeps its arguments as they are.

    Examples
    --------
    >>> from fewer.contracts import Component
    >>> @parameters
    ... class Wait(Component):
    ...     pause: NonNegative = 0.0
    ...     until: Literal["done", "full"] = "done"
    >>> Wait(pause=2.0)
    Wait(pause=2.0)
    >>> Wait(until="late").check_parameters()
    Traceback (most recent call last):
    ...
    fewer.errors.InputError: The 'until' parameter of Wait must be a str among ... Got 'late' instead.
    """
    dataclass(eq=False, repr=False)(kind)
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if is_dataclass(base):
            hints |= get_annotations(base, eval_str=True)
    allowed = {field.name: _allowed(hints[field.name]) for field in fields(kind)}  # type: ignore[arg-type]
    kind._parameter_constraints = allowed  # type: ignore[attr-defined]
    return kind


def _allowed(hint: Any) -> list[Any]:
    """Return what values a type allows, as scikit-learn's constraints."""
    match get_origin(hint):
        case kind if kind is Annotated:
            return list(hint.__metadata__)
        case kind if kind in (Union, UnionType):
            return [value for part in get_args(hint) for value in _allowed(part)]
        case kind if kind is Literal:
            return [StrOptions(set(get_args(hint)))]
    simple: dict[Any, Any] = {bool: "boolean", NoneType: None}
    return [simple[hint]] if hint in simple else [HasMethods(sorted(hint.__abstractmethods__))]
