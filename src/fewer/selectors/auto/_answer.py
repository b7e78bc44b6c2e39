"""What follows from a race: which model, which order, how many features, whether there is anything at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from fewer.contracts import Criterion
from fewer.criteria import KNN
from fewer.problem import BoolArray, FloatArray, IntArray, Problem
from fewer.selectors._subset import SubsetSelector
from fewer.selectors.auto._curve import (
    DEPENDENT,
    EXCHANGE,
    LUCK,
    MARGIN,
    OPTIMISM,
    Curve,
    Loss,
    Metric,
    balanced_weights,
    chance_of,
    mean_and_error,
)
from fewer.selectors.auto._race import MODELS, QUICK, PathRace, with_all_features

# Half a point of the score: a ranking that close to the best is taken where it needs fewer features.
NEARLY_BEST = 0.005
# Standard errors within which a model cannot be told from the best one.
SAME = 1.0
# Standard errors from which on a loss counts as one that rows can see.
SEEN = 2.0
# How likely what was found may be by luck before the answer is that there is nothing.
LEVEL = 0.05


@dataclass(eq=False)
class RaceAnswer:
    """The features for each preference; and for the one that was asked for, what the answer rests on."""

    ranking: IntArray
    choices: dict[str, BoolArray]
    curve: dict[str, Any]
    p_value: float
    judge: str
    judge_all: str
    candidates: list[dict[str, Any]]
    why: str
    criterion: Criterion | None = None
    cost: dict[str, Any] | None = None
    margin: dict[str, float] = field(default_factory=dict)
    models: dict[str, float] = field(default_factory=dict)
    tried: tuple[FloatArray, FloatArray] | None = None

    def reason(self, prefer: str, nothing: bool) -> str:
        """Say what was chosen, and why."""
        if nothing:
            return f"On held-out rows the best candidate does no better than chance (p = {self.p_value:.2g})."
        sentences = [self.why]
        size, margin = self.curve["chosen"][prefer], self.margin
        if margin and size < margin["best"]:
            more = f"a loss of more than {self._plain(margin['margin'])}" if margin["margin"] > 0 else "any loss"
            sentences.append(
                f"Why {size}: the loss is lowest with {margin['best']} features; {size} "
                f"{'is' if size == 1 else 'are'} expected to lose {self._plain(margin['expected'])} (chance of {more}: "
                f"{margin['chance']:.0%})."
            )
        others = {name: self.models[self.judge] - score for name, score in self.models.items() if name != self.judge}
        if others:
            lost = ", ".join(f"{self._amount(behind)} with {name}" for name, behind in others.items())
            text = "If you will train another model, name it (estimator)."
            sentences.append(f"The same features score {lost}. {text}")
        return "\n".join(sentences)

    def _plain(self, value: float) -> str:
        if self.curve["in_points"]:
            return f"{100 * value:.1f} points"
        return f"{value:.{'2f' if value >= 0.01 else '1g'}} of {self.curve['score_name']}"

    def _amount(self, behind: float) -> str:
        if abs(behind) < 0.0005:
            return "the same"
        return f"{self._plain(abs(behind))} {'less' if behind >= 0 else 'more'}"


def answer_of(
    race: PathRace, rows: Problem, judges: Mapping[str, Any], seed: int, prefer: str, wants_features: bool
) -> RaceAnswer:
    """Choose model, path and sizes from what the models of a race said.

    The model with the least loss, and those that cannot be told from it, choose the path and the size together. Where
    nothing is found and features are asked for, there are no more than that.
    """
    names = [name for name in judges if any(key[1] == name for key in race.outputs)] or list(QUICK)
    alike = _alike(race, names)
    path = _path(race, alike)
    able = [name for name in names if (path, name) in race.outputs]
    alike = [name for name in alike if name in able]
    curve = race.curve(path, alike)
    rate = _rate(race, path, alike, curve)
    outputs_all = with_all_features(race, rows)
    places, p_value = _places(race, path, curve, rate), _luck(race, outputs_all, seed)
    if p_value > LEVEL and wants_features:
        places = dict.fromkeys(places, int(np.argmax(race.free)))
    judge_all = _judge_of_all(outputs_all, race.loss, names)
    with_all = outputs_all.get(judge_all)
    place, judge = places[prefer], _best_judge(race, path, able, places[prefer])
    score, error = race.loss.scores(race.outputs[path, _best_judge(race, path, able, places["balanced"])])
    chosen = {name: int(race.sizes[at]) for name, at in places.items()}
    order = race.order(path)
    ranking = np.empty(len(order), dtype=np.int64)
    ranking[order] = np.arange(1, len(order) + 1)
    return RaceAnswer(
        ranking=ranking,
        choices={name: race.prefix(path, size) for name, size in chosen.items()},
        curve={
            "size": race.sizes, "score": score, "standard_error": error, "loss": curve.loss * race.loss.in_users_unit,
            "loss_error": curve.error * race.loss.in_users_unit, "chosen": chosen,
            "all": len(race.sizes) - 1 if race.complete else None, "score_name": race.loss.score_name,
            "loss_name": _loss_name(race.loss), "in_points": _in_points(race.loss),
        },
        p_value=p_value, judge=judge, judge_all=judge_all, candidates=_candidates(race, names),
        why=_why(race, path, alike, names), margin=_margin(race, curve, rate, place, prefer),
        models={name: float(race.loss.scores(race.outputs[path, name][:, [place]])[0][0]) for name in able},
        tried=None if with_all is None
        else (_flat(race.outputs[path, judge][:, place], race.loss), _flat(with_all, race.loss)),
        cost=_cost(race, path, alike, place) if race.complete else None,
    )  # fmt: skip


def _flat(outputs: FloatArray, loss: Loss) -> FloatArray:
    return outputs[:, 0] * loss.scale if outputs.shape[1] == 1 else outputs


def _alike(race: PathRace, names: list[str]) -> list[str]:
    """Name the models whose least loss cannot be told from the best model's."""
    weights, clusters = race.loss.sides()
    leaders = {name: race.leader([name]) for name in names}
    best = race.leader(names)
    least = race.loss.losses(race.outputs[best[:2]][:, [best[2]]])
    similar = []
    for name, (path, _, place) in leaders.items():
        losses = race.loss.losses(race.outputs[path, name][:, [place]])
        behind, error = mean_and_error(losses - least, weights, clusters)
        if name == best[1] or behind[0] <= SAME * error[0]:
            similar.append(name)
    return similar


