"""Selecting on a table in chunks: as in memory, with the same folds."""

import json
import re
import runpy
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fewer
from fewer.cli import main
from fewer.contracts import IncompatibleError, Resources, SearchSpace
from fewer.criteria import LeastSquares, NaiveBayes
from fewer.errors import InputError
from fewer.io import open_stream, read_table
from fewer.rankers import MRMR, Fisher, FTest, ReliefF
from fewer.run import streaming
from fewer.run.all_rows import AllRows, HeldoutSums
from fewer.search import Floating, Forward
from fewer.selectors import SubsetSelector
from fewer.statistics import (
    Bins,
    ClassMoments,
    DealtFolds,
    GramSums,
    JointCounts,
    PairCounts,
    TargetMoments,
    collect,
    row_folds,
)
from fewer.statistics._moments import shift_of
from fewer.validate import FixedFolds, fold_interval


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.io._stream.CHUNK_BYTES", 1 << 13)
    monkeypatch.setattr("fewer.io._source.PART_ROWS", 700)
    rng = np.random.default_rng(0)
    n = 2000
    X = rng.normal(size=(n, 6))
    columns = {f"x{i}": X[:, i] for i in range(6)}
    columns["gap"] = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    columns["word"] = np.where(X[:, 5] > 0.5, "high", rng.choice(["low", "mid"], n))
    columns["fixed"] = np.ones(n)
    signal = X[:, 0] - 0.5 * X[:, 1] + (X[:, 5] > 0.5)
    columns["amount"] = signal + rng.normal(size=n)
    columns["label"] = np.where(signal + rng.normal(size=n) > 0, "yes", "no")
    pl.DataFrame(columns).write_parquet(tmp_path / "table.parquet", row_group_size=300)
    return tmp_path / "table.parquet"


def folds_of(stream, n_folds, seed):
    parts = []
    for part in range(stream.n_parts):
        n_rows = sum(chunk.n_samples for chunk in stream.chunks(part))
        parts.append(row_folds(part, 0, n_rows, n_folds, seed))
    return np.concatenate(parts)


