import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import fewer
from fewer.cli import main
from fewer.contracts.trace import Step, Trace
from fewer.errors import InputError
from fewer.run.folder import RunFolder, check_folder, fingerprint, replacing
from making import make_problem

COMPONENTS = {"criterion": "KNN()", "seed": 0}


def open_folder(path, resume=False, name="abc", components=COMPONENTS):
    return RunFolder(path, components, name, resume=resume)


def a_trace():
    trace = Trace()
    trace.record(Step(np.array([True, False]), 0.5, np.array([True, False]), 0.5))
    return trace


def test_a_run_is_named_by_its_data_and_its_components():
    problem = make_problem()
    name = fingerprint(problem, COMPONENTS)
    assert name == fingerprint(make_problem(), dict(reversed(COMPONENTS.items())))
    assert name != fingerprint(make_problem(seed=1), COMPONENTS)
    assert name != fingerprint(problem, {**COMPONENTS, "seed": 1})
    assert name != fingerprint(problem.take(np.arange(50)), COMPONENTS)


def test_what_was_kept_is_there_again(tmp_path):
    folder = open_folder(tmp_path / "run")
    folder.keep_trace(a_trace(), now=True)
    folder.keep_folds([{"fold": 0}])
    folder.close()
    again = open_folder(tmp_path / "run", resume=True)
    assert again.trace().best_score == 0.5
    assert again.folds() == [{"fold": 0}]
    assert again.trouble == ""
    again.close()


def test_a_trace_is_not_saved_at_every_moment(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("fewer.run.folder.time.monotonic", lambda: now[0])
    folder = open_folder(tmp_path)
    saved = []
    monkeypatch.setattr(Trace, "save", lambda self, path: saved.append(now[0]))
    for moment in (100.0, 100.2, 100.5, 100.9, 101.0):
        now[0] = moment
        folder.keep_trace(a_trace())
    assert saved == [100.0, 100.5, 101.0]
    folder.close()


def test_another_run_is_not_gone_on_with(tmp_path):
    open_folder(tmp_path).close()
    with pytest.raises(InputError, match="holds a different run .its seed differ"):
        open_folder(tmp_path, resume=True, components={**COMPONENTS, "seed": 1})
    with pytest.raises(InputError, match="its data differ"):
        open_folder(tmp_path, resume=True, name="other")
    with pytest.raises(InputError, match="No run to resume"):
        open_folder(tmp_path / "nowhere", resume=True)
    with pytest.raises(InputError, match="already holds a run"):
        open_folder(tmp_path)


def test_damage_is_named(tmp_path):
    open_folder(tmp_path).close()
    (tmp_path / "heldout.json").write_text("{")
    with pytest.raises(InputError, match="heldout.json is damaged; nothing was changed: delete it"):
        open_folder(tmp_path, resume=True)
    (tmp_path / "heldout.json").unlink()
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(InputError, match="run.json is damaged"):
        open_folder(tmp_path, resume=True)


def test_nobody_elses_files_are_touched(tmp_path):
    check_folder(tmp_path / "new", resume=False, force=False)
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="is not a fewer run .it holds 'thesis.tex'.; nothing was changed"):
        check_folder(tmp_path, resume=False, force=True)


def test_a_run_is_replaced_only_if_that_is_asked_for(tmp_path):
    open_folder(tmp_path).close()
    with pytest.raises(InputError, match="already holds a run; --resume continues it"):
        check_folder(tmp_path, resume=False, force=False)
    check_folder(tmp_path, resume=False, force=True)


def refused(path, error=InputError):
    with replacing(path):
        raise error("no")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_a_replaced_run_comes_back_if_the_new_one_saved_nothing(error, tmp_path):
    folder = open_folder(tmp_path)
    folder.write("result.json", {"features": ["a"]})
    folder.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix == ".json"}
    with pytest.raises(error):
        refused(tmp_path, error)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix == ".json"} == before


def test_a_replaced_run_comes_back_if_the_new_one_is_refused(tmp_path):
    open_folder(tmp_path).close()
    before = (tmp_path / "run.json").read_text()
    with pytest.raises(InputError):
        refused(tmp_path)
    assert (tmp_path / "run.json").read_text() == before
    with replacing(tmp_path):
        assert not (tmp_path / "run.json").exists()
        open_folder(tmp_path, name="new").close()
    assert json.loads((tmp_path / "run.json").read_text())["fingerprint"] == "new"


WRITTEN = Path(__file__).parent / "written_by_0.1.0"  # by `select` and `compare`, both with --out


def test_what_the_first_version_wrote_is_still_read(tmp_path, monkeypatch, capsys):
    shutil.copytree(WRITTEN, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    before = json.loads(Path("run/result.json").read_text())
    selection = fewer.Selection.from_json(Path("run/result.json").read_text())
    assert selection.features == before["features"] == ["petal_width"]
    assert selection.to_dict()["score_heldout"] == before["score_heldout"]
    for command in (
        "report run",
        "report compared",
        "transform run iris.csv",
        "select iris.csv -t species -m knn-forward --folds 2 --out run --resume",
        "compare iris.csv -t species --methods fisher,knn-forward --folds 2 --out compared --resume",
    ):
        with pytest.raises(SystemExit) as ended:
            main(command.split())
        assert not ended.value.code, capsys.readouterr().err
    after = json.loads(Path("run/result.json").read_text())
    for name in ("features", "score_search", "score_heldout", "score_heldout_all_features", "frequency"):
        assert after[name] == before[name]
