"""The maximum realisable ROC of any classifiers: the hull of their curves, and the classifiers that attain it.

Scott, chapter 5: no classifier is better than another for every cost, but the hull of all curves is attained by
choosing between two of them for each case, and it is nowhere below any of the curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from fewer.io import is_frame
from fewer.problem import BoolArray, FloatArray, InputError
from fewer.roc._curve import ChordPoint, RocHull, RocLine, class_code, positives
from fewer.roc._growth import curve_front, joined, with_edges
from fewer.roc._learners import NOBODY, ConstantRule, FittedModel, Front, LearnedRule, named_models
from fewer.roc._operating_point import Guarantee, OperatingPoint, RowReader, Vertex, VertexClassifier
from fewer.roc._rates import (
    DISTINCT,
    Choice,
    Costs,
    Witnesses,
    cost_bound,
    cost_interval,
    last_point_kept,
    smoothed,
    upper_bound,
)
from fewer.roc._realisable import Digests

NO_CALIBRATION = "No rows were kept for calibration, so nothing can be guaranteed; fit with calibration=0.2."


@dataclass(frozen=True, eq=False)
class HeldOutCurve(RocLine):
    """The hull's classifiers on other rows, joined in the order of the hull without making a hull again.

    Parameters
    ----------
    fpr, tpr : arrays
        One point for each vertex.
    n_negative, n_positive : int
        How many rows of each class there were.

    Attributes
    ----------
    area : float
        By signed trapezoids: the line may turn back.

    Examples
    --------
    >>> curve = HeldOutCurve(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.7, 1.0]), 10, 10)
    >>> round(curve.area, 2)
    0.75
    """

    n_negative: int
    n_positive: int


@dataclass(frozen=True, eq=False)
class MRROC:
    """The maximum realisable ROC: a hull with the classifier at each vertex.

    Make it with `mrroc`, or with `Parcel`, whose `mrroc_` it is.

    Read more in the guide: :doc:`/guide/detectors`.

    Parameters
    ----------
    hull : RocHull
        On the rows that chose it; `vertices[i]` says who stands at vertex i.
    vertices : list of Vertex
        Who stands at each vertex of the hull.
    rules : list of Rule
        The fitted classifiers behind the vertices.
    reader : RowReader
        Reads new rows as the first ones were read.
    names : tuple of str
        The columns.
    classes : array
        The two labels.
    positive : int
        Which of them is the positive one.
    prevalence : float
        Share of positives among all rows given.
    sizes : (int, int)
        Negative and positive rows behind the hull.
    witnesses : Witnesses
        The rows by which rates are told.
    known : dict
        What else the maker knows, such as the rows that chose the hull.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> best = mrroc([GaussianNB().fit(X[::2], y[::2])], X[1::2], y[1::2])
    >>> best.sizes, round(best.prevalence, 2), best.area > 0.9
    ((110, 174), 0.61, True)
    """

    hull: RocHull
    vertices: list[Vertex]
    rules: list[LearnedRule]
    reader: RowReader
    names: tuple[str, ...]
    classes: NDArray[Any]
    positive: int
    prevalence: float
    sizes: tuple[int, int]
    witnesses: Witnesses
    known: dict[str, Any]

    @property
    def area(self) -> float:
        """Area under the hull, on the rows that chose it."""
        return self.hull.area

    @property
    def expected_area(self) -> float:
        """Area under the line of the hull's classifiers on the calibration rows, or on those of the hull."""
        fpr, tpr = self.witnesses.vertex_rates
        return float(np.trapezoid(tpr, fpr))

    def operating_point(
        self,
        *,
        max_fpr: float | None = None,
        guarantee: float | None = None,
        cost_fp: float | None = None,
        cost_fn: float | None = None,
        prevalence: float | None = None,
        choice: Literal["auto", "hash", "random"] = "auto",
        random_state: int | None = None,
    ) -> OperatingPoint:
        """Return the classifier at one point of the hull.

        Parameters
        ----------
        max_fpr : float, optional
            The highest false positive rate allowed: the point of the hull with the most true positives.
        guarantee : float, optional
            Keep the limit, or a bound on the cost, with this probability, such as 0.95, by the calibration rows.
            Without it `max_fpr` is kept on the validation rows only, and is overstepped about every other time on new
            ones. With costs, the vertex is chosen whose cost has the lowest bound, and one of the two classifiers
            that need no row (nothing, everything positive) if theirs is lower.
        cost_fp, cost_fn : float, default=1.0
            What a false positive and a false negative cost: the vertex of least expected cost, unless the calibration
            rows say that calling nothing, or everything, positive costs less.
        prevalence : float, optional
            Share of positives where it will be used; that of the rows it was fitted to if left out.
        choice : {"auto", "hash", "random"}, default="auto"
            Who decides a case between two vertices, see `RealisableClassifier`. `"auto"` takes the hash where the
            cells in use tell the rows apart, and an independent draw otherwise.
        random_state : int, optional
            Another number shuffles who decides which case.

        Returns
        -------
        OperatingPoint
        """
        rates = {"max_fpr": max_fpr, "guarantee": guarantee, "prevalence": prevalence}
        for name, value in (rates | {"cost_fp": cost_fp, "cost_fn": cost_fn}).items():
            if not isinstance(value, Real | None):
                raise InputError(f"{name}={value!r}: give a number.")
        by_cost = cost_fp is not None or cost_fn is not None
        if by_cost == (max_fpr is not None):
            raise InputError("Give either max_fpr, or cost_fp and cost_fn (both 1 if left out); not both.")
        share = self.prevalence if prevalence is None else prevalence
        if guarantee is not None:
            self._can_guarantee()
        if max_fpr is not None:
            Costs(1.0, 1.0, share)
            wanted = self.hull.at_fpr(max_fpr)
            if guarantee is None:
                point = self._classifier(wanted, None, share, choice, random_state)
                if point.expected_.fpr.estimate > max_fpr:
                    excess = f"More than {100 * max_fpr:g} % false positives are expected on new rows"
                    point.notes_ = (*point.notes_, f"{excess}; a guarantee (such as 0.95) keeps the limit.")
                return point
            return self._keeping(wanted, max_fpr, guarantee, share, choice, random_state)
        costs = Costs(1.0 if cost_fp is None else cost_fp, 1.0 if cost_fn is None else cost_fn, share)
        if guarantee is None:
            return self._classifier(self._cheapest(costs), costs, share, choice, random_state)
        return self._bounded(costs, guarantee, choice, random_state)

    def held_out(self, X: Any, y: Any) -> HeldOutCurve:
        """See where the hull's classifiers stand on other rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their target.

        Returns
        -------
        HeldOutCurve
        """
        used = sorted({f for vertex in self.vertices for f in vertex.features})
        rows = self.reader.read_needed(self._vertex_classifier(0), X, used)
        return self.held_out_cells(rows, np.asarray(y) == self.classes[self.positive])

    def held_out_cells(self, rows: Any, positive: BoolArray) -> HeldOutCurve:
        """Do the same for rows that were read already.

        Parameters
        ----------
        rows : table of shape (n_samples, n_features)
            Rows that no model was fitted to.
        positive : bool array of shape (n_samples,)
            Whether each is positive.

        Returns
        -------
        HeldOutCurve
        """
        called = calls(self.rules, self.vertices, rows)
        fpr, tpr = called[:, ~positive].mean(axis=1), called[:, positive].mean(axis=1)
        return HeldOutCurve(fpr, tpr, int((~positive).sum()), int(positive.sum()))

    def _can_guarantee(self) -> None:
        if self.witnesses.rows != "calibration":
            raise InputError(NO_CALIBRATION)
        if self.witnesses.weight is not None:
            raise InputError("The bounds behind a guarantee are for rows that count alike; fit without sample_weight.")

    def _cheapest(self, costs: Costs) -> ChordPoint:
        """Choose by the rows of the hull, then ask the calibration rows whether a constant answer costs less."""
        fpr, tpr = smoothed(self.hull.fpr, self.hull.tpr, self.sizes)
        best = int(np.argmin(np.round(costs.of(fpr, tpr), 12)))
        if self.witnesses.rows == "calibration":
            rates = self.witnesses.vertex_rates
            if costs.of(rates[0][best], rates[1][best]) > min(costs.trivial):
                best = self._constant(costs)
        return self.hull.vertex(best)

    def _constant(self, costs: Costs) -> int:
        nothing, everything = costs.trivial
        return 0 if nothing <= everything else len(self.vertices) - 1

    def _bounded(self, costs: Costs, guarantee: float, choice: Any, seed: int | None) -> OperatingPoint:
        """Return the vertex whose cost is bounded best by the rows of the hull, with the calibration rows' bound."""
        bounds = [
            cost_bound((fpr * self.sizes[0], (1 - tpr) * self.sizes[1]), self.sizes, costs, guarantee)
            for fpr, tpr in zip(self.hull.fpr[1:-1], self.hull.tpr[1:-1], strict=True)
        ]
        best = 1 + int(np.argmin(bounds)) if bounds else self._constant(costs)
        rates, sizes = self.witnesses.vertex_rates, (int(self.witnesses.sizes[0]), int(self.witnesses.sizes[1]))
        counts = rates[0][best] * sizes[0], (1 - rates[1][best]) * sizes[1]
        bound = cost_bound((float(counts[0]), float(counts[1])), sizes, costs, guarantee)
        if bound > min(costs.trivial):
            best, bound = self._constant(costs), min(costs.trivial)
        point = self._classifier(self.hull.vertex(best), costs, costs.prevalence, choice, seed)
        plain = self._classifier(self._cheapest(costs), costs, costs.prevalence, choice, seed)
        price = 0.0 if point.cost_ is None or plain.cost_ is None else point.cost_.estimate - plain.cost_.estimate
        point.guaranteed_ = Guarantee("cost", bound, guarantee, bound, price)
        return point

    def _keeping(
        self, wanted: ChordPoint, max_fpr: float, guarantee: float, share: float, choice: Any, seed: int | None
    ) -> OperatingPoint:
        witness = self.witnesses
        negative = ~witness.positive

        def drawn(low: int) -> FloatArray:
            high = min(low + 1, len(self.vertices) - 1)
            return witness.draws(low, high, self._decided(choice, low, high), seed)[negative]

        kept = last_point_kept(witness.called[:, negative], drawn, max_fpr, guarantee)
        high = min(kept.low + 1, len(self.vertices) - 1) if kept.share > 0 else kept.low
        fpr, tpr = (
            (1 - kept.share) * float(rates[kept.low]) + kept.share * float(rates[high])
            for rates in (self.hull.fpr, self.hull.tpr)
        )
        point = ChordPoint(kept.low, high, kept.share, fpr, tpr)
        classifier = self._classifier(point, None, share, choice, seed)
        plain = self.witnesses.rates(wanted).tpr.estimate
        bound = upper_bound(kept.n_false, kept.n_negative, guarantee)
        price = plain - classifier.expected_.tpr.estimate
        classifier.guaranteed_ = Guarantee("fpr", max_fpr, guarantee, bound, price)
        return classifier

    def _decided(self, choice: Literal["auto", "hash", "random"], low: int, high: int) -> Choice:
        if choice != "auto":
            return choice
        return "hash" if self.witnesses.told_apart(low, high) >= DISTINCT else "random"

    def _classifier(
        self, point: ChordPoint, costs: Costs | None, prevalence: float, choice: Any, seed: int | None
    ) -> OperatingPoint:
        decided = self._decided(choice, point.low, point.high) if point.share > 0 else "hash"
        pair = self._vertex_classifier(point.low), self._vertex_classifier(point.high)
        classifier = OperatingPoint(*pair, point.share, choice=decided, random_state=seed)
        ends = [self.vertices[v] for v in dict.fromkeys((point.low, point.high)) if v == point.low or point.share > 0]
        subsets = dict.fromkeys(vertex.names for vertex in ends)
        classifier.needed_ = tuple(sorted({f for vertex in ends for f in vertex.features}))
        classifier.subsets_ = tuple(subset for subset in subsets if subset)
        used = {name for subset in subsets for name in subset}
        classifier.features_ = tuple(name for name in self.names if name in used)
        classifier.promised_ = point
        classifier.expected_ = self.witnesses.rates(point)
        classifier.costs_ = costs
        classifier.cost_ = None if costs is None else self._cost(point, classifier, costs)
        classifier.prevalence_ = prevalence
        classifier.guaranteed_ = None
        classifier.notes_ = self._notes(point, decided)
        classifier.__dict__.update(self.known)
        return classifier

    def _cost(self, point: ChordPoint, classifier: OperatingPoint, costs: Costs) -> Any:
        band = cost_interval(classifier.expected_.fpr, classifier.expected_.tpr, costs)
        if point.low in (0, len(self.vertices) - 1) and point.share == 0.0:
            exact = costs.trivial[0 if point.low == 0 else 1]
            return replace(band, estimate=exact, low=exact, high=exact, method="known without rows")
        return band

    def _notes(self, point: ChordPoint, decided: Choice) -> tuple[str, ...]:
        apart = 1.0 if point.share == 0.0 else self.witnesses.told_apart(point.low, point.high)
        if apart >= DISTINCT:
            return ()
        opening = f"The cells in use separate only {100 * apart:.0f} % of the rows"
        if decided == "hash":
            return (f"{opening}: a choice by hash need not keep the rates; choice='random' does.",)
        return (f"{opening}: a classifier is drawn at random for each case, which keeps the rates.",)

    def _vertex_classifier(self, number: int) -> VertexClassifier:
        vertex = self.vertices[number]
        classifier = VertexClassifier(self.rules[number], vertex.threshold, vertex.features, self.reader)
        classifier.classes_ = self.classes
        classifier.positive_ = self.positive
        classifier.__dict__.update(self.known)
        return classifier


