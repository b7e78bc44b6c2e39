"""How a document's tables are re-run and set beside the printed ones.

A document is one module with a `DOCUMENT`: functions that give the cells of each table, the figures and the claims.
They all work from a `Rerun`, which knows the effort allowed, keeps intermediate results so that a stopped run goes on
where it was, and hands out random numbers that do not depend on the order of the tables.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, cached_property, partial
from importlib.resources import files
from itertools import combinations, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack

import numpy as np
from joblib.externals.loky import get_reusable_executor
from scipy.stats import f

from fewer import __version__
from fewer.contracts import Resources
from fewer.files import sealed, to_json, unsealed, write_atomically
from fewer.parallel import run_tasks
from fewer.problem import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fewer.datasets import Dataset

Verdict = Literal["matches", "better", "differs", "unexplained", "no verdict", "not reproducible"]
VERDICTS: tuple[Verdict, ...] = ("matches", "better", "differs", "unexplained", "no verdict", "not reproducible")
Kind = Literal["value", "spread", "size"]
KINDS: tuple[Kind, ...] = ("value", "spread", "size")
Role = Literal["printed", "reading", "derived", "ours alone"]
ROLES: tuple[Role, ...] = ("printed", "reading", "derived", "ours alone")
UNEXPLAINED = "No reading of the text that was tried explains it."
Value = float | int | str | list[int] | None

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Cell:
    """One printed number (or list of features, or word) beside ours.

    Parameters
    ----------
    table, row, column : str
        Where it is printed. A second reading of one printed cell gets its own column name.
    printed : number, str, list of int or None
        What the document says; None where it says nothing and ours stands alone.
    printed_sd : float or None
        The spread that the document prints with it.
    ours : number, str, list of int or None
        What comes out here.
    verdict : {"matches", "better", "differs", "unexplained", "no verdict", "not reproducible"}
        What to think of the two. There is none where the document prints nothing, and where more than half of the other
        methods' results would match as well.
    reason : str
        Why it is not a match; free for remarks where it is, and for what was tried where it is unexplained.
    role : {"printed", "reading", "derived", "ours alone"}
        A printed number under the reading of record; the same number under another reading; something made of printed
        numbers; or something that the document does not print. Only the first is counted in the headline.
    tested : str
        The run that supports the reason. A difference without one is unexplained.
    number : str
        Which printed number it is; a number that is printed in several tables is one.
    kind : {"value", "spread", "size"}
        A result; the ± that is printed with it; or how many rows, columns or classes there are, which no method finds.
    low, high : float or None
        Between which the re-run varies: a number matches if the printed one lies there.
    others : float or None
        Share of the other methods' results on the same data that would match this printed number.

    Examples
    --------
    >>> Cell("3", "Pima", "ID3", 70.1, None, 70.3, "matches").ours
    70.3
    """

    table: str
    row: str
    column: str
    printed: Value
    printed_sd: float | None
    ours: Value
    verdict: Verdict
    reason: str = ""
    role: Role = "printed"
    tested: str = ""
    number: str = ""
    kind: Kind = "value"
    low: float | None = None
    high: float | None = None
    others: float | None = None

    def __post_init__(self) -> None:
        place = f"Table {self.table}, {self.row}, {self.column}"
        if self.verdict not in VERDICTS:
            raise ValueError(f"{place}: {self.verdict!r} is no verdict.")
        if self.role not in ROLES:
            raise ValueError(f"{place}: {self.role!r} is no role.")
        if self.verdict != "matches" and not self.reason:
            raise ValueError(f"{place} {self.verdict} without a reason.")
        if self.verdict == "differs" and not self.tested:
            raise ValueError(f"{place} differs for a reason that no run has tested.")
        if not self.number:
            object.__setattr__(self, "number", f"{self.table}, {self.row}, {self.column}")

    def accepts(self, value: Value) -> bool:
        """Say whether a result would match the printed one, in the place of ours.

        Parameters
        ----------
        value : number, str or list of int
            Another result.

        Returns
        -------
        bool
        """
        if not (_is_number(self.printed) and _is_number(value) and _is_number(self.ours)) or self.low is None:
            return value == self.printed
        printed, ours, other = float(self.printed), float(self.ours), float(value)  # type: ignore[arg-type]
        if self.kind == "spread" and ours:  # a ratio decides
            return bool(self.low * other <= printed * ours <= (self.high or 0.0) * other)
        # Where the interval is not around ours, all results on these data are as far from where they count.
        shift, reach = ours - (self.low + (self.high or 0.0)) / 2.0, ((self.high or 0.0) - self.low) / 2.0
        # A relative hair, so that 0.30 against 0.10 ± 0.10 is two deviations in binary too.
        return abs(other - shift - printed) <= reach * (1 + 1e-9) + 1e-9

    @property
    def difference(self) -> float | None:
        """Ours less printed, where both are numbers."""
        if _is_number(self.ours) and _is_number(self.printed):
            return float(self.ours) - float(self.printed)  # type: ignore[arg-type]
        return None

    @property
    def difference_in_sd(self) -> float | None:
        """The difference in printed standard deviations, where one above zero is printed."""
        return self.difference / self.printed_sd if self.difference is not None and self.printed_sd else None


@dataclass(frozen=True)
class Absent:
    """A result that cannot be had here, and why.

    Parameters
    ----------
    reason : str
        Why there is no result.

    Examples
    --------
    >>> judge("1", "row", "column", 3, Absent("The data are lost.")).verdict
    'not reproducible'
    """

    reason: str


QUICK = Absent("left out with --quick; run without it")


def then(result: T | Absent, function: Callable[[T], U]) -> U | Absent:
    """Go on with a result, or hand on why there is none.

    Parameters
    ----------
    result : object or Absent
        What was computed.
    function : callable
        Takes it.

    Returns
    -------
    object or Absent

    Examples
    --------
    >>> then([3, 1], sorted), then(QUICK, sorted) is QUICK
    ([1, 3], True)
    """
    return result if isinstance(result, Absent) else function(result)


class Told(TypedDict, total=False):
    """What is told beside a printed number.

    Parameters
    ----------
    reason : str
        Why the numbers differ, if they do.
    tested : str
        The run that supports the reason; without one a difference is unexplained.
    remark : str
        What a reader should know even if they match.
    role : {"printed", "reading", "derived", "ours alone"}
        What the number is to the document.
    number : str
        Which printed number it is, where one is printed in several tables.
    shift : float
        How far ours is above the middle of where the printed number would match; 0 if left out.
    kind : {"value", "spread", "size"}
        A value if left out; see `Cell`.
    """

    reason: str
    tested: str
    remark: str
    role: Role
    number: str
    shift: float
    kind: Kind


def judge(
    table: str,
    row: str,
    column: str,
    printed: Value,
    ours: Any,
    *,
    sd: float | None = None,
    tolerance: float | None = None,
    better: Literal["higher", "lower"] | None = None,
    **told: Unpack[Told],
) -> Cell:
    """Set one result beside the printed one and say how they compare.

    Parameters
    ----------
    table, row, column : str
        Where it is printed.
    printed : number, str, list of int or None
        None where nothing is printed.
    ours : number, str, list of int or Absent
        An `Absent` makes the cell not reproducible, with its reason.
    sd : float, optional
        The printed standard deviation.
    tolerance : float, optional
        How far apart two numbers may be and still match; two printed standard deviations if not given, and exactly
        equal if none is printed either.
    better : {"higher", "lower"}, optional
        Which side of the printed number is an improvement; without it a difference is only that.
    **told : Told
        `reason`, `tested`, `remark`, `role`, `number`, `shift` and `kind`: what is told beside it.

    Returns
    -------
    Cell

    Examples
    --------
    >>> judge("3", "Pima", "Naive Bayes", 75.9, 76.4, sd=1.88).verdict
    'matches'
    >>> judge("3", "Pima", "Naive Bayes", 75.9, 81.2, sd=1.88, better="higher", reason="Another estimator.").verdict
    'better'
    >>> judge("2", "Pima", "features", [2, 8, 1], [2, 8], reason="Stops earlier.", tested="table 2").verdict
    'differs'
    >>> judge("2", "Pima", "features", [2, 8, 1], [2, 8]).verdict
    'unexplained'
    """
    reason, tested, number = told.get("reason", ""), told.get("tested", ""), told.get("number", "")
    role, kind = told.get("role", "printed"), told.get("kind", "value")
    if isinstance(ours, Absent):
        return Cell(table, row, column, printed, sd, None, "not reproducible", ours.reason, role, "", number, kind)
    ours = _plain(ours)
    near = 2 * sd if tolerance is None and sd is not None else tolerance or 0.0
    low = high = None
    middle: Value = ours
    if _is_number(ours) and _is_number(printed):
        middle = float(ours) - told.get("shift", 0.0)
        low, high = middle - near, middle + near
    if printed is None:
        about = told.get("remark", "") or "The document prints nothing here."
        return Cell(table, row, column, printed, sd, ours, "no verdict", about, role, "", number)
    verdict = _verdict(printed, middle, near, better)
    if verdict == "better" and not reason:
        reason = "On the good side of the printed number."
    if verdict == "differs" and not tested:
        verdict, reason = "unexplained", reason or UNEXPLAINED
    shown = told.get("remark", "") if verdict == "matches" else reason
    return Cell(
        table, row, column, printed, sd, ours, verdict, shown, role, tested if verdict == "differs" else "", number,
        kind, low, high,
    )  # fmt: skip


def backed(cell: Cell, reading: Cell) -> Cell:
    """Return a cell whose reason rests on another reading; where this run's reading does not match, it is unexplained.

    Parameters
    ----------
    cell : Cell
        Under the reading of record.
    reading : Cell
        The same number under the reading that is to explain it.

    Returns
    -------
    Cell

    Examples
    --------
    >>> other = judge("2", "MONK-1", "features (one radius)", [5, 1], [5, 1], role="reading")
    >>> backed(judge("2", "MONK-1", "features", [5, 1], [5], reason="It needs one radius."), other).tested
    'table 2, MONK-1, features (one radius)'
    >>> other = judge("2", "MONK-1", "features (one radius)", [5, 1], [5, 3], role="reading")
    >>> backed(judge("2", "MONK-1", "features", [5, 1], [5], reason="It needs one radius."), other).verdict
    'unexplained'
    """
    if cell.verdict not in ("differs", "unexplained"):
        return cell
    if reading.verdict != "matches":
        return replace(cell, verdict="unexplained", reason=UNEXPLAINED, tested="")
    return replace(cell, verdict="differs", tested=f"table {reading.table}, {reading.row}, {reading.column}")


def judge_spread(
    table: str, row: str, column: str, printed: float | None, ours: Any, sizes: tuple[int, int], *, number: str = ""
) -> list[Cell]:
    """Set our spread beside a printed one: they match where an F test at 5 % cannot tell them apart.

    Parameters
    ----------
    table, row, column : str
        Of the number that the spread belongs to.
    printed : float or None
        No cell where none is printed.
    ours : float or Absent
        An `Absent` makes the cell not reproducible.
    sizes : (int, int)
        How many numbers are behind the printed and behind our spread.
    number : str
        Which printed number the spread belongs to.

    Returns
    -------
    list of Cell
        One, or none.

    Examples
    --------
    >>> judge_spread("3", "Pima", "ID3", 1.9, 1.2, (10, 10))[0].verdict
    'matches'
    >>> judge_spread("3", "Pima", "ID3", 1.9, 0.3, (10, 10))[0].verdict
    'unexplained'
    """
    if printed is None:
        return []
    place = (table, row, f"{column}, ±")
    about: Told = {"number": f"{number}, ±" if number else "", "kind": "spread"}
    if isinstance(ours, Absent):
        return [judge(*place, printed, ours, **about)]
    high = float(np.sqrt(f.ppf(0.975, sizes[0] - 1, sizes[1] - 1)))
    low = float(np.sqrt(f.ppf(0.025, sizes[0] - 1, sizes[1] - 1)))
    inside = low * ours <= printed <= high * ours
    cell = judge(*place, printed, ours, tolerance=abs(ours - printed) if inside else 0.0, **about)
    return [replace(cell, low=low * ours, high=high * ours)]


def _verdict(printed: Value, ours: Value, tolerance: float, better: str | None) -> Verdict:
    if not (_is_number(printed) and _is_number(ours)):
        return "matches" if printed == ours else "differs"
    difference = float(ours) - float(printed)  # type: ignore[arg-type]
    # A relative hair, so that 0.30 against 0.10 ± 0.10 is two deviations in binary too.
    if abs(difference) <= tolerance * (1 + 1e-9) + 1e-12:
        return "matches"
    return "better" if better == ("higher" if difference > 0 else "lower") else "differs"


@dataclass
class Rerun:
    """What a document's functions work from.

    Parameters
    ----------
    quick : bool
        Fewer repeats and no long searches: the whole document in about a minute.
    seed : int, default=0
        With it the numbers repeat.
    out : Path, optional
        Where results are kept; a second run there goes on where the first stopped.
    n_jobs : int, default=1
        Threads or processes.
    report : callable
        Takes one line that says what is being done.

    Examples
    --------
    >>> Rerun(quick=True).seed
    0
    """

    quick: bool = False
    seed: int = 0
    out: Path | None = None
    n_jobs: int = 1
    report: Callable[[str], None] = field(default=lambda message: None)
    _known: dict[str, Any] = field(default_factory=dict, repr=False)
    _spent: tuple[float, float] | None = field(default=None, repr=False)  # by `prepare`: seconds, those of processors
    _parts: dict[str, Rerun] = field(default_factory=dict, repr=False)
    _sets: dict[str, Dataset | InputError] = field(default_factory=dict, repr=False)

    def once(self, key: str, function: Callable[[], T]) -> T:
        """Compute a result that JSON can hold, or give it as it was computed before.

        Results are kept by key, seed, effort and version, in `out` if there is one. A list comes back as a list, an
        array or a tuple as a list too, the first time as well as later.

        Parameters
        ----------
        key : str
            Names the piece of work.
        function : callable
            Does it.

        Returns
        -------
        T

        Examples
        --------
        >>> run = Rerun()
        >>> run.once("squares", lambda: tuple(i * i for i in range(3)))
        [0, 1, 4]
        >>> run.once("squares", lambda: 1 / 0)
        [0, 1, 4]
        """
        if key in self._known:
            return self._known[key]
        path = self._path(key)
        if path is not None and path.exists():
            result = _kept(path, key)
        else:
            result = _plain(function())
            if path is not None:
                write_atomically(path, to_json(sealed({"key": key, "result": result}), indent=None))
        self._known[key] = result
        return result

    def alone(self) -> Rerun:
        """Return this run for one process among several, with what is known.

        Returns
        -------
        Rerun
        """
        return Rerun(self.quick, self.seed, self.out, _known=self._known)

    def load(self, name: str) -> Dataset:
        """Load a data set, or raise the reason why it cannot be had; either is looked for only once.

        Parameters
        ----------
        name : str
            Of the data set.

        Returns
        -------
        Dataset
        """
        from fewer.datasets import load

        if name not in self._sets:
            try:
                self._sets[name] = load(name)
            except InputError as error:
                self._sets[name] = error
        found = self._sets[name]
        if isinstance(found, InputError):
            raise found
        return found

    def attempt(self, function: Callable[[], T]) -> T | Absent:
        """Compute a result, or say why it cannot be had (data that is not at hand).

        Parameters
        ----------
        function : callable
            Computes the result.

        Returns
        -------
        T | Absent
        """
        try:
            return function()
        except InputError as error:
            return Absent(str(error))

    def rng(self, key: str) -> np.random.Generator:
        """Return the random numbers of one piece of work, the same whatever ran before it.

        Parameters
        ----------
        key : str
            Names the piece of work.

        Returns
        -------
        np.random.Generator
        """
        digest = hashlib.sha256(key.encode()).digest()
        return np.random.default_rng([self.seed, int.from_bytes(digest[:8], "little")])

    def within(self, name: str) -> Rerun:
        """Return this run with a folder and results of its own, the same each time.

        Parameters
        ----------
        name : str
            Of the part.

        Returns
        -------
        Rerun
        """
        if name not in self._parts:
            out = None if self.out is None else self.out / name
            self._parts[name] = Rerun(self.quick, self.seed, out, self.n_jobs, self.report)
        return self._parts[name]

    def _path(self, key: str) -> Path | None:
        if self.out is None:
            return None
        effort = "quick" if self.quick else "full"
        readable = re.sub(r"[^A-Za-z0-9.+-]+", "_", key)[:80]
        digest = hashlib.sha256(key.encode()).hexdigest()[:8]
        return self.out / "results" / f"{__version__}-{effort}-seed{self.seed}" / f"{readable}-{digest}.json"


Piece = Callable[[Rerun], Any]
Standing = Literal["holds", "holds in part", "not shown", "does not hold"]
STANDINGS: dict[Standing, str] = {
    "holds": "confirmed",
    "holds in part": "confirmed in part",
    "not shown": "neither confirmed nor refuted",
    "does not hold": "not confirmed",
}


@dataclass(frozen=True)
class Claim:
    """Something that a document says, and how it stands here.

    Parameters
    ----------
    text : str
        The claim in a sentence.
    standing : {"holds", "holds in part", "not shown", "does not hold"} or None
        Of a conclusion; None for what is only told.
    about : str
        The conclusion in a few words, for the overview.

    Examples
    --------
    >>> Claim("More rows help: holds.", "holds").standing
    'holds'
    """

    text: str
    standing: Standing | None = None
    about: str = ""

    @classmethod
    def of(cls, parts: Iterable[bool], text: str, about: str = "") -> Claim:
        """Make a claim that holds if all parts of it do; the text takes the standing where it has {}.

        Parameters
        ----------
        parts : iterable of bool
            What holds and what does not.
        text : str
            The claim in a sentence.
        about : str
            What the parts are.

        Returns
        -------
        Claim
        """
        found = list(parts)
        standing: Standing = "holds" if all(found) else "holds in part" if any(found) else "does not hold"
        return cls(text.replace("{}", standing), standing, about)


@dataclass(frozen=True)
class Document:
    """One document: how its tables, figures and claims are computed again.

    Parameters
    ----------
    name : str
        As `fewer reproduce` knows it.
    title : str
        Authors, title, year.
    tables : dict of str to callable
        By the printed number; each takes a `Rerun` and gives cells.
    figures : dict of str to callable
        By the printed number; each takes a `Rerun` and gives a matplotlib figure, drawn in the house style.
    claims : callable
        Takes a `Rerun` and gives claims: what the document says, and whether it holds here.
    data : tuple of str
        Data sets that do not come with the package.
    family : callable
        Takes a cell and gives the quantity that it is, the data it was measured on, and the method: results of other
        methods with the same quantity and data are its rivals. None for a cell that has none.
    tried : callable
        Takes an unexplained cell and gives the experiments that were tried on numbers like it.
    work : callable
        Takes a `Rerun` and yields lists of pieces of work: what takes long, the longest first. Pieces of one list do
        not need each other's results, those of a later list may.

    Examples
    --------
    >>> document = Document("mine", "A. Author, A title, 2020", {"1": lambda run: []})
    >>> list(document.tables)
    ['1']
    """

    name: str
    title: str
    tables: Mapping[str, Callable[[Rerun], list[Cell]]]
    figures: Mapping[str, Callable[[Rerun], Figure]] = field(default_factory=dict)
    claims: Callable[[Rerun], list[Claim]] = field(default=lambda run: [])
    data: tuple[str, ...] = ()
    family: Callable[[Cell], tuple[str, str, str] | None] = field(default=lambda cell: None)
    tried: Callable[[Cell], str] = field(default=lambda cell: "")
    work: Callable[[Rerun], Iterable[Sequence[Piece]]] = field(default=lambda run: ())

    def fetch(self, report: Callable[[str], None]) -> dict[str, str]:
        """Get the data sets that do not come with the package: from the folder FEWER_DATA, or else from OpenML.

        Parameters
        ----------
        report : callable
            Takes one line for each set.

        Returns
        -------
        dict of str to str
            For each set "at hand", or why it cannot be had.
        """
        from fewer.datasets import load

        found: dict[str, str] = {}
        for name in self.data:
            try:
                load(name)
                found[name] = "at hand"
            except InputError as error:
                found[name] = str(error)
            report(f"{self.name}: {name}: {found[name]}")
        return found


@dataclass(frozen=True)
class Reproduction:
    """What came out of re-running a document.

    Parameters
    ----------
    document : Document
        What was re-run.
    cells : list of Cell
        Printed numbers beside ours.
    claims : list of Claim
        What the document says, and whether it holds here.
    figures : list of str
        Files that were drawn.
    seconds, processor : float
        How long it took, by the clock and in processor seconds of all its processes.
    run : Rerun
        Seed, folder and threads.

    Examples
    --------
    >>> document = Document("mine", "A. Author, A title, 2020", {"1": lambda run: [judge("1", "a", "b", 3, 3)]})
    >>> [cell.verdict for cell in reproduce(document, Rerun()).cells]
    ['matches']
    """

    document: Document
    cells: list[Cell]
    claims: list[Claim]
    figures: list[str]
    seconds: float
    processor: float
    run: Rerun

    @property
    def counts(self) -> dict[str, int]:
        """How many distinct printed numbers got each verdict, under the reading of record."""
        return self._counted("printed")

    @property
    def other_counts(self) -> dict[str, dict[str, int]]:
        """The same for other readings, for what is made of printed numbers, and for what is not printed."""
        return {role: self._counted(role) for role in ROLES[1:] if any(cell.role == role for cell in self.cells)}

    def counts_of(self, kind: Kind) -> dict[str, int]:
        """Count the verdicts on printed values, on printed spreads, or on printed sizes.

        Parameters
        ----------
        kind : {"value", "spread", "size"}
            See `Cell`.

        Returns
        -------
        dict of str to int
        """
        return self._counted("printed", kind)

    @cached_property
    def chance(self) -> dict[Kind, Chance]:
        """What share of each kind of numbers lies inside, beside what answers that know nothing would have."""
        return {kind: chance_of(self.cells, self.document.family, kind) for kind in KINDS}

    @cached_property
    def order(self) -> tuple[int, int, float]:
        """Pairs of methods on the same data in the printed order here, all such pairs, and the share by other data."""
        return order_of(self.cells, self.document.family)

    @property
    def conclusion(self) -> str:
        """Which conclusions stand, in a sentence; then how many values do, beside chance."""
        stand = "; ".join(
            f"{word}: {', '.join(claim.about or claim.text for claim in self.claims if claim.standing == standing)}"
            for standing, word in STANDINGS.items()
            if any(claim.standing == standing for claim in self.claims)
        )
        counts, chance = self.counts_of("value"), self.chance["value"]
        words = {"matches": "matching", "differs": "different for a tested reason"}
        parts = [f"{counts[verdict]} {words.get(verdict, verdict)}" for verdict in VERDICTS[:4] if counts[verdict]]
        agree, pairs, other = self.order
        by_chance = (
            f"{other:.0%} would by our answers on other data" if math.isfinite(other) else "half would by chance"
        )
        return (
            (f"{stand[0].upper()}{stand[1:]}. " if stand else "")
            + f"{sum(counts[verdict] for verdict in VERDICTS[:4])} printed values have a verdict: {', '.join(parts)}. "
            f"{chance.inside:.0%} of all values lie in our intervals; {chance.permuted:.0%} would with our answers "
            f"exchanged, {chance.constant:.0%} with one answer for all."
            + (
                f" Of {pairs:,} pairs of methods {agree / pairs:.0%} stand in the printed order; {by_chance}."
                if pairs
                else ""
            )
        )

    def _counted(self, role: Role, kind: Kind | None = None) -> dict[str, int]:
        first: dict[str, Verdict] = {}
        for cell in self.cells:
            if cell.role == role and kind in (None, cell.kind):
                first.setdefault(
                    cell.number if role == "printed" else f"{cell.table} {cell.row} {cell.column}", cell.verdict
                )
        found = Counter(first.values())
        return {verdict: found[verdict] for verdict in VERDICTS}

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain objects.

        Returns
        -------
        dict
        """
        return {
            "document": self.document.name,
            "title": self.document.title,
            "quick": self.run.quick,
            "seed": self.run.seed,
            "seconds": round(self.seconds, 3),
            "processor": round(self.processor, 3),
            "counts": self.counts,
            "other_counts": self.other_counts,
            **{f"{kind}s": self.counts_of(kind) for kind in KINDS},
            "chance": {kind: asdict(found) for kind, found in self.chance.items()},
            "order": list(self.order),
            "conclusion": self.conclusion,
            "cells": [asdict(cell) for cell in self.cells],
            "claims": [claim.text for claim in self.claims],
            "standings": [claim.standing for claim in self.claims],
            "figures": self.figures,
        }

    def save(self, folder: Path) -> None:
        """Write the cells as JSON and CSV.

        Parameters
        ----------
        folder : Path
            Where it is written.
        """
        write_atomically(folder / "cells.json", to_json(self.to_json()))
        save_cells([self], folder / "cells.csv")


