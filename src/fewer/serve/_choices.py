"""What a person chose on the page, checked, and the command that it amounts to."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from fewer.errors import InputError
from fewer.registry import COMPONENTS, METHODS
from fewer.run.budget import parse_budget
from fewer.run.request import OPTIONS, PREFER, RARE, Request, names_of
from fewer.serve._folder import OURS
from fewer.text import name_list, nearest

Goal = Literal["select", "compare", "detect"]


class FieldError(InputError):
    """A choice that cannot be used, with the name of its field on the page."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


METRICS = {
    "accuracy": "accuracy: share of correct predictions",
    "balanced_accuracy": "balanced accuracy: mean over the classes",
    "roc_auc": "ROC AUC (two classes)",
    "average_precision": "average precision (two classes, rare positives)",
    "f1_macro": "F1, mean over the classes",
    "neg_log_loss": "log loss of the predicted probabilities",
    "r2": "R² (numeric target)",
    "neg_mean_absolute_error": "mean absolute error (numeric target)",
    "neg_root_mean_squared_error": "root mean squared error (numeric target)",
}
KINDS = {
    "numeric": "number",
    "nominal": "category",
    "date year-month-day": "date, year first",
    "date day-month-year": "date, day first",
    "date month-day-year": "date, month first",
    "left out": "do not use",
}
# Options of the command line for what columns are read as.
READINGS = {"numeric": "numeric", "nominal": "nominal", "exclude": "left out"}
TASKS = {"classification": "categories", "regression": "number"}
ALLOWED: dict[str, Any] = {"goal": get_args(Goal), "task": TASKS, "prefer": PREFER, "rare": RARE, "scoring": METRICS,
                           "estimator": COMPONENTS["estimator"]}  # fmt: skip
"""What may be chosen, by the name of the field."""
TEXTS = ("groups", "weights", "time", "positive", "schema", "encoding", "sheet")
SCHEMA = rf"{re.escape(OURS)}/[^/\\\0]*\.schema\.json"
# Options of `Request` that the page has, by the word of the command line.
OFFERED = {option.word: (name, option) for name, option in OPTIONS.items() if option.label}
DEFAULTS = {word: Request.__dataclass_fields__[name].default for word, (name, _) in OFFERED.items()}
TYPED = (
    {f"--{word}": word for word in ("target", "groups", "weights", "time", "task")}
    | {flag: word for word, (_, option) in OFFERED.items() for flag in option.flags}
    | {"-t": "target", "--methods": "method"}
)
PLACES = ("--out", "--report")
FLAGS: dict[str, dict[str, bool]] = {"--json": {}, "--force": {}, "--skip-rows-without-target": {"skip": True}}
# Characters of all prices together.
MOST_PRICES = 20_000
NUMBERS = ("max_fpr", "guarantee", "cost_fp", "cost_fn", "prevalence")


def offered() -> list[dict[str, Any]]:
    """Return what the page needs to know of each option of `Request` that it has."""
    return [
        {"name": word, "label": option.label, "goals": option.goals, "plain": not option.own_control,
         "help": option.help, "default": DEFAULTS[word]}
        for word, (_, option) in OFFERED.items()
    ]  # fmt: skip


# Other options of the command line that messages name, as the page calls them.
CALLED = {"task": "Target type", "groups": "Keep rows together by", "weights": "Row weights", "time": "Time column",
          "encoding": "Text encoding", "missing": "Values that mean “missing”", "sheet": "Sheet of a workbook",
          "skip-rows-without-target": "Skip rows without a target value"}  # fmt: skip


def in_words_of_the_page(message: str) -> str:
    """Name fields of the page where a message names options of the command line.

    Examples
    --------
    >>> in_words_of_the_page("Class 'c' has 1 row; drop rare classes (rare='drop', --rare drop).")
    "Class 'c' has 1 row; drop rare classes (More options, Very small classes: drop)."
    >>> in_words_of_the_page("Use --no-stream (or --schema a.json).")
    'Use --no-stream (or --schema a.json).'
    """
    labels = {word: option.label for word, (_, option) in OFFERED.items()} | CALLED

    def label(found: re.Match[str]) -> str:
        value = TASKS.get(found[2].strip(), found[2].strip())
        return f"(More options, {labels[found[1]]}{value and f': {value}'})" if found[1] in labels else found[0]

    return re.sub(r"\((?:[^()]*, )?--([a-z-]+)((?: [^()]+)?)\)", label, message)


