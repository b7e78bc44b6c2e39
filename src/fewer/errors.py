"""The one kind of error that people are meant to read, and the one category of warnings."""


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
