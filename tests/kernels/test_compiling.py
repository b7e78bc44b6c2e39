import ast
import errno
import gc
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core.caching import CacheImpl, IndexDataCacheFile
from numba.core.errors import NumbaError, TypingError
from numba.core.event import Listener, install_listener

import fewer.kernels
import fewer.logs
from fewer.kernels import compiling
from fewer.kernels.compiling import FIRST_USE, Inner, inner, kernel

SOURCE = Path(fewer.__file__).parent
KERNELS = [f"fewer.kernels.{module.name}" for module in pkgutil.iter_modules(fewer.kernels.__path__)]


@inner()
def twice(x):
    return 2 * x


@njit
def four_times(x):
    return twice(twice(x))


def test_a_function_for_kernels_can_be_called_from_both_sides():
    assert four_times(3) == 12
    assert twice(3) == 6


KNOWN = pytest.mark.skipif(not compiling.MAKES_PARTS, reason="this version of numba compiles each function by itself")


@pytest.mark.parametrize("makes_parts", [pytest.param(True, marks=KNOWN), False])
def test_inner_functions_are_parts_of_kernels_or_compiled_by_themselves(monkeypatch, makes_parts):
    monkeypatch.setattr(compiling, "MAKES_PARTS", makes_parts)

    @inner(counted=False)
    def squared(x):
        return x * x

    @inner(counted=False)
    def norm(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += squared(x[i])
        return total

    @kernel(counted=False)
    def distance(x):
        return np.sqrt(norm(x))

    assert distance(np.array([3.0, 4.0])) == 5.0
    assert norm(np.array([3.0, 4.0])) == 25.0
    machine_code = [bool(compiled.library.get_pointer_to_function(compiled.fndesc.mangled_name))
                    for compiled in norm.overloads.values()]  # fmt: skip
    assert machine_code == [not makes_parts]


@pytest.mark.parametrize("counted", [True, False])
def test_a_function_is_compiled_once_for_constants_and_variables(counted):
    @inner(counted=counted)
    def added(x, y):
        return x + y

    @kernel(counted=counted)
    def total(x):
        count = 0
        for i in range(x.shape[0]):
            count = added(count, x[i])
        return added(count, 1)

    assert total(np.array([3, 4])) == 8
    assert len(added.overloads) == 1


ANSWERS = """
import numpy as np
from fewer.kernels import compiling

compiling.MAKES_PARTS = {makes_parts}
import fewer
from sklearn.tree import DecisionTreeClassifier

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 4)), rng.integers(2, size=60)
for criterion in (fewer.criteria.KNN(), fewer.criteria.CrossValidated(DecisionTreeClassifier(random_state=0))):
    selector = fewer.SubsetSelector(criterion, fewer.search.Forward(), random_state=0).fit(X, y)
    print(selector.score_.hex(), selector.get_support())
"""


@KNOWN
def test_versions_of_numba_that_make_no_parts_give_the_same_answers(tmp_path):
    answers = []
    for makes_parts in (True, False):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / str(makes_parts))}
        command = [sys.executable, "-c", ANSWERS.format(makes_parts=makes_parts)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        answers.append(done.stdout)
    assert answers[0] == answers[1] != ""


@pytest.mark.parametrize("function", [lambda x: x, lambda x: (x[1:], 1), lambda x: x.copy()])
def test_functions_that_count_no_references_cannot_give_arrays_away(function):
    with pytest.raises((TypeError, NumbaError)):
        kernel(counted=False)(function)(np.ones(3))
    assert kernel(counted=False)(lambda x: x[1:][0])(np.ones(3)) == 1.0


def compiled(node):
    names = [ast.unparse(d.func) for d in getattr(node, "decorator_list", []) if isinstance(d, ast.Call)]
    return "kernel" in names or "inner" in names


def used_by_python(tree):
    """Names and attributes outside compiled functions, each with its line."""
    open_nodes = [tree]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield ast.unparse(node), node.lineno
        open_nodes += [child for child in ast.iter_child_nodes(node) if not compiled(child)]


def inner_functions(tree, module):
    """Functions for kernels alone, by the names that a module has for them."""
    names = {name: value for name, value in vars(importlib.import_module(module)).items() if isinstance(value, Inner)}
    for node in ast.walk(tree):
        for name in node.names if isinstance(node, ast.ImportFrom) else []:
            if node.module in KERNELS:
                names[name.asname or name.name] = getattr(importlib.import_module(node.module), name.name)
            elif node.module == "fewer.kernels":
                functions = vars(importlib.import_module(f"fewer.kernels.{name.name}"))
                names |= {f"{name.asname or name.name}.{f}": value for f, value in functions.items()}
    return {name for name, value in names.items() if isinstance(value, Inner)}


def calls_of_inner_functions(text, module):
    tree = ast.parse(text)
    names = inner_functions(tree, module)
    return [(module, name, line) for name, line in used_by_python(tree) if name in names]


def test_python_calls_no_function_that_is_compiled_for_kernels_alone():
    found = []
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "fewer.kernels" in text:
            module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
            found += calls_of_inner_functions(text, module)
    assert found == []


def test_such_calls_are_found():
    text = "from fewer.kernels import votes as v\nfrom fewer.kernels.cart import _draw\nv.judge(1)\nmap(_draw, [2])"
    found = calls_of_inner_functions(text, "fewer.kernels.intrinsics")
    assert sorted(name for _, name, _ in found) == ["_draw", "v.judge"]


def test_all_functions_without_an_entry_for_python_are_inner():
    texts = {path.name: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    assert [name for name, text in texts.items() if "no_cpython_wrapper" in text] == ["compiling.py"]


RECORD = """
from typing import NamedTuple
from fewer.kernels.compiling import kernel

class {name}(NamedTuple):
    x: float

@kernel()
def double(record):
    return 2 * record.x

print(double({name}(1.5)))
"""


def run_record(folder, name):
    (folder / "record.py").write_text(RECORD.format(name=name))
    words, kept = [sys.executable, "-c", "import record"], {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(words, cwd=folder, env=kept, capture_output=True, text=True)
    assert done.stdout == "3.0\n", done.stderr
    return sorted((folder / "cache").glob("*/*double*.nb?"))


def test_a_record_may_be_renamed_although_compiled_code_knows_it(tmp_path):
    for name in ("Before", "After", "After"):
        assert [path.suffix for path in run_record(tmp_path, name)] == [".nbc", ".nbi"]


@pytest.mark.parametrize("suffix", [".nbc", ".nbi"])
def test_a_damaged_file_of_compiled_code_is_written_anew(suffix, tmp_path):
    whole = {path: path.stat().st_size for path in run_record(tmp_path, "Record")}
    assert len(whole) == 2
    for path in whole:
        if path.suffix == suffix:
            path.write_bytes(path.read_bytes()[:60])
    assert {path: path.stat().st_size for path in run_record(tmp_path, "Record")} == whole


def test_a_change_of_another_module_of_kernels_is_seen(tmp_path):
    shutil.copytree(SOURCE, tmp_path / "fewer", ignore=shutil.ignore_patterns("__pycache__"))
    helper, outer = (tmp_path / "fewer/kernels" / name for name in ("helper.py", "outer.py"))
    outer.write_text(
        "from fewer.kernels.compiling import kernel\nfrom fewer.kernels.helper import f\n"
        "@kernel()\ndef g(x):\n    return f(x)\nprint(g(1), len(g.stats.cache_hits))"
    )
    said = []
    for factor in (2, 3, 3):
        helper.write_text(f"from fewer.kernels.compiling import inner\n@inner()\ndef f(x):\n    return {factor} * x\n")
        command = [sys.executable, "-c", "import fewer.kernels.outer"]
        said.append(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    assert said == ["2 0\n", "3 0\n", "3 1\n"]


def test_without_a_folder_or_room_for_compiled_code_kernels_work(monkeypatch, capsys):
    monkeypatch.setattr(fewer.logs, "is_watched", lambda: True)

    def third(x):
        return x / 3

    third.__module__ = "fewer.kernels.made"
    with monkeypatch.context() as nowhere:
        nowhere.setattr(CacheImpl, "_locator_classes", [])
        nowhere.setattr(FIRST_USE, "announced", False)
        assert kernel()(third)(6.0) == 2.0
        assert "NUMBA_CACHE_DIR" in capsys.readouterr().err

    def full(self, key, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    monkeypatch.setattr(FIRST_USE, "announced", False)
    assert kernel()(third)(6) == 2.0
    assert "later runs start faster" in capsys.readouterr().err


def test_threads_compile_at_once_where_nothing_is_kept():
    code = """
from numba.core.caching import CacheImpl
CacheImpl._locator_classes = []
import fewer
from sklearn.datasets import load_iris
print(len(fewer.select(*load_iris(return_X_y=True), cv=0, n_jobs=2, random_state=0).features))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() in ("1", "2", "3"), done.stderr


def test_a_first_use_is_announced_once_to_those_who_watch(monkeypatch, capsys):
    def shifted(x):
        return x + 1

    monkeypatch.setattr(fewer.logs, "is_watched", lambda: True)
    monkeypatch.setattr(FIRST_USE, "announced", False)
    assert njit(shifted)(1) == 2  # somebody else's
    assert not capsys.readouterr().err
    shifted.__module__ = "fewer.kernels.made"
    compiled = kernel()(shifted)
    assert (compiled(1), compiled(1.0)) == (2, 2.0)  # two compilations
    assert capsys.readouterr().err.count("first use") == 1


def test_python_looks_for_garbage_before_and_after_a_compilation_but_not_within():
    seen = []

    @inner()
    def halved(x):
        return x / 2

    @kernel()
    def outer(x):
        return halved(x) + 1

    @kernel()
    def wrong(x):
        return x.nothing

    class Watcher(Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            pass

    with install_listener("numba:compile", Watcher()):
        assert outer(3.0) == 2.5
        with pytest.raises(TypingError):
            wrong(1)
    assert seen == [False, False, False]
    assert gc.isenabled()
    gc.disable()
    try:
        outer(np.float32(1.0))
        assert not gc.isenabled()  # it was not before
    finally:
        gc.enable()
