"""The server itself: where it listens, what it says at its start."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from fewer.errors import InputError
from fewer.serve._app import Settings, make_app
from fewer.serve._folder import DOOR, OURS, Folder
from fewer.serve._guard import LOOPBACK, Access, forward_page

PORT = 8765
SHORTEST_TOKEN = 16
# How long a connection may send nothing that can be answered, and how many may do so at once.
SECONDS_TO_ASK, MOST_WAITING = 30, 200
# How long the page that opens the browser is kept.
SECONDS_OPEN = 60.0


def serve(
    folder: Path,
    file: Path | None = None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    max_upload: int = 1 << 30,
    max_jobs: int = 2,
    open_browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Run the workbench until it is stopped.

    Parameters
    ----------
    folder : path
        Where tables and runs are.
    file : path, optional
        A table to begin with.
    host : str, default="127.0.0.1"
        Anything but this machine itself needs a token of your own.
    port : int, optional
        8765, or the next one that is free; 0 for any.
    token : str, optional
        Drawn anew if left out.
    max_upload, max_jobs : int
        Bytes of a table that is sent; runs at once.
    open_browser : bool, default=True
        Open the page.
    say : callable
        Where the address is told.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fewer.serve import serve
    >>> serve(Path("study"), Path("patients.csv"))  # doctest: +SKIP
    Workbench: http://127.0.0.1:8765/table?name=patients.csv&token=...
    """
    away = host not in LOOPBACK
    if away and token is None:
        raise InputError(
            f"--host {host} lets other machines in; give a --token of your own, at least {SHORTEST_TOKEN} characters."
        )
    if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
        raise InputError(f"--token needs at least {SHORTEST_TOKEN} plain characters.")
    if file is not None and not file.is_file():
        raise InputError(f"File not found: {file}; check the path.")
    name = None if file is None else Folder(folder).take(file)
    listener = _listen(host, port)
    number = listener.getsockname()[1]
    access = Access(token or secrets.token_urlsafe(24), host, number)
    app = make_app(Settings(folder, access, max_upload, max_jobs))
    place = "/?" if name is None else f"/table?name={quote(name, safe='')}&"
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{number}{place}token={quote(access.token, safe='')}"
    say(f"Workbench: {address}")
    say(f"Files are stored in {Path(folder).resolve()}. Press Ctrl-C to quit; running jobs save their best result.")
    if away:
        say(
            f"Everybody who reaches {host} and has the token can read and write that folder and use this machine's "
            "processor. What is sent is not encrypted: go through a tunnel (ssh -L) or a proxy with TLS."
        )
    door = opener(Path(folder) / OURS, address) if open_browser else None
    if door is not None:
        threading.Timer(0.8, webbrowser.open, (door.resolve().as_uri(),)).start()
        closing = threading.Timer(SECONDS_OPEN, door.unlink, kwargs={"missing_ok": True})
        closing.daemon = True
        closing.start()
    config = uvicorn.Config(
        app, log_level="critical", access_log=False, server_header=False, date_header=False, lifespan="on",
        timeout_graceful_shutdown=2, timeout_keep_alive=SECONDS_TO_ASK, h11_max_incomplete_event_size=64 << 10,
        http=Connection,
    )  # fmt: skip
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()
        if door is not None:
            door.unlink(missing_ok=True)


def opener(folder: Path, address: str) -> Path:
    """Write a page that leads to an address: the command line of a browser is seen by every user of the machine."""
    handle, name = tempfile.mkstemp(prefix=DOOR, suffix=".html", dir=folder)  # for its owner's eyes alone
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(forward_page(address))
    return Path(name)


class Connection(H11Protocol):
    """A connection that may keep the server waiting only so long.

    One that has sent no whole request, or nothing more of a table that it sends, is closed after `SECONDS_TO_ASK`; of
    more than `MOST_WAITING` the one that has waited longest goes at once. Whoever asks is answered, however many
    others are silent.
    """

    waiting: ClassVar[dict[Connection, asyncio.TimerHandle]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Wait on while a request is incomplete; its body may come in parts, its head may not take longer."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
            if self.cycle.more_body:
                self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.cycle.response_complete:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        if len(self.waiting) >= MOST_WAITING:
            next(iter(self.waiting)).end()
        self.waiting[self] = self.loop.call_later(SECONDS_TO_ASK, self.end)

    def _stop_waiting(self) -> None:
        if (timer := self.waiting.pop(self, None)) is not None:
            timer.cancel()

    def end(self) -> None:
        """Close the connection."""
        self._stop_waiting()
        self.transport.abort()


def _listen(host: str, port: int | None) -> socket.socket:
    wanted = [port] if port is not None else [*range(PORT, PORT + 20), 0]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    trouble = ""
    for number in wanted:
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, number))
            listener.listen(512)
        except OSError as error:
            listener.close()
            trouble = error.strerror or str(error)
        else:
            return listener
    raise InputError(f"{host}:{wanted[0]} cannot be listened on ({trouble}); choose another --port or --host.")
