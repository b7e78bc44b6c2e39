"""What a GPU does for nearest neighbors and Relief: all subsets, forward selection on many rows, rankings.

    python benchmarks/gpu.py                                  # a card and CuPy; writes benchmarks/gpu.json and GPU.md
    python benchmarks/gpu.py billion --device cpu --n-jobs 2  # the best 100 of 2^30 subsets on two cores
    python benchmarks/gpu.py good --device cpu --n-jobs 2     # count all good ones of 2^30 subsets on two cores
    python benchmarks/gpu.py abandon --device cpu --n-jobs 1  # subsets given up early against all scored in full

Rows say what their answers were compared with; `--no-check` leaves that out.
"""

import argparse
import json
import os
import platform
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold

from fewer.contracts import Objective, Resources, SearchSpace
from fewer.criteria import KNN, Classifiability, GammaTest
from fewer.evaluate import good_subsets
from fewer.problem import Problem
from fewer.rankers import MultiSURF, ReliefF
from fewer.search import Exhaustive, Floating

HERE = Path(__file__).parent
CARD_RATE = 132 * 64 * 1.98e9
"""Fused add-minima a second that the counted limit allows: 64 a clock and multiprocessor on 132 of them."""


def timed(function, repeat=3):
    function()
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - began)
        if times[-1] > 10:
            break
    return float(np.median(times)), result


def once(function):
    began, used = time.perf_counter(), time.process_time()
    result = function()
    return time.perf_counter() - began, time.process_time() - used, result


def bound(criterion, X, y, device, n_jobs, task=None):
    problem = Problem.from_arrays(X, y, task=task) if task else Problem.from_arrays(X, y)
    return criterion.bind(problem, np.random.default_rng(0), Resources(n_jobs=n_jobs, device=device))


# ------------------------------------------------------------------------------------------------------- all subsets


def wdbc(n_noise=0):
    X, y = load_breast_cancer(return_X_y=True)
    return np.column_stack([X, np.random.default_rng(6).normal(size=(len(X), n_noise))]), y


def best_subsets(X, y, cv, device, n_jobs, top=100, n_neighbors=1):
    space = SearchSpace.of(X.shape[1])
    scorer = bound(KNN(n_neighbors, cv=cv), X, y, device, n_jobs)
    trace = Exhaustive(top=top).run(Objective(scorer, space), space, np.random.default_rng(0))
    return trace, scorer


def about_subsets(trace, p, seconds):
    return {
        "s": seconds,
        "per_s": 2**p / seconds,
        "scores": trace.top_scores[[0, -1]].tolist(),
        "best": np.flatnonzero(trace.top_masks[0]).tolist(),
    }


def same_best(one, other):
    return np.array_equal(one.top_masks, other.top_masks) and np.array_equal(one.top_scores, other.top_scores)


def subsets(device, n_jobs, check):
    X, y = wdbc()
    for cv in ("loo", 10):
        if device == "cpu":
            seconds, _, (trace, _) = once(lambda cv=cv: best_subsets(X, y, cv, device, n_jobs))
        else:
            seconds, (trace, _) = timed(lambda cv=cv: best_subsets(X, y, cv, device, n_jobs))
        found = about_subsets(trace, 30, seconds)
        if check:
            wall, _, (truth, _) = once(lambda cv=cv: best_subsets(X, y, cv, "cpu", n_jobs))
            assert same_best(trace, truth), "not the best 100 of the CPU"
            found["checked"] = f"all 100 subsets and scores equal the CPU's ({wall:.0f} s on {n_jobs} threads)"
        yield f"best 100 of 2^30 subsets, cv={cv}", found


def several(device, n_jobs, check):
    """All subsets judged by five neighbors: batches by exact distances, the hardest rows first."""
    X, y = wdbc()
    X = X[:, :20]
    seconds, (trace, _) = timed(lambda: best_subsets(X, y, "loo", device, n_jobs, n_neighbors=5))
    found = about_subsets(trace, X.shape[1], seconds)
    if check:
        wall, _, (truth, _) = once(lambda: best_subsets(X, y, "loo", "cpu", n_jobs, n_neighbors=5))
        assert same_best(trace, truth), "not the best 100 of the CPU"
        found["checked"] = f"all 100 subsets and scores equal the CPU's ({wall:.1f} s on {n_jobs} threads)"
    yield "best 100 of 2^20 subsets, five neighbors, cv=loo", found


