"""`auto` on all rows: elimination against a slow twin, products against their formula, planted tables."""

import re

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import fewer
from fewer.contracts import Resources, SearchSpace
from fewer.io import open_stream
from fewer.problem import Problem
from fewer.run import streaming
from fewer.run.all_rows import AllRows, ProductSums, RankCounts, Terms, eliminated
from fewer.run.request import Request
from fewer.run.selection import Selection
from fewer.statistics import DealtFolds, GramSums


def test_units_leave_in_the_order_of_fits_from_scratch():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    X[:, 1] += 0.8 * X[:, 0]
    X = np.column_stack([X, X[:, 2] * X[:, 3]])  # an input of two units
    y = X[:, 0] + 0.5 * X[:, 1] + 0.7 * X[:, 6] + 0.2 * X[:, 4] + rng.normal(size=300)
    rows = Problem.from_arrays(X, y, task="regression")
    sums = GramSums(rows, DealtFolds(1))
    sums.add(rows)
    units = [np.array(own) for own in ([0], [1], [2, 6], [3, 6], [4, 5])]
    found = eliminated(sums.system().parts[0], 7, units)

    left, there, expected = set(range(5)), set(range(7)), []
    while left:
        errors = {}
        for unit in sorted(left):
            design = np.column_stack([np.ones(300), X[:, sorted(there - set(units[unit].tolist()))]])
            errors[unit] = np.linalg.lstsq(design, y)[1].sum()
        least = min(errors, key=errors.get)
        expected.append(least)
        left.remove(least)
        there -= set(units[least].tolist())
    assert found == expected


def test_products_are_measured_as_their_formula_says_and_merge():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=500) > 0).astype(int)
    w = rng.uniform(0.5, 2.0, 500)
    rows = Problem.from_arrays(X, y, sample_weight=w)
    fit = rng.normal(scale=0.1, size=(4, 1))
    whole, half, other = ProductSums(fit), ProductSums(fit), ProductSums(fit)
    whole.add(rows)
    half.add(rows.take(np.arange(200)))
    other.add(rows.take(np.arange(200, 500)))
    half.merge(other)
    np.testing.assert_allclose(half.strength, whole.strength, rtol=1e-10)
    w = rows.row_weights
    left = y - fit[0, 0] - X @ fit[1:, 0]
    product = X[:, 0] * X[:, 1]
    middle = w @ left / w.sum()
    by_hand = abs(w @ ((left - middle) * product)) / np.sqrt((w**2 * left**2 * product**2).sum())
    assert whole.strength[0, 1] == pytest.approx(by_hand)
    assert whole.strongest()[0].tolist() == [0, 1]


def test_inputs_have_a_middle_and_a_spread_and_levels_are_mean_targets():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [np.nan, 1.0], [1e6, np.nan]])
    rows = Problem(X, np.array([0.0, 0.0, 1.0, 1.0, 0.5]), "regression", ("a", "b"), ("numeric", "nominal"), (),
                   {1: ("u", "v", "never")})  # fmt: skip
    terms = Terms.of(rows, np.array([0, 1]))
    inputs = terms.inputs(X)
    assert inputs[3, 0] == 0.0
    assert inputs[4].tolist() == [4.0, 0.0]
    np.testing.assert_allclose(terms.tables[1], [(0 + 5) / 12, (2 + 5) / 12, 0.5])
    assert terms.of_features(np.array([1])).tolist() == [1]


@pytest.fixture
def planted(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "ROUNDS", (400,))
    monkeypatch.setattr("fewer.io._source.PART_ROWS", 4_000)
    rng = np.random.default_rng(3)
    n = 12_000
    X = rng.normal(size=(n, 8))
    city = rng.integers(0, 12, n)
    z = X[:, 0] + X[:, 3] * X[:, 4] + rng.normal(size=12)[city]
    columns = {f"x{i}": X[:, i] for i in range(8)}
    columns |= {"city": [f"c{k}" for k in city], "shop": [f"s{k}" for k in rng.integers(0, 200, n)]}
    columns["label"] = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * z)), "yes", "no")
    columns["amount"] = z + rng.normal(size=n)
    columns["x1"] = np.where(rng.random(n) < 0.1, np.nan, columns["x1"])
    path = tmp_path / "planted.parquet"
    pl.DataFrame(columns).write_parquet(path, row_group_size=2_000)
    return path