def _path(race: PathRace, alike: list[str]) -> str:
    """Choose the path that needs the fewest features, of those hardly behind the one with the least mean loss.

    Near copies come early in rankings of single features; orders that pass them over need fewer.
    """
    able = [path for path in race.whole.orders if all((path, name) in race.outputs for name in alike)]
    if not able:
        return race.leader(alike)[0]
    best = race.best(able, alike)
    curves = {path: race.curve(path, alike) for path in able}
    rate = _rate(race, best, alike, curves[best])
    unit = _unit(race, curves[best], rate)
    least = float(curves[best].loss[race.allowed(best)].min())
    need: dict[str, tuple[int, float]] = {}
    for path, curve in curves.items():
        behind, free = curve.loss - least, race.allowed(path)
        if path == best or float(behind[free].min()) <= NEARLY_BEST * unit / rate:
            fine = free & (behind <= MARGIN["balanced"] * unit / rate + 1e-12)
            need[path] = (int(np.argmax(fine)), 0.0 if path == best else float(behind[free].min()))
    return min(need, key=lambda path: need[path])


def _rate(race: PathRace, path: str, names: list[str], curve: Curve) -> float:
    """Return how much of the score that people read a unit of loss costs, over the sizes of a path.

    Scores of single sizes jump with single rows; their slope against the smooth loss, over all sizes, does not.
    """
    if race.loss.scoring == "neg_root_mean_squared_error":  # the slope of a root where the loss is lowest
        return float(0.5 * race.loss.scale / np.sqrt(max(curve.loss[race.free].min(), 1e-300)))
    if race.loss.exact:
        return race.loss.unit
    scores = np.mean([race.loss.scores(race.outputs[path, name])[0] for name in names], axis=0)
    best = int(np.argmin(np.where(race.allowed(path), np.round(curve.loss, 12), np.inf)))
    behind, lost = curve.loss - curve.loss[best], scores[best] - scores
    total = float(behind @ behind)
    return float(np.clip(behind @ lost / total, *EXCHANGE)) if total > 1e-12 else EXCHANGE[1]


