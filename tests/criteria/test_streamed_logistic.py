"""Logistic regression on a table in chunks is scikit-learn's on the same folds, fitted to the end."""

import numpy as np
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import fewer
from fewer.contracts import Resources
from fewer.criteria import CrossValidated
from fewer.criteria import streamed_logistic as streamed
from fewer.criteria.streamed_logistic import LogisticModel, LogisticTable, StreamedLogisticScorer
from fewer.io import open_stream
from fewer.run import streaming
from fewer.run.planning import make_plan
from fewer.run.request import Request
from fewer.search import Forward
from fewer.statistics import DealtFolds

TO_THE_END = {"tol": 1e-9, "max_iter": 10_000}


@pytest.fixture
def path(tmp_path, monkeypatch, request):
    monkeypatch.setattr("fewer.io._stream.CHUNK_BYTES", 1 << 13)
    monkeypatch.setattr("fewer.io._source.PART_ROWS", 400)
    monkeypatch.setattr(streamed, "BLOCK_ROWS", 100)
    rng = np.random.default_rng(0)
    n = 600
    label = rng.choice(["a", "b", "c"][: getattr(request, "param", 2)], n)
    columns = {
        "strong": rng.normal(size=n) + (label == "a"),
        "gap": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + (label == "b")),
        "large": 1e3 + 7.0 * rng.normal(size=n) + 5.0 * (label == "a"),
        "word": pl.Series(np.where(rng.random(n) < 0.2, label, "other")).set(pl.Series(rng.random(n) < 0.1), None),
        "noise": rng.normal(size=n),
        "fixed": np.full(n, 3.0),
        "visit": rng.permutation(n),
        "patient": [f"p{k}" for k in rng.integers(0, 60, n)],
        "count": rng.uniform(0.5, 3.0, n),
        "label": label,
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "table.parquet", row_group_size=200)
    return tmp_path / "table.parquet"


def opened(path, **rows):
    drop = [name for name in ("visit", "patient", "count") if name not in rows.values()]
    return open_stream(path, "label", exclude=drop, **rows)


def cells_of(stream, folds):
    parts = []
    for part in range(stream.n_parts):
        start = 0
        for chunk in stream.chunks(part):
            parts.append(folds.cells(chunk, part, start))
            start += chunk.n_samples
    return np.concatenate(parts)


class Twin:
    """The same by scikit-learn on rows in memory."""

    def __init__(self, path, names, model, weights=None):
        table = pl.read_parquet(path).to_pandas()
        self.X, self.y, self.names, self.model = table[names], table["label"].to_numpy(), np.array(names), model
        self.weights = np.ones(len(table)) if weights is None else table[weights].to_numpy()
        self.weights = self.weights / self.weights.mean()  # as every reader has it

    def fit(self, mask, rows):
        names = self.names[mask].tolist()
        words = [name for name in names if name == "word"]
        steps = [("fill", SimpleImputer(strategy="median"), [name for name in names if name != "word"])]
        steps += [("encode", OneHotEncoder(handle_unknown="ignore", sparse_output=False), words)]
        model = make_pipeline(ColumnTransformer(steps), self.model)
        last = "pipeline__logisticregression" if hasattr(self.model, "steps") else "logisticregression"
        return model.fit(self.X.iloc[rows][names], self.y[rows], **{f"{last}__sample_weight": self.weights[rows]})

    def right(self, mask, train, test):
        model = self.fit(mask, np.flatnonzero(train))
        return np.average(model.predict(self.X[test]) == self.y[test], weights=self.weights[test])

    def forward(self, splits):
        """Two steps."""
        mask = np.zeros(len(self.names), dtype=bool)
        for _ in range(2):
            more = {}
            for j in np.flatnonzero(~mask & (self.names != "fixed")):
                own = mask | (np.arange(len(mask)) == j)
                more[j] = np.mean([self.right(own, *split) for split in splits])
            j = max(more, key=lambda j: (round(more[j], 12), -j))
            mask[j] = True
        return mask, more[j]


