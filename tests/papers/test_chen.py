"""What the thesis prints and what comes out here, on few sizes and rounds."""

from dataclasses import replace

import numpy as np
import pytest

from fewer_papers import Cell, Rerun, _chen, read_printed
from fewer_papers._chen import (
    ADRENAL,
    CASES,
    DOCUMENT,
    NINE,
    at_sizes,
    counts_of,
    curves_of,
    leading,
    planted_orders,
    problem_of,
    reach_of_shares,
    sizes_of,
)
from fewer_papers._curves import ORIGINAL, Curves


@pytest.fixture(scope="module")
def run():
    """A quick run over two sizes of each data set, with what the package carries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_chen, "CASES", tuple(replace(case, sizes=(4, 8, 12, 16)) for case in CASES))
        patch.setattr(_chen, "QUICK_ROUNDS", 2)
        yield Rerun(quick=True)


@pytest.fixture(scope="module")
def cells(run):
    return {name: DOCUMENT.tables[name](run) for name in DOCUMENT.tables}


@pytest.mark.parametrize(
    ("table", "column", "words"),
    [
        ("figures", "figure 22, gmlvq best up to n features", "settings of the step sizes"),
        ("areas", "AUC by RBF-SVM, 36 features", "settings of the step sizes"),
        ("figures", "figure 27, ig better above n features", "equal bins of information gain"),
        ("4", "Information Gain", "equal bins of information gain"),
        ("figures", "figure 35, relieff best up to n features RBF-SVM", "ReliefF with"),
        ("5", "Fisher", "three forms of Fisher's ratio"),
    ],
)
def test_what_was_tried_is_named_by_the_method(table, column, words):
    assert words in DOCUMENT.tried(Cell(table, "SPECTF Heart", column, 1.0, None, 2.0, "unexplained", "no"))


def test_one_evaluator_that_loses_by_the_original_omega_is_told(monkeypatch):
    """0.1 AUC worse by the evaluator that stops, equal by the other: in part."""
    tables = {name: {_chen.GMLVQ: np.full((2, 3), 0.8)} for name in (_chen.GMLVQ, _chen.SVM, ORIGINAL)}
    tables[_chen.STOPPED] = {_chen.GMLVQ: np.full((2, 3), 0.9)}
    curves = Curves(np.array([1, 2, 3]), tables, {})
    monkeypatch.setattr(_chen, "curves_of", lambda run, case: curves)
    monkeypatch.setattr(_chen, "at_sizes", lambda curves, sizes: curves)
    claim = _chen._dominance_claims(Rerun())[2]
    assert claim.standing == "holds in part"
    assert "SPECTF Heart +0.000; against one" in claim.text
    assert "SPECTF Heart -0.100." in claim.text


def test_printed_totals_of_redundant_features_check():
    """The copy of table 6 adds up to the totals in the text."""
    records = read_printed("chen")["records"]
    for column in (_chen.GMLVQ, _chen.GAIN, _chen.FISHER, _chen.RELIEFF):
        total = sum(r["value"] for r in records if r["table"] == "table6" and r["column"] == column)
        text = [r["value"] for r in records if r["table"] == "table6_totals_in_text" and r["column"] == column]
        assert [total] == pytest.approx(text)


def test_data_are_numbered_as_printed(run):
    assert [problem_of(run, case).n_features for case in CASES] == [33, 60, 30, 44]
    assert [len(case.sizes) for case in CASES] == [16, 15, 15, 14]
    assert problem_of(run, CASES[0]).names[1] == "V3"


def test_every_printed_cell_of_tables_2_to_6_is_judged(cells):
    for number in "23456":
        printed = {
            (r["row"], r["column"])
            for r in read_printed("chen")["records"]
            if r["table"] == f"table{number}" and r["column"] != "attribute_type"
        }
        assert printed <= {(cell.row, cell.column) for cell in cells[number]}
        for cell in cells[number]:
            assert (cell.verdict == "not reproducible") == (cell.row == "Adrenal Tumor"), cell
            if cell.row == "Adrenal Tumor":
                assert cell.reason == ADRENAL.reason


def test_rankings_that_the_text_names(run):
    iono, _, breast, _ = _chen.CASES
    assert sorted(leading(curves_of(run, iono), _chen.GMLVQ, 3)) == [1, 2, 4]
    assert sorted(leading(curves_of(run, iono), _chen.FISHER, 3)) == [1, 2, 4]
    for method, least in ((_chen.GMLVQ, 8), (_chen.GAIN, 9), (_chen.FISHER, 9)):  # all nine with more than two rounds
        assert len(set(NINE) & set(leading(curves_of(run, breast), method, 10))) >= least, method


def test_information_gain_keeps_no_irrelevant_feature(cells):
    found = [cell.ours for cell in cells["5"] if cell.column == _chen.GAIN and cell.ours is not None]
    assert len(found) == 4
    assert max(found) < 1


def test_percentages_of_dominance_sum_to_one_hundred(run):
    for case in _chen.CASES:
        curves = at_sizes(curves_of(run, case), sizes_of(run, case))
        assert curves.sizes.tolist() == [4, 16]
        assert sum(curves.dominance(_chen.SVM).values()) == pytest.approx(100)
        assert curves.auc[_chen.SVM][_chen.GMLVQ].shape == (2, 2)


def test_the_reach_of_a_share_hardly_depends_on_the_draw():
    rng = np.random.default_rng(0)
    auc = {"a": {name: rng.normal(0.9, 0.01, (50, 15)) for name in ("first", "second", "third")}}
    reaches = [reach_of_shares(Curves(np.arange(15), auc, {}), ("a",), np.random.default_rng(s)) for s in range(12)]
    values = np.array([list(reach.values()) for reach in reaches])
    assert (values.std(axis=0) / values.mean(axis=0)).max() < 0.03


def test_claims_carry_numbers(run):
    claims = [claim.text for claim in DOCUMENT.claims(run)]
    assert any("'GMLVQ ranks features 1, 4 and 2 of Ionosphere first' holds" in claim for claim in claims)
    assert any("effective features" in claim for claim in claims)
    assert all(any(f"' {said}" in claim for said in ("holds", "does not hold")) for claim in claims)
    assert len(claims) == 9


def test_planted_features_are_counted_and_copies_follow_their_originals(run):
    breast = _chen.CASES[2]
    orders, counts = planted_orders(run, breast, "redundant"), counts_of(run, breast, "redundant")
    for name, kept in zip(counts.names, counts.kept, strict=True):
        for order, line in zip(orders[name], kept, strict=True):
            assert sorted(order) == list(range(39))
            assert line.tolist() == [sum(feature >= 30 for feature in order[:size]) for size in range(1, 40)]
    ranks = (np.argsort(orders[_chen.FISHER], axis=1) + 1).mean(axis=0)
    for number, source in enumerate(breast.copied):
        assert np.abs(ranks[30 + 3 * number : 33 + 3 * number] - ranks[source - 1]).max() < 6
    assert len(DOCUMENT.figures["32"](run).axes) == 2


def test_figures_can_be_drawn(run):
    assert {"7", "8", "9", "10", "18", "22", "37", "13-sonar"} <= set(DOCUMENT.figures)
    for name in ("7", "10", "13-wdbc", "18", "19", "25", "31", "37"):
        figure = DOCUMENT.figures[name](run)
        figure.canvas.draw()
        assert figure.axes, name


def test_waypoint_averaging_ends_nearer_the_minimum():
    from fewer_papers._chen_figures import _path, _valley

    assert _valley(_path(averaging=True)[-1]) < 0.2 * _valley(_path(averaging=False)[-1])
    assert np.array_equal(_path(averaging=True)[:4], _path(averaging=False)[:4])


def test_evaluators_are_compared_over_the_rounds_that_all_judged():
    areas = {"one": {"Fisher": np.array([[0.1], [0.9]])}, "two": {"Fisher": np.array([[0.4]])}, "rest": {}}
    found = _chen.in_common(Curves(np.array([1]), areas, {}), ("one", "two"))
    assert {name: by["Fisher"].tolist() for name, by in found.auc.items()} == {"one": [[0.1]], "two": [[0.4]]}
