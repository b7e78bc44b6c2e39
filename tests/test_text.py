import json
import unicodedata

from fewer.text import printable, printable_json


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
