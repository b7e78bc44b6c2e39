"""The first hour of two people from end to end: an analyst with exports, and a user of scikit-learn in a notebook.

The third, a scientist in the browser, is in tests/browser.
"""

import json
import re
import shlex
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier

import fewer
from fewer.cli import main
from fewer.errors import FewerWarning, InputError
from fewer.selectors import KeepFeatures

FEATURES = ["visits", "spent", "age", "region", "customer_id", "refund_amount"]
LEAKS = ["refund_amount", "customer_id"]


def customers(n, seed=0):
    """Return customers of whom a refund says who left, and a number names each."""
    rng = np.random.default_rng(seed)
    left = rng.random(n) < 0.4
    columns = [
        rng.poisson(3 + 4 * left),
        rng.normal(50, 8, n).round(1) - 9 * left,
        rng.integers(18, 80, n),
        rng.choice(["north", "south", "west"], n),
        10_000 + 7 * rng.permutation(n),
        np.where(left, rng.gamma(2, 20, n).round(2) + 1, 0.0),
    ]
    return pd.DataFrame(dict(zip(FEATURES, columns, strict=True))).assign(outcome=np.where(left, "yes", "no"))


def exported(frame, word=""):
    """Write a table as a spreadsheet in German does: a title, semicolons, decimal commas; words in some cells."""
    cells = frame.map(lambda cell: f"{cell:.2f}".replace(".", ",") if isinstance(cell, float) else str(cell))
    if word:
        cells.loc[::17, "spent"] = word
    return ("Kunden im Mai\n\n" + cells.to_csv(index=False, sep=";")).encode("cp1252")


def typed(words, capsys):
    """Run a command; return its exit code and what it printed."""
    with pytest.raises(SystemExit) as leaving:
        main(words)
    printed = "".join(capsys.readouterr())
    assert "Traceback" not in printed
    return leaving.value.code or 0, printed


def test_an_analyst_goes_from_an_export_to_next_months_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "may.csv").write_bytes(exported(customers(150), "unbekannt"))
    (tmp_path / "june.csv").write_bytes(exported(customers(40, seed=1)))
    code, printed = typed(["select", "may.csv", "-t", "outcome", "-m", "fisher", "--report", "may.html"], capsys)
    assert code == 2
    assert "unbekannt" in printed
    fixed = shlex.split(re.search(r"(fewer select .*--missing.*)$", printed, re.M)[1])[1:]
    code, printed = typed(fixed, capsys)  # the command is typed as printed
    assert code == 0
    assert printed.startswith("Check this first")
    assert printed.index("Possible leak: 'refund_amount'") < printed.index("features")
    assert (tmp_path / "may.html").read_text(encoding="utf-8").index("Possible leak") > 0
    again = shlex.split(re.search(r"^Run again without .*: (fewer .*)$", printed, re.M)[1])[1:]
    code, printed = typed([*again, "--out", "may", "--save", "small.csv"], capsys)
    assert code == 0
    assert "Check this first" not in printed
    assert re.search(r"Held-out \D+0\.\d+ \(0\.\d+ to [01]\.\d+\) .* knowing nothing", printed)
    kept = json.loads((tmp_path / "may" / "result.json").read_text(encoding="utf-8"))["features"]
    assert set(kept) <= set(FEATURES) - set(LEAKS)
    assert pl.read_csv(tmp_path / "small.csv").columns == [*kept, "outcome"]
    code, printed = typed(["transform", "may", "june.csv", "--keep", "outcome", "--save", "june-small.csv"], capsys)
    assert code == 0, printed
    small = pl.read_csv(tmp_path / "june-small.csv")
    assert (set(small.columns), len(small)) == ({*kept, "outcome"}, 40)


@pytest.fixture
def notebook(monkeypatch):
    """A notebook's kernel as far as progress is shown in it; returns what its cells display."""
    shown = []
    handle = SimpleNamespace(update=shown.append)

    def display(html, display_id):
        shown.append(html)
        return handle

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))
    return shown


