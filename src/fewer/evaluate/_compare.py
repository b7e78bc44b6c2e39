"""Which method, if any? Methods and baselines beside each other on rows that none of them saw."""

from __future__ import annotations

import hashlib
import html
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from fewer.errors import InputError
from fewer.evaluate._baselines import ALL, RANDOM, default_estimators, filter_baseline
from fewer.evaluate._choosing import describe
from fewer.evaluate._grading import Grader
from fewer.evaluate._nested import Nested, Record, measure, outer_parts, score_interval, summarize
from fewer.evaluate._parts import Part
from fewer.evaluate._verdict import MethodScore, in_points, name_of, verdict
from fewer.problem import Problem
from fewer.validate import Interval, holm

FORMAT = 1
CELLS = "cells.jsonl"

OnProgress = Callable[[int, int, str], None]
"""Called with the selections done, their number in all, and what the last one was."""


@dataclass(frozen=True)
class Comparison:
    """Methods and baselines, judged on rows that none of them saw.

    Attributes
    ----------
    methods : list of MethodScore
        One for each method or baseline and each estimator.
    verdict : str
        Whether selection helps, in plain words.
    subsets : dict
        For each method, `frequency` (in which share of the splits each feature was chosen), `consensus` (features
        chosen in more than half of them) and `chosen` (the features of each split).
    scoring, estimand, interval_method : str
    level : float
        Of `low`, `high` and of the intervals of differences.
    n_rows, n_features, n_splits, seed : int
    notes : list of str

    Examples
    --------
    See `compare`.
    """

    methods: list[MethodScore]
    verdict: str
    scoring: str
    estimand: str
    interval_method: str
    task: str
    n_rows: int
    n_features: int
    n_splits: int
    seed: int
    level: float = 0.95
    subsets: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """Give the comparison as JSON text."""
        content = {"format": FORMAT, **asdict(self)}
        return json.dumps(_without_nan(content), ensure_ascii=False, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """Read a comparison from JSON text; nothing in it is run."""
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise InputError("This comparison was written by another version of fewer; run it again.")
            rows = [MethodScore(**{**row, "fold_scores": tuple(row["fold_scores"])}) for row in content.pop("methods")]
            return cls(methods=rows, **{f.name: content[f.name] for f in fields(cls) if f.name in content})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"This is not a comparison in JSON: {error}") from None

    def to_frame(self) -> Any:
        """Give one row for each method and estimator, as a polars frame."""
        import polars as pl

        rows = [asdict(row) for row in self.methods]
        kinds: dict[str, Any] = {"name": pl.String, "estimator": pl.String, "role": pl.String}
        columns = [name for name in rows[0] if name != "fold_scores"]
        return pl.DataFrame(
            {name: [row[name] for row in rows] for name in columns},
            schema={name: kinds.get(name, pl.Float64) for name in columns},
        )

    @property
    def estimators(self) -> list[str]:
        """The estimators that judged."""
        return list(dict.fromkeys(row.estimator for row in self.methods))

    def rows_of(self, estimator: str) -> list[MethodScore]:
        """Give the rows of one estimator, the methods first, best first."""
        rows = [row for row in self.methods if row.estimator == estimator]
        return sorted(rows, key=lambda row: (row.role != "method", -row.score))

    def __str__(self) -> str:
        width = max(len(row.name) for row in self.methods)
        lines = []
        for estimator in self.estimators:
            lines += [f"{self._heading(estimator)}", _line(self._columns(), width)]
            lines += [_line(self._cells(row), width) for row in self.rows_of(estimator)]
            lines.append("")
        return "\n".join([*lines, self.verdict, *self.notes])

    def _repr_html_(self) -> str:
        parts = []
        for estimator in self.estimators:
            head = "".join(f"<th>{html.escape(cell)}</th>" for cell in self._columns())
            rows = "".join(
                "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in self._cells(row)) + "</tr>"
                for row in self.rows_of(estimator)
            )
            caption = html.escape(self._heading(estimator))
            parts.append(f"<table><caption>{caption}</caption><tr>{head}</tr>{rows}</table>")
        parts.append(f"<p>{html.escape(self.verdict)}</p>")
        return "".join([*parts, *(f"<p>{html.escape(note)}</p>" for note in self.notes)])

    def _heading(self, estimator: str) -> str:
        return (
            f"Held-out {self.scoring} of {name_of(estimator)}: {self.n_rows} rows, {self.n_features} features, "
            f"{self.n_splits} splits, the whole selection repeated in each"
        )

    def _columns(self) -> list[str]:
        unit = "points" if in_points(self.scoring) else "score"
        interval = f"{100 * self.level:g} % interval"
        return ["method", "score", interval, "features", "stability", "optimism", f"{unit} against all", "p", "seconds"]

    def _cells(self, row: MethodScore) -> list[str]:
        scale, digits = (100, 1) if in_points(self.scoring) else (1, 4)
        difference, low, high = (
            f"{scale * value:+.{digits}f}" for value in (row.difference, row.difference_low, row.difference_high)
        )
        is_reference = row.name == ALL
        p_value = row.p_value if row.p_holm is None else row.p_holm
        return [
            row.name,
            f"{row.score:.4f}",
            f"{row.low:.4f} to {row.high:.4f}",
            f"{row.n_features:.1f}",
            "–" if row.stability is None else f"{row.stability:.2f}",
            "–" if row.optimism is None else f"{row.optimism:+.4f}",
            "–" if is_reference else f"{difference} ({low} to {high})",
            "–" if is_reference else f"{p_value:.3f}",
            f"{row.seconds:.2f}",
        ]


