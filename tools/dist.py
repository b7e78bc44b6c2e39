"""Build wheel and sdist, check them, and try the wheel alone: `make dist`.

The wheel goes into a fresh environment, outside the project: `fewer demo` runs there, and so do the doctests of what
was installed. `--python` names another interpreter for that environment, `--wheel` a wheel that is built already (for a
machine or a container that has only the interpreter), `--quick` leaves the doctests out.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "[serve,stream]"  # the doctests of the workbench and of files in chunks
DOCTESTS = ["pytest", "pandas"]


def run(*command, where=ROOT):
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], cwd=where, check=True)


def build():
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", ROOT / "dist", ROOT)
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted((ROOT / "dist").iterdir()))
    return next((ROOT / "dist").glob("*.whl"))


def try_alone(wheel, interpreter, quick):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(interpreter, "-m", "venv", place / "env")
        python = place / "env" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", wheel, where=place)
        run(place / "env" / "bin" / "fewer", "demo", where=place)
        if not quick:
            run(python, "-m", "pip", "install", "--quiet", f"{wheel}{EXTRAS}", *DOCTESTS, where=place)
            home = "import fewer, pathlib; print(pathlib.Path(fewer.__file__).parent)"
            found = subprocess.run([python, "-c", home], capture_output=True, text=True, check=True, cwd=place)
            options = ["-q", "--doctest-modules", "-o", "doctest_optionflags=NORMALIZE_WHITESPACE ELLIPSIS"]
            run(python, "-m", "pytest", *options, "-p", "no:cacheprovider", found.stdout.strip(), where=place)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    try_alone(chosen.wheel.resolve() if chosen.wheel else build(), chosen.python, chosen.quick)
