"""Options that belong together as one argument of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter
from typing import Any, get_type_hints


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take dataclasses: each of their fields is an option of the command line.

    Parameters
    ----------
    command : callable
        Whose parameters have types; those that are dataclasses are spread out, in their place.

    Returns
    -------
    callable
        The command as typer reads it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 1
    ...     height: int = 2
    >>> def draw(name: str, size: Size) -> None:
    ...     print(name, size)
    >>> inspect.signature(spread(draw))
    <Signature (*, name: str, width: int = 1, height: int = 2)>
    >>> spread(draw)(name="a", width=5, height=2)
    a Size(width=5, height=2)
    """
    hints = get_type_hints(command, include_extras=True)
    own = inspect.signature(command).parameters
    bundles = {name: hints[name] for name in own if is_dataclass(hints[name])}
    options = [
        option
        for name, parameter in own.items()
        for option in (
            _options_of(bundles[name])
            if name in bundles
            else [parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])]
        )
    ]

    @wraps(command)
    def spread_out(**values: Any) -> None:
        whole = {
            name: kind(**{field.name: values.pop(field.name) for field in fields(kind)})
            for name, kind in bundles.items()
        }
        command(**values, **whole)

    spread_out.__annotations__ = {option.name: option.annotation for option in options}
    spread_out.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return spread_out


def _options_of(bundle: Any) -> list[Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
        for field in fields(bundle)
    ]
