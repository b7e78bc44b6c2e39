"""Records are what they were made as: nothing changes them, and those that hold arrays are equal only to themselves."""

import dataclasses
import importlib
import inspect
import pkgutil

import pytest

from fewer.contracts import Component

CHANGING = {"Trace"}
"""What a run has done so far."""


def records():
    for name in ("contracts", "search", "control", "validate", "evaluate"):
        package = importlib.import_module(f"fewer.{name}")
        for module in pkgutil.iter_modules(package.__path__, f"fewer.{name}."):
            for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
                is_record = dataclasses.is_dataclass(found) and not issubclass(found, Component)
                if is_record and found.__module__ == module.name:  # a component's parameters are set at any time
                    yield found


RECORDS = sorted(records(), key=lambda record: (record.__module__, record.__qualname__))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__qualname__)
def test_records_stay_what_they_are(record):
    if record.__name__ not in CHANGING:
        with pytest.raises(dataclasses.FrozenInstanceError):
            object.__new__(record).anything = 1
    holds_arrays = any("Array" in str(field.type) for field in dataclasses.fields(record))
    if holds_arrays:  # two arrays are neither equal nor unequal
        assert record.__eq__ is object.__eq__


def test_there_are_records():
    assert len(RECORDS) > 25
