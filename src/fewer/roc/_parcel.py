"""Parcel: many subsets at once, scored by the hull of their ROC curves (Scott, chapter 6; specification section 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from fewer.models import DiscreteNaiveBayes
from fewer.models._table import TableReader
from fewer.problem import BoolArray, FloatArray, InputError, IntArray, Problem
from fewer.roc._choice import Digests, row_digests, shares
from fewer.roc._growth import NOBODY, Children, Growth, Pass, grow, with_edges
from fewer.roc._guarantee import last_point_kept, upper_bound
from fewer.roc._hull import ChordPoint, RocHull
from fewer.roc._learners import ConstantRule, learner_of
from fewer.roc._operating_point import Guarantee, OperatingPoint, Rates, Vertex, VertexClassifier
from fewer.validate import assign_folds, wilson_interval


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The hull's classifiers on other rows, joined in the order of the hull without making a hull again.

    Attributes
    ----------
    fpr, tpr : arrays, one point for each vertex
    area : float
        By signed trapezoids: the line may turn back.
    """

    fpr: FloatArray
    tpr: FloatArray
    n_negative: int
    n_positive: int

    @cached_property
    def area(self) -> float:
        """Area under the line."""
        return float(np.trapezoid(self.tpr, self.fpr))


@dataclass(frozen=True, eq=False)
class _Witnesses:
    """Rows that rates are measured on: what each vertex calls them, and who they are. The cells are not kept."""

    called: BoolArray
    positive: BoolArray
    digests: Digests
    rows: Literal["calibration", "validation"]