def save_cells(results: Sequence[Reproduction], path: Path) -> None:
    """Write the cells of several documents as one CSV file.

    Parameters
    ----------
    results : sequence of Reproduction
        Documents that were run again.
    path : Path
        Of the CSV file.

    Examples
    --------
    >>> import tempfile
    >>> document = Document("mine", "A. Author, A title, 2020", {"1": lambda run: [judge("1", "a", "b", 3, 3)]})
    >>> path = Path(tempfile.mkdtemp(), "cells.csv")
    >>> save_cells([reproduce(document, Rerun())], path)
    >>> path.read_text().splitlines()[1][:21]
    'mine,1,a,b,3,–,3,matc'
    """
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["document", *(field.name for field in fields(Cell))])
    for result in results:
        name = result.document.name
        writer.writerows([name, *(show(value) for value in asdict(cell).values())] for cell in result.cells)
    write_atomically(path, lines.getvalue().encode())


def reproduce(document: Document, run: Rerun, tables: Sequence[str] | None = None) -> Reproduction:
    """Re-run a document, or some of its tables; figures and claims come with the whole of it.

    Figures are drawn only where there is a folder to put them in.

    Parameters
    ----------
    document : Document
        One of the five, or one of your own.
    run : Rerun
        Seed, folder, threads; quick or whole.
    tables : sequence of str, optional
        All of them if left out.

    Returns
    -------
    Reproduction
        Cells, claims and figures.

    Examples
    --------
    >>> document = Document("mine", "A. Author, A title, 2020", {"1": lambda run: [judge("1", "a", "b", 3, 3)]})
    >>> len(reproduce(document, Rerun(), tables=["1"]).cells)
    1
    """
    whole, run = run, run.within(document.name)
    if tables is None and run._spent is None:
        prepare([document], whole)
    began, spent = time.perf_counter(), processor_seconds()
    cells: list[Cell] = []
    for name in document.tables if tables is None else tables:
        if name not in document.tables:
            raise InputError(f"{document.title} has no table {name!r} here; it has {', '.join(document.tables)}.")
        run.report(f"{document.name}: table {name}")
        cells.extend(document.tables[name](run))
    cells = [_with_trials(cell, document.tried) for cell in with_rivals(cells, document.family)]
    claims: list[Claim] = []
    drawn: list[str] = []
    if tables is None:
        run.report(f"{document.name}: claims")
        claims = document.claims(run)
        drawn, notes = _draw(document.figures, run)
        claims = [*claims, *map(Claim, notes)]
    before = run._spent or (0.0, 0.0)
    seconds = before[0] + time.perf_counter() - began, before[1] + processor_seconds() - spent
    result = Reproduction(document, cells, claims, drawn, *seconds, run)
    if run.out is not None:
        result.save(run.out)
    return result