@pytest.mark.parametrize(("target", "other"), [("label", "amount"), ("amount", "label")])
@pytest.mark.parametrize("search", [Forward(), Floating()], ids=str)
def test_selection_is_that_of_the_rows_in_memory_with_the_same_folds(path, tmp_path, target, other, search):
    stream = open_stream(path, target, exclude=[other])
    chosen = streaming.select(stream, criterion=LeastSquares(cv=4), search=search, cv=3, random_state=7)
    cells = folds_of(stream, 12, 7)
    pl.read_parquet(path).drop(other).write_parquet(tmp_path / "own.parquet")
    problem = read_table(tmp_path / "own.parquet", target)
    selector = SubsetSelector(LeastSquares(cv=FixedFolds(cells % 4)), search, random_state=7).fit_problem(problem)
    assert chosen.support == selector.support_.tolist()
    assert chosen.score_search == pytest.approx(selector.score_, rel=1e-10)
    assert chosen.set_aside == ["fixed"]
    scores, everyone = [], []
    for fold in range(3):
        train, test = problem.take(cells // 4 != fold), problem.take(cells // 4 == fold)
        criterion = LeastSquares(cv=FixedFolds((cells % 4)[cells // 4 != fold]))
        mask = SubsetSelector(criterion, search, random_state=0).fit_problem(train).support_
        scorer = criterion.bind(train, np.random.default_rng(0), Resources())
        for kept, own in ((scores, mask), (everyone, np.ones_like(mask))):
            outputs = scorer.predict(own, test.X)
            if target == "label":
                kept.append(np.mean(outputs.argmax(axis=1) == test.y))
            else:
                kept.append(1 - np.mean((test.y - outputs) ** 2) / problem.y.var())
    sizes = np.bincount(cells // 4)
    assert chosen.score_heldout == pytest.approx(np.average(scores, weights=sizes), rel=1e-9)
    assert chosen.score_heldout_all_features == pytest.approx(np.average(everyone, weights=sizes), rel=1e-9)
    assert chosen.heldout["low"] < chosen.score_heldout < chosen.heldout["high"]
    assert chosen.data["missing_cells"] == int(problem.missing.sum())
    assert "read in chunks: 2,000 rows" in chosen.warnings[-1]


def test_threads_change_nothing(path):
    stream = open_stream(path, "label")
    serial, threaded = (
        streaming.select(stream, criterion="least-squares:cv=3", search="forward", resources=Resources(n_jobs=n))
        for n in (1, 2)
    )
    assert serial.score_search == threaded.score_search
    assert serial.heldout == threaded.heldout


def test_others_work_on_a_sample_and_say_so(path, monkeypatch):
    monkeypatch.setattr(streaming, "SAMPLE_ROWS", 300)
    stream = open_stream(path, "label")
    chosen = streaming.select(stream, "knn-forward", cv=0)
    assert any("sample of 301 of the 2,000 rows" in note for note in chosen.warnings)
    ranking, notes = streaming.rank(stream, ReliefF())
    assert len(ranking.order) == stream.n_features
    assert any("sample of 301" in note for note in notes)
    assert streaming.rank(stream, Fisher())[1] == ()


def test_what_needs_the_rows_again_is_refused(path):
    stream = open_stream(path, "label")
    with pytest.raises(IncompatibleError, match="give folds, least-squares:cv=10"):
        streaming.select(stream, criterion="least-squares")
    with pytest.raises(IncompatibleError, match="omit the control"):
        streaming.select(stream, criterion="least-squares:cv=3", control="aggregate")
    with pytest.raises(IncompatibleError, match="leave rare out"):
        streaming.select(stream, criterion="least-squares:cv=3", rare="drop")


def test_products_that_memory_does_not_hold_are_refused(path, monkeypatch):
    monkeypatch.setattr("fewer.run.streaming.available_memory", lambda: 1000)
    with pytest.raises(
        IncompatibleError, match=r"in 15 folds need .* of memory, and 1.0 KiB is free: exclude columns of"
    ):
        streaming.select(path, target="label", criterion="least-squares:cv=3")


def test_command_line_reads_folders_and_tells_cuts(path, capsys):
    with pytest.raises(SystemExit) as done:
        main(
            ["rank", str(path.parent), "-t", "label", "-m", "mrmr", "--features", "2", "--exclude", "amount", "--json"]
        )
    assert done.value.code == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["ranking"][0]["feature"] == "x0"
    assert len(answer["ranking"]) == 2
    assert len(answer["cuts"]["x0"]) == 9
    words = "--criterion least-squares:cv=4 --search forward --exclude amount --json".split()
    with pytest.raises(SystemExit) as done:
        main(["select", str(path), "-t", "label", "--stream", *words])
    assert done.value.code == 0
    assert "x0" in json.loads(capsys.readouterr().out)["features"]
    with pytest.raises(SystemExit) as done:
        main(["select", str(path), "-t", "label", "--stream", "--criterion", "least-squares"])
    assert done.value.code == 2


def lazy(path, kind):
    """The same table in another guise."""
    import duckdb
    import pyarrow.dataset

    if kind == "Dask dataframe":
        dd = pytest.importorskip("dask.dataframe")
        return dd.from_pandas(pl.read_parquet(path).to_pandas(), npartitions=3)
    return {
        "file": path,
        "folder": str(path.parent),
        "glob": str(path.parent / "*.parquet"),
        "LazyFrame": pl.scan_parquet(path),
        "dataset": pyarrow.dataset.dataset(path),
        "relation": duckdb.sql(f"select * from '{path}'"),
    }[kind]


KINDS = ["file", "folder", "glob", "LazyFrame", "dataset", "relation", "Dask dataframe"]


@pytest.mark.parametrize("kind", KINDS)
def test_select_and_rank_take_any_table_that_is_not_in_memory(path, kind, monkeypatch):
    monkeypatch.setattr("fewer.io._source.available_memory", lambda: 0)
    stream = open_stream(path, "label", exclude=["amount"])
    table = lazy(path, kind)
    words = {"criterion": "least-squares:cv=4", "search": "forward", "n_features_to_select": 3, "random_state": 7}
    found = fewer.select(table, "label", **words, exclude=["amount"], cv=3)
    expected = streaming.select(stream, **words, cv=3)
    one_part = kind in ("dataset", "LazyFrame", "relation", "Dask dataframe")  # other parts, other folds
    assert found.features == expected.features
    assert found.score_heldout == pytest.approx(expected.score_heldout, abs=0.02 if one_part else 1e-12)
    assert "read in chunks: 2,000 rows" in found.warnings[-1]
    ranking, _ = streaming.rank(table, "fisher", target="label")
    whole, _ = streaming.rank(open_stream(path, "label"), Fisher())
    np.testing.assert_allclose(ranking.scores, whole.scores, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_compare_takes_them_too_and_works_on_a_sample(path, kind, monkeypatch):
    monkeypatch.setattr("fewer.io._source.available_memory", lambda: 0)
    monkeypatch.setattr("fewer.run.streaming.SAMPLE_ROWS", 300)
    words = {"n_features_to_select": 2, "cv": 2, "random_state": 0}
    found = fewer.compare(lazy(path, kind), "label", ["fisher"], ["tree"], **words)
    assert any(re.search(r"sample of 30\d of the 2,000 rows", note) for note in found.notes)
    assert {row.n_features for row in found.methods if row.name == "fisher"} == {2.0}


def test_the_command_compares_on_a_sample_of_a_folder(path, monkeypatch, capsys):
    monkeypatch.setattr("fewer.run.streaming.SAMPLE_ROWS", 300)
    words = "-t label -m fisher -f 2 -e tree --folds 2 --exclude amount --json".split()
    with pytest.raises(SystemExit) as done:
        main(["compare", str(path.parent), *words])
    assert done.value.code == 0
    assert re.search(r"sample of 30\d of the 2,000 rows", capsys.readouterr().out)


def test_one_file_that_memory_holds_is_read_as_a_whole(path):
    found = fewer.select(path, "label", "fisher", exclude=["amount"], cv=0, random_state=0)
    frame = pl.read_parquet(path)
    expected = fewer.select(frame.drop("label"), frame["label"], "fisher", exclude=["amount"], cv=0, random_state=0)
    assert found.features == expected.features
    assert not any("sample" in note for note in found.warnings)


@pytest.mark.parametrize("many", [False, True])
def test_columns_that_are_excluded_by_name_are_not_read(many, path):
    pl.read_parquet(path).with_columns(id=pl.lit(["a"])).write_parquet(path)  # a list, which nobody reads
    table = path.parent if many else path
    words = {"criterion": "least-squares:cv=3", "n_features_to_select": 1, "cv": 0, "random_state": 0}
    found = fewer.select(table, "label", exclude=["id", "amount"], **words)
    assert (found.features, found.n_features) == (["x0"], 9)


def test_a_streamed_selection_says_what_knowing_nothing_reaches(path):
    words = {"criterion": "least-squares:cv=3", "n_features_to_select": 1, "cv": 2, "random_state": 0}
    found = fewer.select(path.parent, "label", **words)
    share = pl.read_parquet(path)["label"].value_counts()["count"].max() / 2000
    assert found.baseline == share
    assert "knowing nothing" in str(found)
    assert fewer.select(path.parent, "amount", **words).baseline == 0.0
    assert fewer.select(path.parent, "label", exclude=["gap"], sample_weight="fixed", **words).baseline == share


def test_a_table_that_is_not_in_memory_needs_the_names_of_its_columns(path):
    table = pl.scan_parquet(path)
    with pytest.raises(InputError, match="LazyFrame that includes the target: name its column"):
        fewer.select(table, np.zeros(2000))
    with pytest.raises(InputError, match="sample_weight is the name of one of its columns"):
        fewer.select(table, "label", sample_weight=np.ones(2000))
    with pytest.raises(InputError, match="groups is the name of one of its columns"):
        fewer.select(table, "label", groups=np.ones(2000))
    with pytest.raises(InputError, match="name that column"):
        streaming.rank(table, "fisher")
    for option in ({"scoring": "accuracy"}, {"budget": "5s"}):
        with pytest.raises(IncompatibleError, match=f"leave {next(iter(option))} out"):
            fewer.select(table, "label", criterion="least-squares:cv=4", **option)


def test_weights_of_a_lazy_table_count(path):
    frame = pl.read_parquet(path).drop("label")
    weights = np.arange(2000) % 3
    table = frame.with_columns(pl.Series("w", weights)).lazy()
    words = {"criterion": "least-squares:cv=3", "n_features_to_select": 2, "cv": 0, "random_state": 0}
    chosen = fewer.select(table, "amount", sample_weight="w", **words)
    assert chosen.score_search != fewer.select(frame.lazy(), "amount", **words).score_search
    assert chosen.n_features == frame.width - 1


def test_a_run_on_a_sample_goes_on_where_it_was_stopped(path, tmp_path, capsys):
    words = ["select", str(path), "-t", "label", "--stream", "--exclude", "amount", "-m", "knn-forward", "--json"]
    answers = []
    for more in ([], ["--out", str(tmp_path / "run")], ["--out", str(tmp_path / "run"), "--resume"]):
        with pytest.raises(SystemExit) as done:
            main([*words, "--folds", "2", *more])
        assert done.value.code == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0]["features"] == answers[1]["features"] == answers[2]["features"]
    assert answers[0]["score_heldout"] == answers[2]["score_heldout"]
    with pytest.raises(SystemExit) as done:
        main([*words, "--calendar"])
    assert done.value.code == 2
    assert "--calendar needs the table in memory: use --no-stream." in capsys.readouterr().err


def test_rare_classes_keep_rows_in_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "SAMPLE_ROWS", 100)
    rng = np.random.default_rng(0)
    y = np.repeat(["often", "seldom"], [1970, 30])
    pl.DataFrame({"x": rng.normal(size=2000), "z": (y == "seldom") + rng.normal(size=2000), "y": y}).write_parquet(
        tmp_path / "t.parquet"
    )
    chosen = streaming.select(tmp_path / "t.parquet", "fisher", target="y", n_features_to_select=1)
    assert chosen.data["classes"]["seldom"] == 20


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A part of the table of `benchmarks/make_large_table.py`: its path, and a folder."""
    script = Path(__file__).parents[2] / "benchmarks" / "make_large_table.py"
    block = runpy.run_path(str(script))["block"]
    folder = tmp_path_factory.mktemp("large")
    pl.concat([pl.from_arrow(block(4_000, seed)) for seed in range(3)]).write_parquet(
        folder / "large.parquet", row_group_size=900
    )
    return folder / "large.parquet"


@pytest.fixture(params=[("label", "amount"), ("amount", "label")], ids=["classes", "quantity"])
def part(large, request, tmp_path, monkeypatch):
    """The part as a stream of many chunks and as rows in memory."""
    monkeypatch.setattr("fewer.io._stream.CHUNK_BYTES", 1 << 17)
    monkeypatch.setattr("fewer.io._source.PART_ROWS", 2_000)
    target, other = request.param
    pl.read_parquet(large).drop(other).write_parquet(tmp_path / "own.parquet")
    stream, rows = open_stream(large, target, exclude=[other]), read_table(tmp_path / "own.parquet", target)
    assert stream.n_parts > 4
    assert rows.missing.any()
    return stream, rows


def test_sums_of_a_part_of_the_large_table_are_those_in_memory(part):
    stream, rows = part
    like, folds = stream.like, folds_of(stream, 10, 3)
    edges = [np.quantile(cells[~np.isnan(cells)], [0.25, 0.5, 0.75]) for cells in rows.X.T]
    bins = Bins.of(rows, edges, None if rows.task == "classification" else np.array([-1.0, 1.0]))
    moments = (
        partial(ClassMoments, shift_of(like))
        if rows.task == "classification"
        else partial(TargetMoments, shift_of(like)[:, 0], float(like.y.mean()))
    )
    chunks = collect(
        stream,
        lambda: (moments(), JointCounts(bins), PairCounts(bins), GramSums(like, DealtFolds(10, seed=3))),
        Resources(),
    )
    whole = (moments(), JointCounts(bins), PairCounts(bins), GramSums(like, folds))
    for one in whole:
        one.add(rows)
    for place in (1, 2):
        np.testing.assert_array_equal(chunks[place]._counts, whole[place]._counts)
    np.testing.assert_array_equal(chunks[0].counts, whole[0].counts)
    np.testing.assert_array_equal(chunks[3].n_rows, whole[3].n_rows)
    size = np.sqrt(np.einsum("fii->fi", whole[3].products))
    error = np.abs(chunks[3].products - whole[3].products) / (size[:, :, None] * size[:, None, :])
    assert error.max() < 1e-12
    if rows.task == "classification":
        np.testing.assert_allclose(chunks[0].deviation, whole[0].deviation, rtol=1e-12)
        spread = np.sqrt(whole[0].deviation * whole[0].mass)
        assert (np.abs(chunks[0].sums - whole[0].sums) / spread).max() < 1e-12
    else:
        np.testing.assert_allclose(chunks[0].sums[:, [2, 4]], whole[0].sums[:, [2, 4]], rtol=1e-12)
        np.testing.assert_allclose(chunks[0].correlation, whole[0].correlation, rtol=0, atol=1e-12)


def test_answers_on_a_part_of_the_large_table_are_those_in_memory(part):
    stream, rows = part
    for ranker in (FTest(), MRMR(n_ranked=20)):
        chunks, _ = streaming.rank(stream, ranker, random_state=5)
        memory = ranker.rank(rows, np.random.default_rng(5), Resources())
        np.testing.assert_array_equal(chunks.order, memory.order)
        np.testing.assert_allclose(chunks.scores, memory.scores, rtol=1e-10, atol=1e-12)
    chosen = streaming.select(stream, criterion="least-squares:cv=10", search="forward", cv=0, random_state=7)
    criterion = LeastSquares(cv=FixedFolds(folds_of(stream, 10, 7)))
    fitted = SubsetSelector(criterion, Forward(), random_state=7).fit_problem(rows)
    assert chosen.support == fitted.support_.tolist()
    assert chosen.score_search == pytest.approx(fitted.score_, rel=1e-12)


@pytest.mark.parametrize("cells", [[7.5] * 60, ["blue"] * 60, [None] * 60], ids=["number", "word", "empty"])
def test_a_table_in_which_nothing_varies_is_refused_as_in_memory(cells, tmp_path):
    table = pl.DataFrame(
        {"w": pl.Series(cells, dtype=pl.Float64 if cells[0] != "blue" else pl.String), "y": [0, 1] * 30}
    )
    table.write_parquet(tmp_path / "flat.parquet")
    message = "Every column is constant or empty; at least one must vary."
    with pytest.raises(InputError, match=message):
        fewer.select(table.drop("y"), table["y"])
    for ranker in ("fisher", "chi2", "information-gain", "mrmr", "jim", "relieff"):
        with pytest.raises(InputError, match=message):
            streaming.rank(tmp_path / "flat.parquet", ranker, target="y")
    for criterion in ("least-squares:cv=3", "naive-bayes:cv=3", "knn"):
        with pytest.raises(InputError, match=message):
            streaming.select(tmp_path / "flat.parquet", target="y", criterion=criterion)
    with pytest.raises(InputError, match=message):
        streaming.select(tmp_path / "flat.parquet", "fisher", target="y", cv=0)


@pytest.fixture
def visits(tmp_path, monkeypatch):
    """Patients with several visits: what tells patients apart says much of a visit only where the patient is known."""
    monkeypatch.setattr("fewer.io._stream.CHUNK_BYTES", 1 << 13)
    monkeypatch.setattr("fewer.io._source.PART_ROWS", 700)
    rng = np.random.default_rng(0)
    n, patient = 2400, rng.integers(0, 150, 2400)
    X = rng.normal(size=(n, 3))
    own = rng.normal(size=150)
    odds = X[:, 0] + 0.4 * X[:, 1] + 2 * own[patient]
    columns = {f"x{i}": X[:, i] for i in range(3)}
    columns |= {"height": rng.normal(size=150)[patient], "ward": [f"w{k}" for k in patient // 3]}
    columns |= {"patient": [f"p{k}" for k in patient], "visit": rng.permutation(n), "number": patient * 1.0}
    columns["day"] = np.datetime64("2020-01-01") + columns["visit"].astype("timedelta64[h]").astype("timedelta64[us]")
    columns["label"] = np.where(odds + rng.normal(size=n) > 0, "yes", "no")
    columns["amount"] = odds + rng.normal(size=n)
    pl.DataFrame(columns).write_parquet(tmp_path / "visits.parquet", row_group_size=300)
    return tmp_path / "visits.parquet"


def cells_of(stream, folds):
    parts = []
    for part in range(stream.n_parts):
        start = 0
        for chunk in stream.chunks(part):
            parts.append(folds.cells(chunk, part, start))
            start += chunk.n_samples
    return np.concatenate(parts)


@pytest.mark.parametrize("criterion", [LeastSquares, NaiveBayes])
@pytest.mark.parametrize(("groups", "most"), [("patient", 1000), ("patient", 100), ("number", 100)])
def test_a_group_is_in_one_fold_and_the_selection_is_that_in_memory(visits, groups, most, criterion, monkeypatch):
    monkeypatch.setattr("fewer.io._stream.MOST_GROUPS", most)
    drop = [name for name in ("patient", "number", "visit", "day", "amount") if name != groups]
    stream = open_stream(visits, "label", exclude=drop, groups=groups)
    assert (stream.n_groups is None) == (most == 100)
    chosen = streaming.select(stream, criterion=criterion(cv=4), search=Forward(), cv=3, random_state=7)
    cells = cells_of(stream, DealtFolds.of(stream, 3, 4, 7))
    owner = pl.read_parquet(visits)[groups].to_numpy()
    assert all(len(np.unique(cells[owner == one])) == 1 for one in np.unique(owner))
    assert len(np.unique(cells)) == 12
    problem = read_table(visits, "label", exclude=drop, groups=groups)
    if criterion is NaiveBayes:  # bins are cut by other rows in memory; its folds are those above
        assert 0.4 < chosen.score_heldout < 0.9
        return
    selector = SubsetSelector(LeastSquares(cv=FixedFolds(cells % 4)), Forward(), random_state=7).fit_problem(problem)
    assert chosen.support == selector.support_.tolist()
    assert chosen.score_search == pytest.approx(selector.score_, rel=1e-10)
    right = np.empty(problem.n_samples)
    for fold in range(3):
        train, test = problem.take(cells // 4 != fold), problem.take(cells // 4 == fold)
        own = LeastSquares(cv=FixedFolds((cells % 4)[cells // 4 != fold]))
        mask = SubsetSelector(own, Forward(), random_state=0).fit_problem(train).support_
        scorer = own.bind(train, np.random.default_rng(0), Resources())
        right[cells // 4 == fold] = scorer.predict(mask, test.X).argmax(axis=1) == test.y
    assert chosen.score_heldout == pytest.approx(right.mean(), rel=1e-9)
    if most == 1000:  # each group is one draw
        means = [right[cells // 4 == fold].mean() for fold in range(3)]
        sizes, variances = np.bincount(cells // 4), []
        for fold, mean in enumerate(means):
            held = cells // 4 == fold
            sums = np.bincount(problem.groups[held], (right[held] - mean) / held.sum())
            n_groups = len(np.unique(problem.groups[held]))
            variances.append((sums**2).sum() * n_groups / (n_groups - 1))
        ends = fold_interval(
            means, variances, sizes=sizes, correlation=np.mean(sizes / (2400 - sizes)), degrees_of_freedom=147,
            resolution=1.5 / 150,
        )  # fmt: skip
        assert (chosen.heldout["low"], chosen.heldout["high"]) == pytest.approx((ends.low, ends.high), rel=1e-9)


@pytest.mark.parametrize("time", ["visit", "day"])
def test_rows_in_time_are_never_judged_by_later_ones(visits, time):
    drop = [name for name in ("patient", "number", "visit", "day", "label", "ward") if name != time]
    stream = open_stream(visits, "amount", exclude=drop, time=time)
    chosen = streaming.select(stream, criterion=LeastSquares(cv=3, alpha=1e-12), search=Forward(), cv=2, random_state=7)
    table = pl.read_parquet(visits)
    X, y = table.select("x0", "x1", "x2", "height").to_numpy(), table["amount"].to_numpy()

    def lost(train, test, mask):
        design = np.column_stack([np.ones(len(y)), X[:, mask]])
        return (y[test] - design[test] @ np.linalg.lstsq(design[train], y[train])[0]) ** 2

    def score(spans, mask):
        pairs = [(np.concatenate(spans[:i]), spans[i]) for i in range(1, len(spans))]
        held = np.concatenate(spans[1:])
        return 1 - sum(lost(*pair, mask).sum() for pair in pairs) / ((y[held] - y[held].mean()) ** 2).sum()

    def forward(rows):
        spans, mask, best = np.array_split(rows, 4), np.zeros(4, dtype=bool), -np.inf
        while not mask.all():
            more = {j: score(spans, mask | (np.arange(4) == j)) for j in np.flatnonzero(~mask)}
            j = max(more, key=more.get)
            if more[j] <= best:
                break
            mask[j], best = True, more[j]
        return mask, best

    order = np.argsort(table["visit"].to_numpy())
    mask, best = forward(order)
    assert chosen.support == mask.tolist()
    assert chosen.score_search == pytest.approx(best, rel=1e-6)
    scores = []
    for train, test in ((order[:800], order[800:1600]), (order[:1600], order[1600:])):
        scores.append(1 - lost(train, test, forward(train)[0]).mean() / y.var())
    assert chosen.score_heldout == pytest.approx(np.mean(scores), rel=1e-6)
    assert chosen.heldout["n_folds"] == 2


def test_auto_with_groups_takes_nothing_that_only_names_them(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "ROUNDS", (1_000,))
    rng = np.random.default_rng(1)
    n, patient = 16_000, rng.integers(0, 200, 16_000)
    X = rng.normal(size=(n, 3))
    odds = X[:, 0] + 3 * rng.normal(size=200)[patient]
    columns = {f"x{i}": X[:, i] for i in range(3)} | {"ward": [f"w{k}" for k in patient], "patient": patient}
    columns["label"] = np.where(odds + rng.normal(size=n) > 0, "yes", "no")
    pl.DataFrame(columns).write_parquet(tmp_path / "visits.parquet")
    apart = fewer.select(str(tmp_path), "label", groups="patient", random_state=0)
    assert apart.features == ["x0"]
    assert apart.heldout["by"] == "group"
    assert "rows chose and scored" in apart.warnings[-1]
    mixed = fewer.select(str(tmp_path), "label", exclude=["patient"], random_state=0)
    assert "ward" in mixed.features
    assert mixed.score_heldout > apart.score_heldout + 0.1


def test_auto_in_time_learns_levels_from_the_first_rows_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "ROUNDS", (1_000,))
    rng = np.random.default_rng(1)
    n, when = 16_000, np.arange(16_000)
    X, shop = rng.normal(size=(n, 3)), rng.integers(0, 5, n)
    late = when > n // 2
    columns = {f"x{i}": X[:, i] for i in range(3)} | {"shop": [f"s{k}" for k in shop], "when": when}
    columns["label"] = np.where(X[:, 0] + 3 * late * (shop - 2) + rng.normal(size=n) > 0, "yes", "no")
    pl.DataFrame(columns).write_parquet(tmp_path / "visits.parquet")
    stream = open_stream(str(tmp_path), "label", time="when")
    sample, _ = streaming._drawn(stream, 4_000, 0, Resources())
    found = AllRows.of(stream, sample, SearchSpace.of(4), "accuracy", 0, Resources())
    assert np.ptp(found.whole.terms.tables[3]) < 0.3  # later it is above 0.8
    chosen = streaming.select(stream, random_state=0, resources=Resources())
    assert chosen.features[0] == "x0"
    assert chosen.heldout["n_folds"] == 5


def test_groups_and_time_are_refused_where_they_cannot_be_kept(visits, monkeypatch):
    monkeypatch.setattr(streaming, "ROUNDS", (400,))
    stream = open_stream(visits, "label", groups="patient", time="visit")
    for words in ({"criterion": "least-squares:cv=3"}, {"criterion": "naive-bayes:cv=3"}):
        with pytest.raises(IncompatibleError, match="groups and time together on a table in chunks: use auto"):
            streaming.select(stream, **words)
    with pytest.raises(IncompatibleError, match="NaiveBayes cannot use time"):
        streaming.select(open_stream(visits, "label", time="visit"), criterion="naive-bayes:cv=3")
    sessions = pl.read_parquet(visits).with_columns(session=pl.col("visit") // 20).drop("patient", "number").lazy()
    found = fewer.select(sessions, "label", groups="session", time="visit", random_state=0, cv=2)
    assert "rows of groups in time" in found.warnings[-1]  # what a refusal names works
    frame = pl.read_parquet(visits).with_columns(x0=pl.when(pl.int_range(pl.len()) > 0).then("x0"))
    with pytest.raises(InputError, match="'x0' has no group in 1 rows"):
        open_stream(frame.lazy(), "label", groups="x0")
    with pytest.raises(InputError, match="'ward' has 'w"):
        open_stream(visits, "label", time="ward")


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_takes_groups_and_time(visits, kind, monkeypatch):
    monkeypatch.setattr("fewer.io._source.available_memory", lambda: 0)
    words = {"criterion": "least-squares:cv=4", "search": "forward", "random_state": 7, "cv": 3}
    drop = {"exclude": ["number", "ward", "amount"]}
    expected = streaming.select(open_stream(visits, "label", groups="patient", **drop), **words)
    found = fewer.select(lazy(visits, kind), "label", groups="patient", **words, **drop)
    assert found.score_heldout == pytest.approx(expected.score_heldout, abs=1e-12)  # parts do not matter to groups
    assert fewer.select(lazy(visits, kind), "label", time="day", **words, **drop).heldout["n_folds"] == 3


LOGISTIC = "cross-validated:estimator=linear,cv=3"


@pytest.mark.parametrize("criterion", [None, "least-squares:cv=3", "naive-bayes:cv=3", LOGISTIC])
def test_a_run_that_dies_between_passes_gives_the_same_answer_when_it_is_resumed(
    path, tmp_path, criterion, monkeypatch
):
    monkeypatch.setattr(streaming, "ROUNDS", (300,))
    monkeypatch.setattr(streaming, "FEWEST_LEFT", 100)
    stream = open_stream(path, "label", exclude=["amount"])
    words = {"criterion": criterion, "cv": 3, "random_state": 0, "resources": Resources()}
    words |= {} if criterion is None else {"n_features_to_select": 2}
    serial = streaming.select(stream, **words).to_dict()
    run, made = tmp_path / "run", HeldoutSums.add

    def dies(*_):
        raise MemoryError

    monkeypatch.setattr(HeldoutSums, "add", dies)
    with pytest.raises(MemoryError):
        streaming.select(stream, **words, resume_dir=run)
    assert not (run / "result.json").exists()  # what a sample said is no result yet
    monkeypatch.setattr(HeldoutSums, "add", made)
    found = streaming.select(stream, **words, resume_dir=run).to_dict()
    own = {"seconds", "trace", "fingerprint", "n_evaluations", "evidence"}
    assert {key: value for key, value in found.items() if key not in own} == {
        key: value for key, value in serial.items() if key not in own
    }
    assert json.loads((run / "result.json").read_text())["features"] == found["features"]
    with pytest.raises(InputError, match="different run"):
        streaming.select(stream, **words | {"random_state": 1}, resume_dir=run)


def test_the_command_keeps_a_run_on_all_rows_that_transform_takes(path, tmp_path, capsys):
    run, saved = tmp_path / "run", tmp_path / "out.csv"
    words = ["--criterion", "least-squares:cv=3", "--search", "forward", "--folds", "2", "--exclude", "amount"]
    files = ["--out", str(run), "--report", str(tmp_path / "page.html"), "--save", str(saved)]
    with pytest.raises(SystemExit) as done:
        main(["select", str(path.parent), "-t", "label", *words, *files])
    assert done.value.code == 0
    features = json.loads((run / "result.json").read_text())["features"]
    assert pl.read_csv(saved).columns == [*features, "label"]
    assert "<html" in (tmp_path / "page.html").read_text()
    with pytest.raises(SystemExit) as done:
        main(["transform", str(run), str(path), "--save", str(tmp_path / "again.csv")])
    assert done.value.code == 0
    assert pl.read_csv(tmp_path / "again.csv").columns == features
