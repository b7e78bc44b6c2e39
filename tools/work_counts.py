"""How often one `select` does the same work: `python tools/work_counts.py knn-forward auto`.

Counts how often a criterion is bound to rows, and how often a whole table (two dimensions, more than 50 rows) is
looked through for missing cells.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer

import fewer
import fewer.criteria
from fewer.contracts import Criterion

ROWS, COLUMNS, LARGE = 240, 10, 50


def kinds_of(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds_of(kind)


def count_binds(counts: Counter) -> None:
    """Let every criterion count its binds."""

    def counting(kind: type):
        bind = vars(kind)["bind"]

        def counted(self, *arguments, **options):
            counts["binds"] += 1
            return bind(self, *arguments, **options)

        return counted

    for name in fewer.criteria.__all__:  # a class is imported when it is asked for
        getattr(fewer.criteria, name)
    for kind in {kind for kind in kinds_of(Criterion) if "bind" in vars(kind)}:
        kind.bind = counting(kind)


@contextmanager
def counting_scans(counts: Counter) -> Iterator[None]:
    """Let NumPy count how often it looks through a table."""
    isnan = np.isnan

    def counted(cells, *arguments, **options):
        counts["scans"] += getattr(cells, "ndim", 0) == 2 and len(cells) > LARGE
        return isnan(cells, *arguments, **options)

    np.isnan = counted
    try:
        yield
    finally:
        np.isnan = isnan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="+", help="named methods, or auto")
    methods = parser.parse_args().methods
    warnings.simplefilter("ignore")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    counts = Counter()
    count_binds(counts)
    for method in methods:
        for look in (nullcontext, partial(counting_scans, counts)):  # the first time compiles what must be
            counts.clear()
            with look():
                fewer.select(X.iloc[:ROWS, :COLUMNS], y.iloc[:ROWS], method, random_state=3)
        print(f"{method}: {counts['binds']} binds, {counts['scans']} scans for missing cells", flush=True)


if __name__ == "__main__":
    main()
