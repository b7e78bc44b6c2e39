"""Every public name says in numpydoc's sections what it takes and returns; classes and functions show an example.

What is walked: every name in the `__all__` of `fewer` and of each module below it that has one and no underscore in its
path, and the methods and properties that those classes define or override. The rules go by kind, never by name:

- classes, functions, methods and properties have a docstring (GL08), their own or an inherited one that fits them;
- Parameters lists what the signature has, no less (PR01) and no more (PR02); what returns or yields says what (RT01,
  YD01);
- classes and functions have an example (EX01); methods and properties are shown in those of their class;
- constants and type aliases cannot carry a docstring, and what scikit-learn defines is documented there.
"""

import functools
import importlib
import inspect
import pkgutil
import re
import warnings
from pathlib import Path

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

import fewer
import fewer_papers
from fewer import registry

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "packages").rglob("*.py")])
OF_ALL = {"GL08", "PR01", "PR02", "PR07", "RT01", "YD01"}
OF_CLASSES_AND_FUNCTIONS = OF_ALL | {"EX01"}


class Inheriting(Validator):
    """numpydoc's checks, with the docstring that `help` shows: a method's own or the one that it inherits."""

    def __init__(self, obj_name):
        super().__init__(get_doc_object(obj_name))
        self.raw_doc = self.clean_doc

    name = "not used"

    @property
    def signature_parameters(self):
        return tuple(name for name in super().signature_parameters if not name.startswith("_"))


def public_modules():
    names = [module.name for module in pkgutil.walk_packages(fewer.__path__, "fewer.")]
    modules = [importlib.import_module(name) for name in names if "._" not in name]
    return [fewer, fewer_papers, *(module for module in modules if hasattr(module, "__all__"))]


def is_ours(thing):
    return thing.__module__.startswith("fewer")


def public_members(cls):
    """Methods and properties of a class that were written here, whichever base of it defines them."""
    members = {}
    for base in reversed(cls.__mro__):
        if is_ours(base):
            members.update({name: value for name, value in vars(base).items() if not name.startswith("_")})
    for name, member in members.items():
        member = getattr(member, "__func__", member)
        if isinstance(member, functools.cached_property):
            member = property(member.func)
        if isinstance(member, property) or (inspect.isfunction(member) and member.__name__ != "<lambda>"):
            yield name, member


def public_objects():
    """Return `{name: (object, codes)}`; what several modules export stands once, under its first name."""
    found, seen = {}, set()
    for module in public_modules():
        for name in module.__all__:
            thing = getattr(module, name)
            if id(thing) in seen or not (inspect.isclass(thing) or inspect.isroutine(thing)) or not is_ours(thing):
                continue
            seen.add(id(thing))
            found[f"{module.__name__}.{name}"] = (thing, OF_CLASSES_AND_FUNCTIONS)
            if inspect.isclass(thing):
                found.update({f"{module.__name__}.{name}.{key}": (it, OF_ALL) for key, it in public_members(thing)})
    return found


def problems_of(thing, codes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a section that numpydoc cannot read
        report = validate(thing, validator_cls=Inheriting)
    return [f"{code} {text}" for code, text in report["errors"] if code in codes]


def test_every_public_name_is_documented():
    found = {name: problems_of(*thing) for name, thing in public_objects().items()}
    lacking = {name: problems for name, problems in found.items() if problems}
    assert len(found) > 800
    assert not lacking, "\n".join(f"{name}: {'; '.join(problems)}" for name, problems in lacking.items())


def test_every_component_names_its_page_of_the_guide():
    for kind, names in registry.INDEX.items():
        for target in names.values():
            module, _, name = target.partition(":")
            if module.startswith("fewer"):
                text = inspect.getdoc(getattr(importlib.import_module(module), name))
                assert ":doc:`/" in text, f"{kind} {name} names no page of the guide"


def test_pages_that_docstrings_name_exist():
    named = {page for path in SOURCES for page in re.findall(r":doc:`/([^`]+)`", path.read_text(encoding="utf-8"))}
    assert len(named) > 10
    assert not [page for page in named if not (ROOT / "docs" / f"{page}.md").exists()]


class Whole:
    """Something.

    Parameters
    ----------
    size : int
        How large.

    Examples
    --------
    >>> whole = Whole(1)
    """

    def __init__(self, size, _secret=None):
        self.size = size

    def grow(self, by):
        """Grow.

        Parameters
        ----------
        by : int
            How much.

        Returns
        -------
        int
            The new size.
        """
        return self.size + by


class Part(Whole):
    """Something less."""

    def grow(self, by):
        return self.size + 2 * by

    def shrink(self, by):
        """Shrink."""
        return self.size - by


class Odd(Whole):
    def grow(self, by, twice):
        return self.size + by + twice


def bare(size):
    return size


def test_the_gate_shuts():
    def codes(thing):
        return {problem[:4] for problem in problems_of(thing, OF_CLASSES_AND_FUNCTIONS)} - {"EX01"}

    assert not problems_of(Whole, OF_CLASSES_AND_FUNCTIONS)
    assert "EX01" in " ".join(problems_of(Whole.grow, OF_CLASSES_AND_FUNCTIONS))
    assert codes(Part) == {"PR01"}
    assert codes(Part.shrink) == {"PR01", "RT01"}
    assert codes(Odd.grow) == {"PR01"}
    assert not codes(Part.grow)  # inherits what fits
    assert codes(bare) == {"GL08"}
