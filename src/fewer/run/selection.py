"""`Selection`: what was selected, how, and whether it helped, as text, table, JSON, picture or pipeline."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, TypedDict

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fewer.contracts.trace import Trace
from fewer.errors import InputError
from fewer.evaluate.grading import TOLERATED, Kind, Verdict
from fewer.files import finite
from fewer.io import text_name
from fewer.problem import Problem, Suspected, Suspicion
from fewer.text import html_card, html_table, in_folds, latex_table, listed, markdown_table, metric_text, score_text
from fewer.validate import ConfidenceInterval

# Lines of substitutes in a summary; the page and JSON have all.
MOST_SUBSTITUTES = 8


class HeldOutNumbers(TypedDict, total=False):
    """The interval of the held-out score, and the difference from all features with its own."""

    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    p_value: float
    n_folds: int
    fold_sizes: list[int]
    estimand: str
    in_points: bool
    rows_to_tell: int
    by: Literal["row", "group"]
    baseline: float | None


class StabilityNumbers(TypedDict, total=False):
    """How alike the subsets of the repetitions are, and how often each feature came back."""

    n_repetitions: int
    index: float | None
    with_stand_ins: float | None
    returns: dict[str, float | None]


class SizeCurve(TypedDict, total=False):
    """Score against the number of features; `fewer.evaluate.scores_by_size` says what each entry is."""

    sizes: list[int]
    scores: list[float]
    standard_error: float | list[float] | None
    measured: str
    name: str


class AutoCurve(TypedDict, total=False):
    """The held-out curve of `auto`: by size, and which size and features each preference gets."""

    size: list[int]
    score: list[float]
    standard_error: list[float]
    loss: list[float]
    loss_error: list[float]
    chosen: dict[str, int]
    all: int | None
    score_name: str
    loss_name: str
    in_points: bool
    smallest_without_loss: int
    answers: dict[str, list[str]]
    order: list[str]


class TableGlance(TypedDict, total=False):
    """The table at a glance: its task, its cells, its columns and its target."""

    task: str
    missing_cells: int
    numeric: int
    nominal: int
    boolean: int
    columns: list[dict[str, Any]]
    fingerprint: str
    groups: int
    target: dict[str, float]
    classes: dict[str, int]
    cuts: dict[str, list[float]]
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Which features, and why these."""

    features: list[Any]
    support: list[bool]
    set_aside: list[str]
    reason: str = ""
    nothing_found: bool = False
    promise: str = ""
    prefer: str = ""
    stand_ins: dict[str, list[str]] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How good they are: as the search saw it, on held-out rows, at other sizes, without each."""

    score_search: float | None
    score_heldout: float | None = None
    score_heldout_all_features: float | None = None
    score_name: str
    heldout: HeldOutNumbers = field(default_factory=HeldOutNumbers)
    sizes: SizeCurve = field(default_factory=SizeCurve)
    curve: AutoCurve = field(default_factory=AutoCurve)
    redundancy: dict[str, Any] = field(default_factory=dict)
    score_without: dict[str, float] = field(default_factory=dict)
    frequency: dict[str, float] = field(default_factory=dict)
    stability: StabilityNumbers = field(default_factory=StabilityNumbers)
    judges: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where the answer comes from: the method, the table, and what repeats the run."""

    method: str
    criterion: str | None
    search: str | None
    control: str | None
    n_evaluations: int
    seconds: float
    seed: int
    warnings: list[str]
    suspicions: list[Suspicion] = field(default_factory=list)
    n_rows: int = 0
    n_features: int = 0
    data: TableGlance = field(default_factory=TableGlance)
    command: str = ""
    code: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    fingerprint: str = ""
    effort: int = 0


