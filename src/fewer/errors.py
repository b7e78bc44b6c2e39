"""The one kind of error that people are meant to read, the one category of warnings, and Ctrl-C as what it was."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

# Characters of a refusal; what was found, an array perhaps, is cut off there.
LONGEST_REFUSAL = 400


class InputError(ValueError):
    """Input that cannot be used; the message says what was found, where, and the cure.

    Parameters
    ----------
    *args : object
        The message, which is kept on one line, whatever is quoted in it.

    Examples
    --------
    >>> from fewer import InputError, Problem
    >>> try:
    ...     Problem.from_arrays([1.0, 2.0], [0, 1])
    ... except InputError as error:
    ...     print(error)
    X has 1 dimension; it must be two-dimensional.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(re.sub(r"\s*\n\s*", " ", one) if isinstance(one, str) else one for one in args))


class InputTypeError(InputError, TypeError):
    """Input of a type that cannot be used.

    Examples
    --------
    >>> from fewer.errors import InputTypeError
    >>> issubclass(InputTypeError, TypeError)
    True
    """


class FewerWarning(UserWarning):
    """Something that a reader of the result should know, and that does not stop the work.

    Examples
    --------
    >>> import warnings
    >>> from fewer import FewerWarning
    >>> warnings.simplefilter("ignore", FewerWarning)  # if the notes of the result are enough
    """


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C in the middle of a compiled call, which becomes a SystemError there, be what it was.

    Yields
    ------
    None
        Nothing: the work stands inside the `with`.

    Examples
    --------
    >>> from fewer.errors import interruptible
    >>> try:
    ...     with interruptible():
    ...         raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
    ... except KeyboardInterrupt:
    ...     print("stopped")
    stopped
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__ or cause.__context__
        if isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


_QUIET: "list[warnings.catch_warnings[None]]" = []
_TURN = Lock()


@contextmanager
def quietly(category: type[Warning] = Warning) -> Iterator[None]:
    """Ignore warnings of a category, also where several threads do.

    Filters belong to the whole process, and Python's `catch_warnings` puts back those that it found: of two threads,
    the first that leaves would end the quiet of the other. Here the last one puts them back.

    Parameters
    ----------
    category : class
        Which warnings.

    Yields
    ------
    None
        Nothing: the work stands inside the `with`.

    Examples
    --------
    >>> import warnings
    >>> from fewer.errors import quietly
    >>> with quietly(UserWarning):
    ...     warnings.warn("not seen")
    """
    with _TURN:
        _QUIET.append(warnings.catch_warnings())
        if len(_QUIET) == 1:
            _QUIET[0].__enter__()
        warnings.simplefilter("ignore", category)
    try:
        yield
    finally:
        with _TURN:
            if len(_QUIET) == 1:
                _QUIET[0].__exit__(None, None, None)
                _QUIET.clear()
            else:
                _QUIET.pop()


@contextmanager
def each_once() -> Iterator[None]:
    """Show each warning once, however often a model that is fitted again and again gives it.

    Which warnings are shown at all is up to the user's filters.

    Yields
    ------
    None
        Nothing: the work stands inside the `with`.

    Examples
    --------
    >>> import warnings
    >>> from fewer.errors import each_once
    >>> with warnings.catch_warnings(record=True) as shown, each_once():
    ...     warnings.simplefilter("always")
    ...     for _ in range(3):
    ...         warnings.warn("did not converge")
    >>> len(shown)
    1
    """
    show, seen, is_over = warnings.showwarning, set[tuple[type[Warning], str]](), False

    def show_new(message: Warning | str, category: type[Warning], *where: Any) -> None:
        if is_over or (category, str(message)) not in seen:
            seen.add((category, str(message)))
            show(message, category, *where)

    warnings.showwarning = show_new  # type: ignore[assignment]
    try:
        yield
    finally:
        is_over = True
        if warnings.showwarning is show_new:  # not where another thread put its own on top
            warnings.showwarning = show


@contextmanager
def telling(what: str, *about: object) -> Iterator[None]:
    """Turn the error of somebody's estimator, selector or score into one that says whose it is.

    Parameters
    ----------
    what : str
        What is done, such as "Scoring by f1"; with `about`, a format for it.
    *about
        Put into `what` where something fails, and only then: an estimator takes long to write down.

    Yields
    ------
    None
        Nothing: the work stands inside the `with`.

    Examples
    --------
    >>> from fewer.errors import telling
    >>> with telling("Scoring by my_score"):
    ...     raise TypeError("my_score() takes 1 positional argument but 3 were given")
    Traceback (most recent call last):
    ...
    fewer.errors.InputError: Scoring by my_score failed: my_score() takes 1 positional argument but 3 were given
    """
    try:
        with quietly(RuntimeWarning):  # what comes of it is looked at
            yield
    except InputError:
        raise
    except (ValueError, TypeError, ArithmeticError, AttributeError, IndexError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        whose = " ".join(what.format(*about).split()) if about else what
        raise InputError(f"{whose} failed: {reason}") from error


def refuse_class(component: Any) -> None:
    """Refuse a class where an object is meant.

    Parameters
    ----------
    component : object
        As it was given.
    """
    if isinstance(component, type):
        raise InputError(f"{component.__name__} is a class; give an object: {component.__name__}().")


@contextmanager
def one_line() -> Iterator[None]:
    r"""Let what scikit-learn and NumPy refuse be refused by us, in one line.

    Yields
    ------
    None
        Nothing: a check stands inside the `with`.

    Examples
    --------
    >>> from fewer.errors import one_line
    >>> with one_line():
    ...     raise ValueError("Expected 2D array,\ngot 1D array instead.")
    Traceback (most recent call last):
    ...
    fewer.errors.InputError: Expected 2D array, got 1D array instead.
    """
    try:
        yield
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        text = " ".join(str(error).split())
        kind = InputError if isinstance(error, ValueError) else InputTypeError
        raise kind(text if len(text) <= LONGEST_REFUSAL else f"{text[: LONGEST_REFUSAL - 1]}…") from None


@contextmanager
def naming_one_class(labels: Any) -> Iterator[None]:
    """Name the cause where a model refuses training rows of one class only.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        The target that the model is given.

    Yields
    ------
    None
        Nothing: the fit stands inside the `with`.
    """
    try:
        yield
    except ValueError as error:
        if isinstance(error, InputError) or len(set(labels.ravel().tolist())) > 1:
            raise
        what = f"A model was given training rows of one class only, {labels.ravel()[0]!s}: all others are held out."
        raise InputError(f"{what} Give more rows of each class, or other folds (cv=, groups=).") from None
