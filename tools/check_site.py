"""Check the built documentation site: links, pictures, two clicks to the answers, every public name, no network.

`make docs` runs it after the build. What is wrong is listed, one line each; then the exit status is 1.
"""

import inspect
import os
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "docs" / "_build" / "html"
QUESTIONS = {  # what a newcomer asks, and words of the heading or text that answers it
    "how do I select features for my LightGBM": ("guide/own-models.html", "LGBMClassifier"),
    "how do I keep a patient's rows together": ("guide/groups-and-time.html", "groups=patient"),
    "how do I report it": ("guide/paper.html", "What to write"),
    "how do I add my own criterion": ("guide/own-components.html", "class Correlation(Criterion)"),
}
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """What a page links to, fetches and holds."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.unnamed: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note addresses, anchors and pictures without words."""
        given = dict(attributes)
        self.anchors |= {given[key] or "" for key in ("id", "name") if key in given}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        if tag == "link" and given.get("rel") in ("stylesheet", "icon"):
            self.fetched.append(given.get("href") or "")
        if tag in FETCHED and given.get(FETCHED[tag]):
            self.fetched.append(given[FETCHED[tag]] or "")
        if tag == "img" and not given.get("alt"):
            self.unnamed.append(given.get("src") or "")


def read_site(site: Path) -> dict[Path, Page]:
    """Read all pages."""
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def target_of(page: Path, address: str) -> tuple[Path, str]:
    """Return the file and the anchor that an address leads to."""
    file, anchor = urldefrag(address)
    file = unquote(file.partition("?")[0])
    return (Path(os.path.normpath(page.parent / file)) if file else page), unquote(anchor)


def is_outside(address: str) -> bool:
    """Whether an address leaves the site."""
    return re.match(r"[a-z][a-z+.-]*:|//", address) is not None


def link_faults(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Find links that lead nowhere, pictures without words, and whatever would be fetched from a network."""
    files = set(site.rglob("*"))
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in [*page.links, *page.fetched]:
            if is_outside(address):
                if address in page.fetched and not address.startswith("data:"):
                    yield f"{name} fetches {address}"
                continue
            file, anchor = target_of(path, address)
            if file not in files:
                yield f"{name} links to {address}, which is not there"
            elif anchor and file in pages and anchor not in pages[file].anchors:
                yield f"{name} links to {address}: the page has no such place"
        yield from (f"{name} has a picture without words, {source}" for source in page.unnamed)


def click_faults(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Find questions whose answer is more than two clicks from the start page, or does not stand there."""
    near = {site / "index.html"}
    for _ in range(2):
        near |= {target_of(path, link)[0] for path in near & set(pages) for link in pages[path].links}
    for question, (answer, words) in QUESTIONS.items():
        text = re.sub(r"<[^>]*>", "", (site / answer).read_text(encoding="utf-8")) if (site / answer).exists() else ""
        if site / answer not in near:
            yield f"{question!r}: {answer} is more than two clicks from the start page"
        if words not in text:
            yield f"{question!r}: {answer} does not say {words!r}"


def public_names() -> dict[str, object]:
    """Return everything public that the package offers, by its full name."""
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    fewer, named = import_module("fewer"), import_module("generated_pages").MODULES
    offered = [f"fewer.{name}" for name in fewer.__all__ if inspect.ismodule(getattr(fewer, name))]
    found = {}
    for module in map(import_module, sorted({*named, *offered})):
        found |= {f"{module.__name__}.{name}": getattr(module, name) for name in getattr(module, "__all__", ())}
    kinds = (inspect.isclass, inspect.isfunction, inspect.ismodule)
    return {name: thing for name, thing in found.items() if any(kind(thing) for kind in kinds)}


def name_faults(pages: dict[Path, Page]) -> Iterator[str]:
    """Find public things that the reference does not have, under any of their names."""
    anchors = set().union(*(page.anchors for page in pages.values()))
    anchors |= {anchor.removeprefix("module-") for anchor in anchors}
    names = public_names()
    explained = {id(thing) for name, thing in names.items() if name in anchors}
    yield from (f"{name} is not in the reference" for name, thing in names.items() if id(thing) not in explained)


def main(site: Path = SITE) -> int:
    """List what is wrong."""
    pages = read_site(site)
    faults = [*link_faults(site, pages), *click_faults(site, pages), *name_faults(pages)]
    print(*faults, sep="\n", end="\n" * bool(faults))
    links = sum(len(page.links) for page in pages.values())
    print(f"{len(pages)} pages, {links} links, {len(public_names())} public names: {len(faults)} faults")
    return min(len(faults), 1)


if __name__ == "__main__":
    sys.exit(main())
