"""How the values of a feature lie in each class, or against a quantity: small enough to keep with a result.

What was predicted for rows held out, as pictures need it: curves, counts and a sample, however many rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score, roc_curve

from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.rankers._by_moments import ks_distance

BINS = 20
LEVELS = 8
# Classes that are told one by one; further ones together.
CLASSES = 6


def distribution(problem: Problem, column: int) -> dict[str, Any]:
    """Count a feature's values by class, or summarize the target where it has them.

    Parameters
    ----------
    problem : Problem
        The rows.
    column : int
        Its number.

    Returns
    -------
    dict
        Plain JSON data. `missing` is the number of missing cells; `low` and `high` the ends of the picture of a numeric
        feature (its 1st and 99th percentile; what lies outside is counted in the last bins), `levels` the values of
        another. For classes, `counts` (one list a class of `shown_classes`, one count a bin or level) and, of numbers,
        `medians`. For a quantity, `lower`, `middle` and `upper`: the quartiles of the target in each bin or level.

    Examples
    --------
    >>> problem = Problem.from_arrays([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> told = distribution(problem, 0)
    >>> told["medians"], sum(told["counts"][0])
    ([0.5, 2.5], 2)
    """
    values = np.asarray(problem.X[:, column], dtype=np.float64)
    seen = ~np.isnan(values)
    told: dict[str, Any] = {"kind": problem.kinds[column], "missing": int((~seen).sum())}
    if not seen.any():
        return told
    place, ends = _places(problem, column, values[seen])
    told |= ends
    n_places = len(ends["levels"]) if "levels" in ends else BINS
    if problem.task == "regression" and problem.y.ndim == 1:
        return told | _quartiles(place, problem.y[seen], n_places)
    codes = _class_codes(problem)[seen]
    n_classes = len(shown_classes(problem))
    counts = np.zeros((n_classes, n_places), dtype=np.int64)
    np.add.at(counts, (codes, place), 1)
    told["counts"] = counts.tolist()
    if "low" in ends:
        told["medians"] = [
            plain(np.median(values[seen][codes == c])) if (codes == c).any() else None for c in range(n_classes)
        ]
    return told


def shown_classes(problem: Problem) -> list[str]:
    """Return the names under which `distribution` counts classes, in its order.

    Parameters
    ----------
    problem : Problem
        The rows.

    Returns
    -------
    list of str

    Examples
    --------
    >>> shown_classes(Problem.from_arrays([[0.0], [1.0]], ["no", "yes"]))
    ['no', 'yes']
    """
    if problem.task == "regression" or problem.y.ndim > 1:
        return ["all rows"]
    names = [str(label) for label in problem.classes]
    return names if len(names) <= CLASSES else [*(names[i] for i in _largest(problem)), "other classes"]


def _largest(problem: Problem) -> IntArray:
    """Return the codes of the largest classes, in the order of their codes."""
    counts = np.bincount(problem.y, minlength=problem.n_classes)
    return np.sort(np.argsort(-counts, kind="stable")[: CLASSES - 1])


def _class_codes(problem: Problem) -> IntArray:
    if problem.task == "regression" or problem.y.ndim > 1:
        return np.zeros(problem.n_samples, dtype=np.int64)
    if problem.n_classes <= CLASSES:
        return np.asarray(problem.y, dtype=np.int64)
    new = np.full(problem.n_classes, CLASSES - 1, dtype=np.int64)
    new[_largest(problem)] = np.arange(CLASSES - 1)
    return new[problem.y]


def _places(problem: Problem, column: int, values: FloatArray) -> tuple[IntArray, dict[str, Any]]:
    """Say in which bin or level each value is."""
    if problem.kinds[column] == "numeric":
        low, high = np.percentile(values, [1, 99])
        if not low < high:
            low, high = float(values.min()), float(values.max())
        width = (high - low) or 1.0
        place = np.clip(((values - low) / width * BINS).astype(np.int64), 0, BINS - 1)
        return place, {"low": plain(low), "high": plain(high)}
    codes, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    labels = problem.levels.get(column)
    names = [_level(code, labels) for code in codes]
    if len(codes) <= LEVELS:
        return inverse.astype(np.int64), {"levels": names}
    kept = np.sort(np.argsort(-counts, kind="stable")[: LEVELS - 1])
    new = np.full(len(codes), LEVELS - 1, dtype=np.int64)
    new[kept] = np.arange(LEVELS - 1)
    return new[inverse], {"levels": [*(names[i] for i in kept), "other"]}


def _level(code: float, labels: tuple[Any, ...] | None) -> str:
    if labels is not None and 0 <= int(code) < len(labels):
        return str(labels[int(code)])[:60]
    return f"{code:g}"


def _quartiles(place: IntArray, y: FloatArray, n_places: int) -> dict[str, Any]:
    out: dict[str, list[Any]] = {"lower": [], "middle": [], "upper": [], "n": []}
    for i in range(n_places):
        own = y[place == i]
        ends = np.percentile(own, [25, 50, 75]) if len(own) else [None] * 3
        for name, value in zip(("lower", "middle", "upper"), ends, strict=True):
            out[name].append(None if value is None else plain(value))
        out["n"].append(len(own))
    return out


def plain(value: float) -> float:
    """Round to what a picture shows."""
    return float(f"{float(value):.5g}")


# Points of a curve, or rows of a scatter, at most.
POINTS = 120
# Classes up to which every pair is counted.
CELLS = 12
PROBABILITY_BINS = 10


def predictions(problem: Problem, outputs: FloatArray) -> dict[str, Any]:
    """Summarize predictions of rows that the rule did not see.

    Parameters
    ----------
    problem : Problem
        The rows.
    outputs : array of shape (n_rows, n_classes) or (n_rows,)
        NaN where a row was not predicted.

    Returns
    -------
    dict
        Plain JSON data. For two classes `roc` (`fpr`, `tpr`, `area`, and `positive`, the class that is looked for); for
        up to twelve `confusion` (rows: true class); for all `calibration`: in each of `n` bins of rows the mean
        membership that the predicted (of two classes: the positive) class was `given`, and the share that `is` it. For
        a quantity, `points`: row, truth and prediction of up to 120 rows. Empty for several targets.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.zeros((4, 1)), [0, 0, 1, 1])
    >>> told = predictions(problem, np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]]))
    >>> told["confusion"], told["roc"]["area"]
    ([[1, 1], [0, 2]], 1.0)
    """
    if problem.y.ndim > 1:
        return {}
    known = np.flatnonzero(np.isfinite(outputs.reshape(len(outputs), -1)).all(axis=1))
    if len(known) < 2:
        return {}
    told: dict[str, Any] = {"n_rows": len(known)}
    if problem.task == "regression":
        return told | {"points": _points(known, problem.y, outputs)}
    y, memberships = np.asarray(problem.y[known], dtype=np.int64), outputs[known]
    guess = memberships.argmax(axis=1)
    if problem.n_classes <= CELLS:
        counts = np.zeros((problem.n_classes, problem.n_classes), dtype=np.int64)
        np.add.at(counts, (y, guess), 1)
        told["confusion"] = counts.tolist()
    if problem.n_classes == 2:
        told["calibration"] = _calibration(memberships[:, 1], y == 1)
        if 0 < int(y.sum()) < len(y):
            told["roc"] = {**_roc(memberships[:, 1], y), "positive": str(problem.classes[1])}
    else:
        told["calibration"] = _calibration(memberships.max(axis=1), guess == y)
    return told


def _points(known: IntArray, y: FloatArray, outputs: FloatArray) -> dict[str, Any]:
    rows = known[_spread(len(known), POINTS)]
    flat = outputs.reshape(len(outputs), -1)[:, 0]
    return {
        "row": (rows + 1).tolist(),
        "truth": [plain(value) for value in y[rows]],
        "prediction": [plain(value) for value in flat[rows]],
    }


def _roc(scores: FloatArray, y: IntArray) -> dict[str, Any]:
    fpr, tpr, _ = roc_curve(y, scores)
    kept = _spread(len(fpr), POINTS)
    return {
        "fpr": [round(float(x), 4) for x in fpr[kept]],
        "tpr": [round(float(x), 4) for x in tpr[kept]],
        "area": float(roc_auc_score(y, scores)),
    }


def _calibration(given: FloatArray, right: Any) -> dict[str, Any]:
    """Compare memberships with what came true, in bins of about equally many rows."""
    given = np.clip(given, 0.0, 1.0)
    _, level, counts = np.unique(given, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(given)  # equal memberships stay together
    place = (middle * PROBABILITY_BINS).astype(np.int64)[level]
    bins = np.unique(place)
    return {
        "given": [round(float(given[place == i].mean()), 4) for i in bins],
        "is": [round(float(right[place == i].mean()), 4) for i in bins],
        "n": [int((place == i).sum()) for i in bins],
    }


def _spread(n: int, most: int) -> IntArray:
    """Return up to this many places, evenly spread, with both ends."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


