"""Parquet files in a store, by their address. `make clusters` runs this; it needs moto: pip install 'moto[server]'."""

import json

import polars as pl
import pytest

import fewer
from fewer.cli import main
from fewer.errors import InputError

pytest.importorskip("pyarrow")
pytest.importorskip("flask")
moto = pytest.importorskip("moto.server")


@pytest.fixture
def store(monkeypatch, tmp_path):
    """A folder of two files, here and in a store."""
    import boto3

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    server = moto.ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1")
    client.create_bucket(Bucket="tables")
    for number in range(2):
        rows = range(60 * number, 60 * number + 60)
        frame = pl.DataFrame({"a": [float(i % 7) for i in rows], "b": [float(i % 2) for i in rows]})
        frame = frame.with_columns(pl.Series("y", ["u" if i % 2 else "v" for i in rows]))
        frame.write_parquet(tmp_path / f"{number}.parquet")
        client.upload_file(str(tmp_path / f"{number}.parquet"), "tables", f"folder/{number}.parquet")
    yield f"?scheme=http&endpoint_override={host}:{port}&region=us-east-1", tmp_path
    server.stop()


def test_files_in_a_store_give_the_answer_of_the_same_files_here(store, capsys):
    where, folder = store
    words = {"criterion": "least-squares:cv=3", "n_features_to_select": 1, "cv": 2, "random_state": 0}
    found, here = (fewer.select(path, "y", **words) for path in (f"s3://tables/folder{where}", folder))
    assert (found.features, found.score_search) == (here.features, here.score_search) == (["b"], here.score_search)
    with pytest.raises(SystemExit) as done:
        main(["rank", f"s3://tables/folder{where}", "-t", "y", "-m", "f-test", "--json"])
    assert done.value.code == 0
    assert json.loads(capsys.readouterr().out)["ranking"][0]["feature"] == "b"


def test_an_address_without_files_is_refused_in_one_line(store):
    with pytest.raises(InputError, match=r"^s3://tables/nothing\S* cannot be read \(.*\)\.$"):
        fewer.select(f"s3://tables/nothing{store[0]}", "y")
