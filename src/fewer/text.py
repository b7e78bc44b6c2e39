"""How values become text: names that are safe to show, scores, lists and notes; tables as HTML, Markdown and LaTeX."""

from __future__ import annotations

import csv
import difflib
import html
import math
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Self

# Control characters, characters that turn the direction of writing, and halves of characters.
HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


class NoteKind(StrEnum):
    """What a note is about, for whoever must act on it: nothing may depend on the words.

    Examples
    --------
    >>> Note("1 subset failed.", NoteKind.UNDEFINED).kind.value
    'undefined'
    """

    GENERAL = "general"
    STOPPED = "stopped"
    UNDEFINED = "undefined"
    PREFILTER = "prefilter"
    OVERFITTING = "overfitting"


class Note(str):
    """A sentence that a reader of a result should know, and its kind.

    Parameters
    ----------
    text : str
        The sentence.
    kind : NoteKind, default=NoteKind.GENERAL
        What it is about; a note that has one already keeps it.

    Examples
    --------
    >>> note = Note("The budget is spent.", NoteKind.STOPPED)
    >>> note, note.kind.value, Note(note).kind.value
    ('The budget is spent.', 'stopped', 'stopped')
    """

    kind: NoteKind

    def __new__(cls, text: str, kind: NoteKind = NoteKind.GENERAL) -> Self:
        note = super().__new__(cls, text)
        note.kind = text.kind if isinstance(text, Note) else NoteKind(kind)
        return note


def printable(text: object, keep: str = "") -> str:
    r"""Write control characters out, so that names cannot move the cursor, change colors or hide what follows.

    Parameters
    ----------
    text : object
        Whatever is to be shown; its `str` is taken.
    keep : str
        Characters that stay, such as ends of lines of our own.

    Returns
    -------
    str
        The text, safe to show in a terminal.

    Examples
    --------
    >>> printable("age\x1b[31m"), printable("two\nlines", keep="\n") == "two\nlines"
    ('age\\x1b[31m', True)
    """

    def escaped(match: re.Match[str]) -> str:
        code = ord(match[0])
        return match[0] if match[0] in keep else f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"

    return HIDDEN.sub(escaped, str(text))


def cut(text: object, length: int = 200) -> str:
    """Return what people wrote in a form that fits a page: not too long, and without control characters.

    Parameters
    ----------
    text : object
        Anything; its text is taken.
    length : int, default=200
        Characters that are kept.

    Returns
    -------
    str

    Examples
    --------
    >>> cut("feature" * 10, 12)
    'featurefeat…'
    """
    plain = re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", str(text)[: length + 1])
    return plain if len(plain) <= length else plain[: length - 1] + "…"


def printable_json(text: str) -> str:
    r"""Write control characters in JSON text out as JSON does; it says the same.

    Parameters
    ----------
    text : str
        JSON text.

    Returns
    -------
    str
        JSON text.

    Examples
    --------
    >>> import json
    >>> text = printable_json(json.dumps("a\x9bb", ensure_ascii=False))
    >>> text, json.loads(text) == "a\x9bb"
    ('"a\\u009bb"', True)
    """
    return HIDDEN.sub(lambda match: match[0] if match[0] in "\n\r\t" else f"\\u{ord(match[0]):04x}", text)


