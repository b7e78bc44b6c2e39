"""Runs that are killed at any moment, also while they write, and resumed: the answer is the undisturbed one.

Every way to a run on disk is here: the commands that have `--out`, whatever goes on inside them, and the functions that
have `resume_dir`.
"""

from __future__ import annotations

import os
import random
import signal
import time
from functools import partial

from torture.forking import call, finish, read, start, told, write_table
from torture.outcomes import Outcome

TREE, LOGISTIC = "cross-validated:estimator=tree,cv=2", "cross-validated:estimator=linear,cv=2"
STOPPED = ["--control", "early-stopping", "--folds", "0"]
COMMANDS = {
    "annealing": ["select", "--criterion", "knn", "--search", "annealing:effort=0.2", "--folds", "2"],
    "exhaustive": ["select", "--criterion", TREE, "--search", "exhaustive", "--folds", "0"],
    "floating": ["select", "--criterion", "knn", "--search", "floating:overshoot=5", "--folds", "3"],
    "early stopping": [*["select", "--criterion", "knn", "--search", "annealing:effort=0.2"], *STOPPED],
    "ranking under a control": ["select", "-m", "boruta", "--folds", "0"],
    "auto": ["select", "--folds", "2"],
    "parcel": ["select", "-m", "parcel"],
    "chunks": ["select", "--stream", "--criterion", "knn", "--search", "floating", "--folds", "0"],
    "chunks, held out": ["select", "--stream", "--criterion", "knn", "--folds", "2"],
    "chunks, least squares": ["select", "--stream", "--criterion", "least-squares:cv=2", "--folds", "2"],
    "chunks, logistic": ["select", "--stream", "--criterion", LOGISTIC, "--folds", "0"],
    "chunks, auto": ["select", "--stream", "--folds", "2"],
    "compare": ["compare", "-m", "fisher,mrmr", "-e", "tree", "--folds", "4"],
    "reproduce": ["reproduce", "dong-kothari", "--table", "3", "--quick", "--jobs", "1"],
}
FUNCTIONS = {
    "fewer.select": ("select", {"method": "knn-floating", "cv": 3, "random_state": 0}),
    "fewer.select of a file": ("select", {"criterion": "least-squares:cv=3", "cv": 2, "random_state": 0}),
    "fewer.compare": ("compare", {"methods": ["fisher", "knn-forward"], "estimators": ["tree"], "random_state": 0}),
}
KINDS = [*COMMANDS, *FUNCTIONS]


def work(kind, table, place):
    """Return what is run: words of the command line, or a call of a function; in a folder, if one is given."""
    if kind in COMMANDS:
        name, *words = COMMANDS[kind]
        kept = [] if place is None else ["--out", place]
        if name == "reproduce":
            return [name, *words, "--json", *kept]
        on = ["--resume"] if place is not None and any((place / file).exists() for file in FILES) else []
        return [name, table, "--target", "y", *words, "--json", *kept, *on]
    return partial(_function, kind, table, place)


MOST = 6
"""Kills of one run."""
FILES = ("run.json", "cells.jsonl")


def _function(kind, table, place):
    import pandas as pd

    import fewer

    name, options = FUNCTIONS[kind]
    if kind.endswith("file"):
        print(fewer.select(table, "y", **options, resume_dir=place).to_json())
        return
    frame = pd.read_csv(table)
    X, y = frame.drop(columns="y"), frame["y"]
    print(getattr(fewer, name)(X, y, **options, resume_dir=place).to_json())


def save_always():
    """Save at every step, so that many kills fall into a write."""
    import fewer.run.folder

    fewer.run.folder.CHECKPOINT_SECONDS = 0.0


def run(n, seed, folder):
    """Kill `n` times, each kind in turn; each run goes on until it ends."""
    outcome = Outcome("kills, then resumed")
    table = write_table(folder / "table.csv", n_rows=40, n_features=6)
    whole, lengths = {}, {}
    for kind in KINDS:
        began = time.monotonic()
        code, out, error = call(work(kind, table, None), folder, save_always)
        whole[kind], lengths[kind] = told(out) if code == 0 else error, time.monotonic() - began
    rng = random.Random(seed)
    number = n_parts = 0
    counts = dict.fromkeys(KINDS, 0)
    while outcome.tried < n:
        kind = KINDS[number % len(KINDS)]
        place = folder / f"run{number}"
        how, kills, parts = _until_done(kind, table, place, folder, rng, lengths[kind], whole[kind])
        for _ in range(max(kills, 1) if how != "answered" else kills):
            outcome.add(how, f"seed {seed} run {number} {kind}")
        n_parts += parts
        counts[kind] += kills
        number += 1
    each = ", ".join(f"{kind} {count}" for kind, count in counts.items())
    outcome.notes.append(
        f"{number} runs of {len(KINDS)} kinds ({each}); {n_parts} kills left a file half written beside its place"
    )
    return outcome


def _until_done(kind, table, place, folder, rng, length, whole):
    kills = parts = 0
    while True:
        child = start(work(kind, table, place), folder, save_always)
        if kills < MOST:
            time.sleep(rng.random() * length)
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
        elif kills < MOST:
            os.kill(child, signal.SIGKILL)
            finish(child)
            kills += 1
            parts += any(path.name.endswith(".part") for path in place.iterdir()) if place.exists() else 0
            continue
        else:
            code = finish(child)
        if code != 0:
            return f"exit code {code}: {read(folder / 'stderr')[-300:]}", kills, parts
        if told(read(folder / "stdout")) != whole:
            return "the answer differs from the undisturbed one", kills, parts
        return "answered", kills, parts
