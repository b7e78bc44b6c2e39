"""Where our selector differs from its peers on purpose: each test of theirs that fails, and why.

`make test-peers` fails when a test that is not listed here fails, and when one that is listed passes.
"""

from __future__ import annotations

import pytest

WORDS = "refused as well, in other words and as a ValueError or TypeError"
HOOK = "asks for a private switch of theirs; a real interrupt is tested in tests/search and tests/evaluate"
PARSIMONIOUS = "their rule (best score less std / n); ours is the control OneStandardError"
DIFFERENCES = {
    "test_scikit_learn.py::test_bad_n_features_to_select": "all columns may be asked for: then all are kept",
    "test_scikit_learn.py::test_n_features_to_select_auto[backward]": "theirs drops the first column whatever it costs",
    "test_scikit_learn.py::test_nan_support": "missing cells are filled inside the folds unless preprocess='none'",
    "test_scikit_learn.py::test_unsupervised_model_fit": "a target is needed",
    "test_scikit_learn.py::test_forward_neg_tol_error": "a negative gain is allowed: forward steps may lose a little",
    "test_scikit_learn.py::test_fit_rejects_params_with_no_routing_enabled": "sample_weight needs no routing",
    "test_mlxtend.py::test_kfeatures_type_1": WORDS,
    "test_mlxtend.py::test_kfeatures_type_2": WORDS,
    "test_mlxtend.py::test_kfeatures_type_3": WORDS,
    "test_mlxtend.py::test_kfeatures_type_4": WORDS,
    "test_mlxtend.py::test_kfeatures_type_5": WORDS,
    "test_mlxtend.py::test_clone_params_fail": WORDS,
    "test_mlxtend.py::test_transform_not_fitted": WORDS,
    "test_mlxtend.py::test_get_metric_dict_not_fitted": WORDS,
    "test_mlxtend.py::test_transform_not_fitted_feature_groups": WORDS,
    "test_mlxtend.py::test_keyboard_interrupt_feature_groups": HOOK,
    "test_mlxtend.py::test_invalid_estimator": "an estimator is asked for its type when it is fitted, not before",
    "test_mlxtend.py::test_invalid_k_features": WORDS,
    "test_mlxtend.py::test_wrong_feature_number_fixed_features": WORDS,
    "test_mlxtend.py::test_wrong_feature_range_fixed_features": "sizes below the forced features are met by them alone",
    "test_mlxtend.py::test_cv_generator_raises": "a generator of splits is taken",
    "test_mlxtend.py::test_keyboard_interrupt": HOOK,
    "test_mlxtend.py::test_check_pandas_dataframe_fit": HOOK,
    "test_mlxtend.py::test_check_pandas_dataframe_fit_backward": HOOK,
    "test_mlxtend.py::test_max_feature_subset_parsimonious": PARSIMONIOUS,
    "test_mlxtend.py::test_max_feature_subset_parsimonious_feature_groups": PARSIMONIOUS,
    "test_mlxtend.py::test_knn_rbf_groupkfold": "a subset with a NaN fold never wins; theirs skips the fold",
    "test_mlxtend.py::test_regression_sbfs": "ours finds a better subset of three: -33.16 against -33.41",
}


def pytest_collection_modifyitems(items):
    """Expect the listed tests to fail, and only those."""
    for item in items:
        place = item.nodeid.rpartition("/")[2]
        for test, reason in DIFFERENCES.items():
            if place == test or place.startswith(f"{test}["):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
