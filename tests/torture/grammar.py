"""Cases drawn from a grammar: a table, perhaps damaged, a command and its options."""

from __future__ import annotations

import gzip
import io
import json
import random
from dataclasses import dataclass

import polars as pl

from torture.options import VALUES, drawn_options, values_of

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
    ["--criterion", "cross-validated:estimator=tree,cv=3"], ["-m", "auto"], ["--ranker", "fisher"],
    ["-m", "knn-forward", "--stream"], ["-m", "fisher", "--stream"], ["-m", "knn-forward", "--estimator", "tree"],
]  # fmt: skip
DETECTOR = ("--max-fpr", "--guarantee", "--cost-fp", "--cost-fn", "--prevalence", "--learner", "--positive")
RANK = ["fisher", "information-gain", "mifs", "mrmr", "jmi", "cmim", "relieff", "rrelieff", "f-test", "chi2", "surf"]
COMPARE = [["-m", "fisher"], ["-m", "knn-forward"], ["-m", "fisher,mrmr"]]
COMMANDS = {
    "select": 50, "rank": 18, "compare": 10, "inspect": 8, "transform": 9, "report": 5, "datasets": 3, "help": 3,
    "serve": 3, "alternatives": 2, "reproduce": 1, "demo": 0.1,
}  # fmt: skip
OFTEN_REFUSED = {  # beside most other options, or of most tables
    "--control", "--search", "--ranker", "--prefer", "--estimator", "--stream", "--decimal", "--time", "--weights",
    "--groups", "--scoring", "--resume", "--budget", "--task", "--target", "--method", "--methods", "--folds",
}  # fmt: skip
DATASETS = ["sonar", "glass", "nobody", "", "iris"]
TOPICS = ["tables", "", "nobody", "x" * 200, "../../etc/passwd", "\x1b[2J", "methods"]
DOCUMENTS = ["nobody", "", "all ", "../nel"]


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
    is_damaged, is_wrong = rng.random() < 0.12, rng.random() < 0.16
    if is_damaged:
        content = _damaged(rng, content)
    command = rng.choices(list(COMMANDS), list(COMMANDS.values()))[0]
    arguments = draw_words(rng, command, is_wrong)
    columns = [name for name in frame.columns if name != "y"]
    arguments = [_with_columns(rng, word, columns) for word in arguments]
    suffix = {"gz": ".csv.gz", "parquet": ".parquet", "tsv": ".tsv"}.get(form, ".csv")
    return Case(content, suffix, arguments)


def draw_words(rng, command, is_wrong):
    """Draw what is typed."""
    return [command, *_base(rng, command), *_more(rng, command, is_wrong)]


def _base(rng, command):
    """Draw what a command needs."""
    if command == "select":
        return ["TABLE", "--target", "y", *_question(rng)]
    if command == "rank":
        return ["TABLE", "--target", "y", "-m", rng.choice(RANK)]
    if command == "compare":
        judges = rng.choice(["tree", "knn:n_neighbors=1", "tree,linear"])
        return ["TABLE", "--target", "y", *rng.choice(COMPARE), "-e", judges, "--folds", "2"]
    if command == "inspect":
        return ["TABLE", *rng.choice([[], ["--target", "y"]])]
    if command == "transform":
        return [rng.choice(["RUN", "RUN", "RUN", "ANSWER", "DAMAGED", "STRANGER", "TABLE", "COMPARISON"]),
                rng.choice(["RUNTABLE", "RUNTABLE", "TABLE"])]  # fmt: skip
    if command in ("report", "alternatives"):
        return [rng.choice(["RUN", "COMPARISON", "DAMAGED", "STRANGER", "TABLE"])]
    if command == "serve":
        return [rng.choice(["TABLE", "TABLE", "nowhere.csv", "STRANGER"]), "--port", "0"]
    words = {"datasets": DATASETS, "help": TOPICS, "reproduce": DOCUMENTS}.get(command, [])
    return [rng.choice(words)] if words and (command == "reproduce" or rng.random() < 0.7) else []


def _question(rng):
    if rng.random() < 0.05:
        asked = [word for name in DETECTOR if rng.random() < 0.2 for word in (name, rng.choice(VALUES[name].good))]
        return ["-m", "parcel", *asked]
    chosen = rng.choice(SELECT)
    slow = "auto" in chosen or "--estimator" in chosen
    return [*chosen, "--folds", rng.choice(["0", "0", "2"] if slow else ["0", "0", "0", "2", "3"])]


def _more(rng, command, is_wrong):
    """Draw further options, as the command line declares them: good ones now and then, a bad one if one is due."""
    more = []
    options = drawn_options(command)
    parcel_only = DETECTOR if command == "select" else ()
    for option in options:
        share = 0.8 if option.name == "--json" else 0.012 if option.name in OFTEN_REFUSED else 0.04
        if option.name in parcel_only or rng.random() >= share:
            continue
        if option.is_flag:
            more.append(rng.choice([word for word in option.words if word.startswith("--")]))
        elif values_of(option).good:
            more += [option.name, rng.choice(values_of(option).good)]
    bad = [option for option in options if not option.is_flag and values_of(option).bad]
    if is_wrong and bad:
        option = rng.choice(bad)
        more += [rng.choice(option.words), rng.choice(values_of(option).bad)]
    elif is_wrong:
        more += ["--nonsense"]
    return more


def _with_columns(rng, word, columns):
    if word == "COLUMNS":
        return ",".join(rng.sample(columns, 2))
    return word.replace("COLUMN", rng.choice(columns)) if word.startswith("COLUMN") else word


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
