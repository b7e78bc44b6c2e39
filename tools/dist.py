"""Build wheels and sdists of fewer and fewer-papers, check them, and try them: `make dist`.

The wheel of fewer goes alone into a fresh environment, outside the project: `fewer demo` runs there, `fewer reproduce`
says what is missing, and the doctests of what was installed pass; then fewer-papers joins it. `--python` names another
interpreter for that environment, `--wheel` a wheel that is built already (for a machine or a container that has only
the interpreter), `--quick` leaves the doctests out.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAPERS = ROOT / "packages" / "fewer-papers"
EXTRAS = "[plots,serve,stream]"  # the doctests of pictures, of the workbench and of files in chunks
DOCTESTS = ["pytest", "pandas"]


def run(*command, where=ROOT):
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], cwd=where, check=True)


def build():
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    for source in (ROOT, PAPERS):
        run(sys.executable, "-m", "build", "--outdir", ROOT / "dist", source)
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted((ROOT / "dist").iterdir()))
    return next((ROOT / "dist").glob("fewer-*.whl"))


def try_alone(wheel, interpreter, quick):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(interpreter, "-m", "venv", place / "env")
        python = place / "env" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", wheel, where=place)
        command = place / "env" / "bin" / "fewer"
        run(command, "demo", where=place)
        lacking = subprocess.run([command, "reproduce", "scott"], capture_output=True, text=True, cwd=place)
        assert "pip install fewer-papers" in lacking.stderr, lacking.stderr
        if not quick:
            run(python, "-m", "pip", "install", "--quiet", f"{wheel}{EXTRAS}", *DOCTESTS, where=place)
            home = "import fewer, pathlib; print(pathlib.Path(fewer.__file__).parent)"
            found = subprocess.run([python, "-c", home], capture_output=True, text=True, check=True, cwd=place)
            options = ["-q", "--doctest-modules", "-o", "doctest_optionflags=NORMALIZE_WHITESPACE ELLIPSIS"]
            run(python, "-m", "pytest", *options, "-p", "no:cacheprovider", found.stdout.strip(), where=place)
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[plots]", where=place)
        for papers in wheel.parent.glob("fewer_papers-*.whl"):
            run(python, "-m", "pip", "install", "--quiet", "--no-deps", papers, where=place)
            run(command, "reproduce", "scott", "--table", "6.1", "--quick", where=place)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    try_alone(chosen.wheel.resolve() if chosen.wheel else build(), chosen.python, chosen.quick)
