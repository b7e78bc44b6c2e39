"""The server itself: where it listens, what it says at its start."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import uvicorn

from fewer.errors import InputError
from fewer.serve._app import Settings, make_app
from fewer.serve._folder import Folder
from fewer.serve._guard import LOOPBACK, Access

PORT = 8765
SHORTEST_TOKEN = 16


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
    say(f"Tables and runs are kept in {Path(folder).resolve()}. Ctrl-C ends it; runs keep their best.")
    if away:
        say(
            f"Everybody who reaches {host} and has the token can read and write that folder and use this machine's "
            "processor. What is sent is not encrypted: go through a tunnel (ssh -L) or a proxy with TLS."
        )
    if open_browser:
        threading.Timer(0.8, webbrowser.open, (address,)).start()
    config = uvicorn.Config(
        app, log_level="critical", access_log=False, server_header=False, date_header=False, lifespan="on",
        timeout_graceful_shutdown=2, timeout_keep_alive=30, h11_max_incomplete_event_size=64 << 10,
    )  # fmt: skip
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()


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


__all__ = ["serve"]