def processor_seconds() -> float:
    """Return the processor seconds of this process and of its workers, which end here: those that run do not count.

    Examples
    --------
    >>> processor_seconds() <= processor_seconds()
    True
    """
    get_reusable_executor().shutdown()
    return sum(os.times()[:4])


Family = Callable[[Cell], "tuple[str, str, str] | None"]


def with_rivals(cells: Sequence[Cell], family: Family) -> list[Cell]:
    """Say of each printed number which share of the other methods' results would match it too.

    Where that is more than half, a match says nothing of the method, and there is no verdict.

    Parameters
    ----------
    cells : sequence of Cell
        The cells of a table or more.
    family : callable
        See `Document`.

    Returns
    -------
    list of Cell

    Examples
    --------
    >>> cells = [judge("1", "a", "GA", 70.0, 70.5, tolerance=2.0), judge("1", "a", "SA", 71.0, 71.2, tolerance=2.0)]
    >>> [cell.verdict for cell in with_rivals(cells, lambda cell: ("accuracy", cell.row, cell.column))]
    ['no verdict', 'no verdict']
    """
    results: dict[tuple[str, str], dict[str, Value]] = {}
    for cell in cells:
        place = family(cell) if _is_judged(cell, "value") else None
        if place is not None:
            results.setdefault(place[:2], {}).setdefault(place[2], cell.ours)
    out = []
    for cell in cells:
        place = family(cell) if _is_judged(cell, "value") else None
        others = [] if place is None else [v for name, v in results[place[:2]].items() if name != place[2]]
        if others:
            share = float(np.mean([cell.accepts(value) for value in others]))
            cell = replace(cell, others=share)
            if cell.verdict in ("matches", "better", "differs") and share > 0.5:
                told = f"It would match {share:.0%} of the other methods' results on these data too."
                cell = replace(cell, verdict="no verdict", reason=f"{told} {cell.reason}".strip(), tested="")
        out.append(cell)
    return out


