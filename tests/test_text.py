import json
import shlex
import unicodedata

from fewer.run.request import names_of
from fewer.text import printable, printable_json, without_columns


def test_nothing_that_moves_a_cursor_is_left():
    text = "".join(map(chr, range(256))) + "\u202e\u2028\udc80日本−"
    shown = printable(text)
    assert not {"Cc", "Cs", "Zl"} & {unicodedata.category(letter) for letter in shown}
    assert "\u202e" not in shown
    assert "日本−" in shown
    assert printable("a\nb", keep="\n") == "a\nb"


def test_json_says_the_same_without_control_characters():
    content = {"a\x1b[31m": "\x9b2J\u202e\x7f\n", "b": ["−", "日本"]}
    text = printable_json(json.dumps(content, ensure_ascii=False, indent=1))
    assert json.loads(text) == content
    assert text.replace("\n", "").isprintable()


def test_a_command_without_columns_can_be_typed_as_it_is():
    again = without_columns("fewer select 'a b.csv' --target y --resume --exclude=q --save s.csv", ['5" disk', "a,b"])
    assert shlex.split(again) == [
        "fewer", "select", "a b.csv", "--target", "y", "--exclude", 'q,5" disk,"a,b"', "--save", "s-2.csv",
    ]  # fmt: skip
    assert names_of(shlex.split(again)[6]) == ["q", '5" disk', "a,b"]
    named = without_columns("fewer select t.csv -t y --include a --start=b,a --costs 'a=2,b=3' --costs p.csv", ["a"])
    assert named == "fewer select t.csv -t y --start b --costs b=3 --costs p.csv --exclude a"
    assert without_columns("fewer demo", ["a"]) == without_columns("fewer select 'x", ["a"]) == ""
    assert without_columns("fewer select t.csv -t y", ["a\x1b[31m"]) == ""