@pytest.mark.parametrize(("target", "other"), [("label", "amount"), ("amount", "label")])
def test_auto_finds_planted_columns_by_all_rows_and_says_who_saw_how_many(planted, target, other):
    stream = open_stream(planted, target, exclude=[other])
    found = streaming.select(stream, resources=Resources())
    assert set(found.features) == {"x0", "x3", "x4", "city"}
    seen, total, others = (int(part.replace(",", "")) for part in re.findall(r"\d[\d,]*", found.warnings[-1])[:3])
    assert total == found.n_rows == 12_000
    assert seen == 400
    assert others in (11_599, 11_600)
    assert "x3 × x4" in found.warnings[-1]
    assert "As good with 4 of 10 features" in found.verdict
    assert found.data["missing_cells"] == pl.read_parquet(planted)["x1"].is_nan().sum()
    assert found.curve["answers"]["balanced"] == found.features


def test_threads_give_the_same_sums_of_all_rows(planted):
    stream, found = open_stream(planted, "label", exclude=["amount"]), []
    for n_jobs in (1, 2):
        sample, _ = streaming._drawn(stream, 1_000, 0, Resources(n_jobs))
        space = SearchSpace.of(stream.n_features)
        found.append(AllRows.of(stream, sample, space, "accuracy", 0, Resources(n_jobs)))
    assert found[0].whole.left == found[1].whole.left
    assert found[0].sums.sums.tobytes() == found[1].sums.sums.tobytes()
    assert int(found[0].sums.rows.sum()) + sample.rows.n_samples == 12_000


def test_what_is_asked_for_holds_on_all_rows_too(planted):
    words = {"include": ["x7"], "exclude": ["x0", "amount"], "n_features_to_select": 4, "cv": 0, "random_state": 0}
    found = fewer.select(pl.scan_parquet(planted), "label", **words)
    assert set(found.features) == {"x7", "city", "x3", "x4"}
    assert found.score_heldout is None


def test_a_model_of_the_sample_that_is_surely_better_keeps_its_features(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "ROUNDS", (2_000,))
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(12_000, 3))
    label = (np.floor(4 * X[:, 0]) + np.floor(4 * X[:, 1])) % 2
    frame = pl.DataFrame({f"x{i}": X[:, i] for i in range(3)} | {"label": label.astype(int)})
    found = fewer.select(frame.lazy(), "label", random_state=0)
    assert set(found.features) == {"x0", "x1"}
    assert "less than" in found.warnings[-1] or "no more than chance" in found.warnings[-1]


def test_noise_stays_noise(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "ROUNDS", (400,))
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"x{i}": rng.normal(size=8_000) for i in range(5)} | {"label": rng.integers(0, 2, 8_000)})
    found = fewer.select(frame.lazy(), "label", random_state=0)
    assert found.nothing_found
    assert found.features == []


def test_of_many_columns_all_rows_choose_those_that_are_asked_about(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "ROUNDS", (400,))
    monkeypatch.setattr(streaming, "UNSCREENED", 4)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_000, 9))
    frame = pl.DataFrame({f"x{i}": X[:, i] for i in range(9)} | {"y": X[:, 7] + X[:, 8] + rng.normal(size=8_000)})
    found = fewer.select(frame.lazy(), "y", random_state=0)
    assert set(found.features) == {"x7", "x8"}
    assert "act only together may be lost" in found.warnings[-1]