def _with_trials(cell: Cell, tried: Callable[[Cell], str]) -> Cell:
    """Name the experiments that were tried on an unexplained number."""
    trials = tried(cell) if cell.verdict == "unexplained" and cell.role == "printed" else ""
    return replace(cell, reason=f"{cell.reason} Tried: {trials}") if trials else cell


def prepare(documents: Sequence[Document], run: Rerun) -> None:
    """Do the long work of documents in several processes; what is kept by `once` is at hand then.

    The pieces of all documents are dealt out together, so that no process waits for the end of one document. With one
    job there is nothing to deal out.

    Parameters
    ----------
    documents : sequence of Document
        What will be re-run.
    run : Rerun
        Seed, folder, threads; quick or whole.

    Examples
    --------
    >>> prepare([Document("mine", "A. Author, A title, 2020", {"1": lambda run: []})], Rerun(n_jobs=2))
    """
    if run.n_jobs == 1:
        return
    began, runs = time.perf_counter(), [run.within(document.name) for document in documents]
    spent = np.zeros(len(runs))
    works = (document.work(own) for document, own in zip(documents, runs, strict=True))
    for lists in zip_longest(*works, fillvalue=()):
        # Each list has its longest pieces first, so that those at the same share of their lists go together.
        placed = [(k / len(own), n, piece) for n, own in enumerate(lists) for k, piece in enumerate(own)]
        tasks = [(n, piece) for _, n, piece in sorted(placed, key=lambda each: each[:2])]
        # With the documents a worker imports all of them in its first task. What it imports later counts as a leak to
        # joblib, which stops a worker that has grown by 300 MB since its first task.
        shared = documents, [own.alone() for own in runs]
        found = run_tasks(_known_after, tasks, Resources(run.n_jobs), shared=shared, ordered=False)
        for number, (n, known, seconds) in enumerate(found, 1):
            runs[n]._known.update(known)
            spent[n] += seconds
            run.report(f"{documents[n].name}: {number} of {len(tasks)} pieces of work")
    clock = (time.perf_counter() - began) * spent / max(spent.sum(), 1e-9)
    for own, seconds, processor in zip(runs, clock.tolist(), spent.tolist(), strict=True):
        own._spent = seconds, processor


