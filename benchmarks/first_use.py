"""What a first use costs: `NUMBA_CACHE_DIR=$(mktemp -d) python benchmarks/first_use.py demo` runs a command of fewer.

The last line, on standard error, is JSON: seconds by the clock and of the processor of the whole process, of its
imports at the start, of compilation, and of loading what was compiled before. Run again with the same cache it is a
later start.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

BEGUN = time.perf_counter(), time.process_time()
SPENT = {name: [0.0, 0.0] for name in ("imports", "compiling", "loading", "whole")}


class Stopwatch:
    """Adds the time between start and end, of the outermost call, to one of the sums."""

    depth = 0

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        if Stopwatch.depth == 0:
            self._began = time.perf_counter(), time.process_time()
        Stopwatch.depth += 1

    def __exit__(self, *_: object) -> None:
        Stopwatch.depth -= 1
        if Stopwatch.depth == 0:
            SPENT[self._name][0] += time.perf_counter() - self._began[0]
            SPENT[self._name][1] += time.process_time() - self._began[1]


def watch() -> None:
    """Have compilation and loading timed."""
    from numba.core import caching, event

    class Compiling(event.Listener):  # type: ignore[misc]
        _watch = Stopwatch("compiling")

        def on_start(self, event: Any) -> None:
            self._watch.__enter__()

        def on_end(self, event: Any) -> None:
            self._watch.__exit__()

    event.register("numba:compile", Compiling())
    load = caching.Cache.load_overload

    def timed(*args: Any) -> Any:
        with Stopwatch("loading"):
            return load(*args)

    caching.Cache.load_overload = timed


def main() -> None:
    import sklearn.ensemble
    import sklearn.neighbors  # noqa: F401

    import fewer.cli
    import fewer.selectors

    SPENT["imports"] = [time.perf_counter() - BEGUN[0], time.process_time() - BEGUN[1]]
    watch()
    try:
        fewer.cli.main()
    finally:
        SPENT["whole"] = [time.perf_counter() - BEGUN[0], time.process_time() - BEGUN[1]]
        print(json.dumps({name: [round(x, 3) for x in pair] for name, pair in SPENT.items()}), file=sys.stderr)


if __name__ == "__main__":
    main()
