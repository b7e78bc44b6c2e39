"""Ranking and selecting on tables that are never in memory as a whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from fewer import registry
from fewer.contracts import ROWS, Answer, Criterion, IncompatibleError, Ranker, Ranking, Resources, Scorer
from fewer.criteria import KNN, CrossValidated, LeastSquares, NaiveBayes
from fewer.criteria.folded_least_squares import FoldedLeastSquaresScorer
from fewer.criteria.streamed_logistic import Inputs, LogisticModel, LogisticTable, StreamedLogisticScorer
from fewer.criteria.streamed_naive_bayes import BayesRules, CountedTable, StreamedNaiveBayesScorer
from fewer.errors import InputError
from fewer.evaluate import Evidence, each_part, redundancy
from fewer.files import to_json, write_atomically
from fewer.io import Stream, open_stream, refuse_constant
from fewer.io.memory import amount, available_memory
from fewer.parallel import one_blas_thread
from fewer.problem import BoolArray, FloatArray, Problem, mask_of
from fewer.rankers import FTest
from fewer.run.all_rows import EVEN, AllRows, FoldRule, HeldoutSums, LinearRule, group_cells
from fewer.run.folder import RESULT
from fewer.run.planning import AUTO_ROWS, Plan, make_plan, prepare_rows, thin
from fewer.run.request import Request
from fewer.run.running import MAX_REDUNDANCY, components_of, curve_of, open_folder, run_kept, versions
from fewer.run.selection import Selection, TableGlance, glance_of, measured
from fewer.search import RegularizationPath
from fewer.selectors import SubsetSelector
from fewer.selectors._base import lay_out_space
from fewer.selectors.auto import MARGIN, AutoSelector, Metric
from fewer.statistics import DealtFolds, GramSums, MissingCells, RowSample, collect
from fewer.text import counted, score_text
from fewer.validate import ConfidenceInterval

SAMPLE_ROWS = 50_000
# Rows that are drawn for the page, and cells of a table up to which they are.
SHOWN_ROWS, SHOWN_CELLS = 5_000, 200_000_000
# Rows on which `auto` compares models, until the choice is stable; with a budget, as many as it allows.
ROUNDS, MOST_COMPARED = (5_000, 20_000), 80_000
# Columns about which all rows are asked; of more, those that explain most alone.
UNSCREENED = 200
# Scores that all rows can be asked for.
SUMMED = {"accuracy", "balanced_accuracy", "roc_auc", "r2"}
# Rows of each class outside the sample from which on they are asked.
FEWEST_LEFT = 1_000
# One group in ONE_IN is kept for the sample, where there are at least FEWEST_GROUPS; the others test it on new groups.
ONE_IN, FEWEST_GROUPS = 5, 50
# Rows of a rare class that a sample keeps, so that folds of it have some.
LEAST_OF_A_CLASS = 20


def rank(
    data: Any, ranker: Ranker | str, *, target: str | int | None = None, random_state: int = 0,
    resources: Resources | None = None,
) -> tuple[Ranking, tuple[str, ...]]:  # fmt: skip
    """Rank the columns of a table that is read in chunks.

    Parameters
    ----------
    data : Stream, path, folder, glob, polars LazyFrame, pyarrow dataset, DuckDB relation or Dask dataframe
        `fewer.io.open_stream` makes a stream of any of them, with more to say about kinds and weights.
    ranker : Ranker or str
        One that works on statistics sees all rows; another gets a sample of them, which is noted.
    target : str or int, optional
        The column to predict; a stream knows it.
    random_state : int, default=0
        Seed of all that is random.
    resources : Resources, optional
        Threads and memory; all that there are if left out.

    Returns
    -------
    ranking : Ranking
    notes : tuple of str

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.LazyFrame({"a": [1.0, 2.0, 4.0, 5.0], "b": [1.0, 4.0, 2.0, 5.0], "y": [0, 0, 1, 1]})
    >>> rank(table, "fisher", target="y")[0].order
    array([0, 1])
    """
    resources = Resources(effective_n_jobs(None)) if resources is None else resources
    stream = _opened(data, target)
    like = stream.like
    ranker = registry.build("ranker", ranker, like.task) if isinstance(ranker, str) else ranker
    ranker.check_task(like.task)
    rng = np.random.default_rng(random_state)
    if ranker.statistics:
        return ranker.rank_stream(stream, rng, resources), like.notes
    rows = draw_sample(stream, SAMPLE_ROWS, random_state, resources)
    return ranker.rank(rows, rng, resources), rows.notes


def _opened(data: Any, target: str | int | None) -> Stream:
    if isinstance(data, Stream):
        return data
    if target is None:
        raise InputError("The table holds its target: name that column, target='…'.")
    return open_stream(data, target)


def draw_sample(stream: Stream, n_rows: int, seed: int, resources: Resources, reason: str = "") -> Problem:
    """Draw a stratified sample while reading, and note it; a table with fewer rows is read as a whole.

    Parameters
    ----------
    stream : Stream
        The table in chunks.
    n_rows : int
        About how many; fewer if they would take more than half of the memory that is free.
    seed : int
        Draws them.
    resources : Resources
        Who reads the table.
    reason : str, optional
        Why rows are needed.

    Returns
    -------
    Problem
        The sample, with a note.

    Examples
    --------
    >>> import polars as pl
    >>> stream = open_stream(pl.LazyFrame({"a": [float(i) for i in range(40)], "y": [0, 1] * 20}), "y")
    >>> draw_sample(stream, 50, 0, Resources()).n_samples
    40
    """
    rows = _numbered(_drawn(stream, n_rows, seed, resources)[0].rows)
    if rows.n_samples == stream.n_samples:
        return rows
    note = (
        f"This used a sample of {rows.n_samples:,} of the {stream.n_samples:,} rows, drawn while reading: it needs "
        f"rows in memory{f' ({reason})' if reason else ''}. Cross-validated least squares and logistic regression, and "
        "rankers by moments and counts use all rows."
    )
    return rows.noted(note)


def _numbered(rows: Problem) -> Problem:
    """Number groups and times of a sample from 0, as those of a table in memory are."""
    labels = {name: vars(rows)[name] for name in ("groups", "time")}
    codes: dict[str, Any] = {
        name: np.unique(values, return_inverse=True)[1] for name, values in labels.items() if values is not None
    }
    return replace(rows, **codes)


def _drawn(
    stream: Stream, n_rows: int, seed: int, resources: Resources, reserve: DealtFolds | None = None
) -> tuple[RowSample, int]:
    """Draw a stratified sample while reading, and count the missing cells."""
    most = int(available_memory() // 2 // (32 * max(stream.n_features, 1)))
    n_rows = min(n_rows, max(most, 100))
    quota = RowSample.of_classes(stream.class_counts, n_rows, seed, LEAST_OF_A_CLASS).quota
    empty, p = RowSample(quota, seed, reserve), stream.n_features
    drawn, missing = collect(stream, lambda: (empty.empty(), MissingCells(p)), resources)
    refuse_constant(drawn.rows.constant)
    return drawn, int(missing.counts.sum())


def select(
    data: Any, method: str = "auto", *, target: str | int | None = None, cv: int = 5, random_state: int = 0,
    resources: Resources | None = None, command: str = "", resume_dir: Path | str | None = None, **choices: Any,
) -> Selection:  # fmt: skip
    """Select features of a table that is read in chunks, and measure on held-out rows whether that helped.

    `LeastSquares` with folds works on all rows: one pass for Gram matrices, from which any search, and the whole
    selection without each fold, are scored; one more pass judges the held-out rows. `NaiveBayes` with folds works on
    all rows too, given its cuts: one pass counts, and each step of a search is a pass. `CrossValidated` with logistic
    regression works on all rows in four or five passes a step. Every other criterion, ranker and `auto` work on a
    stratified sample, drawn in one pass, and a note says so.

    Parameters
    ----------
    data : Stream, path, folder, glob, polars LazyFrame, pyarrow dataset, DuckDB relation or Dask dataframe
        `fewer.io.open_stream` makes a stream of any of them, with more to say about kinds and weights.
    method : str, default="auto"
        As in `fewer.select`.
    target : str or int, optional
        The column to predict; a stream knows it.
    cv : int, default=5
        Cross-validation folds; 0 skips the evaluation.
    random_state : int, default=0
        Seed of all that is random; 0 if left out.
    resources : Resources, optional
        Who reads the table. A run on a sample goes by `n_jobs` and joblib's backend.
    command : str
        What was typed.
    resume_dir : path, optional
        A folder in which the run is kept; see `fewer.select`.
    **choices
        As in `fewer.select`: `criterion`, `search`, `control`, `n_features_to_select`, `include`, …

    Returns
    -------
    Selection

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> table = pl.from_pandas(X.assign(label=y)).lazy()
    >>> select(table, target="label", criterion="least-squares:cv=10", n_features_to_select=2).features
    ['worst concave points', 'worst radius']
    """
    resources = Resources(effective_n_jobs(None)) if resources is None else resources
    asked = Request(method, cv=cv, seed=random_state, **choices)
    return select_stream(_opened(data, target), asked, resources, command=command, resume_dir=resume_dir)


def select_stream(
    stream: Stream, asked: Request, resources: Resources, *, command: str = "", resume_dir: Path | str | None = None
) -> Selection:
    """Select features of a stream, as `select` does.

    Parameters
    ----------
    stream : Stream
        The rows.
    asked : Request
        What the user asks for.
    resources : Resources
        Who reads the table.
    command : str
        What was typed.
    resume_dir : path, optional
        A folder in which the run is kept.

    Returns
    -------
    Selection
        What was selected, and whether it helped.
    """
    began = time.perf_counter()
    plan = replace(make_plan(stream.like, asked, budget=None), command=command)
    selector = plan.selector
    criterion = selector._criterion() if isinstance(selector, SubsetSelector) else None
    reason = _why_sampled(stream, criterion, selector, asked)
    if reason is not None:
        return _on_sample(stream, asked, resources, command, resume_dir, reason)
    assert isinstance(selector, SubsetSelector)
    _refuse_whole_rows(stream, criterion, selector, asked)
    with nullcontext() if resume_dir is None else closing(open_folder(resume_dir, plan, stream.like)) as folder:
        answer = _on_sums(stream, plan, criterion, resources)
        answer = replace(answer, seconds=round(time.perf_counter() - began, 3))
        if folder is not None:
            folder.write(RESULT, answer.to_dict())
    return answer


def _why_sampled(stream: Stream, criterion: Criterion | None, selector: Any, asked: Request) -> str | None:
    """Say why a selection needs rows in memory; None where sums over all rows do."""
    if isinstance(criterion, LeastSquares | NaiveBayes):
        return None
    model = LogisticModel.of(criterion, stream.like) if isinstance(criterion, CrossValidated) else ""
    if isinstance(model, str):
        return model
    search = selector.components()[1]
    if search.needs or isinstance(search, RegularizationPath):
        return f"{type(search).__name__} looks at the rows themselves"
    try:
        _refuse_whole_rows(stream, criterion, selector, asked)
    except IncompatibleError as error:
        return str(error).rstrip(".")
    return None


def _on_sums(stream: Stream, plan: Plan, criterion: Any, resources: Resources) -> Selection:
    """Select by sums over all rows."""
    selector, cv, seed = plan.selector, plan.request.cv, plan.request.seed
    assert isinstance(selector, SubsetSelector)
    with one_blas_thread():
        work = _SearchPlan(stream.sent(), selector, DealtFolds.of(stream, max(cv, 1), int(criterion.cv), seed))
        searched: _Searched
        if isinstance(criterion, LeastSquares):
            make = partial(GramSums, stream.like, work.folds)
            searched = collect(stream, make, resources, partial(_search_gram, work, cv > 0))
        elif isinstance(criterion, CrossValidated):
            model = LogisticModel.of(criterion, stream.like)
            assert isinstance(model, LogisticModel)
            searched = _search_logistic(work, cv > 0, LogisticTable.of(stream, model, work.folds, resources))
        else:
            searched = _search_counts(work, cv > 0, CountedTable.of(stream, criterion, work.folds, resources))
        outcome = searched.judged(stream, work, resources) if cv else {}
        shown = _evidence(stream, searched, selector, seed, resources)
    return replace(_describe(stream, plan, searched, outcome), evidence=shown)


def _refuse_whole_rows(stream: Stream, criterion: Any, selector: SubsetSelector, asked: Request) -> None:
    """Refuse what sums over rows cannot answer."""
    if stream.time is not None and (stream.groups is not None or isinstance(criterion, NaiveBayes)):
        what = "groups and time together" if stream.groups is not None else "time"
        raise IncompatibleError(
            f"{type(criterion).__name__} cannot use {what} on a table in chunks: use auto, which can, or omit time."
        )
    if isinstance(criterion.cv, str):
        raise IncompatibleError(
            "Leaving one row out needs every row again, and the table is read in chunks: give folds, "
            f"{criterion.command_name}:cv=10."
        )
    if not isinstance(criterion.cv, int | np.integer):
        raise IncompatibleError(f"cv={criterion.cv!r} needs the rows in memory: give a number of folds, cv=10.")
    if not isinstance(asked.cv, int | np.integer) or asked.cv == 1:
        raise IncompatibleError(f"cv={asked.cv!r} needs the rows in memory: give a number of folds, cv=5.")
    if selector.control is not None:
        raise IncompatibleError(
            f"{type(selector.control).__name__} needs subsets of the rows, but the table is read in chunks: omit "
            "the control."
        )
    n_levels = [len(stream.like.levels.get(feature, "1")) for feature in range(stream.n_features)]
    needed = 16 * max(asked.cv, 1) * criterion.cv * sum(n_levels) ** 2  # of a part, and of those before it
    if isinstance(criterion, LeastSquares) and needed > (free := available_memory()):
        widest = stream.like.names[int(np.argmax(n_levels))]
        raise IncompatibleError(
            f"The products of {sum(n_levels):,} numbers and levels in {max(asked.cv, 1) * criterion.cv} folds need "
            f"{amount(needed)} of memory, and {amount(free)} is free: exclude columns of many levels ({widest!r} has "
            f"{max(n_levels):,}), or give fewer folds."
        )
    given = {name: getattr(asked, name) for name in ("scoring", "estimator", "budget")}
    given |= {"rare": None if asked.rare == "refuse" else asked.rare, "planted": asked.planted or None}
    if others := [name for name, value in given.items() if value is not None]:
        raise IncompatibleError(
            f"On a table in chunks {type(criterion).__name__} is judged by its own predictions in one run: "
            f"leave {others[0]} out."
        )


def _on_sample(
    stream: Stream, asked: Request, resources: Resources, command: str, folder: Path | str | None, reason: str
) -> Selection:
    """Select on a sample of the rows, as if it were the table; `auto` then asks all others."""
    if asked.is_auto:
        answer = _on_all_rows(stream, asked, resources, command, folder)
    else:
        rows = prepare_rows(draw_sample(stream, SAMPLE_ROWS, asked.seed, resources, reason), asked)
        answer = run_kept(replace(make_plan(rows, asked), command=command), rows, folder)
    for column in answer.data.get("columns", ()):  # rows of a stream are numbers
        column |= {"date": True} if column["name"] in stream.dated else {}
    if folder is not None:
        write_atomically(Path(folder) / RESULT, to_json(answer.to_dict()))
    return answer


def _on_all_rows(
    stream: Stream, asked: Request, resources: Resources, command: str, folder: Path | str | None
) -> Selection:
    """Compare models on a sample, and ask all other rows."""
    began = time.perf_counter()
    most = max(stream.n_samples // 4, AUTO_ROWS - len(stream.class_counts), AUTO_ROWS // 2)
    most = min(most, ROUNDS[-1] if asked.budget is None else MOST_COMPARED)
    enough = stream.groups is not None and (stream.n_groups or FEWEST_GROUPS) >= FEWEST_GROUPS
    reserve = DealtFolds.of(stream, ONE_IN, 1, asked.seed + 1) if enough and stream.time is None else None
    sample, n_missing = _drawn(stream, most, asked.seed, resources, reserve)
    raced, rows = _race(_numbered(sample.rows), asked, command, folder)
    about = f"auto compared models on a sample of {rows.n_samples:,} of the {stream.n_samples:,} rows"
    if sample.rows.n_samples == stream.n_samples:
        answer = raced
    elif reason := _unasked(stream, sample, raced, asked):
        answer = replace(raced, warnings=[*raced.warnings, f"{about}; {reason}."])
    else:
        with one_blas_thread():
            asked_of_all = _ask_all(stream, sample, asked, resources)
        answer = _Whole(asked_of_all, stream, rows, raced, asked, about, n_missing).answer()
        answer = replace(answer, seconds=round(time.perf_counter() - began, 3))
    return answer


def _race(sample: Problem, asked: Request, command: str, folder: Path | str | None) -> tuple[Selection, Problem]:
    """Compare models on rows that grow until the same features come back without each fold."""
    rounds = ROUNDS if asked.budget is None else (MOST_COMPARED,)
    for number, n_rows in enumerate(rounds):
        rows = prepare_rows(replace(thin(sample, n_rows, asked.seed), notes=sample.notes), asked, n_rows)
        plan = replace(make_plan(rows, asked), command=command)
        if number:
            assert isinstance(plan.selector, AutoSelector)
            usual = plan.selector.budget * (n_rows / rounds[0]) ** 2
            plan = replace(plan, selector=plan.selector.set_params(budget=usual))
        selection = run_kept(plan, rows, folder if number == 0 else None, goes_on=True)
        often = {name for name, share in selection.frequency.items() if share > 0.5}
        if often == set(selection.names) or rows.n_samples >= sample.n_samples:
            break
    return selection, rows


def _unasked(stream: Stream, sample: RowSample, raced: Selection, asked: Request) -> str:
    """Say why the rows outside the sample are not asked; nothing where they are."""
    if asked.estimator is not None:
        return "the model that you named needs rows in memory"
    if Metric.of(sample.rows, asked.scoring).scoring not in SUMMED:
        return f"{raced.score_name} is not computed over all rows, so the others were not asked"
    if stream.groups is not None and stream.time is not None:
        return "rows of groups in time are compared in memory alone"
    if stream.groups is not None and sample.reserve is None:
        return f"the {stream.n_groups} groups are too few to keep some for the others"
    left = stream.class_counts - sample.quota
    if left.min() < FEWEST_LEFT:
        classes = stream.like.classes
        rows = f"rows of class {classes[int(left.argmin())]!r}" if classes else "rows"
        return f"{max(int(left.min()), 0):,} {rows} are left outside it, too few to ask (below {FEWEST_LEFT:,})"
    return ""


def _ask_all(stream: Stream, sample: RowSample, asked: Request, resources: Resources) -> AllRows:
    """Ask the rows outside the sample; of more than 200 columns, about those that all rows rank first alone."""
    like = sample.rows
    space = lay_out_space(make_plan(like, asked).selector, like)
    if stream.n_features > UNSCREENED:
        ranked = FTest().rank_stream(stream, np.random.default_rng(asked.seed), resources).order[:UNSCREENED]
        units = tuple(unit for unit in space.units if np.isin(unit, ranked).any())
        space = replace(space, units=units, max_units=min(space.max_units, len(units)), prices=np.zeros(len(units)))
    return AllRows.of(stream, sample, space, Metric.of(like, asked.scoring).scoring, asked.seed, resources)


@dataclass(frozen=True, eq=False)
class _Whole:
    """The answer of all rows, beside that of the sample."""

    found: AllRows
    stream: Stream
    rows: Problem
    raced: Selection
    asked: Request
    about: str
    n_missing: int

    def answer(self) -> Selection:
        """Take what all rows say, unless they show nothing or a model of the sample is surely better."""
        fitted, raced = self.found, self.raced
        space, intervals = fitted.whole.space, fitted.intervals
        best = max(interval.estimate for interval in intervals)
        model = "least squares with products" if fitted.pairs else "least squares"
        n_others = int(fitted.sums.rows.sum())
        intro = f"{self.about}; on the other {n_others:,} rows {model} reaches {score_text(best)}"
        if max(interval.low for interval in intervals) <= _nothing(self.stream, raced.score_name in EVEN):
            return self._noted(f"{intro}, no more than chance.")
        if raced.heldout.get("low", -np.inf) > best:
            return self._noted(f"{intro}, less than {raced.judges['chosen']} on the sample, whose features these are.")
        chosen = {prefer: fitted.size_for(prefer, space.min_units, space.max_units) for prefer in MARGIN}
        size = chosen[self.asked.prefer]
        place = fitted.sizes.index(size)
        masks = [mask_of(one.features(size), self.rows.n_features) for one in fitted.folds]
        outcome = _measured(
            self.stream, (intervals[place], intervals[-1], fitted.differences[place]), masks, raced.score_name in EVEN
        )
        how = f"by {model}{self._products()}"
        notes = [f"{self.about}; the other {n_others:,} rows chose and scored the features, {how}."]
        if (n_columns := self.stream.n_features) > UNSCREENED:
            notes.append(
                f"Of the {n_columns:,} columns, all rows were asked about the {UNSCREENED} that explain most alone; "
                "features that act only together may be lost."
            )
        return self._written(size, chosen, outcome, notes, model)

    def _noted(self, note: str) -> Selection:
        return replace(self.raced, warnings=[*self.raced.warnings, note])

    def _products(self) -> str:
        names = self.rows.names
        products = [f"{names[i]} × {names[j]}" for i, j in self.found.pairs[:3]]
        return f" ({', '.join(products)}{', …' if len(self.found.pairs) > 3 else ''})" if products else ""

    def _written(
        self, size: int, chosen: dict[str, int], outcome: dict[str, Any], notes: list[str], model: str
    ) -> Selection:
        raced, names, order = self.raced, self.rows.names, self.found.whole.features(size)
        everyone = self.found.whole.features(self.found.sizes[-1])
        ranking = np.empty(len(names), dtype=np.int64)
        ranking[np.concatenate([everyone, np.setdiff1d(np.arange(len(names)), everyone)])] = 1 + np.arange(len(names))
        choices = {
            prefer: mask_of(self.found.whole.features(n_units), len(names)) for prefer, n_units in chosen.items()
        }
        judge = KNN(n_neighbors="auto")
        answer = Answer(
            mask_of(order, len(names)), ranking, judge, curve=self._curve(choices), choices=choices, judge=judge
        )
        features, evidence = [names[i] for i in order], raced.evidence
        if set(features) != set(raced.names):
            shown = thin(self.rows, SHOWN_ROWS, self.asked.seed)
            n_total = self.stream.n_samples
            evidence = Evidence(shown, answer, order, judge, None, self.asked.seed, n_total=n_total).gather()
        return replace(
            raced,
            features=features,
            support=answer.support.tolist(),
            nothing_found=False,
            reason=self._reason(answer, model),
            stand_ins={name: others for name, others in raced.stand_ins.items() if name in features},
            stability={},
            curve=curve_of(answer, names),
            redundancy=redundancy(self.rows, order.tolist()) if 2 <= len(order) <= MAX_REDUNDANCY else {},
            judges={"chosen": model, "all": model},
            warnings=[*raced.warnings, *notes],
            n_rows=self.stream.n_samples,
            # Cells and classes of all rows, columns as the sample shows them.
            data=_with_classes(raced.data | {"missing_cells": self.n_missing}, self.stream),
            evidence=evidence,
            **(outcome if self.asked.cv else {"frequency": outcome["frequency"]}),
        )

    def _curve(self, choices: dict[str, BoolArray]) -> dict[str, Any]:
        all_rows = self.found
        scores = np.array([interval.estimate for interval in all_rows.intervals])
        return {
            "size": np.array([len(all_rows.whole.features(size)) for size in all_rows.sizes]),
            "score": scores,
            "standard_error": np.array([interval.standard_error for interval in all_rows.intervals]),
            "loss": 1.0 - scores,
            "loss_error": np.array([interval.standard_error for interval in all_rows.differences]),
            "chosen": {prefer: int(mask.sum()) for prefer, mask in choices.items()},
            "all": len(scores) - 1,
            "score_name": self.raced.score_name,
            "loss_name": self._loss_name,
            "in_points": all_rows.is_share,
        }

    @property
    def _loss_name(self) -> str:
        if not self.found.is_share:
            return "1 − R²"
        return "pairs in the wrong order" if self.raced.score_name == "roc_auc" else "share of wrong rows"

    def _reason(self, answer: Answer, model: str) -> str:
        scores, sizes = answer.curve["score"], answer.curve["size"]
        best = int(np.argmax(scores))
        chosen = int(np.argmax(sizes == answer.support.sum()))
        return (
            f"Features were taken out of {model} one by one, always the one that all rows miss least. The score is "
            f"highest with {sizes[best]} features ({score_text(scores[best])}); the {sizes[chosen]} selected reach "
            f"{score_text(scores[chosen])}."
        )


class _Known(Criterion):
    """A criterion that was bound already."""

    predictive = True
    takes = ROWS

    def __init__(self, scorer: Any = None) -> None:
        self.scorer = scorer

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> Scorer:
        """Return the scorer."""
        return self.scorer


@dataclass(frozen=True, eq=False)
class _SearchPlan:
    """What is searched, with one cell for each pair of an outer fold (held out) and an inner one (who scores)."""

    stream: Stream
    selector: SubsetSelector
    folds: DealtFolds


@dataclass(frozen=True, eq=False)
class _Searched:
    """What searches found on all rows and without each outer fold, without the sums that they went by."""

    fitted: SubsetSelector
    score_without: FloatArray
    folds: list[tuple[BoolArray, FoldRule]]
    n_missing: int
    passes: str
    cuts: dict[str, list[float]]

    def judged(self, stream: Stream, work: _SearchPlan, resources: Resources) -> dict[str, Any]:
        """Score each outer fold by the selection without it, in one more pass."""
        masks, rules = map(list, zip(*self.folds, strict=True))
        make = partial(HeldoutSums, rules, 2, work.folds, group_cells(stream))
        sums, is_share = collect(stream, make, resources), stream.like.task == "classification"
        return _measured(stream, [sums.interval(place, is_share) for place in range(3)], masks)


@dataclass(frozen=True, eq=False)
class _Searches:
    """Searches on sums, on all rows and without each outer fold.

    Attributes
    ----------
    work : _SearchPlan
        What is searched.
    scorer : callable
        Binds to all rows, or to those outside one outer fold.
    varies : callable
        Says which columns vary in the rows of a scorer.
    rule : callable
        Returns who predicts an outer fold, from the other rows: of the fold, its scorer and the features.
    n_missing : int
        How many cells are missing.
    passes : callable
        Says, after the searches, how often the table was read.
    cuts : dict
        Where columns were cut.
    """

    work: _SearchPlan
    scorer: Callable[[int | None], Any]
    varies: Callable[[Any], BoolArray]
    rule: Callable[[int, Any, BoolArray], FoldRule]
    n_missing: int
    passes: Callable[[], str]
    cuts: dict[str, list[float]] = field(default_factory=dict)

    def run(self, judged: bool) -> _Searched:
        """Search on all rows and, where these are judged, on those that train each held-out fold."""
        scorer = self.scorer(None)
        fitted = self.fit_to(scorer, None)
        chosen = np.flatnonzero(fitted.support_)[:, None]
        without = scorer.flips(fitted.support_, list(chosen), np.zeros(len(chosen), dtype=bool))
        folds = each_part(
            _without_fold, [(fold,) for fold in range(len(self.work.folds.held) * judged)], Resources(), shared=self
        )
        for known in (fitted.criterion, fitted.criterion_):  # the sums stay here
            assert isinstance(known, _Known)
            known.scorer = None
        return _Searched(fitted, without, folds, self.n_missing, self.passes(), self.cuts)

    def fit_to(self, scorer: Any, without: int | None) -> SubsetSelector:
        """Search by a scorer of all rows, or of those outside one outer fold, on two rows in which as much varies."""
        seed, like, varies = self.work.folds.seed, self.work.stream.like, self.varies(scorer)
        seed = seed if without is None else int(np.random.default_rng([seed, 1, without]).integers(2**31))
        selector = clone(self.work.selector).set_params(criterion=_Known(), random_state=seed)
        selector.criterion = _Known(scorer)
        refuse_constant(~varies)
        y = np.arange(2) if like.task == "classification" else np.arange(2.0)
        X = np.array([np.zeros(len(varies)), varies.astype(np.float64)])
        return selector.fit_problem(replace(like, X=X, y=y))


def _without_fold(searches: _Searches, fold: int) -> tuple[BoolArray, FoldRule]:
    """Search on the rows outside an outer fold; return the features and what predicts the fold."""
    scorer = searches.scorer(fold)
    mask = searches.fit_to(scorer, fold).support_
    return mask, searches.rule(fold, scorer, mask)


def _search_gram(work: _SearchPlan, judged: bool, sums: GramSums) -> _Searched:
    """Search by least squares where the sums lie: they are too large to travel."""
    criterion, stream, dealt = work.selector._criterion(), work.stream, work.folds
    assert isinstance(criterion, LeastSquares)
    alpha, n_features = float(criterion.alpha), stream.n_features

    def scorer(without: int | None) -> FoldedLeastSquaresScorer:
        return FoldedLeastSquaresScorer(sums, dealt.parts(without), alpha, forward=dealt.forward)

    def varies(scorer_of_part: FoldedLeastSquaresScorer) -> BoolArray:
        return np.asarray(np.bincount(scorer_of_part.owner, scorer_of_part.system.varies, minlength=n_features) > 0)

    def rule(_: int, scorer_of_part: FoldedLeastSquaresScorer, mask: BoolArray) -> FoldRule:
        return LinearRule.of(sums, scorer_of_part, (mask, np.ones_like(mask)), spread)

    present = sums.about[:, :, 0].sum(axis=0)
    first = np.searchsorted(sums.owner, np.arange(n_features))
    n_missing = int((stream.n_samples - present[np.minimum(first, len(present) - 1)]).sum())
    with one_blas_thread():
        # The mean squared deviation of the target from its mean.
        whole = scorer(None).system.parts.sum(axis=0)
        spread = float(whole[-1, -1] / whole[0, 0]) or 1.0
        return _Searches(work, scorer, varies, rule, n_missing, lambda: "in few passes").run(judged)


def _search_counts(work: _SearchPlan, judged: bool, counted: CountedTable) -> _Searched:
    """Search by naive Bayes."""
    outer = np.arange(work.folds.n_cells) // work.folds.n_inner

    def rule(fold: int, _: Any, mask: BoolArray) -> FoldRule:
        return _CountedRule(counted.rules([outer != fold], np.where(outer == fold, 0, -1)), mask)

    def passes() -> str:
        n_rows = counted.n_cut
        share = "all" if n_rows == work.stream.n_samples else f"a sample of {n_rows:,}"
        return f"once for each step; columns were cut by MDLP on {share} of them"

    edges = zip(work.stream.like.names, counted.bins.edges, strict=True)
    cuts = {name: cuts_of_column.tolist() for name, cuts_of_column in edges if len(cuts_of_column)}
    scorer = partial(StreamedNaiveBayesScorer, counted)
    return _Searches(work, scorer, lambda _: counted.varies, rule, counted.n_missing, passes, cuts).run(judged)


def _search_logistic(work: _SearchPlan, judged: bool, table: LogisticTable) -> _Searched:
    """Search by logistic regression."""

    def varies(scorer: StreamedLogisticScorer) -> BoolArray:
        return table.varies(scorer.splits)

    def rule(_: int, scorer: StreamedLogisticScorer, mask: BoolArray) -> FoldRule:
        return _LogisticRule(table.inputs, *scorer.coefficients(np.stack([mask, np.ones_like(mask)])))

    def passes() -> str:
        n_rows = table.sample.n_samples
        gaps = table.moments.missing.any() and n_rows < work.stream.n_samples
        medians = f"; missing numbers were filled by medians of a sample of {n_rows:,}" if gaps else ""
        return f"in {table.n_passes:,} passes, one for each step of Newton's method{medians}"

    scorer = partial(StreamedLogisticScorer, table)
    return _Searches(work, scorer, varies, rule, table.n_missing, passes).run(judged)


@dataclass(frozen=True, eq=False)
class _CountedRule(FoldRule):
    rules: BayesRules
    mask: BoolArray

    def grades(self, rows: Problem) -> FloatArray:
        return np.column_stack([self.rules.right(rows, mask) for mask in (self.mask, np.ones_like(self.mask))])


@dataclass(frozen=True, eq=False)
class _LogisticRule(FoldRule):
    inputs: Inputs
    coefficients: FloatArray  # (1 + n_inputs, n_subsets, n_classes), of two classes one
    fill: FloatArray

    def grades(self, rows: Problem) -> FloatArray:
        cells = self.inputs.cells(rows.X)
        cells = np.where(np.isnan(cells), self.fill[:, None], cells)
        decisions = self.coefficients[0] + np.einsum("pn,pmc->nmc", cells, self.coefficients[1:])
        predicted = decisions.argmax(axis=2) if decisions.shape[2] > 1 else decisions[:, :, 0] > 0.0
        return (predicted == rows.y[:, None]).astype(np.float64)


def _measured(
    stream: Stream, intervals: Sequence[ConfidenceInterval], masks: list[BoolArray], even: bool = False
) -> dict[str, Any]:
    """Write the held-out scores out, beside that of knowing nothing; `even` where classes count the same."""
    return measured(
        intervals, masks, stream.like.names, in_points=stream.like.task == "classification",
        by="row" if stream.groups is None else "group",
        baseline=_nothing(stream, even) if even or stream.weights is None else None,
    )  # fmt: skip


def _nothing(stream: Stream, even: bool) -> float:
    """Return the score of knowing nothing."""
    counts = stream.class_counts
    if stream.like.task == "regression":
        return 0.0
    return float(1.0 / len(counts) if even else counts.max() / counts.sum())


def _with_classes(glance: TableGlance, stream: Stream) -> TableGlance:
    """Add how many rows each class has."""
    if stream.like.task == "classification":
        pairs = zip(stream.like.classes, stream.class_counts.tolist(), strict=True)
        glance["classes"] = {str(label): count for label, count in pairs}
    return glance


def _describe(stream: Stream, plan: Plan, searched: _Searched, outcome: dict[str, Any]) -> Selection:
    like, fitted = stream.like, searched.fitted
    chosen, order = np.flatnonzero(fitted.support_), fitted.answer_.order
    glance = _with_classes(glance_of(like, searched.n_missing), stream)
    if searched.cuts:
        glance["cuts"] = searched.cuts
    note = (
        f"The table was read in chunks: {stream.n_samples:,} rows in {counted(stream.n_parts, 'part')}, "
        f"{searched.passes}; all rows were used."
    )
    return Selection(
        features=[like.names[i] for i in order],
        support=fitted.support_.tolist(),
        score_search=fitted.score_,
        score_name="accuracy" if like.task == "classification" else "R²",
        method=plan.name,
        **components_of(plan.selector.components()),
        n_evaluations=fitted.trace_.n_evaluations,
        seconds=0.0,
        seed=plan.request.seed,
        set_aside=[like.names[i] for i in fitted.set_aside_],
        warnings=[*like.notes, note],
        suspicions=list(like.suspicions),
        score_without={like.names[c]: round(float(s), 12) for c, s in zip(chosen, searched.score_without, strict=True)},
        **outcome,
        n_rows=stream.n_samples,
        n_features=like.n_features,
        data=glance,
        command=plan.command,
        versions=versions(),
        trace=fitted.trace_,
    )


def _evidence(
    stream: Stream, searched: _Searched, selector: SubsetSelector, seed: int, resources: Resources
) -> dict[str, Any]:
    """Draw rows for the page in one more pass, where that is cheap."""
    fitted = searched.fitted
    if stream.n_samples * stream.n_features > SHOWN_CELLS or fitted.support_.sum() == 0:
        return {}
    rows, n_total = draw_sample(stream, SHOWN_ROWS, seed, resources), stream.n_samples
    order = fitted.answer_.order
    return Evidence(rows, fitted.answer_, order, selector._criterion(), None, seed, n_total=n_total).gather()
