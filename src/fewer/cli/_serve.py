"""`fewer serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fewer.cli._outputs import say
from fewer.errors import InputError

FOLDER = "Folder for tables and runs; default: FILE's, or the current one."
TOKEN = "Access token in the URL; random if omitted."


def serve(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A table to begin with.")] = None,
    folder: Annotated[Path | None, typer.Option(help=FOLDER)] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; --token if not this machine.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="8765, or the next that is free.")] = None,
    token: Annotated[str | None, typer.Option(envvar="FEWER_TOKEN", help=TOKEN)] = None,
    max_upload: Annotated[int, typer.Option(min=1, help="Largest upload, in MiB.")] = 1024,
    max_jobs: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 2,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> None:
    """Open a local web page to select features without typing commands.

    Drop a file, check how it is read, choose the column to predict, start. Runs are --out folders: they continue when
    the browser is closed, and runs started in a terminal in the same folder appear too.
    """
    try:
        from fewer.serve import serve as run
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise InputError("The workbench needs two more packages: pip install 'fewer[serve]'.") from None
    folder = folder or (Path() if file is None else file.parent)
    how: dict[str, Any] = {"host": host, "port": port, "token": token, "max_jobs": max_jobs, "open_browser": browser}
    run(folder, file, max_upload=max_upload << 20, say=say, **how)
