"""Parcel: many subsets at once, scored by the hull of their ROC curves (Scott, chapter 6; specification section 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from fewer.contracts import generator_of
from fewer.contracts.declaring import Count, Fraction, NonNegative, RandomState, Repeats, Whole, parameters
from fewer.estimators import ClassScoresMixin, Jobs, Prices, TableClassifier, TableReader, parse_costs
from fewer.models import DiscreteNaiveBayes
from fewer.problem import BoolArray, FloatArray, InputError, Problem, mask_of
from fewer.roc._committee import CommitteeBallot, elect, hull_shares
from fewer.roc._curve import auroc, class_code
from fewer.roc._growth import Children, GrowthPlan, HullGrowth, Member, best_subset, few_of, grow, with_edges
from fewer.roc._learners import NOBODY, Learner, Lessons, deal_out, learner_of, named_models
from fewer.roc._mrroc import MRROC, HeldOutCurve, calls, digests_of, placed_on
from fewer.roc._operating_point import OperatingPoint, RowReader
from fewer.roc._rates import Witnesses
from fewer.roc._realisable import columns_known
from fewer.text import html_card, html_table
from fewer.validate import CV

Rows = Problem | None

# Subsets that an algorithm which is fitted anew for each may try in a round.
MAX_SLOW = 30

# Rows of the smaller class, without those for calibration, from which on few subsets are chosen. With fewer a step of
# the hull is much more than any price, and the choice falls on subsets that these few rows flatter.
PRICED = 30

# How often folds are dealt where few subsets are chosen: the choice by one dealing is partly luck.
REPEATS = 3

# Critical ratio below which a round is the last, where every row judges; the report's is 1.96.
ENOUGH = 0.5


@parameters
class Parcel(ClassScoresMixin, TableClassifier):
    """Grow a set of classifiers that is best for every cost, and choose the operating point later.

    Starting from guessing, the subsets that stand on the hull of all ROC curves so far get children; whatever lies
    outside the hull enlarges it; and this goes on for as long as the area grows. Each vertex of the final hull is a
    learning algorithm with a subset and a threshold. `operating_point` turns any point of the hull into a classifier
    that needs at most two subsets. `predict`, `predict_proba` and `decision_function` let the classifiers on the hull
    vote.

    Read more in the guide: :doc:`/guide/detectors`.

    Parameters
    ----------
    estimators : classifier, list of classifiers or list of (name, classifier), default=DiscreteNaiveBayes()
        Learning algorithms that grow the hull together. Naive Bayes is fast and tries every child; any other is fitted
        anew for each subset, with missing cells filled and levels one-hot encoded, and tries the subsets on the hull,
        all features, and some children.
    method : {"auto", "scott"}, default="auto"
        `"auto"`: every row that is not kept for calibration trains and judges in turn (`cv` folds, dealt three times
        for naive Bayes), subsets may lose features as well as gain them, the growth also starts from large subsets, few
        subsets are chosen by a price of their features (`size_penalty`), and fitted to all these rows. `"scott"`: as in
        the report: one split into training and validation rows, subsets grow from nothing, a round must be significant.
    cv : int, "loo", splitter or list of (train, test), default=5
        Folds of `"auto"`. A list is for the rows of the whole table; those kept for calibration are left out of it.
        Where rows have a time, a number means splits that go forward.
    validation : float, default=1/3
        Share of the rows, of those left by `calibration`, that builds the hull of `"scott"`; the others train.
    calibration : float, default=0.2
        Share of the rows kept aside for honest rates and for guarantees.
    children : {"forward", "flip", "floating", "stochastic"}, optional
        Of each subset on the hull: all with one feature more; or also one less; or one more and then, for as long as
        it pays, one less; or `n_children` with a few random changes. `"flip"` if left out, `"forward"` for `"scott"`.
    n_children : int, default=30
        Children of each subset with `"stochastic"`.
    critical_ratio : float, optional
        A round whose area is less than this many standard errors above the last one is the last. 0.5 if left out, 1.96
        for `"scott"`.
    keep_last : bool, default=True
        Keep what the last round added, although it was not significant.
    edge_points : int, default=15
        Thresholds kept on each edge of ROC space, beside the hull's vertices. Where no validation row is called
        falsely (or all positives are found) points on the edge seem alike, but on new rows they are not: they give
        a guarantee finer steps and the line on new rows more area. 0 gives the report's hull.
    max_features, max_passes : int, optional
        The largest subset, and the largest number of rounds.
    feature_costs : array of shape (n_features,) or dict of name to float, optional
        What each feature costs; with a dict, features that are not named cost nothing.
    cost_weight : float, default=0.0
        Points of true positive rate that one unit of cost must earn.
    size_penalty : float, default=0.075
        Area that all features together would have to earn, in equal shares: with 50 columns each feature must add
        0.0015. Few subsets that earn their features are then chosen from the hull; 0 keeps all of the hull, for the
        largest area alone. There is none with fewer than 30 rows of the smaller class, and for `"scott"`.
    pos_label : label, optional
        The positive class; the last one of two if left out. With several classes it is set against all others; without
        it each class is, see `parcels_`.
    n_jobs : int, optional
        Threads or processes; the result is the same for any number.
    random_state : int, Generator, RandomState or None
        Seed of folds and of the rows kept for calibration.

    Attributes
    ----------
    mrroc_ : MRROC
        The hull with its classifiers.
    hull_ : RocHull
        On the rows that judge; `vertices_[i]` says who stands at vertex i. Some may lie on the edges.
    vertices_ : list of Vertex
    passes_ : list of Pass
        What each round did.
    n_evaluated_ : int
        How many classifiers were tried.
    support_ : bool array
        Columns that some vertex needs.
    scoring_support_ : bool array
        Columns that `predict`, `predict_proba` and `decision_function` need.
    area_ : float
        Area under the line of the hull's classifiers on the calibration rows, if there are any.
    prevalence_ : float
        Share of positives in the rows that it was fitted to.
    parcels_ : dict of label to Parcel
        With several classes: the detector of each class; the attributes above are then theirs.
    classes_, n_features_in_, feature_names_in_

    See Also
    --------
    mrroc : The same hull for classifiers that you have fitted.
    RealisableClassifier : The choice between two classifiers.

    Notes
    -----
    `predict` decides at equal costs and the prevalence of the rows that it was fitted to, by the votes of all
    classifiers on the hull, which are fitted to all rows for it, and of the learning algorithms with all features,
    unless calibration rows show that the hull ranks better without them; several algorithms share their votes by
    stacking, and the hull joins them where calibration rows show that it helps. `operating_point` gives classifiers
    that need few features and whose rates were measured on rows that they have not seen. The significance of a round
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

    _made_last = "scoring_support_"

    estimators: Annotated[Any, HasMethods("fit"), list, tuple, None] = None
    _: KW_ONLY
    method: Literal["auto", "scott"] = "auto"
    cv: CV = 5
    validation: Fraction = 1 / 3
    calibration: Annotated[float, Interval(Real, 0, 1, closed="left")] = 0.2
    children: Children | None = None
    n_children: Repeats = 30
    critical_ratio: Annotated[float | None, Interval(Real, None, None, closed="neither"), None] = None
    keep_last: bool = True
    edge_points: Whole = 15
    max_features: Count | None = None
    max_passes: Count | None = None
    feature_costs: Prices = None
    cost_weight: NonNegative = 0.0
    size_penalty: NonNegative = 0.075
    pos_label: Annotated[Any, object] = None
    n_jobs: Jobs = None
    random_state: RandomState = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None) -> Parcel:
        """Split the rows and grow the hull.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Missing cells are allowed; text, categories and truth values are levels.
        y : array of shape (n_samples,)
            Two classes, or several.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts beside the others, in training and in the rates. Equal weights of any size are no
            weights, so a weight of 2 is not a second copy of the row: copies are more rows, and naive Bayes, standard
            errors and the draw of calibration rows count rows.
        groups : array of shape (n_samples,), optional
            Rows of one group stay together.
        time : array of shape (n_samples,), optional
            When each row was seen: the latest rows calibrate, and judges are later than the rows that were learnt
            from. Rates and guarantees are then about rows like the latest.

        Returns
        -------
        Parcel
            Itself.
        """
        self._validate_params()
        return self.fit_problem(self._read(X, y, sample_weight=sample_weight, groups=groups, time=time))

    def fit_problem(self, problem: Problem) -> Parcel:
        """Split the rows of a problem and grow the hull.

        Parameters
        ----------
        problem : Problem
            The rows.

        Returns
        -------
        Parcel
            Itself.
        """
        if problem.task != "classification":
            raise InputError("Parcel tells classes apart, but the target is a quantity; choose another method.")
        for code, label in enumerate(problem.classes):
            if problem.sample_weight is not None and not problem.sample_weight[problem.y == code].any():
                raise InputError(f"Every row of class {label!r} has weight 0; each class needs rows that count.")
        if problem.n_classes > 2:
            return self._fit_several(problem)
        rng = generator_of(self.random_state)
        fast = all(isinstance(estimator, DiscreteNaiveBayes) for _, estimator in self._named_estimators())
        lessons, calibration = deal_out(
            problem, self.calibration, self.cv, self.validation, rng, in_folds=self.method == "auto",
            repeats=REPEATS if fast and self.calibration else 1,
        )  # fmt: skip
        return self._fit(lessons, calibration, problem, rng)

    def fit_parts(self, train: Problem, validation: Problem, calibration: Problem | None = None) -> Parcel:
        """Grow the hull on given training, validation and calibration rows.

        Parameters
        ----------
        train, validation : Problem
            Of the same columns and two classes.
        calibration : Problem, optional
            Rows that only measure.

        Returns
        -------
        Parcel
            Itself.
        """
        self._validate_params()
        if train.n_classes > 2:
            raise InputError(f"Parts of given rows are for two classes, but there are {train.n_classes}.")
        return self._fit(Lessons.of_parts(train, validation), calibration, None, generator_of(self.random_state))

    def _fit_several(self, problem: Problem) -> Parcel:
        """Fit one Parcel for each class against all others, or for the one that was named."""
        labels = list(problem.classes)
        self._remember(problem)
        chosen = labels if self.pos_label is None else [labels[self._positive_code()]]
        seed = int(generator_of(self.random_state).integers(2**31))
        self.parcels_: dict[Any, Parcel] = {}
        for label in chosen:
            if np.sum(problem.y == labels.index(label)) < 2:
                raise InputError(
                    f"Class {label!r} has 1 row; Parcel needs two or more. Merge rare classes or drop them."
                )
            parcel = clone(self).set_params(pos_label=True, random_state=seed)
            rows = replace(problem, y=(problem.y == labels.index(label)).astype(np.int64), classes=(False, True))
            parcel.__dict__.update(columns_known(self))
            self.parcels_[label] = parcel.fit_problem(rows)
        self.support_, self.scoring_support_ = (
            np.any([getattr(parcel, name) for parcel in self.parcels_.values()], axis=0)
            for name in ("support_", "scoring_support_")
        )
        return self

    def _fit(self, lessons: Lessons, calibration: Rows, everything: Rows, rng: np.random.Generator) -> Parcel:
        self._remember(lessons.whole)
        self._positive = self._positive_code()
        lessons = replace(lessons, rows=self._turned(lessons.rows))
        thinned = self.method == "auto" and self.size_penalty > 0 and min(lessons.sizes) >= PRICED
        if not thinned:
            lessons = lessons.dealt_once()
        calibration = None if calibration is None else self._turned(calibration)
        self.prevalence_ = _prevalence(lessons, calibration)
        n_jobs = effective_n_jobs(self.n_jobs)
        learners = [learner_of(name, estimator, lessons, n_jobs) for name, estimator in self._named_estimators()]
        plan = self._plan(learners, lessons)
        growth = grow(learners, plan, lessons.totals, lessons.sizes, rng)
        few = self._few(growth, learners, plan, lessons) if thinned else growth
        self._keep(few, learners, lessons, calibration)
        self._vote(self._edged(growth, learners, lessons), lessons, calibration, everything, learners)
        return self

    def _few(self, growth: HullGrowth, learners: Sequence[Learner], plan: GrowthPlan, lessons: Lessons) -> HullGrowth:
        """Choose few subsets: of those on the hull, and of the one with the best curve of its own, for its price."""
        prices = self._costs(lessons.whole) + self.size_penalty / max(int(plan.usable.sum()), 1)
        mask, n_tried = best_subset(_fast_one(learners, lessons), plan, prices, lessons.totals)
        features = tuple(np.flatnonzero(mask).tolist())
        at_hull = {(m.learner, m.features) for m in growth.members}
        more = [Member(n, features) for n in range(len(learners)) if features and (n, features) not in at_hull]
        growth = replace(growth, members=[*growth.members, *more], n_searched=n_tried)
        scores = [_scores(member, learners, lessons) for member in growth.members]
        return few_of(growth, scores, lessons, prices)

    def _costs(self, whole: Problem) -> FloatArray:
        return self.cost_weight * parse_costs(self.feature_costs, whole.names)

    def _edged(self, growth: HullGrowth, learners: Sequence[Learner], lessons: Lessons) -> HullGrowth:
        """Add thresholds along the edges of ROC space."""

        def scores_of(number: int) -> FloatArray:
            return _scores(growth.members[number], learners, lessons)

        front = with_edges(growth.front, scores_of, lessons.positive == 1, self.edge_points, lessons.weight)
        return replace(growth, front=front)

    def _plan(self, learners: Sequence[Learner], lessons: Lessons) -> GrowthPlan:
        """Say how the hull is to grow."""
        whole, scott = lessons.whole, self.method == "scott"
        usable = ~whole.constant
        most = whole.n_features if self.max_features is None else self.max_features
        return GrowthPlan(
            children=self.children or ("forward" if scott else "flip"),
            critical=self.critical_ratio if self.critical_ratio is not None else 1.96 if scott else ENOUGH,
            keep_last=self.keep_last,
            max_features=most,
            max_passes=self.max_passes,
            n_children=self.n_children,
            prices=lessons.totals[1] * self._costs(whole),
            usable=usable,
            starts=() if scott else _starts(learners, lessons, usable, most),
            limit=None if scott else MAX_SLOW,
        )

    def _keep(self, growth: HullGrowth, learners: Sequence[Learner], lessons: Lessons, calibration: Rows) -> None:
        """Remember the hull with its classifiers, and what they do to rows that judge them."""
        growth = self._edged(growth, learners, lessons)
        front, whole = growth.front, lessons.whole
        chosen = [(learners[m.learner], m.features) for m in growth.members]
        members = [(one.name, one.rule(mask_of(features, whole.n_features)), features) for one, features in chosen]
        (hull, vertices, at), reader = placed_on(front, members, whole.names), RowReader(self.reader_)
        if calibration is None:
            nobody = np.zeros(len(lessons.positive))
            scores = [_scores(member, learners, lessons) for member in growth.members]
            pairs = zip(front.member.tolist(), front.threshold, strict=True)
            called = np.array([(scores[m] if m != NOBODY else nobody) >= cut for m, cut in pairs])
            cells = lessons.rows.X[lessons.judges]
            positive, weight = lessons.positive == 1, lessons.weight
        else:
            cells, positive, weight = calibration.X, calibration.y == 1, calibration.sample_weight
            called = calls(at, vertices, cells)
        witnesses = Witnesses(
            called, positive, digests_of(reader, vertices, cells), weight,
            "validation" if calibration is None else "calibration",
        )  # fmt: skip
        self.mrroc_ = MRROC(
            hull, vertices, at, reader, self.reader_.names, self.classes_, self._positive, self.prevalence_,
            lessons.sizes, witnesses, columns_known(self),
        )  # fmt: skip
        self.hull_, self.vertices_ = hull, vertices
        self.area_ = self.mrroc_.expected_area
        self.passes_ = growth.passes
        self.n_evaluated_ = growth.n_searched + sum(step.n_evaluated for step in growth.passes)
        self.support_ = mask_of([f for vertex in vertices for f in vertex.features], whole.n_features)

    def _vote(
        self, growth: HullGrowth, lessons: Lessons, calibration: Rows, everything: Rows, learners: Sequence[Learner]
    ) -> None:
        """Make the committee behind `predict`: votes by rows that judge, voters fitted to all rows."""
        whole = lessons.whole
        usable = ~whole.constant
        placed = [(learners[m.learner], mask_of(m.features, len(usable))) for m in growth.members]
        paid = bool(self._costs(whole).any())
        free = self.method == "auto" and self.max_features is None and not paid
        rivals = [(learner, usable) for learner in learners] if free else []
        once = lessons.once
        hull, others = (tuple(learner.validation_scores(m)[once] for learner, m in side) for side in (placed, rivals))
        weight = None if lessons.weight is None else lessons.weight[once]
        ballot = CommitteeBallot(hull, others, lessons.positive[once], weight)
        judges = None
        if rivals and calibration is not None:
            seen = [tuple(learner.rule(m).scores(calibration.X) for learner, m in side) for side in (placed, rivals)]
            judges = CommitteeBallot(seen[0], seen[1], calibration.y, calibration.sample_weight)
        elected = elect(ballot, hull_shares(growth.front, len(placed)), judges)
        rows = None if everything is None else self._turned(everything)
        standing = [*placed, *rivals]
        self._committee = elected.fitted(lambda number: standing[number][0].rule(standing[number][1], rows))
        self.scoring_support_ = np.any([usable & False, *(standing[n][1] for n in elected.voters)], axis=0)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of the positive class, or of each of several classes against the rest.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A frame may leave out columns that `scoring_support_` does not name.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            Above 0 where `predict` says the last of two classes.
        """
        check_is_fitted(self)
        cells = self.reader_.read_needed(self, X, np.flatnonzero(self.scoring_support_).tolist())
        if not hasattr(self, "parcels_"):
            odds = self._committee.decision(cells)
            return odds if self._positive == 1 else -odds
        columns = [parcel._committee.decision(cells) for parcel in self.parcels_.values()]
        if len(columns) == 1:
            raise InputError(f"This Parcel knows {self.pos_label!r} against all others only; ask its parcels_.")
        return np.column_stack(columns)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        odds = self.decision_function(X)
        if odds.ndim == 1:
            share = expit(odds)
            return np.column_stack([1.0 - share, share])
        shares = expit(odds)
        total = shares.sum(axis=1, keepdims=True)
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1.0 / shares.shape[1])

    def operating_point(
        self,
        *,
        max_fpr: float | None = None,
        guarantee: float | None = None,
        cost_fp: float | None = None,
        cost_fn: float | None = None,
        prevalence: float | None = None,
        label: Any = None,
        choice: Literal["auto", "hash", "random"] = "auto",
        random_state: int | None = None,
    ) -> OperatingPoint:
        """Return the classifier at one point of the hull.

        Parameters
        ----------
        max_fpr : float, optional
            The highest false positive rate allowed: the point of the hull with the most true positives.
        guarantee : float, optional
            Keep the limit, or a bound on the cost, with this probability, such as 0.95; see `MRROC.operating_point`.
        cost_fp, cost_fn : float, default=1.0
            What a false positive and a false negative cost.
        prevalence : float, optional
            Share of positives where it will be used; that of the rows it was fitted to if left out.
        label : label, optional
            With several classes: the one to detect. Of two, only the positive one.
        choice : {"auto", "hash", "random"}, default="auto"
            Who decides a case between two vertices; see `MRROC.operating_point`.
        random_state : int, optional
            Another number shuffles who decides which case.

        Returns
        -------
        OperatingPoint
        """
        check_is_fitted(self)
        return self._detector(label).mrroc_.operating_point(
            max_fpr=max_fpr, guarantee=guarantee, cost_fp=cost_fp, cost_fn=cost_fn, prevalence=prevalence,
            choice=choice, random_state=random_state,
        )  # fmt: skip

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
        check_is_fitted(self)
        return self._detector(None).mrroc_.held_out(X, y)

    def held_out_problem(self, problem: Problem) -> HeldOutCurve:
        """Do the same for a problem with the same columns and classes.

        Parameters
        ----------
        problem : Problem
            The rows.

        Returns
        -------
        HeldOutCurve
        """
        return self._detector(None).mrroc_.held_out_cells(problem.X, problem.y == self._positive)

    def _detector(self, label: Any) -> Parcel:
        if not hasattr(self, "parcels_"):
            known = self.classes_.tolist()[self._positive]
            if label is not None and label != known:
                raise InputError(f"This Parcel detects {known!r}; fit one with pos_label={label!r}.")
            return self
        if label is None and len(self.parcels_) == 1:
            return next(iter(self.parcels_.values()))
        if label not in self.parcels_:
            raise InputError(f"label={label!r}: name the class to detect, one of {list(self.parcels_)}.")
        return self.parcels_[label]

    def _remember(self, problem: Problem) -> None:
        """Keep the classes, and names, kinds and levels of the columns."""
        self.reader_ = TableReader.of(problem)
        self.classes_ = np.asarray(problem.classes)
        self.n_features_in_ = problem.n_features

    def _named_estimators(self) -> list[tuple[str, Any]]:
        pairs = named_models(DiscreteNaiveBayes() if self.estimators is None else self.estimators, "estimators")
        names: list[str] = []
        for name, _ in pairs:
            names.append(name if name not in names else f"{name} {1 + sum(n.startswith(name) for n in names)}")
        return [(name, clone(estimator)) for name, (_, estimator) in zip(names, pairs, strict=True)]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Show the hull in a notebook once there is one; the parameters before."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        if hasattr(self, "vertices_"):
            rows = [
                [vertex.algorithm, f"{vertex.fpr:.3f}", f"{vertex.tpr:.3f}", ", ".join(vertex.names) or "–"]
                for vertex in self.vertices_[:20]
            ]
            table = html_table(["classifier on the hull", "false positives", "detected", "features"], rows)
            title = f"{len(self.vertices_)} vertices, area of the hull {self.hull_.area:.2f} on the validation rows"
            bundle["text/html"] = html_card(title, "", table, ["operating_point(max_fpr=…) says which to use."])
        return bundle

    def _positive_code(self) -> int:
        return class_code(self.classes_.tolist(), self.pos_label)

    def _turned(self, problem: Problem) -> Problem:
        """Return the problem with the positive class as code 1."""
        if self._positive == 1:
            return problem
        return replace(problem, y=1 - problem.y, classes=problem.classes[::-1])


def _starts(
    learners: Sequence[Learner], lessons: Lessons, usable: BoolArray, max_features: int
) -> tuple[BoolArray, ...]:
    """Return all features, the better half, quarter, … of them by the area of each alone."""
    fast = _fast_one(learners, lessons)
    columns = np.flatnonzero(usable)
    areas = [auroc(lessons.positive, fast.validation_scores(mask_of([f], len(usable)))) for f in columns.tolist()]
    order = columns[np.argsort(-np.array(areas), kind="stable")]
    sizes = [len(order) >> halvings for halvings in range(len(order).bit_length() - 1)]
    return tuple(mask_of(order[:size].tolist(), len(usable)) for size in sizes if size <= max_features)


def _fast_one(learners: Sequence[Learner], lessons: Lessons) -> Learner:
    """Return the first learner that can try every child, naive Bayes if there is none."""
    fast = next((learner for learner in learners if not learner.slow), None)
    return fast or learner_of("ranking", DiscreteNaiveBayes(), lessons, 1)


def _scores(member: Member, learners: Sequence[Learner], lessons: Lessons) -> FloatArray:
    """Return a member's scores of the validation rows."""
    return learners[member.learner].validation_scores(mask_of(member.features, lessons.whole.n_features))


