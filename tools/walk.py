"""The walk of a row: which packages, files and functions of fewer a run passes.

`python tools/walk.py` counts them for `fewer select -m knn-forward --folds 2` and for `SubsetSelector.fit`;
`--functions` lists the functions, file by file. Each walk is taken once before it is counted, so that imports and
compilation are not part of it. Comprehensions are counted apart: Python 3.11 runs each as a function of its own, newer
ones run most inside the function that a reader sees them in.
"""

import argparse
import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import fewer
from fewer import SubsetSelector

ROOT = Path(fewer.__file__).parent
TARGETS = {"fewer select -m knn-forward --folds 2": (16, 40, 320), "SubsetSelector.fit": (12, 20, 130)}


def walk(call: Callable[[], object]) -> set[tuple[str, str]]:
    """Return the functions of fewer that a call enters, each with its file."""
    call()
    met: set[tuple[str, str]] = set()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)) and code.co_name != "<module>":
            met.add((str(Path(code.co_filename).relative_to(ROOT)), code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return met


def select(table: Path) -> None:
    from fewer.cli import main

    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main(["select", str(table), "-t", "target", "-m", "knn-forward", "--folds", "2"])


def counts(met: set[tuple[str, str]]) -> tuple[int, int, int]:
    files = {file for file, _ in met}
    packages = {file.split("/")[0].removesuffix(".py") for file in files}
    return len(packages), len(files), len(met) - n_comprehensions(met)


def n_comprehensions(met: set[tuple[str, str]]) -> int:
    """Count what Python 3.11 runs as a function of its own, and a reader sees as a part of one."""
    return sum(function.endswith(("comp>", "<genexpr>")) for _, function in met)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--functions", action="store_true", help="list them")
    asked = parser.parse_args()
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True, as_frame=True)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "iris.csv"
        X.assign(target=y).to_csv(table, index=False)
        walks = {
            "fewer select -m knn-forward --folds 2": walk(lambda: select(table)),
            "SubsetSelector.fit": walk(lambda: SubsetSelector(random_state=0).fit(X, y)),
        }
    for name, met in walks.items():
        counted = zip(("packages", "files", "functions"), counts(met), TARGETS[name], strict=True)
        text = ", ".join(f"{n} {what} (at most {most})" for what, n, most in counted)
        print(f"{name}: {text}, {n_comprehensions(met)} comprehensions")
        for file in sorted({file for file, _ in met}) if asked.functions else ():
            print(f"  {file}: {', '.join(sorted(function for path, function in met if path == file))}")


if __name__ == "__main__":
    main()
