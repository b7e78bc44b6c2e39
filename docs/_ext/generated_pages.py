"""Pages that are made of what is there already: the API, the gallery, results, the changelog."""

import ast
import importlib
import inspect
import re
import shutil
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
MADE = DOCS / "_generated"

MODULES = {
    "fewer": "One call, one answer; selectors for pipelines",
    "fewer.selectors": "scikit-learn transformers",
    "fewer.criteria": "How good is a subset?",
    "fewer.search": "Which subset next?",
    "fewer.control": "Guards against overfitting.",
    "fewer.rankers": "One number a feature",
    "fewer.models": "Classifiers and regressors",
    "fewer.roc": "ROC curves, hulls, Parcel",
    "fewer.evaluate": "Does it help?",
    "fewer.validate": "Splits, significance, intervals, stability",
    "fewer.plots": "Pictures",
    "fewer.report": "Pages",
    "fewer.datasets": "Data and generators",
    "fewer.io": "The input reader",
    "fewer.contracts": "Write your own component",
}
PAGES = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "benchmarks/RESULTS.md": "benchmarks/results",
    "benchmarks/NOTES.md": "benchmarks/notes",
}
PARTS = ("_summary", "_notes")
"""Endings of files that stand at the beginning and at the end of a study's page, and are none of their own."""


def make_pages(app, config):
    shutil.rmtree(MADE, ignore_errors=True)
    make_api()
    make_gallery()
    write("properties.md", property_table())
    importlib.import_module("rerun_tables").write_all_cells(DOCS / "_static" / "reruns.html")
    pages = dict(PAGES)
    studies = sorted((ROOT / "experiments").glob("*.md"))
    for study in (page for page in studies if not page.stem.endswith(PARTS)):
        pages[f"experiments/{study.name}"] = f"benchmarks/{study.stem}"
    for source, name in pages.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        write(f"{name}.md", relink(text, Path(source).parent, pages, MADE / name))
    app.env_pages = pages