def _in_points(loss: Loss) -> bool:
    name = loss.scoring if isinstance(loss.scoring, str) else ""
    return name.startswith(("accuracy", "balanced_accuracy", "roc_auc", "f1", "precision", "recall", "average_prec"))


def _unit(race: PathRace, curve: Curve, rate: float) -> float:
    """Return what margins are shares of: the score itself, or for one without points what is gained over nothing."""
    if _in_points(race.loss) or race.loss.scoring == "r2":
        return 1.0
    return rate * race.gained(float(curve.loss[race.free].min()))


def _places(race: PathRace, path: str, curve: Curve, rate: float) -> dict[str, int]:
    """Choose a size for each preference, the smallest that keeps to its margin; they nest."""
    unit, free = _unit(race, curve, rate) / rate, race.allowed(path)
    most = MARGIN["balanced"]
    places = {
        prefer: curve.smallest(margin * unit, free, LUCK[prefer], max(margin, most) * unit)
        for prefer, margin in MARGIN.items()
    }
    return places | {"balanced": min(places["balanced"], places["accuracy"])}


def _margin(race: PathRace, curve: Curve, rate: float, place: int, prefer: str) -> dict[str, float]:
    """Tell what the choice is expected to lose, the luck of the best size apart; how likely more than its margin."""
    unit = _unit(race, curve, rate)
    margin, behind = MARGIN[prefer] * unit, rate * float(curve.behind[place])
    error = max(rate * float(curve.error[place]), 1e-300)
    expected = max(behind - min(OPTIMISM * error, MARGIN["balanced"] * unit), 0.0)
    chance = float(stats.norm.sf((margin - expected) / error)) if behind > 0 else 0.0
    best = int(race.sizes[int(np.argmax(curve.behind == 0.0))])
    return {"margin": margin, "expected": expected, "chance": chance, "best": best}


def _best_judge(race: PathRace, path: str, names: list[str], place: int) -> str:
    weights, _ = race.loss.sides()
    losses = {name: float(weights @ race.loss.losses(race.outputs[path, name])[:, place]) for name in names}
    return min(losses, key=lambda name: round(losses[name], 9))


def _judge_of_all(whole: Mapping[str, FloatArray], loss: Loss, names: list[str]) -> str:
    """Name the model that predicts best with all features; a given model speaks for itself."""
    able = {name: values for name, values in whole.items() if name in names or (name in MODELS and names[0] in MODELS)}
    if not able:
        return names[0]
    weights, _ = loss.sides()
    least = {name: float(weights @ loss.losses(values[:, None])[:, 0]) for name, values in able.items()}
    return min(least, key=lambda name: round(least[name], 9))


def _luck(race: PathRace, outputs_all: Mapping[str, FloatArray], seed: int) -> float:
    """Return how likely the best of all that was judged comes by luck.

    Two tests, the p-value doubled for it: the best of all orders, sizes and models; and the best model with all
    features, of which there are only a few.
    """
    loss, means = race.loss, race.means()
    outputs = np.concatenate([*race.outputs.values(), *race.probes.values()], axis=1)
    # Rankings begin and end alike: what was said twice is looked at once.
    places = {column.tobytes(): place for place, column in enumerate(outputs.swapaxes(0, 1))}
    gains = [loss.told(outputs[:, list(places.values())], means)]
    gains += [loss.told(np.stack(list(outputs_all.values()), axis=1), means)] if outputs_all else []
    groups = loss.problem.groups
    clusters = np.arange(len(means)) if groups is None else groups
    weights = balanced_weights(loss.problem)  # so that a rare class is seen
    chances = [chance_of(gain, weights, clusters, seed, wider=DEPENDENT) for gain in gains]
    return float(min(len(chances) * min(chances), 1.0))