def _known_after(
    shared: tuple[Sequence[Document], Sequence[Rerun]], number: int, piece: Piece
) -> tuple[int, dict[str, Any], float]:
    """Return what a piece of work keeps beside what is known, and its seconds; without its data it keeps nothing."""
    run, began = shared[1][number], time.process_time()
    own = replace(run, _known=run._known.copy())
    run.attempt(partial(piece, own))
    known = {key: result for key, result in own._known.items() if key not in run._known}
    return number, known, time.process_time() - began


@dataclass(frozen=True)
class Chance:
    """Which share of numbers lies inside, by our answers and by answers that know nothing.

    Parameters
    ----------
    n : int
        Distinct printed numbers that have an answer.
    inside : float
        Share of them that lie where the re-run varies.
    permuted : float
        The same with the answers of each quantity exchanged at random.
    constant : float
        The same with one answer for each quantity, the median of its other printed numbers.

    Examples
    --------
    >>> Chance(10, 0.8, 0.3, 0.2).inside
    0.8
    """

    n: int
    inside: float
    permuted: float
    constant: float


def chance_of(cells: Sequence[Cell], family: Family, kind: Kind) -> Chance:
    """Compare our share of matches with that of answers that know nothing.

    Parameters
    ----------
    cells : sequence of Cell
        The cells of a table or more.
    family : callable
        See `Document`.
    kind : {"value", "spread", "size"}
        Which numbers; see `Cell`.

    Returns
    -------
    Chance

    Examples
    --------
    >>> cells = [judge("1", f"row {v}", "L", v, v, tolerance=1.0) for v in (1, 5, 9)]
    >>> found = chance_of(cells, lambda cell: ("L", cell.row, ""), "value")
    >>> found.inside, found.permuted, round(found.constant, 2)
    (1.0, 0.0, 0.33)
    """
    quantities: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        if _is_judged(cell, kind):
            place = family(cell)
            name = cell.column if place is None else place[0]
            quantities.setdefault(name, {}).setdefault(cell.number, cell)
    inside: list[float] = []
    permuted: list[float] = []
    constant: list[float] = []
    for group in quantities.values():
        own = list(group.values())
        for cell in own:
            others = [other for other in own if other is not cell]
            inside.append(cell.accepts(cell.ours))
            permuted.append(float(np.mean([cell.accepts(other.ours) for other in others])) if others else 0.0)
            constant.append(bool(others) and cell.accepts(_middle([other.printed for other in others])))
    n = len(inside)
    means = [float(np.mean(each)) if n else 0.0 for each in (inside, permuted, constant)]
    return Chance(n, *means)


