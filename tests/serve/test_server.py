import pytest

from fewer.errors import InputError
from fewer.serve._server import _listen


def test_a_port_that_is_taken_is_refused_or_passed_over():
    first = _listen("127.0.0.1", None)
    try:
        port = first.getsockname()[1]
        with pytest.raises(InputError, match=f"127.0.0.1:{port} cannot be listened on .*choose another --port"):
            _listen("127.0.0.1", port)
        second = _listen("127.0.0.1", None)
        assert second.getsockname()[1] != port
        second.close()
    finally:
        first.close()
