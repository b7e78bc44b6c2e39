"""Wherever tasks run, the answer is the serial one to the bit; a lost worker costs time, not the run."""

import json
import os
import pickle
import signal
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from joblib import parallel_config
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import fewer
from fewer import evaluate, streaming
from fewer.cli import main
from fewer.contracts import Resources
from fewer.control import Aggregate, EarlyStopping, OneStandardError, StabilitySelection
from fewer.criteria import KNN, CrossValidated
from fewer.errors import InputError
from fewer.io import open_stream
from fewer.io._stream import HEAD_CELLS
from fewer.parallel import Shared, _same, connect, in_threads, leaves_machine, reduce_tasks, run_tasks
from fewer.problem import Problem
from fewer.rankers import MRMR
from fewer.search import Annealing, Forward
from fewer.statistics import DealtFolds, GramSums, collect

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    import dask
    from distributed.utils import get_mp_context

    # Workers are copies of one process that has imported everything: they start, and start again, at once.
    method = dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    with warnings.catch_warnings(), method:
        warnings.simplefilter("ignore")
        get_mp_context().set_forkserver_preload(["distributed", "polars", "fewer.streaming", "fewer.evaluate"])
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
        )
        client = distributed.Client(cluster)
        yield client
        client.close()
        cluster.close()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    return X, (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=90) > 0).astype(int)


def cross_validated(X, y):
    criterion = CrossValidated(KNeighborsClassifier(3), cv=3)
    selector = fewer.SubsetSelector(criterion, Forward(), n_features_to_select=3, random_state=0).fit(X, y)
    return selector.support_.tolist(), selector.score_


def aggregate(X, y):
    selector = fewer.SubsetSelector(KNN(), Forward(), control=Aggregate(n_runs=4), random_state=0).fit(X, y)
    return selector.support_.tolist(), selector.score_, selector.trace_.extra["frequency"].tolist()


def auto(X, y):
    chosen = fewer.select(X[:60], y[:60], random_state=0)
    return chosen.features, chosen.score_heldout, chosen.heldout, chosen.frequency


def compare(X, y):
    comparison = evaluate.compare(Problem.from_arrays(X, y), {"knn": fewer.SubsetSelector(KNN(), Forward())}, cv=3)
    return [(row.name, row.estimator, row.score, row.n_features) for row in comparison.methods], comparison.subsets


def early_stopping(X, y):
    control = EarlyStopping(cv=3)
    search = Annealing(levels=8, answer="final")
    trace = fewer.SubsetSelector(KNN(), search, control=control, random_state=0).fit(X, y).trace_
    return trace.best.tolist(), trace.best_score, trace.extra["validation"].tolist()


def one_standard_error(X, y):
    trace = fewer.SubsetSelector(KNN(), Forward(), control=OneStandardError(cv=3), random_state=0).fit(X, y).trace_
    return trace.best.tolist(), trace.best_score


def ensemble(X, y):
    fitted = fewer.SubsetEnsemble(KNN(), Annealing(levels=5), n_runs=3, random_state=0).fit(X, y)
    return fitted.subsets_.tolist(), fitted.oof_score_, fitted.predict(X[:5]).tolist()


def streamed_rank(X, y, path=None):
    ranking, _ = streaming.rank(open_stream(path, "y"), MRMR())
    return ranking.order.tolist(), ranking.scores.tolist()


def stability(X, y):
    control = StabilitySelection(0.7, n_pairs=4)
    ranked = fewer.RankSelector(fewer.rankers.Fisher(), control=control, random_state=0).fit(X, y)
    found = fewer.SubsetSelector(KNN(), Forward(), control=control, random_state=0).fit(X, y)
    return [(fit.support_.tolist(), fit.trace_.extra["frequency"].tolist()) for fit in (ranked, found)]


KINDS = [cross_validated, aggregate, auto, compare, early_stopping, one_standard_error, ensemble, stability]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_cluster_gives_the_serial_answer(kind, client, table):
    serial = kind(*table)
    with parallel_config(backend="dask"):
        assert kind(*table) == serial


