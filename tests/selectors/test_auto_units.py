import numpy as np

from fewer.selectors.auto._race import RaceUnits


def test_groups_are_one_unit_and_excluded_features_none():
    units = RaceUnits.of(6, exclude=[5], groups=[[1, 3]])
    assert [group.tolist() for group in units.members] == [[1, 3], [0], [2], [4]]
    assert units.of_feature.tolist() == [1, 0, 2, 0, 3, -1]
    assert RaceUnits.of(4, exclude=[1], groups=[[0, 1]]).of_feature.tolist() == [-1, -1, 0, 1]


def test_units_come_in_the_order_of_their_first_feature_and_forced_ones_first():
    units = RaceUnits.of(6, include=[4], exclude=[5], groups=[[1, 3]])
    assert units.order(np.array([5, 3, 0, 1, 4, 2])).tolist() == [3, 0, 1, 2]
    assert units.features(units.order(np.array([5, 3, 0, 1, 4, 2]))).tolist() == [4, 1, 3, 0, 2]
    assert units.features(np.array([], dtype=int)).tolist() == []
