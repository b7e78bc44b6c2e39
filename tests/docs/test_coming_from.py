"""Whatever stands on the right of "you wrote → you write" runs."""

import re
import shlex
from pathlib import Path

import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer import control, criteria, rankers, search
from fewer.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "coming-from.md"
ROW = re.compile(r"^\| (?!you |---)(.*) \| (.*) \|$", re.M)
QUICK = ["--folds", "0", "--features", "2", "--seed", "0"]
SLOW = {"fewer.select(X, y)": 'fewer.select(X, y, "fisher", cv=2, random_state=0)'}


def snippets():
    """Return the code of the right column, each once."""
    found = [
        code for _, right in ROW.findall(PAGE.read_text(encoding="utf-8")) for code in re.findall("`(.*?)`", right)
    ]
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    rows = X.index[::3]
    return X.loc[rows], (y.loc[rows] == 1).astype(int)  # two classes, which every ranker compares


@pytest.fixture(scope="module")
def space(wine):
    X, y = wine
    names = {name: getattr(module, name) for module in (control, criteria, rankers, search) for name in module.__all__}
    forest = RandomForestClassifier(5, max_depth=2, random_state=0)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    selector = fewer.SubsetSelector(criteria.KNN(), search.Forward(), n_features_to_select=1).fit(X, y)
    return {**names, "fewer": fewer, "X": X, "y": y, "tree": tree, "forest": forest, "k": 2,
            "ranker": rankers.Fisher(), "selector": selector}  # fmt: skip


@pytest.fixture(scope="module")
def folder(wine, tmp_path_factory):
    X, y = wine
    place = tmp_path_factory.mktemp("coming")
    table = pl.from_pandas(X).with_columns(y=pl.Series("y", y.to_numpy()).cast(pl.String).str.replace("^", "c"))
    table.write_csv(place / "t.csv")
    lines = [
        "@relation wine",
        *(f"@attribute 'a{i}' numeric" for i in range(X.shape[1])),
        "@attribute class {c0,c1,c2}",
    ]
    (place / "t.arff").write_text("\n".join([*lines, "@data", table.write_csv(include_header=False)]))
    return place


def words_of(code):
    words = shlex.split(code)
    words = words if words[0] == "fewer" else ["fewer", "select", "t.csv", "-t", "y", *words]
    return words[1:] + (QUICK if words[1] == "select" else ["--folds", "2"] if words[1] == "compare" else [])


@pytest.mark.parametrize("code", {tuple(words_of(c)): c for c in snippets() if c.startswith(("fewer ", "--"))}.values())
def test_commands_run(code, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as leaving:
        main(words_of(code))
    assert not leaving.value.code, capsys.readouterr().err


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("code", [c for c in snippets() if not c.startswith(("fewer ", "--"))])
def test_python_runs(code, space, wine):
    if re.match(r"\w+=", code):
        code = f"fewer.SubsetSelector(KNN(), Forward(), {code})"
    with_importances = re.search("Importance|Elimination", code)
    made = eval(SLOW.get(code, code), {**space, "est": space["tree"] if with_importances else GaussianNB()})
    if isinstance(made, type):
        made = made()
    if isinstance(made, fewer.contracts.Ranker):
        made = fewer.RankSelector(made, n_features_to_select=2)
    if isinstance(made, fewer.contracts.Search):
        made = fewer.SubsetSelector(criteria.LeastSquares(), made, n_features_to_select=2, random_state=0)
    if hasattr(made, "fit"):
        made.fit(*wine)
        strict = isinstance(getattr(made, "control", None), control.StabilitySelection | control.Knockoffs)
        assert made.support_.any() or strict  # these may say that nothing is sure


def test_there_is_something_to_run():
    assert len(snippets()) > 30
