"""What a person chose on the page, checked, and the command that it amounts to."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from fewer.columns import nearest
from fewer.errors import InputError
from fewer.registry import COMPONENTS, METHODS
from fewer.run._budget import parse_budget
from fewer.serve._folder import OURS

Goal = Literal["select", "compare", "detect"]
PREFER = {
    "fewest": "As few features as possible, for a small loss",
    "balanced": "Few features, hardly behind the best",
    "accuracy": "Whatever predicts best",
}
METRICS = {
    "accuracy": "share of rows predicted right",
    "balanced_accuracy": "the same, every class counts alike",
    "roc_auc": "two classes: how well they are ranked",
    "average_precision": "two classes: few positives among many",
    "f1_macro": "mean of the F1 scores of the classes",
    "neg_log_loss": "probabilities, punished when sure and wrong",
    "r2": "a quantity: share of the variance explained",
    "neg_mean_absolute_error": "a quantity: mean distance",
    "neg_root_mean_squared_error": "a quantity: large errors count more",
}
KINDS = {
    "numeric": "number",
    "nominal": "category",
    "date year-month-day": "date, year first",
    "date day-month-year": "date, day first",
    "date month-day-year": "date, month first",
    "left out": "leave out",
}
TASKS = {"classification": "classes", "regression": "a quantity"}
RARE = {"refuse": "refuse", "drop": "leave their rows out", "merge": "put them together"}
TEXTS = ("groups", "weights", "time", "positive", "schema")
SCHEMA = rf"{re.escape(OURS)}/[^/\\\0]*\.schema\.json"
TYPED = {
    f"--{name}": name
    for name in (
        "target",
        "groups",
        "weights",
        "time",
        "task",
        "method",
        "prefer",
        "estimator",
        "scoring",
        "features",
        "budget",
        "folds",
        "seed",
        "rare",
    )
} | {"-t": "target", "-m": "method", "--methods": "method", "-f": "features"}
PLACES = ("--out", "--report")
FLAGS: dict[str, dict[str, bool]] = {"--json": {}, "--force": {}, "--skip-rows-without-target": {"skip": True}}
NUMBERS = ("max_fpr", "guarantee", "cost_fp", "cost_fn", "prevalence")


def catalogue() -> dict[str, str]:
    """Return the methods, with a sentence on each."""
    auto = {"auto": "lets several orders of the features race on rows held out, and takes the best"}
    return auto | {name: method.summary for name, method in METHODS.items()}


@dataclass(frozen=True)
class Choices:
    """What a run is asked for; nothing in it can name a file, a module or an option that the page does not have.

    Attributes
    ----------
    table, target : str
    goal : {"select", "compare", "detect"}
    groups, weights, time : str or None
        Columns.
    task, scoring, estimator, budget : str or None
    kinds : dict
        By column, how to read it, where it was understood wrongly.
    missing : tuple of str or None
        Cells that mean missing.
    skip : bool
        Whether rows without a target are left out.
    method, methods : str, tuple of str
        One for a selection, some for a comparison.
    prefer, features, folds, seed, rare
        As on the command line.
    positive, max_fpr, guarantee, cost_fp, cost_fn, prevalence
        For a detector.
    schema : str or None
        The name of the file that says how to read the table.
    """

    table: str
    target: str
    goal: Goal = "select"
    groups: str | None = None
    weights: str | None = None
    time: str | None = None
    task: str | None = None
    kinds: dict[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] | None = None
    skip: bool = False
    method: str = "auto"
    methods: tuple[str, ...] = ("auto",)
    prefer: str = "balanced"
    estimator: str | None = None
    scoring: str | None = None
    features: str = "auto"
    budget: str | None = None
    folds: int = 5
    seed: int = 0
    rare: str = "refuse"
    positive: str | None = None
    max_fpr: float | None = None
    guarantee: float | None = None
    cost_fp: float | None = None
    cost_fn: float | None = None
    prevalence: float | None = None
    schema: str | None = None

    @classmethod
    def read(cls, content: Any) -> Choices:
        """Check what came from a page or a file; whatever is odd is refused in a sentence.

        Parameters
        ----------
        content : object
            From JSON.

        Returns
        -------
        Choices

        Examples
        --------
        >>> Choices.read({"table": "t.csv", "target": "y", "seed": 3}).command("t-1")
        ['select', 't.csv', '--target', 'y', '--seed', '3', '--out', 't-1']
        """
        if not isinstance(content, Mapping):
            raise InputError("What was chosen did not arrive; load the page again.")
        known = {f.name for f in fields(cls)}
        if odd := [str(key) for key in content if key not in known]:
            raise InputError(f"{odd[0][:40]!r} is nothing that can be chosen; load the page again.")
        given = {key: value for key, value in content.items() if value not in (None, "")}
        if not given.get("target"):
            raise InputError("Choose the column to predict.")
        _texts(given, ("table", "target", *TEXTS))
        _one_of(given, "goal", get_args(Goal))
        _one_of(given, "task", TASKS)
        _one_of(given, "prefer", PREFER)
        _one_of(given, "rare", RARE)
        _one_of(given, "scoring", METRICS)
        _one_of(given, "estimator", COMPONENTS["estimator"])
        _one_of(given, "method", catalogue())
        given["methods"] = _methods(given.get("methods", ("auto",)))
        given |= _numbers(given)
        if "kinds" in given:
            given["kinds"] = _kinds(given["kinds"])
        if "missing" in given:
            given["missing"] = _missing(given["missing"])
        if "budget" in given:
            given["budget"] = str(given["budget"])[:40]
            parse_budget(given["budget"])
        if not re.fullmatch(SCHEMA, given.get("schema", f"{OURS}/.schema.json")):
            raise InputError("The schema of this run is not one of the workbench's.")
        given["features"] = str(given.get("features", "auto"))[:40]
        given["skip"] = bool(given.get("skip", False))
        return cls(**given)

    @classmethod
    def from_command(cls, command: str) -> Choices:
        """Return the choices behind a command that was typed, as far as the page has them.

        Parameters
        ----------
        command : str

        Returns
        -------
        Choices

        Examples
        --------
        >>> choices = Choices.from_command("fewer select data/t.csv -t y --seed=3 --out r --json")
        >>> choices.table, choices.target, choices.seed
        ('t.csv', 'y', 3)
        """
        refused = InputError(f"This run was started in a terminal; go on with it there: {command} --resume".rstrip())
        try:
            arguments = shlex.split(command)
        except ValueError:
            raise refused from None
        if arguments[:1] != ["fewer"] or arguments[1:2] not in (["select"], ["compare"]):
            raise refused
        given: dict[str, Any] = {"goal": arguments[1]}
        rest = iter(arguments[2:])
        for argument in rest:
            name, equals, value = argument.partition("=")
            if not argument.startswith("-") and "table" not in given:
                given["table"] = argument.replace("\\", "/").rpartition("/")[2]
            elif argument in FLAGS:
                given |= FLAGS[argument]
            elif name in (*TYPED, *PLACES):
                value = value if equals else next(rest, "")
                given |= {TYPED[name]: value} if name in TYPED else {}
            else:
                raise refused
        if arguments[1] == "compare":
            given["methods"] = given.pop("method", "auto").split(",")
        return cls.read(given)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data, which `read` takes."""
        return asdict(self)

    def command(self, out: str, *, resume: bool = False) -> list[str]:
        """Return the arguments of the command line.

        Parameters
        ----------
        out : str
            The folder of the run.
        resume : bool
            Whether the run in it is to go on.

        Returns
        -------
        list of str
        """
        common: dict[str, Any] = {"groups": self.groups, "weights": self.weights, "time": self.time, "task": self.task}
        common |= {"schema": self.schema, "seed": self.seed or None}
        usual = {
            "scoring": self.scoring,
            "features": None if self.features == "auto" else self.features,
            "folds": None if self.folds == 5 else self.folds,
            "rare": None if self.rare == "refuse" else self.rare,
        }
        own: dict[str, Any]
        if self.goal == "detect":
            own = {"method": "parcel", "positive": self.positive} | {name: getattr(self, name) for name in NUMBERS}
        elif self.goal == "compare":
            own = usual | {"methods": ",".join(self.methods)}
        else:
            own = usual | {"method": None if self.method == "auto" else self.method, "budget": self.budget}
            own |= {"prefer": None if self.prefer == "balanced" else self.prefer, "estimator": self.estimator}
        arguments = [
            "compare" if self.goal == "compare" else "select",
            _as_file(self.table),
            *_option("target", self.target),
        ]
        for name, value in (own | common).items():
            if value is not None:
                arguments += _option(name.replace("_", "-"), value)
        arguments += ["--skip-rows-without-target"] if self.skip else []
        arguments += _option("out", out)
        if self.goal == "detect":
            arguments += _option("report", f"{out}/report.html")
        return [*arguments, "--resume"] if resume else arguments