MODELS = {
    "scaled": make_pipeline(StandardScaler(), LogisticRegression(**TO_THE_END)),
    "balanced": make_pipeline(StandardScaler(), LogisticRegression(C=0.1, class_weight="balanced", **TO_THE_END)),
}


@pytest.mark.parametrize(
    ("path", "rows", "name"),
    [
        (2, {}, "scaled"),
        (2, {"weights": "count"}, "balanced"),
        (3, {"weights": "count"}, "scaled"),
        (3, {"groups": "patient"}, "balanced"),
    ],
    ids=str,
    indirect=["path"],
)
def test_scores_are_those_of_scikit_learn_on_the_same_folds(path, rows, name):
    stream = opened(path, **rows)
    names = list(stream.like.names)
    folds = DealtFolds.of(stream, 2, 3, 7)
    model = LogisticModel.of(CrossValidated(MODELS[name]), stream.like)
    table = LogisticTable.of(stream, model, folds, Resources())
    cells, twin = cells_of(stream, folds), Twin(path, names, MODELS[name], rows.get("weights"))
    masks = np.array([[name in own for name in names] for own in (["strong"], ["gap", "word"], names)])
    for without in (None, 1):
        used = cells // 3 != without if without is not None else np.full(len(cells), True)
        found = StreamedLogisticScorer(table, without).score(masks)
        for mask, score in zip(masks, found, strict=True):
            own = [twin.right(mask, used & (cells % 3 != k), used & (cells % 3 == k)) for k in range(3)]
            assert score == pytest.approx(np.mean(own), abs=1e-12)


@pytest.mark.parametrize("path", [2, 3], indirect=True)
def test_coefficients_are_those_of_scikit_learn(path):
    model = LogisticRegression(C=0.3, **TO_THE_END)
    stream = open_stream(path, "label", exclude=["visit", "patient", "count", "word", "fixed", "gap", "large"])
    folds = DealtFolds.of(stream, 1, 3, 0)
    read = LogisticModel.of(CrossValidated(model), stream.like)
    assert read == LogisticModel(1 / 0.3, False, False)
    table = LogisticTable.of(stream, read, folds, Resources())
    found, _ = StreamedLogisticScorer(table).coefficients(np.ones((1, 2), dtype=bool))
    raw = pl.read_parquet(path)
    twin = model.fit(raw.select("strong", "noise").to_numpy(), raw["label"].to_numpy())
    np.testing.assert_allclose(found[1:, 0].T / table.inputs.spread, twin.coef_, atol=1e-7)
    X = raw.select("strong", "noise").to_numpy()
    decisions = found[0, 0] + table.inputs.cells(X).T @ found[1:, 0]
    np.testing.assert_allclose(decisions, twin.decision_function(X).reshape(len(X), -1), atol=1e-6)


@pytest.mark.parametrize(
    ("path", "rows"), [(2, {"time": "visit"}), (3, {"groups": "patient"})], ids=str, indirect=["path"]
)
def test_a_selection_is_that_of_scikit_learn_from_beginning_to_end(path, rows):
    stream = opened(path, **rows)
    criterion = CrossValidated(MODELS["scaled"], cv=3)
    words = {"criterion": criterion, "search": Forward(), "n_features_to_select": 2}
    chosen = streaming.select(stream, **words, cv=2, random_state=7)
    folds = DealtFolds.of(stream, 2, 3, 7)
    cells, twin = cells_of(stream, folds), Twin(path, list(stream.like.names), MODELS["scaled"])

    def splits(without):
        parts = [np.isin(cells, own) for own in folds.parts(without)]
        if "time" in rows:
            return [(np.any(parts[:k], axis=0), parts[k]) for k in range(1, len(parts))]
        return [(np.any(parts[:k] + parts[k + 1 :], axis=0), parts[k]) for k in range(len(parts))]

    mask, best = twin.forward(splits(None))
    assert chosen.support == mask.tolist()
    assert chosen.score_search == pytest.approx(best, abs=1e-12)
    held = [np.isin(cells, own) for own in folds.held]
    trains = [np.isin(cells, folds.trains(fold)) for fold in range(2)]
    for score, own in (
        (chosen.score_heldout, [twin.forward(splits(fold))[0] for fold in range(2)]),
        (chosen.score_heldout_all_features, [np.full(len(mask), True)] * 2),
    ):
        found = [twin.right(*one) for one in zip(own, trains, held, strict=True)]
        assert score == pytest.approx(np.average(found, weights=[test.sum() for test in held]), abs=1e-12)
    assert "passes, one for each step of Newton's method; all rows were used" in chosen.warnings[-1]
    assert chosen.set_aside == ["fixed"]


