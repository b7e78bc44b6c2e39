import json

import pytest
from sklearn.datasets import load_wine

from fewer.cli import main


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alternatives")
    X, y = load_wine(return_X_y=True, as_frame=True)
    X.iloc[:, :7].assign(y=[f"c{code}" for code in y]).to_csv(folder / "t.csv", index=False)
    (folder / "costs.csv").write_text("feature,price\nalcohol,5\nash,1\n")
    with pytest.raises(SystemExit) as leaving:
        main(["select", str(folder / "t.csv"), "-t", "y", "--criterion", "knn:n_neighbors=3", "--search", "forward",
              "--folds", "0", "--out", str(folder / "run")])  # fmt: skip
    assert not leaving.value.code
    return folder


def call(capsys, *words):
    capsys.readouterr()
    with pytest.raises(SystemExit) as leaving:
        main(["alternatives", *map(str, words)])
    printed = capsys.readouterr()
    return leaving.value.code, printed.out, printed.err


def test_all_good_subsets_of_a_run(run, capsys):
    page = run / "page.html"
    code, out, _ = call(capsys, run / "run", "--costs", run / "costs.csv", "--json", "--report", page)
    told = json.loads(out)
    assert not code
    assert told["n_evaluated"] == 127
    assert told["complete"]
    assert "alcohol" not in told["cheapest"] or "alcohol" in told["necessary"]
    assert "checkbox" in page.read_text(encoding="utf-8")
    code, out, _ = call(capsys, run / "run", "--tolerance", "0.01", "--max-features", "3")
    assert not code
    assert "up to 3 features" in out


def test_what_cannot_be_is_said(run, capsys):
    code, _, err = call(capsys, run / "nowhere")
    assert code == 2
    assert "no finished run" in err
    (run / "bad.csv").write_text("feature,price\nwine,5\n")
    code, _, err = call(capsys, run / "run", "--costs", run / "bad.csv")
    assert code == 2
    assert "wine" in err


def test_select_takes_prices(run, capsys):
    def select(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main(["select", str(run / "t.csv"), "-t", "y", "--criterion", "knn:n_neighbors=3", "--search", "forward",
                  "--folds", "0", "--json", *words])  # fmt: skip
        printed = capsys.readouterr()
        return leaving.value.code, json.loads(printed.out) if not leaving.value.code else printed.err

    _, plain = select()
    dear = plain["features"][0]
    code, told = select("--costs", f"{dear}=5", "--cost-weight", "0.2")
    assert not code
    assert dear not in told["features"]
    (run / "prices.csv").write_text(f"feature,price\n{dear},5\n")
    assert select("--costs", str(run / "prices.csv"), "--cost-weight", "0.2")[1]["features"] == told["features"]
    assert select("--costs", str(run / "prices.csv"))[1]["costs"][dear] == 5
    with pytest.raises(SystemExit):
        main(
            [
                "select",
                str(run / "t.csv"),
                "-t",
                "y",
                "-m",
                "fisher",
                "-f",
                "7",
                "--folds",
                "0",
                "--costs",
                "alcohol=5,ash=0.5",
            ]
        )
    assert "Price of these features together: 5.5." in capsys.readouterr().out
    for wrong in ("nowhere.csv", "alcohol=x", "wine=3"):
        code, err = select("--costs", wrong)
        assert code == 2
        assert wrong.partition("=")[0] in err


@pytest.mark.parametrize("wrong", ["--tolerance=-1", "--max-features=0", "--max-subsets=0", "--test-size=0.6"])
def test_numbers_that_mean_nothing_are_refused_by_their_option(run, capsys, wrong):
    code, _, err = call(capsys, run / "run", wrong)
    assert code == 2
    assert f"Invalid value for '{wrong.partition('=')[0]}'" in err


def test_what_is_no_selection_is_refused_without_parts_of_the_program(tmp_path, capsys):
    (tmp_path / "result.json").write_text('{"methods": []}')
    code, _, err = call(capsys, tmp_path)
    assert code == 2
    assert "no result of fewer select. Not a selection in JSON." in err
    assert "__init__" not in err
