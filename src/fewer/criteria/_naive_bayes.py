"""Naive Bayes as criterion, scored on held-out rows (Scott, chapters 4 and 6; specification sections 3 and 7)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils._param_validation import HasMethods

from fewer.contracts import ROWS, Criterion, IncompatibleError, Masks, PredictiveScorer, Resources, Walk
from fewer.contracts.declaring import NonNegative, parameters
from fewer.kernels import naive_bayes as kernels
from fewer.kernels.bundles import Units
from fewer.models.discrete_naive_bayes import FIXED, LogTables, columns_of, sparse_columns_of
from fewer.parallel import in_threads
from fewer.problem import FloatArray, InputError, IntArray, Problem, Task
from fewer.validate import assign_folds
from fewer.validate.splits import CV, splits_of

if TYPE_CHECKING:
    pass


@parameters
class NaiveBayes(Criterion):
    """Cross-validated accuracy or area under the ROC curve of naive Bayes.

    Numeric columns are cut into bins by the rows that train each fold, see `fewer.models.DiscreteNaiveBayes`.

    Read more in the guide: :doc:`/methods/models`.

    Parameters
    ----------
    scoring : {"accuracy", "auroc"}, default="accuracy"
        The share of rows whose class wins; or, for two classes, the share of pairs of a positive and a negative row
        of the same fold that the log-ratio ranks rightly, ties by half.
    cv : int, "loo" or scikit-learn splitter, default=10
        Stratified folds, fixed once for a run. With a splitter whose test sets leave rows out, such as
        `PredefinedSplit` for one training and one validation set, the rows left out are not judged.
    alpha : float, default=1.0
        Added to the count of every level in every class.
    discretizer : transformer, default=MDLPDiscretizer()
        Cuts numeric columns into bins 0, 1, …

    Notes
    -----
    The log-ratio of a subset is the sum of one table entry for each of its features, in fixed point; so a child costs
    one addition a row, and the score does not depend on the way to a subset. Missing cells take no part.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> import fewer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> components = NaiveBayes("auroc"), fewer.search.Forward()
    >>> selector = fewer.SubsetSelector(*components, n_features_to_select=2, random_state=0).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['worst radius', 'worst concave points']
    """

    command_name = "naive-bayes"
    takes: ClassVar[frozenset[str]] = ROWS - {"time"}
    depends_on: ClassVar[frozenset[str]] = frozenset({"row order"})
    predictive: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    scoring: Literal["accuracy", "auroc"] = "accuracy"
    cv: CV = 10
    alpha: NonNegative = 1.0
    discretizer: Annotated[Any, HasMethods("fit"), HasMethods("fit_transform"), None] = None

    def bind(self, problem: Problem, rng: np.random.Generator, resources: Resources) -> NaiveBayesScorer:
        if self.scoring == "auroc" and problem.n_classes != 2:
            raise IncompatibleError(
                f"The area under a ROC curve is for two classes, but there are {problem.n_classes}; "
                "use scoring='accuracy', or set one class against the rest."
            )
        return NaiveBayesScorer(self, problem, _splits(problem, self.cv, rng), resources)


class NaiveBayesScorer(PredictiveScorer):
    """`NaiveBayes` bound to rows."""

    def __init__(
        self, criterion: NaiveBayes, problem: Problem, splits: list[tuple[IntArray, IntArray]], resources: Resources
    ) -> None:
        self.problem = problem
        self._criterion = criterion
        self._n_jobs = resources.n_jobs
        self._tested = np.concatenate([test for _, test in splits])
        if problem.sparse is not None:
            self._columns = sparse_columns_of(problem, splits, criterion.alpha, criterion.discretizer)
        else:
            learnt = LogTables.learn_folds(problem, splits, criterion.alpha, criterion.discretizer)
            codes = [tables.rows(problem.X[test]) for tables, (_, test) in zip(learnt, splits, strict=True)]
            self._columns = columns_of(learnt, codes)
        weights = problem.row_weights
        y, w = problem.y[self._tested], weights[self._tested]
        by_rank = criterion.scoring == "auroc"
        self._judge = kernels.Judge(np.ascontiguousarray(y), w, by_rank, problem.sample_weight is not None)
        self._whole = _pair_weight(y, w, self._columns.bounds) if by_rank else float(w.sum())
        if self._whole == 0:
            raise IncompatibleError("No fold holds rows of both classes, so no pair can be ranked; use fewer folds.")

    def score(self, masks: Masks) -> FloatArray:
        """Score (m, p) masks."""
        masks = np.ascontiguousarray(masks, dtype=bool)

        def run(block: IntArray) -> FloatArray:
            out = np.empty(len(block))
            kernels.score_masks(masks[block], self._columns, self._judge, out)
            return out

        return self._in_blocks(run, len(masks))

    def flips(self, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Score all changes of one unit: one addition a row each."""
        return self.flips_from(self._base(mask), mask, units, values)

    def flips_from(self, base: IntArray, mask: Masks, units: Sequence[IntArray], values: NDArray[Any]) -> FloatArray:
        """Do the same with the sums of the mask at hand."""
        mask, values = np.asarray(mask, dtype=bool), np.asarray(values, dtype=bool)

        def run(block: IntArray) -> FloatArray:
            out = np.empty(len(block))
            packed = Units.of([units[u] for u in block])
            kernels.score_flips(mask, base, packed, values[block], self._columns, self._judge, out)
            return out

        return self._in_blocks(run, len(units))

    def walk(self, mask: Masks, units: Sequence[IntArray]) -> Walk:
        """Stand on one mask with its sums at hand."""
        return NaiveBayesWalk(self, mask, units)

    def outputs(self, mask: Masks) -> FloatArray:
        """Predict each bound row without its own fold; rows that no fold tests stay undefined."""
        ratios = self._base(mask) / FIXED
        out = np.full((self.problem.n_samples, self.problem.n_classes), np.nan)
        out[self._tested] = softmax(np.column_stack([np.zeros(len(ratios)), ratios]), axis=1)
        return out

    def predict(self, mask: Masks, X: FloatArray) -> FloatArray:
        """Predict new rows from all bound rows."""
        features = np.flatnonzero(mask)
        if self.problem.sparse is not None:
            joint = self._learn(cast(Any, self.problem).narrowed(features)).joint(X[:, features])
        else:
            joint = self._learn(self.problem).joint(X, features.tolist())
        return np.asarray(softmax((joint - joint.max(axis=1, keepdims=True)) / FIXED, axis=1))

    def grade(self, outputs: FloatArray, rows: Problem) -> float:
        """Score outputs for rows: accuracy, or the area under their ROC curve."""
        if self._criterion.scoring == "accuracy":
            return super().grade(outputs, rows)
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(rows.y, outputs[:, 1], sample_weight=rows.sample_weight))

    def _learn(self, rows: Problem) -> LogTables:
        return LogTables.learn(rows, self._criterion.alpha, self._criterion.discretizer)

    def _base(self, mask: Masks) -> IntArray:
        base = self._columns.prior.copy()
        for feature in np.flatnonzero(mask):
            kernels.add_feature(base, feature, 1, self._columns)
        return base

    def _in_blocks(self, run: Any, n: int) -> FloatArray:
        n_blocks = 1 if self._n_jobs == 1 else min(4 * self._n_jobs, n)
        blocks = [block for block in np.array_split(np.arange(n), max(n_blocks, 1)) if len(block)]
        return np.concatenate([*in_threads(run, blocks, self._n_jobs), np.empty(0)]) / self._whole


