"""Who does the work: threads, any backend of joblib, or the workers of a Dask client. The one home of all of them."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from fewer.contracts import Resources
from fewer.errors import InputError

Result = TypeVar("Result")
Prefer = Literal["threads", "processes"]

ATTEMPTS = 3
"""How often the table is placed anew on a cluster all of whose holders were lost."""
AHEAD = 4
"""Tasks in flight for each thread of a cluster: enough to keep it busy, few enough to hold their results."""


def in_threads(run: Callable[[Any], Result], jobs: Sequence[Any], n_jobs: int) -> list[Result]:
    """Run jobs in threads, in order; kernels let go of the interpreter lock.

    Examples
    --------
    >>> in_threads(abs, [-1, 2, -3], n_jobs=2)
    [1, 2, 3]
    """
    if n_jobs == 1 or len(jobs) < 2:
        return [run(job) for job in jobs]
    return list(_threads(n_jobs, os.getpid()).map(run, jobs))


@lru_cache
def _threads(n_jobs: int, process: int) -> ThreadPoolExecutor:
    # Started once: small tables would wait for new threads longer than for the work.
    return ThreadPoolExecutor(n_jobs, thread_name_prefix="fewer")


def is_client(executor: Any) -> bool:
    """Say whether this is a Dask client."""
    return hasattr(executor, "scatter") and hasattr(executor, "submit")


def run_tasks(
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
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
    resources : Resources
        A Dask client as executor; or `n_jobs` on whatever backend joblib is set to (`joblib.parallel_config`).
    shared : object
    prefer : {"processes", "threads"}
        For joblib, where no backend is set.
    ordered : bool

    Examples
    --------
    >>> list(run_tasks(pow, [(2,), (3,)], Resources(), shared=10))
    [100, 1000]
    """
    tasks = list(tasks)
    backend, _ = get_active_backend(prefer=prefer)
    client = resources.executor if is_client(resources.executor) else _client_of(backend)
    if client is not None:
        yield from _on_dask(client, function, tasks, shared, ordered)
    elif len(tasks) < 2 or (resources.n_jobs == 1 and _is_local(backend)):
        for task in tasks:
            yield function(shared, *task)
    else:
        yield from _on_joblib(backend, function, tasks, resources, shared, prefer, ordered)


def parallelism(resources: Resources) -> int:
    """Return how many tasks run at the same time."""
    if is_client(resources.executor):
        return max(sum(resources.executor.nthreads().values()), 1)
    return max(resources.n_jobs, 1)


# ---------------------------------------------------------------------------------------------------- joblib


def _is_local(backend: Any) -> bool:
    return type(backend).__name__ in ("LokyBackend", "MultiprocessingBackend", "ThreadingBackend", "SequentialBackend")


def _on_joblib(
    backend: Any,
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
    resources: Resources,
    shared: Any,
    prefer: Prefer,
    ordered: bool,
) -> Iterator[Result]:
    """Run on joblib; backends that cannot hand results over one by one give all of them at the end."""
    way: dict[str, Any] = {}
    if getattr(backend, "supports_return_generator", False):
        way["return_as"] = "generator" if ordered else "generator_unordered"
    n_jobs = resources.n_jobs if resources.n_jobs != 1 or _is_local(backend) else None
    with _placed(backend, shared) as handle:
        runs = Parallel(n_jobs=n_jobs, prefer=prefer, **way)(delayed(_call)(function, handle, task) for task in tasks)
        try:
            yield from runs
        except Exception as error:
            if type(error).__name__ not in ("TerminatedWorkerError", "BrokenProcessPool", "WorkerCrashedError"):
                raise
            raise InputError(
                "A worker process was ended from outside, perhaps for want of memory; run it again with fewer jobs, "
                "or go on with --resume where the run is kept in a folder."
            ) from error


class _FileHandle:
    """What is shared, in a file that each process of this machine reads once."""

    def __init__(self, path: str) -> None:
        self.path = path

    def get(self) -> Any:
        return _loaded(self.path)


