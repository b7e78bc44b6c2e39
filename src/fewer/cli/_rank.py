"""`fewer rank`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

import fewer
from fewer.cli import _options as given
from fewer.cli._outputs import printed_table, show, shown
from fewer.errors import InputError
from fewer.files import finite
from fewer.registry import COMPONENTS, METHODS
from fewer.text import printable

RANKERS = f"{', '.join(COMPONENTS['ranker'])}; default: fisher (classification), f-test (regression)."
FEATURES = "Rank only this many against each other, and show them."
PLANTED = "Check the method: add this many random columns, and noisy copies, and rank again."
WEIGHTS = "Search weights of 0, 1/N, …, 1 for nearest neighbors, and show them; time grows with N."
AGREEMENT = "Check the method: do its scores go with the accuracy of models?"
DEVICES = "Where to compute: cpu, cuda or auto"


@dataclass(frozen=True)
class Means:
    """What a ranking may use."""

    seed: given.SeedOption = 0
    jobs: Annotated[int | None, given.option("n_jobs")] = None
    memory: Annotated[str, given.option("memory", help="Memory beside the data.")] = "1GiB"
    device: Annotated[str, given.option("device", help=f"{DEVICES} (relief and surf methods).")] = "cpu"
    stream: given.StreamOption = None
    cluster: given.ClusterOption = None

    @property
    def resources(self) -> fewer.contracts.Resources:
        """Threads, memory and device."""
        return given.resources_of(self.jobs if self.cluster is None else -1, self.memory, self.device)


@given.spread
def rank(
    file: given.FileArgument,
    target: given.TargetOption,
    method: Annotated[str | None, typer.Option("--method", "-m", help=RANKERS)] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Show only this many.")] = None,
    features: Annotated[int | None, typer.Option("--features", "-f", min=1, help=FEATURES)] = None,
    planted: Annotated[int | None, typer.Option(min=1, max=10_000, help=PLANTED)] = None,
    feature_weights: Annotated[int | None, typer.Option(min=1, max=1000, help=WEIGHTS)] = None,
    agreement: Annotated[bool, typer.Option("--agreement", help=AGREEMENT)] = False,
    *,
    columns: given.FeatureColumns,
    means: Means,
    as_json: given.JsonOption = False,
) -> None:
    """Rank features individually, or given those ranked before."""
    options = given.table_options(columns)
    chunks = given.open_chunks(file, target, options) if given.wants_stream(file, means.stream, "rank") else None
    problem = fewer.io.read_table(file, target, **options) if chunks is None else chunks.like
    if method is None:
        method = "fisher" if problem.task == "classification" else "f-test"
    ranker = _ranker(method, problem.task, features)
    if not ranker.supports_device:
        from fewer.kernels.device import tell  # with numba, which `--help` does not need

        tell(means.device, method, "it has no kernels for one")
    ranking, notes = _rank(problem if chunks is None else chunks, ranker, means)
    check: dict[str, Any] = {}
    if chunks is not None and (planted or feature_weights or agreement):
        raise InputError("--planted, --feature-weights and --agreement need the table in memory (--no-stream).")
    if feature_weights is not None:
        search, seed = fewer.search.Annealing(answer="final", by_weights=True), means.seed
        weighter = fewer.FeatureWeighter(None, search, levels=feature_weights, random_state=seed).fit_problem(problem)
        ranking = replace(ranking, extra=ranking.extra | {"weight": weighter.weights_})
        details = f"annealing; its own score {weighter.score_:.3f} is optimistic"
        notes = [*notes, f"The weights are those of squared differences of nearest neighbors ({details})."]
    rows = _rows(ranking, problem.names, features if top is None else top)
    if planted is not None:
        check = {"planted": _check(problem, _ranker(method, problem.task, None), ranking.order[:3], planted, means)}
        notes = [*notes, *_check_lines(check["planted"], problem.n_features)]
    if agreement:
        check["agreement"] = _agreement(problem, _ranker(method, problem.task, None), means)
        details = ", ".join(f"{name} {'none' if r is None else f'{r:.2f}'}" for name, r in check["agreement"].items())
        notes = [*notes, f"Correlation of the scores with the held-out score of one-feature models: {details}."]
    content = {"ranking": rows, "method": method, "warnings": list(notes), **_cuts(ranking.extra, problem.names)}
    show(content | check if as_json else _text(rows, method, notes), as_json=as_json)


def _ranker(method: str, task: Any, n_ranked: int | None) -> fewer.contracts.Ranker:
    """Build a ranker by its name, or refuse one that cannot do the task."""
    ranker: fewer.contracts.Ranker = fewer.registry.build("ranker", method, task)
    if task not in ranker.tasks:
        raise InputError(
            f"{method} is for {' and '.join(ranker.tasks)}, but the task is {task}; use "
            f"{', '.join(_rankers_for(task))}."
        )
    if n_ranked is not None and "n_ranked" in ranker.get_params():
        ranker.set_params(n_ranked=n_ranked)
    return ranker


def _rank(
    table: fewer.Problem | fewer.io.Stream, ranker: fewer.contracts.Ranker, means: Means
) -> tuple[fewer.contracts.Ranking, Sequence[str]]:
    """Rank the features of a table, in memory or in chunks."""
    import numpy as np

    with fewer.parallel.on_cluster(means.cluster):
        if isinstance(table, fewer.Problem):
            return ranker.rank(table, np.random.default_rng(means.seed), means.resources), table.notes

        return fewer.streaming.rank(table, ranker, random_state=means.seed, resources=means.resources)


def _rows(ranking: fewer.contracts.Ranking, names: Sequence[str], top: int | None) -> list[dict[str, Any]]:
    """Return the rank, the score and the ranker's other values of each of the best features."""
    import numpy as np

    columns = {"score": ranking.scores} | {
        name: values for name, values in ranking.extra.items() if np.shape(values) == (len(names),)
    }
    return [
        {"feature": names[column], "rank": place}
        | {name: finite(float(values[column])) for name, values in columns.items()}
        for place, column in enumerate(ranking.order[:top], 1)
    ]


