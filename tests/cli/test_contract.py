"""A saved selection keeps its contract with new tables, in each of its three forms.

The forms: the code that a run writes, the pipeline as JSON, and `fewer transform`. The faults: new levels,
absent, extra and reordered columns, other types. Each form ignores and says so, or refuses in one line that
names the column.
"""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import fewer
from fewer.cli import main

FEATURES = ["age", "member", "plan", "since"]


def rows(n=60):
    rng = np.random.default_rng(0)
    plan, member = rng.choice(["basic", "plus", "pro"], n), rng.random(n) < 0.5
    age, since = (
        rng.integers(20, 80, n),
        pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
    )
    target = np.where((plan == "pro") + (age > 50) * 1.0 + member > 1, "yes", "no")
    noise = rng.normal(size=n).round(3)
    return pd.DataFrame({"noise": noise, "age": age, "plan": plan, "member": member, "since": since, "left": target})


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A run of the command line that keeps four of five columns, its code and its pipeline."""
    folder = tmp_path_factory.mktemp("contract")
    table = rows()
    table.to_csv(folder / "people.csv", index=False)
    command = ["select", str(folder / "people.csv"), "--target", "left", "--method", "knn-forward", "--folds", "0"]
    command += ["--include", ",".join(FEATURES), "--features", "4", "--out", str(folder / "run"), "--json"]
    with pytest.raises(SystemExit) as leaving:
        main(command)
    assert not leaving.value.code
    result = json.loads((folder / "run" / "result.json").read_text())
    assert sorted(result["features"]) == FEATURES
    (folder / "pipeline.json").write_text(fewer.Selection.from_json(json.dumps(result)).pipeline_json())
    namespace = {}
    exec(result["code"], namespace)
    assert namespace["selection"].features == result["features"]
    return folder, namespace["keep"]


def by_code(saved, new, capsys):
    return by_step(saved[1], new)


def by_json(saved, new, capsys):
    return by_step(fewer.selectors.KeepFeatures.from_json((saved[0] / "pipeline.json").read_text()), new)


def by_step(step, new):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            kept = list(step.transform(new).columns)
        except fewer.InputError as error:
            return None, str(error)
    return kept, " ".join(str(one.message) for one in caught)


def by_transform(saved, new, capsys, run="run"):
    new.to_csv(saved[0] / "new.csv", index=False)
    capsys.readouterr()
    with pytest.raises(SystemExit) as leaving:
        main(["transform", str(saved[0] / run), str(saved[0] / "new.csv")])
    out, err = capsys.readouterr()
    return (None if leaving.value.code else out.splitlines()[0].split(",")), " ".join(err.split())


def by_transform_of_the_pipeline(saved, new, capsys):
    return by_transform(saved, new, capsys, "pipeline.json")


FORMS = [by_code, by_json, by_transform, by_transform_of_the_pipeline]
TYPES = "when the features were chosen and holds"
FAULTS = {
    "the same table": (lambda t: t.drop(columns="left"), True, ()),
    "the needed columns alone": (lambda t: t[FEATURES], True, ()),
    "one row": (lambda t: t[FEATURES].head(1), True, ()),
    "reordered": (lambda t: t[t.columns[::-1]].drop(columns="left"), True, ()),
    "extra": (lambda t: t.assign(weather="dry"), True, ("Ignored, not features of this selection:", "'weather'")),
    "a new level": (
        lambda t: t.drop(columns="left").assign(plan=["gold", *t["plan"][1:]]), True,
        ("Column 'plan' has values that were not there when the features were chosen: 'gold' (1 row).",),
    ),
    "an empty column": (lambda t: t.drop(columns="left").assign(age=None), True, ()),
    "absent": (lambda t: t.drop(columns="plan"), False, ("no column 'plan'",)),
    "another name": (lambda t: t.rename(columns={"age": "Age"}), False, ("no column 'age'; did you mean 'Age'?",)),
    "text for numbers": (
        lambda t: t.assign(age=[*t["age"][:-1].astype(str), "old"]), False,
        (f"Column 'age' held numbers {TYPES} text now ('old' in ",),
    ),
    "dates for numbers": (lambda t: t.assign(age=t["since"]), False, ("Column 'age' held numbers",)),
    "numbers for text": (
        lambda t: t.assign(plan=t["age"]), False, (f"Column 'plan' held text {TYPES} numbers now",),
    ),
    "numbers for dates": (
        lambda t: t.assign(since=t["noise"]), False, (f"Column 'since' held dates {TYPES} numbers now",),
    ),
    "text for truth values": (
        lambda t: t.assign(member="perhaps"), False, (f"Column 'member' held true or false {TYPES} text now",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_saved_selection_answers_clearly(saved, capsys, form, fault):
    change, is_answered, words = FAULTS[fault]
    kept, said = form(saved, change(rows()), capsys)
    assert (kept is not None) == is_answered, said
    assert kept is None or sorted(kept) == FEATURES
    for word in words:
        assert word in said
    if not words:
        assert said == ""


def test_a_fitted_pipeline_has_the_same_contract():
    table = rows()
    X, y = table.drop(columns="left"), table["left"]
    model = fewer.select(X, y, include=["age", "plan"], random_state=0, cv=0).pipeline(X, y)
    assert (model.predict(X[X.columns[::-1]]) == model.predict(X)).all()
    with pytest.warns(fewer.FewerWarning, match="'plan' has values that were not there .* 'gold'"):
        model.predict(X.assign(plan="gold"))
    with pytest.raises(fewer.InputError, match="'age' held numbers .* text now"):
        model.predict(X.assign(age="old"))
    with pytest.raises(fewer.InputError, match="no column 'plan'"):
        model.predict(X.drop(columns="plan"))


def test_columns_of_a_wide_table_are_found_by_name():
    """Of a wide table only the first columns are described, and the chosen ones."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(40, 150)), columns=[f"gene {i}" for i in range(150)])
    selection = fewer.select(X, X["gene 140"] > 0, "fisher", n_features_to_select=1, cv=0, random_state=0)
    step = fewer.selectors.KeepFeatures.from_json(selection.pipeline_json())
    shuffled = X[X.columns[::-1]]
    pd.testing.assert_frame_equal(step.transform(shuffled), X[["gene 140"]])
    with pytest.raises(fewer.InputError, match="'gene 140' held numbers"):
        step.transform(X.assign(**{"gene 140": "high"}))
