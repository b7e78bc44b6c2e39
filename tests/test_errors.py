import warnings

import pytest

from fewer.contracts import IncompatibleError
from fewer.errors import FewerWarning, InputError, interruptible


def test_whoever_catches_value_errors_catches_ours():
    assert issubclass(InputError, ValueError)
    assert issubclass(IncompatibleError, InputError)


def test_our_warnings_can_be_silenced_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FewerWarning)
        warnings.warn("quiet", FewerWarning, stacklevel=1)
        with pytest.raises(UserWarning, match="loud"):
            warnings.warn("loud", UserWarning, stacklevel=1)


def test_ctrl_c_in_a_compiled_call_is_ctrl_c():
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
    inner = SystemError("returned a result with an exception set")
    inner.__cause__ = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt), interruptible():
        raise SystemError("returned a result with an exception set") from inner
    with pytest.raises(SystemError), interruptible():
        raise SystemError("something else")
