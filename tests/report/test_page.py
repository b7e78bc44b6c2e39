import pytest

from fewer.plots._style import new_figure
from fewer.report._page import as_svg, write_page
from fewer.text import cut


def test_what_fits_stays_and_the_rest_is_cut():
    assert cut("x" * 200) == "x" * 200
    assert cut("x" * 201) == "x" * 199 + "…"
    assert cut("abcdef", 4) == "abc…"
    assert cut(12.5) == "12.5"
    assert cut("a\0b") == "a\N{REPLACEMENT CHARACTER}b"


def test_a_figure_becomes_text_that_holds_no_markup_of_its_names():
    figure, axes = new_figure()
    axes.set_title("<script>alert(1)</script>")
    svg = str(as_svg(figure, 'a "title" & more'))
    assert svg.startswith('<svg role="img" aria-label="a &#34;title&#34; &amp; more"')
    assert "script" not in svg
    assert "<metadata>" not in svg
    assert str(as_svg(figure, "twice")) == str(as_svg(figure, "twice"))


def test_a_page_is_written_whole(tmp_path):
    path = write_page(tmp_path / "page.html", "a page with ü and \ud800")
    assert path.read_text(encoding="utf-8") == "a page with ü and ?"
    with pytest.raises(OSError, match="page.html"):
        write_page(tmp_path / "page.html" / "below.html", "x")