def _prevalence(lessons: Lessons, calibration: Problem | None) -> float:
    """Return the share of positives among all rows that train, judge or calibrate."""
    rows = lessons.rows
    used = np.arange(rows.n_samples) if lessons.in_folds else np.concatenate(lessons.splits[0])
    parts = [(rows.row_weights[used], rows.y[used])]
    if calibration is not None:
        parts.append((calibration.row_weights, calibration.y))
    weight, positive = (np.concatenate(side) for side in zip(*parts, strict=True))
    return float((weight * positive).sum() / weight.sum())


def fit_parcel(problem: Problem, seed: int | None = 0, **question: Any) -> tuple[Parcel, OperatingPoint]:
    """Fit a Parcel to a problem and go to the operating point that is asked for.

    Parameters
    ----------
    problem : Problem
        Several classes need a `pos_label`.
    seed : int
        Of all that is random.
    **question
        What `Parcel.operating_point` takes, such as `max_fpr=0.1, guarantee=0.95`; equal costs if nothing is asked.
        Parameters of `Parcel`, such as `pos_label`, may be given too.

    Returns
    -------
    (Parcel, OperatingPoint)

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewer.io import to_problem
    >>> problem = to_problem(*load_breast_cancer(return_X_y=True, as_frame=True))
    >>> parcel, point = fit_parcel(problem, 0, cost_fn=5.0)
    >>> len(point.subsets_) <= 2
    True
    """
    if problem.n_classes > 2 and question.get("pos_label") is None:
        raise InputError(f"Name the class to detect (pos_label, --positive), one of {list(problem.classes)}.")
    options = Parcel().get_params(deep=False)
    settings = {key: question.pop(key) for key in list(question) if key in options}
    parcel = Parcel(**{"random_state": seed, **settings}).fit_problem(problem)._detector(settings.get("pos_label"))
    asked = {key: value for key, value in question.items() if value is not None}
    if not set(asked) & {"max_fpr", "cost_fp", "cost_fn"}:
        asked["cost_fp"] = asked["cost_fn"] = 1.0
    return parcel, parcel.operating_point(**asked)