class Parcel(ClassifierMixin, BaseEstimator):
    """Grow a set of classifiers that is best for every cost, and choose the operating point later.

    Starting from guessing, the subsets that stand on the hull of all ROC curves so far get children; whatever lies
    outside the hull enlarges it; and this goes on for as long as the area grows significantly. Each vertex of the
    final hull is a learning algorithm with a subset and a threshold. `operating_point` turns any point of the hull
    into a classifier that needs at most two subsets.

    Parameters
    ----------
    estimators : classifier, list of classifiers or list of (name, classifier), default=DiscreteNaiveBayes()
        Learning algorithms that grow the hull together. Naive Bayes is fast; any other is fitted anew for each
        subset, with missing cells filled and levels one-hot encoded.
    validation : float, default=1/3
        Share of the rows, of those left by `calibration`, that builds the hull; the others train.
    calibration : float, default=0.2
        Share of the rows kept aside for honest rates and for guarantees.
    children : {"forward", "flip", "floating", "stochastic"}, default="forward"
        Of each subset on the hull: all with one feature more; or also one less; or one more and then, for as long as
        it pays, one less; or `n_children` with a few random changes.
    n_children : int, default=30
    critical_ratio : float, default=1.96
        A round whose area is less than this many standard errors above the last one is the last.
    keep_last : bool, default=True
        Keep what the last round added, although it was not significant.
    edge_points : int, default=15
        Thresholds kept on each edge of ROC space, beside the hull's vertices. Where no validation row is called
        falsely (or all positives are found) points on the edge seem alike, but on new rows they are not: they give
        a guarantee finer steps and the line on new rows more area. 0 gives the report's hull.
    max_features, max_passes : int, optional
        The largest subset, and the largest number of rounds.
    feature_costs : array of shape (n_features,), optional
        What each feature costs.
    cost_weight : float, default=0.0
        Points of true positive rate that one unit of cost must earn.
    pos_label : label, optional
        The positive class; the last one if left out.
    n_jobs : int, optional
        Threads or processes; the result is the same for any number.
    random_state : int, Generator, RandomState or None
        Seed of the split into training, validation and calibration rows.

    Attributes
    ----------
    hull_ : RocHull
        On the validation rows; `vertices_[i]` says who stands at vertex i. Some may lie on the edges.
    vertices_ : list of Vertex
    passes_ : list of Pass
        What each round did.
    n_evaluated_ : int
        How many classifiers were tried.
    support_ : bool array
        Columns that some vertex needs.
    prevalence_ : float
        Share of positives in the rows that it was fitted to.
    classes_, n_features_in_, feature_names_in_

    Notes
    -----
    `predict` decides at equal costs and the prevalence of the rows that it was fitted to. The significance of a round
    is the critical ratio of the two areas with Hanley and McNeil's standard errors, uncorrelated.

    References
    ----------
    M. J. J. Scott, Parcel: feature subset selection in variable cost domains, Cambridge University Engineering
    Department, 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> parcel = Parcel(random_state=0).fit(X, y)
    >>> detector = parcel.operating_point(max_fpr=0.1)
    >>> bool(detector.expected_.tpr.estimate > 0.9), len(detector.subsets_) <= 2
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimators": [HasMethods("fit"), list, tuple, None],
        "validation": [Interval(Real, 0, 1, closed="neither")],
        "calibration": [Interval(Real, 0, 1, closed="left")],
        "children": [StrOptions({"forward", "flip", "floating", "stochastic"})],
        "n_children": [Interval(Integral, 1, None, closed="left")],
        "critical_ratio": [Interval(Real, None, None, closed="neither")],
        "keep_last": ["boolean"],
        "edge_points": [Interval(Integral, 0, None, closed="left")],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "max_passes": [Interval(Integral, 1, None, closed="left"), None],
        "feature_costs": ["array-like", None],
        "cost_weight": [Interval(Real, 0, None, closed="left")],
        "pos_label": "no_validation",  # type: ignore[dict-item]
        "n_jobs": [Integral, None],
        "random_state": ["random_state", np.random.Generator],
    }

    hull_: RocHull
    vertices_: list[Vertex]
    passes_: list[Pass]
    classes_: NDArray[Any]
    n_features_in_: int

    def __init__(
        self,
        estimators: Any = None,
        *,
        validation: float = 1 / 3,
        calibration: float = 0.2,
        children: Children = "forward",
        n_children: int = 30,
        critical_ratio: float = 1.96,
        keep_last: bool = True,
        edge_points: int = 15,
        max_features: int | None = None,
        max_passes: int | None = None,
        feature_costs: ArrayLike | None = None,
        cost_weight: float = 0.0,
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.validation = validation
        self.calibration = calibration
        self.children = children
        self.n_children = n_children
        self.critical_ratio = critical_ratio
        self.keep_last = keep_last
        self.edge_points = edge_points
        self.max_features = max_features
        self.max_passes = max_passes
        self.feature_costs = feature_costs
        self.cost_weight = cost_weight
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Parcel:
        """Split the rows and grow the hull.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Missing cells are allowed; text, categories and truth values are levels.
        y : array of shape (n_samples,)
            Two classes.
        groups : array of shape (n_samples,), optional
            Rows of one group stay together.
        """
        self._validate_params()
        problem = TableReader().learn(self, X, y, groups=groups)
        return self.fit_problem(problem)

    def fit_problem(self, problem: Problem) -> Parcel:
        """Split the rows of a problem and grow the hull."""
        refuse_many_classes(problem)
        rng = self._generator()
        role = _roles(problem, self.validation, self.calibration, rng)
        calibration = problem.take(role == 2) if (role == 2).any() else None
        return self._fit(problem.take(role == 0), problem.take(role == 1), calibration, rng)

    def fit_parts(self, train: Problem, validation: Problem, calibration: Problem | None = None) -> Parcel:
        """Grow the hull on given training, validation and calibration rows."""
        self._validate_params()
        refuse_many_classes(train)
        return self._fit(train, validation, calibration, self._generator())

    def _fit(
        self, train: Problem, validation: Problem, calibration: Problem | None, rng: np.random.Generator
    ) -> Parcel:
        self.reader_ = TableReader()
        self.reader_.remember(train)
        self.n_features_in_ = train.n_features
        self.classes_ = np.asarray(train.classes)
        self._positive = self._positive_code()
        train, validation = self._turned(train), self._turned(validation)
        parts = [part for part in (train, validation, calibration) if part is not None]
        self.prevalence_ = float(
            (train.y.sum() + validation.y.sum() + (0 if calibration is None else self._turned(calibration).y.sum()))
            / sum(part.n_samples for part in parts)
        )
        named = self._named_estimators()
        n_jobs = effective_n_jobs(self.n_jobs)
        learners = [learner_of(name, estimator, train, validation, n_jobs) for name, estimator in named]
        n_positive = int(validation.y.sum())
        costs = np.zeros(train.n_features) if self.feature_costs is None else self._costs(train.n_features)
        growth = grow(
            learners,
            train.n_features,
            validation.n_samples - n_positive,
            n_positive,
            children=self.children,
            critical=self.critical_ratio,
            keep_last=self.keep_last,
            max_features=train.n_features if self.max_features is None else self.max_features,
            max_passes=self.max_passes,
            n_children=self.n_children,
            prices=self.cost_weight * n_positive * costs,
            usable=~train.constant,
            rng=rng,
        )
        placed = [(learners[m.learner], _mask(m.features, train.n_features)) for m in growth.members]
        rules = [learner.rule(mask) for learner, mask in placed]
        scores = [learner.validation_scores(mask) for learner, mask in placed]
        growth = replace(growth, front=with_edges(growth.front, scores, validation.y == 1, self.edge_points))
        front = growth.front
        self._rules = [rules[m] if m != NOBODY else ConstantRule() for m in front.member]
        self._keep(growth, train, [name for name, _ in named])
        if calibration is None:
            nobody = np.zeros(validation.n_samples)
            called = np.array(
                [
                    (scores[m] if m != NOBODY else nobody) >= cut
                    for m, cut in zip(front.member, front.threshold, strict=True)
                ]
            )
            self._witness = _Witnesses(called, validation.y == 1, row_digests(validation.X), "validation")
        else:
            rows = self._turned(calibration)
            self._witness = _Witnesses(self._calls(rows.X), rows.y == 1, row_digests(rows.X), "calibration")
        self._default = self.operating_point(cost_fp=1.0, cost_fn=1.0)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Decide rows at equal costs and the prevalence of the rows that it was fitted to."""
        check_is_fitted(self)
        cells = self.reader_.read(self, X)
        return self._default.low.decided(cells)

    def operating_point(
        self,
        *,
        max_fpr: float | None = None,
        guarantee: float | None = None,
        cost_fp: float | None = None,
        cost_fn: float | None = None,
        prevalence: float | None = None,
        choice: Literal["hash", "random"] = "hash",
        random_state: int = 0,
    ) -> OperatingPoint:
        """Return the classifier at one point of the hull.

        Parameters
        ----------
        max_fpr : float, optional
            The highest false positive rate allowed: the point of the hull with the most true positives.
        guarantee : float, optional
            Keep the limit with this probability, such as 0.95, by the calibration rows; without it the limit is
            kept on the validation rows only, and is overstepped about every other time on new ones.
        cost_fp, cost_fn : float, default=1.0
            What a false positive and a false negative cost: the vertex of least expected cost.
        prevalence : float, optional
            Share of positives where it will be used; that of the rows it was fitted to if left out.
        choice, random_state
            Who decides a case between two vertices, see `RealisableClassifier`.
        """
        check_is_fitted(self)
        by_cost = any(value is not None for value in (cost_fp, cost_fn, prevalence))
        if (max_fpr is None) != by_cost:
            raise InputError("Give either max_fpr, or cost_fp, cost_fn and prevalence.")
        if max_fpr is None:
            if guarantee is not None:
                raise InputError("A guarantee is for max_fpr; costs have none.")
            point = self.hull_.at_cost(
                1.0 if cost_fp is None else cost_fp,
                1.0 if cost_fn is None else cost_fn,
                self.prevalence_ if prevalence is None else prevalence,
            )
        else:
            point = self.hull_.at_fpr(max_fpr)
        if guarantee is None:
            return self._classifier(point, choice, random_state)
        return self._guaranteed(point, float(max_fpr or 0.0), guarantee, choice, random_state)

    def held_out(self, X: Any, y: Any) -> HeldOut:
        """See where the hull's classifiers stand on other rows."""
        check_is_fitted(self)
        positive = np.asarray(y) == self.classes_[self._positive]
        return self._held_out(self.reader_.read(self, X), positive)

    def held_out_problem(self, problem: Problem) -> HeldOut:
        """Do the same for a problem with the same columns and classes."""
        return self._held_out(problem.X, problem.y == self._positive)

    def _held_out(self, cells: FloatArray, positive: BoolArray) -> HeldOut:
        called = self._calls(cells)
        fpr, tpr = called[:, ~positive].mean(axis=1), called[:, positive].mean(axis=1)
        return HeldOut(fpr, tpr, int((~positive).sum()), int(positive.sum()))

    def _calls(self, cells: FloatArray) -> BoolArray:
        """Say which rows each vertex calls positive; a subset is scored once for all its thresholds."""
        called = np.empty((len(self._rules), len(cells)), dtype=bool)
        scores: dict[int, FloatArray] = {}
        for number, (rule, vertex) in enumerate(zip(self._rules, self.vertices_, strict=True)):
            if id(rule) not in scores:
                scores[id(rule)] = rule.scores(cells)
            called[number] = scores[id(rule)] >= vertex.threshold
        return called

    def _guaranteed(
        self, wanted: ChordPoint, max_fpr: float, guarantee: float, choice: Literal["hash", "random"], seed: int
    ) -> OperatingPoint:
        witness = self._witness
        if witness.rows != "calibration":
            raise InputError(
                "No rows were kept for calibration, so nothing can be guaranteed; fit with calibration=0.2."
            )
        negative = ~witness.positive
        drawn = _draws(witness.digests, choice, seed)
        kept = last_point_kept(witness.called[:, negative], drawn[negative], max_fpr, guarantee)
        high = min(kept.low + 1, len(self.vertices_) - 1) if kept.share > 0 else kept.low
        ends = self.hull_.vertex(kept.low), self.hull_.vertex(high)
        point = ChordPoint(
            kept.low,
            high,
            kept.share,
            (1 - kept.share) * ends[0].fpr + kept.share * ends[1].fpr,
            (1 - kept.share) * ends[0].tpr + kept.share * ends[1].tpr,
        )
        classifier = self._classifier(point, choice, seed)
        plain = self._classifier(wanted, choice, seed)
        classifier.guaranteed_ = Guarantee(
            max_fpr,
            guarantee,
            upper_bound(kept.n_false, kept.n_negative, guarantee),
            plain.expected_.tpr.estimate - classifier.expected_.tpr.estimate,
        )
        return classifier

    def _classifier(self, point: ChordPoint, choice: Literal["hash", "random"], seed: int) -> OperatingPoint:
        classifier = OperatingPoint(
            self._vertex_classifier(point.low),
            self._vertex_classifier(point.high),
            point.share,
            choice=choice,
            random_state=seed,
        )
        subsets = dict.fromkeys(
            self.vertices_[v].names for v in (point.low, point.high) if v == point.low or point.share
        )
        used = {name for subset in subsets for name in subset}
        classifier.subsets_ = tuple(subset for subset in subsets if subset)
        classifier.features_ = tuple(name for name in self.reader_.names if name in used)
        classifier.promised_ = point
        classifier.expected_ = self._expected(point, choice, seed)
        classifier.guaranteed_ = None
        classifier.n_features_in_ = self.n_features_in_
        return classifier

    def _expected(self, point: ChordPoint, choice: Literal["hash", "random"], seed: int) -> Rates:
        witness = self._witness
        drawn = _draws(witness.digests, choice, seed)
        called = np.where(drawn < point.share, witness.called[point.high], witness.called[point.low])
        bands = []
        for rows in (~witness.positive, witness.positive):
            estimand = "the probability that a new row of its class is called positive"
            bands.append(replace(wilson_interval(int(called[rows].sum()), int(rows.sum())), estimand=estimand))
        return Rates(bands[0], bands[1], witness.rows)

    def _vertex_classifier(self, number: int) -> VertexClassifier:
        vertex = self.vertices_[number]
        classifier = VertexClassifier(self._rules[number], vertex.threshold, vertex.features, self.reader_)
        classifier.classes_ = self.classes_
        classifier.positive_ = self._positive
        classifier.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            classifier.feature_names_in_ = self.feature_names_in_
        return classifier

    def _keep(self, growth: Growth, train: Problem, names: list[str]) -> None:
        front = growth.front
        fpr, tpr = front.fp / front.fp[-1], front.tp / front.tp[-1]
        self.hull_ = RocHull(fpr, tpr, np.arange(len(fpr)))
        self.vertices_ = []
        for i, m in enumerate(front.member):
            features = growth.members[m].features if m != NOBODY else ()
            self.vertices_.append(
                Vertex(
                    names[growth.members[m].learner] if m != NOBODY else "constant",
                    features,
                    tuple(train.names[f] for f in features),
                    float(front.threshold[i]),
                    float(fpr[i]),
                    float(tpr[i]),
                )
            )
        self.passes_ = growth.passes
        self.n_evaluated_ = sum(step.n_evaluated for step in growth.passes)
        self.support_ = _mask([f for vertex in self.vertices_ for f in vertex.features], train.n_features)

    def _named_estimators(self) -> list[tuple[str, Any]]:
        given = DiscreteNaiveBayes() if self.estimators is None else self.estimators
        listed = list(given) if isinstance(given, list | tuple) else [given]
        if not listed:
            raise InputError("estimators is empty; give at least one classifier.")
        pairs = [item if isinstance(item, tuple) else (type(item).__name__, item) for item in listed]
        names: list[str] = []
        for name, _ in pairs:
            names.append(name if name not in names else f"{name} {1 + sum(n.startswith(name) for n in names)}")
        return [(name, clone(estimator)) for name, (_, estimator) in zip(names, pairs, strict=True)]

    def _positive_code(self) -> int:
        if self.pos_label is None:
            return 1
        labels = self.classes_.tolist()
        if self.pos_label not in labels:
            raise InputError(f"pos_label={self.pos_label!r} is no class of the target, which has {labels}.")
        return labels.index(self.pos_label)

    def _turned(self, problem: Problem) -> Problem:
        """Return the problem with the positive class as code 1."""
        if self._positive == 1:
            return problem
        return replace(problem, y=1 - problem.y, classes=problem.classes[::-1])

    def _costs(self, n_features: int) -> FloatArray:
        costs = np.asarray(self.feature_costs, dtype=np.float64)
        if costs.shape != (n_features,) or not np.isfinite(costs).all() or (costs < 0).any():
            raise InputError(f"feature_costs must be {n_features} finite numbers of at least 0, one for each feature.")
        return costs

    def _generator(self) -> np.random.Generator:
        seed = self.random_state
        if isinstance(seed, np.random.Generator):
            return seed
        if isinstance(seed, int | np.integer):
            return np.random.default_rng(int(seed))
        return np.random.default_rng(check_random_state(seed).randint(2**31))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        return tags


