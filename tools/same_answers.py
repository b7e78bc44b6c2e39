"""Are selections that were saved before the code was put in order still the same, bit for bit?

`python tools/same_answers.py` repeats every named method of that time on two tables and compares the features, scores,
evaluations and frequencies with `same_answers.json`; `--page FILE` writes what differs, and why. What is done is kept
in build/same_answers.json, so a run that was stopped goes on.
"""

import argparse
import json
import warnings
from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_diabetes

import fewer

ROOT = Path(__file__).resolve().parents[1]
SAVED = ROOT / "tools" / "same_answers.json"
DONE = ROOT / "build" / "same_answers.json"
RENAMED = {"saes": "saes-vote", "gaes": "gaes-vote", "mifs": "mifs-bins"}
"""Methods whose name now stands for what the document describes; ours of that time have another."""
JUDGE = (
    "A bug: in a fold a second scorer was bound, whose number of neighbors other inner folds chose than those of the "
    "search. Now the one that searched also judges; the answer and its score in the search are the same."
)
STOP = (
    "The same bug inside early stopping: a second scorer judged the rows left out of each validation run, so that the "
    "run stopped elsewhere."
)
WITHOUT = "A bug: scores without each feature came from folds drawn anew; now from the folds of the search itself."
SUMS = "Sums in another order: at most 3e-16."
REWORDED = "The same refusal in plainer words."
REASONS = {
    **{f"diabetes/knn-{name}": JUDGE for name in "forward backward floating exhaustive annealing aggregate".split()},
    **{f"diabetes/{name}": JUDGE for name in ("sa", "ga")},
    **{f"diabetes/{name}": STOP for name in ("saes", "gaes")},
    **{f"wdbc/{name}": WITHOUT for name in ("saes", "gaes")},
    **{f"diabetes/{name}": REWORDED for name in ("fisher", "information-gain", "relieff", "gmlvq")},
    **{f"wdbc/{name}": SUMS for name in ("knn-backward", "knn-floating", "classifiability", "fisher", "jmi")},
    **{f"diabetes/{name}": SUMS for name in "linear-forward linear-floating classifiability mifs mrmr".split()},
    **{f"diabetes/{name}": SUMS for name in ("jmi", "cmim", "rrelieff")},
    "wdbc/rrelieff": REWORDED,
    "diabetes/naive-bayes-forward": "The same refusal; its class is named IncompatibleError.",
    "wdbc/information-gain": "A bug: information gain is by MDLP's cuts, as in the document, no longer by equal bins.",
    "wdbc/auto": "Designed anew: rankings and models compete on held-out rows.",
    "diabetes/auto": "Designed anew: rankings and models compete on held-out rows.",
}


def tables() -> dict[str, tuple]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    D, t = load_diabetes(return_X_y=True, as_frame=True)
    return {"wdbc": (X.iloc[:240, :10], y.iloc[:240]), "diabetes": (D.iloc[:200], t.iloc[:200])}


def answer(X, y, method: str, fields: list[str]) -> dict | str:
    forest = method == "forest-forward"  # two features and no folds: it takes long enough
    options = {"cv": 0, "n_features_to_select": 2} if forest else {"cv": 3}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = fewer.select(X, y, RENAMED.get(method, method), random_state=3, **options).to_dict()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return {field: told[field] for field in fields}


def differing(before: dict | str, now: dict | str) -> list[str]:
    if isinstance(before, str) or isinstance(now, str):
        return [] if before == now else ["message"]
    return [field for field in before if before[field] != now[field]]


def grouped(differ: dict[str, list[str]]) -> dict[str, tuple[list[str], list[str]]]:
    """Put answers that differ for one reason together: {reason: their names, what differs in any of them}."""
    groups: dict[str, tuple[list[str], list[str]]] = {}
    for key, fields in differ.items():
        keys, known = groups.setdefault(REASONS.get(key, "unexplained"), ([], []))
        keys.append(key)
        known.extend(field for field in fields if field not in known)
    return groups


def page(found: dict[str, list[str]]) -> str:
    differ = {key: fields for key, fields in found.items() if fields}
    lines = [
        "# Are the answers the same?",
        "",
        "Before the code was put in order, the answers of every method of that time were saved: 26 methods on two "
        "tables (240 rows of the breast-cancer data, 200 of the diabetes data). They are repeated and compared to the "
        "last bit: features, score of the search, held-out scores, scores without each feature, evaluations and "
        "frequencies.",
        "",
        "    python tools/same_answers.py --page experiments/same_answers.md",
        "",
        f"{len(found) - len(differ)} of {len(found)} are the same; what differs, and why:",
        "",
        "| why | answers | what differs |",
        "|---|---|---|",
        *(f"| {why} | {', '.join(keys)} | {', '.join(fields)} |" for why, (keys, fields) in grouped(differ).items()),
        "",
        "`saes`, `gaes` and `mifs` were ours, by votes and by bins; they are compared under their names of now, "
        + ", ".join(f"`{name}`" for name in RENAMED.values())
        + ".",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="write what differs to this file")
    chosen = parser.parse_args()
    saved = json.loads(SAVED.read_text())
    fields = next(list(row) for row in saved.values() if isinstance(row, dict))
    done = json.loads(DONE.read_text()) if DONE.exists() else {}
    data = tables()
    for key in saved:
        if key not in done:
            table, method = key.split("/")
            done[key] = json.loads(json.dumps(answer(*data[table], method, fields)))
            DONE.parent.mkdir(exist_ok=True)
            DONE.write_text(json.dumps(done))
        print(key, ", ".join(differing(saved[key], done[key])) or "the same", flush=True)
    found = {key: differing(saved[key], done[key]) for key in saved}
    if chosen.page is not None:
        chosen.page.write_text(page(found))


if __name__ == "__main__":
    main()