def test_a_user_of_scikit_learn_goes_from_a_frame_to_predictions(notebook, tmp_path):
    frame, new = customers(120), customers(40, seed=1)
    leaky = fewer.select(frame, "outcome", "fisher", random_state=0, cv=3)
    assert notebook[-1].startswith('<progress value="3" max="3"></progress>')  # without being asked for
    card = leaky._repr_html_()
    assert "Possible leak: &#x27;refund_amount&#x27;" in card
    assert card.index('role="alert"') < card.index(f"{len(leaky.features)} of 6 features")
    assert "#1b7f6b" not in card  # no green bar beside a warning
    assert leaky.again == f"exclude={LEAKS!r}"

    selection = fewer.select(frame, "outcome", random_state=0, cv=3, exclude=LEAKS)  # as the card says
    assert (selection.n_features, f"exclude={LEAKS!r}" in selection.code) == (4, True)
    card = selection._repr_html_()
    assert "Check this first" not in card
    assert selection.verdict.split(":")[0] in card
    scores = r"Held-out \D+0\.\d+ \(0\.\d+ to [01]\.\d+\) with the selected .*, 0\.\d+ with all 4, 0\.\d+ knowing"
    assert re.search(scores, card)
    assert set(selection.features) <= set(FEATURES) - set(LEAKS)

    pipeline = selection.pipeline(frame, frame["outcome"])
    assert np.mean(pipeline.predict(new) == new["outcome"]) > 0.75
    strange = new[[*reversed(FEATURES)]].assign(region="east", more=1)  # another order, a new level, a column more
    with pytest.warns(FewerWarning, match="'more'"):
        predicted = pipeline.predict(strange)
    np.testing.assert_array_equal(predicted, pipeline.predict(new[FEATURES].assign(region="east")))
    with pytest.raises(InputError, match=selection.features[0]):
        pipeline.predict(new.drop(columns=selection.features[0]))

    (tmp_path / "step.json").write_text(selection.pipeline_json(), encoding="utf-8")
    step = KeepFeatures.from_json((tmp_path / "step.json").read_text(encoding="utf-8"))
    assert list(step.transform(new.drop(columns=["outcome", *LEAKS])).columns) == list(new[selection.features].columns)
    (tmp_path / "selection.json").write_text(selection.to_json(), encoding="utf-8")
    kept = fewer.Selection.from_json((tmp_path / "selection.json").read_text(encoding="utf-8"))
    assert (kept.features, kept.verdict) == (selection.features, selection.verdict)


def test_the_model_may_be_named_and_an_unknown_one_is_refused_in_a_line(notebook):
    frame = customers(60).drop(columns=[*LEAKS, "region"])
    by_name, by_object = (
        fewer.select(frame, "outcome", "importance", estimator=model, random_state=0, cv=0)
        for model in ("lightgbm", LGBMClassifier(verbose=-1))
    )
    assert by_name.features == by_object.features
    with pytest.raises(InputError, match="lightgbm") as told:
        fewer.select(frame, "outcome", estimator="lightgmb", random_state=0)
    assert "\n" not in str(told.value)


def test_few_positives_are_scored_by_a_metric_that_sees_them():
    """Of 3,000 rows 54 are frauds, and two columns show them: not twelve of twelve features by accuracy."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12))
    suspect = X[:, 2] + X[:, 7] + 0.5 * rng.normal(size=3000)
    fraud = suspect > np.sort(suspect)[-55]
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(12)]).assign(fraud=np.where(fraud, "yes", "no"))
    selection = fewer.select(frame, "fraud", random_state=0, cv=2)
    assert {"x2", "x7"} <= set(selection.features)
    assert len(selection.features) <= 4
    shown = str(selection)
    assert re.search(r"Held-out ROC AUC: 0\.\d+ .*, 0\.50+ knowing nothing", shown)
    assert "since class yes has 1.8% of the rows" in shown
