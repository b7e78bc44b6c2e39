import pytest

from fewer.errors import InputError
from fewer.registry import METHODS
from fewer.run.request import names_of
from fewer.serve._choices import Choices, catalogue

GOOD = {"table": "t.csv", "target": "y"}


def test_the_plainest_choice_is_the_plainest_command():
    assert Choices.read(GOOD).command("r") == ["select", "t.csv", "--target", "y", "--out", "r"]


def test_every_choice_becomes_an_option_of_the_command_line():
    given = GOOD | {"prefer": "fewest", "scoring": "roc_auc", "budget": "30s", "folds": "3", "seed": 7, "groups": "id",
                    "weights": "w", "time": "t", "task": "classification", "skip": True, "features": "3-8",
                    "estimator": "forest", "rare": "drop"}  # fmt: skip
    words = Choices.read(given).command("r", resume=True)
    for pair in ("--prefer fewest", "--scoring roc_auc", "--budget 30s", "--folds 3", "--seed 7", "--groups id",
                 "--weights w", "--time t", "--task classification", "--features 3-8", "--rare drop"):  # fmt: skip
        assert pair in " ".join(words)
    assert words[-1] == "--resume"


def test_a_comparison_and_a_detector():
    compared = Choices.read(GOOD | {"goal": "compare", "methods": ["auto", "fisher"], "prefer": "fewest"})
    assert compared.command("r")[:1] == ["compare"]
    assert "--methods auto,fisher" in " ".join(compared.command("r"))
    assert "--prefer" not in compared.command("r")
    assert "--prefer" not in Choices.read(GOOD | {"method": "fisher", "prefer": "fewest"}).command("r")
    words = Choices.read(GOOD | {"goal": "detect", "max_fpr": "0.05", "positive": "-1"}).command("r")
    assert "--method parcel" in " ".join(words)
    assert "--max-fpr 0.05" in " ".join(words)
    assert "--positive=-1" in words


def test_prices_of_features_are_typed_and_never_a_file():
    words = Choices.read(GOOD | {"costs": "age=3, bmi=0.5"}).command("r")
    assert words[words.index("--costs") + 1] == "age=3, bmi=0.5"
    for odd in ("prices.csv", "/etc/passwd", "age=dear"):
        with pytest.raises(InputError):
            Choices.read(GOOD | {"costs": odd})


def test_names_that_look_like_options_are_no_options():
    words = Choices.read({"table": "-x.csv", "target": "--help", "groups": "-j"}).command("r")
    assert words[1] == "./-x.csv"
    assert "--target=--help" in words
    assert "--groups=-j" in words


@pytest.mark.parametrize(
    "odd",
    [
        {"method": "os:system('x')"}, {"methods": ["auto", "sklearn.svm:SVC()"], "goal": "compare"},
        {"estimator": "os:x"},
        {"method": "parcel"}, {"scoring": "__import__"}, {"target": None}, {"target": ""}, {"target": ["y"]},
        {"target": "y\0"}, {"budget": "never"}, {"seed": -1}, {"seed": "1e400"}, {"folds": {}}, {"goal": "rm"},
        {"kinds": {"a": "code"}}, {"kinds": ["a"]}, {"missing": "NA"}, {"missing": [1]}, {"max_fpr": "x"},
        {"out": "/etc"}, {"schema": "../../x.schema.json"}, {"schema": "/etc/passwd"}, {"methods": []},
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_chosen_is_refused_in_a_sentence(odd):
    with pytest.raises(InputError) as refused:
        Choices.read(GOOD | odd)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("odd", [None, [], "x", 3])
def test_what_is_no_choice(odd):
    with pytest.raises(InputError):
        Choices.read(odd)


def test_choices_survive_a_file():
    choices = Choices.read(GOOD | {"kinds": {"a": "left out"}, "missing": ["-"], "seed": 3})
    assert Choices.read(choices.to_dict()) == choices


def test_every_method_has_a_sentence():
    assert set(catalogue()) == {"auto", *METHODS}
    assert all(len(text) > 10 for text in catalogue().values())


@pytest.mark.parametrize(
    "command",
    ["", "fewer", "rm -rf /", "fewer select t.csv", "fewer select 't.csv", "fewer rank t.csv -t y",
     "fewer select t.csv -t y --methods os:system", "fewer select t.csv -t y --schema /etc/passwd",
     "fewer compare t.csv -t y -m sklearn.svm:SVC()", "fewer select t.csv -t y --cluster tcp://evil"],
)  # fmt: skip
def test_commands_that_the_page_cannot_go_on_with(command):
    with pytest.raises(InputError):
        Choices.from_command(command)


def test_a_typed_comparison():
    choices = Choices.from_command("fewer compare t.csv --target y -m auto,fisher --folds 3 --out r")
    assert (choices.goal, choices.methods, choices.asked["folds"]) == ("compare", ("auto", "fisher"), 3)


def test_how_columns_are_read_is_said_by_options_where_they_can_say_it():
    kinds = {"a": "numeric", "b, c": "nominal", "d": "left out"}
    choices = Choices.read({"table": "t.csv", "target": "y", "kinds": kinds, "missing": ["?", "x,y"]})
    command = choices.command("run")
    said = {name: command[command.index(f"--{name}") + 1] for name in ("numeric", "nominal", "exclude", "missing")}
    assert {name: names_of(word) for name, word in said.items()} == {
        "numeric": ["a"], "nominal": ["b, c"], "exclude": ["d"], "missing": ["?", "x,y"]
    }  # fmt: skip
    for odd in ({"a": "date day-month-year"}, {" a": "numeric"}, {"a\nb": "nominal"}):
        assert Choices.read({"table": "t.csv", "target": "y", "kinds": odd}).readings is None
