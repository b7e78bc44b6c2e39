import numpy as np
import pytest

from fewer.control import EarlyStopping
from fewer.control._early_stopping import stopping_point
from fewer.errors import InputError
from fewer.search import Annealing
from fewer.validate import mcnemar
from fewer_papers import Absent, Rerun, _loughrey, _loughrey_work, document
from fewer_papers._loughrey import DOCUMENT, printed
from fewer_papers._loughrey_work import SETS, Effort, one_fold, rights, study
from making import make_problem


class Data:
    def __init__(self, problem):
        self.problem = problem


@pytest.fixture
def run(monkeypatch):
    """A tiny run on a made-up set that is called glass; all others are missing."""
    monkeypatch.setattr(Effort, "of", classmethod(lambda cls, run: cls(3, 2, 0.05, 3)))
    monkeypatch.setattr(_loughrey, "SETS", ("glass", "colon"))
    run = Rerun(seed=1)

    def load(name):
        if name != "glass":
            raise InputError(f"{name} is not at hand; set FEWER_DATA.")
        return Data(make_problem(n_rows=45, n_features=5, seed=1))

    monkeypatch.setattr(run, "load", load)
    return run


def test_printed_numbers_give_the_win_counts_of_the_text():
    def wins(table, one, other, w=(1, 1)):
        pairs = [
            (
                printed(table, name, one, "test_accuracy_pct", w[0])["value"],
                printed(table, name, other, "test_accuracy_pct", w[1])["value"],
            )
            for name in SETS
        ]
        return sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)

    assert wins("7.3", "GAES", "GA") == (7, 0)
    assert wins("7.4", "SAES", "SA") == (7, 0)
    assert wins("7.5", "SAES", "GAES") == (4, 2)
    assert wins("7.6", "SAES", "IG_top_half", (1, None)) == (7, 0)
    assert wins("7.8", "SAES", "SA_noise") == (6, 1)
    assert wins("7.8", "SA_noise", "SA") == (4, 2)
    assert wins("7.9", "SA", "SA") == (0, 0)
    assert wins("7.9", "SA", "SA", (1, 4)) == (5, 2)
    assert wins("7.9", "SAES", "SAES", (4, 1)) == (5, 2)


def test_the_search_never_sees_the_test_rows():
    problem = make_problem(n_rows=45, n_features=5, seed=2)
    folds = np.arange(45) % 3
    search = Annealing(levels=10, effort=0.2, answer="final")
    record = one_fold(problem, folds, 1, search, EarlyStopping(cv=2), 1, 7)
    problem.X[folds == 1] = 99.0
    blind = one_fold(problem, folds, 1, search, EarlyStopping(cv=2), 1, 7)
    for key in ("train", "size", "trained", "training", "validation", "stop", "n_evaluations"):
        assert record[key] == blind[key]
    assert len(record["right"]) == 15
    assert len(record["tested"]) == len(record["trained"]) == 11


@pytest.mark.parametrize("table", ["7.3", "7.4", "7.6", "7.7", "7.8", "7.9", "pooled", "stops"])
def test_tables_state_ours_beside_the_printed(run, table):
    cells = DOCUMENT.tables[table](run)
    assert cells
    for cell in cells:
        if cell.row == "glass":
            assert cell.ours is not None
        else:
            assert cell.verdict == "not reproducible"
            assert "is not at hand" in cell.reason
        assert cell.printed is not None


def test_significance_is_mcnemars_on_the_same_rows(run):
    cell = next(c for c in DOCUMENT.tables["7.4"](run) if c.column == "SAES against SA, McNemar" and c.row == "glass")
    a, b = (rights(study(run, "glass", method)).astype(bool) for method in ("SAES", "SA"))
    assert len(a) == 45
    assert f"p = {mcnemar(a, b).p_value:.3f}" in cell.reason
    accuracy = next(c for c in DOCUMENT.tables["7.4"](run) if c.column == "SAES test" and c.row == "glass")
    assert accuracy.ours == pytest.approx(100 * a.mean())


def test_pooled_point_is_that_of_all_outer_folds(run):
    own = study(run, "glass", "SAES")
    point = stopping_point([np.array(record["validation"]) for record in own])
    pooled = study(run, "glass", "SAES-pooled")
    assert all("validation" not in record for record in pooled)
    assert point.length == 81
    assert {record["stop"][1] for record in own} == {81}