def test_what_needs_rows_goes_to_a_sample_that_says_why(path, monkeypatch):
    monkeypatch.setattr(streaming, "SAMPLE_ROWS", 300)
    stream = opened(path)
    small = CrossValidated(MODELS["scaled"], cv=2)
    for words, reason in (
        ({"criterion": CrossValidated(LogisticRegression(l1_ratio=1.0, solver="liblinear"))}, "another penalty"),
        ({"criterion": CrossValidated(LogisticRegression(), scoring="roc_auc")}, "is not accuracy"),
        ({"criterion": small, "search": "rfe"}, "Elimination looks at the rows"),
        ({"criterion": small, "scoring": "accuracy"}, "leave scoring out"),
    ):
        asked = Request(**words)
        plan = make_plan(stream.like, asked)
        assert reason in streaming._why_sampled(stream, plan.selector._criterion(), plan.selector, asked)
    chosen = streaming.select(stream, criterion=small, scoring="accuracy", n_features_to_select=1, cv=0)
    assert sum("it needs rows in memory (On a table in chunks" in note for note in chosen.warnings) == 1


def test_a_class_that_comes_late_is_named_with_a_cure(tmp_path):
    rng = np.random.default_rng(0)
    x, day = rng.normal(size=900), np.arange(900)
    label = np.where((x > 0) & (day > 400), "fraud", "fine")
    pl.DataFrame({"x": x, "z": rng.normal(size=900), "day": day, "label": label}).write_parquet(tmp_path / "t.parquet")
    stream = open_stream(str(tmp_path), "label", time="day")
    with pytest.raises(fewer.InputError, match="are all of class fine: use auto, or omit time"):
        streaming.select(stream, criterion=CrossValidated(MODELS["scaled"]), search="forward", random_state=0)
    assert streaming.select(stream, random_state=0).features == ["x"]


def test_threads_turns_and_a_forgotten_start_change_nothing(path, monkeypatch):
    words = {"criterion": CrossValidated(MODELS["scaled"], cv=2), "cv": 2, "random_state": 0}
    words |= {"search": "forward", "n_features_to_select": 2}
    first = streaming.select(opened(path), **words, resources=Resources(n_jobs=1))
    monkeypatch.setattr(streamed, "MOST_SUMS", 200)
    monkeypatch.setattr(streamed, "STARTS_REMEMBERED", 0)
    second = streaming.select(opened(path), **words, resources=Resources(n_jobs=2))
    assert first.features == second.features
    assert first.heldout == second.heldout


def test_a_dask_frame_gives_the_same(path):
    dd = pytest.importorskip("dask.dataframe")
    table = pl.read_parquet(path).drop("visit", "count")
    frame = dd.from_pandas(table.to_pandas(), npartitions=3)
    words = {"criterion": "cross-validated:estimator=linear,cv=2", "cv": 0, "random_state": 0}
    words |= {"search": "forward", "n_features_to_select": 2}
    found = fewer.select(frame, "label", groups="patient", **words)
    expected = streaming.select(open_stream(table.lazy(), "label", groups="patient"), **words)
    assert found.features == expected.features
    assert found.score_search == pytest.approx(expected.score_search, abs=1e-12)  # parts do not matter to groups
