"""A selection that is made, as a step of a pipeline, and as JSON that says all there is to say of it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fewer.contracts import parameters
from fewer.errors import FewerWarning, InputError, one_line
from fewer.estimators import TableReader
from fewer.io import Contract, is_frame, plain_frame
from fewer.io._reader import ProblemReader
from fewer.problem import FloatArray, column_numbers, mask_of, plain_names

KIND, VERSION = "fewer pipeline", 1


@parameters
class KeepFeatures(SelectorMixin, BaseEstimator):
    """Keep features that were chosen already.

    The last step of a selection that is put to use: it learns which columns there are and what they hold, reads from
    JSON without running code, and stands before any model in a pipeline.

    Columns that were chosen by name are found by name in new tables: in any order, beside any others. Other columns
    are ignored, and a `FewerWarning` names those that are new; so it does for levels that are new. A column that is
    absent or holds another type is refused by name.

    Parameters
    ----------
    features : sequence of str or int, optional
        Names of columns, or their numbers for tables without names; all columns if left out.

    Attributes
    ----------
    support_ : bool array of shape (n_features_in_,)
    columns_ : list of dict
        What each feature chosen by name held: `name`, `kind`, `levels`.
    about_ : dict
        What the JSON says of how the features were chosen; empty after `fit`.
    n_features_in_ : int
    feature_names_in_ : array of str

    See Also
    --------
    fewer.Selection.pipeline_json : Writes the JSON.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selection = fewer.select(X, y, "fisher", cv=0, n_features_to_select=2, random_state=0)
    >>> keep = fewer.selectors.KeepFeatures.from_json(selection.pipeline_json())
    >>> keep.set_output(transform="pandas").transform(X).shape
    (150, 2)
    >>> make_pipeline(keep, LogisticRegression()).fit(X, y).score(X, y) > 0.95
    True
    """

    features: Annotated[Sequence[str | int] | None, None, "array-like"] = None

    def fit(self, X: Any, y: Any = None) -> KeepFeatures:
        """Look the columns up.

        Parameters
        ----------
        X : table
            The rows.
        y : ignored
            Their target.

        Returns
        -------
        KeepFeatures
        """
        with one_line():
            self._validate_params()
        named = is_frame(X) and self._is_by_name
        X = plain_frame(X)[0] if named else X
        validate_data(self, X, dtype=None, ensure_all_finite=False, accept_sparse=True, skip_check_array=named)
        self.about_: dict[str, Any] = {}
        self.columns_: list[dict[str, Any]] = []
        n, names = self.n_features_in_, self._names
        columns = None if self.features is None else column_numbers(self.features, names or plain_names(n), "features")
        self.support_ = np.ones(n, dtype=bool) if columns is None else mask_of(columns, n)
        if named:
            table = ProblemReader().table(nw.from_native(X, eager_only=True).select(self._kept()).to_native())
            self.columns_ = [
                {"name": name, "kind": kind, "date": name in table.dated, "levels": list(table.levels.get(i, ()))}
                for i, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True))
            ]
        return self

    def transform(self, X: Any) -> Any:
        """Reduce a table to the features.

        Parameters
        ----------
        X : table
            A table with the columns that were there in `fit`.

        Returns
        -------
        table
            A frame of the same kind if the features are known by name and X is one, else an array.
        """
        check_is_fitted(self)
        if not (self._is_by_name and is_frame(X)):
            return super().transform(X)
        X = plain_frame(X)[0]
        kept = self._kept()
        contract = Contract(tuple(kept), tuple(self.columns_), self._names)
        for note in contract.check(X):
            warnings.warn(note, FewerWarning, stacklevel=3)
        return nw.from_native(X, eager_only=True).select(kept).to_native()

    @property
    def _is_by_name(self) -> bool:
        features = self.features if self.features is not None else ()
        return len(features) > 0 and all(isinstance(feature, str) for feature in features)

    def _kept(self) -> list[str]:
        """Name the features in the order of the table; in their own where the names of the others are not known."""
        if self._names is None:
            return [str(name) for name in self.features or ()]
        return [self._names[i] for i in np.flatnonzero(self.support_)]

    @property
    def _names(self) -> tuple[str, ...] | None:
        """The names of all columns, where they are known."""
        return tuple(map(str, self.feature_names_in_)) if hasattr(self, "feature_names_in_") else None

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the features that are kept.

        Parameters
        ----------
        input_features : array of str, optional
            Names of all columns, where none are known.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        if self._is_by_name and input_features is None:
            return np.array(self._kept(), dtype=object)
        named: NDArray[Any] = super().get_feature_names_out(input_features)
        return named

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def to_json(self) -> str:
        """Return the step as JSON, with what is known of how it came about.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        names, chosen = self._names, np.flatnonzero(self.support_).tolist()
        kept = chosen if names is None else self._kept()
        content = {"kind": KIND, "version": VERSION, **self.about_, "features": self.about_.get("features", kept)}
        content["support"] = chosen
        content["n_features_in"], content["columns"] = self.n_features_in_, self.columns_
        content["feature_names_in"] = names
        return json.dumps(content, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> KeepFeatures:
        """Read a fitted step from JSON; nothing in it is run.

        Parameters
        ----------
        text : str
            What `to_json` or `Selection.pipeline_json` wrote.

        Returns
        -------
        KeepFeatures

        Examples
        --------
        >>> import numpy as np
        >>> step = KeepFeatures([2, 0]).fit(np.zeros((3, 4)))
        >>> KeepFeatures.from_json(step.to_json()).get_support(indices=True)
        array([0, 2])
        """
        try:
            content = json.loads(text)
            if content["kind"] != KIND or content["version"] > VERSION:
                raise ValueError("it says that it is something else")
            n, names = int(content["n_features_in"]), content["feature_names_in"]
            support = mask_of([int(i) for i in content["support"]], n)
            features = list(content["features"])
            columns = [dict(column) for column in content.get("columns", ())]
            if names is not None and len(names) != n:
                raise ValueError("it names another number of columns than it has")
        except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise InputError(f"This is no pipeline of fewer in JSON: {error}") from None
        places = [f"x{place}" for place in np.flatnonzero(support)]
        is_array = names is None and sorted(map(str, features)) == sorted(places)
        step = cls([int(name[1:]) for name in features] if is_array else features)
        step.n_features_in_, step.support_, step.columns_ = n, support, columns
        if names is not None:
            step.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
        known = ("kind", "version", "support", "n_features_in", "feature_names_in", "columns")
        step.about_ = {key: value for key, value in content.items() if key not in known}
        return step

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class ReadCells(TransformerMixin, BaseEstimator):
    """Turn the cells of a frame into numbers, whatever the frame's types: dates into days, levels into codes.

    Parameters
    ----------
    kinds : dict of str to str
        The kind of each column, as it was read when features were selected. Missing cells, and levels that were not
        there in `fit`, are NaN.
    """

    def __init__(self, kinds: dict[str, str]) -> None:
        self.kinds = kinds

    def fit(self, X: Any, y: Any = None) -> ReadCells:
        """Learn the levels of the columns."""
        frame = nw.from_native(plain_frame(X)[0], eager_only=True).select(list(self.kinds)).to_native()
        nominal, numeric = (
            [name for name in self.kinds if self.kinds[name] == kind] for kind in ("nominal", "numeric")
        )
        self.reader_ = TableReader.of(ProblemReader(nominal=nominal, numeric=numeric).table(frame))
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the numbers, in the order of `kinds`."""
        check_is_fitted(self)
        return self.reader_.coded(X, range(len(self.kinds)))