def catalogue() -> dict[str, str]:
    """Return the methods, with a sentence on each."""
    auto = {"auto": "compares several rankings on held-out rows and takes the best"}
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
    task : str or None
        What the target is for.
    kinds : dict
        By column, how to read it, where it was understood wrongly.
    missing : tuple of str or None
        Cells that mean missing.
    encoding : str or None
        How the text is encoded; guessed if None.
    sheet : str or None
        Of a workbook; the first that holds something if None.
    skip : bool
        Whether rows without a target are left out.
    methods : tuple of str
        For a comparison.
    asked : dict
        Options of `Request`, by the word of the command line, where they are not left alone.
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
    encoding: str | None = None
    sheet: str | None = None
    skip: bool = False
    methods: tuple[str, ...] = ("auto",)
    asked: dict[str, Any] = field(default_factory=dict)
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
            raise InputError("The form was not received. Reload the page.")
        known = {f.name for f in fields(cls)} - {"asked"} | set(OFFERED)
        if odd := [str(key) for key in content if key not in known]:
            raise InputError(f"{odd[0][:40]!r} is not a valid option. Reload the page.")
        given = {key: value for key, value in content.items() if value not in (None, "")}
        if not given.get("target"):
            raise FieldError("Choose the column to predict.", "target")
        _texts(given, ("table", "target", *TEXTS))
        for name, among in (ALLOWED | {"method": catalogue()}).items():
            _one_of(given, name, among)
        given["methods"] = _methods(given.get("methods", ("auto",)))
        given |= _numbers(given)
        given |= {name: check(given[name]) for name, check in CHECKS.items() if name in given}
        if not re.fullmatch(SCHEMA, given.get("schema", f"{OURS}/.schema.json")):
            raise InputError("The schema of this run is not one of the workbench's.")
        given["skip"] = bool(given.get("skip", False))
        options = {word: _typed(word, given.pop(word)) for word in OFFERED if word in given}
        return cls(**given, asked={word: value for word, value in options.items() if value != DEFAULTS[word]})

    @classmethod
    def from_command(cls, command: str) -> Choices:
        """Return the choices behind a command that was typed, as far as the page has them.

        Parameters
        ----------
        command : str
            As it was typed.

        Returns
        -------
        Choices

        Examples
        --------
        >>> choices = Choices.from_command("fewer select data/t.csv -t y --seed=3 --out r --json")
        >>> choices.table, choices.target, choices.asked
        ('t.csv', 'y', {'seed': 3})
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

    @property
    def readings(self) -> dict[str, str] | None:
        """Options that say how columns are read; None where that takes a schema, as for dates."""
        lists = {flag: [name for name, kind in self.kinds.items() if kind == form] for flag, form in READINGS.items()}
        lists["missing"] = list(self.missing or ())
        words = {flag: name_list(names) for flag, names in lists.items() if names}
        if any(kind not in READINGS.values() for kind in self.kinds.values()):
            return None
        is_said = all(word.isprintable() and names_of(word) == lists[flag] for flag, word in words.items())
        return words if is_said else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data, which `read` takes."""
        content = asdict(self)
        return DEFAULTS | content.pop("asked") | content

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
        options = {word: value for word, value in self.asked.items() if self.goal in OFFERED[word][1].goals.split()}
        if options.get("method", "auto") != "auto":
            options.pop("prefer", None)  # hidden on the page
        if self.goal == "detect":
            options |= {"method": "parcel", "positive": self.positive} | {name: vars(self)[name] for name in NUMBERS}
        elif self.goal == "compare":
            options["methods"] = ",".join(self.methods)
        names = ("groups", "weights", "time", "task", "encoding", "sheet", "schema")
        common = {name: vars(self)[name] for name in names} | (self.readings or {} if self.schema is None else {})
        table = f"./{self.table}" if self.table.startswith("-") else self.table
        arguments = ["compare" if self.goal == "compare" else "select", table, *_option("target", self.target)]
        for name, value in (options | common).items():
            if value is not None:
                arguments += _option(name.replace("_", "-"), value)
        arguments += ["--skip-rows-without-target"] if self.skip else []
        arguments += _option("out", out)
        if self.goal == "detect":
            arguments += _option("report", f"{out}/report.html")
        return [*arguments, "--resume"] if resume else arguments


def _option(name: str, value: Any) -> list[str]:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return [f"--{name}={text}"] if text.startswith("-") else [f"--{name}", text]


def _one_of(given: dict[str, Any], name: str, allowed: Sequence[str] | Mapping[str, Any]) -> None:
    if name in given and (not isinstance(given[name], str) or given[name] not in allowed):
        value = str(given[name])[:40]
        raise FieldError(f"{name} {value!r} is not known; {nearest(value, list(allowed))}", name)


def _texts(given: dict[str, Any], names: Sequence[str]) -> None:
    for name in names:
        if name in given and not isinstance(given[name], str):
            raise InputError(f"{name} must be a name.")
        if "\0" in given.get(name, ""):
            raise InputError(f"The column for {name} has a null character in its name; rename it in the table.")


def _typed(word: str, value: Any) -> Any:
    """Read one option of `Request` as the command line would, but keep what was typed."""
    option = OFFERED[word][1]
    value = value if option.kind is int else str(value)[: MOST_PRICES if word == "costs" else 40]
    if word == "costs" and "=" not in value:
        raise FieldError("Give a price to features: age=3, bmi=0.5.", word)
    try:
        if option.read is not None:
            option.read(value)
        if word == "budget":
            parse_budget(value)
    except InputError as error:
        raise FieldError(str(error), word) from None
    return value


def _methods(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list | tuple) or not found:
        raise InputError("Choose at least one method to compare.")
    known = catalogue()
    for name in found:
        _one_of({"method": name}, "method", known)
    return tuple(dict.fromkeys(found))


def _numbers(given: dict[str, Any]) -> dict[str, Any]:
    wanted: dict[str, Any] = {word: int for word, (_, option) in OFFERED.items() if option.kind is int}
    numbers: dict[str, Any] = {}
    for name, kind in (wanted | dict.fromkeys(NUMBERS, float)).items():
        if name in given:
            try:
                numbers[name] = kind(given[name])
            except (TypeError, ValueError, OverflowError):
                raise FieldError(f"{str(given[name])[:40]!r} is not a number.", name) from None
    if not 0 <= numbers.get("seed", 0) < 2**32:
        raise FieldError("The seed must be from 0 to 4294967295.", "seed")
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


CHECKS: dict[str, Callable[[Any], Any]] = {"kinds": _kinds, "missing": _missing}
