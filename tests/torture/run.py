"""The torture suite: everything that can happen to a run, many times. `make torture`; counts go to docs/reliability.md.

`python -m torture.run [--study] [--seed 0] [--share 1.0] [--only NAME] [--write FILE]`
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from torture import damage, determinism, fits, fuzz, kills, places, walk
from torture.forking import warm

# how many cases: of `make torture`, under 20 minutes on two cores, and of the study (--study)
PARTS = {
    "fuzz": (fuzz.run, 1500, 5000),
    "kills": (kills.run, 60, 300),
    "damage": (damage.run, 60, 200),
    "disks": (places.full_disks, 24, 60),
    "memory": (places.little_memory, 8, 24),
    "writers": (places.two_writers, 8, 20),
    "outputs": (places.odd_outputs, 99, 99),
    "concurrent": (fits.concurrent, 30, 60),
    "fits": (fits.many, 400, 1000),
    "walk": (walk.run, 1000, 6000),
    "determinism": (determinism.run, 100, 100),
}
FORKING = ("kills", "damage", "disks", "memory", "writers")
BEGIN, END = "<!-- counts: begin -->", "<!-- counts: end -->"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--study", action="store_true", help="all cases: hours")
    parser.add_argument("--share", type=float, default=1.0, help="of the number of cases")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--write", type=Path, help="put the counts into this page")
    given = parser.parse_args()
    warm()
    outcomes, began = [], time.monotonic()
    # copies of this process are made before anything in it starts threads
    for name in sorted(given.only, key=lambda name: (name not in FORKING, list(PARTS).index(name))):
        part, usual, all_of_them = PARTS[name]
        n = max(int((all_of_them if given.study else usual) * given.share), 1)
        with tempfile.TemporaryDirectory(prefix="fewer-torture-") as folder:
            start, used = time.monotonic(), processor_seconds()
            outcome = part(n, given.seed, Path(folder))
        outcomes.append(outcome)
        took = f"{time.monotonic() - start:.0f} s, {processor_seconds() - used:.0f} s of processor"
        print(f"{outcome}  [{took}]", flush=True)
        for failure in outcome.failures[:20]:
            print(f"    FAILED {failure}", flush=True)
    seconds = time.monotonic() - began
    failed = sum(len(outcome.failures) for outcome in outcomes)
    print(f"{summary(outcomes)}; {seconds / 60:.1f} minutes, {processor_seconds() / 60:.1f} of processor")
    if given.write:
        write(given.write, outcomes, seconds, given.seed)
    sys.exit(1 if failed else 0)


def processor_seconds():
    """Return what this process and those it has waited for have used."""
    return sum(os.times()[:4])


def summary(outcomes):
    """Return the counts of all parts together."""
    tried, answered, refused = (sum(getattr(o, name) for o in outcomes) for name in ("tried", "answered", "refused"))
    failed = sum(len(outcome.failures) for outcome in outcomes)
    return f"{tried:,} tried, {answered:,} answered, {refused:,} refused, {failed:,} failed"


def write(path, outcomes, seconds, seed):
    """Put the counts into a page, between two marks."""
    lines = ["| part | tried | answered | refused | failed | |", "|---|---|---|---|---|---|"]
    for outcome in outcomes:
        numbers = (outcome.tried, outcome.answered, outcome.refused, len(outcome.failures))
        lines.append(
            f"| {outcome.name} | {' | '.join(f'{number:,}' for number in numbers)} | {'; '.join(outcome.notes)} |"
        )
    lines.append("")
    lines.append(
        f"Seed {seed}, {seconds / 60:.0f} minutes, Python {platform.python_version()}, {platform.system()}; "
        f'`make torture ARGS="--seed {seed}"`, with `--study` for all cases.'
    )
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
