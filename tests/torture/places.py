"""Full disks, little memory, two writers, closed and odd outputs, odd locales."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

from torture.forking import call, finish, read, start, told, write_table
from torture.outcomes import Outcome

SELECT = ["--criterion", "knn", "--search", "annealing:effort=0.03", "--folds", "2", "--json"]
COMPARE = ["-m", "fisher", "-e", "tree", "--folds", "3", "--json"]


def full_disks(n, seed, folder):
    """Run where files cannot grow beyond a size, every other run killed midway; then resume where they can."""
    outcome = Outcome("full disks, half of the runs killed, then resumed on free ones")
    table = write_table(folder / "table.csv", n_rows=50, n_features=6)
    commands = {"select": ["select", table, "-t", "y", *SELECT], "compare": ["compare", table, "-t", "y", *COMPARE]}
    whole, lengths = {}, {}
    for kind, command in commands.items():
        began = time.monotonic()
        whole[kind] = told(call(command, folder)[1])
        lengths[kind] = time.monotonic() - began
    n_killed = 0
    for case in range(n):
        rng = random.Random(1000 * seed + case)
        kind, limit, place = rng.choice(list(commands)), rng.choice((400, 900, 1300, 1600, 2000, 3000)), folder / "run"
        shutil.rmtree(place, ignore_errors=True)
        command = [*commands[kind], "--out", place]
        about = f"case {1000 * seed + case} {kind}, {limit} bytes"
        # standard output is a pipe: it must not count as a file that is too large
        reader, writer = os.pipe()
        child = start(command, folder, _file_limit(limit), stdout=writer)
        os.close(writer)
        with open(reader, encoding="utf-8") as pipe:
            if case % 2:
                time.sleep(rng.random() * lengths[kind])
                n_killed += _kill(child)
            elif how := _judge_full(finish(child), pipe.read(), read(folder / "stderr"), whole[kind]):
                outcome.add(how, about)
                continue
        goes_on = (place / "run.json").exists() or (place / "cells.jsonl").exists()
        code, out, error = call([*command, *(["--resume"] if goes_on else ["--force"])], folder)
        good = code == 0 and told(out) == whole[kind]
        outcome.add("answered" if good else f"resumed: exit code {code}: {error[-300:]}", about)
    outcome.notes.append(f"{n_killed} killed")
    return outcome


def _kill(child):
    """Kill a run; say whether it was still going on."""
    pid, _ = os.waitpid(child, os.WNOHANG)
    if pid:
        return False
    os.kill(child, signal.SIGKILL)
    finish(child)
    return True


def _judge_full(code, out, error, whole):
    """Say "refused", what is wrong with the answer on a full disk, or nothing if it is good."""
    if code == 2 and error.count("\n") == 1:
        return "refused"
    if code not in (0, 1) or (code == 1 and not error.startswith("fewer: ")):
        return f"exit code {code}: {error[-300:]}"
    return "" if told(out) == whole else "the answer on a full disk differs"


def _file_limit(limit):
    def set_limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return set_limit


def little_memory(n, seed, folder):
    """Run with less and less memory: an answer, or one line."""
    outcome = Outcome("little memory")
    table = write_table(folder / "table.csv", n_rows=3000, n_features=20)
    command = ["select", table, "-t", "y", "-m", "knn-forward", "--folds", "0", "--json"]
    for case in range(n):
        more = random.Random(1000 * seed + case).choice((2, 60, 300, 700, 800, 1000, 1500, 2500)) << 20

        def set_limit(more=more):
            with open("/proc/self/statm") as file:
                now = int(file.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (now + more, now + more))

        code, out, error = call(command, folder, set_limit)
        about = f"case {1000 * seed + case}, {more >> 20} MiB"
        if code == 0:
            outcome.add("answered" if told(out)["features"] else "no features", about)
        elif code in (1, 2) and error.strip().splitlines()[-1].startswith("fewer: ") and "Traceback" not in error:
            outcome.add("refused", about)
        else:
            outcome.add(f"exit code {code}: {error[-300:]}", about)
    return outcome


def two_writers(n, seed, folder):
    """Start two runs in one folder at once: one answers, the other is refused."""
    outcome = Outcome("two writers in one folder")
    table = write_table(folder / "table.csv", n_rows=60, n_features=7)
    command = ["select", table, "-t", "y", *SELECT]
    whole = told(call(command, folder)[1])
    for case in range(n):
        place = folder / f"two{case}"
        parts = [folder / "one", folder / "other"]
        children = []
        for part in parts:
            part.mkdir(exist_ok=True)
            children.append(start([*command, "--out", place], part))
        codes = [finish(child) for child in children]
        for code, part in zip(codes, parts, strict=True):
            about = f"seed {seed} pair {case}"
            if code == 0:
                outcome.add("answered" if told(read(part / "stdout")) == whole else "another answer", about)
            elif code == 2 and read(part / "stderr").count("\n") == 1:
                outcome.add("refused", about)
            else:
                outcome.add(f"exit code {code}: {read(part / 'stderr')[-300:]}", about)
        if sorted(codes) != [0, 2]:
            outcome.add(f"exit codes {codes}", f"seed {seed} pair {case}")
        shutil.rmtree(place, ignore_errors=True)
    return outcome


def odd_outputs(n, seed, folder):
    """Closed and full outputs, places that cannot be written, locales without our letters, all in new processes."""
    outcome = Outcome("closed, full and read-only outputs")
    table = write_table(folder / "table.csv")
    python = f"{sys.executable} -m fewer"
    plain = "env LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONIOENCODING=ascii"
    job = f"{table} -t y -m fisher -f 2"
    cases = [
        (f"{python} select {job} --folds 0 > /dev/full", 1),
        (f"{python} rank {table} -t y > /dev/full", 1),
        (f"{python} select {job} --folds 0 >&-", 2),
        (f"{python} select {job} --folds 0 2>&- >/dev/null", 0),
        (f"{python} select {job} --folds 0 >/dev/null 2>/dev/full", 0),
        (f"{python} compare {table} -t y -m fisher -e tree --folds 3 | head -c 10 >/dev/null; exit 0", 0),
        (f"{python} select {job} --folds 0 --out /proc/run", 2),
        (f"{python} select {job} --folds 0 --report /sys/page.html", 2),
        (f"{python} select {job} --folds 0 --report {table}", 2),
        (f"{python} datasets sonar --save {table}", 2),
        (f"{plain} {python} compare {table} -t y -m fisher -e tree --folds 3", 0),
        (f"{plain} {python} select {job} --folds 2 --report {folder}/page.html", 0),
        (f"cat {table} | {python} select - -t y -m fisher -f 2 --folds 0", 0),
        (f"cat {table} | {python} select /dev/stdin -t y -m fisher -f 2 --folds 0", 0),
        (f"gzip -c {table} | {python} rank - -t y --json", 0),
    ]
    for command, expected in cases[:n]:
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
        short = command.replace(str(folder), "").replace(sys.executable, "python")
        if done.returncode != expected or "Traceback" in done.stderr or (expected and done.stderr.count("\n") != 1):
            outcome.add(f"exit code {done.returncode}: {done.stderr[-300:]}", short)
        else:
            outcome.add("answered" if expected == 0 else "refused", short)
    return outcome
