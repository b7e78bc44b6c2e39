"""Tables by the input reader of a classifier: learnt once at `fit`, read again for new rows with the same levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from fewer.io import is_frame, to_problem
from fewer.io._names import row_number
from fewer.io._reader import _encode_table
from fewer.problem import FloatArray, Problem


class TableReader:
    """Reads tables of the columns that it has learnt: arrays with numbers, or data frames.

    Attributes
    ----------
    names, kinds : tuples of str
    codes : dict
        For each nominal column, the code of each level. A level that was not there counts as missing.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    codes: dict[int, dict[str, int]]

    def learn(self, estimator: Any, X: Any, y: Any, *, weights: Any = None, groups: Any = None) -> Problem:
        """Make a classification problem, and remember names, kinds and levels."""
        if y is None:
            raise ValueError(
                f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
            )
        if is_frame(X):
            _check_feature_names(estimator, X, reset=True)
            _check_n_features(estimator, X, reset=True)
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        else:
            X, y = validate_data(
                estimator, X, y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2
            )  # fmt: skip
        check_classification_targets(y)
        if weights is not None:
            weights = _check_sample_weight(weights, X)
        problem = to_problem(X, y, task="classification", sample_weight=weights, groups=groups)
        self.remember(problem)
        return problem

    def remember(self, problem: Problem) -> None:
        """Take names, kinds and levels from a problem."""
        self.names, self.kinds = problem.names, problem.kinds
        self.codes = {
            column: {str(label): code for code, label in enumerate(levels)} for column, levels in problem.levels.items()
        }

    def read(self, estimator: Any, X: Any) -> FloatArray:
        """Return the numbers of new rows."""
        if not is_frame(X):
            return np.asarray(validate_data(estimator, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False))
        _check_feature_names(estimator, X, reset=False)
        _check_n_features(estimator, X, reset=False)
        kinds = dict(zip(self.names, self.kinds, strict=True))
        table = _encode_table(
            X, [name for name in self.names if kinds[name] == "nominal"],
            [name for name in self.names if kinds[name] == "numeric"], row_number,
        )  # fmt: skip
        out = table.X.copy()
        for column, codes in self.codes.items():
            levels = table.levels[column]
            code_of = np.array([codes.get(str(label), np.nan) for label in levels] + [np.nan], dtype=np.float64)
            cells = out[:, column]
            out[:, column] = code_of[np.where(np.isnan(cells), len(levels), cells).astype(np.int64)]
        return out
