import numpy as np

from fewer.contracts import gray_states
from fewer.criteria._knn_sweep import trees_of


def test_trees_cover_a_range_once():
    typical = np.array([0.3, 0.1, 0.5, 0.2])
    for start, stop in ((0, 16), (3, 13), (5, 6), (8, 16)):
        for highest in (1, 2, 4):
            trees = list(trees_of(start, stop, highest, typical))
            states = np.concatenate([tree.states(np.arange(tree.n_subsets), 4) for tree in trees])
            truth = gray_states(np.arange(start, stop), 4)
            assert sorted(map(bytes, states)) == sorted(map(bytes, truth))
            for tree in trees:
                assert len(tree.free) <= highest
                assert (np.diff(typical[tree.free]) >= 0).all()
                assert tree.sizes().tolist() == tree.states(np.arange(tree.n_subsets), 4).sum(axis=1).tolist()