def test_a_streamed_ranking_on_a_cluster_is_the_serial_one(client, table, tmp_path, monkeypatch):
    monkeypatch.setattr("fewer.io._source.PART_ROWS", 30)
    X, y = table
    frame = pl.DataFrame({f"x{i}": X[:, i] for i in range(6)} | {"y": y})
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=30)
    serial = streamed_rank(X, y, tmp_path / "t.parquet")
    with parallel_config(backend="dask"):
        assert streamed_rank(X, y, tmp_path / "t.parquet") == serial
    direct, _ = streaming.rank(open_stream(tmp_path / "t.parquet", "y"), MRMR(), resources=Resources(executor=client))
    assert direct.scores.tolist() == serial[1]


def made(number, n_rows=30, n_columns=5, kill=""):
    """A partition that is made where it is read; the first that finds no file ends its worker."""
    import pandas as pd

    if kill and number == 2 and not os.path.exists(kill):
        Path(kill).touch()
        os._exit(1)
    rng = np.random.default_rng(number)
    X = rng.normal(size=(n_rows, n_columns))
    X[0, 1] = np.nan
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(n_columns)])
    frame["word"], frame["who"] = rng.choice(["a", "b", "c"], n_rows), [f"w{k}" for k in rng.integers(0, 40, n_rows)]
    return frame.assign(y=np.where(X[:, 0] + 0.3 * rng.normal(size=n_rows) > 0, "u", "v"))


def partitions(n, **how):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_map(made, range(n), meta=made(0, **{key: how[key] for key in how if key != "kill"})[:0], **how)


def gram_answer(frame):
    """What a table in parts answers: a selection by sums, a ranking, and the sums themselves."""
    stream = open_stream(frame, "y", exclude=["who"])
    words = {"criterion": "least-squares:cv=3", "n_features_to_select": 2, "cv": 2, "random_state": 0}
    found, grouped = (streaming.select(own, **words) for own in (stream, open_stream(frame, "y", groups="who")))
    sums = collect(stream, partial(GramSums, stream.like, DealtFolds(2)), Resources())
    answers = [(one.features, one.score_search, one.score_heldout) for one in (found, grouped)]
    return answers, sums.products.tobytes(), sums.about.tobytes()


@pytest.mark.parametrize("way", ["lazy", "persisted", "killed"])
def test_a_dask_frame_is_read_where_it_lies_and_gives_the_serial_answer(way, client, tmp_path, monkeypatch):
    with monkeypatch.context() as without:
        without.setattr("fewer.io._source.PartitionSource._client", lambda self, resources: None)
        serial = gram_answer(partitions(7))
    # here no partition is computed and no frame opened
    monkeypatch.setattr("fewer.io._source._computed", lambda part: pytest.fail("a part was computed here"))
    monkeypatch.setattr("fewer.io._source._slices", lambda *_: pytest.fail("a frame was opened here"))
    frame = partitions(7, kill=str(tmp_path / "killed") if way == "killed" else "")
    assert gram_answer(frame.persist() if way == "persisted" else frame) == serial
    assert (tmp_path / "killed").exists() == (way == "killed")


@pytest.fixture
def traffic(client, monkeypatch):
    """Count the bytes that the client reads from the scheduler and writes to it."""
    from tornado.iostream import IOStream

    port = int(client.scheduler.address.rpartition(":")[2])
    seen = []

    def counted(plain):
        def count(self, data):
            n_bytes = plain(self, data)
            if self.socket is not None and self.socket.getpeername()[1] == port:
                seen.append(n_bytes or 0)
            return n_bytes

        return count

    for name in ("read_from_fd", "write_to_fd"):
        monkeypatch.setattr(IOStream, name, counted(getattr(IOStream, name)))
    return seen


def test_sums_stay_where_they_lie_however_many_parts_there_are(client, traffic, monkeypatch):
    monkeypatch.setattr("fewer.run.streaming.SHOWN_CELLS", 0)  # a table of 1,000 parts is too large for pictures
    # Four Gram matrices of 1,000 columns are 16 MB as triangles; what the searches on them found is what travels.
    words = {"criterion": "least-squares:cv=2", "n_features_to_select": 1, "cv": 2, "random_state": 0}
    through = {}
    for n_parts in (8, 32):
        frame = partitions(n_parts, n_rows=6, n_columns=1000)
        stream = open_stream(frame, "y", exclude=["word", "who"])
        del traffic[:]
        streaming.select(stream, **words)
        through[n_parts] = sum(traffic)
    each = (through[32] - through[8]) / 24
    first_rows = 4 * 8 * HEAD_CELLS  # what a stream keeps of longer parts, sent with each pass
    assert through[32] < 2e6
    assert through[32] + 968 * each + first_rows < 50e6  # computed for 1,000 parts


