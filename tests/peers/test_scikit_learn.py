"""scikit-learn's own tests of its sequential selector (its wheel ships them), asked of ours."""

from __future__ import annotations

from sklearn.feature_selection.tests import test_sequential as theirs

from peers.adapters import ScikitLearnSFS

theirs.SequentialFeatureSelector = ScikitLearnSFS
globals().update({name: test for name, test in vars(theirs).items() if name.startswith("test_")})
