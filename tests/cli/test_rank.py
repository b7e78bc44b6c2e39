"""`fewer rank`: a default for every task, and a sentence that names what would do."""

import json

import numpy as np
import polars as pl
import pytest

from fewer import FeatureWeighter
from fewer.cli import main
from fewer.evaluate import score_agreement
from fewer.io import read_table
from fewer.rankers import Fisher
from fewer.search import Annealing


@pytest.fixture
def quantity(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": X[:, 1] + 0.1 * rng.normal(size=60)})
    frame.write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def test_quantities_have_a_default(quantity, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["rank", str(quantity), "-t", "y", "--json"])
    assert not leaving.value.code
    answer = json.loads(capsys.readouterr().out)
    assert answer["method"] == "f-test"
    assert answer["ranking"][0]["feature"] == "b"


def test_infinite_scores_are_no_row_of_digits_and_an_idle_device_is_said(tmp_path, capsys):
    pl.DataFrame({"a": [0, 1] * 6, "b": range(12), "y": ["n", "m"] * 6}).write_csv(tmp_path / "t.csv")
    with pytest.raises(SystemExit) as leaving:
        main(["rank", str(tmp_path / "t.csv"), "-t", "y", "--device", "cuda"])
    assert not leaving.value.code
    told = capsys.readouterr()
    assert told.out.splitlines()[1].split() == ["a", "1", "∞"]
    assert told.err == "fewer: fisher runs on the CPU, not on the GPU: it has no kernels for one.\n"


def test_a_ranker_for_classes_names_those_for_quantities(quantity, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["rank", str(quantity), "-t", "y", "-m", "fisher"])
    assert leaving.value.code == 2
    told = capsys.readouterr().err
    assert "but the task is regression; use cmim" in told
    assert "rrelieff" in told
    assert "relief," not in told


def test_planted_columns_check_a_ranking(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 4)) + 2.0 * y[:, None]
    table = tmp_path / "t.csv"
    pl.DataFrame({**{f"x{i}": X[:, i] for i in range(4)}, "y": np.array(["no", "yes"])[y]}).write_csv(table)
    with pytest.raises(SystemExit) as leaving:
        main(["rank", str(table), "-t", "y", "-m", "fisher", "--planted", "6", "--json"])
    assert not leaving.value.code
    answer = json.loads(capsys.readouterr().out)
    random, copies = answer["planted"]["random columns"], answer["planted"]["noisy copies"]
    assert (random["planted"], random["kept"], random["chance"]) == (6, 0.0, pytest.approx(4 * 6 / 10))
    # Copies of good columns are good columns: Fisher's score cannot tell them from their originals.
    assert copies["planted"] == 9
    assert copies["kept"] >= copies["low"] > 0
    assert copies["chance"] == pytest.approx(4 * 9 / 13)
    assert "Of 6 random columns, 0 rank among the first 4" in " ".join(answer["warnings"])


def test_weights_of_nearest_neighbors_stand_beside_the_ranking(quantity, capsys):
    """Those of the transformer in Python; the column that is the target but for noise has the largest."""
    with pytest.raises(SystemExit):
        main(["rank", str(quantity), "-t", "y", "--feature-weights", "4", "--json"])
    answer = json.loads(capsys.readouterr().out)
    weights = {row["feature"]: row["weight"] for row in answer["ranking"]}
    search = Annealing(answer="final", by_weights=True)
    weighter = FeatureWeighter(search=search, levels=4, random_state=0).fit_problem(read_table(quantity, "y"))
    assert weights == dict(zip("abc", weighter.weights_.tolist(), strict=True))
    assert max(weights, key=weights.get) == "b"
    assert "squared differences of nearest neighbors" in answer["warnings"][-1]


def test_the_scores_are_set_beside_the_accuracy_of_models(tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    X = rng.normal(size=(90, 4)) + np.outer(y, [0.0, 0.5, 1.0, 2.0])
    table = tmp_path / "t.csv"
    pl.DataFrame({**{f"x{i}": X[:, i] for i in range(4)}, "y": np.array(["no", "yes"])[y]}).write_csv(table)
    with pytest.raises(SystemExit) as leaving:
        main(["rank", str(table), "-t", "y", "-m", "fisher", "--agreement", "--json"])
    assert not leaving.value.code
    answer = json.loads(capsys.readouterr().out)
    truth = score_agreement(Fisher(), read_table(table, "y"), rng=np.random.default_rng(0))
    assert answer["agreement"] == {name: truth.of_means(name) for name in truth.accuracies}
    assert "nearest neighbors 0." in answer["warnings"][-1]


def test_a_ranking_says_what_its_scores_are(quantity, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["rank", str(quantity), "-t", "y"])
    assert not leaving.value.code
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("Ranked by f-test: analysis of variance, or correlation, for each feature.")
    assert "held-out" in last
