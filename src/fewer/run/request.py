"""What a user asks for, declared once: Python, the command line and the workbench are views of `Request`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from fewer.errors import InputError
from fewer.text import nearest

PREFER = {
    "fewest": "As few as possible; accepts a small loss",
    "balanced": "Few features, close to the best score",
    "accuracy": "The best score, however many features",
}
# The largest number of features where none is given.
ANY = 2**31 - 1
RARE = {"refuse": "stop with an error", "drop": "drop their rows", "merge": "merge them"}


def names_of(text: str | None) -> list[str]:
    """Split a list of column names at its commas; a name that has one stands in double quotes.

    Parameters
    ----------
    text : str or None
        What was typed.

    Returns
    -------
    list of str
        None of them empty.

    Examples
    --------
    >>> names_of("zip, code"), names_of('"last, first",zip')
    (['zip', 'code'], ['last, first', 'zip'])
    """
    return [name.strip() for name in next(csv.reader([text or ""], skipinitialspace=True), []) if name.strip()]


def parse_features(text: str) -> Any:
    """Read `7`, `0.5`, `3-8` or `auto`.

    Parameters
    ----------
    text : str
        What was typed.

    Returns
    -------
    int, float, (int, int) or "auto"
        For `n_features_to_select`.

    Examples
    --------
    >>> [parse_features(text) for text in ("7", "0.5", "3-8", "auto")]
    [7, 0.5, (3, 8), 'auto']
    """
    if text == "auto":
        return text
    try:
        low, dash, high = text.partition("-")
        value: Any = (int(low), int(high)) if dash else float(text) if "." in text else int(text)
    except ValueError:
        value = None
    good = (
        (isinstance(value, tuple) and 0 <= value[0] <= value[1] >= 1)
        or (isinstance(value, float) and 0 < value < 1)
        or (isinstance(value, int) and value >= 1)
    )
    if not good:
        raise InputError(f"--features {text!r}: use a number (7), a fraction (0.5), a range (3-8) or auto.")
    return value


def parse_prices(text: str | None) -> dict[str, float] | None:
    """Read what features cost: `age=3,bmi=0.5`, or the name of a CSV file with a column of features and one of prices.

    Parameters
    ----------
    text : str or None
        What was typed.

    Returns
    -------
    dict or None
        The price of each feature that is listed.

    Examples
    --------
    >>> parse_prices("age=3, bmi=0.5")
    {'age': 3.0, 'bmi': 0.5}
    """
    if text is None:
        return None
    rows = [list(pair.rpartition("=")[::2]) for pair in names_of(text)]
    if not all(name for name, _ in rows):
        try:
            with Path(text).open(encoding="utf-8-sig", newline="") as file:
                rows = [row for row in csv.reader(file) if row]
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise InputError(f"--costs {text[:80]} is not age=3,bmi=0.5 or a readable file ({error}).") from None
    prices: dict[str, float] = {}
    for number, row in enumerate(rows):
        try:
            name, price = row[0].strip(), float(row[1])
        except (IndexError, ValueError):
            if number == 0 and len(rows) > 1:
                continue  # the header
            raise InputError(f"--costs {text[:80]}, entry {number + 1}: a feature and a number are needed.") from None
        prices[name] = price
    return prices


def _names(text: str | None) -> list[str] | None:
    return None if text is None else names_of(text) or None


def _threads(jobs: int | None) -> int | None:
    if jobs is not None and (jobs == 0 or jobs > 10_000):
        raise InputError(f"--jobs {jobs} is not valid; use 1 to 10,000, or -1 for all cores.")
    return jobs


@dataclass(frozen=True)
class Option:
    """How an option is asked for outside Python.

    Parameters
    ----------
    help : str
        One line.
    flags : tuple of str
        On the command line; `--name` if left out.
    kind : type, default=str
        What is typed.
    read : callable, optional
        Turns what was typed into the value.
    limits : dict
        The smallest (`min`) and largest (`max`) number allowed.
    label : str
        Its name on the workbench; empty if the workbench does not offer it.
    goals : str
        For which goals of the workbench it counts.
    own_control : bool, default=False
        Whether the workbench has a control of its own for it; otherwise it is a plain input.

    Examples
    --------
    >>> OPTIONS["cv"].word
    'folds'
    """

    help: str
    flags: tuple[str, ...] = ()
    kind: type = str
    read: Callable[[Any], Any] | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    label: str = ""
    goals: str = "select"
    own_control: bool = False

    @property
    def word(self) -> str:
        """The name on the command line and on the workbench, without dashes."""
        return self.flags[0].removeprefix("--").partition("/")[0]


BOTH = "select compare"
SEEDS = {"min": 0, "max": 2**32 - 1}


@dataclass(frozen=True)
class Request:
    """What a user asks for: a method by name or by its components, and on which terms.

    An option is declared here, once. What is `Annotated` with an `Option` is also an option of `fewer select` and,
    with a label, a choice of the workbench; `fewer.select` has a parameter of the same name.

    Parameters
    ----------
    method : str
        A named method, or "auto".
    criterion, search, control, ranker : component or str, optional
        Components instead of a named method.
    prefer : {"fewest", "balanced", "accuracy"}, default="balanced"
        What `auto` prefers.
    estimator : estimator or str, optional
        The model that the features are for; "auto" asks it, other methods are judged by it.
    scoring : str or scorer, optional
        The metric for held-out rows, and for the search where its criterion takes one.
    start, n_features_to_select, include, exclude, feature_groups, feature_costs, cost_weight : as in `SubsetSelector`
        Where the search begins, size, what is forced, what enters together, prices.
    min_features : int, optional
        The smallest number of features that a search may keep; with 0 the empty subset, which predicts the most
        frequent class or the mean, takes part too. `auto` keeps none by itself where it finds no signal.
    alternatives : int, default=0
        How many subsets to look at for all that are as good as the best, as `fewer.alternatives` does; 0 for none.
    planted : int, default=0
        How many random columns to add, beside noisy copies of the best features, for a second selection that checks
        the method; 0 for none.
    rare : {"refuse", "drop", "merge"}
        What happens to classes with fewer rows than there are folds.
    cv : int, "loo", splitter or list of (train, test)
        The outer splits; 0 leaves the held-out evaluation out.
    budget : str, float or Budget, optional
        Seconds for the whole answer, or a number of subsets for each search ("5000 subsets").
    seed : int, default=0
        With it the run repeats.
    n_jobs, memory, device : as in `SubsetSelector`
        What the run may use.

    Examples
    --------
    >>> Request("knn-forward", cv=10).changed()
    {'method': 'knn-forward', 'cv': 10}
    """

    method: Annotated[
        str, Option("A method from the list below, or auto.", ("--method", "-m"), label="Method", own_control=True)
    ] = "auto"
    criterion: Annotated[Any, Option("Scores a subset.")] = None
    search: Annotated[Any, Option("Proposes subsets.")] = None
    control: Annotated[Any, Option("Guards against overfitting.")] = None
    ranker: Annotated[Any, Option("A ranking instead of criterion and search.")] = None
    prefer: Annotated[
        str, Option("What auto optimizes: fewest, balanced, accuracy.", label="Priority", own_control=True)
    ] = "balanced"
    estimator: Annotated[
        Any, Option("The model you will train: forest, linear, …", label="Model", own_control=True)
    ] = None
    scoring: Annotated[
        Any, Option("Metric, by scikit-learn name: roc_auc, …", label="Metric", goals=BOTH, own_control=True)
    ] = None
    start: Annotated[Sequence[str | int] | None, Option("Columns the search starts from.", read=_names)] = None
    n_features_to_select: Annotated[
        Any,
        Option(
            "How many: 7, a fraction (0.5), 3-8 or auto.", ("--features", "-f"), read=parse_features,
            label="Number of features", goals=BOTH,
        ),
    ] = "auto"  # fmt: skip
    min_features: Annotated[
        int | None, Option("Fewest features to keep; 0 lets a search keep none.", kind=int, limits={"min": 0})
    ] = None  # fmt: skip
    include: Annotated[Sequence[str | int] | None, Option("Always keep these: age,sex.", read=_names)] = None
    exclude: Sequence[str | int] | None = None
    feature_groups: Sequence[Sequence[str | int]] | None = None
    feature_costs: Annotated[
        Any,
        Option(
            "Price of features: age=3,bmi=0.5, or a CSV file of feature,price.", ("--costs",), read=parse_prices,
            label="Price of features",
        ),
    ] = None  # fmt: skip
    cost_weight: Annotated[
        float, Option("Score that one unit of price must earn in a search.", kind=float, limits={"min": 0})
    ] = 0.0  # fmt: skip
    alternatives: Annotated[
        int,
        Option(
            "Subsets to look at for all that are as good as the best; 0: none.", kind=int, limits={"min": 0},
            label="Subsets to try for alternatives",
        ),
    ] = 0  # fmt: skip
    planted: Annotated[
        int,
        Option(
            "Check the method: add this many random columns, and noisy copies, and select again.", kind=int,
            limits={"min": 0, "max": 10_000},
        ),
    ] = 0  # fmt: skip
    rare: Annotated[
        str,
        Option(
            "Classes with fewer rows than folds: refuse, drop or merge.", label="Very small classes", goals=BOTH,
            own_control=True,
        ),
    ] = "refuse"  # fmt: skip
    cv: Annotated[
        Any,
        Option(
            "Cross-validation folds; 0 skips the evaluation.", ("--folds",), int, label="Test folds", goals=BOTH
        ),
    ] = 5  # fmt: skip
    budget: Annotated[
        Any, Option("Total time limit: 60s, 5min.", label="Time limit", own_control=True)
    ] = None  # fmt: skip
    seed: Annotated[
        int,
        Option(
            "Seed for folds and random search.", kind=int, limits=SEEDS, label="Random seed",
            goals="select compare detect",
        ),
    ] = 0  # fmt: skip
    n_jobs: Annotated[
        int | None, Option("Threads or processes; −1 for all cores.", ("--jobs", "-j"), int, _threads)
    ] = None  # fmt: skip
    memory: Annotated[str | int, Option("Scoring memory, on top of the data.")] = "1GiB"
    device: Annotated[str, Option("Device: cpu, cuda or auto.")] = "cpu"

    def __post_init__(self) -> None:
        if self.prefer not in PREFER:
            raise InputError(f"prefer={self.prefer!r} is not known; {nearest(str(self.prefer), PREFER, 'choices')}")

    @property
    def is_auto(self) -> bool:
        """Whether the method is left to `auto`."""
        return self.method == "auto" and not self.has_components

    @property
    def has_components(self) -> bool:
        """Whether components were given instead of a name."""
        return any(part is not None for part in (self.criterion, self.search, self.control, self.ranker))

    @property
    def size(self) -> Any:
        """What a selector takes as `n_features_to_select`: the size asked for, not below `min_features`."""
        asked = self.n_features_to_select
        if self.min_features is None or (self.is_auto and asked == "auto" and self.min_features < 2):
            return asked
        if not isinstance(asked, str | tuple | list):
            raise InputError(f"min_features={self.min_features} and exactly {asked} features exclude each other.")
        return self.min_features, ANY if isinstance(asked, str) else asked[1]

    @property
    def n_folds(self) -> int:
        """How often the whole selection will be repeated, as far as it is known beforehand."""
        return self.cv if isinstance(self.cv, int) else 5

    def changed(self) -> dict[str, Any]:
        """Return the options that are not at their defaults.

        Returns
        -------
        dict
            By name.
        """
        return {f.name: value for f in fields(self) if not _same(value := vars(self)[f.name], f.default)}


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other) and not (isinstance(one, int | float) and isinstance(other, int | float)):
        return False
    import numpy as np

    return bool(np.array_equal(np.asarray(one, dtype=object), np.asarray(other, dtype=object)))


def _declared() -> dict[str, Option]:
    """Return what can be asked for outside Python, by the name of the field."""
    declared = {}
    for name, hint in get_type_hints(Request, include_extras=True).items():
        if get_origin(hint) is Annotated:
            option, word = get_args(hint)[1], name.replace("_", "-")
            off = f"/--no-{word}" if option.kind is bool else ""
            declared[name] = replace(option, flags=option.flags or (f"--{word}{off}",))
    return declared


OPTIONS = _declared()
