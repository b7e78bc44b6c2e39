"""Data sets that a rule makes: the MONK's problems, Corral, M-of-n, and the toy sets of the documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.io.frames import pl
from fewer.problem import InputError

Table = tuple[pl.DataFrame, NDArray[Any]]


def make_monk(number: int) -> Table:
    """Make one of the three MONK's problems on its whole domain, 432 rows of six nominal features.

    1: a1 = a2 or a5 = 1. 2: exactly two features are 1. 3: a5 = 3 and a4 = 1, or a5 ≠ 4 and a2 ≠ 3. The third is free
    of noise here; Dong & Kothari print it with a5 ≠ 1, which the public training rows contradict.

    Parameters
    ----------
    number : {1, 2, 3}
        Which problem.

    Returns
    -------
    X : polars.DataFrame
        Six nominal columns.
    y : int array
        Classes 0 and 1.

    Examples
    --------
    >>> X, y = make_monk(1)
    >>> X.shape, int(y.sum())
    ((432, 6), 216)
    """
    cells = np.array(list(product(*(range(1, count + 1) for count in (3, 3, 2, 3, 4, 2)))))
    a1, a2, _, a4, a5, _ = cells.T
    rules = {
        1: (a1 == a2) | (a5 == 1),
        2: (cells == 1).sum(axis=1) == 2,
        3: ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3)),
    }
    if number not in rules:
        raise InputError(f"Unknown MONK's problem {number}; choose 1, 2 or 3.")
    X = pl.DataFrame({f"a{i + 1}": cells[:, i] for i in range(6)}).cast(pl.String)
    return X, rules[number].astype(np.int64)


def make_corral() -> Table:
    """Make Corral: 128 rows, six boolean features, class (A0 and A1) or (B0 and B1).

    Each of the 32 combinations of A0, A1, B0, B1 and Irrelevant stands four times; Correlated is the class in
    three of the four.

    Returns
    -------
    X : polars.DataFrame
        Six boolean columns.
    y : int array
        Classes 0 and 1.

    Examples
    --------
    >>> X, y = make_corral()
    >>> X.shape, int(y.sum()), float((X["Correlated"].to_numpy() == y).mean())
    ((128, 6), 56, 0.75)
    """
    cells = np.repeat(np.array(list(product((0, 1), repeat=5)), dtype=bool), 4, axis=0)
    y = (cells[:, 0] & cells[:, 1]) | (cells[:, 2] & cells[:, 3])
    correlated = y ^ (np.arange(len(y)) % 4 == 3)
    names = ["A0", "A1", "B0", "B1", "Irrelevant", "Correlated"]
    return pl.DataFrame(np.column_stack([cells, correlated]), schema=names), y.astype(np.int64)


def make_m_of_n(
    m: int = 3, relevant: Sequence[int] = (2, 3, 4, 5, 6, 7, 8), n_features: int = 10, *, n_rows: int | None = None,
    random_state: int | None = None,
) -> Table:  # fmt: skip
    """Make M-of-n: boolean features, class 1 where at least `m` of the relevant ones are true.

    The default, 3 of 7 among 10, is Dong & Kothari's M-of-n-3-7-10 with its bits counted from 0.

    Parameters
    ----------
    m : int, default=3
        How many of the relevant features must be true.
    relevant : sequence of int
        Features that count, from 0.
    n_features : int, default=10
        All of them.
    n_rows : int, optional
        Rows drawn at random; all 2 ** n_features combinations, each once, unless given.
    random_state : int, optional
        Seed of the rows drawn.

    Returns
    -------
    X : polars.DataFrame
        Boolean columns.
    y : int array
        Classes 0 and 1.

    Examples
    --------
    >>> X, y = make_m_of_n()
    >>> X.shape, int(y.sum())
    ((1024, 10), 792)
    """
    if n_rows is None:
        if n_features > 20:
            raise InputError(f"All combinations of {n_features} features are too many rows; ask for n_rows.")
        cells = np.array(list(product((False, True), repeat=n_features)))
    else:
        cells = np.random.default_rng(random_state).random((n_rows, n_features)) < 0.5
    y = (cells[:, list(relevant)].sum(axis=1) >= m).astype(np.int64)
    return pl.DataFrame(cells, schema=[f"Bit-{i}" for i in range(n_features)]), y


def make_nel_three_features(n_per_class: int = 200, *, random_state: int | None = 0) -> Table:
    """Make Nel's three-feature example (figure 4.1): two features that separate the classes, one that is noise.

    f1 and f2 are normal with means 0 and 3 and unit spread, f3 is uniform over the same range. The thesis
    gives no sizes or means; these fit its figures.

    Parameters
    ----------
    n_per_class : int, default=200
        Rows of each class.
    random_state : int or None, default=0
        Seed.

    Returns
    -------
    X : polars.DataFrame
        Three numeric columns.
    y : int array
        Classes 0 and 1.

    Examples
    --------
    >>> X, y = make_nel_three_features()
    >>> X.shape, X.columns
    ((400, 3), ['f1', 'f2', 'f3'])
    """
    rng = np.random.default_rng(random_state)
    y = np.repeat([0, 1], n_per_class)
    signal = rng.normal(size=(2 * n_per_class, 2)) + 3.0 * y[:, None]
    noise = rng.uniform(signal.min(), signal.max(), 2 * n_per_class)
    return pl.DataFrame(np.column_stack([signal, noise]), schema=["f1", "f2", "f3"]), y


def make_nel_shifted(shift: float = 3.0, n_per_class: int = 200, *, random_state: int | None = 0) -> Table:
    """Make Nel's two shifted classes (figure 5.2, table 5.1): unit normals, one at (0, 0), one at (shift, shift).

    Parameters
    ----------
    shift : float, default=3.0
        How far the second class is from the first, in each feature.
    n_per_class : int, default=200
        Rows of each class.
    random_state : int or None, default=0
        Seed.

    Returns
    -------
    X : polars.DataFrame
        Two numeric columns.
    y : int array
        Classes 0 and 1.

    Examples
    --------
    >>> make_nel_shifted(2.0)[0].shape
    (400, 2)
    """
    rng = np.random.default_rng(random_state)
    y = np.repeat([0, 1], n_per_class)
    return pl.DataFrame(rng.normal(size=(2 * n_per_class, 2)) + shift * y[:, None], schema=["f1", "f2"]), y


def make_nel_surrounded(n_per_class: int = 200, *, distance: float = 4.0, random_state: int | None = 0) -> Table:
    """Make Nel's surrounded class (figure 5.4): class 1 between the two modes of class 2.

    Three round blobs of unit spread stand in a row, `distance` apart. The thesis gives no numbers.

    Parameters
    ----------
    n_per_class : int, default=200
        Rows of each class.
    distance : float, default=4.0
        Between neighboring blobs.
    random_state : int or None, default=0
        Seed.

    Returns
    -------
    X : polars.DataFrame
        Two numeric columns.
    y : int array
        Classes 1 and 2.

    Examples
    --------
    >>> X, y = make_nel_surrounded()
    >>> X.shape, np.bincount(y).tolist()
    ((400, 2), [0, 200, 200])
    """
    rng = np.random.default_rng(random_state)
    y = np.repeat([1, 2], n_per_class)
    side = np.where(np.arange(2 * n_per_class) % 2, 1.0, -1.0) * (y == 2)
    cells = rng.normal(size=(2 * n_per_class, 2)) + np.column_stack([distance * side, np.zeros_like(side)])
    return pl.DataFrame(cells, schema=["f1", "f2"]), y


def make_scott_bimodal(n_rows: int = 5000, *, random_state: int | None = 0) -> Table:
    """Make Scott's bimodal set (figure 5.4): one feature, the modes of the two classes alternate.

    Negatives lie around −3 and 1, positives around −1 and 3, spread 0.5: a linear model's ROC curve has steps,
    and its hull lies well above it. The report's own numbers are not given.

    Parameters
    ----------
    n_rows : int, default=5000
        Rows.
    random_state : int or None, default=0
        Seed.

    Returns
    -------
    X : polars.DataFrame
        One numeric column.
    y : int array
        Classes 0 and 1.

    Examples
    --------
    >>> X, y = make_scott_bimodal()
    >>> X.shape, np.bincount(y).tolist()
    ((5000, 1), [2500, 2500])
    """
    rng = np.random.default_rng(random_state)
    mode = rng.permutation(np.arange(n_rows) % 4)
    y = mode % 2
    return pl.DataFrame({"x": 2.0 * mode - 3.0 + rng.normal(scale=0.5, size=n_rows)}), y


def make_rdg1(
    n_rows: int = 200, n_features: int = 100, n_irrelevant: int = 50, *, max_literals: int = 10, n_classes: int = 2,
    random_state: int | None = 0,
) -> tuple[pl.DataFrame, NDArray[Any], NDArray[np.int64]]:  # fmt: skip
    """Make a set in the style of WEKA's RDG1: boolean features and a random decision list.

    Each rule is a conjunction of 1 … `max_literals` literals over the relevant features; rules take the classes in
    turn. A row gets the class of the first rule that holds; a row that no rule covers gets a new
    rule of its own, with literals that hold in it. Loughrey's "artificial" set was made by such a generator.

    Parameters
    ----------
    n_rows : int, default=200
        Rows.
    n_features : int, default=100
        Columns.
    n_irrelevant : int, default=50
        How many of them no rule uses.
    max_literals : int, default=10
        The longest rule.
    n_classes : int, default=2
        Classes.
    random_state : int or None, default=0
        Seed.

    Returns
    -------
    X, y
        The table and its classes 0, 1, ….
    relevant : int array
        The features from which rules are made.

    Examples
    --------
    >>> X, y, relevant = make_rdg1(random_state=1)
    >>> X.shape, len(relevant)
    ((200, 100), 50)
    """
    rng = np.random.default_rng(random_state)
    relevant = np.sort(rng.permutation(n_features)[: n_features - n_irrelevant])
    if not len(relevant):
        raise InputError(f"All {n_features} features would be irrelevant; ask for fewer irrelevant ones.")
    cells = rng.random((n_rows, n_features)) < 0.5
    rules: list[tuple[NDArray[np.int64], NDArray[np.bool_], int]] = []
    y = np.empty(n_rows, dtype=np.int64)
    for i, row in enumerate(cells):
        label = next((label for columns, values, label in rules if (row[columns] == values).all()), None)
        if label is None:
            length = int(rng.integers(1, min(max_literals, len(relevant)) + 1))
            columns = rng.choice(relevant, size=length, replace=False)
            label = len(rules) % n_classes
            rules.append((columns, row[columns].copy(), label))
        y[i] = label
    return pl.DataFrame(cells, schema=[f"a{i}" for i in range(n_features)]), y, relevant