def order_of(cells: Sequence[Cell], family: Family) -> tuple[int, int, float]:
    """Count the pairs of methods whose results on the same data stand in the printed order.

    Parameters
    ----------
    cells : sequence of Cell
        The cells of a table or more.
    family : callable
        See `Document`.

    Returns
    -------
    (int, int, float)
        Pairs in the printed order, all pairs whose printed numbers differ, and the share that stands in the printed
        order by our answers for the same two methods on other data.

    Examples
    --------
    >>> cells = [judge("1", "a", "GA", 70.0, 70.5), judge("1", "a", "SA", 71.0, 71.2)]
    >>> order_of(cells, lambda cell: ("accuracy", cell.row, cell.column))[:2]
    (1, 1)
    """
    known: dict[str, dict[str, dict[str, tuple[float, float]]]] = {}
    for cell in cells:
        place = family(cell) if _is_judged(cell, "value") and cell.difference is not None else None
        if place is not None:
            pair = float(cell.printed), float(cell.ours)  # type: ignore[arg-type]
            known.setdefault(place[0], {}).setdefault(place[1], {}).setdefault(place[2], pair)
    agree, other = [], []
    for by_data in known.values():
        for data, methods in by_data.items():
            for a, b in combinations(methods, 2):
                printed = np.sign(methods[a][0] - methods[b][0])
                if printed == 0:
                    continue
                agree.append(np.sign(methods[a][1] - methods[b][1]) == printed)
                other += [
                    np.sign(found[a][1] - found[b][1]) == printed
                    for name, found in by_data.items()
                    if name != data and a in found and b in found
                ]
    return int(sum(agree)), len(agree), float(np.mean(other)) if other else float("nan")


