import base64
import json
import re
import zlib

import numpy as np
import pytest

import fewer
from fewer.criteria import KNN
from fewer.evaluate import good_subsets
from fewer.plots import AlternativesDisplay
from fewer.problem import Problem
from fewer.report import alternatives_report, selection_report, write_alternatives_report
from fewer.report._comparison import good_content
from fewer.report._pictures import price_picture
from pages import EVIL


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 7)), rng.integers(0, 2, 80)
    X[:, 0] += 2 * y
    names = [EVIL, *(f"x{i}" for i in range(1, 7))]
    return good_subsets(KNN(3, cv="loo"), Problem.from_arrays(X, y, names=names), costs={"x1": 2.0})


def unpacked(data):
    """Read the subsets back as the page's script does."""
    bits = np.unpackbits(np.frombuffer(zlib.decompress(base64.b64decode(data["bits"])), dtype=np.uint8))
    used = bits[: data["n"] * len(data["features"])].reshape(data["n"], -1).astype(bool)
    masks = np.zeros((data["n"], len(data["names"])), dtype=bool)
    masks[:, data["features"]] = used
    return masks, np.repeat([score for score, _ in data["groups"]], [count for _, count in data["groups"]])


def test_all_subsets_travel_in_the_page(found):
    masks, scores = unpacked(found.packed())
    mine = {mask.tobytes(): score for mask, score in zip(masks, scores, strict=True)}
    assert mine == {m.tobytes(): s for m, s in zip(found.masks, found.scores.round(6), strict=True)}
    assert (np.diff(scores) <= 0).all()


def test_what_does_not_fit_leaves_the_worst_out(found):
    few = found.packed(40)
    assert 0 < few["n"] < found.n_good
    assert len(few["bits"]) <= 40
    assert unpacked(few)[1].min() >= found.scores[few["n"] - 1].round(6)


def test_the_page_is_whole_and_names_are_text(found, tmp_path):
    page = write_alternatives_report(tmp_path / "page.html", found).read_text(encoding="utf-8")
    assert page == alternatives_report(found)
    assert "<img src=x" not in page
    assert page.count('type="checkbox"') == 14
    assert "cannot be measured" in page
    start = page.index('id="good">') + len('id="good">')
    assert json.loads(page[start : page.index("</script>", start)])["n_good"] == found.n_good


def test_the_line_along_prices_is_the_best_that_each_price_buys(found):
    x, y = AlternativesDisplay(found, kind="prices").plot().ax_.lines[1].get_data()
    prices = found.masks @ found.costs
    assert x[0] == prices.min()
    for price in np.unique(prices):
        assert y[np.flatnonzero(x <= price)[-1]] == found.scores[prices <= price].max()


def test_pictures_of_a_kept_selection_are_those_of_all_good_subsets(found):
    texts = [
        picture["text"].split(" ")[0]
        for picture in good_content(json.loads(json.dumps(found.packed())))["good_pictures"]
    ]
    assert texts == ["Score", "Score", "Good"]
    page = alternatives_report(found)
    assert page.count("<figure>") == 3
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", page) + re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_a_selection_with_prices_draws_scores_against_them():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 90)
    X = rng.normal(size=(90, 4)) + y[:, None] * [2.0, 1.0, 0.5, 0.0]
    asked = {"criterion": KNN(3), "search": "forward", "n_features_to_select": 3, "cv": 0, "random_state": 0}
    page = selection_report(fewer.select(X, y, feature_costs={f"x{i}": float(i + 1) for i in range(4)}, **asked))
    assert "price of all features together" in page
    assert "price of all features together" not in selection_report(fewer.select(X, y, **asked))


def test_the_points_named_over_prices_are_those_that_no_cheaper_one_reaches():
    rng = np.random.default_rng(3)
    prices, scores = rng.integers(0, 6, 40).tolist(), rng.permutation(40) / 40
    stops = [{"price": p, "value": v, "size": 100 + i} for i, (p, v) in enumerate(zip(prices, scores, strict=True))]
    truth = [
        stop["size"] for i, stop in enumerate(stops)
        if all(scores[j] < scores[i] for j in range(40) if prices[j] <= prices[i] and j != i)
    ]  # fmt: skip
    page = price_picture(stops, "R²")
    assert page.count("<circle") == 40
    assert sorted(map(int, re.findall(r">(1\d\d)</text>", page))) == sorted(truth)
    nothing = [{"price": 1, "value": 0.0, "size": 1}, {"price": 2, "value": 0.3, "size": 2}]
    assert "0.00 for 1, highest 0.30 for 2" in price_picture(nothing, "R²")
