"""feature-engine's own tests of its selectors (in its repository), asked of our controls, rankers and searches."""

from __future__ import annotations

import importlib
import os
import sys
from unittest.mock import patch

import pytest

from peers import frames

FOLDER = os.environ.get("FEATURE_ENGINE_SOURCE")
if not FOLDER:
    pytest.skip("make .peers/feature_engine fetches its repository", allow_module_level=True)
# Their information value, target means and dropping by name have no counterpart; the rest tests their base classes.
ASKED = {
    "drop_constant_features": ("DropConstantFeatures",),
    "drop_duplicate_features": ("DropDuplicateFeatures",),
    "drop_correlated_features": ("DropCorrelatedFeatures",),
    "smart_correlation_selection": ("SmartCorrelatedSelection",),
    "drop_high_psi_features": ("DropHighPSIFeatures",),
    "single_feature_performance": ("SelectBySingleFeaturePerformance",),
    "shuffle_features": ("SelectByShuffling",),
    "probe_feature_selection": ("ProbeFeatureSelection",),
    "recursive_feature_elimination": ("RecursiveFeatureElimination",),
    "recursive_feature_addition": ("RecursiveFeatureAddition",),
    "recursive_feature_selectors": ("RecursiveFeatureElimination", "RecursiveFeatureAddition"),
}
# These ask whether the adapter stores its parameters or refuses wrong ones that ours has not, or for private functions.
THEIRS_ALONE = (
    "test_input_params", "test_init_", "test_tol_init", "test_threshold_init", "test_collective", "test_generate",
    "test_get_features_to_drop", "test_auto_threshold", "test_observation_frequency", "test_split", "test_error_param",
    "test_p_value", "test_n_categories", "test_threshold_raises", "test_raises_error_when_not_permitted_distribution",
    "test_error_if_missing_values_not", "test_error_when_selection_method_missing", "test_raises_threshold",
    "test_raises_error_when_r", "test_raises_error_when_selection", "test_raises_error_when_method",
    "test_selection_after_permutation",  # a minute long; tests/search asks it
)  # fmt: skip


def fresh(module):
    """Return a module's fixtures, made anew for each test: some of their tests change what they get."""
    made = {name: what for name, what in vars(module).items() if hasattr(what, "_get_wrapped_function")}
    return {what.name or name: pytest.fixture(what._get_wrapped_function()) for name, what in made.items()}


ours = [name for name in sys.modules if name == "tests" or name.startswith("tests.")]
with patch.dict(sys.modules):
    for name in ours:  # they have a package of this name, too
        del sys.modules[name]
    sys.path.insert(0, FOLDER)
    for part in ("tests.conftest", "tests.test_selection.conftest"):
        globals().update(fresh(importlib.import_module(part)))
    for part, names in ASKED.items():
        with patch.multiple("feature_engine.selection", **{name: vars(frames)[name] for name in names}):
            theirs = importlib.import_module(f"tests.test_selection.test_{part}")
        globals().update(fresh(theirs))
        tests = {name: test for name, test in vars(theirs).items() if name.startswith("test_")}
        globals().update({f"{name}__{part}": tests[name] for name in tests if not name.startswith(THEIRS_ALONE)})
    sys.path.remove(FOLDER)
