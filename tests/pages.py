"""What the tests of the pages share: small runs, a hostile table, and the tags of a page."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import polars as pl

from fewer.io import to_problem
from fewer.run.planning import make_plan
from fewer.run.running import Followers, run_plan
from making import make_problem

EVIL = '<script>document.title="run"</script><img src=x onerror=alert(1)> & \'quoted\' "name"'
HEBREW = "\u202eשם התכונה\u0000 🙂 $x^2$"
LONG = "long" * 2500


def run(problem, cv=3, **options):
    """Run a selection and give it with its trace."""
    kept = {"trace": None}
    followers = Followers(on_step=lambda trace: kept.update(trace=trace))
    selection = run_plan(make_plan(problem, cv=cv, **options), problem, followers=followers)
    return selection, kept["trace"]


def hostile_problem():
    """5,000 columns: names with markup, right-to-left text and control characters, very long class and category."""
    problem = make_problem(n_rows=60, n_features=4998, seed=1)
    columns = {EVIL: problem.X[:, 0], HEBREW: problem.X[:, 1]}
    columns[f"category {'name ' * 2000}"] = np.where(problem.X[:, 2] > 0, LONG, EVIL)
    columns |= {f"{i} {EVIL}": problem.X[:, i] for i in range(2, 4998)}
    columns["<b>constant</b>"] = np.zeros(60)
    labels = np.where(problem.y == 1, EVIL, LONG)
    found = to_problem(pl.DataFrame(columns), labels)
    return replace(found, notes=(*found.notes, f"Something about {EVIL}.", f"And about {LONG}."))


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, page):
        super().__init__()
        self.seen = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
