import importlib
import sys

import pytest

from fewer import registry
from fewer.errors import InputError

BASES = {"criterion": "Criterion", "search": "Search", "control": "Control", "ranker": "Ranker"}
HOMES = {"criterion": "criteria", "search": "search", "control": "control", "ranker": "rankers"}


@pytest.mark.parametrize("kind", BASES)
def test_every_public_component_can_be_typed(kind):
    base = getattr(importlib.import_module("fewer.contracts"), BASES[kind])
    package = importlib.import_module(f"fewer.{HOMES[kind]}")
    public = {
        name
        for name in package.__all__
        if isinstance(getattr(package, name), type) and issubclass(getattr(package, name), base)
    }
    assert {target.split(":")[1] for target in registry.COMPONENTS[kind].values()} == public


def test_the_index_is_what_the_sources_say():
    assert registry.read_index() == registry.INDEX, "run: python -m fewer.registry"


@pytest.mark.parametrize("kind", registry.COMPONENTS)
def test_every_component_builds_for_both_tasks(kind):
    for name in registry.COMPONENTS[kind]:
        for task in ("classification", "regression"):
            assert registry.build(kind, name, task).get_params() is not None


def test_options_reach_nested_components():
    criterion = registry.build("criterion", "cross-validated:estimator=tree,cv=3", "regression")
    assert [type(step).__name__ for _, step in criterion.estimator.steps] == ["SingleUnits", "DecisionTreeRegressor"]
    assert criterion.cv == 3
    control = registry.build("control", "aggregate:control=prefilter")
    assert type(control.control.ranker).__name__ == "Fisher"
    search = registry.build("search", "annealing:by_weights=true,max_tries=none")
    assert (search.by_weights, search.max_tries) == (True, None)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("criterion", "nkn", "Unknown criterion 'nkn'; did you mean 'knn'"),
        ("search", "zzz", "the names are .annealing."),
        ("ranker", "fisher:x=1", "has no option 'x'; there are no options."),
        ("search", "forward:min_gian=1", "has no option 'min_gian'; did you mean 'min_gain'"),
        ("search", "forward:min_gain=", "Cannot parse"),
        ("search", "forward:__import__('os')", "Cannot parse"),
        ("search", "forward:min_gain=open('x')", "Cannot parse"),
    ],
)
def test_misspelt_components_are_refused_and_nothing_is_run(kind, text, message):
    with pytest.raises(InputError, match=message):
        registry.build(kind, text)


def test_lightgbm_goes_by_its_name_and_its_absence_is_one_line(monkeypatch):
    pytest.importorskip("lightgbm")
    assert type(registry.build("estimator", "lightgbm")).__name__ == "LGBMClassifier"
    assert type(registry.build("estimator", "lightgbm:n_estimators=7", "regression")).__name__ == "LGBMRegressor"
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(InputError, match="Estimator 'lightgbm' needs a package: python -m pip install lightgbm"):
        registry.build("estimator", "lightgbm")