def test_claims_and_missing_sets(run, monkeypatch):
    monkeypatch.setattr(_loughrey_work, "_overfitting", lambda run, rows, noise: (90.0, 60.0))
    found = [claim.text for claim in DOCUMENT.claims(run)]
    claim = next(claim for claim in found if claim.startswith("SAES tests higher than SA (table 7.4): "))
    assert "Printed: 2 wins, 0 losses, +3.1 points on average. Here: " in claim
    gap = 100 * (rights(study(run, "glass", "SAES")).mean() - rights(study(run, "glass", "SA")).mean())
    assert f"(glass {gap:+.1f})" in claim
    a, b = (rights(study(run, "glass", method)).astype(bool) for method in ("SAES", "SA"))
    assert f"({(a & ~b).sum()} of 45 test rows are right only with SAES, {(b & ~a).sum()} only with SA; p = " in claim
    assert "not shown" in claim  # 45 rows, methods within a few of them
    assert "30 points with 30 rows" in found[-1]
    assert isinstance(_loughrey.records(run, "colon", "SA"), Absent)


@pytest.mark.parametrize(
    ("one", "other", "table", "discordant", "said"),
    [
        ("SAES", "IG_top_half", "7.6", (182, 181), "+0.1 points, printed +4.2, which is outside ± 2.9"),
        ("GAES", "GA", "7.3", (155, 141), "+0.7 points, printed +3.0, which is inside ± 2.6"),
    ],
)
def test_a_printed_gain_is_too_large_where_two_runs_do_not_differ_so_much(
    monkeypatch, one, other, table, discordant, said
):
    """With b and c rows right by one alone, the gain has the variance (b + c − (b − c)² / n) / n²."""
    sizes = {
        "spectf": 80,
        "sonar": 208,
        "ionosphere": 351,
        "glass": 214,
        "diabetes": 768,
        "colon": 62,
        "artificial": 200,
    }
    n, (b, c) = sum(sizes.values()), discordant
    both = {one: np.arange(n) < b, other: (np.arange(n) >= b) & (np.arange(n) < b + c)}
    ends = dict(zip(sizes, np.cumsum(list(sizes.values())), strict=True))
    monkeypatch.setattr(_loughrey, "study", lambda run, name, method: (name, method))
    monkeypatch.setattr(
        _loughrey, "rights", lambda place: both[place[1]][ends[place[0]] - sizes[place[0]] : ends[place[0]]]
    )
    word, evidence, too_large = _loughrey.standing(Rerun(), one, other, table, SETS)
    assert (word, too_large) == ("not shown", "outside" in said)
    assert evidence.endswith(said)
    near = 2 * 100 * np.sqrt(2 * (b + c - (b - c) ** 2 / n)) / n
    assert f"± {near:.1f}" in said


def test_figures_draw(run, monkeypatch):
    monkeypatch.setattr(_loughrey_work, "_overfitting", lambda run, rows, noise: (90.0, 60.0))
    for name in ("5.10", "overfitting"):
        assert DOCUMENT.figures[name](run).axes
    with pytest.raises(InputError, match="sonar is not at hand"):
        DOCUMENT.figures["7.4"](run)


def test_is_on_the_list():
    assert document("loughrey") is DOCUMENT
    assert set(DOCUMENT.tables) >= {"7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "7.9"}


def test_a_test_accuracy_counts_as_its_lead_over_the_other_methods(monkeypatch):
    """All methods five points above the print: each matches, and none would pass for another one."""
    places = {method: place for place, method in enumerate(_loughrey.METHODS)}
    rng = np.random.default_rng(0)
    base = rng.permutation(np.arange(1000) % 2 == 0)

    def records(run, name, method):
        right = [fold.tolist() + [True] * places[method] for fold in base.reshape(10, 100)]
        return [{"right": fold, "train": 0.9} for fold in right]

    monkeypatch.setattr(_loughrey, "records", records)
    told = {m: 100 * float(rights(records(None, "", m)).mean()) - 5 for m in places}
    monkeypatch.setattr(_loughrey, "printed_test", lambda name, method, table: told[method])
    for method in places:
        found = records(None, "glass", method)
        near = _loughrey.as_lead(None, "glass", found)
        assert near["shift"] == pytest.approx(5.0)
        ours = 100 * float(rights(found).mean())
        cell = _loughrey.judge("7.3", "glass", method, told[method], ours, **near)
        assert cell.verdict == "matches"
        assert not any(cell.accepts(told[other] + 5) for other in places if other != method)
