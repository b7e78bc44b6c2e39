"""What the selectors' parameters mean: sizes, memory, columns, costs, where a search begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Literal

import numpy as np

from fewer.columns import Column, column_numbers
from fewer.contracts import SearchSpace
from fewer.estimators import parse_costs
from fewer.problem import InputError, Problem

Size = int | float | tuple[int, int] | Literal["auto"]


def parse_size(asked: Any, n_features: int) -> tuple[int, int]:
    """Turn a number, a share, a range or "auto" into the smallest and largest number of features.

    Parameters
    ----------
    asked : int, float, (int, int) or "auto"
        What `n_features_to_select` was given.
    n_features : int
        How many features there are.

    Returns
    -------
    low, high : int
        The fewest and the most.

    Examples
    --------
    >>> parse_size(0.5, 9), parse_size((2, 5), 9), parse_size("auto", 9)
    ((5, 5), (2, 5), (1, 9))
    """
    if isinstance(asked, str):
        return 1, n_features
    if isinstance(asked, tuple | list):
        if len(asked) != 2 or not all(isinstance(n, Integral) for n in asked) or not 1 <= asked[0] <= asked[1]:
            raise InputError(f"n_features_to_select={asked!r}: give a smallest and a largest number of features.")
        low, high = int(asked[0]), min(int(asked[1]), n_features)
    elif isinstance(asked, Integral):
        low = high = int(asked)
    else:
        low = high = max(1, int(asked * n_features + 0.5))
    if low > n_features:
        raise InputError(
            f"{low} features are asked for, but there are only {n_features} to choose from; "
            f"ask for at most {n_features}."
        )
    return low, high


def parse_memory(text: str | int) -> int:
    """Turn "512MiB", "2 GB" or a number into bytes.

    Parameters
    ----------
    text : str or int
        Bytes, or a number with a unit.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> parse_memory("1GiB"), parse_memory("2 kB"), parse_memory(4096)
    (1073741824, 2000, 4096)
    """
    if isinstance(text, Integral):
        return int(text)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", str(text).lower())
    if match is None:
        raise InputError(f"memory={text!r} is not an amount of memory; write for example '512MiB' or '2GiB'.")
    number, prefix, binary = match.groups()
    return int(float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " "))


def lay_out_space(selector: Any, problem: Problem) -> SearchSpace:
    """Lay out the subsets that a selector may choose, from its sizes, forced features, groups, costs and start.

    Parameters
    ----------
    selector : estimator
        With `n_features_to_select`, `include`, `exclude`, `feature_groups` and perhaps costs and `start`.
    problem : Problem

    Returns
    -------
    SearchSpace
    """
    names = problem.names
    include = column_numbers(selector.include, names, "include")
    exclude = column_numbers(selector.exclude, names, "exclude")
    groups = [column_numbers(group, names, "feature_groups") for group in selector.feature_groups or ()]
    _refuse_contradictions(include, exclude, groups, names)
    members = {column for group in groups for column in group}
    most = problem.n_features - len(set(exclude) - members) - sum(len(group) - 1 for group in groups)
    most -= sum(bool(set(group) & set(exclude)) for group in groups)
    sizes = parse_size(selector.n_features_to_select, most)
    n_forced = len(set(include) - members) + sum(bool(set(group) & set(include)) for group in groups)
    if n_forced > sizes[1]:
        raise InputError(
            f"{n_forced} features are forced in (a group counts as one), but at most {sizes[1]} are asked for; "
            f"include fewer or set n_features_to_select to {n_forced} or more."
        )
    space = SearchSpace.of(
        problem.n_features,
        sizes=sizes,
        include=include,
        exclude=exclude,
        groups=groups,
        prices=getattr(selector, "cost_weight", 0.0) * parse_costs(getattr(selector, "feature_costs", None), names),
    )
    return _with_start(space, getattr(selector, "start", None), names)


def _refuse_contradictions(
    include: list[int], exclude: list[int], groups: list[list[int]], names: tuple[str, ...]
) -> None:
    if both := sorted(set(include) & set(exclude)):
        raise InputError(f"{names[both[0]]!r} is both included and excluded; choose one.")
    members = [column for group in groups for column in group]
    for column in members:
        if members.count(column) > 1:
            raise InputError(f"{names[column]!r} is in two feature groups; a feature has one group at most.")


def _with_start(space: SearchSpace, start: Sequence[Column] | None, names: tuple[str, ...]) -> SearchSpace:
    if start is None:
        return space
    columns = set(column_numbers(start, names, "start"))
    state = space.empty()
    for number, unit in enumerate(space.units):
        state[number] = bool(columns & set(unit.tolist()))
    free = {int(column) for unit in space.units for column in unit}
    if outside := sorted(columns - free - set(np.flatnonzero(space.base).tolist())):
        raise InputError(f"start names {names[outside[0]]!r}, which is excluded; leave it out of one of them.")
    if not space.allows(state[None])[0]:
        raise InputError(
            f"start has {int(np.count_nonzero(state))} features beside those forced in, but from {space.min_units} to "
            f"{space.max_units} are asked for."
        )
    return replace(space, start=state)
