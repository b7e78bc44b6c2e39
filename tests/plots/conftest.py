import pytest

import fewer
from making import make_problem


@pytest.fixture(scope="session")
def selections():
    made = {}
    for task in ("classification", "regression"):
        problem = make_problem(n_rows=120, task=task)
        made[task] = fewer.select(problem.X, problem.y, cv=3, random_state=0, budget=60)
    return made
