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
from itertools import pairwise
from pathlib import Path

from torture.outcomes import Outcome

SECONDS = 240  # of a machine that may be busy with other work
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
    outcome.notes.append(f"{outcome.scored:,} answers scored again")
    return outcome


def run_here(n, seed, folder, last=None):
    """Draw and run cases in this process; case `1000 * seed + i` is drawn from that number."""
    from torture.grammar import draw_case
    from torture.scene import Scene

    outcome = Outcome("fuzzed files × commands × options")
    scene = Scene(folder)
    for number in range(1000 * seed, 1000 * seed + n):
        case = draw_case(number)
        if last is not None:
            last.write_text(f"case {number}: {case.to_json()}", encoding="utf-8")
        outcome.add(execute(case, scene), f"case {number} {' '.join(case.arguments)}")
    return outcome


def execute(case, scene):
    """Run one case; say "answered", "scored" (an answer that was scored again), "refused", or what is wrong."""
    path = scene.put(case)
    arguments = scene.place(case.arguments, path)
    try:
        with time_limit(SECONDS), scene.nothing_listens():
            code, out, error = call(arguments)
            how = judge(case, path, arguments, code, out, error)
        trouble = scene.trouble(arguments, how)
    except _OutOfTimeError:
        return f"no answer within {SECONDS} s of processor time"
    except Exception:
        return traceback.format_exc(limit=-3).replace("\n", " | ")
    finally:
        scene.tidy()
    return trouble or how


class _OutOfTimeError(BaseException):
    pass


class _Paper(io.StringIO):
    """What is printed, as text or as bytes."""

    @property
    def buffer(self):
        paper = self

        class Bytes:
            def write(self, content):
                return paper.write(content.decode("utf-8", "surrogateescape"))

            def flush(self):
                pass

        return Bytes()


def call(arguments):
    """Run the command line in this process."""
    from fewer.cli import main

    out, error = _Paper(), _Paper()
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

    # --force --save FILE replaces what it names, if that is not what is read
    is_told = "--force" in arguments and dict(pairwise(arguments)).get("--save") == str(path)
    is_read = arguments.count(str(path)) > 1
    if path.read_bytes() != case.content and (is_read or not is_told):
        return "the table was changed"
    if "\x1b" in out + error or "\x9b" in out + error:
        return "an escape sequence was printed"
    if code == 2 and arguments[0] == "inspect" and out.strip():
        return "refused"  # it shows what is wrong
    if code == 2:
        good = (
            error.startswith("fewer: ")
            and (error.count("\n") == 1 or "cannot be read:\n" in error or "\nHow to fix: " in error)
            and not out
            and len(error) > 20
        )
        return "refused" if good else f"refused in an odd way: {error[:300]!r} {out[:100]!r}"
    if code != 0:
        return f"exit code {code}: {error[-500:]}"
    if "Traceback" in error or not (error if arguments[0] == "serve" else out).strip():
        return f"odd answer: {out[:100]!r} {error[:300]!r}"
    if "--json" not in arguments:
        return "answered"
    content = json.loads(out, parse_constant=lambda text: 1 / 0)
    if arguments[0] not in ("select", "rank", "compare"):
        return "answered"
    trouble, is_scored = check(path, arguments, content)
    return trouble or ("scored" if is_scored else "answered")


@contextlib.contextmanager
def time_limit(seconds):
    """Raise an error that nobody catches on the way after seconds of processor time, or 30 times that of waiting."""

    def stop(number, frame):
        raise _OutOfTimeError

    clocks = {signal.SIGPROF: (signal.ITIMER_PROF, seconds), signal.SIGALRM: (signal.ITIMER_REAL, 30 * seconds)}
    before = {number: signal.signal(number, stop) for number in clocks}
    for clock, limit in clocks.values():
        signal.setitimer(clock, limit)
    try:
        yield
    finally:
        for clock, _ in clocks.values():
            signal.setitimer(clock, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    number, size, place = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="fewer-fuzz-") as scratch:
        run_here(size, number, Path(scratch), place.with_suffix(".last")).save(place)
