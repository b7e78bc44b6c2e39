import threading
import warnings

import pytest

from fewer.contracts import IncompatibleError
from fewer.errors import FewerWarning, InputError, interruptible, quietly


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


def test_the_quiet_of_one_thread_is_not_ended_by_another():
    entered, leave = threading.Event(), threading.Event()

    def stays():
        with quietly():
            entered.set()
            leave.wait(10)
            warnings.warn("not seen", UserWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        before = warnings.filters[:]
        with quietly():
            worker = threading.Thread(target=stays)
            worker.start()
            entered.wait(10)
        leave.set()
        worker.join()
        assert not seen
        assert warnings.filters[:] == before