def test_neighbors_are_merged_in_one_tree_wherever_tasks_run(client):
    tree = [reduce_tasks(leaf, pair, [(i,) for i in range(11)], resources) for resources in
            (Resources(), Resources(2), Resources(executor=client))]  # fmt: skip
    assert tree[0] == tree[1] == tree[2]
    assert tree[0] == "(((0+1)+(2+3))+((4+5)+(6+7)))+((8+9)+10)"


def leaf(_, number):
    return str(number)


def pair(_, one, other):
    return f"{one if one.isdigit() else f'({one})'}+{other if other.isdigit() else f'({other})'}"


class Mortal(DecisionTreeClassifier):
    """A tree that kills the process in which it is fitted for the twentieth time, unless that is its home."""

    def __init__(self, max_depth=2, home=0, counter=""):
        super().__init__(max_depth=max_depth)
        self.home = home
        self.counter = counter

    def fit(self, X, y):
        if os.getpid() != self.home:
            file = os.open(self.counter, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
            os.write(file, b".")
            n_fits = os.lseek(file, 0, os.SEEK_CUR)
            os.close(file)
            if n_fits == 20:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)


def mortal_run(table, counter, **where):
    criterion = CrossValidated(Mortal(home=os.getpid(), counter=str(counter)), cv=3)
    return fewer.select(*table, criterion=criterion, search="forward", cv=3, random_state=0, **where)


def told(selection):
    return {key: value for key, value in selection.to_dict().items() if key not in ("seconds", "code", "fingerprint")}


def test_a_run_whose_worker_is_killed_midway_ends_with_the_serial_answer(client, table, tmp_path):
    serial = mortal_run(table, tmp_path / "counter")
    workers = set(client.run(os.getpid).values())
    with parallel_config(backend="dask"):
        chosen = mortal_run(table, tmp_path / "counter")
    assert (tmp_path / "counter").stat().st_size > 20
    assert set(client.run(os.getpid).values()) != workers
    assert told(chosen) == told(serial)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_keep_the_order_and_may_ask_for_threads_in_turn(n_jobs):
    def sums(n):
        return sum(in_threads(lambda x: x * x, range(n), n_jobs))

    assert in_threads(sums, [3, 1, 2, 4], n_jobs) == [5, 0, 1, 14]


def test_tasks_of_a_comparison_are_small(monkeypatch):
    sizes = []

    def count(call):
        return lambda *job: sizes.append(len(pickle.dumps(job))) or (call, job, {})

    monkeypatch.setattr("fewer.parallel.delayed", count)
    # Only what would be sent is of interest: the tasks are done here.
    monkeypatch.setattr("fewer.parallel.Parallel", lambda **_: lambda jobs: [call(*job) for call, job, _ in jobs])
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.normal(size=(1000, 160)), rng.integers(0, 2, 1000))
    methods = {"fisher": fewer.RankSelector(fewer.rankers.Fisher(), n_features_to_select=5)}
    evaluate.compare(problem, methods, cv=2, n_jobs=2)
    assert len(sizes) == 6
    assert max(sizes) < 20_000


@pytest.mark.parametrize("ordered", [True, False])
def test_order_and_place_of_tasks(ordered, client):
    shared = Shared(np.arange(5.0))
    for resources in (Resources(), Resources(n_jobs=2), Resources(executor=client)):
        found = list(run_tasks(pow, [(2,), (3,), (4,)], resources, shared=shared, ordered=ordered))
        order = sorted(range(3), key=lambda i: found[i][3])
        if ordered:
            assert order == [0, 1, 2]
        assert [found[i][3] for i in order] == [9.0, 27.0, 81.0]
    assert leaves_machine(Resources(executor=client))
    assert not leaves_machine(Resources(n_jobs=2))


