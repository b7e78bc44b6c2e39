"""Every named method gives one answer, whatever the jobs, the threads of linear algebra and the seed of hashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from torture.forking import write_table
from torture.outcomes import Outcome

SETTINGS = (
    {"PYTHONHASHSEED": "0", "jobs": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "1", "jobs": "2", "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
    {"PYTHONHASHSEED": "4711", "jobs": "1", "OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4"},
)


def run(n, seed, folder):
    """Run every method (or the first `n`) three times, in processes that differ in all of that."""
    outcome = Outcome("named methods: jobs, threads, hashes")
    classes = write_table(folder / "classes.csv", n_rows=40, n_features=6, seed=seed)
    quantities = folder / "quantities.csv"
    lines = classes.read_text().splitlines()
    quantities.write_text(
        "\n".join([lines[0], *(f"{line.rsplit(',', 1)[0]},{i % 7 + i / 50}" for i, line in enumerate(lines[1:]))])
    )
    answers = []
    for setting in SETTINGS:
        environment = {**os.environ, **{key: value for key, value in setting.items() if key != "jobs"}}
        command = [sys.executable, "-m", "torture.determinism", str(classes), str(quantities), setting["jobs"], str(n)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            outcome.add(f"exit code {done.returncode}: {done.stderr[-500:]}", str(setting))
            return outcome
        answers.append(json.loads(done.stdout))
    for method in answers[0]:
        found = [answer[method] for answer in answers]
        same = all(one == found[0] for one in found)
        how = "refused" if isinstance(found[0], str) else "answered"
        outcome.add(how if same else f"answers differ: {found}", method)
    return outcome


def _answer(table, method, jobs):
    from torture.fuzz import call

    words = [] if method in NO_JOBS else ["--jobs", jobs]
    code, out, error = call(["select", table, "-t", "y", "-m", method, "--folds", "2", "--json", *words])
    if code:
        return f"{code}: {error}"
    content = json.loads(out)
    return [content[key] for key in ("features", "score_search", "score_heldout", "score_heldout_all_features")]


NO_JOBS = {"parcel"}


def main(classes, quantities, jobs, n):
    from fewer.registry import METHODS

    answers = {}
    for method in ["auto", *METHODS][: int(n)]:
        answers[f"{method}, classes"] = _answer(classes, method, jobs)
        answers[f"{method}, quantities"] = _answer(quantities, method, jobs)
    print(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
