"""Many fits in one process, in threads, in processes and under asyncio: nothing leaks, nothing changes."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

from torture.outcomes import Outcome


def make(seed):
    import numpy as np

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 6))
    y = np.arange(40) % 2
    X[:, :2] += 1.5 * y[:, None]
    return X, y


def fit(seed):
    """Select on one of a few tables; return what was chosen."""
    import fewer

    X, y = make(seed % 7)
    if seed % 3 == 0:
        chosen = fewer.RankSelector(fewer.rankers.ReliefF(), n_features_to_select=2, random_state=seed % 5)
    elif seed % 3 == 1:
        chosen = fewer.SubsetSelector(fewer.criteria.KNN(), fewer.search.Floating(), random_state=seed % 5)
    else:
        chosen = fewer.SubsetSelector(fewer.criteria.LeastSquares(), fewer.search.Forward(), random_state=seed % 5)
    return chosen.fit(X, y).get_support().tolist()


def concurrent(n, seed, folder):
    """Fit in threads, in processes and under asyncio beside each other."""
    outcome = Outcome("fits in threads, processes, asyncio")
    numbers = [seed + i for i in range(n)]
    expected = [fit(number) for number in numbers]

    async def together():
        return await asyncio.gather(*(asyncio.to_thread(fit, number) for number in numbers))

    with ThreadPoolExecutor(8) as threads:
        in_threads = list(threads.map(fit, numbers))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        in_processes = list(processes.map(fit, numbers, chunksize=8))
    for name, found in (("threads", in_threads), ("processes", in_processes), ("asyncio", asyncio.run(together()))):
        for number, one, other in zip(numbers, found, expected, strict=True):
            outcome.add("answered" if one == other else f"{one} instead of {other}", f"{name}, fit {number}")
    return outcome


def many(n, seed, folder):
    """Fit again and again; memory, descriptors and threads must not grow."""
    outcome = Outcome("fits in one process")
    known = {}
    for number in range(n // 5):
        known.setdefault((seed + number) % 105, fit(seed + number))
        outcome.add("answered")
    before = _use()
    for number in range(n // 5, n):
        found = fit(seed + number)  # the same table, method and seed come round after 105 fits
        expected = known.setdefault((seed + number) % 105, found)
        outcome.add("answered" if found == expected else f"{found} instead of {expected}", f"fit {seed + number}")
    after = _use()
    grown = {key: after[key] - before[key] for key in before}
    outcome.notes.append(
        f"after {n // 5} fits and after {n}: memory {grown['memory'] / 2**20:+.1f} MiB, descriptors "
        f"{grown['descriptors']:+d}, threads {grown['threads']:+d}"
    )
    if grown["descriptors"] > 0 or grown["threads"] > 0 or grown["memory"] > 20 * 2**20:
        outcome.add(f"grew by {grown}", f"seed {seed}")
    return outcome


def _use():
    with open("/proc/self/statm") as file:
        memory = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return {"memory": memory, "descriptors": len(os.listdir("/proc/self/fd")), "threads": threading.active_count()}