def _is_judged(cell: Cell, kind: Kind) -> bool:
    """Say whether a cell has a printed number and an answer under the reading of record."""
    has_both = cell.printed is not None and cell.verdict != "not reproducible"
    return cell.role == "printed" and cell.kind == kind and has_both


def _middle(values: Sequence[Value]) -> Value:
    """Return the median of numbers, and of anything else the most frequent."""
    if all(_is_number(value) for value in values):
        return float(np.median(np.array(values, dtype=np.float64)))
    found: Value = json.loads(Counter(json.dumps(value) for value in values).most_common(1)[0][0])
    return found


def _draw(figures: Mapping[str, Callable[[Rerun], Figure]], run: Rerun) -> tuple[list[str], list[str]]:
    """Save each figure as PNG and SVG; one whose data is not at hand leaves a note."""
    drawn: list[str] = []
    notes: list[str] = []
    if run.out is None:
        return drawn, notes
    (run.out / "figures").mkdir(parents=True, exist_ok=True)
    results = run_tasks(_draw_one, list(figures.items()), Resources(run.n_jobs), shared=run.alone())
    for name, result in zip(figures, results, strict=True):
        run.report(f"figure {name}")
        if isinstance(result, Absent):
            notes.append(f"Figure {name} could not be drawn: {result.reason}")
        else:
            drawn += result
    return drawn, notes