@pytest.mark.parametrize(("shares", "n_rows"), [({"x0": 1.0, "x1": 0.4}, 400), ({"x0": 1.0, "x1": 0.8}, 1_600)])
def test_the_sample_grows_until_the_choice_comes_back(monkeypatch, shares, n_rows):
    monkeypatch.setattr(streaming, "ROUNDS", (400, 1_600))
    budgets = []

    def run(plan, rows, folder, **_):
        budgets.append(plan.selector.budget)
        return Selection(features=["x0"], support=[True, False], set_aside=[], score_search=None, score_name="accuracy",
                         method="auto", criterion=None, search=None, control=None, n_evaluations=0, seconds=0.0, seed=0,
                         warnings=[], frequency=shares)  # fmt: skip

    monkeypatch.setattr(streaming, "run_kept", run)
    rng = np.random.default_rng(0)
    sample = Problem.from_arrays(rng.normal(size=(2_000, 2)), np.arange(2_000) % 2)
    _, rows = streaming._race(sample, Request(), "", None)
    assert rows.n_samples == n_rows
    assert budgets == [3.0, 48.0][: len(budgets)]


class Said:
    """A rule whose answers are the columns themselves, one for each subset."""

    def answers(self, rows):
        return rows.X[:, :, None]


@pytest.mark.parametrize("weighted", [False, True])
def test_areas_under_the_roc_curve_and_their_error_are_those_of_all_pairs(weighted):
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.1).astype(int)
    X = np.clip(np.round(rng.normal(scale=0.5, size=(400, 2)) + 0.4 * y[:, None], 1), -1.9, 1.9)  # with ties
    rows = Problem.from_arrays(X, y, sample_weight=rng.uniform(0.5, 2.0, 400) if weighted else None)
    folds = DealtFolds(2, seed=1)
    counts = [RankCounts([Said(), Said()], 2, folds) for _ in range(3)]
    counts[0].add(rows)
    counts[1].add(rows.take(np.arange(150)))
    counts[2].add(rows.take(np.arange(150, 400)), 0, 150)
    counts[1].merge(counts[2])
    np.testing.assert_allclose(counts[0].weights, counts[1].weights, atol=1e-12)
    outer = folds.judges(folds.cells(rows, 0, 0))
    for fold, rule in enumerate(counts[0].graded()):
        own = rows.take(np.flatnonzero(outer == fold))
        grades, w = rule.grades(own), own.row_weights
        for subset in range(2):
            area = roc_auc_score(own.y, own.X[:, subset], sample_weight=w)
            assert np.average(grades[:, subset], weights=w) == pytest.approx(area, abs=1e-12)
            variance = 0.0
            for code in (0, 1):
                mine, others = own.y == code, own.y != code
                ahead = own.X[mine, subset][:, None] - own.X[others, subset]
                places = np.where(ahead * (2 * code - 1) > 0, 1.0, np.where(ahead == 0, 0.5, 0.0)) @ w[others]
                share = w[mine] / w[mine].sum()
                variance += (share**2 * (places / w[others].sum() - area) ** 2).sum()
            share = w / w.sum()
            assert (share**2 * (grades[:, subset] - area) ** 2).sum() == pytest.approx(variance, rel=1e-9)


def test_a_rare_class_is_ranked_on_all_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "ROUNDS", (500,))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 3))
    label = rng.random(30_000) < 1 / (1 + np.exp(4.0 - X[:, 0] - 0.7 * X[:, 1]))
    table = pl.DataFrame(X, schema=["x0", "x1", "x2"]).with_columns(label=pl.Series(label))
    table.write_parquet(tmp_path / "rare.parquet", row_group_size=5_000)
    monkeypatch.setattr(streaming, "FEWEST_LEFT", 300)
    found = fewer.select(str(tmp_path), "label", random_state=0, cv=2)
    assert found.score_name == "roc_auc"
    assert set(found.features) == {"x0", "x1"}
    assert "rows chose and scored the features" in found.warnings[-1]
    assert found.score_heldout == pytest.approx(roc_auc_score(label, X[:, 0] + 0.7 * X[:, 1]), abs=0.01)
    assert found.heldout["low"] < found.score_heldout < found.heldout["high"] < found.heldout["low"] + 0.05
    monkeypatch.setattr(streaming, "FEWEST_LEFT", 5_000)
    stream = open_stream(str(tmp_path), "label")
    sample, _ = streaming._drawn(stream, 500, 0, Resources())
    reason = streaming._unasked(stream, sample, found, Request())
    assert re.fullmatch(r"[\d,]+ rows of class True are left outside it, too few to ask \(below 5,000\)", reason)