def describe(parcel: Parcel, point: OperatingPoint) -> dict[str, Any]:
    """Say what a Parcel found, as plain objects.

    Parameters
    ----------
    parcel : Parcel
        Of two classes.
    point : OperatingPoint
        One of the Parcel's.

    Returns
    -------
    dict
        `features`: the columns that the operating point needs; `operating_point`: its rates; `all_features`: those that
        some vertex needs; `area` of the hull, `area_expected` of its line on calibration rows; `vertices`, `passes`,
        `n_evaluated`, `positive`, `prevalence`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fewer.roc import Parcel
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> parcel = Parcel(max_passes=1, random_state=0).fit(X[:, :4], y)
    >>> sorted(describe(parcel, parcel.operating_point(max_fpr=0.1)))[:3]
    ['all_features', 'area', 'area_expected']
    """
    names = parcel.reader_.names
    return {
        "method": "parcel-scott" if parcel.method == "scott" else "parcel",
        "features": list(point.features_),
        "all_features": [name for name, used in zip(names, parcel.support_, strict=True) if used],
        "operating_point": point.to_json(),
        "summary": point.summary(),
        "area": parcel.hull_.area,
        "area_expected": parcel.area_,
        "positive": parcel.classes_[parcel.mrroc_.positive].item(),
        "prevalence": parcel.prevalence_,
        "n_evaluated": parcel.n_evaluated_,
        "vertices": [
            {"algorithm": v.algorithm, "features": list(v.names), "threshold": v.threshold if v.features else None,
             "fpr": v.fpr, "tpr": v.tpr}
            for v in parcel.vertices_
        ],
        "passes": [
            {"n_evaluated": s.n_evaluated, "area": s.area, "z": s.z, "significant": s.significant}
            for s in parcel.passes_
        ],
    }  # fmt: skip
