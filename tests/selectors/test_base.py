"""What all selectors share: frames of every kind go in and come out, mistakes get a sentence."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import fewer
from fewer.errors import InputError

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
