"""The colors of the pages: readable in light and in dark (WCAG 2, level AA)."""

import re
from importlib.resources import files

import pytest

TEMPLATES = files("fewer.report") / "templates"
PAGES = {"report": ["base.html"], "parcel": ["base.html", "parcel.html"]}
TEXT = {
    "report": [
        ("ink", "page"),
        ("ink", "card"),
        ("soft", "page"),
        ("soft", "card"),
        ("accent", "page"),
        ("ink", "off"),
    ],
    "parcel": [("ink", "page"), ("soft", "page")],
}
SHAPES = {
    "report": [("accent", "page"), ("accent", "card"), ("bad", "page"), ("bad", "card")]
    + [(f"k{i}", "page") for i in range(6)]
    + [(f"w{i}", "page") for i in range(5)],
    "parcel": [("curve", "page"), ("point", "page"), ("guess", "page")],
}


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colors(page, scheme):
    """Read the colors that a style sheet names, first for light, then for dark."""
    known = {}
    for name in PAGES[page]:
        blocks = re.findall(r":root \{([^}]*--\w+: #[^}]*)\}", (TEMPLATES / name).read_text(encoding="utf-8"))
        assert len(blocks) == 2
        known |= dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", blocks[scheme == "dark"]))
    return known


def test_black_on_white_has_the_contrast_that_the_standard_says():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_text_and_shapes_stand_out(page, scheme):
    known = colors(page, scheme)
    for pairs, least in ((TEXT[page], 4.5), (SHAPES[page], 3.0)):
        for ink, ground in pairs:
            assert contrast(known[ink], known[ground]) >= least, (ink, ground)
