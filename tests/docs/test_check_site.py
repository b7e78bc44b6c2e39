"""The check of the built site finds what is wrong with it."""

import runpy
from pathlib import Path

import pytest

CHECK = runpy.run_path(str(Path(__file__).resolve().parents[2] / "tools" / "check_site.py"))


@pytest.fixture
def site(tmp_path):
    (tmp_path / "guide").mkdir()
    for answer, words in CHECK["QUESTIONS"].values():
        (tmp_path / answer).write_text(f"<h1 id='top'>{words}</h1>")
    links = "".join(f"<a href='{answer}#top'>one click</a>" for answer, _ in CHECK["QUESTIONS"].values())
    (tmp_path / "index.html").write_text("<a href='all.html'>all</a><img src='data:image/png;base64,' alt='a dot'>")
    (tmp_path / "all.html").write_text(links)
    return tmp_path


def faults(site):
    pages = CHECK["read_site"](site)
    return [*CHECK["link_faults"](site, pages), *CHECK["click_faults"](site, pages)]


def test_a_good_site_has_no_faults(site):
    assert not faults(site)


@pytest.mark.parametrize(
    ("page", "text", "fault"),
    [
        ("a.html", "<a href='b.html'>b</a>", "a.html links to b.html, which is not there"),
        ("a.html", "<a href='all.html#no'>b</a>", "a.html links to all.html#no: the page has no such place"),
        ("a.html", "<img src='all.html'>", "a.html has a picture without words, all.html"),
        ("a.html", "<script src='https://x.org/a.js'></script>", "a.html fetches https://x.org/a.js"),
        ("index.html", "", "guide/paper.html is more than two clicks from the start page"),
        ("guide/paper.html", "<p id='top'>", "guide/paper.html does not say 'What to write'"),
    ],
)
def test_each_fault_is_found(site, page, text, fault):
    (site / page).write_text(text)
    assert any(line.endswith(fault) for line in faults(site))


def test_public_names_reach_into_the_modules():
    names = set(CHECK["public_names"]())
    assert {"fewer.select", "fewer.criteria.KNN", "fewer.roc.mrroc", "fewer.io.inspect_table"} <= names