def billion(device, n_jobs, check):
    """All 2^30 subsets on the CPU, with processor time and row visits."""
    X, y = wdbc()
    seconds, used, (trace, scorer) = once(lambda: best_subsets(X, y, "loo", device, n_jobs))
    found = about_subsets(trace, 30, seconds) | {"processor_s": used, "visits": scorer._swept[1].n_looked / 2**30}
    stored = json.loads((HERE / "gpu.json").read_text())["cuda"]["rows"]["best 100 of 2^30 subsets, cv=loo"]
    assert [stored["scores"], stored["best"]] == [found["scores"], found["best"]], "not what the card found"
    yield f"best 100 of 2^30 subsets, cv=loo, {n_jobs} threads", found


def good(device, n_jobs, check, columns):
    """All subsets as good as the best, counted: of few columns and of all."""
    X, y = wdbc()
    for p in columns:
        problem, resources = Problem.from_arrays(X[:, :p], y), Resources(n_jobs=n_jobs, device=device)
        seconds, used, found = once(
            lambda q=problem, r=resources: good_subsets(KNN(cv="loo"), q, max_subsets=2**30, resources=r)
        )
        assert found.complete, "not all were looked at"
        row = about_good(found, seconds)
        if check:
            truth = good_subsets(KNN(cv="loo"), problem, max_subsets=2**30, resources=Resources(n_jobs=n_jobs))
            assert about_good(truth, seconds) == row, "not the CPU's counts"
            assert np.array_equal(found.masks, truth.masks), "not the CPU's subsets"
            row["checked"] = "all counts, and the best 300,000 subsets, equal the CPU's"
        yield f"good ones of all 2^{p} subsets, cv=loo, {n_jobs} threads", row | {"processor_s": used}


def about_good(found, seconds):
    return {
        "s": seconds, "per_s": found.n_evaluated / seconds, "n_good": found.n_good, "score": float(found.scores[0]),
        "in each": dict(zip(found.names, found.counts.tolist(), strict=True)), "of each size": found.sizes.tolist(),
        "smallest": found.smallest,
    }  # fmt: skip


def abandon(device, n_jobs, check):
    """Subsets given up early against all scored in full: processor time, one after the other."""
    X, y = wdbc()
    rng = np.random.default_rng(0)
    tables = {
        "16 columns of noise": (rng.normal(size=(569, 16)), rng.integers(0, 2, 569)),
        "20 columns": (X[:, :20], y),
        "22 columns": (X[:, :22], y),
    }
    best_subsets(X[:, :14], y, "loo", device, n_jobs)
    best_subsets(X[:, :14], y, "loo", device, n_jobs, top=None)
    for name, (table, target) in tables.items():
        _, early, (trace, scorer) = once(lambda t=table, c=target: best_subsets(t, c, "loo", device, n_jobs))
        _, full, (truth, _) = once(lambda t=table, c=target: best_subsets(t, c, "loo", device, n_jobs, top=None))
        n = min(len(trace.top_scores), len(truth.top_scores))
        assert np.array_equal(trace.top_scores[:n], truth.top_scores[:n]), "not the best of all"
        visits = scorer._swept[1].n_looked / 2 ** table.shape[1]
        found = {"s": early, "processor_s": early, "full_s": full, "times_less": full / early, "visits": visits}
        yield f"best 100 of all subsets, {name}, given up early, {n_jobs} threads", found


def large(device, n_jobs, check):
    """2^36 subsets; what cannot be done on a CPU is compared with parts that can."""
    X, y = wdbc(6)
    seconds, _, (trace, _) = once(lambda: best_subsets(X, y, "loo", device, n_jobs))
    found = about_subsets(trace, X.shape[1], seconds)
    if check:
        cpu, worst = bound(KNN(cv="loo"), X, y, "cpu", n_jobs), trace.top_scores[-1]
        masks = trace.top_masks.astype(bool)
        np.testing.assert_allclose(cpu.score(masks), trace.top_scores, rtol=0, atol=1e-12)
        known = set(map(bytes, masks))
        p = X.shape[1]
        others = np.random.default_rng(1).random((100_000, p)) < 0.5
        flips = (masks[:, None] ^ np.eye(p, dtype=bool)).reshape(-1, p)
        for some in (others, flips):
            better = cpu.score(some) > worst + 1e-11
            assert all(bytes(mask) in known for mask in some[better]), "a better subset was missed"
        part, _ = best_subsets(X[:, :-6], y, "loo", "cpu", n_jobs)
        few = np.pad(part.top_masks.astype(bool), ((0, 0), (0, 6)))[part.top_scores > worst + 1e-11]
        assert all(bytes(mask) in known for mask in few), "a better subset without noise was missed"
        found["checked"] = (
            "the CPU's scores of the 100; no better one among 10^5 random subsets, all 3,600 that differ from the 100 "
            f"in one column, and the CPU's best 100 without the noise ({len(few)} of which are better than the 100th)"
        )
    yield "best 100 of 2^36 subsets, cv=loo", found


