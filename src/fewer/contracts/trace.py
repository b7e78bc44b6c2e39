"""What a run did: its steps, the best subsets it met, and all it needs to go on after a stop."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewer.files import write_atomically
from fewer.problem import FloatArray, InputError, IntArray
from fewer.text import Note, NoteKind, html_card, html_table

MAX_STEPS = 4096
FORMAT = 1
# What of a trace is kept as it is.
KEPT_FIELDS = ("keep", "n_steps", "n_evaluations", "n_undefined", "rng_state", "done", "interrupted", "fingerprint")


def size_of(masks: NDArray[Any]) -> IntArray:
    """Count the columns that each mask uses (a weight above zero is a use)."""
    return np.count_nonzero(masks, axis=-1).astype(np.int64)


def _columns_of(mask: NDArray[Any]) -> str:
    """Name the columns of a subset by number, for a reader.

    Examples
    --------
    >>> _columns_of(np.array([True, False, True]))
    '0, 2'
    """
    columns = np.flatnonzero(mask).tolist()
    return ", ".join(map(str, columns[:12])) + (", …" if len(columns) > 12 else "")


def is_better(score: float, mask: NDArray[Any], best_score: float, best: NDArray[Any]) -> bool:
    """Say whether one subset beats another: a higher score, or the same with fewer features."""
    return score > best_score or (score == best_score and bool(np.count_nonzero(mask) < np.count_nonzero(best)))


def best_first(masks: NDArray[Any], scores: FloatArray) -> IntArray:
    """Order subsets: higher score, then fewer features, then earlier columns."""
    if masks.dtype == bool:
        unused = np.ascontiguousarray(~masks).view(np.uint8)
    else:
        unused = np.ascontiguousarray(255 - np.round(masks * 255.0)).astype(np.uint8)
    earlier = unused.view(f"S{unused.shape[1]}")[:, 0] if unused.shape[1] else np.zeros(len(unused))
    return np.lexsort((earlier, np.count_nonzero(masks, axis=1), -scores)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Step:
    """One report of a search.

    Attributes
    ----------
    mask, score
        Where the search stands.
    best, best_score
        What it would answer if it were stopped now.
    """

    mask: NDArray[Any]
    score: float
    best: NDArray[Any]
    best_score: float
    index: int = 0
    n_evaluations: int = 0


class Ending(StrEnum):
    """Why a run ended.

    Examples
    --------
    >>> Trace().ending.value
    'finished'
    """

    FINISHED = "finished"
    BUDGET = "budget"
    CLOCK = "clock"
    FOLLOWER = "follower"
    INTERRUPTED = "interrupted"


@dataclass(eq=False)
class Trace:
    """The history of one run, bounded in memory however long the run is.

    Parameters
    ----------
    keep : int, default=100
        How many of the best subsets to keep.
    steps : list of Step
        Thinned evenly once there are more than `MAX_STEPS`; the last one is always kept.
    top_masks, top_scores : arrays
        The best `keep` distinct subsets that were evaluated, best first.
    n_steps : int
        How many steps there were, kept or not.
    n_evaluations : int
        How many subsets the search asked about.
    n_undefined : int
        How many of them could not be scored.
    state : dict
        The search's own notes from which it can go on (numbers, strings, arrays, lists of those).
    rng_state : dict, optional
        The generator's state after the last step.
    notes : list of Note
        What a reader of the result should know; `note` adds one.
    ending : Ending
        Why the run ended.
    extra : dict of str to array
        What a control adds, such as the frequency of each feature.
    done, interrupted : bool
        Whether the search came to its end, or was stopped.
    done : bool
        The run came to its end.
    interrupted : bool
        It was stopped before.
    fingerprint : str
        Names the run (data, components, seed), so that it is not resumed as another.

    Examples
    --------
    >>> import fewer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = fewer.SubsetSelector(fewer.criteria.Separability(), fewer.search.Forward()).fit(X, y)
    >>> trace = selector.trace_
    >>> trace.done, float(trace.curve()[-1]) == trace.best_score
    (True, True)
    """

    keep: int = 100
    steps: list[Step] = field(default_factory=list)
    top_masks: NDArray[Any] | None = None
    top_scores: FloatArray = field(default_factory=partial(np.empty, 0))
    n_steps: int = 0
    n_evaluations: int = 0
    n_undefined: int = 0
    state: dict[str, Any] = field(default_factory=dict)
    rng_state: dict[str, Any] | None = None
    notes: list[Note] = field(default_factory=list)
    ending: Ending = Ending.FINISHED
    extra: dict[str, NDArray[Any]] = field(default_factory=dict)
    done: bool = False
    interrupted: bool = False
    fingerprint: str = ""
    _stride: int = 1

    @property
    def best(self) -> NDArray[Any]:
        """The answer: the best mask of the last step."""
        if not self.steps:
            raise InputError("The run was stopped before its first step; there is no result yet.")
        return self.steps[-1].best

    @property
    def best_score(self) -> float:
        """The score that the run gives its answer."""
        return self.steps[-1].best_score if self.steps else float("-inf")

    def note(self, text: str, kind: NoteKind = NoteKind.GENERAL) -> None:
        """Add a note for the reader of the result, once; a later note of a special kind replaces the earlier one.

        Parameters
        ----------
        text : str
            A sentence.
        kind : NoteKind, default=NoteKind.GENERAL
            What it is about.
        """
        note = Note(text, kind)
        if note.kind is not NoteKind.GENERAL:
            self.notes[:] = [other for other in self.notes if other.kind is not note.kind]
        if note not in self.notes:
            self.notes.append(note)

    @contextmanager
    def finishing(self) -> Iterator[None]:
        """Mark the trace as interrupted if Ctrl-C comes inside, as done otherwise.

        Yields
        ------
        None
            Nothing: the work stands inside the `with`.
        """
        try:
            yield
        except KeyboardInterrupt:
            self.interrupted = True
            raise
        self.done, self.interrupted = True, False

    def restart(self) -> None:
        """Forget the steps so far, but not what was counted and noted."""
        self.steps.clear()
        self.n_steps, self._stride = 0, 1

    def go_on_with(self, inner: Trace, n_before: int) -> None:
        """Take over the newest step and the best subsets of a run inside this one, after `n_before` evaluations.

        Parameters
        ----------
        inner : Trace
            The run inside.
        n_before : int
            How many subsets were scored before it began.
        """
        self.n_evaluations = n_before + inner.n_evaluations
        self.top_masks, self.top_scores = inner.top_masks, inner.top_scores
        self.record(inner.steps[-1])

    def record(self, step: Step) -> Step:
        """Add a step, numbered and with the evaluations so far.

        Parameters
        ----------
        step : Step
            The masks are copied.

        Returns
        -------
        Step
            The step as it is kept.
        """
        step = Step(step.mask.copy(), step.score, step.best.copy(), step.best_score, self.n_steps, self.n_evaluations)
        if self.steps and self.steps[-1].index % self._stride:
            self.steps.pop()
        self.steps.append(step)
        self.n_steps += 1
        if len(self.steps) > MAX_STEPS:
            self._stride *= 2
            self.steps = [s for s in self.steps[:-1] if s.index % self._stride == 0] + [step]
        return step

    def offer(self, masks: NDArray[Any], scores: FloatArray) -> None:
        """Let evaluated subsets into the list of the best, if they belong there.

        Parameters
        ----------
        masks : array of shape (m, n_features)
            Subsets that were evaluated.
        scores : array of shape (m,)
            Their scores; those that are not finite are left out.
        """
        if not self.keep:
            return
        good = np.isfinite(scores)
        if len(self.top_scores) >= self.keep:
            good &= scores >= self.top_scores[-1]
        known = set() if self.top_masks is None else {mask.tobytes() for mask in self.top_masks}
        by_mask = {masks[i].tobytes(): int(i) for i in np.flatnonzero(good)[::-1]}
        fresh = [i for key, i in by_mask.items() if key not in known]
        if not fresh:
            return
        masks, scores = masks[fresh], scores[fresh]
        if self.top_masks is not None:
            masks = np.concatenate([self.top_masks, masks])
            scores = np.concatenate([self.top_scores, scores])
        order = best_first(masks, scores)[: self.keep]
        self.top_masks, self.top_scores = masks[order], scores[order]

    def save(self, path: Path | str) -> None:
        """Write the trace; a kill in the middle leaves the previous file whole.

        Parameters
        ----------
        path : path
            Where to write.
        """
        arrays: dict[str, NDArray[Any]] = {
            "top_scores": self.top_scores,
            "step_scores": np.array([(s.score, s.best_score) for s in self.steps]).reshape(-1, 2),
            "step_numbers": np.array([(s.index, s.n_evaluations) for s in self.steps]).reshape(-1, 2),
            **{f"extra/{name}": array for name, array in self.extra.items()},
        }
        if self.top_masks is not None:
            arrays["top_masks"] = self.top_masks
        if self.steps:
            arrays["step_masks"] = np.stack([s.mask for s in self.steps])
            arrays["step_best"] = np.stack([s.best for s in self.steps])
        meta = {
            "format": FORMAT,
            **{name: vars(self)[name] for name in KEPT_FIELDS},
            "stride": self._stride,
            "notes": self.notes,
            "note_kinds": [note.kind for note in self.notes],
            "ending": self.ending,
            "state": _strip_arrays(self.state, "state", arrays),
        }
        arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
        archive = io.BytesIO()  # an archive that a full disk cuts off complains when it is forgotten
        np.savez_compressed(archive, allow_pickle=False, **arrays)
        write_atomically(Path(path), archive.getvalue())

    @classmethod
    def load(cls, path: Path | str) -> Trace:
        """Read a trace back; nothing in the file is run.

        Parameters
        ----------
        path : path
            What `save` wrote.

        Returns
        -------
        Trace
            The run, to look at or to go on with.
        """
        try:
            with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
                arrays = dict(file)
            meta = json.loads(arrays.pop("meta").tobytes())
            if meta["format"] != FORMAT:
                raise InputError(f"{path} was written by another version of fewer; start the run again.")
            return cls._from_parts(meta, arrays)
        except InputError:
            raise
        except Exception as error:  # a damaged archive raises whatever its bytes lead to
            raise InputError(
                f"{path} is damaged ({type(error).__name__}); nothing was changed: delete it to redo that part."
            ) from None

    @classmethod
    def _from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Trace:
        kinds = [NoteKind(kind) for kind in meta.get("note_kinds", ())]  # of another version: none
        trace = cls(
            **{name: meta[name] for name in KEPT_FIELDS if name != "n_undefined"},
            n_undefined=meta.get("n_undefined", 0),
            top_masks=arrays.get("top_masks"),
            top_scores=arrays["top_scores"],
            state=_restore_arrays(meta["state"], arrays),
            notes=[Note(*pair) for pair in zip_longest(meta["notes"], kinds, fillvalue=NoteKind.GENERAL)],
            ending=Ending(meta.get("ending", "finished")),
            extra={name[6:]: array for name, array in arrays.items() if name.startswith("extra/")},
            _stride=meta["stride"],
        )
        masks, best = (arrays.get(name, ()) for name in ("step_masks", "step_best"))
        trace.steps = [
            Step(mask, float(s[0]), best_mask, float(s[1]), int(n[0]), int(n[1]))
            for mask, best_mask, s, n in zip(masks, best, arrays["step_scores"], arrays["step_numbers"], strict=True)
        ]
        return trace

    def subsets_met(self) -> Iterator[tuple[NDArray[Any], float]]:
        """Return the subsets that the run remembers, with their scores: where it stood, what it held, and the best.

        Yields
        ------
        mask : array of shape (n_features,)
            A subset.
        score : float
            Its score.
        """
        for step in self.steps:
            yield step.mask, step.score
            yield step.best, step.best_score
        if self.top_masks is not None:
            yield from zip(self.top_masks, self.top_scores.tolist(), strict=True)

    def _repr_html_(self) -> str:
        """Show the best subsets and how far the search went, in a notebook."""
        best = [] if self.top_masks is None else zip(self.top_masks[:5], self.top_scores[:5], strict=True)
        rows = [
            [str(place), f"{score:.4g}", f"{int(size_of(mask))}", _columns_of(mask)]
            for place, (mask, score) in enumerate(best, 1)
        ]
        table = html_table(["best subsets", "score", "features", "columns"], rows) if rows else ""
        how = "interrupted" if self.interrupted else "finished" if self.done else "under way"
        return html_card(f"{self.n_steps:,} steps, {self.n_evaluations:,} subsets scored, {how}", "", table, self.notes)

    def curve(self) -> FloatArray:
        """Return the best score after each kept step.

        Returns
        -------
        array
            One score a kept step.
        """
        return np.array([step.best_score for step in self.steps])


def _strip_arrays(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"__array__": name}
    if isinstance(value, dict):
        return {key: _strip_arrays(item, f"{name}/{key}", arrays) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strip_arrays(item, f"{name}/{i}", arrays) for i, item in enumerate(value)]
    return value.item() if isinstance(value, np.generic) else value


def _restore_arrays(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(value, dict):
        if "__array__" in value:
            return arrays[value["__array__"]]
        return {key: _restore_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, list):
        return [_restore_arrays(item, arrays) for item in value]
    return value
