import numpy as np

from fewer import AutoSelector
from fewer.problem import Problem
from fewer.selectors.auto._answer import Answer, _scarce

SEEN = {"behind": 0.02, "error": 0.01, "costs": True, "smallest": 7}


def answer(costs=None, kept=None):
    nothing = np.zeros(3, dtype=bool)
    curve = {"chosen": {"accuracy": 9, "balanced": 4, "fewest": 2}}
    why = "The forest did best."
    return Answer(np.arange(3), {}, curve, 0.0321, nothing, {}, "", [], why, costs=costs or {}, kept=kept or {})


def test_what_is_said_of_a_choice():
    made = answer(kept={"fewest": 0.912, "balanced": 0.9997})
    assert made.reason("accuracy", False) == "The forest did best."
    told = made.reason("fewest", False)
    assert told.endswith(
        "Held-out loss is least with 9 features; the 2 chosen keep 91% of what these tell, "
        "a difference that these rows can hardly see."
    )
    assert "4 chosen keep 99.9% of what" in made.reason("balanced", False)
    assert "no better on held-out rows than luck would (p = 0.032)" in made.reason("balanced", True)
    assert made.cost("balanced")["costs"] is False


def test_what_held_out_rows_can_see_is_said():
    told = answer({"balanced": SEEN}, {"balanced": 0.97}).reason("balanced", False)
    assert told.endswith("the 4 chosen keep 97% of what these tell; from 7 on these rows see no difference.")
    assert "hardly" not in told
    told = answer({"balanced": SEEN}).reason("balanced", False)  # a scoring without a share of its own
    assert told.endswith("least with 9 features; 4 are chosen; from 7 on these rows see no difference.")


def test_the_order_without_copies_is_not_called_best_where_it_is_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    X[:, 1] = X[:, 0] + 0.3 * rng.normal(size=120)
    y = X[:, 0] + X[:, 1] + X[:, 2] + rng.normal(size=120) > 0
    selector = AutoSelector(random_state=0, standins=False).fit(X, y)
    assert selector.reason_.startswith("The order of forest importance without near copies is little behind")


def test_a_class_is_scarce_if_it_is_small_and_far_from_its_equal_share():
    def scarce(*counts, task="classification"):
        y = np.repeat(np.arange(len(counts)), counts)
        return _scarce(Problem.from_arrays(np.zeros((len(y), 1)), y, task=task))

    assert scarce(19, 181)  # a tenth of 200 rows would be 20
    assert not scarce(20, 180)
    assert not scarce(30, 970)
    assert scarce(29, 971)
    assert not scarce(8, 8, 9, 9)  # all are small
    assert not scarce(5, 195, task="regression")