def score_text(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """Write a score with no more digits than its interval allows; two decimals where there is none.

    Parameters
    ----------
    value : float or None
        The score, or one end of its interval.
    low, high : float, optional
        Its interval.

    Returns
    -------
    str
        A dash where there is no score.

    Examples
    --------
    >>> score_text(0.9402, 0.913, 0.9675), score_text(0.94023, 0.939, 0.942), score_text(None)
    ('0.94', '0.940', '–')
    >>> score_text(-1234.5, -1300.0, -1150.0), score_text(-0.0001)
    ('−1234', '0.00')
    >>> score_text(-0.69, -4.4, -1.3)
    '−0.7'
    """
    if value is None or not math.isfinite(value):
        return "–"
    half = 0.0 if low is None or high is None else (high - low) / 2
    wanted = math.ceil(-math.log10(half)) if 0 < half < math.inf else 2 if abs(value) < 10 else 1
    least = 0 if abs(value) >= 10 else 2 if half < 1 else 1
    return signed(value, min(max(wanted, least), 4)).removeprefix("+")


def metric_text(name: str) -> str:
    """Write the name of a score as people say it.

    Parameters
    ----------
    name : str
        scikit-learn's.

    Returns
    -------
    str

    Examples
    --------
    >>> metric_text("balanced_accuracy"), metric_text("roc_auc"), metric_text("neg_root_mean_squared_error")
    ('balanced accuracy', 'ROC AUC', 'negative RMSE')
    """
    words = re.sub("^neg_", "negative ", name).replace("root_mean_squared_error", "RMSE")
    words = words.replace("_", " ").replace("roc auc", "ROC AUC").replace("brier", "Brier")
    return re.sub("^f1", "F1", words)


def judge_as_text(code: str) -> str:
    """Name who judges, given as code, by what a reader knows.

    Parameters
    ----------
    code : str
        A model's name as it is written down.

    Returns
    -------
    str

    Examples
    --------
    >>> judge_as_text("CrossValidated(estimator=Pipeline(steps=[('s', StandardScaler()), ('r', Ridge())]))")
    'Ridge'
    >>> judge_as_text("KNN(n_neighbors='auto')"), judge_as_text("its judge")
    ('nearest neighbors', 'its judge')
    """
    names = re.findall(r"([A-Z]\w+)\(", code)
    if names[:1] == ["KNN"]:
        return "nearest neighbors"
    if names[:1] == ["CrossValidated"] and len(names) > 1:
        return names[-1] if names[1] == "Pipeline" else names[1]
    return names[0] if names else code


def signed(value: float, decimals: int) -> str:
    """Write a difference with its sign; what rounds to zero has none.

    Parameters
    ----------
    value : float
        The difference.
    decimals : int
        Digits after the point.

    Returns
    -------
    str
        With a plus or a real minus sign.

    Examples
    --------
    >>> signed(1.84, 1), signed(-1.84, 1), signed(-0.04, 1)
    ('+1.8', '−1.8', '0.0')
    """
    text = f"{value:+.{decimals}f}".replace("-", "\N{MINUS SIGN}")
    return text if text.strip("+\N{MINUS SIGN}0.") else text[1:]


def in_folds(share: float, n_folds: int | None) -> str:
    r"""Say in how many folds a feature was selected.

    Parameters
    ----------
    share : float
        The share of the folds.
    n_folds : int or None
        How many there are, where that is known.

    Returns
    -------
    str
        Such as 4 of 5 folds.

    Examples
    --------
    >>> in_folds(0.8, 5), in_folds(0.8, None)
    ('4 of 5 folds', '80\xa0%')
    """
    return f"{round(share * n_folds)} of {n_folds} folds" if n_folds else f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


# Options whose place is taken once a command has run.
OWN_PLACES = ("--out", "--save")
# Options that name features, which must then be there.
NAMING = ("--include", "--start", "--costs")


def without_columns(command: str, columns: Sequence[str]) -> str:
    """Write the command that runs again without some columns, to be typed as it is.

    Parameters
    ----------
    command : str
        As it was typed.
    columns : sequence of str
        What to leave out.

    Returns
    -------
    str
        Empty where no such command can be typed; what the first run saved stays as it is.

    Examples
    --------
    >>> without_columns("fewer select t.csv -t y --exclude a --out run", ["id", "b c"])
    "fewer select t.csv -t y --exclude 'a,id,b c' --out run-2"
    """
    try:
        parts = shlex.split(command)
    except ValueError:
        return ""
    if parts[:1] != ["fewer"] or parts[1:2] not in (["select"], ["compare"]):
        return ""
    kept, excluded, place = [], "", 0
    rest = iter(parts)
    for part in rest:
        name, equals, value = part.partition("=")
        if name not in ("--exclude", *OWN_PLACES, *NAMING):
            kept += [] if part == "--resume" else [part]
            continue
        value = value if equals else next(rest, "")
        if name == "--exclude":
            excluded, place = f"{value},", len(kept)
        elif name in NAMING:
            named = next(csv.reader([value], skipinitialspace=True), [])
            left = [one for one in named if one.partition("=")[0].strip() not in columns]
            kept += [name, value if left == named else name_list(left)] if left else []
        else:
            kept += [name, _second(value)]
    place = place or len(kept)
    names = excluded + name_list(columns)
    again = shlex.join([*kept[:place], "--exclude", names, *kept[place:]])
    return again if printable(again) == again else ""


def name_list(names: Sequence[str]) -> str:
    """Write names as one word of the command line.

    Parameters
    ----------
    names : sequence of str
        Of columns, or cells.

    Returns
    -------
    str
        What `fewer.run.request.names_of` reads.

    Examples
    --------
    >>> name_list(["zip", "last, first"])
    'zip,"last, first"'
    """
    quoted = {name: name.replace('"', '""') for name in names}
    return ",".join(f'"{quoted[name]}"' if "," in name or name.startswith('"') else name for name in names)


def _second(path: str) -> str:
    """Name a place beside another: run-2, table-2.csv."""
    stem, suffix = os.path.splitext(path.rstrip("/"))
    return f"{stem}-2{suffix}"


def counted(number: int, noun: str) -> str:
    """Write a number of things.

    Parameters
    ----------
    number : int
        How many.
    noun : str
        One of them.

    Returns
    -------
    str

    Examples
    --------
    >>> counted(1, "part"), counted(1200, "part")
    ('1 part', '1,200 parts')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def duration(seconds: float) -> str:
    """Write a time, rounded up, in the unit that people would use.

    Parameters
    ----------
    seconds : float
        How long it takes.

    Returns
    -------
    str

    Examples
    --------
    >>> duration(35.2), duration(304), duration(13_681)
    ('36 s', '6 minutes', '4 hours')
    """
    unit, size = ("hours", 3600) if seconds > 7200 else ("minutes", 60) if seconds > 120 else ("s", 1)
    return f"{math.ceil(seconds / size):,} {unit}"


def listed(items: Sequence[str], most: int) -> str:
    """Join the first of some items by commas, and say how many more there are.

    Parameters
    ----------
    items : sequence of str
        What is listed.
    most : int
        How many are shown.

    Returns
    -------
    str

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    return ", ".join(items[:most]) + (f" and {len(items) - most:,} more" if len(items) > most else "")


def nearest(asked: str, names: Iterable[str], what: str = "columns") -> str:
    """Say which name was perhaps meant by one that does not exist, or which there are.

    Parameters
    ----------
    asked : str
        What was typed.
    names : iterable of str
        What there is.
    what : str
        What the names are names of.

    Returns
    -------
    str
        The end of a sentence.

    Examples
    --------
    >>> nearest("Hight", ["height", "weight"]), nearest("z", ["a", "b"])
    ("did you mean 'height'?", "the columns are 'a', 'b'.")
    """
    known = list(names)
    by_letters = {name.lower(): name for name in reversed(known)}
    near = difflib.get_close_matches(asked.lower(), by_letters, n=1, cutoff=0.5)
    if near:
        return f"did you mean {by_letters[near[0]]!r}?"
    shown = [repr(name) for name in known]
    if len(known) > 12:  # the last one is often the target
        shown[10:-1] = ["…"]
    return f"the {what} are {', '.join(shown)}." if shown else f"there are no {what}."


__all__ = [
    "counted", "cut", "in_folds", "listed", "metric_text", "name_list", "nearest", "printable", "printable_json",
    "score_text", "signed", "without_columns",
]  # fmt: skip


_LINE = "1px solid rgba(128,128,128,.35)"
_CELL = f"padding:.15em .7em;border-bottom:{_LINE}"
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "−": "$-$", "×": r"$\times$", "²": "$^2$", "–": "--", "…": r"\dots{}", "→": r"$\rightarrow$",
}  # fmt: skip


