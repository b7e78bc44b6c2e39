"""scikit-learn's own tests of its filters, `SelectFromModel` and recursive elimination, asked of our components."""

from __future__ import annotations

import importlib
from unittest.mock import patch

from peers import adapters

FOR_EACH = {
    "chi2": ("chi2", "SelectKBest"),
    "feature_select": (
        "f_classif", "f_oneway", "f_regression", "mutual_info_classif", "mutual_info_regression", "chi2", "SelectKBest",
        "SelectPercentile", "SelectFdr", "SelectFpr", "SelectFwe", "GenericUnivariateSelect",
    ),
    "mutual_info": ("mutual_info_classif", "mutual_info_regression"),
    "from_model": ("SelectFromModel",),
    "rfe": ("RFE", "RFECV"),
}  # fmt: skip

# These ask for functions of theirs that have no counterpart, and would test scikit-learn itself.
THEIRS_ALONE = ("test_compute_mi", "test_chisquare", "test_r_regression")

for part, names in FOR_EACH.items():
    # Their parameters name the classes when the module is read: ours must be there before.
    with patch.multiple("sklearn.feature_selection", **{name: vars(adapters)[name] for name in names}):
        theirs = importlib.import_module(f"sklearn.feature_selection.tests.test_{part}")
    tests = {name: test for name, test in vars(theirs).items() if name.startswith("test_")}
    globals().update({f"{name}__{part}": tests[name] for name in tests if not name.startswith(THEIRS_ALONE)})