def placed_on(
    front: Front, members: Sequence[tuple[str, LearnedRule, tuple[int, ...]]], names: Sequence[str]
) -> tuple[RocHull, list[Vertex], list[LearnedRule]]:
    """Say who stands at each vertex of a hull, members being an algorithm, its rule and its features."""
    constant = ("constant", ConstantRule(), ())
    at = [constant if m == NOBODY else members[m] for m in front.member.tolist()]
    fpr, tpr = front.fp / front.fp[-1], front.tp / front.tp[-1]
    vertices = [
        Vertex(algorithm, features, tuple(names[f] for f in features), *map(float, place))
        for (algorithm, _, features), *place in zip(at, front.threshold, fpr, tpr, strict=True)
    ]
    return RocHull(fpr, tpr, np.arange(len(fpr))), vertices, [rule for _, rule, _ in at]


def calls(rules: Sequence[LearnedRule], vertices: Sequence[Vertex], rows: Any) -> BoolArray:
    """Say which rows each vertex calls positive; a subset is scored once for all its thresholds."""
    scores: dict[int, FloatArray] = {}
    called = []
    for rule, vertex in zip(rules, vertices, strict=True):
        if id(rule) not in scores:
            scores[id(rule)] = rule.scores(rows)
        called.append(scores[id(rule)] >= vertex.threshold)
    return np.array(called)