def compare(
    problem: Problem,
    methods: Mapping[str, Any],
    estimators: Mapping[str, Any] | None = None,
    *,
    cv: Any = 5,
    n_repeats: int = 1,
    scoring: Any = None,
    pairs: bool = True,
    random_state: int = 0,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    resume_dir: Path | str | None = None,
) -> Comparison:
    """Compare selection methods, and not selecting at all, on rows that none of them saw.

    Parameters
    ----------
    problem : Problem
    methods : dict of str to selector
        Selectors of `fewer`, or any with `fit(X, y)` and `get_support()` or `support_`.
    estimators : dict of str to estimator, optional
        Each is trained on the chosen columns of the training rows. Nearest neighbors and a linear model by default.
    cv : int, "loo", scikit-learn splitter or list of (train, test), default=5
        How to split the rows. Row groups are kept whole.
    n_repeats : int, default=1
        How often to split anew, for a number of folds.
    scoring : str or callable, optional
        As in scikit-learn; accuracy or R² if left out.
    pairs : bool, default=True
        With four to six folds, also leave out each pair of folds, to measure how far the folds depend on each other;
        without, intervals are somewhat too narrow where selection is unstable.
    random_state : int, default=0
    n_jobs : int, optional
        Processes; the result is the same for any number.
    on_progress : callable, optional
        Called with (done, total, text) after each selection.
    resume_dir : path, optional
        A folder in which finished selections are kept. If it holds some of this comparison, they are not run again.

    Returns
    -------
    Comparison
        Baselines are always in it: all features, a random subset of the same size as each method's in each
        split, and a univariate filter.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SelectKBest
    >>> problem = Problem.from_arrays(*load_iris(return_X_y=True))
    >>> comparison = compare(problem, {"two best": SelectKBest(k=2)})
    >>> [row.name for row in comparison.rows_of("knn")]
    ['two best', 'Fisher filter', 'all features', 'random subset']
    """
    if not methods:
        raise InputError("There is no method to compare; give at least one.")
    estimators = dict(estimators or default_estimators(problem.task))
    filter_name, filter_selector = filter_baseline(problem.task)
    taken = {ALL, filter_name, *(_random_name(name, methods) for name in methods)}
    if taken & set(methods):
        raise InputError(f"{min(taken & set(methods))!r} is the name of a baseline; call the method something else.")
    parts = outer_parts(problem, cv, n_repeats, random_state, pairs)
    runs = {**methods, ALL: None, filter_name: filter_selector}
    store = _Store(resume_dir, problem, parts, estimators, scoring, random_state)
    cells = [(name, part) for part in parts for name in runs]
    todo = [(name, part) for name, part in cells if store.get(name, runs[name], part) is None]
    jobs = (
        delayed(measure)(
            name, runs[name], part, problem, estimators, scoring, random_state, with_random=name in methods
        )
        for name, part in todo
    )
    total = len(cells)
    if on_progress is not None:
        on_progress(total - len(todo), total, "")
    for record in _run(jobs, n_jobs):
        store.put(record, runs[record["method"]])
        if on_progress is not None:
            on_progress(len(store), total, _describe_part(record))
    records = {name: [store.get(name, runs[name], part) for part in parts] for name in runs}
    return _compile(records, methods, parts, problem, list(estimators), scoring, random_state)  # type: ignore[arg-type]