def html_table(titles: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Return a small table in the colors of whatever page it stands in; the first column is text, others are numbers.

    Examples
    --------
    >>> "<td" in html_table(["feature", "score"], [["a<b", "0.9"]]), "a&lt;b" in html_table(["f"], [["a<b"]])
    (True, True)
    """
    head = "".join(_cell("th", title, place) for place, title in enumerate(titles))
    body = "".join(f"<tr>{''.join(_cell('td', cell, place) for place, cell in enumerate(row))}</tr>" for row in rows)
    heading = f'<caption style="text-align:left">{html.escape(caption)}</caption>' if caption else ""
    style = "border-collapse:collapse;margin:.4em 0;color:inherit;background:transparent"
    return f'<table style="{style}">{heading}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(tag: str, text: str, place: int) -> str:
    side = "left" if place == 0 else "right"
    return f'<{tag} style="{_CELL};text-align:{side}">{html.escape(text)}</{tag}>'


def html_card(
    title: str, verdict: str | Sequence[str], table: str, lines: Sequence[str], alarm: Sequence[str] = ()
) -> str:
    """Return a warning, a heading, sentences that matter, a table, and lines to unfold.

    The bar beside the sentences is green only where there is no warning.
    """
    verdict = [verdict] if isinstance(verdict, str) else verdict
    more = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    folded = f"<details><summary>Details</summary><ul>{more}</ul></details>" if lines else ""
    warned = "".join(f'<p style="margin:.2em 0">{html.escape(line)}</p>' for line in alarm)
    style = "border:2px solid #b3261e;border-left-width:8px;padding:.4em .7em;margin:.4em 0"
    banner = f'<div role="alert" style="{style}">{warned}</div>' if any(alarm) else ""
    color = "#b36b00" if alarm else "#1b7f6b"
    spoken = "<br>".join(html.escape(line) for line in verdict if line)
    paragraph = f'<p style="border-left:3px solid {color};padding-left:.7em;margin:.4em 0">{spoken}</p>'
    return (
        f'<div style="font-family:system-ui,sans-serif;max-width:46em;color:inherit">{banner}'
        f'<p style="font-weight:600;margin:.2em 0">{html.escape(title)}</p>'
        f"{paragraph if spoken else ''}{table}{folded}</div>"
    )


def markdown_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return a table in Markdown, numbers to the right.

    Examples
    --------
    >>> print(markdown_table(["feature", "score"], [["a|b", "0.9"]]))
    | feature | score |
    |---|---:|
    | a\|b | 0.9 |
    """
    lines = [titles, *rows]
    shown = ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in lines]
    return "\n".join([shown[0], "|---" + "|---:" * (len(titles) - 1) + "|", *shown[1:]])