def digests_of(reader: RowReader, vertices: Sequence[Vertex], rows: Any) -> Digests:
    """Return the numbers that are made of the cells which each vertex uses."""
    known: dict[tuple[int, ...], Digests] = {}
    for vertex in vertices:
        if vertex.features not in known:
            known[vertex.features] = reader.digests(rows, vertex.features)
    return np.array([known[vertex.features] for vertex in vertices])


def mrroc(
    classifiers: Any,
    X: Any,
    y: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    calibration: float = 0.0,
    edge_points: int = 0,
    random_state: int | None = None,
) -> MRROC:
    """Return the maximum realisable ROC of fitted classifiers: the best that choosing between them can attain.

    Read more in the guide: :doc:`/guide/detectors`.

    Parameters
    ----------
    classifiers : classifier, list of classifiers or list of (name, classifier)
        Fitted to two classes, on other rows than these. Their `decision_function` is used, or else `predict_proba`, or
        else `predict`. Pipelines and classifiers on different features are welcome: each gets the table as it is.
    X : table of shape (n_samples, n_features)
        Rows that no classifier has learnt from.
    y : array of shape (n_samples,)
        Their target.
    pos_label : label, optional
        The positive class; the last one if left out.
    sample_weight : array of shape (n_samples,), optional
        How much each row counts.
    calibration : float, default=0.0
        Share of the rows that does not choose the hull, for honest rates and guarantees.
    edge_points : int, default=0
        Thresholds kept on each edge of ROC space beside the vertices, see `Parcel`.
    random_state : int, optional
        Seed of the split into rows of the hull and of calibration.

    Returns
    -------
    MRROC
        With `hull`, `vertices` and `operating_point`.

    See Also
    --------
    Parcel : Grows the set of classifiers, too, each on a subset of the features.
    RealisableClassifier : The choice between two classifiers that attains a point of a chord.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
    >>> bayes = GaussianNB().fit(X[::2], y[::2])
    >>> best = mrroc([linear, bayes], X[1::2], y[1::2])
    >>> detector = best.operating_point(max_fpr=0.05)
    >>> round(best.area, 3), detector.predict(X[:2]).tolist()
    (0.993, [0, 0])
    """
    named = named_models(classifiers, "classifiers")
    positive = positives(y, pos_label)
    classes = np.unique(np.asarray(y))
    code = class_code(classes.tolist(), pos_label)
    rules = [_rule_of(name, model, classes, code) for name, model in named]
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    kept = _kept_aside(positive, calibration, random_state)
    hull_rows, kept_rows = _rows(X, ~kept), _rows(X, kept)
    scores = [rule.scores(hull_rows) for rule in rules]
    on_hull = positive[~kept]
    own_weight = None if weight is None else weight[~kept]
    curves = [curve_front(values, on_hull, own_weight) for values in scores]
    front = joined(curves, 0.0 if weight is None else 1e-9)
    front = with_edges(front, scores.__getitem__, on_hull, edge_points, own_weight)
    members = [(name, rule, ()) for (name, _), rule in zip(named, rules, strict=True)]
    hull, vertices, rules_there = placed_on(front, members, ())
    reader = RowReader(None)
    rows, who = (kept_rows, kept) if kept.any() else (hull_rows, ~kept)
    every = np.ones(len(positive)) if weight is None else weight
    called, digests = calls(rules_there, vertices, rows), digests_of(reader, vertices, rows)
    judged_by: Literal["calibration", "validation"] = "calibration" if kept.any() else "validation"
    witnesses = Witnesses(called, positive[who], digests, None if weight is None else every[who], judged_by)
    prevalence, sizes = float(every[positive].sum() / every.sum()), (int((~on_hull).sum()), int(on_hull.sum()))
    return MRROC(hull, vertices, rules_there, reader, (), classes, code, prevalence, sizes, witnesses, {})