def property_table():
    """Return what criteria and rankers can use and depend on, by their tags: components down, properties across."""
    from fewer import registry
    from fewer.contracts import CHANGES, ROWS

    rows, changes = sorted(ROWS), sorted(CHANGES)
    lines = [
        "# What components can use",
        "",
        "Made from the components' tags (`takes`, `depends_on`, `weights_repeat_rows`), which `tests/test_matrix.py`",
        "checks for all of them. Weights: a row of weight 0 is not there, and equal weights are none, whatever their",
        "size. *As copies*: a weight of 3 means what three copies of the row mean. *As shares*: weights say how much a",
        "row counts beside the others; copies would also change neighbors, bins, folds or the number of rows.",
        "",
    ]
    for kind in ("criterion", "ranker"):
        heads = [kind, *rows, "several targets", "GPU", *(f"same after a change of {change}" for change in changes)]
        lines += [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
        for name in registry.INDEX[kind]:
            one = registry.build(kind, name)
            usable = {"weights": "yes, as copies" if one.weights_repeat_rows else "yes, as shares"}
            cells = [usable.get(what, "yes") if what in one.takes else "refused" for what in rows]
            cells += [
                "yes" if getattr(one, "multi_output", False) else "refused",
                "yes" if one.supports_device else "–",
            ]
            cells += ["may differ" if change in one.depends_on else "yes" for change in changes]
            lines.append(f"| `{name}` | {' | '.join(cells)} |")
        lines.append("")
    lines += ["Searches and controls use rows as their criterion or ranker does.", ""]
    lines += ["| search | the criterion must be | random |", "|---|---|---|"]
    for name in registry.INDEX["search"]:
        one = registry.build("search", name)
        lines.append(f"| `{name}` | {_words(one.needs)} | {'yes' if one.stochastic else 'no'} |")
    lines += ["", "| control | works over a ranker | the criterion or ranker must be |", "|---|---|---|"]
    for name in registry.INDEX["control"]:
        one = registry.build("control", name)
        lines.append(f"| `{name}` | {'yes' if hasattr(one, 'choose') else 'no'} | {_words(one.needs)} |")
    return "\n".join([*lines, ""])


def _words(needs):
    return ", ".join(sorted(need.replace("_", " ") for need in needs)) or "any"


def write(name, text):
    path = MADE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def relink(text, folder, pages, target):
    """Turn links to files of the project into links to their pages, or into code where they have none."""

    def turn(match):
        label, address = match[1], match[2]
        if re.match(r"[a-z]+:|#", address):
            return match[0]
        path, _, anchor = address.partition("#")
        where = (ROOT / folder / path).resolve()
        known = where.relative_to(ROOT).as_posix() if where.is_relative_to(ROOT) else ""
        up = "../" * len(target.relative_to(DOCS).parent.parts)
        if known in pages:
            return f"[{label}]({up}_generated/{pages[known]}.md{'#' + anchor if anchor else ''})"
        if known.startswith("docs/"):
            return f"[{label}]({up}{known.removeprefix('docs/')}{'#' + anchor if anchor else ''})"
        if known == "examples" or known.startswith("examples/README"):
            return f"[{label}]({up}_generated/gallery/index.md)"
        return label if label.startswith("`") else f"`{label}`"

    def move(match):
        where = (ROOT / folder / match[2]).resolve()
        up = "../" * len(target.relative_to(DOCS).parent.parts)
        return f"![{match[1]}]({up}{where.relative_to(DOCS).as_posix()})" if where.is_relative_to(DOCS) else match[0]

    text = re.sub(r"!\[([^\]]*)\]\((?![a-z]+:)([^)\s]+)\)", move, text)
    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", turn, text)


def relink_own(app, docname, source):
    """Do the same in the pages of this folder that are also read elsewhere, such as design.md."""
    if docname in ("design", "reliability", "methods/auto"):
        pages = getattr(app, "env_pages", PAGES)
        source[0] = relink(source[0], Path("docs", docname).parent, pages, DOCS / docname)


# ------------------------------------------------------------------------------------------------------- API


def make_api():
    fewer = importlib.import_module("fewer")
    home = {name: getattr(fewer, name) for name in fewer.__all__}
    index = ["API reference", "=============", "", "Every public name.", "", ".. toctree::", "   :maxdepth: 1", ""]
    for module, summary in MODULES.items():
        index.append(f"   {module}")
        make_module(module, summary, home)
    write("api/index.rst", "\n".join(index) + "\n")


def make_module(module, summary, home):
    package = importlib.import_module(module)
    names = [name for name in package.__all__ if not inspect.ismodule(getattr(package, name))]
    own = [name for name in names if module == "fewer" or home.get(name) is not getattr(package, name)]
    title = f"{module}: {summary.lower() if summary.endswith('?') else summary}"
    lines = [title, "=" * len(title), "", f".. module:: {module}", "   :no-index-entry:", ""]
    lines += [*first_paragraph(package).splitlines(), ""]
    lines += [".. list-table::", "   :widths: 30 70", ""]
    for name in names:
        full = f"{module if name in own else 'fewer'}.{name}"
        lines += [f"   * - :py:obj:`{name} <{full}>`", f"     - {first_line(getattr(package, name))}"]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {module}.{name}" for name in own)]
    write(f"api/{module}.rst", "\n".join(lines) + "\n")
    for name in own:
        make_object(module, name, getattr(package, name))


def make_object(module, name, thing):
    full = f"{module}.{name}"
    if inspect.isclass(thing):
        body = [f".. autoclass:: {full}", "   :members:", "   :show-inheritance:"]
    elif inspect.isfunction(thing):
        body = [f".. autofunction:: {full}"]
    else:
        body = [f".. py:data:: {full}", "", f"   ``{str(thing)[:80]}``"]
    write(f"api/{full}.rst", "\n".join([name, "=" * len(name), "", *body, ""]))


def first_line(thing):
    text = (inspect.getdoc(thing) or "").strip().split("\n\n")[0]
    if not inspect.isclass(thing) and not callable(thing):
        return ""
    return " ".join(text.split())


def first_paragraph(package):
    return (inspect.getdoc(package) or "").split("\n\n")[0]


# --------------------------------------------------------------------------------------------------- gallery


def make_gallery():
    scripts = sorted((ROOT / "examples").glob("*.py"))
    lines = ["# Gallery", "", "Small scripts, each ending in a picture. Each one runs as it stands.", ""]
    lines += ["::::{grid} 1 1 2 2", ":gutter: 3", ""]
    for script in scripts:
        title = (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem).split("\n")[0]
        picture = DOCS / "images" / "gallery" / f"{script.stem}.png"
        lines += [f":::{{grid-item-card}} {title}", f":link: {script.stem}", ":link-type: doc"]
        if picture.exists():
            lines += [f":img-top: ../../images/gallery/{script.stem}.png", f":img-alt: {title}"]
        lines += [":::", ""]
        make_example(script, title, picture)
    lines += ["::::", "", "```{toctree}", ":hidden:", "", *(script.stem for script in scripts), "```", ""]
    write("gallery/index.md", "\n".join(lines))


def make_example(script, title, picture):
    text = script.read_text(encoding="utf-8")
    rest = "\n".join((ast.get_docstring(ast.parse(text)) or "").split("\n")[1:]).strip()
    shown = f"![{title}](../../images/gallery/{script.stem}.png)" if picture.exists() else ""
    include = f"```{{literalinclude}} ../../../examples/{script.name}\n:language: python\n```"
    command = f"```console\n$ .venv/bin/python examples/{script.name} picture.png\n```"
    write(f"gallery/{script.stem}.md", f"# {title}\n\n{rest}\n\n{shown}\n\n{command}\n\n{include}\n")


# ------------------------------------------------------------------------------------------------ docstrings


def skip_member(app, what, name, thing, skip, options):
    """Leave out what scikit-learn adds to every estimator."""
    return True if re.fullmatch(r"set_\w+_request", name) else skip


def soften(app, what, name, thing, options, lines):
    """Escape what means something to Sphinx and nothing to us: names that end in _, and bars."""
    for place, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        if "`" not in line:
            line = re.sub(r"\b(\w*[a-z])_(?=[,)\s:.]|$)", r"\1\\_", line)
        lines[place] = re.sub(r"\|(?=\S)(?![^`]*`)", r"\\|", line)


def setup(app):
    app.connect("config-inited", make_pages)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", soften, priority=400)
    app.connect("source-read", relink_own)
    return {"parallel_read_safe": True}
