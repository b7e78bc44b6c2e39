import pytest

from fewer.errors import InputError
from fewer.serve._server import _listen, serve


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"host": "0.0.0.0"}, "--token"),
        ({"token": "short"}, "16"),
        ({"token": "ü" * 20}, "plain"),
        ({"token": "with\nline breaks in it"}, "plain"),
    ],
)
def test_what_is_not_started(tmp_path, options, told):
    with pytest.raises(InputError, match=told):
        serve(tmp_path, open_browser=False, **options)


def test_the_next_port_that_is_free():
    first = _listen("127.0.0.1", None)
    second = _listen("127.0.0.1", None)
    taken = first.getsockname()[1]
    assert second.getsockname()[1] != taken
    with pytest.raises(InputError, match="cannot be listened on"):
        _listen("127.0.0.1", taken)
    first.close()
    second.close()


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