def one_vs_rest(parcel: Parcel, X: Any, y: Any, groups: Any = None) -> dict[Any, Parcel]:
    """Fit one Parcel for each class against all others: the way to use Parcel with several classes.

    Parameters
    ----------
    parcel : Parcel
        Its parameters; it is not fitted itself.
    X : array or data frame
    y : array of shape (n_samples,)

    Returns
    -------
    dict of label to fitted Parcel
        The positive class of each is True: the row has that label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> detectors = one_vs_rest(Parcel(random_state=0), X, y)
    >>> detectors[0].predict(X[:2])
    array([ True,  True])
    """
    labels = np.asarray(y)
    return {
        label: clone(parcel).set_params(pos_label=True).fit(X, labels == label, groups=groups)
        for label in np.unique(labels).tolist()
    }


def refuse_many_classes(problem: Problem) -> None:
    """Refuse anything but two classes, and name the way out."""
    if problem.n_classes > 2:
        raise InputError(
            f"Only binary classification is supported. The type of the target is multiclass ({problem.n_classes} "
            "classes); set each class against the rest: fewer.roc.one_vs_rest(Parcel(), X, y)."
        )


def _roles(problem: Problem, validation: float, calibration: float, rng: np.random.Generator) -> IntArray:
    """Deal rows out to training (0), validation (1) and calibration (2), class by class, groups kept together."""
    role = np.zeros(problem.n_samples, dtype=np.int64)
    if problem.groups is None:
        for code in range(problem.n_classes):
            rows = rng.permutation(np.flatnonzero(problem.y == code))
            if len(rows) < 2:
                raise InputError(
                    f"Class {problem.classes[code]!r} has {len(rows)} row(s); training and validation need one each."
                )
            n_calibration = min(round(calibration * len(rows)), len(rows) - 2)
            n_validation = min(max(round(validation * (len(rows) - n_calibration)), 1), len(rows) - n_calibration - 1)
            role[rows[:n_calibration]] = 2
            role[rows[n_calibration : n_calibration + n_validation]] = 1
        return role
    n_folds = min(30, len(np.unique(problem.groups)))
    folds = assign_folds(problem, n_folds, rng)
    n_calibration = round(calibration * n_folds)
    n_validation = max(round(validation * (n_folds - n_calibration)), 1)
    role[folds < n_calibration + n_validation] = 1
    role[folds < n_calibration] = 2
    for part, name in enumerate(("training", "validation")):
        if len(np.unique(problem.y[role == part])) < 2:
            raise InputError(f"The groups leave no row of one class for {name}; give more groups, or none.")
    return role


def _draws(digests: Digests, choice: str, seed: int) -> FloatArray:
    return np.random.default_rng(seed).random(len(digests)) if choice == "random" else shares(digests, seed)


def _mask(features: Sequence[int], n_features: int) -> BoolArray:
    mask = np.zeros(n_features, dtype=bool)
    mask[list(features)] = True
    return mask