class NaiveBayesWalk(Walk):
    """Sums under one mask; they are exact, so that the way does not show."""

    def __init__(self, scorer: NaiveBayesScorer, mask: Masks, units: Sequence[IntArray]) -> None:
        self._scorer, self._units = scorer, units
        self._mask = np.asarray(mask, dtype=bool).copy()
        self._base = scorer._base(self._mask)
        self._change = (0, False)

    def propose(self, unit: int, value: float) -> float:
        """Score the mask with one unit set to a value."""
        self._change = (unit, bool(value))
        return float(self._scorer.flips_from(self._base, self._mask, [self._units[unit]], np.array([value != 0]))[0])

    def accept(self) -> None:
        """Make the proposed change."""
        unit, value = self._change
        for feature in self._units[unit]:
            if self._mask[feature] != value:
                kernels.add_feature(self._base, feature, 1 if value else -1, self._scorer._columns)
                self._mask[feature] = value

    def reject(self) -> None:
        """Forget the proposed change."""


def _splits(problem: Problem, cv: Any, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    """Return training and test rows, no row tested twice."""
    if cv is None or isinstance(cv, int | np.integer | str):
        folds = assign_folds(problem, cv, rng)
        return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]
    splits = splits_of(cv, problem)
    if not splits:
        raise InputError(f"cv={cv!r} gives no split; at least one is needed.")
    tested = np.concatenate([test for _, test in splits])
    if len(np.unique(tested)) < len(tested):
        raise InputError(f"{cv} tests some row twice; give a splitter whose test sets share no row.")
    return splits


def _pair_weight(y: IntArray, weights: FloatArray, bounds: IntArray) -> float:
    """Sum the weights of all pairs of a positive and a negative row of one fold."""
    parts = [slice(low, high) for low, high in pairwise(bounds)]
    return float(sum(weights[part][y[part] == 1].sum() * weights[part][y[part] == 0].sum() for part in parts))
