"""The grammar, criterion × search × control: the components' types, the space in which they meet, and a run of them.

Whoever adds a component writes one class: a `Criterion` with `bind`, a `Search` with `steps`, a `Control` with `run` or
a `Ranker` with `rank`. Everything else here has a default.
"""

from fewer.contracts._components import (
    CHANGES,
    ROWS,
    Component,
    Control,
    Criterion,
    IncompatibleError,
    OnStep,
    Ranker,
    Ranking,
    Search,
)
from fewer.contracts._run import Answer, Resources, Run, Stopped, best_by_size, best_so_far, refuse_unmet_needs
from fewer.contracts._scorer import (
    Masks,
    Moves,
    MovesResult,
    Objective,
    ObjectiveWalk,
    PredictiveScorer,
    Scorer,
    SearchSpace,
    Sweep,
    Walk,
    best_of,
    gray_states,
    moved_on,
    round_scores,
)
from fewer.contracts.declaring import Count, Fraction, NonNegative, Positive, RandomState, Scoring, Share, parameters

__all__ = [
    "CHANGES",
    "ROWS",
    "Answer",
    "Component",
    "Control",
    "Count",
    "Criterion",
    "Fraction",
    "IncompatibleError",
    "Masks",
    "Moves",
    "MovesResult",
    "NonNegative",
    "Objective",
    "ObjectiveWalk",
    "OnStep",
    "Positive",
    "PredictiveScorer",
    "RandomState",
    "Ranker",
    "Ranking",
    "Resources",
    "Run",
    "Scorer",
    "Scoring",
    "Search",
    "SearchSpace",
    "Share",
    "Stopped",
    "Sweep",
    "Walk",
    "best_by_size",
    "best_of",
    "best_so_far",
    "gray_states",
    "moved_on",
    "parameters",
    "refuse_unmet_needs",
    "round_scores",
]
