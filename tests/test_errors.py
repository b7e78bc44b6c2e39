import warnings

import pytest

from fewer.contracts import IncompatibleError
from fewer.errors import FewerWarning, InputError


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