def _run(jobs: Iterator[Any], n_jobs: int | None) -> Iterator[Record]:
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs)


def _describe_part(record: Record) -> str:
    folds = " and ".join(str(fold + 1) for fold in record["part"][1:])
    return f"{record['method']} without fold {folds}: {len(record['chosen'])} features"


def _random_name(method: str, methods: Mapping[str, Any]) -> str:
    return RANDOM if len(methods) == 1 else f"{RANDOM} (as {method})"


def _compile(
    records: Mapping[str, list[Record]],
    methods: Mapping[str, Any],
    parts: Sequence[Part],
    problem: Problem,
    estimators: Sequence[str],
    scoring: Any,
    seed: int,
) -> Comparison:
    """Turn the records of all methods into one table."""
    rows: list[MethodScore] = []
    sources = [(name, name, "scores", "method") for name in methods]
    sources += [(name, name, "scores", "baseline") for name in records if name not in methods]
    sources += [(_random_name(name, methods), name, "random_scores", "baseline") for name in methods]
    results: dict[str, Nested] = {}
    for estimator in estimators:
        found = {label: summarize(records[source], estimator, parts, problem, scoring, key=key)
                 for label, source, key, _ in sources}  # fmt: skip
        against_all = {
            label: _difference(records[source], key, records[ALL], estimator, parts, problem, scoring)
            for label, source, key, _ in sources
        }
        family = [label for label, _, _, role in sources if role == "method"]
        adjusted = dict(zip(family, holm([against_all[label].p_value for label in family]), strict=True))
        for label, _, key, role in sources:
            own, difference = found[label], against_all[label]
            joint = difference.at(1.0 - 0.05 / len(family)) if role == "method" else None
            is_random = key == "random_scores"
            rows.append(
                MethodScore(
                    name=label,
                    estimator=estimator,
                    role=role,
                    score=own.score,
                    low=own.interval.low,
                    high=own.interval.high,
                    n_features=float(own.masks.sum(axis=1).mean()),
                    stability=None if is_random else _number_or_none(own.stability.estimate),
                    optimism=None if is_random else own.optimism,
                    seconds=0.0 if is_random else round(own.seconds, 4),
                    difference=difference.estimate,
                    difference_low=difference.low,
                    difference_high=difference.high,
                    p_value=difference.p_value,
                    p_holm=float(adjusted[label]) if label in adjusted else None,
                    joint_low=None if joint is None else joint.low,
                    joint_high=None if joint is None else joint.high,
                    search_score=None if is_random else own.search_score,
                    believed=None if is_random else own.believed,
                    fold_scores=tuple(
                        record[key][estimator][0] for record in records[_source(label, sources)]
                        if len(record["part"]) == 2
                    ),
                )
            )  # fmt: skip
        results = found
    name = Grader(problem, scoring).name
    first = next(iter(results.values())).interval
    return Comparison(
        methods=rows,
        verdict=verdict(rows, scoring=name, n_rows=problem.n_rows, n_features=problem.n_features),
        scoring=name,
        estimand=first.estimand,
        interval_method=first.method,
        task=problem.task,
        n_rows=problem.n_rows,
        n_features=problem.n_features,
        n_splits=sum(part.is_single for part in parts),
        seed=seed,
        subsets={label: _subsets(results[label], problem) for label in records if label != ALL},
        notes=_notes(len(methods), first),
    )


def _source(label: str, sources: Sequence[tuple[str, str, str, str]]) -> str:
    return next(source for other, source, _, _ in sources if other == label)


def _difference(
    records: list[Record],
    key: str,
    reference: list[Record],
    estimator: str,
    parts: Sequence[Part],
    problem: Problem,
    scoring: Any,
) -> Interval:
    by_key = {tuple(record["part"]): record["scores"][estimator] for record in reference}
    differences = {}
    for record in records:
        part = tuple(record["part"])
        differences[part] = (np.array(record[key][estimator]) - by_key[part]).tolist()
    return score_interval(differences, parts, problem, scoring)