def test_command_line_works_on_a_cluster(client, table, tmp_path, capsys):
    X, y = table
    pl.DataFrame({f"x{i}": X[:, i] for i in range(6)} | {"y": y}).write_csv(tmp_path / "t.csv")
    file = [str(tmp_path / "t.csv"), "-t", "y", "--json"]
    for command in (["rank", *file, "-m", "jmi", "--stream"], ["compare", *file, "-m", "fisher", "--folds", "2"]):
        answers = []
        for more in ([], ["--cluster", client.scheduler.address]):
            with pytest.raises(SystemExit) as done:
                main([*command, *more])
            assert done.value.code == 0
            answers.append(json.loads(capsys.readouterr().out))
        if command[0] == "rank":
            assert answers[0] == answers[1]
        else:
            one, other = ([(row["name"], row["score"]) for row in answer["methods"]] for answer in answers)
            assert one == other


def test_an_address_where_nobody_answers_is_named():
    with pytest.raises(InputError, match="No Dask scheduler answers at tcp://127.0.0.1:1"):
        connect("tcp://127.0.0.1:1", timeout=1.0)


def test_a_run_whose_process_is_killed_ends_in_one_line_and_goes_on(table, tmp_path):
    serial = mortal_run(table, tmp_path / "counter")
    with pytest.raises(InputError, match="was killed.*goes on where it stopped") as stopped:
        mortal_run(table, tmp_path / "counter", n_jobs=2, resume_dir=tmp_path / "run")
    assert time.time() - (tmp_path / "counter").stat().st_mtime < 60
    assert "\n" not in str(stopped.value)
    assert told(mortal_run(table, tmp_path / "counter", resume_dir=tmp_path / "run")) == told(serial)


class SparkDistributedBackend:
    """Stands in for joblib's Spark backend, which hands errors over as something that cannot be iterated."""


def doubled(shared, number):
    if number < 0:
        raise InputError(f"{number} is below 0.")
    return shared * number


@pytest.mark.parametrize(("numbers", "said"), [([1, -2], "-2 is below 0"), ([1, None], "was killed")])
def test_errors_of_tasks_on_spark_are_told_apart_from_lost_workers(numbers, said, monkeypatch):
    def parallel(**_):
        def run(jobs):
            for call, job, _ in jobs:
                if job[2] == (None,):
                    raise TypeError("'_ExceptionWithTraceback' object is not iterable")
                yield call(*job)

        return run

    monkeypatch.setattr("fewer.parallel.Parallel", parallel)
    monkeypatch.setattr("fewer.parallel.get_active_backend", lambda prefer: (SparkDistributedBackend(), 2))
    shared = Shared(10)
    shared._placed["SparkDistributedBackend"] = partial(_same, 10)
    found = run_tasks(doubled, [(number,) for number in numbers], Resources(n_jobs=2), shared=shared)
    assert next(found) == 10
    with pytest.raises(InputError, match=said):
        next(found)


def test_a_cluster_that_loses_its_workers_again_and_again_is_told_in_one_line(monkeypatch):
    tried = []

    class KilledWorker(Exception):
        """As Dask names it."""

    def lose(client, function, tasks, todo, shared, anew):
        tried.append(list(todo))
        if anew is False:
            yield 0, 4
        raise KilledWorker

    monkeypatch.setattr("fewer.parallel._attempt", lose)
    found = run_tasks(pow, [(2,), (3,)], Resources(executor=object()), shared=2)
    assert next(found) == 4
    with pytest.raises(InputError, match=r"^The cluster lost its workers 3 times[^\n]*goes on where it stopped\.$"):
        next(found)
    assert tried == [[0, 1], [1], [1]]


def test_matrix_products_get_their_threads_back_when_the_last_thread_is_done():
    from threadpoolctl import threadpool_info, threadpool_limits

    from fewer.parallel import one_blas_thread

    def n_threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        first, second = one_blas_thread(), one_blas_thread()  # as two threads of a user's would, one after the other
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert n_threads() == {1}
        second.__exit__(None, None, None)
        assert n_threads() == {2}
