"""Values for every option of the command line: which options there are is asked of the command line itself.

`test_every_option_has_values` fails where a command or an option is new and has none here, and where one is gone.

Words that stand for something: TABLE, the table; COLUMN and COLUMNS, names of its features; SCHEMA, how it is read;
OUT, PAGE, SAVE.csv, SAVE.parquet, LATER.json, places that are free; RUN, a finished run; COMPARISON, one of compare;
STRANGER, a folder with files of somebody else; DAMAGED, a run whose answer is cut off.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Option:
    """One option of one command, as the command line declares it."""

    command: str
    name: str
    words: tuple[str, ...]
    is_flag: bool


@dataclass(frozen=True)
class Values:
    """What may be given to an option, and what must be refused wherever the option is looked at."""

    good: list[str] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)


def options_of():
    """Ask the command line for its commands and their options."""
    import typer.main

    from fewer.cli import app

    found = {}
    group = typer.main.get_command(app)
    context = group.make_context("fewer", [], resilient_parsing=True)
    for command in group.list_commands(context):
        content = group.get_command(context, command)
        options = [parameter for parameter in content.params if parameter.opts[0].startswith("-")]
        found[command] = [
            Option(
                command,
                next(word for word in parameter.opts if word.startswith("--")),
                (*parameter.opts, *parameter.secondary_opts),
                parameter.is_flag,
            )
            for parameter in options
        ]
    return found


FLAG = Values()
NUMBERS = ["-1", "0", "1e9", "nan", "x", "", "999999999999999999999"]
ROWS = Values(["COLUMN", "-2"], ["nobody", "", "99", "y"])
SCORING = Values(["accuracy", "roc_auc", "balanced_accuracy", "f1_macro", "r2", "neg_log_loss"], ["nonsense", "", "_"])
SIZES = Values(["1", "2", "1-2", "0.5", "auto", "1-999"], ["0", "many", "999", "-1", "2-1", "1.5", "nan", "0.0", ""])
PAGE = Values(["PAGE"], ["/proc/nowhere/page.html", "STRANGER/notes.txt", "STRANGER", "TABLE", ""])
SAVE = Values(["SAVE.csv", "SAVE.parquet", "SAVE.tsv"], ["SAVE.xlsx", "TABLE", "/proc/x.csv", "STRANGER/t.csv", ""])
VALUES: dict[str, Values] = {
    "--target": Values(["y"] * 8 + ["-1"], ["nobody", "99", "-99", "", "COLUMN,COLUMN"]),
    "--method": Values([], ["nobody", "", "knn:3", "Fisher ", "x" * 300]),
    "--criterion": Values([], ["nobody", "knn:n_neighbors=-1", "knn:3", "knn:cv=x", "knn:nothing=1", ":", "knn:"]),
    "--search": Values(
        ["forward", "backward"], ["nobody", "forward:min_gain=x", "genetic:population=0", "exhaustive:a"]
    ),
    "--control": Values(
        ["one-standard-error", "early-stopping", "noise", "prefilter", "fdr", "probe"],
        ["nobody", "aggregate:n_runs=0", "prefilter:x", "noise:share=9"],
    ),
    "--ranker": Values(["fisher", "mrmr", "f-test"], ["nobody", "relieff:n_neighbors=0", "mrmr:x=1"]),
    "--prefer": Values(["fewest", "balanced", "accuracy"], ["most", ""]),
    "--estimator": Values(["tree", "linear", "knn:n_neighbors=1"], ["nobody", "knn:n_neighbors=0", "tree:x=1", ""]),
    "--scoring": SCORING,
    "--start": Values(["COLUMN", "COLUMNS"], ["nobody", "y"]),
    "--features": SIZES,
    "--min-features": Values(["0", "1", "2"], ["-1", "x", "", "999"]),
    "rank --features": Values(["1", "2", "5"], [*NUMBERS]),
    "--planted": Values(["0", "1", "5"], ["-1", "x", "", "99999"]),
    "rank --planted": Values(["1", "5"], [*NUMBERS]),
    "--feature-weights": Values(["1", "4"], [*NUMBERS]),
    "--include": Values(["COLUMN"], ["nobody", "y"]),
    "--groups": ROWS,
    "--weights": ROWS,
    "--time": ROWS,
    "--exclude": Values(["COLUMN", "size"], ["nobody", "y"]),
    "--nominal": Values(["COLUMN", "COLUMNS", "age"], ["nobody"]),
    "--numeric": Values(["COLUMN", "COLUMNS"], ["nobody"]),
    "--missing": Values(["NA", "NA,?", "7.5,null"], []),
    "--schema": Values(["SCHEMA"], ["nowhere.json", "TABLE", "STRANGER", "RUN"]),
    "--skip-rows-without-target": FLAG,
    "--task": Values(["classification", "regression"], ["guess", ""]),
    "--encoding": Values(["utf-8", "latin-1", "cp1252", "UTF8"], ["hex", "nope", "", "idna", "utf-16-x"]),
    "--decimal": Values([".", ","], ["x", "", ".."]),
    "--calendar": FLAG,
    "--rare": Values(["refuse", "drop", "merge"], ["keep", ""]),
    "--folds": Values(["0", "2", "3"], ["999", "1", "-2", "x", ""]),
    "--budget": Values(["1s", "0.5s", "30 subsets"], ["soon", "0s", "-1s", "", "nan", "1e400s"]),
    "--seed": Values(["3", "0", "4294967295"], ["-1", "4294967296", "x", "0.5"]),
    "--jobs": Values(["1"], ["0", "x", "1.5"]),
    "--memory": Values(["64MiB", "1GiB", "0.5GiB"], ["lots", "0", "-1GiB", "", "nanGiB"]),
    "--device": Values(["cpu", "auto"], ["abacus", "cuda:x", ""]),
    "--stream": FLAG,
    "--cluster": Values([], ["nonsense", "", "http://x"]),
    "--max-fpr": Values(["0.1", "0.5"], ["7", "-1", "nan", "x"]),
    "--guarantee": Values(["0.9"], ["1", "0", "x", "-1"]),
    "--cost-fp": Values(["1"], ["-1", "x", "nan"]),
    "--cost-fn": Values(["5"], ["-1", "x", "inf"]),
    "--prevalence": Values(["0.3"], ["-1", "2", "x"]),
    "--learner": Values(["naive-bayes"], ["nobody", "logistic:C=-1"]),
    "--positive": Values(["1", "yes"], ["nobody", ""]),
    "--out": Values(["OUT"], ["/proc/nowhere", "STRANGER", "TABLE", "RUN", ""]),
    "report --out": Values(["PAGE"], ["/proc/nowhere/page.html", "STRANGER/notes.txt", "STRANGER", ""]),
    "reproduce --out": Values(["OUT"], ["/proc/nowhere", "TABLE"]),
    "--resume": FLAG,
    "--force": FLAG,
    "--report": PAGE,
    "--save": SAVE,
    "datasets --save": Values(["SAVE.csv"], ["TABLE", "STRANGER/notes.txt", "/proc/x.csv", "STRANGER", ""]),
    "--json": FLAG,
    "--top": Values(["1", "2", "50"], [*NUMBERS]),
    "--methods": Values(["fisher", "fisher,mrmr"], ["nobody", "", ",", "fisher,nobody", "os:system", "no.such:Thing"]),
    "--estimators": Values(["tree"], ["nobody", "", "tree,nobody", "knn:n_neighbors=1000"]),
    "--repeats": Values(["1", "2"], ["0", "-1", "x"]),
    "--write-schema": Values(["LATER.json"], ["TABLE", "/proc/x.json", "STRANGER/notes.txt", "STRANGER", ""]),
    "--keep": Values(["COLUMN", "y", "COLUMNS"], ["nobody"]),
    "--folder": Values(["OUT"], ["TABLE", "/proc/nowhere"]),
    "--host": Values(["127.0.0.1", "localhost"], ["0.0.0.0", "999.1.1.1", "", "x y"]),
    "--port": Values(["0"], ["-1", "65536", "x", ""]),
    "--token": Values(["0123456789abcdef0"], ["short", "", "日本日本日本日本日本日本"]),
    "--max-upload": Values(["1", "64"], ["0", "-1", "x"]),
    "--max-jobs": Values(["1"], ["0", "x"]),
    "--browser": FLAG,
    "--table": Values([], ["nobody", ""]),
    "--quick": FLAG,
    "--fetch": FLAG,
    "--sheet": Values([], ["1", "nobody", "", "-1"]),  # a workbook's; the tables here are text
    "--header": Values(["1"], ["0", "-1", "x", "", "999"]),
    "--against": Values(["TABLE"], ["nowhere.csv", "STRANGER", ""]),
    "--overfitting": FLAG,
    "--noise": FLAG,
    "--agreement": FLAG,
    "--practice": FLAG,
    "--tolerance": Values(["0", "0.05", "1"], ["-1", "nan", "x", ""]),
    "--max-features": Values(["1", "2"], ["0", "-1", "x", "999"]),
    "--max-subsets": Values(["100", "5000"], ["0", "-1", "x", ""]),
    "--cost-weight": Values(["0", "0.1"], ["-1", "x", "nan"]),
    "--alternatives": Values(["0", "100"], ["-1", "x", ""]),
    "--costs": Values([], ["nowhere.csv", "STRANGER", ""]),
    "--test-size": Values(["0.25"], ["1", "-1", "x", "nan"]),
}
NOT_DRAWN = {
    "reproduce --fetch": "it goes out to OpenML",
    "reproduce --quick": "minutes a run; `fewer reproduce` has its own tests",
    "select --cluster": "a scheduler that is not there is waited for",
    "rank --cluster": "a scheduler that is not there is waited for",
    "compare --cluster": "a scheduler that is not there is waited for",
}


def values_of(option):
    """Return the values of an option: those for its command, or those for all."""
    return VALUES.get(f"{option.command} {option.name}") or VALUES[option.name]


def drawn_options(command):
    """Return the options of a command that are drawn."""
    return [option for option in OPTIONS[command] if f"{command} {option.name}" not in NOT_DRAWN]


OPTIONS = options_of()
