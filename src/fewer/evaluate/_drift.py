"""Drift: how the columns of a table changed against an older one, or along time."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.files import finite
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.rankers._by_moments import ks_distance
from fewer.text import printable, score_text

# A population stability index from which on a column has changed; from half of it on it has changed a little.
CHANGED = 0.2


@dataclass(frozen=True)
class ColumnDrift:
    """How one column changed.

    Parameters
    ----------
    name : str
        The column.
    psi : float
        Population stability index: Σ (q − p) ln(q / p) over bins, p the shares in the old table, q in the new one.
    ks : float or None
        The largest difference of the two cumulative distributions; None for a nominal column.
    p_value : float or None
        Of that difference, if nothing changed.
    missing_old, missing_new : float
        Shares of missing cells.

    Examples
    --------
    >>> ColumnDrift("age", 0.31, 0.2, 1e-6, 0.0, 0.1).changed
    True
    """

    name: str
    psi: float
    ks: float | None
    p_value: float | None
    missing_old: float
    missing_new: float

    @property
    def changed(self) -> bool:
        """Whether its index is 0.2 or more."""
        return self.psi >= CHANGED


@dataclass(frozen=True)
class Drift:
    """How a table changed against another one.

    Parameters
    ----------
    columns : list of ColumnDrift
        The ones that changed most come first.
    area : float
        Cross-validated area under the ROC curve of a model that separates rows of the two tables: 0.5 if it cannot.
    n_old, n_new : int
        Rows.
    only_old, only_new : list of str
        Columns of one table alone.

    Examples
    --------
    >>> Drift([ColumnDrift("age", 0.31, 0.2, 1e-6, 0.0, 0.1)], 0.7, 100, 100, [], []).to_dict()["area"]
    0.7
    """

    columns: list[ColumnDrift]
    area: float
    n_old: int
    n_new: int
    only_old: list[str]
    only_new: list[str]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data.

        Returns
        -------
        dict
            Lists, numbers and text.
        """
        return cast(dict[str, Any], finite(asdict(self)))

    def __str__(self) -> str:
        changed = sum(column.changed for column in self.columns)
        lines = [
            f"{changed} of {len(self.columns)} columns changed (stability index 0.2 or more); a model tells old rows "
            f"from new ones with an area under the ROC curve of {score_text(self.area)} (0.5 if nothing changed)."
        ]
        for column in self.columns[:30]:
            apart = "" if column.ks is None else f", largest difference {column.ks:.2f} (p {column.p_value:.2g})"
            gone = f", missing {column.missing_old:.0%} before, {column.missing_new:.0%} now"
            gone = gone if abs(column.missing_new - column.missing_old) >= 0.01 else ""
            lines.append(f"{'* ' if column.changed else '  '}{column.name}: index {column.psi:.3f}{apart}{gone}")
        for names, where in ((self.only_old, "old"), (self.only_new, "new")):
            if names:
                lines.append(f"Only in the {where} table: {', '.join(names)}")
        return printable("\n".join(lines), keep="\n")


def drift(both: Problem, *, only_old: list[str] | None = None, only_new: list[str] | None = None) -> Drift:
    """Compare the columns of two tables.

    Parameters
    ----------
    both : Problem
        The rows of both; class 0 is the old table, class 1 the new one.
    only_old, only_new : list of str, optional
        Columns of one table alone, which are named and not compared.

    Returns
    -------
    Drift
        What changed.

    Notes
    -----
    Numbers are cut at the deciles of the old table; levels are bins, and so are missing cells. Half a row is added to
    each bin, so that an empty one does not make the index infinite. The model is gradient boosting, judged by five
    folds; row groups stay together, and so do equal rows: the twin of a row in the other table would mislead the model.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2)) + np.repeat([[0.0, 0.0], [0.0, 2.0]], 200, axis=0)
    >>> found = drift(Problem.from_arrays(X, np.repeat([0, 1], 200)))
    >>> found.columns[0].name, found.columns[0].changed, found.columns[1].changed, found.area > 0.8
    ('x1', True, False, True)
    """
    old, new = both.y == 0, both.y == 1
    columns = _changes(both, np.arange(both.n_features), old)
    rows = np.unique(np.where(np.isnan(both.X), np.inf, both.X), axis=0, return_inverse=True)[1]
    if both.groups is None and np.isin(rows[old], rows[new]).any():
        both = replace(both, groups=rows)
    model = HistGradientBoostingClassifier(max_iter=50, random_state=0)
    judge = CrossValidated(model, scoring="roc_auc").bind(both, np.random.default_rng(0), Resources())
    area = float(judge.score(~both.constant[None])[0])
    return Drift(columns, area, int(old.sum()), int(new.sum()), only_old or [], only_new or [])


def _changes(problem: Problem, columns: IntArray, old: BoolArray) -> list[ColumnDrift]:
    """Compare the cells of old rows with those of the others, column by column; the largest changes first."""
    changes = []
    for f in columns.tolist():
        cells = problem.column(f)
        one, other = cells[old], cells[~old]
        present = one[~np.isnan(one)], other[~np.isnan(other)]
        distance, p_value = None, None
        if not problem.nominal[f] and len(present[0]) and len(present[1]):
            distance, p_value = ks_distance(*present)
        index = stability_index(one, other, bool(problem.nominal[f]))
        before, now = float(np.isnan(one).mean()), float(np.isnan(other).mean())
        changes.append(ColumnDrift(problem.names[f], index, distance, p_value, before, now))
    return sorted(changes, key=lambda column: -column.psi)


def drift_along_time(problem: Problem, columns: IntArray) -> list[ColumnDrift]:
    """Compare the later half of the rows with the earlier one, column by column.

    Parameters
    ----------
    problem : Problem
        Rows with times.
    columns : int array
        The columns to compare.

    Returns
    -------
    list of ColumnDrift
        The largest changes first; empty without times, or where all are the same.

    Examples
    --------
    >>> X = np.column_stack([np.arange(40.0), np.tile([0.0, 1.0], 20)])
    >>> rows = Problem.from_arrays(X, np.tile([0, 1], 20), time=np.arange(40))
    >>> [(column.name, column.changed) for column in drift_along_time(rows, np.array([0, 1]))]
    [('x0', True), ('x1', False)]
    """
    if problem.time is None or problem.time.min() == problem.time.max():
        return []
    middle = np.median(problem.time)
    old = problem.time < middle if (problem.time < middle).any() else problem.time <= middle
    return _changes(problem, columns, old)


def stability_index(old: FloatArray, new: FloatArray, nominal: bool = False) -> float:
    """Return the population stability index of a column.

    Parameters
    ----------
    old, new : arrays
        Its cells in both tables; NaN where missing.
    nominal : bool, default=False
        Whether cells are levels, which are bins by themselves.

    Returns
    -------
    float
        0 if the shares of all bins are equal.

    Examples
    --------
    >>> round(stability_index(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0]), nominal=True), 3)
    0.154
    """
    if nominal:
        edges = np.unique(np.concatenate([old, new]))
        edges = edges[~np.isnan(edges)][1:]
    else:
        known = old[~np.isnan(old)]
        edges = np.unique(np.quantile(known, np.arange(1, 10) / 10)) if len(known) else np.empty(0)
    shares = []
    for cells in (old, new):
        codes = np.where(np.isnan(cells), len(edges) + 1, np.searchsorted(edges, cells, side="right"))
        shares.append(np.bincount(codes, minlength=len(edges) + 2) + 0.5)
    p, q = (counts / counts.sum() for counts in shares)
    return float(((q - p) * np.log(q / p)).sum())
