"""Runs that are killed at any moment, also while they write, and resumed: the answer is the undisturbed one."""

from __future__ import annotations

import os
import random
import signal
import time

from torture.forking import call, finish, read, start, told, write_table
from torture.outcomes import Outcome

TREE = "cross-validated:estimator=tree,cv=2"
KINDS = {
    "annealing": ["select", "--criterion", "knn", "--search", "annealing:effort=0.2", "--folds", "2"],
    "exhaustive": ["select", "--criterion", TREE, "--search", "exhaustive", "--folds", "0"],
    "floating": ["select", "--criterion", "knn", "--search", "floating:overshoot=5", "--folds", "3"],
    "compare": ["compare", "-m", "fisher,mrmr", "-e", "tree", "--folds", "4"],
}


def save_always():
    """Save at every step, so that many kills fall into a write."""
    import fewer.run.folder

    fewer.run.folder.CHECKPOINT_SECONDS = 0.0


def run(n, seed, folder):
    """Kill `n` times; each run goes on until it ends."""
    outcome = Outcome("kills, then resumed")
    table = write_table(folder / "table.csv", n_rows=40, n_features=6)
    whole, lengths = {}, {}
    for kind, words in KINDS.items():
        began = time.monotonic()
        command = [words[0], table, "--target", "y", *words[1:], "--json"]
        code, out, error = call(command, folder, save_always)
        whole[kind], lengths[kind] = told(out) if code == 0 else error, time.monotonic() - began
    rng = random.Random(seed)
    number = n_parts = 0
    while outcome.tried < n:
        kind = list(KINDS)[number % len(KINDS)]
        place = folder / f"run{number}"
        command = [KINDS[kind][0], table, "--target", "y", *KINDS[kind][1:], "--json", "--out", place]
        how, kills, parts = _until_done(command, place, folder, rng, lengths[kind], whole[kind])
        for _ in range(max(kills, 1) if how != "answered" else kills):
            outcome.add(how, f"seed {seed} run {number} {kind}")
        n_parts += parts
        number += 1
    outcome.notes.append(f"{number} runs of 4 kinds; {n_parts} kills left a file half written beside its place")
    return outcome


def _until_done(command, place, folder, rng, length, whole):
    kills = parts = 0
    while True:
        goes_on = (place / "run.json").exists() or (place / "cells.jsonl").exists()
        child = start([*command, *(["--resume"] if goes_on else [])], folder, save_always)
        time.sleep(rng.random() ** 2 * length * 1.1 if kills < 20 else 60)
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
        elif kills < 20:
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
