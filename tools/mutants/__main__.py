"""`make mutants`: a random sample of faults in search, control, validate and evaluate; what do the tests notice?

Finished mutants are kept in build/mutants/results.jsonl, so a run that was stopped goes on where it was;
`--again` runs those once more that survived, for tests that are new. experiments/mutants.md tells what came out.
"""

import argparse
import difflib
import hashlib
import json
import os
import shutil
import signal
import sys
from collections import Counter
from pathlib import Path

from mutants._sample import Mutant, draw

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "mutants"
EQUIVALENT = ROOT / "tools" / "mutants" / "equivalent.json"
SURVIVORS = ROOT / "tools" / "mutants" / "survivors.json"
SEED, SIZE = 20261115, 400


def copy_sources(folder: Path) -> None:
    """Copy the sources that changed, with their times, so that compiled kernels stay valid from run to run."""
    wanted = {path.relative_to(ROOT): path for path in (ROOT / "src").rglob("*") if path.suffix != ".pyc"}
    for name, path in wanted.items():
        copy = folder / "tree" / name
        if path.is_file() and not (copy.exists() and copy.stat().st_mtime_ns == path.stat().st_mtime_ns):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
    for copy in list((folder / "tree" / "src").rglob("*.py")):
        if copy.relative_to(folder / "tree") not in wanted:
            copy.unlink()


def read(path: Path) -> dict[str, dict]:
    """Return the last row of each mutant."""
    rows = {}
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            rows[row["key"]] = row
    return rows


def drawn(files: list[str], size: int, seed: int) -> tuple[list[Mutant], int]:
    """Draw the sample, or read the one that was drawn from the same sources before."""
    text = "".join((ROOT / file).read_text() for file in files)
    path = FOLDER / f"sample-{hashlib.sha256(f'{seed} {size} {text}'.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        mutants, n_places = draw(ROOT, files, size, seed)
        path.write_text(json.dumps([n_places, [mutant.record() for mutant in mutants]]))
    n_places, records = json.loads(path.read_text())
    return [Mutant(**record) for record in records], n_places


def killers(rows: dict[str, dict], file: str) -> list[str]:
    """Return the tests that noticed most faults of a file so far; they are likely to notice the next."""
    own = Counter(row["killer"] for row in rows.values() if row["file"] == file and "::" in (row["killer"] or ""))
    return [test for test, _ in own.most_common(8) if test.startswith("tests/")]


def change(source: str, code: str) -> str:
    """Return the changed line, before and after."""
    lines = [
        line
        for line in difflib.unified_diff(source.splitlines(), code.splitlines(), lineterm="", n=0)
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    return "  ".join(f"{line[0]} {line[1:].strip()}" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="how many mutants (%(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sample (%(default)s)")
    parser.add_argument("--again", action="store_true", help="run the survivors once more")
    parser.add_argument("--only", default="", help="only files whose path contains this")
    parser.add_argument("--cover", action="store_true", help="only bring the map of tests up to date")
    parser.add_argument("--stale", action="store_true", help="do not bring the map of tests up to date")
    parser.add_argument("--near", action="store_true", help="only the mirror image and the doctests of each module")
    parser.add_argument("--count", type=int, default=0, help="end after so many; 0: go on to the end")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for one mutant (%(default)s)")
    parser.add_argument("--backwards", action="store_true", help="from the last to the first, beside another run")
    parser.add_argument("--page", type=Path, help="write the results to this file")
    parser.add_argument("--report", action="store_true", help="only show the results so far")
    chosen = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ["NUMBA_CACHE_DIR"] = str(FOLDER / "numba")

    from mutants._cover import PACKAGES, Map
    from mutants._judge import Judge, import_libraries
    from mutants._report import page, summary, survivors

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a stop takes the child with it
    seen = Map(ROOT, FOLDER)
    if not (chosen.stale or chosen.report):
        seen.bring_up_to_date()
    files = [str(p.relative_to(ROOT)) for name in PACKAGES for p in sorted((ROOT / "src/fewer" / name).rglob("*.py"))]
    mutants, n_places = drawn(files, chosen.size, chosen.seed)
    results = FOLDER / f"results-{chosen.seed}.jsonl"
    rows = read(results)
    equivalent = json.loads(EQUIVALENT.read_text()) if EQUIVALENT.exists() else {}
    if not (chosen.cover or chosen.report):
        copy_sources(FOLDER)
        import_libraries()
        judge = Judge(ROOT, FOLDER, chosen.seconds)
        before, n_done = dict(rows), 0
        for i, mutant in list(enumerate(mutants))[:: -1 if chosen.backwards else 1]:
            known, rows = before.get(mutant.key), read(results)
            redo = chosen.again and known and known["outcome"] not in ("killed", "timeout")
            redo = redo and rows[mutant.key] == known
            if (
                (mutant.key in rows and not redo)
                or (chosen.again and not known)
                or chosen.only not in mutant.file
                or (redo and mutant.key in equivalent)
            ):
                continue
            if chosen.count and n_done == chosen.count:
                break
            code = mutant.code(ROOT)
            tests = [test for test in seen.tests_of(mutant.file, mutant.line) if not (chosen.near and test[2])]
            tests = [(test, 1.0, False) for test in killers(rows, mutant.file)] + tests
            row = {**mutant.record(), "diff": change((ROOT / mutant.file).read_text(), code)}
            row |= judge.judge(mutant.file, code, tests)
            rows[mutant.key] = row
            with results.open("a") as out:
                out.write(json.dumps(row) + "\n")
            n_done += 1
            print(f"{i + 1}/{len(mutants)} {row['outcome']} {row['cpu']} s {mutant.file}:{mutant.line}", flush=True)
    done = [rows[mutant.key] for mutant in mutants if mutant.key in rows]
    print(f"{n_places} places where a fault can be put; seed {chosen.seed}")
    if chosen.page is not None:
        seconds = sum(row["cpu"] for row in done)
        about = (
            f"Seed {chosen.seed}: of {n_places:,} places {len(mutants)} were drawn at random, and one fault was put "
            f"at each; {len(done)} of them are done so far, in {seconds:.0f} processor seconds."
        )
        reasons = json.loads(SURVIVORS.read_text()) if SURVIVORS.exists() else {}
        chosen.page.write_text(page(done, equivalent, reasons, about))
    print(summary(done, equivalent))
    print(survivors(done, equivalent))


if __name__ == "__main__":
    main()
