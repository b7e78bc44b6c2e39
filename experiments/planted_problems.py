"""Does `auto` find planted signals? Runs `planted_problems_design.json` and writes `planted_problems.md`.

    python experiments/planted_problems.py [--only METHOD …] [--minutes 30] [--out FOLDER]

Finished cases are kept in FOLDER (default: planted_problems_results beside the report, not committed), so that a
stopped run goes on; after `--minutes` no new case is begun and the report says what is missing. Peers that are not
installed are left out and named.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
DESIGN = json.loads((HERE / "planted_problems_design.json").read_text())


def draw(kind: str, noise: str, rows: int, columns: int, seed: int):
    """Draw a table: X, y and the groups of columns of which one each must be found."""
    design = DESIGN["problems"][kind]
    rng = np.random.default_rng([seed, rows, columns, list(DESIGN["problems"]).index(kind), noise == "high"])
    k = design["signals"]
    groups = [[i] for i in range(k)]
    if kind.startswith("linear"):
        signal = rng.normal(size=(rows, k))
        target = signal @ (-1.0) ** np.arange(k) + design["noise_sd"][noise] * rng.normal(size=rows)
        y = target if kind == "linear quantity" else (target > 0).astype(int)
    elif kind == "redundant copies":
        hidden = rng.normal(size=(rows, k))
        y = (hidden.sum(axis=1) + design["noise_sd"][noise] * rng.normal(size=rows) > 0).astype(int)
        copies = design["copies"]
        signal = np.repeat(hidden, copies, axis=1) + design["copy_sd"] * rng.normal(size=(rows, k * copies))
        groups = [list(range(copies * i, copies * (i + 1))) for i in range(k)]
    elif kind == "XOR":
        signal = rng.uniform(-1, 1, size=(rows, k))
        y = (signal.prod(axis=1) > 0).astype(int) ^ (rng.random(rows) < design["flipped"][noise])
    else:
        y = np.arange(rows) % 2
        angle = rng.uniform(0, 2 * np.pi, size=rows)
        circle = np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(y == 1, 0.5, 1.0)[:, None]
        signal = circle + design["noise_sd"][noise] * rng.normal(size=(rows, k))
    X = np.column_stack([signal, rng.normal(size=(rows, columns - signal.shape[1]))])
    order = rng.permutation(columns)
    place = np.argsort(order)
    return X[:, order], y, [[int(place[i]) for i in group] for group in groups]
