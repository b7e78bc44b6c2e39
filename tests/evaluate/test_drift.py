import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

import fewer
from fewer.cli import main
from fewer.evaluate import drift
from fewer.evaluate._drift import stability_index
from fewer.problem import Problem


def test_the_index_is_the_sum_over_bins():
    old, new = np.array([0.0] * 30 + [1.0] * 70), np.array([0.0] * 60 + [1.0] * 40)
    p, q = np.array([30.5, 70.5, 0.5]) / 101.5, np.array([60.5, 40.5, 0.5]) / 101.5
    assert stability_index(old, new, nominal=True) == pytest.approx(((q - p) * np.log(q / p)).sum())
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=500)
    assert stability_index(numbers, numbers) == 0.0
    assert stability_index(numbers, numbers + 1.0) > 0.5


def test_what_changed_is_found_and_what_did_not_is_not():
    rng = np.random.default_rng(0)
    old = pd.DataFrame(
        {"same": rng.normal(size=300), "moved": rng.normal(size=300), "town": rng.choice(["a", "b"], 300)}
    )
    new = pd.DataFrame(
        {"same": rng.normal(size=200), "moved": rng.normal(1, 1, 200), "town": rng.choice(["b", "c"], 200)}
    )
    X = np.c_[pd.concat([old, new])[["same", "moved"]], np.r_[old.town == "b", 1 + (new.town == "c")]]
    found = drift(
        Problem.from_arrays(X, np.repeat([0, 1], [300, 200]), names=list(old), kinds=["numeric"] * 2 + ["nominal"])
    )
    by_name = {column.name: column for column in found.columns}
    assert {name for name, column in by_name.items() if column.changed} == {"moved", "town"}
    truth = ks_2samp(old.moved, new.moved, method="asymp")
    assert (by_name["moved"].ks, by_name["moved"].p_value) == pytest.approx((truth.statistic, truth.pvalue))
    assert by_name["town"].ks is None
    assert found.area > 0.8
    unchanged = drift(Problem.from_arrays(rng.normal(size=(400, 2)), np.repeat([0, 1], 200)))
    assert abs(unchanged.area - 0.5) < 0.1
    assert not any(column.changed for column in unchanged.columns)


def test_rows_that_stand_in_both_tables_do_not_mislead_the_model():
    old = np.random.default_rng(0).normal(size=(200, 3))
    for new in (old, np.vstack([old, np.random.default_rng(1).normal(size=(40, 3))])):
        both = Problem.from_arrays(np.vstack([old, new]), np.repeat([0, 1], [len(old), len(new)]))
        assert 0.4 < drift(both).area < 0.65  # 0.06 and 0.1 where a row's twin is in another fold


def test_two_files_on_the_command_line(tmp_path, capsys):
    rng = np.random.default_rng(1)
    for name, middle in (("old", 0.0), ("new", 2.0)):
        table = pd.DataFrame(
            {"age": rng.normal(middle, 1, 150), "town": rng.choice(["a", "b"], 150), "y": rng.normal(size=150)}
        )
        table.assign(**{f"only {name}": 1.5 * np.arange(150)}).to_csv(tmp_path / f"{name}.csv", index=False)
    words = ["inspect", str(tmp_path / "new.csv"), "-t", "y", "--against", str(tmp_path / "old.csv")]
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as leaving:
            main([*words, *more])
        assert not leaving.value.code
        out = capsys.readouterr().out
        if more:
            told = json.loads(out)
            assert told["columns"][0]["name"] == "age"
            assert told["only_old"] == ["only old"]
        else:
            assert "1 of 2 columns changed" in out


def test_odd_names_and_too_few_rows_are_printed_safely(tmp_path, capsys):
    """An escape sequence in a name reached the terminal; an area that nobody can measure was NaN in JSON."""
    for name, rows in (("old", "1\n2\n"), ("new", "3\n4\n")):
        (tmp_path / f"{name}.csv").write_text(f"age\x1b[31m\n{rows}")
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as leaving:
            main(["inspect", str(tmp_path / "new.csv"), "--against", str(tmp_path / "old.csv"), *more])
        assert not leaving.value.code
        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "nan" not in out.lower()
        assert not more or json.loads(out)["area"] is None


def test_select_names_features_that_change_along_time():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame(rng.normal(size=(200, 3)) + y[:, None], columns=["steady", "moving", "still"])
    X["moving"] += np.arange(200) / 25
    selection = fewer.select(X, y, "fisher", n_features_to_select=2, include=["moving"], time=np.arange(200), cv=0)
    [note] = [note for note in selection.notes if "earlier and later half" in note]
    old, new = X["moving"][:100].to_numpy(), X["moving"][100:].to_numpy()
    assert f"moving ({stability_index(old, new):.2f})" in note
    assert "steady" not in note
    again = fewer.select(X, y, "fisher", n_features_to_select=2, include=["moving"], cv=0)
    assert not any("earlier and later half" in note for note in again.notes)
