"""The one kind of error that people are meant to read, the one category of warnings, and Ctrl-C as what it was."""

from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Input that cannot be used; the message says what was found, where, and the cure.

    Examples
    --------
    >>> from fewer import InputError, Problem
    >>> try:
    ...     Problem.from_arrays([1.0, 2.0], [0, 1])
    ... except InputError as error:
    ...     print(error)
    X has 1 dimension(s); a table with rows and columns is needed.
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
