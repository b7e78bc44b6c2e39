"""Which tables README and `fewer demo` show, by a rule: what `fewer select` says of each table that comes along.

The tables: real measurements with at least ten columns that come with fewer or scikit-learn, also with classes merged
as one of the publications does. The table shown first is the one that keeps the smallest share of its columns among
those that are called better or as good, without a loss that is certain ("nearly as good"); the second is the one whose
held-out score falls the most. Tables with rows that are copies of other rows are not shown.

    .venv/bin/python experiments/demo_tables.py
"""

import time

from sklearn import datasets as sklearn_tables

import fewer
import fewer.datasets

TABLES = (
    "ionosphere spectf wine diabetes cleve sonar wdbc crx "
    "thyroid grey brodsat segment cotton ann_thyroid satimage digits"
).split()
TITLES = "table", "rows", "columns", "kept", "held out, kept", "held out, all", "verdict", "processor seconds"


def select(name):
    """Select features of a table as `fewer select` does."""
    if name in ("wine", "diabetes", "digits"):
        X, y = getattr(sklearn_tables, f"load_{name}")(return_X_y=True, as_frame=True)
        return fewer.select(X, y, random_state=0)
    return fewer.select(fewer.datasets.load(name).problem, random_state=0)


def main():
    """Print one row a table."""
    print("|", " | ".join(TITLES), "|\n|---" + "|---:" * 5 + "|---|---:|")
    for name in TABLES:
        began = time.process_time()
        found = select(name)
        seconds = time.process_time() - began
        copies = " (copies among the rows)" if any(each.column is None for each in found.suspicions) else ""
        scores = [f"{found.score_name} {found.score_heldout:.3f}", f"{found.score_heldout_all_features:.3f}"]
        cells = [found.n_rows, found.n_features, len(found.features), *scores, found.verdict, f"{seconds:.1f}"]
        print("|", " | ".join(map(str, [name + copies, *cells])), "|", flush=True)


if __name__ == "__main__":
    main()