def _cost(race: PathRace, path: str, names: list[str], place: int) -> dict[str, Any]:
    """Compare the loss of the choice with that of all features, row by row."""
    losses = race.mean_losses(path, names)
    weights, clusters = race.loss.sides()
    behind, error = mean_and_error(losses - losses[:, [-1]], weights, clusters)
    unit = race.loss.in_users_unit
    fine = np.flatnonzero(behind <= error + 1e-12)
    return {
        "behind": float(behind[place]) * unit,
        "error": float(error[place]) * unit,
        "costs": bool(behind[place] > SEEN * error[place] + 1e-12),
        "smallest": int(race.sizes[fine[0]]) if len(fine) else None,
    }


def _candidates(race: PathRace, names: list[str]) -> list[dict[str, Any]]:
    candidates = []
    for path in race.whole.orders:
        able = [name for name in names if (path, name) in race.outputs]
        able = able or [name for name in QUICK if (path, name) in race.outputs]
        if not able:
            continue
        curve = race.curve(path, able)
        place = curve.smallest(0.0, race.allowed(path))
        scores = [race.loss.scores(race.outputs[path, name][:, [place]])[0][0] for name in able]
        candidates.append({"name": path, "n_features": int(race.sizes[place]), "heldout": float(max(scores))})
    return candidates


def sizes_that_matter(race: PathRace) -> list[int]:
    """Return the places of the sizes that a given model is asked about: where quick models see little loss, and all."""
    path, name, best = race.leader(QUICK)
    curve = race.curve(path, [name])
    rate = _rate(race, path, [name], curve)
    near = [max(place - step, 0) for place in _places(race, path, curve, rate).values() for step in (0, 1)]
    ends = np.flatnonzero(race.free)[[0, -1]].tolist()
    return sorted({*near, min(best + 1, len(race.sizes) - 1), *ends, len(race.sizes) - 1})


def _why(race: PathRace, path: str, alike: list[str], names: list[str]) -> str:
    models = f", the best of {len(names)} models" if len(alike) < len(names) else ""
    note = "" if alike[0] in MODELS else f", asked about {len(race.sizes)} sizes that quick models named"
    judges = " and ".join([", ".join(alike[:-1])] * (len(alike) > 1) + alike[-1:])
    return (
        f"Why these: of {len(race.whole.orders)} rankings, that by {path} needs the fewest features and is at most "
        f"half a point behind the best ({judges}{models}{note}; {len(race.parts)} splits of {len(race.held):,} rows)."
    )


def _loss_name(loss: Loss) -> str:
    if loss.by_rows and loss.scoring == "roc_auc":
        return "rows on the wrong side"
    return "squared loss" if loss.by_rows else "minus the score"


def answer_without_validation(plain: SubsetSelector, metric: Metric) -> RaceAnswer:
    """Take what a search found where there are too few rows to hold any out."""
    empty = np.empty(0)
    size = int(plain.support_.sum())
    curve: dict[str, Any] = dict.fromkeys(("score", "standard_error", "loss", "loss_error"), empty)
    curve |= {"size": np.empty(0, dtype=np.int64), "all": None, "chosen": dict.fromkeys(MARGIN, size)}
    return RaceAnswer(
        ranking=plain.ranking_, choices={prefer: plain.support_.copy() for prefer in MARGIN},
        curve=curve | {"score_name": metric.name, "loss_name": "", "in_points": True}, p_value=float("nan"),
        judge="nearest neighbors", judge_all="nearest neighbors",
        candidates=[{"name": "nearest neighbors", "n_features": size, "heldout": float("-inf")}],
        why="Chosen by nearest neighbors without validation: too few rows for it.", criterion=KNN("auto"),
    )  # fmt: skip