def held_out(device, n_jobs, check):
    """What the best of all 2^30 subsets of training rows is worth on other rows, beside floating search."""
    X, y = wdbc()
    rows = []
    began = time.perf_counter()
    for train, test in RepeatedStratifiedKFold(n_splits=2, n_repeats=10, random_state=0).split(X, y):
        space = SearchSpace.of(X.shape[1])
        scorer = bound(KNN(cv="loo"), X[train], y[train], device, n_jobs)
        found = {}
        for name, search in {"all": Exhaustive(top=1), "floating": Floating()}.items():
            trace = search.run(Objective(scorer, space), space, np.random.default_rng(0))
            mask = trace.best != 0
            found[name] = [
                np.flatnonzero(mask).tolist(), float(trace.best_score),
                float(np.mean(scorer.predict(mask, X[test]).argmax(axis=1) == y[test])),
            ]  # fmt: skip
        whole = np.ones(X.shape[1], dtype=bool)
        right = scorer.predict(whole, X[test]).argmax(axis=1) == y[test]
        found["every column"] = [list(range(X.shape[1])), float(scorer.score(whole[None])[0]), float(np.mean(right))]
        rows.append(found)
    yield "best of 2^30 subsets in 20 halves", {"s": time.perf_counter() - began, "halves": rows}


# --------------------------------------------------------------------------------------------------------- many rows


def rows_of(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, p), dtype=np.float32).astype(np.float64)
    return X, (X[:, 0] + X[:, 1] > 1).astype(np.int64)


def sampled(scorer, masks, n_sampled, n_jobs):
    """Compare the device's verdicts on some rows with exact ones of the CPU, row by row and mask by mask."""
    rows = np.sort(np.random.default_rng(2).choice(scorer.problem.n_samples, n_sampled, replace=False))
    neighbor, order = scorer._devices[0].neighbor, scorer._coarse.order
    verdicts = neighbor.masks(masks > 0)[:, np.argsort(order)[rows]]

    def judge(job):
        gains = np.zeros(1)
        m, r = job
        scorer.judge_rows(rows[r : r + 1], masks[m], gains)
        return gains[0] > 0

    jobs = [(m, r) for m in range(len(masks)) for r in range(n_sampled)]
    with ThreadPoolExecutor(n_jobs) as pool:
        truth = np.array(list(pool.map(judge, jobs))).reshape(len(masks), n_sampled)
    known = verdicts != 2  # the others are settled by the same exact distances
    assert np.array_equal((verdicts == 1)[known], truth[known]), "a row was judged differently"
    return f"{known.sum():,} verdicts of the device on {n_sampled} random rows equal exact ones of the CPU"


def candidates(mask, columns):
    masks = np.repeat(mask[None].astype(np.float64), len(columns), axis=0)
    masks[np.arange(len(columns)), columns] = 1.0
    return masks


def steps(device, n_jobs, check):
    units, mask = [np.array([f]) for f in range(3, 23)], np.arange(23) < 3
    for n in (50_000,) if device == "cpu" else (50_000, 200_000, 1_000_000):
        X, y = rows_of(n, 23)
        scorer = bound(KNN(), X, y, device, n_jobs)
        seconds, scores = timed(lambda s=scorer: s.flips(mask, units, np.ones(20, dtype=bool)), 1 + 2 * (n < 10**6))
        rate = 20 * n * n / seconds
        found = {"s": seconds, "per_s": rate, "share_of_limit": rate / CARD_RATE, "best": float(scores.max())}
        if check and n <= 200_000:
            cpu = bound(KNN(), X, y, "cpu", n_jobs)
            wall, _, truth = once(lambda s=cpu: s.flips(mask, units, np.ones(20, dtype=bool)))
            np.testing.assert_array_equal(scores, truth)
            found["checked"] = f"all 20 scores equal the CPU's ({wall:.1f} s on {n_jobs} threads)"
        elif check:
            found["checked"] = sampled(scorer, candidates(mask, np.arange(3, 23)), 100, n_jobs)
        yield f"forward step, 20 candidates, {n:,} rows", found


