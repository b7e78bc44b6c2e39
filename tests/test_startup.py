"""What is loaded when: people wait for nothing that they did not ask for."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import fewer


def modules_after(code: str) -> set[str]:
    probe = f"import sys\n{code}\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stderr.split()} | set(done.stderr.split())


def test_import_fewer_loads_next_to_nothing():
    loaded = modules_after("import fewer")
    assert not loaded & {"matplotlib", "jinja2", "typer", "sklearn", "numba", "scipy", "polars", "numpy"}


def test_using_a_selector_loads_no_pictures_and_no_command_line():
    loaded = modules_after("import fewer; fewer.SubsetSelector")
    assert not loaded & {"matplotlib", "jinja2", "typer"}


def test_a_component_loads_none_of_its_neighbors():
    loaded = modules_after("from fewer.criteria import KNN; from fewer.rankers import Fisher")
    assert not loaded & {"fewer.criteria.cross_validated", "fewer.rankers._model_based", "sklearn.ensemble"}


def test_every_selector_brings_the_compiled_way_to_importances():
    for name in ("AutoSelector", "RankSelector", "SubsetSelector", "SubsetEnsemble"):
        modules_after(f"import fewer; fewer.{name}; assert fewer.rankers.Importance.ways")


def test_help_and_version_load_no_library():
    for argument in ("--help", "--version"):
        code = f"from fewer.cli import main\ntry:\n    main([{argument!r}])\nexcept SystemExit:\n    pass"
        assert not modules_after(code) & {"sklearn", "numba", "scipy", "polars", "matplotlib", "numpy"}


def test_what_the_code_calls_by_its_whole_name_needs_no_import_elsewhere():
    modules = (ast.parse(path.read_text("utf-8")) for path in Path(fewer.__file__).parent.rglob("*.py"))
    names = {ast.unparse(node) for module in modules for node in ast.walk(module) if isinstance(node, ast.Attribute)}
    homes = {name.rpartition(".")[0] for name in names if re.fullmatch(r"fewer(\.\w+)+", name)} - {"fewer"}
    assert {"fewer.io", "fewer.run.api"} < homes
    each_alone = "if os.fork() == 0:\n  eval(name)\n  os._exit(0)\n assert os.wait()[1] == 0, name"
    modules_after(f"import os, fewer\nfor name in {homes}:\n {each_alone}")


def test_every_public_name_is_there():
    for name in fewer.__all__:
        assert getattr(fewer, name) is not None
    assert set(fewer.__all__) <= set(dir(fewer))
