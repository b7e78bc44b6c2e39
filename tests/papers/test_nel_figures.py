from fewer_papers._core import Rerun
from fewer_papers._nel_figures import SEVEN, shifted_classes, three_features, two_directions


def test_the_seven_subsets_of_three_features():
    assert len(SEVEN) == 7
    assert SEVEN[0] == (0,)
    assert SEVEN[-1] == (0, 1, 2)


def test_three_planes_with_their_axes_named():
    axes = three_features(Rerun()).axes
    assert [(panel.get_xlabel(), panel.get_ylabel()) for panel in axes] == [
        ("feature 1", "feature 2"),
        ("feature 1", "feature 3"),
        ("feature 2", "feature 3"),
    ]


def test_figures_are_the_same_for_the_same_seed():
    for draw in (shifted_classes, two_directions):
        one, again = draw(Rerun(seed=3)), draw(Rerun(seed=3))
        for left, right in zip(one.axes[0].lines, again.axes[0].lines, strict=True):
            assert left.get_xdata().tolist() == right.get_xdata().tolist()
        assert one.axes[0].get_legend() is not None