class _ObjectHandle:
    """What is shared, as it is (threads), or with each task, where a backend has no other way."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self) -> Any:
        return self.value


class _RayHandle:
    """What is shared, in Ray's object store."""

    def __init__(self, value: Any) -> None:
        import ray

        self.reference = ray.put(value)

    def get(self) -> Any:
        import ray

        return ray.get(self.reference)


class _BroadcastHandle:
    """What is shared, as a broadcast variable of Spark."""

    def __init__(self, value: Any) -> None:
        from pyspark.sql import SparkSession

        self.variable = SparkSession.builder.getOrCreate().sparkContext.broadcast(value)

    def get(self) -> Any:
        return self.variable.value


@lru_cache(maxsize=2)
def _loaded(path: str) -> Any:
    with Path(path).open("rb") as file:
        return pickle.load(file)


@contextmanager
def _placed(backend: Any, shared: Any) -> Iterator[Any]:
    """Place what is shared where the workers of a backend find it."""
    name = type(backend).__name__
    if name == "RayBackend":
        yield _RayHandle(shared)
    elif name == "SparkDistributedBackend":
        yield _BroadcastHandle(shared)
    elif name in ("LokyBackend", "MultiprocessingBackend") and shared is not None:
        from joblib.externals import cloudpickle

        folder = tempfile.mkdtemp(prefix="fewer-")
        try:
            path = Path(folder) / "shared"
            with path.open("wb") as file:
                cloudpickle.dump(shared, file, protocol=5)
            yield _FileHandle(str(path))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    else:
        yield _ObjectHandle(shared)


def _call(function: Callable[..., Result], handle: Any, task: tuple[Any, ...]) -> Result:
    return function(handle.get(), *task)


# ------------------------------------------------------------------------------------------------------ Dask


def _client_of(backend: Any) -> Any:
    """Return the client of joblib's Dask backend: its workers are asked directly, so that a lost one does no harm."""
    return backend.client if type(backend).__name__ == "DaskDistributedBackend" else None


def connect(address: str) -> Any:
    """Return a Dask client for a scheduler's address.

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
        return Client(address, timeout="10s")
    except (OSError, ValueError, TimeoutError) as error:
        name = type(error).__name__
        raise InputError(f"No Dask scheduler answers at {address} ({name}); check the address.") from None


def _on_dask(
    client: Any, function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], shared: Any, ordered: bool
) -> Iterator[Result]:
    """Run on the workers of a Dask client; what a lost worker had is done again."""
    todo = list(range(len(tasks)))
    done: dict[int, Any] = {}
    following = 0
    for attempt in range(ATTEMPTS):
        try:
            for number, result in _attempt(client, function, tasks, todo, shared):
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
            if not _is_lost(error) or attempt == ATTEMPTS - 1:
                raise


def _is_lost(error: Exception) -> bool:
    """Say whether an error means that workers, not tasks, failed."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"CancelledError", "FutureCancelledError", "KilledWorker", "CommClosedError"})


def _attempt(
    client: Any, function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], todo: list[int], shared: Any
) -> Iterator[tuple[int, Result]]:
    """Keep some tasks for each thread in flight, and yield whatever is done."""
    from distributed import as_completed

    handle = None if shared is None else client.scatter(shared, broadcast=True, hash=False)
    waiting = iter(list(todo))
    numbers: dict[str, int] = {}
    running = as_completed(with_results=False)

    def send() -> None:
        for number in waiting:
            future = client.submit(_call_shared, function, handle, tasks[number], pure=False, retries=ATTEMPTS)
            numbers[future.key] = number
            running.add(future)
            return

    for _ in range(AHEAD * max(sum(client.nthreads().values()), 1)):
        send()
    for future in running:
        yield numbers[future.key], future.result()
        send()


def _call_shared(function: Callable[..., Result], shared: Any, task: tuple[Any, ...]) -> Result:
    return function(shared, *task)
