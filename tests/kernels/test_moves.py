import numpy as np

from fewer.contracts import round_scores
from fewer.kernels.moves import decided, name_of


def test_scores_are_rounded_as_the_contracts_round_them():
    scores = np.concatenate([np.random.default_rng(0).normal(size=200), [0.0, 1.0, 0.1 + 0.2, 1e-300, -1e300]])
    assert [decided(score) for score in scores] == round_scores(scores).tolist()


def test_every_unit_at_every_level_has_two_names_of_its_own():
    names = {int(name_of(unit, code, stream)) for unit in range(50) for code in range(5) for stream in (1, 2)}
    assert len(names) == 500


def test_a_state_has_one_name_however_it_was_reached():
    there = name_of(3, 0, 1) ^ name_of(3, 1, 1)
    back = there ^ name_of(3, 1, 1) ^ name_of(3, 0, 1)
    assert int(there) != 0
    assert int(back) == 0