@dataclass(frozen=True, kw_only=True)
class Selection(Suspected, Origin, Scores, Chosen):
    """What was selected, how, and whether it helped.

    Read more in the guide: :doc:`/guide/does-it-help`.

    Parameters
    ----------
    features : list
        The chosen features, in the order in which a stepwise search took them: the labels of the frame's columns,
        whatever their type (`frame[selection.features]`). As text they are in `names`, in JSON and all other fields.
    support : list of bool
        One truth value for each feature of the table.
    score_search : float or None
        The search's own score. It is optimistic, because the features were chosen by it.
    score_heldout, score_heldout_all_features : float or None
        The score on rows that the whole selection never saw, with the features selected without those rows, and
        with all features. The first estimates the *procedure*; the features above come from all rows.
    score_name : str
        What scores are measured in, such as accuracy.
    method : str
        The method's name.
    criterion, search, control : str or None
        Its components.
    n_evaluations : int
        How many subsets were scored.
    seconds : float
        How long the run took.
    seed : int
        With it the run repeats.
    set_aside : list of str
        Columns that were not looked at, such as constant ones.
    warnings : list of str
        What a reader should know.
    suspicions : list of Suspicion
        Columns, or rows, that make the scores too good to be true.
    reason : str
        Why `auto` chose as it did.
    heldout : dict
        The interval of the held-out score, the difference from all features with its interval and p-value, the
        number of folds, and how many features each of them selected.
    sizes : dict
        Score against the number of features (`fewer.evaluate.scores_by_size`).
    redundancy : dict
        Correlations between the chosen features (`fewer.evaluate.redundancy`).
    score_without : dict
        For each chosen feature, the search's score of the others without it.
    frequency : dict
        For each feature chosen at least once when the selection was repeated on the folds, the share of those
        repetitions: how sure we can be of it.
    stability : dict
        How alike the subsets of the repetitions are (`index`, Nogueira), and the same with stand-ins taken for the
        feature that they stand in for (`with_stand_ins`); `returns`: for each chosen feature, the share of repetitions
        in which it or a stand-in was chosen.
    n_rows, n_features : int
        The size of the table.
    data : dict
        The table at a glance.
    command, code : str
        What repeats the run on the command line, where it came from there, and in Python.
    versions : dict
        Of the packages that the result depends on.
    interrupted : bool
        Whether the run was ended early.
    fingerprint : str
        Names the run on disk (data, method, options, seed); empty without one.
    prefer : str
        What `auto` was asked to prefer.
    curve : dict
        The held-out score against the number of features, with the sizes that each preference would take (`chosen`)
        and its features (`answers`); `order` names features so that the first k of them are the answer of size k,
        where the answers nest.
    stand_ins : dict
        For each chosen feature, others that can stand in for it at no measurable loss.
    judges : dict
        Who predicts the held-out rows with the chosen features and with all.
    nothing_found : bool
        No feature predicts better than chance; `features` is empty.
    promise : str
        What a control promises: a rate of false discoveries, a number of false selections.
    effort : int
        Subsets after which each search ended, where a budget ended it; with it the run repeats without a clock.
    costs : dict
        What each chosen feature costs, where costs were given.
    evidence : dict
        What the page draws (`fewer.evaluate.Evidence`): distributions, the answers of other sizes, what is lost without
        each feature, held-out predictions, rows.
    trace : Trace or None
        The history of the search; it is not part of the JSON.

    See Also
    --------
    fewer.select : Makes one.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selection = fewer.select(X, y, "fisher", cv=0, n_features_to_select=1, random_state=0)
    >>> selection.features
    ['petal length (cm)']
    >>> fewer.Selection.from_json(selection.to_json()).features == selection.features
    True
    """

    evidence: dict[str, Any] = field(default_factory=dict)
    trace: Trace | None = field(default=None, repr=False, compare=False)

    @property
    def outcome(self) -> Verdict:
        """Whether the chosen features do as well as all: the kind, the numbers, and a sentence."""
        if self.nothing_found:
            text = f"No signal found: in these {self.n_rows:,} rows no feature predicts the target better than chance."
            text += " The requested features are kept anyway." if self.features else ""
            return Verdict(Kind.NOTHING, baseline=self.baseline, sentence=text)
        numbers, score, of_all = self.heldout, self.score_heldout, self.score_heldout_all_features
        ours, all_ = self.judges.get("chosen"), self.judges.get("all")
        by = f" (model: {ours}{f'; all features: {all_}' if ours != all_ else ''})" if self.prefer and ours else ""
        by = "" if ours == all_ == "the given model" else by
        made = Verdict.of(
            None if score is None or of_all is None else score - of_all,
            numbers.get("difference_low"), numbers.get("difference_high"),
            n_chosen=len(self.features), n_features=self.n_features, score_name=self.score_name, by=by,
            rows_needed=numbers.get("rows_to_tell", 0), score=score, baseline=numbers.get("baseline"),
            unit="groups" if numbers.get("by") == "group" else "rows", tried_fewer=bool(self.prefer),
        )  # fmt: skip
        return replace(made, sentence=made.sentence + self._by_luck())

    def _by_luck(self) -> str:
        """Say that the held-out score may be that of knowing nothing, where its interval allows it; else nothing."""
        low, high, baseline = self.heldout.get("low"), self.heldout.get("high"), self.baseline
        if not self.features or low is None or high is None or baseline is None or low > baseline:
            return ""
        if (low, high) == (0.0, 1.0):  # too few rows or groups, which the verdict says
            return ""
        bottom, top, nothing = (score_text(value, low, high) for value in (low, high, baseline))
        what = "Worse than" if high < baseline else "Not shown to predict better than"
        of = f"{nothing}, and {bottom} to {top} (95 %) with the selected features"
        return f" {what} knowing nothing: held-out {metric_text(self.score_name)} is {of}."

    @property
    def names(self) -> list[str]:
        """The chosen features as text, as the other fields name them."""
        return [text_name(label) for label in self.features]

    @property
    def verdict(self) -> str:
        """Say in one sentence whether the chosen features do as well as all."""
        return self.outcome.sentence

    @property
    def baseline(self) -> float | None:
        """The score of knowing nothing: the largest class, or the mean, for every row."""
        return self.heldout.get("baseline")

    @property
    def notes(self) -> list[str]:
        """The warnings that are not in the banner."""
        evidence = {suspicion.evidence for suspicion in self.suspicions}
        return [warning for warning in self.warnings if warning not in evidence]

    def to_dict(self) -> dict[str, Any]:
        """Return the selection as plain JSON data; NaN becomes None, infinity the largest number.

        Returns
        -------
        dict
            Every field but the trace.
        """
        content = {f.name: finite(getattr(self, f.name)) for f in fields(self) if f.name not in ("trace", "features")}
        return content | {"features": self.names, "suspicions": [asdict(suspicion) for suspicion in self.suspicions]}

    def to_json(self) -> str:
        """Return the selection as JSON text.

        Returns
        -------
        str
            What `from_json` reads: a line for each value, what pages draw on one line.
        """
        content = self.to_dict()
        evidence = json.dumps(content.pop("evidence"), ensure_ascii=False)
        text = json.dumps(content, ensure_ascii=False, indent=1)
        return f'{text[:-2]},\n "evidence": {evidence}\n}}'

    def pipeline_json(self, features: Sequence[str] | None = None) -> str:
        """Return what a pipeline needs of this selection as JSON: `fewer.selectors.KeepFeatures.from_json` reads it.

        Parameters
        ----------
        features : sequence of str, optional
            Another answer than the selection's own: one of another size or preference.

        Returns
        -------
        str
            The fitted step: which columns there are and which are kept, how they were understood, who chose them and
            who judged, with what result; `fewer transform` takes it as well.

        Examples
        --------
        >>> import json
        >>> import fewer
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> selection = fewer.select(X, y, "fisher", cv=0, n_features_to_select=1, random_state=0)
        >>> told = json.loads(selection.pipeline_json())
        >>> told["features"], told["support"], told["n_features_in"]
        (['petal length (cm)'], [2], 4)
        """
        kept = self.names if features is None else [text_name(label) for label in features]
        columns = {column["name"]: column for column in self.data.get("columns", ())}
        places = {name: place for place, name in enumerate(columns)}
        are_named = len(columns) == len(self.support)  # of wide tables, some columns are described alone
        if not are_named and features is not None:
            raise InputError("Too many columns to record their names; omit features.")
        if are_named and (absent := [name for name in kept if name not in columns]):
            raise InputError(f"The table had no column {absent[0]!r}.")
        chosen = [i for i, is_kept in enumerate(self.support) if is_kept]
        support = sorted(places[name] for name in kept) if are_named else chosen
        plain = not are_named or list(columns) == [f"x{i}" for i in range(len(self.support))]
        content = {
            "kind": "fewer pipeline",
            "version": 1,
            "features": kept,
            "support": support,
            "n_features_in": len(self.support),
            "feature_names_in": None if plain else list(columns),
            "columns": [columns[name] for name in kept if name in columns],
            "task": self.data.get("task"),
            "classes": list(self.data.get("classes", {})),
            "chosen_by": {"method": self.method, "criterion": self.criterion, "search": self.search,
                          "control": self.control, "prefer": self.prefer, "seed": self.seed, "command": self.command},
            "judged_by": self.judges.get("chosen") or self.evidence.get("judge"),
            "score_name": self.score_name,
            "score_heldout": self.score_heldout if kept == self.names else None,
            "fingerprint": self.data.get("fingerprint"),
            "versions": self.versions,
            "code": self.code,
        }  # fmt: skip
        return json.dumps(finite(content), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Selection:
        """Read a selection from JSON text; nothing in it is run.

        Parameters
        ----------
        text : str
            What `to_json` wrote.

        Returns
        -------
        Selection
            Without its trace.
        """
        try:
            content = json.loads(text)
            content["suspicions"] = [Suspicion(**suspicion) for suspicion in content.get("suspicions", ())]
            return cls(**{f.name: content[f.name] for f in fields(cls) if f.name in content})
        except (ValueError, TypeError, AttributeError) as error:
            reason = f": {error}" if isinstance(error, ValueError) else "."  # others name parts of the program
            raise InputError(f"Not a selection in JSON{reason}") from None

    def to_frame(self) -> Any:
        """Return one row a chosen feature, as a polars frame.

        Returns
        -------
        polars.DataFrame
            The features with their frequency and the score without each.
        """
        import polars as pl

        without = [self.score_without.get(name) for name in self.names]
        return pl.DataFrame(
            {"feature": self.names, "score_without": without},
            schema={"feature": pl.String, "score_without": pl.Float64},
        )

    @property
    def how(self) -> str:
        """Who chose how many features, in a phrase."""
        chosen = f"{len(self.features):,} of {self.n_features:,} features"
        if self.prefer:
            model = self.judges.get("chosen", "").replace("the given", "your")
            return f"{chosen} selected automatically{f' for {model}' if model else ''}"
        grammar = " × ".join(component for component in (self.criterion, self.search, self.control) if component)
        return f"{chosen} selected by {self.method}: {grammar}"

    @property
    def scores(self) -> str:
        """The held-out scores in a sentence: with the selected features, with all, and knowing nothing."""
        if self.score_heldout is None:
            return ""
        low, high, baseline = self.heldout.get("low"), self.heldout.get("high"), self.heldout.get("baseline")
        sizes = self.sizes_in_folds
        what = "the selected features" if self.features else "the best candidate of each fold"
        model = "" if self.prefer else self.judges.get("chosen", "")  # else the verdict says it
        metric = metric_text(self.score_name) + f" of {model}" * bool(model)
        ends = "" if low is None else f" ({score_text(low, low, high)} to {score_text(high, low, high)})"
        return (
            f"Held-out {metric}: {score_text(self.score_heldout, low, high)}{ends} with {what}, "
            f"{score_text(self.score_heldout_all_features, low, high)} with all {self.n_features:,}"
            f"{'' if baseline is None else f', {score_text(baseline, low, high)} knowing nothing'} "
            f"({self.heldout['n_folds']} folds, selection repeated in each{f': {sizes}' if sizes else ''})."
        )

    @property
    def sizes_in_folds(self) -> str:
        """How many features the folds selected, in words; empty if as many as the answer has, or if not known."""
        sizes = self.heldout.get("fold_sizes") or [len(self.features)]
        low, high = min(sizes), max(sizes)
        if low == high == len(self.features):
            return ""
        return f"{low:,}{'' if low == high else f' to {high:,}'} feature{'s' * (high != 1)}"

    @property
    def unconfirmed(self) -> str:
        """Which selected features no fold selected, nor a substitute, in a sentence; empty if there are none."""
        names = self._returning(0.0, 0.0)
        was, it, s = ("was", "it", "s") if len(names) == 1 else ("were", "they", "")
        folds = f"none of the {self.heldout['n_folds']} folds" if "n_folds" in self.heldout else "no fold"
        sizes = f", which selected {self.sizes_in_folds} each" if self.sizes_in_folds else ""
        sentence = f"{listed(names, 8)} {was} selected in {folds}{sizes}: whether {it} help{s} is not confirmed."
        return sentence if names else ""

    @property
    def seldom(self) -> str:
        """Which selected features fewer than half of the folds selected, nor a substitute; empty if there are none."""
        names = self._returning(0.0001, 0.4999)
        was, its = ("was", "its") if len(names) == 1 else ("were", "their")
        text = (
            f"{listed(names, 8)} {was} selected in fewer than half of the folds: {its} selection depends on the rows."
        )
        return text if names else ""

    def _returning(self, least: float, most: float) -> list[str]:
        """Name the selected features that came back, or a substitute did, in such a share of the folds."""
        returns = self.stability.get("returns") or {}
        shares = {name: max(self.frequency.get(name, 0.0), returns.get(name) or 0.0) for name in self.names}
        return [name for name, share in shares.items() if self.frequency and least <= share <= most]

    @property
    def planted(self) -> str:
        """What became of columns that were added as a check of the method, in a sentence; empty if there were none."""
        check = self.evidence.get("planted")
        if not check or "error" in check:
            return f"No check with planted columns: {check['error']}" if check else ""
        share = check["selected"] / check["columns"]
        return (
            f"With {check['random']} random columns and {check['copies']} noisy copies of the best features added, the "
            f"method selected {check['selected']} of {check['columns']} columns: {check['random_selected']} random "
            f"ones and {check['copies_selected']} copies. As many columns drawn blindly would have "
            f"{share * check['random']:.1f} and {share * check['copies']:.1f}."
        )

    def summary(self) -> list[str]:
        """Return the lines that go with the table of features.

        Returns
        -------
        list of str
            One sentence or a few a line.
        """
        lines = [self.outcome.sentence, *[f"{self.how}."] * bool(self.features or not self.nothing_found)]
        lines += self.reason.splitlines()
        if self.scores:
            lines.append(self.scores)
        if self.promise:
            lines.append(self.promise)
        if self.costs:
            lines.append(f"Price of these features together: {sum(self.costs.values()):.4g}.")
        substitutes = [f"Substitutes for {name}: {', '.join(others)}." for name, others in self.stand_ins.items()]
        lines += substitutes[:MOST_SUBSTITUTES]
        if (n_more := len(substitutes) - MOST_SUBSTITUTES) > 0:
            lines.append(f"Substitutes for {n_more:,} more: in stand_ins, in Python or with --json.")
        if good := self.evidence.get("alternatives"):
            n_looked_at = good.get("n_evaluated", good["n_good"])
            lines.append(f"As good as the best: {good['n_good']:,} of {n_looked_at:,} subsets looked at. {good['how']}")
        if self.stability.get("with_stand_ins") is not None:
            lines.append(self._stability())
        if self.score_search is not None:
            lines.append(
                f"The search's own score was {score_text(self.score_search)}; it is optimistic, because the features "
                "were chosen by it."
            )
        n = self.n_evaluations
        done = f"{n:,} subset{'s' * (n != 1)} scored" if n else "Done"  # rankings score no subsets
        lines.append(f"{done} in {self.seconds:.1f} s; seed {self.seed}.")
        if self.planted:
            lines.append(self.planted)
        if self.set_aside:
            lines.append(f"Not used because constant or empty: {listed(self.set_aside, 8)}.")
        if self.unconfirmed:
            lines.append(f"Warning: {self.unconfirmed}")
        return [*lines, *(f"Note: {warning}" for warning in self.notes)]

    def __str__(self) -> str:
        width = max([len(name) for name in self.names], default=0)
        rows = []
        for place, name in enumerate(self.names, 1):
            without = self.score_without.get(name)
            fall = "" if without is None else f"   {without:.3f} without it"
            rows.append(f"{place:>3}  {name:<{width}}{fall}")
        return "\n".join([*self.banner, *([""] if self.banner else []), *rows, "", *self.summary()])

    def _stability(self) -> str:
        """Say how alike the repetitions are, with and without stand-ins."""
        indices = [self.stability[kind] for kind in ("index", "with_stand_ins")]
        alone, merged = (f"{index:z.2f}".replace("-", "\N{MINUS SIGN}") for index in indices)
        known = f"Stability over {self.stability['n_repetitions']} repetitions (1: always the same features)"
        return f"{known}: {alone}; {merged} counting substitutes as equal."

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the titles and rows of the table of features, with the columns that there are.

        Returns
        -------
        tuple of list
            The titles, and the cells of each feature as text.
        """
        titles = ["feature"]
        titles += ["selected in"] if self.frequency else []
        returns = self.stability.get("returns")
        titles += ["or a substitute in"] if returns else []
        titles += ["score without it"] if self.score_without else []
        rows, n_folds = [], self.heldout.get("n_folds")
        for name in self.names:
            without = self.score_without.get(name)
            row = [name]
            row += [in_folds(self.frequency.get(name, 0.0), n_folds)] if self.frequency else []
            row += [in_folds(returns.get(name) or 0.0, n_folds)] if returns else []
            row += ["–" if without is None else f"{without:.3f}"] if self.score_without else []
            rows.append(row)
        return titles, rows

    def _repr_html_(self) -> str:
        title = f"{len(self.features):,} of {self.n_features:,} features"
        lead = [self.scores, *self.notes] if self.scores else self.notes
        weak = [f"Warning: {self.unconfirmed}"] * bool(self.unconfirmed) + [self.seldom] * bool(self.seldom)
        lead = [*lead, *weak]
        folded = [line for line in self.summary() if line not in {self.verdict, *lead}]
        alarm = [*self.banner] or [""] * bool(weak)
        return html_card(title, [self.verdict, *lead], html_table(*self.table()), folded, alarm)

    def to_markdown(self) -> str:
        """Return the table of features and what goes with it in Markdown.

        Returns
        -------
        str
        """
        lines = [f"- {line}" for line in self.summary()]
        alarm = [f"> {line}" for line in self.banner]
        return "\n".join([*alarm, *([""] if alarm else []), markdown_table(*self.table()), "", *lines]) + "\n"

    def to_latex(self, label: str = "tab:features") -> str:
        """Return the table of features in LaTeX, for the package booktabs; the caption says whether it helped.

        Parameters
        ----------
        label : str
            For references.

        Returns
        -------
        str
        """
        return latex_table(*self.table(), caption=f"{self.how}. {self.verdict}", label=label) + "\n"

    def plot(self, kind: str = "frequency", ax: Any = None) -> Any:
        """Draw the selection.

        Parameters
        ----------
        kind : {"frequency", "sizes"}, default="frequency"
            How often each feature was chosen when the selection was repeated; or the score against the number of
            features.
        ax : matplotlib Axes, optional
            Drawn into these; new ones if left out.

        Returns
        -------
        display
            With `ax_` and `figure_`.
        """
        from fewer.plots import FrequencyDisplay, SizeDisplay

        if kind == "frequency":
            if not self.frequency:
                raise InputError("No frequencies: the selection was not cross-validated; set cv to 2 or more.")
            names = list(dict.fromkeys([*self.frequency, *self.names]))[:30]
            shares = [self.frequency.get(name, 0.0) for name in names]
            return FrequencyDisplay(names, shares, [name in self.names for name in names]).plot(ax)
        if kind != "sizes":
            raise InputError(f"Unknown kind={kind!r}; choose 'frequency' or 'sizes'.")
        if not self.sizes:
            raise InputError("This method has no score per number of features; plot 'frequency'.")
        return SizeDisplay.from_curve(self.sizes, len(self.features), score_name=self.score_name).plot(ax)

    def to_pipeline(self, estimator: Any) -> Any:
        """Return a scikit-learn pipeline to go on with: the chosen columns, then an estimator.

        The columns are fixed, and checked in every table that is predicted (`fewer.selectors.KeepFeatures`). To select
        anew inside each training fold, put a selector into a pipeline instead.

        Parameters
        ----------
        estimator : scikit-learn estimator
            The model behind the selection.

        Returns
        -------
        sklearn.pipeline.Pipeline
            Not fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> import fewer
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> selection = fewer.select(X, y, "knn-forward", random_state=0)
        >>> selection.to_pipeline(KNeighborsClassifier()).fit(X, y).score(X, y) > 0.9
        True
        """
        from sklearn.pipeline import Pipeline

        from fewer.selectors import KeepFeatures

        if not self.features:
            raise InputError("No features were selected, so there is no pipeline to build.")
        places = [place for place, chosen in enumerate(self.support) if chosen]
        unnamed = sorted(self.names) == sorted(f"x{place}" for place in places)  # an array: by place
        columns: list[Any] = places if unnamed else list(self.names)
        return Pipeline([("features", KeepFeatures(columns)), ("estimator", estimator)])

    @property
    def model(self) -> Any:
        """The model that `auto` chose the features for, not fitted; None if it named none."""
        from fewer.selectors.auto._judges import model_named

        is_quantity = self.data.get("task") == "regression"
        return model_named(self.judges.get("chosen", ""), "regression" if is_quantity else "classification")

    def pipeline(self, X: Any, y: Any) -> Any:
        """Fit the model that `auto` named to the chosen columns.

        Dates count as days, missing numbers are filled by the median, and levels become indicators, a missing one too.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            With the columns that were selected from.
        y : array of shape (n_samples,) or str
            Their target, or the name of a column of X.

        Returns
        -------
        sklearn.pipeline.Pipeline
            Fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> import fewer
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> fewer.select(X, y, random_state=0, cv=0).pipeline(X, y).score(X, y) > 0.9
        True
        """
        from sklearn.compose import make_column_transformer
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import OneHotEncoder

        from fewer.selectors._keep import ReadCells

        if self.model is None:
            raise InputError("No model was named for these features; give one to to_pipeline.")
        plain = self.to_pipeline(self.model)
        kinds = {column["name"]: column["kind"] for column in self.data.get("columns", ())}
        columns = plain.steps[0][1].features
        unnamed = isinstance(columns[0], int)  # then the table is an array of numbers
        order = columns if unnamed else [name for name in kinds if name in columns]
        levels = [i for i, label in enumerate(order) if kinds.get(f"x{label}" if unnamed else label) == "nominal"]
        numbers = [place for place in range(len(order)) if place not in levels]
        fill = SimpleImputer(strategy="median", keep_empty_features=True)
        encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        plain.steps.insert(1, ("inputs", make_column_transformer((fill, numbers), (encode, levels))))
        if not unnamed:
            plain.steps.insert(1, ("cells", ReadCells({name: kinds[name] for name in order})))
        target = nw.from_native(X, eager_only=True)[y].to_native() if isinstance(y, str) else y
        return plain.fit(X, np.ravel(target) if np.ndim(target) == 2 and np.shape(target)[1] == 1 else target)


def glance_of(problem: Problem, n_missing: int) -> TableGlance:
    """Begin the table at a glance: its task, missing cells, and columns of each kind."""
    numeric, nominal, boolean = (problem.kinds.count(kind) for kind in ("numeric", "nominal", "boolean"))
    return {
        "task": problem.task, "missing_cells": n_missing, "numeric": numeric, "nominal": nominal, "boolean": boolean
    }  # fmt: skip


def measured(
    intervals: Sequence[ConfidenceInterval], masks: Sequence[NDArray[Any]], names: Sequence[str], **about: Any
) -> dict[str, Any]:
    """Write out what the repetitions without each fold gave: scores, and in which share of them each feature came back.

    `intervals` are those of the chosen features, of all features, and of the difference.
    """
    chosen, everyone, difference = intervals
    shares = np.mean([mask != 0 for mask in masks], axis=0)
    often = np.argsort(-shares, kind="stable")
    return {
        "score_heldout": chosen.estimate,
        "score_heldout_all_features": everyone.estimate,
        "heldout": {
            "low": chosen.low, "high": chosen.high, "difference": difference.estimate, "difference_low": difference.low,
            "difference_high": difference.high, "p_value": difference.p_value, "n_folds": len(masks),
            "fold_sizes": [int(np.count_nonzero(mask)) for mask in masks], **about,
        },
        "frequency": {names[i]: round(float(shares[i]), 4) for i in often if shares[i] > 0},
    }  # fmt: skip


def rows_to_tell(low: float | None, high: float | None, n_rows: int) -> int:
    """Count the rows needed to detect a difference of 0.02, if the interval shrinks with the root of the rows.

    Parameters
    ----------
    low, high : float or None
        The ends of the interval of the difference.
    n_rows : int
        The rows it was measured on.

    Returns
    -------
    int
        0 where it is not known, or where there are enough rows already; rounded to two digits.

    Examples
    --------
    >>> rows_to_tell(-0.1, 0.1, 200)
    5000
    """
    if low is None or high is None or not math.isfinite(high - low):
        return 0
    needed = n_rows * ((high - low) / 2 / TOLERATED) ** 2
    digits = 1 - math.floor(math.log10(needed)) if needed >= 1 else 0
    return int(round(needed, digits)) if needed > n_rows else 0


__all__ = ["Selection", "rows_to_tell"]