def selection(device, n_jobs, check):
    X, y = rows_of(200_000, 50)
    began, chosen = time.perf_counter(), []
    scorer = bound(KNN(), X, y, device, n_jobs)
    while len(chosen) < 10:
        left = [f for f in range(50) if f not in chosen]
        mask = np.isin(np.arange(50), chosen)
        scores = scorer.flips(mask, [np.array([f]) for f in left], np.ones(len(left), dtype=bool))
        chosen.append(left[int(np.argmax(scores))])
    found = {"s": time.perf_counter() - began, "chosen": chosen}
    if check:
        masks = np.array([np.isin(np.arange(50), chosen[: k + 1]) for k in range(10)], dtype=np.float64)
        found["checked"] = sampled(scorer, masks, 200, n_jobs) + ", on each of the ten subsets"
    yield "forward selection, 10 of 50 columns, 200,000 rows", found


def neighbors(device, n_jobs, check):
    """Exact distances: several neighbors, quantities, the Gamma Test, classifiability."""
    units, mask = [np.array([f]) for f in range(3, 23)], np.arange(23) < 3
    X, y = rows_of(20_000, 23)
    values = X[:, 0] * X[:, 1] + 0.1 * X[:, 5]
    for name, criterion, target, task in (
        ("KNN(5), classes", KNN(5), y, "classification"),
        ("KNN((1, 5, 9)), quantities", KNN((1, 5, 9)), values, "regression"),
        ("GammaTest(), quantities", GammaTest(), values, "regression"),
        ("Classifiability()", Classifiability(), y, "classification"),
    ):
        seconds, scores = timed(
            lambda c=criterion, t=target, k=task: bound(c, X, t, device, n_jobs, k).flips(
                mask, units, np.ones(20, dtype=bool)
            ), 1,
        )  # fmt: skip
        found = {"s": seconds, "per_s": 20 * 20_000**2 / seconds, "best": float(scores.max())}
        if check:
            cpu = bound(criterion, X, target, "cpu", n_jobs, task)
            wall, _, truth = once(lambda s=cpu: s.flips(mask, units, np.ones(20, dtype=bool)))
            exact = np.array_equal(scores, truth)
            np.testing.assert_allclose(scores, truth, rtol=1e-12)
            how = "to the bit" if exact else "to 1e-12"
            found["checked"] = f"all 20 scores equal the CPU's {how} ({wall:.1f} s on {n_jobs} threads)"
        yield f"forward step of {name}, 20 candidates, 20,000 rows", found


def relief(device, n_jobs, check):
    for name, ranker, n, p in (
        ("ReliefF()", ReliefF(), 100_000, 200), ("MultiSURF()", MultiSURF(), 20_000, 100),
    ):  # fmt: skip
        X, y = rows_of(n, p)
        problem, rng = Problem.from_arrays(X, y), np.random.default_rng(0)

        def rank(where, ranker=ranker, problem=problem, rng=rng):
            return ranker.rank(problem, rng, Resources(n_jobs=n_jobs, device=where)).scores

        seconds, scores = timed(lambda r=rank: r(device), 1)
        found = {"s": seconds, "per_s": n * n / seconds, "best": np.argsort(-scores)[:3].tolist()}
        if check:
            wall, _, truth = once(lambda r=rank: r("cpu"))
            exact = np.array_equal(scores, truth)
            np.testing.assert_allclose(scores, truth, rtol=1e-12, atol=1e-15)
            how = "to the bit" if exact else "to 1e-12"
            found["checked"] = f"all scores equal the CPU's {how} ({wall:.0f} s on {n_jobs} threads)"
        yield f"{name}, {n:,} rows, {p} columns", found


def library(device, n_jobs, check):
    """The same forward step by another library's brute force: PyTorch, float32, one candidate after the other."""
    import torch

    n = 50_000
    X, y = rows_of(n, 23)
    table = torch.tensor(X, dtype=torch.float32, device="cuda")
    codes = torch.tensor(y, device="cuda")

    def nearest(columns):
        right, cells = 0, table[:, columns].contiguous()
        for low in range(0, n, 10_000):
            d = torch.cdist(cells[low : low + 10_000], cells)
            d[torch.arange(len(d)), torch.arange(low, low + len(d))] = torch.inf
            right += int((codes[d.argmin(dim=1)] == codes[low : low + 10_000]).sum())
        return right / n

    def step():
        scores = [nearest([0, 1, 2, f]) for f in range(3, 23)]
        torch.cuda.synchronize()
        return scores

    seconds, scores = timed(step)
    name = f"forward step, 20 candidates, 50,000 rows, leave-one-out, PyTorch {torch.__version__} (cdist, argmin)"
    yield name, {"s": seconds, "per_s": 20 * n * n / seconds, "best": max(scores)}


