"""What the documentation says of a parameter left alone is what happens."""

import importlib
import inspect
import re

import pytest

import fewer
from fewer import registry

COMPONENTS = sorted({target for names in registry.INDEX.values() for target in names.values()})
DECLARED = re.compile(r"^(?P<names>[\w, ]+) : .*default=(?P<value>.+?)\s*$", re.MULTILINE)
SELECTORS = [fewer.SubsetSelector, fewer.RankSelector, fewer.AutoSelector, fewer.FeatureWeighter, fewer.SubsetEnsemble]


def declared(documented):
    for found in DECLARED.finditer(inspect.getdoc(documented)):
        for name in found["names"].split(","):
            yield name.strip(), found["value"]


def public():
    for target in COMPONENTS:
        module, name = target.split(":")
        yield getattr(importlib.import_module(module), name)
    yield from SELECTORS
    for package in ("validate", "evaluate"):
        module = importlib.import_module(f"fewer.{package}")
        yield from (getattr(module, name) for name in module.__all__ if callable(getattr(module, name)))


PUBLIC = [found for found in public() if found.__module__.startswith("fewer.")]


@pytest.mark.parametrize("documented", PUBLIC, ids=lambda found: found.__name__)
def test_documented_defaults_are_the_defaults(documented):
    parameters = inspect.signature(documented).parameters
    for name, value in declared(documented):
        if name not in parameters:
            continue
        default = parameters[name].default
        if default is None and value.endswith(")"):
            continue  # an object, made anew for each use
        said = eval(value, {**vars(importlib.import_module(documented.__module__)), "nan": float("nan")})
        assert said == default or (said != said and default != default)


def test_defaults_are_documented():
    assert sum(len(list(declared(documented))) for documented in PUBLIC) > 150
