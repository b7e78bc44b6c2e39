"""Every option of every command is given once, and what it changes is asserted.

The options are asked of the command line itself: a new one without a row here fails `test_every_option_has_a_row`.
A row has the words of a call, the words that are added, and a check of both answers.
"""

import contextlib
import functools
import io
import json
import os
import shlex
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import fewer
import fewer.serve
import fewer_papers
from fewer.cli import main
from fewer.io import to_problem
from fewer_papers import Document, judge
from making import xlsx
from torture.options import OPTIONS

pytestmark = pytest.mark.filterwarnings("ignore")
EVERY = [f"{option.command} {option.name}" for options in OPTIONS.values() for option in options]
REPEATS = ("seconds", "seed", "command", "code", "versions", "source", "fingerprint")
"""Fields that differ from call to call, or only repeat what was typed: no effect of an option."""


def table(n=40):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return pl.DataFrame({
        "a": rng.normal(size=n) + 1.2 * y, "b": rng.normal(size=n) + 0.8 * y, "c": rng.integers(0, 4, n),
        "when": [f"2024-{1 + i * 7 % 12:02}-11" for i in range(n)], "code": [f"00{i % 3}" for i in range(n)],
        "g": np.arange(n) // 4, "w": 1 + np.arange(n) % 5, "y": y,
    })  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with one table in many forms, a schema, prices and two finished runs."""
    folder = tmp_path_factory.mktemp("options")
    frame = table()
    row = pl.arange(0, 40)
    frame.write_csv(folder / "t.csv")
    frame.with_columns(pl.col("a") + 3).write_csv(folder / "moved.csv")
    frame.with_columns(y=pl.when(row < 3).then(None).otherwise("y")).write_csv(folder / "holes.csv")
    frame.with_columns(y=pl.when(row < 1).then(7).otherwise("y")).write_csv(folder / "rare.csv")
    frame.with_columns(c=pl.when(pl.col("c") == 3).then(pl.lit("x")).otherwise("c")).write_csv(folder / "gaps.csv")
    text = frame.write_csv()
    (folder / "host.csv").write_bytes(text.encode("cp037"))
    (folder / "title.csv").write_text("A title,of,this,table,over,all,its,columns\n" + text)
    (folder / "comma.csv").write_text(frame.select("a", "b", "c", "y").write_csv(separator=";").replace(".", ","))
    sheets = {"one": frame, "two": frame.select("b", "c", "y")}
    book = {name: [sheet.columns, *map(list, sheet.iter_rows())] for name, sheet in sheets.items()}
    (folder / "book.xlsx").write_bytes(xlsx(book))
    (folder / "costs.csv").write_text("feature,price\na,9\nb,1\nc,1\n")
    call(folder, "inspect t.csv -t y --nominal c --write-schema schema.json")
    for words in (KNN + " --out run", COMPARE + " --out both", SELECT + " --out old", COMPARE + " --out older"):
        code, _, err = call(folder, words)
        assert code == 0, err
    (folder / "old.csv").write_text("a\n1\n")
    return folder


def call(folder, words):
    """Run a command in a folder: its exit code, its answer without what only repeats, and what it said beside it."""
    before, out, err = os.getcwd(), io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as leaving:
            main(shlex.split(words))
    finally:
        os.chdir(before)
    out.flush()
    text = out.buffer.getvalue().decode()
    answer = json.loads(text) if text[:1] in ("{", "[") else text
    if isinstance(answer, dict):
        answer = {name: value for name, value in answer.items() if name not in REPEATS}
        for row in answer.get("methods", ()):
            row.pop("seconds", None)
    return leaving.value.code or 0, answer, err.getvalue()


# ------------------------------------------------------------------- checks: each takes the answers without and with


def other(before, after, folder):
    assert (before[0], after[0]) == (0, 0), after[2]
    assert before[1] != after[1]


def same(before, after, folder):
    assert (before[0], after[0]) == (0, 0), after[2]
    assert before[1] == after[1]


def mends(before, after, folder):
    assert (before[0], after[0]) == (2, 0), (before[2], after[2])


def refuses(words):
    def check(before, after, folder):
        assert (before[0], after[0]) == (0, 2), after[2]
        assert words in after[2]

    return check


def makes(name, begins=b""):
    def check(before, after, folder):
        assert after[0] == 0, after[2]
        assert (folder / name).read_bytes().lstrip().startswith(begins)

    return check


def says(**fields):
    def check(before, after, folder):
        assert after[0] == 0, after[2]
        assert {name: after[1][name] for name in fields} == fields
        assert {name: before[1].get(name) for name in fields} != fields

    return check


def holds(condition):
    """The condition holds of the answer with the option, and not of the one without."""

    def check(before, after, folder):
        assert (before[0], after[0]) == (0, 0), after[2]
        assert condition(after[1])
        assert not condition(before[1])

    return check


def of_features(condition):
    """The same for the names of the columns that may be chosen, where the answer has them: compare has a number."""

    def names(answer):
        if "ranking" in answer:
            return [row["feature"] for row in answer["ranking"]]
        columns = answer["columns"] if "columns" in answer else answer.get("data", answer).get("columns", ())
        return [column["name"] for column in columns if column.get("role", "feature") == "feature"]

    def check(before, after, folder):
        other(before, after, folder)
        if "methods" in after[1]:
            assert before[1]["n_features"] != after[1]["n_features"]
        else:
            assert condition(names(after[1]))
            assert not condition(names(before[1]))

    return check


def without_a_device(before, after, folder):
    """The same answer from a device, or a line that says that there is none."""
    if after[0]:
        assert "cuda" in after[2].lower() or "gpu" in after[2].lower()
        assert after[2].count("\n") == 1
    else:
        same(before, after, folder)


def streams(before, after, folder):
    """The answer is the same, and so is what is said of columns, from the first rows."""
    assert [row["feature"] for row in before[1]["ranking"]] == [row["feature"] for row in after[1]["ranking"]]
    one, other = ([row["score"] for row in got[1]["ranking"]] for got in (before, after))
    assert one == pytest.approx(other, rel=1e-9)
    assert "Possible leak" in str(before[1]["warnings"])
    assert "Possible leak" in str(after[1]["warnings"])


def fetches(before, after, folder):
    assert "sonar: at hand" in after[2]
    assert "sonar: at hand" not in before[2]


def is_json(before, after, folder):
    assert isinstance(before[1], str)
    assert isinstance(after[1], dict | list)


# -------------------------------------------------------------------------------------------------------- the rows

FEW = " --exclude when,code,g,w"
SELECT = "select t.csv -t y -m f-test --folds 0 --json"
KNN = "select t.csv -t y --criterion knn --folds 0 --json" + FEW
PARCEL = "select t.csv -t y -m parcel --json" + FEW
RANK = "rank t.csv -t y --json"
COMPARE = "compare t.csv -t y -m f-test -e tree --folds 2 --json" + FEW
INSPECT = "inspect t.csv -t y --json"
ALTERNATIVES = "alternatives run --json"
TRANSFORM = "transform run t.csv"
READING = {
    "--exclude": ("", "--exclude=a", of_features(lambda names: "a" not in names)),
    "--nominal": ("", "--nominal=c", other),
    "--numeric": ("", "--numeric=code", other),
    "--missing": ("gaps.csv", "--missing=x", other),
    "--schema": ("", "--schema=schema.json", other),
    "--skip-rows-without-target": ("holes.csv", "--skip-rows-without-target", mends),
    "--task": ("", "--task=regression", other),
    "--encoding": ("host.csv", "--encoding=cp037", mends),
    "--sheet": ("book.xlsx", "--sheet=two", of_features(lambda names: sorted(names) == ["b", "c"])),
    "--header": ("title.csv", "--header=2", mends),
    "--decimal": ("comma.csv", "--decimal=.", of_features(lambda names: names == ["c"])),
    "--calendar": ("", "--calendar", of_features(lambda names: len(names) > 7)),
}
"""For select, rank, compare and inspect: the table if it is not t.csv, what is added, the check."""
READERS = {"select": SELECT, "rank": RANK, "compare": COMPARE.replace(FEW, ""), "inspect": INSPECT}
ROWS = {
    "select --target": (SELECT, "--target=c", of_features(lambda names: "y" in names)),
    "select --method": (SELECT, "-m fisher", says(method="fisher")),
    "select --criterion": (KNN, "--criterion least-squares", says(criterion="LeastSquares()")),
    "select --search": (KNN, "--search backward", says(search="Backward()")),
    "select --control": (KNN, "--control prefilter:keep=1", holds(lambda answer: len(answer["features"]) == 1)),
    "select --ranker": (SELECT.replace("-m", "--ranker"), "--ranker mrmr", says(criterion="MRMR()")),
    "select --prefer": ("select t.csv -t y --folds 0 --json" + FEW, "--prefer fewest", says(prefer="fewest")),
    "select --estimator": (SELECT + " --folds 2", "--estimator tree", other),
    "select --scoring": (SELECT + " --folds 2", "--scoring roc_auc", says(score_name="roc_auc")),
    "select --start": (KNN + " --search annealing:effort=0.01", "--start c", other),
    "select --features": (SELECT, "--features 2", holds(lambda answer: len(answer["features"]) == 2)),
    "select --min-features": (KNN, "--min-features 3", holds(lambda answer: len(answer["features"]) >= 3)),
    "select --include": (SELECT, "--include g", holds(lambda answer: "g" in answer["features"])),
    "select --costs": (KNN, "--costs costs.csv", holds(lambda answer: answer["costs"] != {})),
    "select --cost-weight": (KNN + " --costs costs.csv", "--cost-weight 9", other),
    "select --alternatives": (KNN + " --out w1 --force", "--alternatives 20", other),
    "select --planted": (KNN, "--planted 5", holds(lambda answer: "planted" in answer["evidence"])),
    "select --rare": ("select rare.csv -t y -m f-test --folds 3 --json", "--rare drop", mends),
    "select --folds": (SELECT, "--folds 3", holds(lambda answer: answer["score_heldout"] is not None)),
    "select --budget": (KNN + " --search annealing", "--budget '20 subsets'", other),
    "select --seed": (SELECT + " --folds 2", "--seed 7", other),
    "select --jobs": (SELECT, "--jobs 2", same),
    "select --memory": (KNN, "--memory 64MiB", same),
    "select --device": (KNN, "--device cuda", without_a_device),
    "select --groups": (SELECT + " --folds 2", "--groups g", other),
    "select --weights": (SELECT, "--weights w", of_features(lambda names: "w" not in names)),
    "select --time": (SELECT + " --folds 2", "--time g", of_features(lambda names: "g" not in names)),
    "select --stream": (SELECT, "--stream", other),
    "select --cluster": (SELECT, "--cluster tcp://127.0.0.1:1", refuses("tcp://127.0.0.1:1")),
    "select --max-fpr": (PARCEL, "--max-fpr 0.1", other),
    "select --guarantee": (PARCEL + " --max-fpr 0.5", "--guarantee 0.8", other),
    "select --cost-fp": (PARCEL, "--cost-fp 5", other),
    "select --cost-fn": (PARCEL, "--cost-fn 5", other),
    "select --prevalence": (PARCEL + " --cost-fp 5", "--prevalence 0.3", other),
    "select --learner": (PARCEL, "--learner linear", other),
    "select --positive": (PARCEL, "--positive 0", other),
    "select --out": (SELECT, "--out kept", makes("kept/result.json", b"{")),
    "select --resume": (SELECT + " --out old", "--resume", mends),
    "select --force": (SELECT + " --out old", "--force", mends),
    "select --report": (SELECT, "--report page.html", makes("page.html", b"<!DOCTYPE html>")),
    "select --save": (SELECT, "--save small.csv", makes("small.csv", b"a,y")),
    "select --json": (SELECT.replace(" --json", ""), "--json", is_json),
    "rank --target": (RANK, "--target=c", of_features(lambda names: "y" in names)),
    "rank --method": (RANK, "-m mrmr", says(method="mrmr")),
    "rank --top": (RANK, "--top 2", holds(lambda answer: len(answer["ranking"]) == 2)),
    "rank --features": (RANK + " -m mrmr", "-f 3", holds(lambda answer: len(answer["ranking"]) == 3)),
    "rank --planted": (RANK, "--planted 3", other),
    "rank --feature-weights": (RANK, "--feature-weights 2", holds(lambda answer: "weight" in answer["ranking"][0])),
    "rank --agreement": (RANK, "--agreement", other),
    "rank --seed": (RANK + " -m importance", "--seed 7", other),
    "rank --jobs": (RANK, "--jobs 2", same),
    "rank --memory": (RANK, "--memory 64MiB", same),
    "rank --device": (RANK + " -m relieff", "--device cuda", without_a_device),
    "rank --stream": (RANK, "--stream", streams),
    "rank --cluster": (RANK, "--cluster tcp://127.0.0.1:1", refuses("tcp://127.0.0.1:1")),
    "rank --json": ("rank t.csv -t y", "--json", is_json),
    "compare --target": (COMPARE, "--target=c", other),
    "compare --methods": (COMPARE, "-m fisher", holds(lambda answer: answer["methods"][0]["name"] == "fisher")),
    "compare --practice": (COMPARE.replace("-m f-test ", ""), "--practice", other),
    "compare --estimators": (COMPARE, "-e linear", holds(lambda got: got["methods"][0]["estimator"] == "linear")),
    "compare --features": (COMPARE, "-f 3", holds(lambda answer: answer["methods"][0]["n_features"] == 3)),
    "compare --scoring": (COMPARE, "--scoring roc_auc", says(scoring="roc_auc")),
    "compare --rare": ("compare rare.csv -t y -m f-test -e tree --folds 3 --json", "--rare drop", mends),
    "compare --folds": (COMPARE, "--folds 3", says(n_splits=3)),
    "compare --repeats": (COMPARE, "--repeats 2", says(n_splits=4)),
    "compare --seed": (COMPARE, "--seed 7", other),
    "compare --jobs": (COMPARE, "--jobs 2", same),
    "compare --stream": (COMPARE.replace("t.csv", "[t].csv") + " --missing=x", "--no-stream", mends),
    "compare --cluster": (COMPARE, "--cluster tcp://127.0.0.1:1", refuses("tcp://127.0.0.1:1")),
    "compare --groups": (COMPARE.replace(",g", ""), "--groups g", of_features(None)),
    "compare --weights": (COMPARE.replace(",w", ""), "--weights w", of_features(None)),
    "compare --time": (COMPARE.replace(",g", ""), "--time g", of_features(None)),
    "compare --out": (COMPARE, "--out kept2", makes("kept2/cells.jsonl")),
    "compare --resume": (COMPARE + " --out older", "--resume", mends),
    "compare --force": (COMPARE + " --out older", "--force", mends),
    "compare --report": (COMPARE, "--report page2.html", makes("page2.html", b"<!DOCTYPE html>")),
    "compare --json": (COMPARE.replace(" --json", ""), "--json", is_json),
    "inspect --target": ("inspect t.csv --json", "--target=y", of_features(lambda names: "y" not in names)),
    "inspect --task": (INSPECT + FEW + " --noise", "--task=regression", other),
    "inspect --write-schema": (INSPECT, "--write-schema s.json", makes("s.json", b"{")),
    "inspect --against": (INSPECT, "--against moved.csv", other),
    "inspect --overfitting": (INSPECT + FEW, "--overfitting", other),
    "inspect --noise": (INSPECT + FEW, "--noise", other),
    "inspect --json": ("inspect t.csv", "--json", is_json),
    "alternatives --tolerance": (ALTERNATIVES, "--tolerance 0", holds(lambda answer: answer["n_good"] == 1)),
    "alternatives --criterion": (ALTERNATIVES, "--criterion least-squares", other),
    "alternatives --max-features": (ALTERNATIVES, "--max-features 1", says(max_features=1)),
    "alternatives --max-subsets": (ALTERNATIVES, "--max-subsets 3", says(complete=False)),
    "alternatives --costs": (ALTERNATIVES, "--costs costs.csv", holds(lambda answer: answer["cheapest"] is not None)),
    "alternatives --test-size": (ALTERNATIVES, "--test-size 0.3", holds(lambda answer: answer["heldout"])),
    "alternatives --jobs": (ALTERNATIVES, "--jobs 2", same),
    "alternatives --device": (ALTERNATIVES, "--device cuda", without_a_device),
    "alternatives --report": (ALTERNATIVES, "--report page3.html", makes("page3.html", b"<!DOCTYPE html>")),
    "alternatives --json": ("alternatives run", "--json", is_json),
    "transform --save": (TRANSFORM, "--save less.csv", makes("less.csv", b"a,b")),
    "transform --keep": (TRANSFORM, "--keep y", holds(lambda text: "y" in text.splitlines()[0])),
    "transform --encoding": ("transform run host.csv", "--encoding cp037", mends),
    "transform --sheet": ("transform run book.xlsx", "--sheet two", refuses("'a'")),
    "transform --header": ("transform run title.csv", "--header 2", mends),
    "transform --force": (TRANSFORM + " --save old.csv", "--force", mends),
    "report --out": ("report run", "--out page4.html", makes("page4.html", b"<!DOCTYPE html>")),
    "datasets --save": ("datasets sonar", "--save sonar.csv", makes("sonar.csv", b"V1,V2")),
    "datasets --json": ("datasets sonar", "--json", is_json),
    "demo --seed": ("demo --json", "--seed 7", other),
    "demo --report": ("demo --json", "--report page5.html", makes("page5.html", b"<!DOCTYPE html>")),
    "demo --json": ("demo", "--json", is_json),
    "demo --out": ("demo --json", "--out d1", makes("d1/result.json", b"{")),
    "demo --resume": ("demo --json --out d2", "--resume", same),  # it would be refused without
    "demo --force": ("demo --json --out old", "--force", mends),
    "reproduce --table": ("reproduce mine --json", "--table 1", holds(lambda answer: len(answer["cells"]) == 1)),
    "reproduce --quick": ("reproduce mine --json", "--quick", says(quick=True)),
    "reproduce --seed": ("reproduce mine --json", "--seed 7", holds(lambda got: got["cells"][0]["ours"] == 7)),
    "reproduce --jobs": ("reproduce mine --json", "--jobs 3", holds(lambda got: got["cells"][1]["ours"] == 3)),
    "reproduce --out": ("reproduce mine --json", "--out cells", makes("cells/cells.csv", b"document")),
    "reproduce --report": ("reproduce mine --json", "--report page6.html", makes("page6.html", b"<!DOCTYPE html>")),
    "reproduce --fetch": (
        "reproduce mine --json",
        "--fetch",
        lambda before, after, folder: "sonar: at hand" in after[2],
    ),
    "reproduce --json": ("reproduce mine", "--json", is_json),
    **{
        f"{command} {option}": (base.replace("t.csv", file or "t.csv"), words, check)
        for command, base in READERS.items()
        for option, (file, words, check) in READING.items()
        if (command, option) not in {("inspect", "--calendar"), ("inspect", "--task")}
    },
}
SERVED = {
    "--folder": ("runs", lambda got: got["folder"].name == "runs"),
    "--host": ("localhost", lambda got: got["host"] == "localhost"),
    "--port": ("8799", lambda got: got["port"] == 8799),
    "--token": ("0123456789abcdef0", lambda got: got["token"] == "0123456789abcdef0"),
    "--max-upload": ("3", lambda got: got["max_upload"] == 3 << 20),
    "--max-jobs": ("5", lambda got: got["max_jobs"] == 5),
    "--no-browser": ("", lambda got: not got["open_browser"]),
}
"""What the server is started with; tests/serve has what each of these does."""


def test_every_option_has_a_row():
    served = {f"serve {name.replace('--no-', '--')}" for name in SERVED}
    assert sorted(ROWS.keys() | served) == sorted(EVERY)


@pytest.fixture
def small(monkeypatch):
    """A small table for the demo, a small document, and no patience with clusters that are not there."""
    frame = table()
    problem = to_problem(frame.select("a", "b", "c").to_numpy(), frame["y"].to_numpy())
    document = Document(
        "mine", "A. Author, A title, 2020", {
            "1": lambda run: [judge("1", "seed", "x", 0, run.seed)],
            "2": lambda run: [judge("2", "jobs", "x", 2, run.n_jobs)],
        }, data=("sonar",),
    )  # fmt: skip
    load = fewer.datasets.load
    monkeypatch.setattr(
        fewer.datasets, "load", lambda name: SimpleNamespace(problem=problem) if name == "cotton" else load(name)
    )
    monkeypatch.setattr(fewer_papers, "document", lambda name: document)
    monkeypatch.setattr(fewer.parallel, "connect", functools.partial(fewer.parallel.connect, timeout=0.2))


@functools.cache
def base(folder, words):
    return call(folder, words)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_an_option_does_what_it_says(name, place, small):
    words, more, check = ROWS[name]
    check(base(place, words), call(place, f"{words} {more}"), place)


@pytest.mark.parametrize("name", SERVED)
def test_an_option_of_serve_reaches_the_server(name, place, monkeypatch):
    started = []
    monkeypatch.setattr(
        fewer.serve, "serve", lambda folder, file, **options: started.append({"folder": folder, **options})
    )
    value, check = SERVED[name]
    assert call(place, "serve")[0] == 0
    assert call(place, f"serve {name} {value}")[0] == 0
    assert [check(got) for got in started] == [False, True]
