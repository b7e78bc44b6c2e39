import socket
import sys
import threading
import time

import pytest

httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from fewer.serve import Settings, make_app  # noqa: E402
from fewer.serve._guard import Access  # noqa: E402

TOKEN = "a-token-for-the-tests-only"


class Inline:
    """Do at once what the workers would do in processes."""

    async def call(self, function, *arguments):
        return function(*arguments)

    def close(self):
        pass


class Client(httpx.Client):
    """Asks a workbench that runs in a thread."""

    def __init__(self, folder, settings, workers, program):
        listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        port = listener.getsockname()[1]
        app = make_app(Settings(folder, Access(TOKEN, port=port), **settings))
        self.bench = app.state.bench
        if workers is not None:
            self.bench.workers = workers
        if program is not None:
            self.bench.jobs.program = (sys.executable, "-c", program)
        config = uvicorn.Config(app, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listener]}, daemon=True)
        self.thread.start()
        self.origin = f"http://127.0.0.1:{port}"
        limits = httpx.Limits(max_connections=250)
        super().__init__(base_url=self.origin, timeout=60, headers={"origin": self.origin}, limits=limits)

    def leave(self):
        self.close()
        self.server.should_exit = True
        self.thread.join(20)

    def state(self, run):
        return self.get("/api/run", params={"id": run}).json()

    def wait(self, run, *states, seconds=120):
        end = time.monotonic() + seconds
        while (now := self.state(run))["state"] not in states:
            assert time.monotonic() < end, now
            time.sleep(0.05)
        return now


@pytest.fixture
def table(tmp_path):
    """A small table in the folder of the workbench."""
    rows = [f"{i % 7},{i * 37 % 11},{'yes' if i % 7 > 3 else 'no'}" for i in range(60)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,y", *rows]) + "\n")
    return path


@pytest.fixture
def open_bench(tmp_path):
    """Start a workbench on the folder; again, and there are two."""
    clients = []

    def open_(program=None, *, inline=True, token=True, **settings):
        client = Client(tmp_path, settings, Inline() if inline else None, program)
        clients.append(client)
        if token:
            client.get("/", params={"token": TOKEN})
        return client

    yield open_
    for client in clients:
        client.leave()


@pytest.fixture
def client(open_bench):
    return open_bench()