MANY_ROWS = 5_000


def redundancy(problem: Problem, columns: Sequence[int]) -> dict[str, Any]:
    """Measure how far some features of a problem repeat each other.

    Two columns of numbers: the absolute rank correlation. A nominal column and numbers: the correlation ratio of
    the ranks. Two nominal columns: Cramér's V. The last two are corrected for what chance gives to columns with many
    levels. Rows with a missing cell in either column are left out; of more than 5,000 rows an even sample is taken.

    Read more in the guide: :doc:`/guide/correlated`.

    Parameters
    ----------
    problem : Problem
        The rows.
    columns : sequence of int
        Numbers of the features.

    Returns
    -------
    dict
        `names`, a list of str, and `values`, a symmetric list of lists with ones on its diagonal: plain JSON data.

    Examples
    --------
    >>> problem = Problem.from_arrays([[1.0, 9.0], [2.0, 4.0], [3.0, 1.0]], [0, 1, 1])
    >>> redundancy(problem, [0, 1])
    {'names': ['x0', 'x1'], 'values': [[1.0, 1.0], [1.0, 1.0]]}
    """
    step = -(-problem.n_samples // MANY_ROWS)
    values = associations(problem.X[::step, columns], problem.nominal[list(columns)])
    return {"names": [problem.names[column] for column in columns], "values": values.round(4).tolist()}


def associations(table: FloatArray, nominal: BoolArray) -> FloatArray:
    """Return the association of every pair of columns."""
    n_columns = table.shape[1]
    result = np.eye(n_columns)
    for i in range(n_columns):
        for j in range(i):
            both = ~np.isnan(table[:, i]) & ~np.isnan(table[:, j])
            # A nominal column goes first, so that a mixed pair comes in one order only.
            first, second = (i, j) if nominal[i] else (j, i)
            measure = (rank_correlation, correlation_ratio, cramers_v)[int(nominal[i]) + int(nominal[j])]
            result[i, j] = result[j, i] = abs(measure(table[both, first], table[both, second]))
    return result


def rank_correlation(one: FloatArray, other: FloatArray) -> float:
    """Return Spearman's correlation of two columns of numbers, 0 if one of them does not vary."""
    if len(one) < 2:
        return 0.0
    first, second = rankdata(one), rankdata(other)
    spread = first.std() * second.std()
    return float(((first - first.mean()) * (second - second.mean())).mean() / spread) if spread > 0 else 0.0


def correlation_ratio(levels: FloatArray, numbers: FloatArray) -> float:
    """Say how much of the ranks of numbers a nominal column tells, as a correlation (the root of Kelley's ε²)."""
    codes, counts = _codes(levels)
    n_rows, n_levels = len(codes), len(counts)
    ranks = rankdata(numbers)
    total = n_rows * float(ranks.var()) if n_rows else 0.0
    if n_levels < 2 or n_levels == n_rows or total == 0:
        return 0.0
    means = np.bincount(codes, ranks) / counts
    within = float(((ranks - means[codes]) ** 2).sum())
    return float(np.sqrt(max(0.0, 1.0 - within / total * (n_rows - 1) / (n_rows - n_levels))))


def cramers_v(one: FloatArray, other: FloatArray) -> float:
    """Return Cramér's V of two nominal columns, corrected for chance as Bergsma (2013) does."""
    (first, in_first), (second, in_second) = _codes(one), _codes(other)
    n_rows = len(first)
    if min(len(in_first), len(in_second)) < 2:
        return 0.0
    pairs, counts = np.unique(first * len(in_second) + second, return_counts=True)
    expected = in_first[pairs // len(in_second)] * in_second[pairs % len(in_second)]
    phi = float((counts**2 / expected).sum()) - 1.0
    free = np.array([len(in_first) - 1, len(in_second) - 1])
    levels = free + 1 - free**2 / (n_rows - 1)
    spare = float(levels.min()) - 1.0
    return float(np.sqrt(max(0.0, phi - float(free.prod()) / (n_rows - 1)) / spare)) if spare > 0 else 0.0


def _codes(levels: FloatArray) -> tuple[IntArray, IntArray]:
    """Number the levels that occur, and count them."""
    _, codes, counts = np.unique(levels, return_inverse=True, return_counts=True)
    return codes.astype(np.int64), counts.astype(np.int64)


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
        Those that changed most first.
    area : float
        Cross-validated area under the ROC curve of a model that tells rows of the two tables apart: 0.5 if it cannot.
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
        return asdict(self)

    def __str__(self) -> str:
        changed = sum(column.changed for column in self.columns)
        lines = [
            f"{changed} of {len(self.columns)} columns changed (stability index 0.2 or more); a model tells old rows "
            f"from new ones with an area under the ROC curve of {self.area:.2f} (0.5 if nothing changed)."
        ]
        for column in self.columns[:30]:
            apart = "" if column.ks is None else f", largest difference {column.ks:.2f} (p {column.p_value:.2g})"
            gone = f", missing {column.missing_old:.0%} before, {column.missing_new:.0%} now"
            gone = gone if abs(column.missing_new - column.missing_old) >= 0.01 else ""
            lines.append(f"{'* ' if column.changed else '  '}{column.name}: index {column.psi:.3f}{apart}{gone}")
        for names, where in ((self.only_old, "old"), (self.only_new, "new")):
            if names:
                lines.append(f"Only in the {where} table: {', '.join(names)}")
        return "\n".join(lines)


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
    folds; row groups stay together.

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
    model = HistGradientBoostingClassifier(max_iter=50, random_state=0)
    judge = CrossValidated(model, scoring="roc_auc").bind(both, np.random.default_rng(0), Resources())
    area = float(judge.score(~both.constant[None])[0])
    return Drift(columns, area, int(old.sum()), int(new.sum()), only_old or [], only_new or [])


def _changes(problem: Problem, columns: IntArray, old: BoolArray) -> list[ColumnDrift]:
    """Compare the cells of old rows with those of the others, column by column; those that changed most first."""
    found = []
    for f in columns.tolist():
        cells = problem.column(f)
        one, other = cells[old], cells[~old]
        present = one[~np.isnan(one)], other[~np.isnan(other)]
        distance, p_value = None, None
        if not problem.nominal[f] and len(present[0]) and len(present[1]):
            distance, p_value = ks_distance(*present)
        index = stability_index(one, other, bool(problem.nominal[f]))
        before, now = float(np.isnan(one).mean()), float(np.isnan(other).mean())
        found.append(ColumnDrift(problem.names[f], index, distance, p_value, before, now))
    return sorted(found, key=lambda column: -column.psi)


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
        Those that changed most first; empty without times, or where all are the same.

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
