"""`SVC` with a Gaussian kernel on rows that stay the same: distances of a subset serve all with one column more."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from fewer.criteria._sklearn_internals import decisions_of_classes
from fewer.criteria.engines._parts import Part, Weights, codes_of, odd_option
from fewer.kernels import smo
from fewer.problem import FloatArray, IntArray

# Options that must stand at these values.
COVERED_SVMS = {
    "kernel": ("rbf",), "probability": (False, "deprecated"), "decision_function_shape": ("ovr",),
    "break_ties": (False,), "max_iter": (-1,), "verbose": (False,),
}  # fmt: skip
USUAL_TOL = 1e-3
MOST_ROWS = 1500  # Training rows up to which all distances are kept: 18 MB a fold.


class SupportVectors(Part):
    """Support vector classification with a Gaussian kernel.

    Predicts the classes that scikit-learn's `SVC` predicts; decision values agree to about its tolerance, 1e-3.
    """

    has_memberships = False

    @classmethod
    def refuses(cls, model: Any, n_rows: int, n_columns: int) -> str:
        """Say why a model is not fitted here; the empty string if it is."""
        if n_rows > MOST_ROWS:
            return f"more than {MOST_ROWS} training rows, whose distances would take much memory"
        if model.tol > USUAL_TOL:
            return f"SVC(tol={model.tol!r}), which stops early, is not covered"
        return odd_option(model, COVERED_SVMS)

    def __init__(self, model: Any, train: FloatArray, labels: Any, test: FloatArray, weights: Weights = None) -> None:
        self.classes_, codes = codes_of(labels, True)
        assert self.classes_ is not None
        if len(self.classes_) < 2 or (weights is not None and (weights <= 0.0).any()):
            raise ValueError("one class alone, or rows without weight")
        order = np.argsort(codes, kind="stable")
        self._starts = np.searchsorted(codes[order], np.arange(len(self.classes_) + 1))
        self._columns = np.ascontiguousarray(np.vstack([train[order], test]).T)
        self._n, self._model = len(order), model
        self._means, self._spreads = train.mean(axis=0), train.var(axis=0)
        each = compute_class_weight(model.class_weight, classes=self.classes_, y=labels)
        self._cost = float(model.C) * each[codes[order].astype(np.int64)]
        self._cost *= 1.0 if weights is None else weights[order]
        self._members = np.empty(0, dtype=np.int64)
        self._distances = np.zeros(self._n * self._columns.shape[1])
        self._pairwise: FloatArray = np.empty((0, 1))

    def start_from(self, members: IntArray) -> None:
        """Make ready for subsets that add one column to the members."""
        if np.array_equal(members, self._members):
            return
        kept = len(self._members) <= len(members) and np.isin(self._members, members).all()
        if not kept:
            self._distances[:] = 0.0  # taking columns off again would leave rounding errors
        for column in np.setdiff1d(members, self._members) if kept else members:
            smo.add_column(self._distances, self._n, self._columns[column])
        self._members = np.array(members, dtype=np.int64)

    def outputs(self, columns: IntArray) -> FloatArray | None:
        """Separate each two classes; return the decisions, (n_test, n_pairs), positive for the first of two."""
        added = np.setdiff1d(columns, self._members)
        if len(added) != 1 or len(columns) != len(self._members) + 1:
            self.start_from(columns[:-1])
            added = columns[-1:]
        column, gamma = self._columns[added[0]], self._gamma(columns)
        c, n, m = len(self._starts) - 1, self._n, self._columns.shape[1] - self._n
        pairwise = np.empty((c * (c - 1) // 2, m))
        for (a, b), decisions in zip(combinations(range(c), 2), pairwise, strict=True):
            rows = np.r_[self._starts[a] : self._starts[a + 1], self._starts[b] : self._starts[b + 1]]
            y = np.where(rows < self._starts[a + 1], 1.0, -1.0)
            distances, cells = self._distances, column
            if c > 2:
                both = np.r_[rows, n : n + m]
                distances = np.ascontiguousarray(distances.reshape(n, -1)[np.ix_(rows, both)]).reshape(-1)
                cells = column[both]
            if not smo.separate(distances, cells, y, self._cost[rows], gamma, float(self._model.tol), decisions):
                return None
        self._pairwise = pairwise.T
        return self._pairwise

    def decisions(self, outputs: FloatArray) -> FloatArray | None:
        """Return decision values: of two classes those of the second, of more one for each class."""
        if self._pairwise.shape[1] == 1:
            return -self._pairwise[:, 0]
        return decisions_of_classes(self._pairwise, len(self._starts) - 1)

    def codes(self, outputs: FloatArray) -> IntArray:
        """Return the class that wins most pairs, the first of equals."""
        c = len(self._starts) - 1
        votes = np.zeros((len(self._pairwise), c), dtype=np.int64)
        for (a, b), is_first in zip(combinations(range(c), 2), (self._pairwise > 0.0).T, strict=True):
            votes[:, a] += is_first
            votes[:, b] += ~is_first
        return np.asarray(votes.argmax(axis=1))

    def _gamma(self, columns: IntArray) -> float:
        gamma = self._model.gamma
        if gamma == "auto":
            return 1.0 / len(columns)
        if gamma != "scale":
            return float(gamma)
        means = self._means[columns]
        spread = float(np.mean(self._spreads[columns] + (means - means.mean()) ** 2))
        return 1.0 / (len(columns) * spread) if spread != 0.0 else 1.0