def _draw_one(run: Rerun, name: str, draw: Callable[[Rerun], Figure]) -> list[str] | Absent:
    """Draw a figure and return its files."""
    from fewer.plots._style import style

    assert run.out is not None
    paths = [run.out / "figures" / f"{name}.{suffix}" for suffix in ("png", "svg")]
    with style():
        figure = run.attempt(partial(draw, run))
        if isinstance(figure, Absent):
            return figure
        for path in paths:
            write_atomically(path, partial(figure.savefig, dpi=150, format=path.suffix[1:]))
    return list(map(str, paths))


def _kept(path: Path, key: str) -> Any:
    """Read a result that was computed before."""
    try:
        content = unsealed(json.loads(path.read_bytes()))
    except (OSError, ValueError):
        content = None
    if content is None or content.get("key") != key:
        raise InputError(f"{path} is damaged or belongs to something else; delete it to compute it again.")
    return content["result"]


@cache
def read_printed(name: str) -> Any:
    """Read the printed numbers of a document, as the package carries them; the same object each time.

    Parameters
    ----------
    name : str
        Of the document.

    Returns
    -------
    Any

    Examples
    --------
    >>> len(read_printed("scott")["rows"]) > 100
    True
    """
    return json.loads(files("fewer_papers").joinpath("printed", f"{name}.json").read_text(encoding="utf-8"))


def printed_rows(name: str, table: str, **wanted: Any) -> list[dict[str, Any]]:
    """Read the printed numbers of one table.

    Parameters
    ----------
    name : str
        Of the document.
    table : str
        Its number in the document.
    **wanted
        What the numbers must say of themselves, such as `dataset="sonar"`.

    Returns
    -------
    list of dict
    """
    printed = read_printed(name)
    rows = [row for row in printed.get("rows", printed.get("records")) if row["table"] == table]
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


def show(value: Value) -> str:
    """Write a value as a reader likes it.

    Parameters
    ----------
    value : number, str, list of int or None
        A cell.

    Returns
    -------
    str

    Examples
    --------
    >>> show(0.60814), show([2, 8, 1]), show(None), show(70.0), show(1234.5678)
    ('0.6081', '2 8 1', '–', '70', '1234.6')
    """
    if value is None:
        return "–"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    if isinstance(value, float):
        text = f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}" if abs(value) < 1000 else f"{value:.1f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return str(value)


def mean_and_sd(values: Iterable[float]) -> tuple[float, float]:
    """Return the mean and the sample standard deviation.

    Parameters
    ----------
    values : iterable of float
        Results of the repetitions.

    Returns
    -------
    tuple[float, float]

    Examples
    --------
    >>> mean_and_sd([1.0, 2.0, 3.0])
    (2.0, 1.0)
    """
    numbers = np.asarray(list(values), dtype=np.float64)
    return float(numbers.mean()), float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0


def reach(values: Any, n_printed: int = 10) -> float:
    """Return two standard errors of the difference of two experiments, by the spread of ours.

    Parameters
    ----------
    values : sequence of float
        Results of our repetitions.
    n_printed : int, default=10
        How many repetitions the printed number is the mean of.

    Returns
    -------
    float

    Examples
    --------
    >>> bool(reach([1.0, 2.0, 3.0, 4.0], 4) == 2.0 * np.std([1, 2, 3, 4], ddof=1) * np.sqrt(0.5))
    True
    """
    return 2.0 * float(np.std(values, ddof=1)) * float(np.sqrt(1 / n_printed + 1 / len(values)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _plain(value: Any) -> Any:
    """Turn arrays, tuples and NumPy scalars into what JSON knows."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
