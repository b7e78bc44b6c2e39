"""`fewer inspect`: what is understood, and a schema that comes back."""

import json

import numpy as np
import polars as pl
import pytest

from fewer.cli import main
from fewer.criteria import training_stop
from fewer.evaluate import search_overfitting
from fewer.io import read_table
from messy import make_messy


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as leaving:
        main([*map(str, arguments)])
    told = capsys.readouterr()
    return leaving.value.code, told.out, told.err


def test_inspect_then_correct_then_read(tmp_path, capsys):
    table, schema = tmp_path / "t.csv", tmp_path / "t.json"
    table.write_text(make_messy()[0], encoding="utf-8")
    code, out, _ = run(capsys, "inspect", table, "--target", "churn", "--write-schema", schema)
    assert not code
    assert "income" in out
    assert "Not used as features" in out
    text = schema.read_text(encoding="utf-8").replace(
        '"tags": {"kind": "left out", "reason": "lists"}', '"tags": {"kind": "nominal"}'
    )
    schema.write_text(text, encoding="utf-8")
    code, out, _ = run(capsys, "inspect", table, "-t", "churn", "--schema", schema, "--json")
    assert not code
    assert {c["name"]: c["role"] for c in json.loads(out)["columns"]}["tags"] == "feature"
    code, out, _ = run(capsys, "rank", table, "-t", "churn", "--schema", schema, "--json")
    assert not code
    names = [row["feature"] for row in json.loads(out)["ranking"]]
    assert set(names[:2]) == {"income", "share"}
    assert "tags" in names


def test_a_table_that_a_selection_would_refuse_leaves_with_2(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(30)) + "abc,1\n")
    code, out, _ = run(capsys, "inspect", tmp_path / "t.csv")
    assert code == 2
    assert "Problem: Column 'a' holds numbers" in out
    code, _, err = run(capsys, "inspect", tmp_path / "t.csv", "--write-schema", tmp_path / "t.csv")
    assert code == 2
    assert "is the input table" in err


def test_a_schema_replaces_a_schema_and_no_other_file(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(30)))
    other, schema = tmp_path / "notes.json", tmp_path / "schema.json"
    other.write_text('{"mine": 1}')
    code, out, err = run(capsys, "inspect", tmp_path / "t.csv", "--write-schema", other)
    assert (code, out) == (2, "")
    assert err == f"fewer: {other} exists and was not written by fewer; choose another --write-schema.\n"
    assert other.read_text() == '{"mine": 1}'
    for _ in range(2):
        assert run(capsys, "inspect", tmp_path / "t.csv", "--write-schema", schema)[0] == 0
    code, out, _ = run(capsys, "inspect", tmp_path / "t.csv", "--write-schema", "/proc/nowhere.json")
    assert (code, out) == (2, "")


def test_shuffled_targets_say_whether_a_search_overfits(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = tmp_path / "t.csv"
    columns = {f"x{i}": rng.normal(size=50) for i in range(12)}
    pl.DataFrame({**columns, "y": [*["no", "yes"] * 25]}).write_csv(table)
    with pytest.raises(SystemExit) as stop:
        main(["inspect", str(table), "-t", "y", "--overfitting", "--json"])
    assert not stop.value.code
    found = json.loads(capsys.readouterr().out)["overfitting"]
    truth = search_overfitting(read_table(table, "y"), rng=np.random.default_rng(0))
    assert (found["believed"], found["fresh"], found["gap"]) == (truth.believed, truth.fresh, truth.gap)
    drawn = search_overfitting(read_table(table, "y"), simulated=True, rng=np.random.default_rng(0))
    assert found["gap_simulated"] == drawn.gap
    with pytest.raises(SystemExit) as stop:
        main(["inspect", str(table), "--overfitting"])
    assert stop.value.code == 2
    assert "needs --target" in capsys.readouterr().err


def test_the_noise_in_a_target_is_told_with_the_step_where_training_should_stop(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 2))
    table = tmp_path / "t.csv"
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.sin(6 * X[:, 0]) + rng.normal(scale=0.4, size=200)}).write_csv(
        table
    )
    code, out, _ = run(capsys, "inspect", table, "-t", "y", "--noise", "--json")
    assert code == 0
    found, rows = json.loads(out)["noise"], read_table(table, "y")
    truth = training_stop(rows.X, rows.y)
    assert (found["gamma"], found["stop"], found["n_steps"]) == (truth.gamma, truth.step, 200)
    assert found["r2"] == pytest.approx(1 - truth.gamma / rows.y.var())
    told = run(capsys, "inspect", table, "-t", "y", "--noise")[1]
    assert f"after {truth.step} of 200 trees: beyond that it learns the noise." in " ".join(told.split())


def test_the_noise_is_measured_without_columns_that_have_no_numbers(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("a,b,c,y\n" + "".join(f"{i},{i % 3 or ''},{'uv'[i % 2]},{i * i % 7}.5\n" for i in range(60)))
    code, _, err = run(capsys, "inspect", table, "-t", "y", "--noise")
    assert code == 2
    assert err.strip().endswith(f"leave the other columns out: fewer inspect {table} -t y --noise --exclude=b,c")
    assert run(capsys, "inspect", table, "-t", "y", "--noise", "--exclude=b,c")[0] == 0


def test_training_need_not_stop_where_the_noise_is_never_reached(tmp_path, capsys):
    table = tmp_path / "t.csv"
    a = np.linspace(0, 1, 60)
    pl.DataFrame({"a": a, "y": a}).write_csv(table)  # no noise at all, which trees do not reach
    assert "it need not stop earlier." in " ".join(run(capsys, "inspect", table, "-t", "y", "--noise")[1].split())
