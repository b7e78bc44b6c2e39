"""Files × commands × options from a grammar: each is answered, and scored again plainly, or refused in a line."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from torture.outcomes import Outcome

SECONDS = 90
BATCH = 250


def run(n, seed, folder, jobs=2):
    """Draw and run cases in processes of their own, so that a crash is one failure and not the end."""
    outcome = Outcome("fuzzed files × commands × options")
    batches = [(seed + i, min(BATCH, n - i * BATCH)) for i in range(-(-n // BATCH))]
    running = []
    while batches or running:
        while batches and len(running) < jobs:
            number, size = batches.pop(0)
            path = folder / f"batch-{number}.json"
            command = [sys.executable, "-m", "torture.fuzz", str(number), str(size), str(path)]
            running.append((subprocess.Popen(command), number, size, path))
        process, number, size, path = running.pop(0)
        code = process.wait()
        if path.exists():
            outcome.merge(Outcome.load(path))
        if code:
            last = path.with_suffix(".last")
            where = last.read_text(encoding="utf-8") if last.exists() else ""
            outcome.add(f"the process ended with {code}", f"seed {number} {where[:300]}")
        print(f"  fuzz: seed {number}, {size} cases, {len(outcome.failures)} failures so far", flush=True)
    return outcome


def run_here(n, seed, folder, last=None):
    """Draw and run cases in this process; case `1000 * seed + i` is drawn from that number."""
    from torture.grammar import draw_case

    outcome = Outcome("fuzzed files × commands × options")
    for number in range(1000 * seed, 1000 * seed + n):
        case = draw_case(number)
        if last is not None:
            last.write_text(f"case {number}: {case.to_json()}", encoding="utf-8")
        outcome.add(execute(case, folder), f"case {number} {' '.join(case.arguments)}")
    return outcome


def execute(case, folder):
    """Run one case; say "answered", "refused", or what is wrong."""
    path = folder / f"table{case.suffix}"
    path.write_bytes(case.content)
    arguments = [str(path) if word == "TABLE" else word for word in case.arguments]
    try:
        with time_limit(SECONDS):
            code, out, error = call(arguments)
            return judge(case, path, arguments, code, out, error)
    except TimeoutError:
        return f"no answer within {SECONDS} s"
    except Exception:
        return traceback.format_exc(limit=-3).replace("\n", " | ")


def call(arguments):
    """Run the command line in this process."""
    from fewer.cli import main

    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            main(arguments)
            code = None
        except SystemExit as stop:
            code = stop.code
    return code, out.getvalue(), error.getvalue()


def judge(case, path, arguments, code, out, error):
    """Say how a call ended."""
    from torture.plain import check

    if path.read_bytes() != case.content:
        return "the table was changed"
    if "\x1b" in out + error or "\x9b" in out + error:
        return "an escape sequence was printed"
    if code == 2 and arguments[0] == "inspect" and out.strip():
        return "refused"  # it shows what is wrong
    if code == 2:
        good = (
            error.startswith("fewer: ")
            and (error.count("\n") == 1 or "cannot be read:\n" in error)
            and not out
            and len(error) > 20
        )
        return "refused" if good else f"refused in an odd way: {error[:300]!r} {out[:100]!r}"
    if code != 0:
        return f"exit code {code}: {error[-500:]}"
    if "Traceback" in error or not out.strip():
        return f"odd answer: {out[:100]!r} {error[:300]!r}"
    if "--json" in arguments:
        content = json.loads(out, parse_constant=lambda text: 1 / 0)
        return check(path, arguments, content) or "answered"
    return "answered"


@contextlib.contextmanager
def time_limit(seconds):
    """Raise TimeoutError after some seconds."""

    def stop(number, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    number, size, place = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="fewer-fuzz-") as scratch:
        run_here(size, number, Path(scratch), place.with_suffix(".last")).save(place)