def _subsets(result: Nested, problem: Problem) -> dict[str, Any]:
    names = np.array(problem.names, dtype=object)
    frequency = result.frequency
    return {
        "frequency": {problem.names[i]: float(frequency[i]) for i in np.flatnonzero(frequency)},
        "consensus": names[result.consensus].tolist(),
        "chosen": [names[mask].tolist() for mask in result.masks],
    }


def _notes(n_methods: int, interval: Interval) -> list[str]:
    notes = [
        f"Score: {interval.estimand}; {100 * interval.level:g} % intervals: {interval.method}.",
        "Optimism: cross-validated score of the chosen features on the rows that chose them, less the held-out score.",
        "Seconds: one selection. Stability: Nogueira's measure, 1 if every split chose the same features.",
    ]
    if n_methods > 1:
        notes.append(
            f"The verdict's intervals allow for picking the best of {n_methods} methods (Bonferroni); "
            "p is adjusted for them (Holm) in the rows of the methods."
        )
    return notes


class _Store:
    """Finished cells, in memory and, line by line, in a file; a line torn by a kill is dropped."""

    def __init__(
        self,
        folder: Path | str | None,
        problem: Problem,
        parts: Sequence[Part],
        estimators: Mapping[str, Any],
        scoring: Any,
        seed: int,
    ) -> None:
        self._records: dict[tuple[str, ...], Record] = {}
        self._path = None
        if folder is None:
            return
        self._path = Path(folder) / CELLS
        name = _fingerprint(problem, parts, estimators, scoring, seed)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lines = self._path.read_text().splitlines() if self._path.exists() else []
            known = [record for line in lines if (record := _parse(line)) is not None]
            if known and known[0].get("comparison") != name:
                raise InputError(
                    f"{self._path.parent} holds another comparison (other data, splits, estimators or seed); "
                    "choose another folder."
                )
            for record in known[1:]:
                self._records[self._key(record["method"], record["selector"], record["part"])] = record
            self._path.write_text(
                "".join(json.dumps(line) + "\n" for line in [{"comparison": name}, *self._records.values()])
            )
        except OSError as error:
            raise InputError(f"The folder {self._path.parent} cannot be written ({error.strerror}).") from None

    def __len__(self) -> int:
        return len(self._records)

    def get(self, name: str, selector: Any, part: Part) -> Record | None:
        """Look a finished cell up."""
        return self._records.get(self._key(name, describe(selector), part.key))

    def put(self, record: Record, selector: Any) -> None:
        """Keep a finished cell."""
        record = {**record, "selector": describe(selector)}
        self._records[self._key(record["method"], record["selector"], record["part"])] = record
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps(record) + "\n")

    @staticmethod
    def _key(name: str, selector: str, part: Sequence[int]) -> tuple[str, ...]:
        return (name, selector, *map(str, part))


def _parse(line: str) -> Record | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _fingerprint(
    problem: Problem, parts: Sequence[Part], estimators: Mapping[str, Any], scoring: Any, seed: int
) -> str:
    digest = hashlib.sha256()
    arrays = [problem.X, problem.y, problem.weights, problem.groups]
    for part in parts:
        arrays += [part.train, *part.tests]
    for array in arrays:
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    about = {
        "names": problem.names,
        "kinds": problem.kinds,
        "task": problem.task,
        "estimators": {label: describe(estimator) for label, estimator in estimators.items()},
        "scoring": describe(scoring),
        "seed": seed,
    }
    digest.update(json.dumps(about, sort_keys=True).encode())
    return digest.hexdigest()[:16]


def _number_or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _without_nan(value: Any) -> Any:
    """JSON knows no NaN and no infinity."""
    if isinstance(value, float):
        return _number_or_none(value)
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value


def _line(cells: Sequence[str], width: int) -> str:
    widths = (8, 18, 9, 10, 9, 24, 7, 8)
    return f"  {cells[0]:<{width}}" + "".join(f" {cell:>{w}}" for cell, w in zip(cells[1:], widths, strict=True))
