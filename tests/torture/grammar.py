"""Cases drawn from a grammar: a table, perhaps damaged, a command and its options."""

from __future__ import annotations

import gzip
import io
import json
import random
from dataclasses import dataclass

import polars as pl

ODD_NUMBERS = [0.0, -0.0, 1e-320, 1e-170, 1e30, 1e60, 1e99, 1e101, 1e308, float("inf"), float("nan")]
WORDS = ["red", "blue", "green", "", "NA", "?", "−3", "日本", "a,b", 'q"q', "x\x1b[31m", "  pad ", "null"]
NAMES = ["age", "size", "w-1", "日本", "a b", "x\x1b[2J", "−", "<b>", "__proto__", "id", "Unnamed: 0", "y2"]
TOKENS = [
    b"",
    b"?",
    b"inf",
    b"1e400",
    b"0x1F",
    b"1,5",
    b"true",
    b"2020-02-31",
    b'"',
    b'"x',
    b"\\",
    b"#",
    b"\x00",
    b"\xff",
]
TOKENS += ["é".encode(), b"\xef\xbb\xbf", b"\r", b"\n\n", b";", b"\t", b"x" * 300]

SELECT = [
    ["-m", "fisher"], ["-m", "mrmr"], ["-m", "relieff"], ["-m", "knn-forward"], ["-m", "knn-backward"],
    ["-m", "knn-floating"], ["-m", "knn-exhaustive"], ["-m", "classifiability"], ["-m", "naive-bayes-forward"],
    ["-m", "linear-forward"], ["-m", "gamma-forward"], ["--criterion", "knn:cv=loo,scaling=none"],
    ["--criterion", "knn:cv=loo,scaling=none", "--search", "floating"], ["--criterion", "least-squares"],
    ["--criterion", "separability", "--search", "backward"], ["--criterion", "fisher-ratio", "--search", "exhaustive"],
    ["--criterion", "knn", "--search", "annealing:effort=0.02"], ["--criterion", "knn", "--search", "best-first"],
    ["--criterion", "cross-validated:estimator=tree,cv=3"], ["-m", "parcel"],
]  # fmt: skip
RANK = ["fisher", "information-gain", "mifs", "mrmr", "jmi", "cmim", "relieff", "rrelieff", "f-test", "chi2", "surf"]
COMPARE = [["-m", "fisher"], ["-m", "knn-forward"], ["-m", "fisher,mrmr"]]
GOOD = [
    [], [], [], ["--seed", "3"], ["--features", "1"], ["--features", "1-2"], ["--features", "0.5"],
    ["--nominal", "age"], ["--exclude", "size"], ["--task", "classification"], ["--memory", "64MiB"],
]  # fmt: skip
BAD = [
    ["--seed", "-1"], ["--features", "0"], ["--features", "many"], ["--features", "999"], ["--exclude", "nobody"],
    ["--task", "guess"], ["--encoding", "hex"], ["--encoding", "nope"], ["--nominal", "nobody"], ["-j", "0"],
    ["--memory", "lots"], ["--decimal", "x"], ["--schema", "nowhere.json"], ["--nonsense"], ["--folds", "999"],
    ["--folds", "1"], ["--folds", "-2"], ["--criterion", "knn:n_neighbors=-1"], ["--criterion", "nobody"],
    ["--criterion", "knn:3"], ["--search", "forward:min_gain=x"], ["--control", "nobody"], ["--budget", "soon"],
    ["--resume"], ["--out", "/proc/nowhere"], ["--report", "/proc/nowhere/page.html"], ["--include", "nobody"],
    ["--max-fpr", "7"], ["--scoring", "nonsense"], ["--methods", "nobody"], ["--estimators", "nobody"], ["--top", "0"],
]  # fmt: skip


@dataclass
class Case:
    """One call of the command line."""

    content: bytes
    suffix: str
    arguments: list[str]

    def to_json(self) -> str:
        return json.dumps({"content": self.content.hex(), "suffix": self.suffix, "arguments": self.arguments})