def latex_table(titles: Sequence[str], rows: Sequence[Sequence[str]], caption: str, label: str) -> str:
    r"""Return a table in LaTeX, for the package booktabs.

    Examples
    --------
    >>> print(latex_table(["feature", "score"], [["a_b", "0.9"]], "100 % noise", "tab:x"))
    \begin{table}
      \caption{100 \% noise}
      \label{tab:x}
      \begin{tabular}{lr}
        \toprule
        feature & score \\
        \midrule
        a\_b & 0.9 \\
        \bottomrule
      \end{tabular}
    \end{table}
    """
    shown = ["    " + " & ".join(map(latex_text, row)) + r" \\" for row in (titles, *rows)]
    return "\n".join(
        [
            r"\begin{table}",
            rf"  \caption{{{latex_text(caption)}}}",
            rf"  \label{{{label}}}",
            rf"  \begin{{tabular}}{{l{'r' * (len(titles) - 1)}}}",
            r"    \toprule",
            shown[0],
            r"    \midrule",
            *shown[1:],
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
        ]
    )


def latex_text(text: str) -> str:
    r"""Escape what LaTeX would take for commands.

    Examples
    --------
    >>> latex_text("5 % of R²")
    '5 \\% of R$^2$'
    """
    return "".join(_LATEX.get(letter, letter) for letter in text)