GROUPS = {
    "subsets": subsets, "several": several, "steps": steps, "neighbors": neighbors, "relief": relief,
    "library": library, "held-out": held_out, "selection": selection, "large": large,
    "billion": billion, "abandon": abandon, "good": good,
}  # fmt: skip
ON_A_CARD = [name for name in GROUPS if name not in ("billion", "abandon")]


def processor():
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "a processor")


def about(device, n_jobs):
    machine = {"python": platform.python_version(), "numpy": np.__version__, "date": date.today().isoformat()}
    if device == "cpu":
        return {"card": f"{os.cpu_count()} cores", "processor": processor(), "threads": n_jobs, **machine}
    import cupy

    runtime = cupy.cuda.runtime
    card = runtime.getDeviceProperties(0)["name"].decode()
    return {
        "card": card, "cupy": cupy.__version__, "cuda": runtime.runtimeGetVersion(),
        "driver": runtime.driverGetVersion(), "beside": f"{os.cpu_count()} cores, {processor()}", **machine,
    }  # fmt: skip


HEAD = """# Nearest neighbors and Relief on a GPU

Written by `python benchmarks/gpu.py` (WDBC is the Wisconsin data, 569 rows, 30 columns; 2^36: with six noise columns,
seed 6). Rows of 2^30 and 2^20 subsets, of forward steps with one neighbor up to 200,000 rows and of the other library
are medians of three runs after one that compiles; the selection, the 20 halves and 2^36 subsets were run once, all
others once after one that compiles, those of good subsets once (2^18 with compiling). Times are wall-clock and include
everything but reading the table. The limit counts one fused add-minimum a distance and subset, 64 a clock on each of
132 multiprocessors.

Where every score can be had from the CPU in a few minutes, all were compared; of a million rows (the CPU had not done
after nine minutes on 16 threads), of the whole selection and of 2^36 subsets, the parts named. The other library is
PyTorch; cuML could not be had for that machine. `make test-cuda` compares every kernel with the CPU on tables of 300 to
3,000 rows: 40 tests passed on that card, on that day. Rows on 2 cores were taken on a busy machine: where subsets were
given up early, seconds are processor seconds; the wall-clock time of all 2^30 says little there beside its processor
seconds.

| what | where | seconds | distances or subsets a second | share of the limit | compared with |
| --- | --- | ---: | ---: | ---: | --- |"""


def page(kept):
    lines = [HEAD]
    for where, part in kept.items():
        for name, row in part["rows"].items():
            rate = f"{row['per_s']:.3g}" if "per_s" in row else ""
            share = f"{row['share_of_limit']:.0%}" if "share_of_limit" in row and where == "cuda" else ""
            checked = row.get("checked", "")
            if "full_s" in row:
                checked = f"all scored in full: {row['full_s']:.3g} s, {row['times_less']:.1f} times as long"
            notes = [checked] if checked else []
            notes += [f"{row['n_good']:,} good subsets"] if "n_good" in row else []
            notes += [f"{row['processor_s']:.0f} processor seconds"] if "processor_s" in row else []
            notes += [f"{row['visits']:.0f} row visits a subset"] if "visits" in row else []
            checked = "; ".join(notes)
            seconds = f"{row['s']:.3g}" if row["s"] < 100 else f"{row['s']:,.0f}"
            lines.append(f"| {name} | {part['about']['card']} | {seconds} | {rate} | {share} | {checked} |")
    lines += ["", *(f"{where}: {part['about']}\n" for where, part in kept.items())]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", default=ON_A_CARD, help=", ".join(GROUPS))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--columns", type=int, nargs="+", default=(18, 22, 30), help="of WDBC, for `good`")
    parser.add_argument("--no-check", dest="check", action="store_false")
    parser.add_argument("--out", type=Path, default=HERE)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    store = options.out / "gpu.json"
    kept = json.loads(store.read_text()) if store.exists() else {}
    part = kept.setdefault(options.device, {"rows": {}})
    part["about"] = about(options.device, options.n_jobs)
    for group in options.groups:
        check = options.check and options.device != "cpu"
        about_group = {"columns": options.columns} if group == "good" else {}
        for name, row in GROUPS[group](options.device, options.n_jobs, check, **about_group):
            print(name, {key: value for key, value in row.items() if key != "halves"}, flush=True)
            part["rows"][name] = row
            store.write_text(json.dumps(kept, indent=1) + "\n")
            (options.out / "GPU.md").write_text(page(kept))


if __name__ == "__main__":
    main()
