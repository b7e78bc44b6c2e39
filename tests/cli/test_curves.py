import numpy as np

from fewer.cli._outputs import render_curves


def test_each_curve_stands_where_its_score_is():
    picture = render_curves([0.5, 1.0], [0.5, 0.5], 40, 6).splitlines()
    assert len(picture) == 6
    assert picture[0] == "100.0 ┤ ·"
    assert picture[3] == " 50.0 ┤▓█"
    assert picture[-1].strip().startswith("step 0–1")


def test_long_curves_fit_the_width():
    rng = np.random.default_rng(0)
    curve = np.cumsum(rng.random(500)) / 500
    picture = render_curves(curve, curve[:300], 60, 12).splitlines()
    assert len(picture) == 12
    assert max(map(len, picture)) <= 60
    columns = {line.index("·") for line in picture[:10] if "·" in line}
    assert columns


def test_nothing_to_draw():
    assert render_curves([], [], 60, 10) == ""
    assert render_curves([float("nan")], [], 60, 10) == ""
    assert render_curves([0.5], [0.5], 10, 10) == ""
    assert "┤" in render_curves([0.7, 0.7], [0.7], 60, 8)
