"""mlxtend's own tests of its sequential selector (in its source distribution), asked of ours."""

from __future__ import annotations

import importlib
import os
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from peers.adapters import MlxtendSFS

FOLDER = os.environ.get("MLXTEND_SOURCE")
if not FOLDER:
    pytest.skip("make test-peers fetches mlxtend's source distribution", allow_module_level=True)
sys.path.insert(0, FOLDER)
vars(np).setdefault("float_", np.float64)  # their model asks for a name that NumPy 2 no longer has


def _with_tags(model):
    """Let a model of theirs follow scikit-learn's present protocol, which asks for tags and classes."""

    def fit(self, X, y):
        model.fit(self, X, y)
        self.classes_ = np.unique(y)
        return self

    return type(model.__name__, (ClassifierMixin, BaseEstimator, model), {"__init__": model.__init__, "fit": fit})


for part in ("", "_feature_groups", "_fixed_features"):
    theirs = importlib.import_module(f"mlxtend.feature_selection.tests.test_sequential_feature_selector{part}")
    theirs.SFS = MlxtendSFS
    if hasattr(theirs, "SoftmaxRegression"):
        theirs.SoftmaxRegression = _with_tags(theirs.SoftmaxRegression)
    globals().update({f"{name}{part}": test for name, test in vars(theirs).items() if name.startswith("test_")})
