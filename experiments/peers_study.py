"""How good are the features that `auto` and its peers keep? Runs `peers_study_design.json`, writes `peers_study.md`.

    python experiments/peers_study.py [--part A A2 B C D] [--quick] [--splits 2] [--seconds 60] [--only METHOD …]
                                      [--tables NAME …] [--minutes 170] [--jobs 1] [--out FOLDER]

The design (protocol; tables of A, A2, B for design and of C, D, each opened once) was written before any result.
Finished cells are kept in FOLDER (default: peers_study_results beside the report, not committed), so that a stopped run
goes on; after `--minutes` no new cell is begun, and the report says what is missing. With `--out` the report is written
there. The shared tables are looked for in the folder that FEWER_DATA names. `--quick` takes small samples of a few
tables and writes `peers_study_quick.md`.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from peers_study_methods import by_name, models, prepared
from peers_study_problems import DESIGN, split, table, tables
from peers_study_report import write
from sklearn.metrics import balanced_accuracy_score, r2_score

HERE = Path(__file__).parent
PARTS = ["A", "A2", "B", "C", "D"]


class TimeIsUp(Exception):
    """A cell's processor seconds are spent."""


def within(seconds: float, function, *arguments):
    """Call a function; give up when so many processor seconds are spent."""

    def stop(*_):
        raise TimeIsUp

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        return function(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def judged(problem, train, test, mask) -> dict[str, float]:
    """Fit the three models to the chosen columns of the training rows and judge them on the test rows."""
    columns = np.flatnonzero(mask)
    rows = problem.take(train)
    scores = {}
    for name, model in models(problem.task).items():
        fitted = prepared(rows, columns, model).fit(rows.X[:, columns], rows.y)
        found = fitted.predict(problem.X[np.ix_(test, columns)])
        if problem.task == "classification":
            scores[name] = 100 * balanced_accuracy_score(problem.y[test], found)
        else:
            scores[name] = 100 * max(r2_score(problem.y[test], found), 0.0)
    return scores


def cell(name, kind, number, method, limits) -> dict[str, dict]:
    """Run one method on one split of one table; the answers by name, each with its scores."""
    problem = table(name, kind, limits["most_columns"])
    train, test = split(problem, number, limits)
    rows = problem.take(train)
    clock, reason = time.process_time(), ""
    try:
        masks = within(limits["seconds"], by_name(problem.task)[method], rows)
    except TimeIsUp:
        masks, reason = {}, "time"
    except Exception as error:
        masks, reason = {}, f"{type(error).__name__}: {error}"[:200]
    seconds = time.process_time() - clock
    nothing = bool(masks.pop("nothing found", np.array([False]))[0])
    names = [f"auto {prefer}" for prefer in ("fewest", "balanced", "accuracy")] if method[:4] == "auto" else [method]
    answers, known = {}, {}
    for answer in names:
        mask = masks.get(answer, np.zeros(problem.n_features, dtype=bool))
        failed = reason or ("" if mask.any() else "nothing kept")
        if failed:
            mask = np.ones(problem.n_features, dtype=bool)
        key = mask.tobytes()
        if key not in known:
            known[key] = judged(problem, train, test, mask)
        answers[answer] = {
            "scores": known[key],
            "chosen": np.flatnonzero(mask).tolist(),
            "n_features": problem.n_features,
            "seconds": seconds,
            "failed": failed,
            "nothing": nothing,
        }
    return answers


def run(asked, limits, folder: Path) -> None:
    """Run every cell that is not kept yet, splits first, so that a run cut short has seen all tables."""
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    todo = []
    for number in range(limits["n_splits"]):
        for part in asked.part:
            for name, kind in tables(part).items():
                if (asked.tables and name not in asked.tables) or (
                    asked.quick and name not in DESIGN["quick_tables"][part]
                ):
                    continue
                for method in by_name(kind):
                    if asked.only and not any(method.startswith(only) for only in asked.only):
                        continue
                    path = folder / f"{file_of(name)}.{number}.{file_of(method)}.json"
                    if not path.exists():
                        todo.append((path, part, name, kind, number, method))

    def work(path, part, name, kind, number, method):
        if time.monotonic() - began > 60 * asked.minutes:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = cell(name, kind, number, method, limits)
        record = {"part": part, "table": name, "kind": kind, "split": number, "answers": answers}
        path.write_text(json.dumps(record))
        told = {a: (len(v["chosen"]), round(float(np.mean(list(v["scores"].values()))), 1)) for a, v in answers.items()}
        print(name, number, told, round(next(iter(answers.values()))["seconds"], 1), flush=True)

    Parallel(n_jobs=asked.jobs)(delayed(work)(*one) for one in todo)


def file_of(name: str) -> str:
    """Make a file name."""
    return "".join(c if c.isalnum() else "_" for c in name)


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--splits", type=int)
    parser.add_argument("--seconds", type=float, help="processor seconds for a cell")
    parser.add_argument("--only", nargs="+", help="methods whose names begin so")
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--minutes", type=float, default=170.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    limits = {key: DESIGN[key] for key in ("n_splits", "train_rows", "test_rows", "most_columns", "seconds")}
    if asked.quick:
        limits.update(DESIGN["quick"])
    limits.update({k: v for k, v in (("n_splits", asked.splits), ("seconds", asked.seconds)) if v is not None})
    kind = "peers_study_quick" if asked.quick else "peers_study"
    folder = asked.out or HERE / f"{kind}_results"
    run(asked, limits, folder)
    write(folder, (asked.out or HERE) / f"{kind}.md", limits)


if __name__ == "__main__":
    main()
