"""The fast part of the torture suite; `make torture` runs all of it."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from fewer.rankers import Fisher
from torture import damage, fuzz, walk
from torture.forking import snapshot, write_table
from torture.grammar import COMMANDS, Case, draw_case, draw_words
from torture.options import NOT_DRAWN, OPTIONS, VALUES, drawn_options, values_of
from torture.outcomes import Outcome
from torture.plain import fisher, one_neighbor

N_CASES = 120


def test_fuzzed_cases_are_answered_or_refused(tmp_path):
    outcome = fuzz.run_here(N_CASES, 7, tmp_path)
    assert outcome.failures == []
    assert outcome.tried == N_CASES
    # Neither answer may be the only one, or nothing was tested.
    assert outcome.answered > N_CASES / 4
    assert outcome.refused > N_CASES / 4
    assert outcome.scored > N_CASES / 20


def test_calls_of_the_python_api_are_answered_as_by_a_plain_way_or_refused():
    outcome = walk.run(N_CASES, 7, None)
    assert outcome.failures == []
    assert outcome.scored > N_CASES / 4
    assert outcome.refused > N_CASES / 4


def test_the_walk_knows_right_from_wrong(monkeypatch):
    """A check that cannot fail is worse than none: scores that are a little off must be noticed."""
    rank = Fisher.rank

    def off(self, problem, rng, resources):
        found = rank(self, problem, rng, resources)
        return replace(found, scores=found.scores * 1.001) if problem.schema is None and problem.X.shape[0] else found

    monkeypatch.setattr(walk, "RANKERS", ["fisher"])
    monkeypatch.setattr(walk, "DOORS", {walk.by_ranking: 1})
    good = [number for number in range(40) if walk.execute(number)[0] == "scored"]
    monkeypatch.setattr(Fisher, "rank", off)
    assert any(walk.execute(number)[0].startswith("wrong: fisher of column") for number in good)


def test_a_case_is_drawn_from_its_number_alone():
    one, other = draw_case(12), draw_case(12)
    assert (one.content, one.arguments) == (other.content, other.arguments)
    assert draw_case(13).content != one.content


def test_every_option_has_values():
    """A command or an option that is new must be fuzzed, or stand in NOT_DRAWN with a reason."""
    assert set(COMMANDS) == set(OPTIONS)
    known = {option.name for options in OPTIONS.values() for option in options}
    both = {f"{option.command} {option.name}" for options in OPTIONS.values() for option in options}
    for command in OPTIONS:
        for option in drawn_options(command):
            values = values_of(option)  # KeyError: an option without values
            assert option.is_flag or values.good or values.bad, option
    assert set(VALUES) <= known | both
    assert set(NOT_DRAWN) <= both


def test_every_option_is_drawn():
    rng = random.Random(0)
    for command in COMMANDS:
        met = {word for i in range(1500) for word in draw_words(rng, command, i % 2)}
        missing = [option.name for option in drawn_options(command) if not met & set(option.words)]
        assert missing == [], command


@pytest.mark.parametrize("command", ["rank -m fisher", "select -m knn-forward --folds 0", "compare -m fisher -e tree"])
def test_the_plain_ways_know_right_from_wrong(command, tmp_path):
    """A check that cannot fail is worse than none: a changed answer must be noticed."""
    path = write_table(tmp_path / "table.csv", n_rows=30, n_features=4)
    name, *words = command.split()
    arguments = [name, str(path), "--target", "y", *words, *(["--folds", "2"] if name == "compare" else []), "--json"]
    case = Case(path.read_bytes(), ".csv", arguments)
    code, out, error = fuzz.call(arguments)
    assert fuzz.judge(case, path, arguments, code, out, error) == "scored"
    content = json.loads(out)
    if name == "rank":
        content["ranking"][0]["score"] += 0.001
    elif name == "select":
        content["score_search"] += 0.001
    else:
        next(row for row in content["methods"] if row["name"] == "all features")["score"] += 0.001
    assert fuzz.judge(case, path, arguments, code, json.dumps(content), error) not in ("answered", "scored", "refused")


def test_plain_scores():
    y = np.array([0, 0, 1, 1])
    assert fisher(np.array([0.0, 1.0, 2.0, 3.0]), y) == 4.0 / 1.0
    assert one_neighbor(np.array([[0.0], [1.0], [5.0], [6.0]]), y) == (1.0, 1.0)
    assert one_neighbor(np.array([[0.0], [0.0], [0.0], [9.0]]), y) == (0.0, 0.75)


def test_damage_changes_a_folder(tmp_path):
    folder, other = tmp_path / "run", tmp_path / "other"
    for place in (folder, other):
        place.mkdir()
        (place / "run.json").write_text('{"fingerprint": "12345", "components": {"seed": 1}}')
        (place / "heldout.json").write_text(f'{{"folds": [1, 2, 3], "of": "{place.name}"}}')
    before = snapshot(folder)
    changed = 0
    for seed in range(100):
        damage.damage(folder, other, random.Random(seed))
        changed += snapshot(folder) != before
        for name, content in before.items():
            (folder / name).write_bytes(content)
    assert changed > 70


def test_counts():
    outcome = Outcome("part")
    for how in ("answered", "scored", "refused", "exit code 70"):
        outcome.add(how, "case 3")
    assert (outcome.tried, outcome.answered, outcome.scored, outcome.refused) == (4, 2, 1, 1)
    assert outcome.failures == ["case 3: exit code 70"]
    assert "4 tried" in str(outcome)
