"""What follows from a race: how many features, who judges, whether there is anything at all, what selecting costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fewer.contracts import Criterion
from fewer.criteria import KNN
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.selectors._subset import SubsetSelector
from fewer.selectors.auto._curve import DEPENDENT, N_ERRORS, SPARED, Curve, Loss, chance_of, mean_and_error
from fewer.selectors.auto._paths import DISTINCT
from fewer.selectors.auto._race import QUICK, Race, with_all_features

COPIES: dict[str, float] = {"classification": 0.1, "regression": 0.0}
"""The share of what is gained over knowing nothing that features which are nearly copies of others may add unseen."""
RARE, SCARCE = 30, 0.2
"""Where a class has fewer rows than that, and less than this share of what an equal class would have, a balanced answer
gives nothing up, and the largest size that rows do not see behind the best is taken: what a feature says of so few rows
is seen late."""
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
    kept: dict[str, float] = field(default_factory=dict)

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
        if size is not None and (size < best or cost["costs"]):
            told.append(self._given_up(prefer, size, best, cost))
        return " ".join(told)

    def _given_up(self, prefer: str, size: int, best: int, cost: dict[str, Any]) -> str:
        """Say how much of what the best number tells is kept, and whether rows can see the rest.

        The loss counts how sure predictions are, too; so it can see what the number of right ones does not show.
        """
        told = f"Held-out loss is least with {best} features; "
        if prefer in self.kept and size < best:
            told += f"the {size} chosen keep {_percent(self.kept[prefer])} of what these tell"
        else:
            told += f"{size} are chosen"
        if not cost["costs"]:
            return f"{told}, a difference that these rows can hardly see."
        return f"{told}; from {cost['smallest']} on these rows see no difference."


def answer_of(race: Race, rows: Problem, judges: Mapping[str, Any], seed: int) -> Answer:
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
        why=_why(race, path, names, done),
        costs=_costs(race, path, names, places) if complete else {},
        kept=_kept(race, curve, places),
    )


def _path(race: Race, done: list[str], names: list[str]) -> str:
    """Choose the path with the least loss, or the one without near copies where it is not far behind."""
    best = race.best(done, names)[0]
    if DISTINCT in done:
        least, other = (float(race.curve(path, names).loss[race.free].min()) for path in (best, DISTINCT))
        if other - least <= COPIES[race.loss.problem.task] * race.gained(least) + 1e-12:
            return DISTINCT
    return best


def _places(race: Race, curve: Curve) -> dict[str, int]:
    """Choose a size for each preference; the three nest."""
    gained = race.gained(float(curve.loss[race.free].min()))
    spared = SPARED[race.loss.problem.task]
    best = curve.smallest(N_ERRORS["accuracy"], race.free)
    middle = min(curve.smallest(N_ERRORS["balanced"], race.free, spared["balanced"] * gained), best)
    if _scarce(race.loss.problem):
        best = middle = curve.largest(SEEN, race.free)
    least = min(curve.smallest(N_ERRORS["fewest"], race.free, spared["fewest"] * gained), middle)
    return {"fewest": least, "balanced": middle, "accuracy": best}


def _kept(race: Race, curve: Curve, places: dict[str, int]) -> dict[str, float]:
    """Return the share of what the best choice gains over knowing nothing that each choice keeps."""
    whole = race.gained(float(curve.loss[places["accuracy"]]))
    if whole <= 0:
        return {}
    return {prefer: race.gained(float(curve.loss[place])) / whole for prefer, place in places.items()}


def _percent(share: float) -> str:
    """Write a share; what is not all is not called all."""
    return f"{min(share, 0.999):.1%}" if share > 0.99 else f"{share:.0%}"


def _scarce(rows: Problem) -> bool:
    """Say whether a class has too few rows to tell a little more loss from none, and far fewer than the others."""
    if rows.task != "classification":
        return False
    least = int(np.bincount(rows.y, minlength=rows.n_classes).min())
    return least < min(RARE, SCARCE * rows.n_samples / rows.n_classes)


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
    clusters = np.arange(len(gains)) if groups is None else groups
    return chance_of(gains, loss.weights, clusters, seed, wider=DEPENDENT)


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


def _why(race: Race, path: str, names: list[str], done: list[str]) -> str:
    order = "The order of " + path if path not in ("forward linear fit", "search by neighbors") else "A " + path
    told = f"{order} has the least held-out loss of {len(race.whole.orders)} orders"
    if path == DISTINCT and race.best(done, names)[0] != DISTINCT:
        told = f"{order} is little behind the best of {len(race.whole.orders)} orders"
    who = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    return f"{told}, judged by {who} in {len(race.parts)} splits of {len(race.held):,} rows."


def answer_without_validation(plain: SubsetSelector) -> Answer:
    """Take what a search found where there are too few rows to hold any out."""
    empty = np.empty(0)
    size = int(plain.support_.sum())
    curve: dict[str, Any] = dict.fromkeys(("score", "standard_error", "loss", "loss_error"), empty)
    curve |= {"size": np.empty(0, dtype=np.int64), "all": None, "chosen": dict.fromkeys(N_ERRORS, size)}
    return Answer(
        ranking=plain.ranking_,
        choices={prefer: plain.support_.copy() for prefer in N_ERRORS},
        curve=curve | {"score_name": "", "loss_name": ""},
        p_value=float("nan"),
        guess=plain.support_,
        judges=dict.fromkeys(N_ERRORS, "neighbors"),
        judge_all="5 neighbors",
        candidates=[{"name": "nearest neighbors", "n_features": size, "heldout": float("-inf")}],
        why="Nearest neighbors answer, without validation: there are too few rows for it.",
        criterion=KNN("auto"),
    )
