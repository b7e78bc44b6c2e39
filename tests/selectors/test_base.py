"""What all selectors share: frames of every kind go in and come out, mistakes get a sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fewer
from fewer import RankSelector
from fewer.errors import InputError
from fewer.rankers import Fisher

N = 40


def table():
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    color = np.where(y ^ (rng.random(N) < 0.1), "red", "blue")
    return pd.DataFrame({"a": rng.normal(size=N), "c": color, "k": pd.Categorical(color)}), y


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
        lambda frame: pa.Table.from_pandas(frame).to_pandas(types_mapper=pd.ArrowDtype),
        lambda frame: frame.astype({"c": "string"}),
        pa.Table.from_pandas,
    ],
    ids=["pandas", "arrow-backed", "arrow categories", "strings", "arrow"],
)
def test_what_goes_into_fit_goes_into_transform(convert):
    X, y = table()
    frame = convert(X)
    selector = fewer.SubsetSelector(random_state=0, n_features_to_select=1).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["c"]
    assert selector.transform(frame)[:, 0].tolist() == X["c"].tolist()


def test_a_class_instead_of_an_object_and_a_misspelt_argument_get_a_sentence():
    X, y = table()
    with pytest.raises(InputError, match=r"criterion is the class KNN, not an object; write KNN\(\)\."):
        fewer.SubsetSelector(fewer.criteria.KNN).fit(X, y)
    with pytest.raises(InputError, match=r"ranker is the class Fisher, not an object; write Fisher\(\)\."):
        fewer.RankSelector(fewer.rankers.Fisher).fit(X, y)
    with pytest.raises(InputError, match="did you mean 'sample_weight'"):
        fewer.SubsetSelector().fit(X, y, sample_weigth=y)


def make_dated():
    """Return a frame with a date and words beside a signal, and the target."""
    from datetime import date, timedelta

    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    days = [date(2024, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 99, 60)]
    words = rng.choice(["u", "v"], 60).tolist()
    return pl.DataFrame({"a": y + 0.1 * rng.normal(size=60), "day": days, "word": words}), y


@pytest.mark.parametrize("convert", [lambda frame: frame, lambda frame: frame.to_arrow()], ids=["polars", "Arrow"])
def test_transform_keeps_columns_of_a_frame_with_dates_and_words(convert):
    frame, y = make_dated()
    selector = RankSelector(Fisher(), n_features_to_select=1).fit(convert(frame), y)
    np.testing.assert_array_equal(selector.transform(convert(frame)), frame.select("a").to_numpy())
    wide = RankSelector(Fisher(), n_features_to_select=3).fit(convert(frame), y)
    assert wide.transform(convert(frame))[0].tolist() == list(frame.row(0))
    with pytest.raises(ValueError, match="feature names"):
        wide.transform(convert(frame.rename({"a": "b"})))
    with pytest.raises(ValueError):
        wide.transform(convert(frame.drop("a")))


def test_transform_keeps_the_types_of_a_polars_frame():
    frame, y = make_dated()
    selector = RankSelector(Fisher(), n_features_to_select=3).set_output(transform="polars").fit(frame, y)
    assert selector.transform(frame).schema == frame.schema


def test_what_is_not_there_yet_is_refused_with_the_cure():
    frame, y = make_dated()
    selector = RankSelector(Fisher(), n_features_to_select=1).fit(frame, y)
    with pytest.raises(InputError, match=r"lazy polars frame, .* pass X.collect\(\)"):
        selector.transform(frame.lazy())
    with pytest.raises(InputError, match="X is the name of a file, 't.csv'; read it first"):
        selector.fit("t.csv", y)
    with pytest.raises(InputError, match="a polars LazyFrame that includes the target: .* or give a frame in memory"):
        fewer.select(frame.lazy(), y, "fisher")