def _as_file(name: str) -> str:
    return f"./{name}" if name.startswith("-") else name


def _option(name: str, value: Any) -> list[str]:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]


def _one_of(given: dict[str, Any], name: str, allowed: Sequence[str] | Mapping[str, Any]) -> None:
    if name in given and (not isinstance(given[name], str) or given[name] not in allowed):
        found = str(given[name])[:40]
        raise InputError(f"{name} {found!r} is not known; {nearest(found, list(allowed))}")


def _texts(given: dict[str, Any], names: Sequence[str]) -> None:
    for name in names:
        if name in given and not isinstance(given[name], str):
            raise InputError(f"{name} must be a name.")
        if "\0" in given.get(name, ""):
            raise InputError(f"The column for {name} has a null character in its name; rename it in the table.")


def _methods(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list | tuple) or not found:
        raise InputError("Choose at least one method to compare.")
    known = catalogue()
    for name in found:
        _one_of({"method": name}, "method", known)
    return tuple(dict.fromkeys(found))


def _numbers(given: dict[str, Any]) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    try:
        numbers |= {name: int(given[name]) for name in ("folds", "seed") if name in given}
        numbers |= {name: float(given[name]) for name in NUMBERS if name in given}
    except (TypeError, ValueError, OverflowError):
        raise InputError("Folds, seed, limits and costs must be numbers.") from None
    if not 0 <= numbers.get("seed", 0) < 2**32:
        raise InputError("The seed must be from 0 to 4294967295.")
    return numbers


def _kinds(found: Any) -> dict[str, str]:
    if not isinstance(found, Mapping):
        raise InputError("The kinds of columns did not arrive; load the page again.")
    for kind in found.values():
        _one_of({"kind": kind}, "kind", KINDS)
    return {str(name): str(kind) for name, kind in found.items()}


def _missing(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list | tuple) or not all(isinstance(cell, str) for cell in found):
        raise InputError("Cells that mean missing must be a list of texts.")
    return tuple(dict.fromkeys(found))


__all__ = ["KINDS", "METRICS", "PREFER", "RARE", "TASKS", "Choices", "Goal", "catalogue"]
