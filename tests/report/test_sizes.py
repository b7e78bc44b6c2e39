from types import SimpleNamespace

from fewer.report._sizes import answers

CURVE = {
    "sizes": [1, 3, 9],
    "scores": [0.7, 0.9, 0.85],
    "low": [0.6, 0.9, 0.8],
    "high": [0.8, 0.9, 0.9],
    "name": "accuracy",
    "measured": "held out",
    "marks": {3: ["balanced", "fewest"]},
    "all": {"size": 9, "score": 0.85},
}


def selection(*sizes, nothing=False):
    stops = [{"size": size, "places": list(range(size))} for size in sizes]
    return SimpleNamespace(nothing_found=nothing, features=["a"] * 3, n_features=9, evidence={"answers": stops})


def test_every_stop_of_the_slider_is_told():
    one, three, nine = answers(selection(1, 3, 9), CURVE)
    assert one["told"] == "1 of 9 features: accuracy 0.7000 (0.6000 to 0.8000), −15.0 points against all 9, held out."
    assert three["told"].startswith("3 of 9 features (balanced, fewest): accuracy 0.9000, +5.0 points")
    assert three["interval"] == ""
    assert one["interval"] == "0.6000 to 0.8000"
    assert "against" not in nine["told"]
    assert nine["places"] == list(range(9))


def test_a_slider_needs_two_stops_and_scores():
    assert answers(selection(3), CURVE) == []
    assert answers(selection(1, 3), None) == []
    assert answers(selection(1, 3, nothing=True), CURVE) == []
    assert [stop["size"] for stop in answers(selection(1, 2, 3), CURVE)] == [1, 3]
