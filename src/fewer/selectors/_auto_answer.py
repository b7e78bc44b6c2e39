"""What follows from a race: how many features, who judges, whether there is anything at all, what selecting costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fewer.contracts import Criterion
from fewer.criteria import KNN, LeastSquares
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.selectors import _auto_quantities as quantities
from fewer.selectors._auto_curve import N_ERRORS, SPARED, Curve, Loss, chance_of, mean_and_error
from fewer.selectors._auto_paths import DISTINCT
from fewer.selectors._auto_race import QUICK, Race, with_all_features
from fewer.selectors._auto_units import Units
from fewer.selectors._rank import RankSelector
from fewer.selectors._subset import SubsetSelector
from fewer.validate import Split as Rows

QUANTITY_ERRORS = {"fewest": 1.0, "balanced": 0.5, "accuracy": 0.0}
COPIES = 0.1
"""The share of what is gained over knowing nothing that features which are nearly copies of others may add unseen."""
RARE = 30
"""Rows of the smallest class below which a balanced answer gives nothing up: they cannot tell what it costs."""
SCARCE = 0.2
"""Where such a class has also less than this share of what an equal class would, the largest size within a standard
error of the best is taken: what a feature says of so few rows is seen late."""
SEEN = 2.0
"""Standard errors from which on a loss counts as one that rows can see."""


@dataclass(eq=False)
class Answer:
    """An answer for each preference, and what it rests on."""

    ranking: IntArray
    choices: dict[str, BoolArray]
    curve: dict[str, Any]
    p_value: float
    guess: BoolArray
    judges: dict[str, str]
    judge_all: str
    candidates: list[dict[str, Any]]
    why: str
    criterion: Criterion | None = None
    costs: dict[str, dict[str, Any]] = field(default_factory=dict)

    def cost(self, prefer: str) -> dict[str, Any]:
        """Return what selecting costs under a preference."""
        return self.costs.get(prefer, {"behind": 0.0, "error": 0.0, "costs": False, "smallest": None})

    def reason(self, prefer: str, nothing: bool) -> str:
        """Say what was chosen, and why."""
        if nothing:
            return (
                f"Nothing was found: the best of all candidates does no better on held-out rows than luck would "
                f"(p = {self.p_value:.2g})."
            )
        told = [self.why]
        size, best, cost = self.curve["chosen"].get(prefer), self.curve["chosen"]["accuracy"], self.cost(prefer)
        if cost["costs"]:
            enough = "with fewer than all" if cost["smallest"] is None else f"with fewer than {cost['smallest']}"
            told.append(f"Held-out rows do best with {best} features and can see that accuracy is lost {enough}.")
        elif prefer != "accuracy" and size is not None and size < best:
            told.append(f"Held-out rows do best with {best} features; {size} are hardly behind.")
        return " ".join(told)


def answer_for_classes(race: Race, rows: Problem, judges: Mapping[str, Any], seed: int) -> Answer:
    """Choose path and sizes from the judged paths of a race."""
    names = list(judges)
    done = [path for path in race.whole.orders if all((path, name) in race.outputs for name in names)]
    if not done:
        names = list(QUICK)
        done = [path for path in race.whole.orders if all((path, name) in race.outputs for name in names)]
    path = _path(race, done, names)
    curve = race.curve(path, names)
    whole = with_all_features(rows, [part.rows for part in race.parts], race.units, seed) if judges else {}
    places = _places(race, curve)
    judge = {prefer: _best_judge(race, path, names, place) for prefer, place in places.items()}
    score, error = race.loss.scores(race.outputs[path, judge["balanced"]])
    complete = int(race.sizes[-1]) == len(race.units.members)
    order = race.order(path)
    ranking = np.empty(race.n_features, dtype=np.int64)
    ranking[order] = np.arange(1, race.n_features + 1)
    return Answer(
        ranking=ranking,
        choices={prefer: race.prefix(path, int(race.sizes[place])) for prefer, place in places.items()},
        curve={
            "size": race.sizes,
            "score": score,
            "standard_error": error,
            "loss": curve.loss,
            "loss_error": curve.error,
            "chosen": {prefer: int(race.sizes[place]) for prefer, place in places.items()},
            "all": len(race.sizes) - 1 if complete else None,
            "score_name": race.loss.score_name,
            "loss_name": "squared loss" if race.loss.by_rows else "minus the score",
        },
        p_value=_luck(race, whole, seed),
        guess=race.prefix(path, max(len(race.units.forced), 1)),
        judges=judge,
        judge_all=_judge_of_all(whole, race.loss, names),
        candidates=_candidates(race, names, done),
        why=_why(race, path, names),
        costs=_costs(race, path, names, places) if complete else {},
    )


def _path(race: Race, done: list[str], names: list[str]) -> str:
    """Choose the path with the least loss, or the one without near copies where it is not far behind."""
    best = race.best(done, names)[0]
    if DISTINCT in done:
        least, other = (float(race.curve(path, names).loss[race.free].min()) for path in (best, DISTINCT))
        if other - least <= COPIES * race.gained(least) + 1e-12:
            return DISTINCT
    return best


def _places(race: Race, curve: Curve) -> dict[str, int]:
    """Choose a size for each preference; the three nest."""
    gained = race.gained(float(curve.loss[race.free].min()))
    best = curve.smallest(N_ERRORS["accuracy"], race.free)
    if _scarce(race.loss.problem):
        best = curve.largest(1.0, race.free)
    middle = best
    if not _rare(race.loss.problem):
        middle = min(curve.smallest(N_ERRORS["balanced"], race.free, SPARED["balanced"] * gained), best)
    least = min(curve.smallest(N_ERRORS["fewest"], race.free, SPARED["fewest"] * gained), middle)
    return {"fewest": least, "balanced": middle, "accuracy": best}


def _rare(rows: Problem) -> bool:
    """Say whether a class has too few rows to tell a little more loss from none."""
    return rows.task == "classification" and int(np.bincount(rows.y, minlength=rows.n_classes).min()) < RARE


def _scarce(rows: Problem) -> bool:
    """Say whether a rare class is also far from its equal share of the rows."""
    if not _rare(rows):
        return False
    counts = np.bincount(rows.y, minlength=rows.n_classes)
    return float(counts.min()) < SCARCE * rows.n_samples / rows.n_classes


def _best_judge(race: Race, path: str, names: list[str], place: int) -> str:
    weights, _ = race.loss.sides()
    losses = {name: float(weights @ race.loss.losses(race.outputs[path, name])[:, place]) for name in names}
    return min(losses, key=lambda name: round(losses[name], 9))


def _judge_of_all(whole: Mapping[str, FloatArray], loss: Loss, names: list[str]) -> str:
    """Name the judge that predicts best with all features; a given model speaks for itself."""
    able = {name: values for name, values in whole.items() if name in names}
    if not able:
        return names[0]
    least = {name: float(loss.weights @ loss.squared(values[:, None])[:, 0]) for name, values in able.items()}
    return min(least, key=lambda name: round(least[name], 9))


def _luck(race: Race, whole: Mapping[str, FloatArray], seed: int) -> float:
    """Return how likely the best of all that was judged comes by luck."""
    loss, means = race.loss, race.means()
    found = [loss.told(outputs, means) for outputs in race.outputs.values()]
    found += [loss.told(values[:, None], means) for values in whole.values()]
    gains = np.concatenate(found, axis=1)
    groups = loss.problem.groups
    return chance_of(gains, loss.weights, np.arange(len(gains)) if groups is None else groups, seed)


def _costs(race: Race, path: str, names: list[str], places: dict[str, int]) -> dict[str, dict[str, Any]]:
    """Compare the loss of each choice with that of all features, row by row."""
    losses = race.mean_losses(path, names)
    weights, clusters = race.loss.sides()
    behind, error = mean_and_error(losses - losses[:, [-1]], weights, clusters)
    fine = np.flatnonzero(behind <= error + 1e-12)
    smallest = int(race.sizes[fine[0]]) if len(fine) else None
    return {
        prefer: {
            "behind": float(behind[place]), "error": float(error[place]),
            "costs": bool(behind[place] > SEEN * error[place] + 1e-12), "smallest": smallest,
        }
        for prefer, place in places.items()
    }  # fmt: skip


def _candidates(race: Race, names: list[str], done: list[str]) -> list[dict[str, Any]]:
    found = []
    for path in race.whole.orders:
        able = names if path in done else [name for name in QUICK if (path, name) in race.outputs]
        if not able:
            continue
        curve = race.curve(path, able)
        place = curve.smallest(N_ERRORS["balanced"], race.free)
        scores = [race.loss.scores(race.outputs[path, name][:, [place]])[0][0] for name in able]
        found.append({"name": path, "n_features": int(race.sizes[place]), "heldout": float(max(scores))})
    return found


def _why(race: Race, path: str, names: list[str]) -> str:
    order = "The order of " + path if path not in ("forward linear fit", "search by neighbors") else "A " + path
    told = f"{order} has the least held-out loss of {len(race.whole.orders)} orders"
    who = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    return f"{told}, judged by {who} in {len(race.parts)} splits of {len(race.held):,} rows."


def answer_for_quantities(
    finished: quantities.Finished, problem: Problem, splits: list[Rows], units: Units, seed: int
) -> Answer:
    """Choose among the candidates for a quantity."""
    name = finished.best()
    winner, rows = finished.selectors[name], finished.rows[name]
    criterion: Criterion = KNN("auto") if isinstance(winner, RankSelector) else winner._criterion()
    curve, places = _quantity_curve(winner, rows)
    sizes = {prefer: int(curve["size"][place]) for prefer, place in places.items()}
    if isinstance(winner, RankSelector):
        choices = {prefer: winner.ranking_ <= size for prefer, size in sizes.items()}
    elif sizes:
        choices = quantities.nested_choices(criterion, rows, winner.support_, units, sizes)
    else:
        choices = dict.fromkeys(QUANTITY_ERRORS, winner.support_)
    curve["chosen"] = {prefer: int(units.order(np.flatnonzero(mask)).size) for prefer, mask in choices.items()}
    whole = with_all_features(problem, splits, units, seed) if splits else {}
    judge_all, costs = _LINEAR_FIT, {}
    if whole:
        loss, _ = Loss.of(problem, splits)
        judge_all = _judge_of_all(whole, loss, list(whole))
        costs = _quantity_costs(winner, rows, problem, loss, whole[judge_all], choices)
    guess = np.zeros(problem.n_features, dtype=bool)
    first = np.flatnonzero(winner.support_)
    guess[units.features(units.order(first[np.argsort(winner.ranking_[first], kind="stable")])[:1])] = True
    return Answer(
        ranking=winner.ranking_,
        choices=choices,
        curve=curve,
        p_value=_quantity_luck(finished, problem, splits, whole, seed),
        guess=guess,
        judges=dict.fromkeys(QUANTITY_ERRORS, "a linear fit" if isinstance(criterion, LeastSquares) else "neighbors"),
        judge_all=judge_all,
        candidates=finished.scores(),
        why=explain(name, finished, problem),
        criterion=criterion,
        costs=costs,
    )


_LINEAR_FIT = "a linear fit"


def answer_without_validation(plain: SubsetSelector) -> Answer:
    """Take what a search found where there are too few rows to hold any out."""
    empty = np.empty(0)
    size = int(plain.support_.sum())
    curve: dict[str, Any] = dict.fromkeys(("score", "standard_error", "loss", "loss_error"), empty)
    curve |= {"size": np.empty(0, dtype=np.int64), "all": None, "chosen": dict.fromkeys(QUANTITY_ERRORS, size)}
    return Answer(
        ranking=plain.ranking_,
        choices={prefer: plain.support_.copy() for prefer in QUANTITY_ERRORS},
        curve=curve | {"score_name": "", "loss_name": ""},
        p_value=float("nan"),
        guess=plain.support_,
        judges=dict.fromkeys(QUANTITY_ERRORS, "neighbors"),
        judge_all="5 neighbors",
        candidates=[{"name": "nearest neighbors", "n_features": size, "heldout": float("-inf")}],
        why="Nearest neighbors answer, without validation: there are too few rows for it.",
        criterion=KNN("auto"),
    )


def _quantity_curve(winner: Any, rows: Problem) -> tuple[dict[str, Any], dict[str, int]]:
    """Read the curve of the winner and choose sizes from it."""
    spread = float(np.average((rows.y - np.average(rows.y, weights=rows.row_weights)) ** 2, weights=rows.row_weights))
    empty = np.empty(0)
    told: dict[str, Any] = dict.fromkeys(("score", "standard_error", "loss", "loss_error"), empty)
    told |= {"size": np.empty(0, dtype=np.int64), "all": None, "chosen": {}}
    told |= {"score_name": "R²", "loss_name": "squared loss"}
    if isinstance(winner, RankSelector):
        size, loss, error = winner.curve_["size"], -winner.curve_["score"], winner.curve_["standard_error"]
        own = error
    elif (known := quantities.row_losses(winner, rows.n_samples)) is not None:
        size, losses = known
        seen = ~np.isnan(losses[:, 0])
        loss, error = winner.trace_.extra["loss"], winner.trace_.extra["loss_error"]
        own = mean_and_error(losses[seen], rows.row_weights[seen], np.arange(int(seen.sum())))[1]
    else:
        return told, {}
    told |= {"size": size, "loss": loss, "loss_error": error}
    told |= {"score": 1.0 - loss / max(spread, 1e-300), "standard_error": own / max(spread, 1e-300)}
    behind = loss - loss.min()
    places = {prefer: int(np.argmax(behind <= c * error + 1e-12)) for prefer, c in QUANTITY_ERRORS.items()}
    if isinstance(winner, RankSelector):
        places["balanced"] = places["fewest"]
    return told, places


def _quantity_luck(
    finished: quantities.Finished, problem: Problem, splits: list[Rows], whole: Mapping[str, FloatArray], seed: int
) -> float:
    """Return how likely the best of the candidates, at any size, and of the judges with all features comes by luck."""
    p_values = []
    for name, selector in finished.selectors.items():
        rows = finished.rows[name]
        known = quantities.row_losses(selector, rows.n_samples)
        if known is not None:
            means = np.full(rows.n_samples, np.nan)
            for record in selector.trace_.state["runs"]:
                train = np.setdiff1d(np.arange(rows.n_samples), record["rows"])
                means[record["rows"]] = np.average(rows.y[train], weights=rows.row_weights[train])
            p_values.append(_luck_of(((means - rows.y) ** 2)[:, None] - known[1], rows, seed))
    if whole:
        loss, held = Loss.of(problem, splits)
        means = np.zeros(problem.n_samples)
        for split in splits:
            means[split.test] = np.average(problem.y[split.train], weights=problem.row_weights[split.train])
        gains = np.concatenate([loss.told(values[:, None], means[held]) for values in whole.values()], axis=1)
        p_values.append(_luck_of(gains, loss.problem, seed))
    return min(min(p_values) * len(p_values), 1.0) if p_values else 0.0


def _luck_of(gains: FloatArray, rows: Problem, seed: int) -> float:
    seen = ~np.isnan(gains).any(axis=1)
    clusters = np.arange(len(gains)) if rows.groups is None else rows.groups
    return chance_of(gains[seen], rows.row_weights[seen], clusters[seen], seed)


def _quantity_costs(
    winner: Any, rows: Problem, problem: Problem, loss: Loss, whole: FloatArray, choices: dict[str, BoolArray]
) -> dict[str, dict[str, Any]]:
    """Compare the winner's held-out losses with those of the best judge with all features, row by row."""
    known = quantities.row_losses(winner, rows.n_samples)
    if known is None or rows.n_samples != problem.n_samples or len(whole) != problem.n_samples:
        return {}
    sizes, losses = known
    clusters = np.arange(len(losses)) if problem.groups is None else problem.groups
    behind, error = mean_and_error(losses - loss.squared(whole[:, None]), loss.weights, clusters)
    fine = np.flatnonzero(behind <= error + 1e-12)
    smallest = int(sizes[fine[0]]) if len(fine) else None
    costs = {}
    for prefer, mask in choices.items():
        place = int(np.clip(np.searchsorted(sizes, mask.sum()), 0, len(sizes) - 1))
        told = {"behind": float(behind[place]), "error": float(error[place]), "smallest": smallest}
        costs[prefer] = {**told, "costs": bool(behind[place] > SEEN * error[place] + 1e-12)}
    return costs


def explain(name: str, finished: quantities.Finished, problem: Problem) -> str:
    """Say which candidate did best, and what the candidates saw."""
    scores = finished.scores()
    layout = finished.layout
    if max(score["heldout"] for score in scores) == float("-inf"):
        return "Nearest neighbors answer, without validation: there are too few rows for it, or it was stopped."
    told = ", ".join(f"{score['name']} {score['heldout']:.3f}" for score in scores)
    width = (
        f"all subsets of up to {min(layout.exhaust, problem.n_features)} columns"
        if layout.n_near == problem.n_features
        else f"all pairs of the {layout.n_near} columns that a ranking puts first"
    )
    return (
        f"{name.capitalize()} did best on held-out rows (minus the mean squared error: {told}). Nearest neighbors saw "
        f"{layout.n_rows:,} rows and {width}, then one column more or less at a time, with room for "
        f"{layout.n_evaluations:,} subsets a search."
    )


__all__ = ["Answer", "answer_for_classes", "answer_for_quantities", "answer_without_validation", "explain"]