def _check(
    problem: fewer.Problem, ranker: fewer.contracts.Ranker, best: Any, n_random: int, means: Means
) -> dict[str, dict[str, float]]:
    """Plant columns that are worth nothing, and count how many rank among as many as there were (Chen, chapter 5)."""
    import numpy as np

    plans: dict[str, dict[str, Any]] = {
        "random columns": {"irrelevant": n_random},
        "noisy copies": {"redundant": {int(column): fewer.evaluate.COPIES for column in best}},
    }
    results = {}
    for kind, plan in plans.items():
        rng = np.random.default_rng(means.seed)
        counts = fewer.evaluate.planted_counts({"": ranker}, problem, **plan, rng=rng, resources=means.resources)
        low, high = (float(side[counts.n_original - 1]) for side in counts.chance_band())
        kept, chance = float(counts.at()[""].mean()), float(counts.chance[counts.n_original - 1])
        results[kind] = {"planted": counts.n_added, "kept": kept, "chance": chance, "low": low, "high": high}
    return results


def _check_lines(check: Mapping[str, Mapping[str, float]], n_features: int) -> list[str]:
    return [
        f"Of {result['planted']} {kind}, {result['kept']:g} rank among the first {n_features} (mean of 5 rounds); a "
        f"random order has {result['chance']:.1f} there ({result['low']:g} to {result['high']:g} in 9 of 10)."
        for kind, result in check.items()
    ]


def _agreement(problem: fewer.Problem, ranker: fewer.contracts.Ranker, means: Means) -> dict[str, float | None]:
    """Correlate the scores, averaged over splits, with what models make of single features (Nel, section 7.2)."""
    import numpy as np

    agreement = fewer.evaluate.score_agreement(
        ranker, problem, rng=np.random.default_rng(means.seed), resources=means.resources
    )
    return {name: finite(agreement.of_means(name)) for name in agreement.accuracies}


def _rankers_for(task: Any) -> list[str]:
    """Name the rankers that can do a task, without building those that need another library."""
    from pkgutil import resolve_name

    return [name for name, place in COMPONENTS["ranker"].items() if task in resolve_name(place).tasks]


def _cuts(extra: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return where columns were cut into bins, and how sure the cuts are."""
    if "cuts" not in extra:
        return {}
    named = {name: row[row == row].tolist() for name, row in zip(names, extra["cuts"], strict=True)}
    return {"cuts": named, "rank_error": float(extra["rank_error"])}


def _text(rows: Sequence[Mapping[str, Any]], method: str, notes: Sequence[str]) -> str:
    from rich.markup import escape

    table = printed_table(list(rows[0]), [list(row.values()) for row in rows])
    what = f": {METHODS[method].summary}" if method in METHODS else ""
    summary = f"Ranked by {method}{what}. The scores are those of these rows; fewer select measures on held-out rows."
    return shown(table, escape(summary), *(escape(printable(f"Note: {note}")) for note in notes))
