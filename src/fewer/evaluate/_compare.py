"""Comparison: several methods and baselines, each scored on rows that none of them saw."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from fewer.contracts import Resources
from fewer.errors import FewerWarning, InputError
from fewer.evaluate._heldout import Record, each_part
from fewer.evaluate._nested import (
    Nested,
    NestedTask,
    default_estimators,
    describe,
    grades_of,
    measure,
    outer_splits,
    summarize,
)
from fewer.evaluate.grading import Grader, MethodScore, baseline_score, is_share, name_of, verdict
from fewer.files import CELLS, TOTAL, FolderLock, Journal, finite, refuse_strangers, write_atomically
from fewer.problem import Problem, Suspected, Suspicion, Task
from fewer.rankers import Fisher, FTest
from fewer.selectors import RankSelector
from fewer.text import html_card, html_table, latex_table, markdown_table, score_text, signed
from fewer.validate import ConfidenceInterval, Split, holm

ALL_FEATURES, RANDOM_SUBSET = "all features", "random subset"
FORMAT = 1
CELL_KEYS = {"method", "selector", "split"}

# Called with the selections done, their number in all, and what the last one was.
OnProgress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Comparison(Suspected):
    """Methods and baselines, scored on rows that none of them saw.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    methods : list of MethodScore
        One for each method or baseline and each estimator.
    verdict : str
        Whether selection helps, in plain words.
    scoring, estimand, interval_method : str
        The metric, what the intervals speak of, and how they are computed.
    scoring : str
        What scores are measured in.
    estimand : str
        What the scores estimate.
    interval_method : str
        How the intervals were made.
    task : str
        What the target is.
    n_rows, n_features, n_splits, seed : int
        Of the table and the splits.
    n_rows, n_features, n_splits : int
        The size of the table and of the comparison.
    seed : int
        With it the comparison repeats.
    level : float
        Of `low`, `high` and of the intervals of differences.
    subsets : dict
        For each method, `frequency` (in which share of the splits each feature was chosen), `consensus` (features
        chosen in more than half of them) and `chosen` (the features of each split).
    notes : list of str
        What a reader should know.
    command : str
        What repeats it on the command line, where it came from there.
    versions : dict
        Of the packages that the result depends on.
    suspicions : list of Suspicion
        Columns, or rows, that make the scores too good to be true.

    See Also
    --------
    fewer.compare : Makes one.

    Examples
    --------
    >>> comparison = Comparison([], "Too close.", "accuracy", "", "", "classification", 150, 4, 5, seed=0)
    >>> Comparison.from_json(comparison.to_json()) == comparison
    True
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
    command: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    suspicions: list[Suspicion] = field(default_factory=list)
    without: ClassVar[str] = "X.drop(columns={})"

    def to_json(self) -> str:
        """Return the comparison as JSON text.

        Returns
        -------
        str
            What `from_json` reads.
        """
        content = {"format": FORMAT, **asdict(self)}
        return json.dumps(finite(content), ensure_ascii=False, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Comparison:
        """Read a comparison from JSON text; nothing in it is run.

        Parameters
        ----------
        text : str
            What `to_json` wrote.

        Returns
        -------
        Comparison
            The same again.
        """
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise InputError("This comparison was written by another version of fewer; run it again.")
            rows = [MethodScore(**{**row, "fold_scores": tuple(row["fold_scores"])}) for row in content.pop("methods")]
            content["suspicions"] = [Suspicion(**suspicion) for suspicion in content.get("suspicions", ())]
            return cls(methods=rows, **{f.name: content[f.name] for f in fields(cls) if f.name in content})
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"This is not a comparison in JSON: {error}") from None

    def to_frame(self) -> Any:
        """Return one row for each method and estimator, as a polars frame.

        Returns
        -------
        polars.DataFrame
            With scores, intervals, sizes, stabilities and differences.
        """
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
        """The estimators that scored the features."""
        return list(dict.fromkeys(row.estimator for row in self.methods))

    def rows_of(self, estimator: str) -> list[MethodScore]:
        """Return the rows of one estimator, the methods first, best first.

        Parameters
        ----------
        estimator : str
            One of `estimators`.

        Returns
        -------
        list of MethodScore
            Its rows.
        """
        rows = [row for row in self.methods if row.estimator == estimator]
        return sorted(rows, key=lambda row: (row.role != "method", -row.score))

    def __str__(self) -> str:
        width = max(len(row.name) for row in self.methods)
        lines = []
        for estimator in self.estimators:
            rows = [self.titles(), *map(self.cells, self.rows_of(estimator))]
            lines += [self._heading(estimator), *(_line(cells, width) for cells in rows), ""]
        first = [*self.banner, ""] if self.banner else []
        return "\n".join([*first, *lines, self.verdict, *self.notes])

    def _repr_html_(self) -> str:
        rows = {name: [self.cells(row) for row in self.rows_of(name)] for name in self.estimators}
        tables = [html_table(self.titles(), cells, self._heading(name)) for name, cells in rows.items()]
        title = f"{len({row.name for row in self.methods})} methods compared"
        return html_card(title, self.verdict, "".join(tables), self.notes, self.banner)

    def to_markdown(self) -> str:
        """Return the tables and the verdict in Markdown.

        Returns
        -------
        str
            A table for each estimator.
        """
        parts = []
        for estimator in self.estimators:
            rows = [self.cells(row) for row in self.rows_of(estimator)]
            parts += [f"{self._heading(estimator)}.", markdown_table(self.titles(), rows)]
        return "\n\n".join([*(f"> {line}" for line in self.banner), *parts, self.verdict]) + "\n"

    def to_latex(self, label: str = "tab:comparison") -> str:
        """Return a table in LaTeX for each estimator, for the package booktabs.

        Parameters
        ----------
        label : str, default="tab:comparison"
            What `ref` refers to.

        Returns
        -------
        str
            LaTeX.
        """
        tables = []
        for place, estimator in enumerate(self.estimators):
            rows = [self.cells(row) for row in self.rows_of(estimator)]
            table_label = label if place == 0 else f"{label}-{place + 1}"
            tables.append(latex_table(self.titles(), rows, f"{self._heading(estimator)}. {self.verdict}", table_label))
        return "\n".join(tables) + "\n"

    def _heading(self, estimator: str) -> str:
        return (
            f"Held-out {self.scoring} of {name_of(estimator)}: {self.n_rows} rows, {self.n_features} features, "
            f"{self.n_splits} splits, the whole selection repeated in each"
        )

    def titles(self) -> list[str]:
        """Return the titles of the table of an estimator.

        Returns
        -------
        list of str
            Of its columns.
        """
        unit = "points" if is_share(self.scoring) else "score"
        interval = f"{100 * self.level:g} % interval"
        return ["method", "score", interval, "features", "stability", "optimism", f"{unit} against all", "p", "seconds"]

    def cells(self, row: MethodScore) -> list[str]:
        """Return a row of the table of its estimator, as it is shown.

        Parameters
        ----------
        row : MethodScore
            One of `methods`.

        Returns
        -------
        list of str
            One for each of the titles.
        """
        scale, digits = (100, 1) if is_share(self.scoring) else (1, 3)
        difference, low, high = (
            signed(scale * value, digits) for value in (row.difference, row.difference_low, row.difference_high)
        )
        is_reference = row.name == ALL_FEATURES
        p_value = row.p_value if row.p_holm is None else row.p_holm
        return [
            row.name,
            score_text(row.score, row.low, row.high),
            f"{score_text(row.low, row.low, row.high)} to {score_text(row.high, row.low, row.high)}",
            f"{row.n_features:.1f}",
            "–" if row.stability is None else f"{row.stability:.2f}",
            "–" if row.optimism is None else signed(row.optimism, 3),
            "–" if is_reference else f"{difference} ({low} to {high})",
            "–" if is_reference else "< 0.001" if p_value < 0.001 else f"{p_value:.3f}",
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
    random_state: int = 0,
    n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
    resume_dir: Path | str | None = None,
) -> Comparison:
    """Compare selection methods, and not selecting at all, on rows that none of them saw.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    problem : Problem
        The rows.
    methods : dict of str to selector
        Selectors of `fewer`, or any with `fit(X, y)` and `get_support()` or `support_`.
    estimators : dict of str to estimator, optional
        Each is trained on the chosen columns of the training rows. Nearest neighbors and a linear model by default.
    cv : int, "loo", scikit-learn splitter or list of (train, test), default=5
        How to split the rows. Row groups are kept whole. Five folds keep the intervals honest also where selection is
        unstable; see `fewer.validate.fold_interval`.
    n_repeats : int, default=1
        How often to split anew, for a number of folds.
    scoring : str or callable, optional
        As in scikit-learn; accuracy or R² if left out.
    random_state : int, default=0
        Seed of all that is random; 0 if left out.
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
        split, and a univariate filter (unless that very filter is among the methods).

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
    if estimators is not None and not estimators:
        raise InputError("There is no estimator to judge by; give at least one, or leave estimators out.")
    estimators = dict(estimators or default_estimators(problem.task))
    filter_name, filter_selector = filter_baseline(problem.task)
    taken = {ALL_FEATURES, filter_name, *(_random_name(name, methods) for name in methods)}
    if taken & set(methods):
        raise InputError(f"{min(taken & set(methods))!r} is the name of a baseline; call the method something else.")
    splits = outer_splits(problem, cv, n_repeats, random_state)
    runs = {**methods, ALL_FEATURES: None}
    if not any(is_same(selector, filter_selector) for selector in methods.values()):
        runs[filter_name] = filter_selector
    cells = [(name, split) for split in splits for name in runs]
    with closing(_Store(resume_dir, problem, splits, runs, estimators, scoring, random_state)) as store:
        todo = [(name, split) for name, split in cells if store.key(name, split) not in store.records]
        store.expect(len(cells), len(todo))
        shared = NestedTask(problem, splits, runs, estimators, scoring, random_state, frozenset(methods))
        tasks = [(name, splits.index(split)) for name, split in todo]
        known = len(cells) - len(todo)
        if on_progress is not None:
            on_progress(known, len(cells), "")

        def keep(records: list[Record]) -> None:
            store.put(records[-1])
            if on_progress is not None:
                latest = records[-1]
                progress = f"{latest['method']} without fold {latest['split'][1] + 1}: {len(latest['chosen'])} features"
                on_progress(known + len(records), len(cells), progress)

        each_part(measure, tasks, Resources(effective_n_jobs(n_jobs)), shared=shared, on_record=keep, ordered=False)
        records = {name: [store.records[store.key(name, split)] for split in splits] for name in runs}
    return _compile(records, methods, splits, Grader(problem, scoring), list(estimators), random_state)


def filter_baseline(task: Task) -> tuple[str, RankSelector]:
    """Return the univariate filter of a task and its name; it finds its size by cross-validation."""
    if task == "classification":
        return "Fisher filter", RankSelector(Fisher())
    return "F-test filter", RankSelector(FTest())


def is_same(one: Any, other: Any) -> bool:
    """Say whether two selectors are the same but for their seeds."""
    return describe(_without_seed(one)) == describe(_without_seed(other))


def _without_seed(component: Any) -> Any:
    is_seeded = "random_state" in component.get_params(deep=False)
    return clone(component).set_params(random_state=None) if is_seeded else component


def _random_name(method: str, methods: Mapping[str, Any]) -> str:
    return RANDOM_SUBSET if len(methods) == 1 else f"{RANDOM_SUBSET} (as {method})"


def _compile(
    records: dict[str, list[Record]], methods: Mapping[str, Any], splits: Sequence[Split], grader: Grader,
    estimators: Sequence[str], seed: int,
) -> Comparison:  # fmt: skip
    """Turn the records of all methods into one table."""
    problem = grader.problem
    # Random subsets were judged beside the chosen ones: they are a baseline for each method, like any other.
    randoms = {
        _random_name(name, methods): [{**record, "grades": record["random_grades"]} for record in records[name]]
        for name in methods
    }
    rows: list[MethodScore] = []
    results: dict[str, Nested] = {}
    for estimator in estimators:
        against_all: dict[str, ConfidenceInterval] = {}
        for name, method_records in (records | randoms).items():
            results[name] = summarize(method_records, estimator, splits, grader)
            pairs = zip(grades_of(method_records, estimator), grades_of(records[ALL_FEATURES], estimator), strict=True)
            against_all[name] = grader.interval(splits, [one - other for one, other in pairs])
        holms = holm([against_all[name].p_value for name in methods])
        adjusted = dict(zip(methods, holms.tolist(), strict=True))
        table = [
            _row(name, estimator, result, against_all[name], adjusted.get(name), len(methods))
            for name, result in results.items()
        ]
        # Chance has no stability, no search and no time.
        nothing: dict[str, Any] = {"stability": None, "optimism": None, "search_score": None, "seconds": 0.0}
        rows += [replace(row, **nothing) if row.name in randoms else row for row in table]
    first, evidence = next(iter(results.values())).interval, {suspicion.evidence for suspicion in problem.suspicions}
    about: dict[str, Any] = {"scoring": grader.name, "n_features": problem.n_features}
    unit = "rows" if problem.groups is None else "groups"
    return Comparison(
        rows, verdict(rows, **about, baseline=baseline_score(problem, grader.name), unit=unit), **about,
        estimand=first.estimand, interval_method=first.method, task=problem.task, n_rows=problem.n_samples,
        n_splits=len(splits), seed=seed, suspicions=list(problem.suspicions),
        subsets={name: _subsets(results[name], problem) for name in records if name != ALL_FEATURES},
        notes=[*(note for note in problem.notes if note not in evidence), *_notes(len(methods), first)],
    )  # fmt: skip


def _row(
    name: str, estimator: str, result: Nested, difference: ConfidenceInterval, p_holm: float | None, n_methods: int
) -> MethodScore:
    is_method = p_holm is not None
    joint = difference.at(1.0 - (1.0 - difference.level) / n_methods)
    interval, low, high = result.interval, joint.low if is_method else None, joint.high if is_method else None
    return MethodScore(
        name, estimator, "method" if is_method else "baseline", result.score, interval.low, interval.high,
        float(result.masks.sum(axis=1).mean()), finite(float(result.stability.estimate)), result.optimism,
        result.seconds, difference.estimate, difference.low, difference.high, difference.p_value,
        p_holm=p_holm, joint_low=low, joint_high=high, search_score=result.search_score,
        fold_scores=result.fold_scores,
    )  # fmt: skip


def _subsets(result: Nested, problem: Problem) -> dict[str, Any]:
    names = np.array(problem.names, dtype=object)
    frequency = result.frequency
    return {
        "frequency": {problem.names[i]: float(frequency[i]) for i in np.flatnonzero(frequency)},
        "consensus": names[result.consensus].tolist(),
        "chosen": [names[mask].tolist() for mask in result.masks],
    }


def _notes(n_methods: int, interval: ConfidenceInterval) -> list[str]:
    notes = [
        f"Score: {interval.estimand}; {100 * interval.level:g} % intervals: {interval.method}.",
        "Optimism: the search's own score (or, if it does not predict, the cross-validated score on the training rows) "
        "minus the same score on held-out rows.",
        "Seconds: one selection. Stability: Nogueira's measure, 1 if every split chose the same features.",
    ]
    if n_methods > 1:
        notes.append(
            f"The verdict's intervals correct for picking the best of {n_methods} methods (Bonferroni); "
            "p-values of the methods are Holm-adjusted."
        )
    return notes


class _Store:
    """Finished cells, in memory and, line by line, in a file that is only ever added to."""

    def __init__(
        self, folder: Path | str | None, problem: Problem, splits: Sequence[Split], selectors: Mapping[str, Any],
        estimators: Mapping[str, Any], scoring: Any, seed: int,
    ) -> None:  # fmt: skip
        self.records: dict[tuple[Any, ...], Record] = {}
        self._written = {name: describe(selector) for name, selector in selectors.items()}
        self._journal: Journal | None = None
        if folder is None:
            return
        path = Path(folder)
        about: dict[str, Any] = {"estimators": {label: describe(estimator) for label, estimator in estimators.items()}}
        about |= {"scoring": describe(scoring), "seed": seed}
        arrays = [rows for split in splits for rows in (split.train, split.test)]
        name = {"comparison": problem.fingerprint(about, arrays)}
        try:
            refuse_strangers(path, (CELLS, TOTAL), ours=(path / CELLS).exists())
            Journal.read(path / CELLS, name)  # refuses before anything is written
            path.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(path)
            self._journal = Journal(path / CELLS, name)
        except OSError as error:
            raise InputError(f"The folder {path} cannot be written ({error.strerror}).") from None
        for record in self._journal.records:
            if not set(record) >= CELL_KEYS:
                raise InputError(f"{path / CELLS} holds lines that are not of a comparison; choose another folder.")
            self.records[record["method"], record["selector"], *record["split"]] = record

    def key(self, name: str, split: Split) -> tuple[Any, ...]:
        """Name a cell: a method, as it is now, and a split."""
        return name, self._written[name], split.repeat, split.fold

    def put(self, record: Record) -> None:
        """Keep a finished cell."""
        record = {**record, "selector": self._written[record["method"]]}
        self.records[record["method"], record["selector"], *record["split"]] = record
        if self._journal is not None:
            self._journal.append(record)

    def expect(self, n_cells: int, n_left: int) -> None:
        """Write down how many cells there will be, for who watches; warn of finished ones that cannot be used."""
        if self._journal is None:
            return
        with suppress(OSError):  # a disk that is full does not matter here
            write_atomically(self._journal.path.parent / TOTAL, f'{{"total": {n_cells}}}\n'.encode())
        if self._journal.n_damaged and n_left:
            message = f"{self._journal.n_damaged} damaged line(s) of {self._journal.path} are left alone and run again."
            warnings.warn(message, FewerWarning, stacklevel=3)

    def close(self) -> None:
        """Let others write to the folder, and warn of what is not on disk."""
        if self._journal is None:
            return
        self._lock.release()
        if self._journal.trouble:
            warnings.warn(f"{self._journal.trouble}; some finished cells are not saved.", FewerWarning, stacklevel=3)


def _line(cells: Sequence[str], width: int) -> str:
    widths = (8, 18, 9, 10, 9, 24, 7, 8)
    return f"  {cells[0]:<{width}}" + "".join(f" {cell:>{w}}" for cell, w in zip(cells[1:], widths, strict=True))
