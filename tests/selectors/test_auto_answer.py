import numpy as np

from fewer.selectors._auto_answer import Answer

SEEN = {"behind": 0.02, "error": 0.01, "costs": True, "smallest": 7}


def answer(costs=None):
    nothing = np.zeros(3, dtype=bool)
    curve = {"chosen": {"accuracy": 9, "balanced": 4, "fewest": 2}}
    return Answer(np.arange(3), {}, curve, 0.0321, nothing, {}, "", [], "The forest did best.", costs=costs or {})


def test_what_is_said_of_a_choice():
    made = answer()
    assert made.reason("accuracy", False) == "The forest did best."
    assert made.reason("fewest", False).endswith("do best with 9 features; 2 are hardly behind.")
    assert "no better on held-out rows than luck would (p = 0.032)" in made.reason("balanced", True)
    assert made.cost("balanced")["costs"] is False


def test_what_held_out_rows_can_see_is_said():
    told = answer({"balanced": SEEN}).reason("balanced", False)
    assert told.endswith("do best with 9 features and can see that accuracy is lost with fewer than 7.")
    assert "hardly behind" not in told
    all_of_them = answer({"balanced": {**SEEN, "smallest": None}}).reason("balanced", False)
    assert "lost with fewer than all" in all_of_them
