"""What `auto` can take: single features, or groups that enter together; some are forced in, some are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fewer.problem import IntArray


@dataclass(frozen=True, eq=False)
class Units:
    """Features that enter together.

    Attributes
    ----------
    members : tuple of int arrays
        The features of each unit.
    forced : int array
        Units that every subset holds.
    of_feature : int array of shape (n_features,)
        The unit of each feature, −1 for features that are left out.
    """

    members: tuple[IntArray, ...]
    forced: IntArray
    of_feature: IntArray

    @classmethod
    def of(
        cls, n: int, include: Sequence[int] = (), exclude: Sequence[int] = (), groups: Sequence[Sequence[int]] = ()
    ) -> Units:
        """Build from numbers of features.

        Examples
        --------
        >>> units = Units.of(5, include=[4], exclude=[0], groups=[[1, 2]])
        >>> units.features(units.order(np.array([3, 2, 0, 1, 4]))).tolist()
        [4, 3, 1, 2]
        """
        out = set(exclude)
        together = [np.asarray(group, dtype=np.int64) for group in groups if not set(group) & out]
        inside = {int(i) for group in groups for i in group} | out
        members = [*together, *(np.array([i]) for i in range(n) if i not in inside)]
        of_feature = np.full(n, -1, dtype=np.int64)
        for number, group in enumerate(members):
            of_feature[group] = number
        forced = np.unique(of_feature[np.asarray(include, dtype=np.int64)])
        return cls(tuple(members), forced[forced >= 0].astype(np.int64), of_feature)

    def order(self, features: IntArray) -> IntArray:
        """Order units by the first of their features; those forced in come first."""
        own = self.of_feature[features]
        own = own[own >= 0]
        _, first = np.unique(own, return_index=True)
        own = own[np.sort(first)]
        return np.concatenate([self.forced, own[~np.isin(own, self.forced)]]).astype(np.int64)

    def features(self, units: IntArray) -> IntArray:
        """List the features of units."""
        return np.concatenate([self.members[i] for i in units]) if len(units) else np.empty(0, dtype=np.int64)
