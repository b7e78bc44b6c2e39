"""What people reach for first: each component is in selectors, on the command line, in compare and in the documents."""

import ast
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.naive_bayes import GaussianNB

import fewer
from fewer import registry
from fewer.cli import main

ROOT = Path(__file__).parent.parent
RANKERS = {  # each with the test that knows its numbers from elsewhere
    "spearman": "rankers/test_ranks.py::test_two_classes_get_the_statistic_and_p_value_of_scipy",
    "kendall": "rankers/test_ranks.py::test_kendall_counts_pairs",
    "kruskal-wallis": "rankers/test_ranks.py::test_two_classes_get_the_statistic_and_p_value_of_scipy",
    "mann-whitney": "rankers/test_ranks.py::test_two_classes_get_the_statistic_and_p_value_of_scipy",
    "kolmogorov-smirnov": "rankers/test_ranks.py::test_two_classes_get_the_statistic_and_p_value_of_scipy",
    "auc": "rankers/test_ranks.py::test_the_area_is_that_of_scikit_learn_over_pairs_of_classes",
    "gain-ratio": "rankers/test_entropy_shares.py::test_gain_and_gain_ratio_are_those_printed_for_the_weather_data",
    "symmetrical-uncertainty": "rankers/test_entropy_shares.py::"
    "test_on_iris_they_follow_from_entropies_of_bins_cut_by_the_definition",
    "one-r": "rankers/test_entropy_shares.py::test_one_r_is_that_printed_for_the_weather_data",
    "fcbf": "rankers/test_entropy_shares.py::test_fcbf_rules_out_as_the_slow_one_does",
    "jmim": "rankers/test_entropy_shares.py::test_jmim_maximises_the_least_joint_information",
}
OTHERS = {
    ("control", "correlated"): "control/test_correlated.py::test_clusters_are_those_of_the_slow_way",
    ("search", "rfe"): "search/test_elimination.py::test_a_free_size_has_the_support_of_rfecv",
    ("criterion", "cfs"): "criteria/test_cfs.py::test_iris_best_first_keeps_the_petals_as_weka_does",
    ("control", "fdr"): "control/test_false_discovery.py::test_what_passes_is_what_statsmodels_passes",
}
PARTS = {("ranker", name): test for name, test in RANKERS.items()} | OTHERS


@pytest.fixture(scope="module")
def rows():
    X, y = load_wine(return_X_y=True, as_frame=True)
    few = y < 2  # some rankers compare two classes
    return X[few].iloc[:, :5], pd.Series(["a", "b"])[y[few]].to_numpy()


@pytest.mark.parametrize(("kind", "name"), PARTS, ids=lambda part: part)
def test_the_component_has_its_truth_its_row_and_its_place_in_the_table(kind, name):
    path, _, test = PARTS[kind, name].partition("::")
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    row = registry.INDEX[kind][name].rpartition(":")[2].rpartition(".")[2]
    assert f"{row}(" in (ROOT / "docs/guide/coming-from.md").read_text(encoding="utf-8")
    spec = spec_from_file_location("generated_pages", ROOT / "docs/_ext/generated_pages.py")
    pages = module_from_spec(spec)
    spec.loader.exec_module(pages)
    assert f"| `{name}` |" in pages.property_table()


@pytest.mark.parametrize(("kind", "name"), PARTS, ids=lambda part: part)
def test_the_component_selects_by_name_in_python_and_on_the_command_line(kind, name, rows, tmp_path, capsys):
    X, y = rows
    chosen = fewer.select(X, y, name, cv=0, n_features_to_select=2, random_state=0).features
    assert len(chosen) == 2
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(SystemExit) as leaving:
        main(["select", str(tmp_path / "t.csv"), "-t", "y", "--method", name, "--folds", "0", "--features", "2"])
    assert not leaving.value.code
    assert all(feature in capsys.readouterr().out for feature in chosen[:1])


def test_all_of_them_stand_in_one_comparison(rows):
    names = [name for _, name in PARTS]
    comparison = fewer.compare(*rows, names, [GaussianNB()], n_features_to_select=2, cv=2, random_state=0)
    assert set(names) <= {row.name for row in comparison.methods}