def draw_case(seed):
    """Draw a whole case; the seed alone decides."""
    rng = random.Random(seed)
    frame = _table(rng)
    form = rng.choice(["csv", "csv", "csv", "csv", "tsv", "gz", "parquet"])
    content = _written(frame, form)
    is_damaged, is_wrong = rng.random() < 0.2, rng.random() < 0.2
    if is_damaged:
        content = _damaged(rng, content)
    command = rng.choice(["select", "select", "select", "select", "rank", "rank", "compare", "inspect"])
    arguments = _options(rng, command)
    if is_wrong:
        arguments += rng.choice(BAD)
    target = rng.choice([*["y"] * 17, "-1", "nobody", "99"])
    suffix = {"gz": ".csv.gz", "parquet": ".parquet", "tsv": ".tsv"}.get(form, ".csv")
    return Case(content, suffix, [command, "TABLE", "--target", target, *arguments])


def _table(rng):
    n_rows = rng.choice([12, 20, 30, 30, 40, 60, 60, rng.choice([1, 3, 6])])
    names = rng.sample(NAMES, rng.randrange(2, 7))
    kind = rng.choice(["two", "two", "two", "two", "three", "words", "quantity", "quantity", "odd"])
    y = _target(rng, kind, n_rows)
    return pl.DataFrame({**{name: _column(rng, n_rows, y) for name in names}, "y": y}, strict=False)


def _target(rng, kind, n_rows):
    if kind == "two":
        return [i % 2 for i in range(n_rows)]
    if kind == "three":
        return [i % 3 for i in range(n_rows)]
    if kind == "words":
        return [("yes", "no")[i % 2] for i in range(n_rows)]
    if kind == "quantity":
        return [round(rng.gauss(0, 1), 4) for _ in range(n_rows)]
    rare = [("a", "b", "c")[min(i, 2)] for i in range(n_rows)]
    return rng.choice([[1] * n_rows, list(range(n_rows)), [None, *range(n_rows - 1)], rare])


def _column(rng, n_rows, y):
    kind = rng.choice(
        ["normal", "normal", "normal", "normal", "signal", "signal", "whole", "words", "holes", "same", "true"]
    )
    if rng.random() < 0.04:
        kind = "odd"
    if kind == "signal":
        base = [float(v) if isinstance(v, int | float) else float(v == "yes") for v in y]
        return [round(v + rng.gauss(0, 0.7), 4) for v in base]
    if kind == "whole":
        return [rng.randrange(6) for _ in range(n_rows)]
    if kind == "words":
        levels = rng.sample(WORDS, rng.randrange(2, 5))
        return [rng.choice(levels) for _ in range(n_rows)]
    if kind == "holes":
        return [None if rng.random() < 0.2 else round(rng.gauss(0, 1), 3) for _ in range(n_rows)]
    if kind == "same":
        return [7.5] * n_rows
    if kind == "true":
        return [rng.random() < 0.5 for _ in range(n_rows)]
    cells = [round(rng.gauss(0, 1), 4) for _ in range(n_rows)]
    if kind == "odd":
        cells[rng.randrange(n_rows)] = rng.choice(ODD_NUMBERS)
    return cells


def _options(rng, command):
    if command == "rank":
        more = rng.choice([[], [], ["--top", "2"], ["--seed", "5"], ["--exclude", "size"]])
        return ["-m", rng.choice(RANK), *more, *rng.choice([["--json"], ["--json"], []])]
    if command == "compare":
        judges = rng.choice(["tree", "knn:n_neighbors=1", "tree,linear"])
        return [*rng.choice(COMPARE), "-e", judges, "--folds", "2", "--json"]
    if command == "inspect":
        return rng.choice([[], ["--json"]])
    chosen = rng.choice(SELECT)
    folds = [] if "parcel" in chosen else ["--folds", rng.choice(["0", "0", "0", "2", "3"])]
    return [*chosen, *folds, *rng.choice(GOOD), *rng.choice([["--json"], ["--json"], ["--json"], []])]


def _written(frame, form):
    buffer = io.BytesIO()
    if form == "parquet":
        frame.write_parquet(buffer)
        return buffer.getvalue()
    frame.write_csv(buffer, separator="\t" if form == "tsv" else ",")
    return gzip.compress(buffer.getvalue(), mtime=0) if form == "gz" else buffer.getvalue()


def _damaged(rng, content):
    for _ in range(rng.randrange(1, 4)):
        at, how = rng.randrange(len(content) + 1), rng.randrange(6)
        if how == 0:
            content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
        elif how == 1:
            content = content[:at] + rng.choice(TOKENS) + content[at:]
        elif how == 2:
            content = content[:at]
        elif how == 3:
            content = content[:at] + content[at + rng.randrange(1, 40) :]
        elif how == 4:
            content = content.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b",\n"]))
        else:
            content = b"\n".join(content.split(b"\n")[::-1])
    return content
