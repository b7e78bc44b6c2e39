"""Every component says what its parameters may be, and what is not allowed is refused in one line."""

import importlib
import inspect
from numbers import Integral

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils._param_validation import Interval

from fewer import criteria, models, registry, roc, search, selectors
from fewer.errors import InputError

COMPONENTS = [(kind, name, target) for kind, names in registry.INDEX.items() for name, target in sorted(names.items())]
ESTIMATORS = [
    found
    for module in (models, selectors)
    for found in map(module.__dict__.get, module.__all__)
    if inspect.isclass(found) and hasattr(found, "_parameter_constraints")
] + [roc.Parcel]
WRONG = [object(), "no such value", -(10**9), float("nan"), -0.5, 2.7, [[]], {"a": 1}, lambda: None, 10**9]


def component_of(target):
    module, name = target.split(":")
    return getattr(importlib.import_module(module), name)


def parameters_of(component):
    return [name for name in inspect.signature(component).parameters if name != "self"]


@pytest.mark.parametrize(("kind", "name", "target"), COMPONENTS, ids=lambda text: str(text))
def test_every_parameter_is_declared_and_refuses_something(kind, name, target):
    component = component_of(target)
    for parameter in parameters_of(component):
        assert parameter in component._parameter_constraints, f"{component.__name__} does not declare {parameter!r}"
        refused = 0
        for value in WRONG:
            built = registry.build(kind, name)
            built.set_params(**{parameter: value})
            try:
                built.check_parameters()
            except InputError as error:
                refused += 1
                message = str(error)
                assert repr(parameter) in message
                assert component.__name__ in message
                assert "Got" in message
                assert "\n" not in message
        assert refused, f"{component.__name__} takes anything as {parameter!r}"


@pytest.mark.parametrize(
    "selector",
    [
        selectors.SubsetSelector(criteria.CrossValidated(2**63)),
        selectors.SubsetSelector(criteria.KNN(2**63)),
        selectors.SubsetSelector(search=search.BranchAndBound(force=np.arange(2))),
        selectors.SubsetSelector(search=search.Annealing(effort=2**63)),
        selectors.SubsetSelector(n_jobs=2**63),
        selectors.FeatureWeighter(levels=2**63),
        models.RANNClassifier(n_hidden=np.uint64(2**64 - 1)),
    ],
    ids=repr,
)
def test_a_number_beyond_64_bits_or_an_array_is_refused_in_a_line(selector):
    with pytest.raises(InputError, match=r"^The '\w+' parameter of \w+ must be [^\n]+ Got [^\n]+ instead\.$"):
        selector.fit(*load_iris(return_X_y=True))


def test_no_parameter_takes_a_whole_number_of_any_size():
    endless = [
        f"{kind.__name__}.{parameter}"
        for kind in [component_of(target) for _, _, target in COMPONENTS] + ESTIMATORS
        for parameter, rules in kind._parameter_constraints.items()
        for rule in rules
        if isinstance(rule, Interval) and rule.type is Integral and rule.right is None
    ]
    # these are compared with what there is: columns, bytes
    assert {name.split(".")[1] for name in endless} == {"n_features_to_select", "memory"}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_every_parameter_of_an_estimator_is_declared_and_refuses_something(estimator):
    for parameter in estimator().get_params(deep=False):
        assert parameter in estimator._parameter_constraints
        refused = []
        for value in WRONG:
            try:
                estimator().set_params(**{parameter: value})._validate_params()
            except ValueError as error:
                refused.append(str(error))
        assert refused or parameter == "pos_label"  # a label may be anything
        for message in refused:
            assert f"{parameter!r} parameter of {estimator.__name__} must be" in message
            assert "Got" in message
            assert "\n" not in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--criterion", "knn:n_neighbors=2.7"], "The 'n_neighbors' parameter of KNN must be"),
        (["--criterion", "knn:n_neighbors=(1,2.5)"], "The 'n_neighbors' parameter of KNN must be"),
        (["--search", "annealing:levels=-3"], "The 'levels' parameter of Annealing must be"),
        (["--search", "genetic:mutation=7"], "The 'mutation' parameter of Genetic must be"),
        (["--method", "relieff", "--control", "noise:sd=-1"], ""),
    ],
)
def test_the_command_line_refuses_in_one_line(options, message, tmp_path, capsys):
    from fewer.cli import main

    X, y = load_iris(return_X_y=True)
    table = tmp_path / "t.csv"
    np.savetxt(table, np.column_stack([X, y]), delimiter=",", header="a,b,c,d,y", comments="", fmt="%g")
    with pytest.raises(SystemExit) as left:
        main(["select", str(table), "--target", "y", "--folds", "0", *options])
    assert left.value.code == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert message in error[-1]
    assert len(error) == 1
