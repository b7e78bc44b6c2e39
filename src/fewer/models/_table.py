"""Tables by the input reader of a classifier: learnt once at `fit`, read again for new rows with the same levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from fewer.io import is_frame, to_problem
from fewer.io._names import row_number
from fewer.io._reader import _encode_table
from fewer.problem import FloatArray, InputError, Problem


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
        """Return the numbers of new rows.

        Parameters
        ----------
        estimator : estimator
            Whose `n_features_in_` and `feature_names_in_` must fit.
        X : array or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        if not is_frame(X):
            return np.asarray(validate_data(estimator, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False))
        _check_feature_names(estimator, X, reset=False)
        _check_n_features(estimator, X, reset=False)
        return self._coded(X, range(len(self.names)))

    def read_needed(self, estimator: Any, X: Any, needed: Sequence[int], *, alone: bool = False) -> FloatArray:
        """Return the numbers of new rows in the columns that are needed; the others are NaN and not looked at.

        Parameters
        ----------
        estimator : estimator
            Whose `n_features_in_` and `feature_names_in_` must fit.
        X : array or data frame
            A frame may leave out columns that are not needed; an array has all columns.
        needed : sequence of int
            Numbers of the columns, in order.
        alone : bool, default=False
            Take an array with the needed columns alone, too, and the columns of a frame in any order.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        needed = list(needed)
        if is_frame(X) and hasattr(estimator, "feature_names_in_"):
            columns = [str(name) for name in nw.from_native(X, eager_only=True).columns]
            absent = [self.names[j] for j in needed if self.names[j] not in columns]
            if absent and alone:
                raise InputError(f"The table has no column {', '.join(map(repr, absent))}, which is needed.")
            if not alone and (absent or len(columns) >= len(self.names)):
                _check_feature_names(estimator, X, reset=False)
            cells = self._coded(X, needed)
            n_samples = len(cells)
        else:
            table = check_array(X, dtype=np.float64, ensure_all_finite=False, input_name="X", estimator=estimator)
            if not (alone and table.shape[1] == len(needed)):
                _check_n_features(estimator, table, reset=False)
                table = table[:, needed]
            if np.isinf(table).any():
                row, place = np.argwhere(np.isinf(table))[0]
                raise InputError(
                    f"Input X contains infinity: row {row}, column {self.names[needed[place]]!r}; give a number, or "
                    "NaN where it is missing."
                )
            cells, n_samples = table, len(table)
        out = np.full((n_samples, len(self.names)), np.nan)
        out[:, needed] = cells
        return out

    def _coded(self, X: Any, columns: Sequence[int]) -> FloatArray:
        """Read some columns of a frame, levels as the codes that were learnt; in the order asked for."""
        names = [self.names[j] for j in columns]
        frame = nw.from_native(X, eager_only=True)
        if not names:
            return np.empty((len(frame), 0))
        there = {str(name): name for name in frame.columns}
        if list(there) != names:
            X = frame.select([there[name] for name in names]).to_native()
        kinds = {self.names[j]: self.kinds[j] for j in columns}
        table = _encode_table(
            X,
            [name for name in names if kinds[name] == "nominal"],
            [name for name in names if kinds[name] == "numeric"],
            row_number,
        )
        out = table.X.copy()
        for place, column in enumerate(columns):
            if column in self.codes:
                levels = table.levels[place]
                known = [self.codes[column].get(str(label), np.nan) for label in levels]
                code_of = np.array([*known, np.nan], dtype=np.float64)
                cells = out[:, place]
                out[:, place] = code_of[np.where(np.isnan(cells), len(levels), cells).astype(np.int64)]
        return out
