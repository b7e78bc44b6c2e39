"""`fewer serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fewer.cli._outputs import say
from fewer.errors import InputError


def serve(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A table to begin with.", show_default=False)
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where tables and runs are kept; that of FILE, or the working folder.", show_default=False),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen; others than this machine need --token.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="8765, or the next that is free.", show_default=False)
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="FEWER_TOKEN", help="What the address must carry; drawn anew if left out.", show_default=False
        ),
    ] = None,
    max_upload: Annotated[int, typer.Option(min=1, help="MiB of a table that is sent.")] = 1024,
    max_jobs: Annotated[int, typer.Option(min=1, help="Runs that go on at once.")] = 2,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> None:
    """Work on a web page of this machine: from a table to a smaller one, without typing commands.

    Drop a file, see how it is understood, choose the column to predict, start. Runs are the folders that --out writes:
    they go on when the browser is closed, and those started in a terminal in the same folder show up.
    """
    try:
        from fewer.serve import serve as run
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise InputError("The workbench needs two packages more: pip install 'fewer[serve]'.") from None
    if folder is None:
        folder = Path() if file is None else file.parent
    run(
        folder, file, host=host, port=port, token=token, max_upload=max_upload << 20, max_jobs=max_jobs,
        open_browser=browser, say=say,
    )  # fmt: skip
