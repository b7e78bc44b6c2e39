"""The one kind of error that people are meant to read."""


class InputError(ValueError):
    """Input that cannot be used; the message says what was found, where, and the cure."""
