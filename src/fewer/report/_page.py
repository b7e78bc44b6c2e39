"""What all pages share: the template environment, texts that fit a page, and writing one self-contained file."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewer.files import write_atomically
from fewer.text import cut, metric_text, score_text, signed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


NEEDS_MATPLOTLIB = {"svg": "", "title": "Not drawn", "paper": False,
                    "text": "More pictures here need matplotlib: pip install 'fewer[plots]'."}  # fmt: skip


def render(template: str, *, package: str = "fewer.report", **content: Any) -> str:
    """Fill a template; everything that is put in is escaped, and no script runs but the page's own, by its hash.

    Another package's templates may extend those of this one. Where there are `good` subsets, their script runs too.
    """
    environment = environment_of(package, "fewer.report")
    environment.filters |= {"cut": cut, "percent": _percent, "signed": signed, "score": score_text}
    environment.filters["metric"] = metric_text
    asked = [template.replace(".html", ".js"), *(["good.js"] if content.get("good") else [])]
    if scripts := [name for name in asked if name in environment.list_templates()]:
        from markupsafe import Markup

        sources = [environment.loader.get_source(environment, name)[0] for name in scripts]
        source = "".join(sources).replace("\r\n", "\n")  # as a browser reads it
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        content |= {"script": Markup(source), "script_hash": f"sha256-{digest}"}  # a file of ours
    return environment.get_template(template).render(**content)


def environment_of(*packages: str) -> Any:
    """Return the templates of packages: what is put in is escaped, and nothing that is missing is silent."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def in_script(data: dict[str, Any]) -> Any:
    """Write JSON that cannot end the script that it stands in."""
    from markupsafe import Markup

    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "&<>\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # no sign is left that HTML would read


def as_svg(figure: Figure, alternative: str) -> Any:
    """Turn a figure into inline SVG with an alternative text.

    Text is drawn as shapes, so nothing in a name can become markup, and no font is needed.
    """
    import matplotlib as mpl
    from markupsafe import Markup, escape

    buffer = io.StringIO()
    with (
        mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "fewer", "savefig.bbox": "tight"}),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box in the picture; the table has the name
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    mark = f"p{hashlib.sha256(svg.encode()).hexdigest()[:8]}"  # several pictures of a page would share their ids
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{mark}-", svg)
    label = f'<svg role="img" aria-label="{escape(alternative)}"'
    return Markup(label + svg.removeprefix("<svg"))  # the figure is ours, and its names are shapes


def write_page(path: Path | str, page: str) -> Path:
    """Write a page whole."""
    path = Path(path)
    write_atomically(path, page.encode("utf-8", "replace"))
    return path