def _kept_aside(positive: BoolArray, share: float, seed: int | None) -> BoolArray:
    """Draw rows for calibration, class by class."""
    if not 0.0 <= share < 1.0:
        raise InputError(f"calibration={share!r}: give a share of at least 0 and below 1.")
    rng = np.random.default_rng(seed)
    kept = np.zeros(len(positive), dtype=bool)
    for side in (positive, ~positive):
        rows = rng.permutation(np.flatnonzero(side))
        kept[rows[: min(round(share * len(rows)), len(rows) - 1)]] = True
    return kept


def _rows(X: Any, chosen: BoolArray) -> Any:
    """Take some rows of any table."""
    if is_frame(X):
        import narwhals as nw

        return nw.from_native(X, eager_only=True).filter(chosen.tolist()).to_native()
    if hasattr(X, "tocsr"):
        return X.tocsr()[np.flatnonzero(chosen)]
    return np.asarray(X)[chosen]


def _rule_of(name: str, model: Any, classes: NDArray[Any], code: int) -> FittedModel:
    check_is_fitted(model)
    labels = np.asarray(getattr(model, "classes_", classes))
    if labels.tolist() != classes.tolist():
        raise InputError(
            f"{name or type(model).__name__} was fitted to the classes {labels.tolist()}, but the rows have "
            f"{classes.tolist()}; give two-class classifiers of the same labels."
        )
    return FittedModel(model, code)
