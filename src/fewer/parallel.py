"""Where tasks run: threads, any backend of joblib, a Dask client, Spark partitions."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import threading
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeVar

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from fewer.contracts import Resources
from fewer.errors import InputError

Result = TypeVar("Result")
Prefer = Literal["threads", "processes"]
Tasks = Sequence[tuple[Any, ...]]
Merge = Callable[[Any, Any, Any], Any]  # Of what all tasks share, a result, and the next one.
Finish = Callable[[Any, Any], Any]  # Of what all tasks share, and the last result.

# How often the table is placed anew on a cluster all of whose holders were lost.
ATTEMPTS = 3
# Tasks in flight for each thread of a cluster: enough to keep it busy, few enough to hold their results.
AHEAD = 4
THREADS = "fewer-jobs"
LOCAL = ("LokyBackend", "MultiprocessingBackend", "ThreadingBackend", "SequentialBackend")
SPARK = "SparkDistributedBackend"
LOST = {"TerminatedWorkerError", "BrokenProcessPool", "WorkerCrashedError", "ActorDiedError", "Py4JJavaError"}


def in_threads(run: Callable[[Any], Result], jobs: Sequence[Any], n_jobs: int) -> list[Result]:
    """Run jobs in threads and return the results in order; kernels let go of the interpreter lock.

    Parameters
    ----------
    run : callable
        Of one job.
    jobs : sequence
        Functions without arguments.
    n_jobs : int
        Threads. A job that asks for threads in turn gets none but its own.

    Returns
    -------
    list

    Examples
    --------
    >>> in_threads(abs, [-1, 2, -3], n_jobs=2)
    [1, 2, 3]
    """
    if n_jobs <= 1 or len(jobs) < 2 or threading.current_thread().name.startswith(THREADS):
        return [run(job) for job in jobs]
    return list(_threads(n_jobs, os.getpid()).map(run, jobs))


@cache
def _threads(n_jobs: int, process: int) -> ThreadPoolExecutor:
    """Keep one pool of each size in each process: starting threads anew costs more than many a job."""
    return ThreadPoolExecutor(n_jobs, thread_name_prefix=THREADS)


class _Blas:
    """Who is inside `one_blas_thread`, and what gives the threads back."""

    lock = threading.Lock()
    n_inside = 0
    limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep matrix products on one thread: those of small tables only wait for each other, and sums keep their bits.

    Several threads may be inside at the same time: the first limits, the last gives back.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    with _Blas.lock:
        _Blas.n_inside += 1
        if _Blas.n_inside == 1:
            _Blas.limit = _libraries().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _Blas.lock:
            _Blas.n_inside -= 1
            if _Blas.n_inside == 0:
                _Blas.limit.restore_original_limits()


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


class Shared:
    """What all tasks need (the table): placed once wherever tasks run, however often tasks are sent.

    Parameters
    ----------
    value : object
        Any object that tasks need.

    Examples
    --------
    >>> list(run_tasks(pow, [(2,), (3,)], Resources(), shared=Shared(10)))
    [100, 1000]
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self._placed: dict[Any, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"value": self.value, "_placed": {}}

    def on_client(self, client: Any, anew: bool = False) -> Any:
        """Return the future of the value on the workers of a Dask client."""
        key = client.id
        if anew or key not in self._placed:
            self._placed[key] = client.scatter(self.value, broadcast=True, hash=False)
        return self._placed[key]

    def handle(self, backend: Any) -> Callable[[], Any]:
        """Return what travels with a task of a joblib backend: a call of it returns the value."""
        name = type(backend).__name__
        if name not in self._placed:
            self._placed[name] = self._handle(name)
        return self._placed[name]

    def _handle(self, backend: str) -> Callable[[], Any]:
        if backend == "RayBackend":
            import ray

            return partial(ray.get, ray.put(self.value))
        if backend == SPARK:
            from pyspark.sql import SparkSession

            # Spark's own pickler does not know what was defined in a notebook or script.
            content = _pickler().dumps(self.value, protocol=5)
            variable = SparkSession.builder.getOrCreate().sparkContext.broadcast(content)
            return partial(_unpacked, uuid.uuid4().hex, variable)
        if backend in ("LokyBackend", "MultiprocessingBackend") and self.value is not None:
            folder = tempfile.mkdtemp(prefix="fewer-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            path = Path(folder) / "shared"
            with path.open("wb") as file:
                _pickler().dump(self.value, file, protocol=5)
            return partial(_loaded, path)
        return partial(_same, self.value)  # threads; or a backend that has no other way than with each task


def run_tasks(
    function: Callable[..., Result],
    tasks: Tasks,
    resources: Resources,
    *,
    shared: Any = None,
    prefer: Prefer = "processes",
    ordered: bool = True,
) -> Iterator[Result]:
    """Run `function(shared, *task)` for each task wherever the resources say, and yield the results.

    What is shared (the table) goes to each worker once; tasks carry a handle of it. Results come in the order of the
    tasks unless `ordered` is False. They are the same wherever they are computed.

    Parameters
    ----------
    function : callable
        Importable by the workers.
    tasks : sequence of tuples
        The arguments of each task.
    resources : Resources
        A Dask client as executor; or `n_jobs` on whatever backend joblib is set to (`joblib.parallel_config`).
    shared : object
        Wrapped in `Shared` where tasks are sent more than once.
    prefer : {"processes", "threads"}
        For joblib, where no backend is set.
    ordered : bool
        Whether results come in the order of the tasks.

    Examples
    --------
    >>> list(run_tasks(pow, [(2,), (3,)], Resources(), shared=10))
    [100, 1000]
    """
    tasks = list(tasks)
    client, backend = _where(resources, prefer)
    if client is None and (len(tasks) < 2 or resources.n_jobs == 1):
        value = shared.value if isinstance(shared, Shared) else shared
        for task in tasks:
            yield function(value, *task)
        return
    placed = shared if isinstance(shared, Shared) else Shared(shared)
    if client is not None:
        yield from _on_dask(client, function, tasks, placed, ordered)
    else:
        yield from _on_joblib(backend, function, tasks, resources, placed, prefer, ordered)


def run_parts(function: Callable[..., Result], tasks: Tasks, run: Any, *about: Any) -> Iterator[Result]:
    """Run the parts of a run: here, one after the other with threads inside each; or each on another machine.

    Parameters
    ----------
    function : callable
        Called with the run and what else it needs as one tuple, then with a task's arguments.
    tasks : sequence of tuples
        The arguments of each.
    run : Run or RankingRun
        Sent without what only this process can use.
    *about
        What else the function needs.

    Yields
    ------
    result
        In the order of the tasks.
    """
    if leaves_machine(run.resources):
        return run_tasks(function, tasks, run.resources, shared=(run.shipped(), *about))
    return (function((run, *about), *task) for task in tasks)


def reduce_tasks(
    function: Callable[..., Any],
    merge: Merge,
    tasks: Tasks,
    resources: Resources,
    *,
    shared: Any = None,
    finish: Finish | None = None,
) -> Any:
    """Run `function(shared, *task)` for each task, merge neighbors pairwise where they are, and return one result.

    Merged are neighbors, then neighbors of these, so that the result is the same wherever tasks run. On a Dask cluster
    results stay on the workers, arguments may be Dask's delayed objects, and this process gets the last result only.

    Parameters
    ----------
    function : callable
        Importable by the workers.
    merge : callable
        `merge(shared, one, other)` makes one result of two; it may change the first.
    tasks : sequence of tuples
        The arguments of each task, at least one.
    resources : Resources
        Who runs them, as in `run_tasks`; threads, where nobody else is asked.
    shared : object
        What all tasks need.
    finish : callable, optional
        `finish(shared, result)` makes what is returned of the last result, where that is.

    Returns
    -------
    object
        The result of all tasks.

    Examples
    --------
    >>> reduce_tasks(pow, lambda _, one, other: one + other, [(1,), (2,), (3,)], Resources(), shared=10)
    1110
    """
    client = cluster_of(resources)
    if client is not None:
        return _reduced_on_dask(client, function, merge, tasks, Shared(shared), finish)
    result = _tree(run_tasks(function, tasks, resources, shared=shared, prefer="threads"), merge, shared)
    return result if finish is None else finish(shared, result)


def _tree(results: Iterable[Any], merge: Merge, shared: Any) -> Any:
    """Merge neighbors, then neighbors of these, as soon as both are there."""
    runs: list[tuple[int, Any]] = []
    for one in results:
        length = 1
        while runs and runs[-1][0] == length:
            one, length = merge(shared, runs.pop()[1], one), 2 * length
        runs.append((length, one))
    result = runs.pop()[1]
    while runs:
        result = merge(shared, runs.pop()[1], result)
    return result


def cluster_of(resources: Resources) -> Any:
    """Return the Dask client that does the tasks, or None.

    Examples
    --------
    >>> cluster_of(Resources()) is None
    True
    """
    return _where(resources, "threads")[0]


def parallelism(resources: Resources) -> int:
    """Return how many tasks run at the same time.

    Examples
    --------
    >>> parallelism(Resources(n_jobs=3))
    3
    """
    client, _ = _where(resources, "processes")
    return max(resources.n_jobs, 1) if client is None else max(sum(client.nthreads().values()), 1)


def leaves_machine(resources: Resources) -> bool:
    """Say whether tasks go to a cluster: whole runs are sent there that threads would share here."""
    client, backend = _where(resources, "processes")
    return client is not None or (resources.n_jobs > 1 and type(backend).__name__ not in LOCAL)


def _where(resources: Resources, prefer: Prefer) -> tuple[Any, Any]:
    """Return the Dask client that does the tasks, if there is one, and joblib's backend."""
    if resources.executor is not None:
        return resources.executor, None
    backend, _ = get_active_backend(prefer=prefer)
    # The workers of joblib's Dask backend are asked directly, so that a lost one does no harm.
    of_dask = type(backend).__name__ == "DaskDistributedBackend" and resources.n_jobs != 1
    return (backend.client if of_dask else None), backend


# ---------------------------------------------------------------------------------------------------- joblib


def _on_joblib(
    backend: Any,
    function: Callable[..., Result],
    tasks: Tasks,
    resources: Resources,
    shared: Shared,
    prefer: Prefer,
    ordered: bool,
) -> Iterator[Result]:
    """Run on joblib; backends that cannot hand results over one by one give all of them at the end."""
    way: dict[str, Any] = {}
    if getattr(backend, "supports_return_generator", False):
        way["return_as"] = "generator" if ordered else "generator_unordered"
    handle = shared.handle(backend)
    # Joblib's Spark backend cannot hand errors over: those of tasks come as results, all others mean a lost worker.
    call = partial(_safely, _call) if type(backend).__name__ == SPARK else _call
    try:
        jobs = (delayed(call)(function, handle, task) for task in tasks)
        for result in Parallel(n_jobs=resources.n_jobs, prefer=prefer, **way)(jobs):
            if isinstance(result, _Failure):
                raise result.error
            yield result
    except Exception as error:
        lost = {kind.__name__ for kind in type(error).__mro__} & LOST or "_ExceptionWithTraceback" in str(error)
        if not lost:
            raise
        raise InputError(
            "A worker process was killed, perhaps for lack of memory; rerun with fewer jobs. A run that is kept"
            " in a folder goes on where it stopped."
        ) from error


def _same(value: Any) -> Any:
    return value


@lru_cache(maxsize=2)
def _loaded(path: Path) -> Any:
    """Return what is in a file, which each process of this machine reads once."""
    with path.open("rb") as file:
        return pickle.load(file)


def _unpacked(key: str, variable: Any) -> Any:
    """Return what a broadcast variable of Spark holds."""
    if key not in _UNPACKED:
        _UNPACKED.clear()
        _UNPACKED[key] = pickle.loads(variable.value)
    return _UNPACKED[key]


# What was broadcast last, unpacked once in each process.
_UNPACKED: dict[str, Any] = {}


def _pickler() -> Any:
    """Return the pickler that joblib ships functions with; it comes with joblib or as a package of its own."""
    try:
        import cloudpickle  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        from joblib.externals import cloudpickle
    return cloudpickle


def _call(function: Callable[..., Result], handle: Callable[[], Any], task: tuple[Any, ...]) -> Result:
    return function(handle(), *task)


class _Failure:
    """An error as a result."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _safely(function: Callable[..., Result], *arguments: Any) -> Result | _Failure:
    try:
        return function(*arguments)
    except Exception as error:
        return _Failure(error)


# ------------------------------------------------------------------------------------------------------ Dask


def connect(address: str, timeout: float = 10.0) -> Any:
    """Return a Dask client for a scheduler's address.

    Parameters
    ----------
    address : str
        tcp://host:port
    timeout : float, default=10.0
        Seconds to wait for an answer.

    Raises
    ------
    InputError
        If Dask is not installed or nobody answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InputError("A cluster needs Dask; install it with: pip install 'fewer[cluster]'.") from None
    try:
        return Client(address, timeout=timeout)
    except (OSError, ValueError, TimeoutError) as error:
        name = type(error).__name__
        raise InputError(f"No Dask scheduler answers at {address} ({name}); check the address.") from None


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Let everything inside send its tasks to a Dask scheduler; without an address nothing changes."""
    if address is None:
        yield
        return
    client = connect(address)
    try:
        with parallel_config(backend="dask"):
            yield
    finally:
        client.close()


def _on_dask(
    client: Any, function: Callable[..., Result], tasks: Tasks, shared: Shared, ordered: bool
) -> Iterator[Result]:
    """Run on the workers of a Dask client; what a lost worker had is done again."""
    todo = list(range(len(tasks)))
    done: dict[int, Any] = {}
    following = 0
    for attempt in range(ATTEMPTS):
        try:
            for number, result in _attempt(client, function, tasks, list(todo), shared, attempt > 0):
                todo.remove(number)
                if not ordered:
                    yield result
                    continue
                done[number] = result
                while following in done:
                    yield done.pop(following)
                    following += 1
            return
        except Exception as error:
            _raise_unless_lost(error, attempt)


def _reduced_on_dask(
    client: Any, function: Callable[..., Any], merge: Merge, tasks: Tasks, shared: Shared, finish: Finish | None
) -> Any:
    """Run and merge on the workers of a Dask client, as one graph: it merges what is there before it reads more."""
    from dask import delayed as later

    for attempt in range(ATTEMPTS):
        handle = later(shared.on_client(client, attempt > 0))
        results = [later(function, pure=False)(handle, *task) for task in tasks]
        while len(results) > 1:
            pairs = [results[i : i + 2] for i in range(0, len(results), 2)]
            join = later(_merged, pure=False)
            results = [join(merge, handle, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        last = results[0] if finish is None else later(finish, pure=False)(handle, results[0])
        try:
            return client.compute(last, retries=ATTEMPTS).result()
        except Exception as error:
            _raise_unless_lost(error, attempt)
    raise AssertionError("unreachable")


def _merged(merge: Merge, shared: Any, into: Any, other: Any) -> Any:
    """Merge a copy: a result that a worker holds may be asked for again after another worker was lost."""
    return merge(shared, deepcopy(into), other)


def _raise_unless_lost(error: Exception, attempt: int) -> None:
    """Raise the error of a task; where workers were lost, raise only after the last attempt."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if not names & {"CancelledError", "FutureCancelledError", "KilledWorker", "CommClosedError"}:
        raise error
    if attempt == ATTEMPTS - 1:
        raise InputError(
            f"The cluster lost its workers {ATTEMPTS} times, perhaps for lack of memory; give them more. "
            "A run that is kept in a folder goes on where it stopped."
        ) from error


def _attempt(
    client: Any, function: Callable[..., Result], tasks: Tasks, todo: Sequence[int], shared: Shared, anew: bool
) -> Iterator[tuple[int, Result]]:
    """Keep some tasks for each thread in flight, and yield whatever is done."""
    from distributed import as_completed

    handle = None if shared.value is None else shared.on_client(client, anew)
    waiting = iter(todo)
    numbers: dict[str, int] = {}
    running = as_completed()

    def send() -> None:
        number = next(waiting, None)
        if number is not None:
            future = client.submit(function, handle, *tasks[number], pure=False, retries=ATTEMPTS)
            numbers[future.key] = number
            running.add(future)

    for _ in range(AHEAD * max(sum(client.nthreads().values()), 1)):
        send()
    for future in running:
        yield numbers[future.key], future.result()
        send()


# ----------------------------------------------------------------------------------------------------- Spark

# Results that one task of Spark merges, a power of two: 8 results of up to 250 MB fit into one batch of Arrow's.
FAN = 8
RESULT_SCHEMA = "place long, turn long, result binary"


def reduce_on_spark(
    frame: Any,
    n_parts: int,
    function: Callable[..., Any],
    merge: Merge,
    *,
    shared: Any,
    finish: Finish,
    parts: Sequence[int] | None = None,
) -> Any:
    """Do as `reduce_tasks` does, with the partitions of a Spark DataFrame, on Spark's executors.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        What is read.
    n_parts : int
        How many partitions it has.
    function : callable
        `function(shared, part, batches)`, with the batches of Arrow's that a partition has.
    merge, finish : callable
        As in `reduce_tasks`.
    shared : object
        What all tasks need.
    parts : sequence of int, optional
        The partitions that are read; all by default.

    Returns
    -------
    object
        The result of all partitions.
    """
    partials = frame.mapInArrow(partial(_on_partition, function, shared), RESULT_SCHEMA)
    if parts is not None:  # no other partition is touched
        rows = frame.sparkSession.sparkContext.runJob(partials.rdd, list, list(parts))
        result = _merged_rows(rows, merge, finish, shared)
    else:
        left = n_parts
        while left > 1:
            step = partial(_on_neighbors, merge, finish if left <= FAN else None, shared)
            left = -(-left // FAN)
            partials = partials.repartition(left, "place").mapInArrow(step, RESULT_SCHEMA)
        rows = partials.collect()
        result = pickle.loads(rows[0]["result"]) if n_parts > 1 else _merged_rows(rows, merge, finish, shared)
    if isinstance(result, _Failure):
        raise result.error
    return result


def _on_partition(function: Callable[..., Any], shared: Any, batches: Iterator[Any]) -> Iterator[Any]:
    from pyspark import TaskContext

    part = TaskContext.get().partitionId()
    yield _row(part, _safely(function, shared, part, batches))


def _on_neighbors(merge: Merge, finish: Finish | None, shared: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """Merge the results whose place is the same, in their turn; at last, all that there are."""
    rows = sorted((row for batch in batches for row in batch.to_pylist()), key=lambda row: (row["place"], row["turn"]))
    for place, neighbors in groupby(rows, lambda row: 0 if finish else row["place"]):
        yield _row(place, _merged_rows(neighbors, merge, finish, shared))


def _merged_rows(rows: Iterable[Any], merge: Merge, finish: Finish | None, shared: Any) -> Any:
    results = [pickle.loads(row["result"]) for row in rows]
    failed = next((one for one in results if isinstance(one, _Failure)), None)
    result = failed or _safely(_tree, results, merge, shared)
    return _safely(finish, shared, result) if finish and not isinstance(result, _Failure) else result


def _row(place: int, result: Any) -> Any:
    import pyarrow as pa

    packed = _pickler().dumps(result, protocol=5)
    return pa.RecordBatch.from_pydict({"place": [place // FAN], "turn": [place % FAN], "result": [packed]})
