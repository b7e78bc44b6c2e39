"""Some rows and columns of a problem."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import fewer
from fewer.evaluate._evidence import part_of, sample_of
from fewer.io import to_problem
from fewer.io.sparse import SparseProblem
from fewer.problem import Problem
from making import make_problem


def test_a_sparse_table_stays_sparse_but_for_the_part():
    dense = make_problem(n_rows=50, n_features=9)
    dense.X[dense.X < 0] = 0.0
    problem = SparseProblem.of(dense, sparse.csc_array(dense.X))
    part = part_of(problem, np.array([4, 2]), np.array([7, 9, 30]))
    assert np.array_equal(part.X, dense.X[np.ix_([7, 9, 30], [4, 2])])
    assert "X" not in vars(problem)
    assert part.names == ("x4", "x2")


def test_a_sparse_table_can_be_selected_from_with_everything_that_its_page_needs():
    dense = make_problem(n_rows=80)
    told = fewer.select(sparse.csr_array(dense.X), dense.y, "fisher", cv=3, random_state=0).evidence
    assert told["untold"] == []
    assert told["plane"]["row"]
    assert told["without"]


def test_levels_and_the_frame_follow_the_columns():
    frame = pl.DataFrame({"a": [1.0, 2, 3, 4], "color": ["r", "g", "r", "b"], "c": [0.0, 1, 0, 1]})
    part = part_of(to_problem(frame, [0, 1, 0, 1]), np.array([1, 0]), np.arange(4))
    assert part.levels[0] == ("b", "g", "r")
    assert part.schema.fits(part)
    assert part.schema.frame(part, part.X).columns == ["color", "a"]


def test_a_model_that_asks_for_columns_by_name_is_told_where_it_cannot_do_without_one():
    problem = make_problem(n_rows=80)
    frame = pl.DataFrame({f"f{i}": problem.X[:, i] for i in range(6)})
    model = make_pipeline(make_column_transformer(("passthrough", ["f0", "f1"])), LogisticRegression())
    chosen = fewer.select(frame, problem.y, "fisher", estimator=model, n_features_to_select=6, cv=2, random_state=0)
    assert any("f0" in told or "column" in told for told in chosen.evidence["untold"])


@pytest.mark.parametrize("kind", ["classes", "groups", "quantity"])
def test_a_sample_is_small_and_whole_groups(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=1000)
    groups = np.repeat(np.arange(100), 10) if kind == "groups" else None
    task = "regression" if kind == "quantity" else "classification"
    problem = Problem.from_arrays(np.zeros((1000, 1)), y, groups=groups, task=task)
    rows = sample_of(problem, 100, rng)
    assert 90 <= len(rows) <= 103
    assert (np.diff(rows) > 0).all()
    if groups is not None:
        assert (np.unique(groups[rows], return_counts=True)[1] == 10).all()


def test_classes_keep_their_shares_in_a_sample_and_quantities_are_drawn_evenly():
    y = np.repeat([0, 1], [90, 10])
    for seed in range(4):
        rng = np.random.default_rng(seed)
        assert (sample_of(Problem.from_arrays(np.zeros((100, 1)), y), 20, rng) >= 90).sum() == 2
    quantity = Problem.from_arrays(np.zeros((100, 1)), np.arange(100.0), task="regression")
    rows = sample_of(quantity, 20, np.random.default_rng(0))
    assert rows.tolist() == sorted(np.random.default_rng(0).choice(100, 20, replace=False))
