"""`fewer help`: the guide in the terminal."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from fewer.cli._outputs import show
from fewer.errors import InputError


def help_(
    topic: Annotated[str | None, typer.Argument(metavar="TOPIC", help="A page of the guide.")] = None,
) -> None:
    """Read the guide, one page per question."""
    pages = guide_pages()
    if topic is None:
        width = max(map(len, pages))
        for name, page in pages.items():
            show(f"{name:<{width}}  {_title(page)}")
        show("\nRead one: fewer help TOPIC. Options of a command: fewer COMMAND --help.")
    else:
        show(_plain(_find(topic, pages).read_text(encoding="utf-8")))


def guide_pages() -> dict[str, Path]:
    """Return the pages of the guide by name: in the package, or beside its sources in a clone.

    Returns
    -------
    dict of str to Path
        In the order of the alphabet.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "guide", package.parents[1] / "docs" / "guide"):
        pages = {page.stem: page for page in sorted(folder.glob("*.md")) if page.stem != "index"}
        if pages:
            return pages
    raise InputError("The guide was not installed with this package; read it on the documentation site.")


def _find(topic: str, pages: dict[str, Path]) -> Path:
    name = topic.lower().replace(" ", "-").replace("_", "-")
    if name in pages:
        return pages[name]
    known = [page for page in pages if name in page or name in _title(pages[page]).lower()]
    if len(known) == 1:
        return pages[known[0]]
    near = known or get_close_matches(name, pages, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(pages)}."
    raise InputError(f"The guide has no page {topic!r}; {hint}")


def _title(page: Path) -> str:
    first = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return first.removeprefix("# ")


def _plain(text: str) -> str:
    """Return a page as it reads in a terminal: links by their words, no directives, no comments, no pictures."""
    text = re.sub(r"^!\[[^\]]*\]\([^)]*\)\n", "", text, flags=re.M)
    text = re.sub(r"\[([^\]]+)\]\(([^)#]+\.md)[^)]*\)", _link, text)
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"\{[a-z:]+\}`([^`<]+?)(?: <[^>]+>)?`", r"`\1`", text)
    text = re.sub(r"^:{3,}.*\n|^\([\w-]+\)=\n", "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _link(match: re.Match[str]) -> str:
    page = Path(match[2])
    return f"{match[1]} (fewer help {page.stem})" if page.parent == Path() else match[1]
