"""The ends of what parameters of searches and controls may be, written down a second time."""

import pytest

from fewer import control, search
from fewer.errors import InputError
from fewer.rankers import Fisher

TINY = 1e-9
# component, parameter, values that are allowed, values that are not
LIMITS = [
    (search.Floating(), "overshoot", [0, 10**9], [-1, 10**9 + 1]),
    (search.Floating(), "exhaust", [1], [0]),
    (search.PlusLTakeAwayR(), "l", [0, 10**9], [-1, 10**9 + 1]),
    (search.PlusLTakeAwayR(), "r", [0, 10**9], [-1, 10**9 + 1]),
    (search.Genetic(), "population", [2, 10**6], [1, 10**6 + 1]),
    (search.Genetic(), "generations", [1, 10**6], [0, 10**6 + 1]),
    (search.Genetic(), "mutation", [0.0, 1.0, "auto"], [-TINY, 1 + TINY, "other"]),
    (search.Genetic(), "elitism", [0.0, 1 - TINY], [-TINY, 1.0]),
    (search.Genetic(), "patience", [1, None], [0]),
    (search.DIET(), "min_gain", [-1e300, 0.0, 1e300], [float("inf"), None]),
    (search.BestSubset(), "exact_up_to", [0, 200], [-1, 201]),
    (search.BestSubset(), "max_nodes", [1, None], [0]),
    (search.Elimination(), "step", [1, TINY, 1 - TINY], [0, 0.0, 1.0]),
    (search.RegularizationPath(), "l1_ratio", [TINY, 1.0], [0.0, 1 + TINY]),
    (search.RegularizationPath(), "n_alphas", [2, 10**6], [1, 10**6 + 1]),
    (search.RegularizationPath(), "eps", [TINY, 1 - TINY], [0.0, 1.0]),
    (search.Annealing(), "t0", [0.0], [-TINY]),
    (search.Annealing(), "cooling", [TINY, 1.0], [0.0, 1 + TINY]),
    (search.Annealing(), "levels", [1, 10**6], [0, 10**6 + 1]),
    (search.Annealing(), "effort", [TINY], [0.0]),
    (search.Annealing(), "max_tries", [1, None], [0]),
    (search.Exhaustive(), "max_subsets", [1, None], [0]),
    (search.Exhaustive(), "top", [1, None], [0]),
    (search.PBIL(), "population", [1, 10**6], [0, 10**6 + 1]),
    (search.PBIL(), "generations", [1, 10**6], [0, 10**6 + 1]),
    (search.PBIL(), "rate", [TINY, 1.0], [0.0, 1 + TINY]),
    (search.PBIL(), "mutation", [0.0, 1.0], [-TINY, 1 + TINY]),
    (search.PBIL(), "runs", [1, 10**6], [0, 10**6 + 1]),
    (search.PBIL(), "penalty", [0.0], [-TINY]),
    (search.Forward(), "min_gain", [-1e300, None], [float("nan")]),
    (search.Backward(), "min_gain", [-1e300, None], [float("inf")]),
    (search.BestFirst(), "patience", [1], [0]),
    (search.BestFirst(), "min_gain", [-1e300], [None]),
    (control.ChosenNoise(), "probability", [0.0, 1.0], [-TINY, 1 + TINY]),
    (search.SignificantForward(), "alpha", [TINY, 1.0], [0.0, 1 + TINY]),
    (control.Noise(), "sd", [0.0], [-TINY]),
    (control.Noise(), "probability", [0.0, 1.0], [-TINY, 1 + TINY]),
    (control.StabilitySelection(), "threshold", [0.5 + TINY, 1.0], [0.5, 1 + TINY]),
    (control.StabilitySelection(), "expected_false", [TINY], [0.0]),
    (control.StabilitySelection(), "n_pairs", [2, 10**6], [1, 10**6 + 1]),
    (control.FalseDiscovery(), "rate", [TINY, 1 - TINY], [0.0, 1.0]),
    (control.Aggregate(), "n_runs", [1, 10**6], [0, 10**6 + 1]),
    (control.Aggregate(), "threshold", [0.0, 1.0], [-TINY, 1 + TINY]),
    (control.Aggregate(), "share", [TINY, 1 - TINY], [0.0, 1.0]),
    (control.Aggregate(), "top", [1], [0]),
    (control.Aggregate(), "offset", [TINY], [0.0]),
    (control.Shadow(), "n_runs", [1, 10**6], [0, 10**6 + 1]),
    (control.Shadow(), "alpha", [TINY, 1 - TINY], [0.0, 1.0]),
    (control.Knockoffs(), "fdr", [TINY, 1 - TINY], [0.0, 1.0]),
    (control.Prefilter(Fisher()), "keep", [1], [0]),
    (control.Prefilter(Fisher()), "start", [0, 10**9, None], [-1, 10**9 + 1]),
    (control.EarlyStopping(), "window", [1], [0]),
    (control.EarlyStopping(), "threshold", [0.0, 1.0], [-TINY, 1 + TINY]),
    (control.Probe(), "n_probes", [1, 10**6], [0, 10**6 + 1]),
    (control.Probe(), "n_runs", [1, 10**6], [0, 10**6 + 1]),
    (control.OneStandardError(), "n_errors", [0.0], [-TINY]),
]


@pytest.mark.parametrize(
    ("component", "parameter", "allowed", "refused"),
    LIMITS,
    ids=lambda v: v if isinstance(v, str) else type(v).__name__,
)
def test_ends(component, parameter, allowed, refused):
    for value in allowed:
        component.set_params(**{parameter: value}).check_parameters()
    for value in refused:
        with pytest.raises(InputError, match=parameter):
            component.set_params(**{parameter: value}).check_parameters()
