"""The one kind of error that people are meant to read, and the one category of warnings."""


class InputError(ValueError):
    """Input that cannot be used; the message says what was found, where, and the cure."""


class FewerWarning(UserWarning):
    """Something that a reader of the result should know, and that does not stop the work."""
