import pytest

from fewer.cli import main
from fewer.cli._help import guide_pages


def told(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    out = capsys.readouterr()
    return end.value.code, out.out, out.err


def test_it_lists_every_page_with_its_title(capsys):
    code, out, _ = told(capsys, "help")
    assert code == 0
    for name, page in guide_pages().items():
        title = page.read_text(encoding="utf-8").splitlines()[0]
        assert any(line.startswith(name) and title.lstrip("# (")[:20] in line for line in out.splitlines()), name


@pytest.mark.parametrize("name", guide_pages())
def test_every_page_reads_plainly(name, capsys):
    code, out, _ = told(capsys, "help", name)
    assert code == 0
    assert len(out) > 300
    prose = "".join(part for i, part in enumerate(out.split("```")) if i % 2 == 0)
    for markup in ("](", ":::", "{doc}", "{ref}", "!["):
        assert markup not in prose


def test_a_topic_is_found_by_part_of_its_name_or_nearly(capsys):
    assert "patient" in told(capsys, "help", "groups")[1]
    code, _, err = told(capsys, "help", "correlatd")
    assert code == 2
    assert "did you mean correlated" in err


def test_help_of_commands_says_where_to_read_on(capsys):
    for command in ("select", "rank", "compare"):
        assert "fewer help" in told(capsys, command, "--help")[1]
