"""The components by name, for people who type: `knn`, `forward`, `knn:n_neighbors=5,cv=loo`, and named methods.

Nothing heavy is imported before a component is built, so that names can be listed at once.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fewer.errors import InputError
from fewer.text import nearest

HERE = Path(__file__).parent
# What can be typed, and where it is: written from the sources by `python -m fewer.registry`.
INDEX: dict[str, dict[str, str]] = json.loads((HERE / "index.json").read_text(encoding="utf-8"))
ComponentKind = Literal["criterion", "search", "control", "ranker", "estimator"]
# Components that others hold, by the name of the parameter, and what stands for one that must be given and is not.
INNER: dict[ComponentKind, str] = {"estimator": "linear", "ranker": "fisher", "control": ""}

ESTIMATORS = {
    "knn": "sklearn.neighbors:KNeighborsClassifier|KNeighborsRegressor",
    "linear": "sklearn.linear_model:LogisticRegression|Ridge",
    "svm": "sklearn.svm:SVC|SVR",
    "tree": "sklearn.tree:DecisionTreeClassifier|DecisionTreeRegressor",
    "forest": "sklearn.ensemble:RandomForestClassifier|RandomForestRegressor",
    "lasso": "fewer.rankers._model_based:lasso_classifier|lasso_regressor",
    "boosting": "sklearn.ensemble:HistGradientBoostingClassifier|HistGradientBoostingRegressor",
    "lightgbm": "lightgbm:LGBMClassifier|LGBMRegressor",
}
ALIASES: dict[str, dict[str, str]] = {
    "ranker": {
        "forest-importance": "importance:estimator='forest:random_state=None'",
        "lasso": "importance:estimator=lasso",
    },
    "search": {"elastic-net-path": "lasso-path:penalty='elastic-net'"},
    "control": {"shadow": "boruta"},
}
"""Names that stand for a component with some of its options."""
COMPONENTS: dict[str, dict[str, str]] = {**INDEX, "estimator": ESTIMATORS}
PACKAGES = {"criterion": "criteria", "search": "search", "control": "control", "ranker": "rankers"}


def read_index() -> dict[str, dict[str, str]]:
    """Read from the sources which components there are: the name to type, and where the class is.

    A component is a class with a `command_name` in a module of its package; nothing is imported.
    """
    index: dict[str, dict[str, str]] = {}
    for kind, package in PACKAGES.items():
        modules = (ast.parse(path.read_text(encoding="utf-8")) for path in (HERE / package).glob("*.py"))
        classes = (node for module in modules for node in module.body if isinstance(node, ast.ClassDef))
        named = {_command_name(node): f"fewer.{package}:{node.name}" for node in classes}
        index[kind] = dict(sorted((name, target) for name, target in named.items() if name))
    return index


def _command_name(node: ast.ClassDef) -> str:
    given = [inner for inner in node.body if isinstance(inner, ast.Assign)]
    values = [inner.value for inner in given if ast.unparse(inner.targets[0]) == "command_name"]
    return str(ast.literal_eval(values[0])) if values else ""


def write_index() -> Path:
    """Write the index of components into the package; a test fails where it is stale."""
    path = HERE / "index.json"
    path.write_text(json.dumps(read_index(), indent=1) + "\n", encoding="utf-8")
    return path


@dataclass(frozen=True)
class Method:
    """A named method: a criterion, a search and perhaps a control; or a ranker alone."""

    summary: str = ""
    criterion: str | None = None
    search: str | None = None
    control: str | None = None
    ranker: str | None = None
    prefilter: str | None = None


LINEAR_FITS = "cross-validated:estimator=linear"
SA, VOTE = "annealing:answer=final", "early-stopping:how=aggregate"
# Searches and a control as in Loughrey's thesis.
GA = "genetic:population=25,generations=120,mutation=0.05,selection=roulette,answer=final"
METHODS: dict[str, Method] = {
    "knn-forward": Method("nearest neighbors, features added one by one", "knn", "forward"),
    "knn-backward": Method("nearest neighbors, features dropped one by one", "knn", "backward"),
    "knn-floating": Method("nearest neighbors, added and dropped as it pays", "knn", "floating"),
    "knn-exhaustive": Method("nearest neighbors, every subset", "knn", "exhaustive"),
    "knn-annealing": Method("nearest neighbors, simulated annealing", "knn", "annealing"),
    "knn-aggregate": Method("features that forward selection keeps on resamples", "knn", "forward", "aggregate"),
    "classifiability": Method(
        "classifiability (Dong & Kothari), features added one by one", "classifiability", "forward"
    ),
    "linear-forward": Method("logistic or ridge regression, features added one by one", LINEAR_FITS, "forward"),
    "linear-floating": Method("logistic or ridge regression, added and dropped as it pays", LINEAR_FITS, "floating"),
    "forest-forward": Method("random forest, features added one by one", "cross-validated:estimator=forest", "forward"),
    "gamma-forward": Method("least noise left by the Gamma Test, features added one by one", "gamma-test", "forward"),
    "naive-bayes-forward": Method("naive Bayes, features added one by one", "naive-bayes", "forward"),
    "sa": Method("nearest neighbors, annealing as in Loughrey's thesis", "knn", SA),
    "saes": Method("annealing that stops before it overfits (Loughrey's SAES)", "knn", SA, "early-stopping"),
    "saes-vote": Method("the same, keeping features in half of the validation runs", "knn", SA, VOTE),
    "ga": Method("nearest neighbors, genetic search as in Loughrey's thesis", "knn", GA),
    "gaes": Method("genetic search that stops before it overfits (Loughrey's GAES)", "knn", GA, "early-stopping"),
    "gaes-vote": Method("the same, keeping features in half of the validation runs", "knn", GA, VOTE),
    "fisher": Method("spread between the classes over spread within, for each feature", ranker="fisher"),
    "information-gain": Method("information about the class, for each feature", ranker="information-gain"),
    "mifs": Method(
        "information about the target minus that about earlier ones, with kernels (Nel)", ranker="mifs:density=kernel"
    ),
    "mifs-bins": Method("the same with bins, for many rows or columns", ranker="mifs"),
    "mrmr": Method("relevance to the target less mean redundancy", ranker="mrmr:n_ranked=100"),
    "jmi": Method("information about the target jointly with earlier features", ranker="jmi:n_ranked=100"),
    "cmim": Method("information about the target beyond any earlier feature", ranker="cmim"),
    "relieff": Method("distance to near rows of other classes minus own class", ranker="relieff"),
    "rrelieff": Method("the same for quantities", ranker="rrelieff"),
    "gmlvq": Method("relevance in a learnt distance (Chen)", ranker="gmlvq"),
    "importance": Method("coefficients of a linear model", ranker="importance"),
    "forest-importance": Method("importances of a random forest", ranker="forest-importance"),
    "lasso": Method("coefficients of the lasso", ranker="lasso"),
    "permutation": Method("drop in held-out score when a feature is shuffled", ranker="permutation"),
    "shap": Method("mean size of SHAP values; needs fewer[shap]", ranker="shap"),
    "f-test": Method("analysis of variance, or correlation, for each feature", ranker="f-test"),
    "chi2": Method("chi-squared test of counts and levels, for each feature", ranker="chi2"),
    "mutual-information": Method("information about the target by neighbors", ranker="mutual-information"),
    "surf": Method("ReliefF with all rows within a radius", ranker="surf"),
    "multisurf": Method("ReliefF with a radius for each row", ranker="multisurf"),
    "disr": Method("joint information with earlier features, normalized", ranker="disr"),
    "jim": Method("impurity taken jointly with features before", ranker="jim"),
    "rfe": Method("recursive elimination by a linear model", LINEAR_FITS, "rfe"),
    "lasso-path": Method("features in the order in which they enter the lasso", LINEAR_FITS, "lasso-path"),
    "elastic-net-path": Method("in the order of the elastic net", LINEAR_FITS, "elastic-net-path"),
    "best-subset": Method("the best linear fit of every size, by leaps and bounds", "least-squares", "best-subset"),
    "boruta": Method("features beating shuffled copies (forest)", ranker="forest-importance:cv=None", control="boruta"),
    "stability": Method("chosen in most half-samples", ranker="importance:cv=None", control="stability"),
    "knockoffs": Method("features beating their lasso knockoff", ranker="lasso:cv=None", control="knockoffs"),
    "fdr": Method("univariate tests at a false-discovery rate", ranker="f-test", control="fdr"),
    "correlated": Method("one of each cluster of like columns, by the F test", ranker="f-test", control="correlated"),
    "cfs": Method("near the target, far from each other (Hall's CFS)", "cfs", "best-first"),
    "probe": Method("features beating random columns (forest)", ranker="forest-importance:cv=None", control="probe"),
}


def build(kind: ComponentKind, text: str, task: str = "classification") -> Any:
    """Build a component from `name` or `name:option=value,…`.

    Examples
    --------
    >>> build("criterion", "knn:n_neighbors=(1,3),cv=loo")
    KNN(cv='loo', n_neighbors=(1, 3))
    """
    name, _, options = text.partition(":")
    known, aliases = COMPONENTS[kind], ALIASES.get(kind, {})
    if name in aliases:
        name, _, given = aliases[name].partition(":")
        options = ",".join(part for part in (given, options) if part)
    if name not in known:
        raise InputError(f"Unknown {kind} {name!r}; {nearest(name, [*known, *aliases], 'names')}")
    module, classes = known[name].split(":")
    chosen = classes.split("|")[-1 if task == "regression" else 0]
    try:
        component = getattr(importlib.import_module(module), chosen)
    except ModuleNotFoundError:
        raise InputError(f"{kind.capitalize()} {name!r} needs a package: python -m pip install {module}") from None
    arguments = _options(options, text) if options else {}
    parameters = {n: p for n, p in inspect.signature(component).parameters.items() if n != "self"}
    for key in arguments:
        if key not in parameters:
            raise InputError(
                f"{kind.capitalize()} {name!r} has no option {key!r}; {nearest(key, parameters, 'options')}"
            )
    if kind == "estimator":
        return _ready(component, arguments)
    for key, default in INNER.items():
        if key in parameters and key not in arguments and parameters[key].default is inspect.Parameter.empty:
            arguments[key] = default
        if isinstance(arguments.get(key), str):
            arguments[key] = build(key, arguments[key], task)
    return component(**arguments)


def build_foreign(text: str, task: str = "classification") -> Any:
    """Build a selector of another library from `module:Class(option=value,…)`.

    Examples
    --------
    >>> build_foreign("sklearn.feature_selection:SelectKBest(k=3)")
    SelectKBest(k=3)
    """
    module, _, call = text.partition(":")
    name, _, options = call.partition("(")
    try:
        component = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise InputError(f"There is no {name or text!r} in {module!r}; write module:Class(option=value).") from None
    arguments = _options(options.removesuffix(")"), text)
    if isinstance(arguments.get("estimator"), str):
        arguments["estimator"] = build("estimator", arguments["estimator"], task)
    try:
        return component(**arguments)
    except TypeError as error:
        raise InputError(f"{text!r} cannot be built: {error}.") from None


def method_named(name: str) -> Method:
    """Look a named method up; the name of a ranker is one, too."""
    if not isinstance(name, str):
        raise InputError(
            f"method={' '.join(repr(name).split())} is no name; give one of fewer.registry.METHODS, or 'auto'."
        )
    if name in METHODS or name in INDEX["ranker"]:
        return METHODS.get(name) or Method(ranker=name)
    if name in ("parcel", "parcel-scott"):
        raise InputError(f"{name!r} makes classifiers: use fewer.roc.Parcel, or the command fewer select -m {name}.")
    raise InputError(f"Unknown method {name!r}; {nearest(name, [*METHODS, *INDEX['ranker'], 'auto'], 'methods')}")


def _ready(component: Any, arguments: dict[str, Any]) -> Any:
    """Return an estimator on scaled columns, with what is needed to make it converge."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if component.__name__ == "LogisticRegression":
        arguments = {"max_iter": 1000, **arguments}
    if component.__name__.startswith(("DecisionTree", "RandomForest")):
        units = importlib.import_module("fewer.criteria._preparation").SingleUnits()
        return make_pipeline(units, component(**{"random_state": 0, **arguments}))
    if component.__name__.startswith("LGBM"):
        return component(**{"random_state": 0, "verbosity": -1, **arguments})
    return make_pipeline(StandardScaler(), component(**arguments))


def _options(options: str, text: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({options})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        return {str(keyword.arg): _value(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"Cannot parse {text!r}; write name:option=value,option=value.") from None


def _value(node: ast.expr) -> Any:
    words = {"true": True, "false": False, "none": None}
    return words.get(node.id, node.id) if isinstance(node, ast.Name) else ast.literal_eval(node)


if __name__ == "__main__":
    print(write_index())
