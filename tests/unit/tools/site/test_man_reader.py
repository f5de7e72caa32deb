"""What man pages are made of becomes lists, examples and links; what is unknown is refused."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from tools.site import man_pages


def document(*lines: str) -> nodes.document:
    made = new_document("x.1")
    env = SimpleNamespace(found_docs={"man/condor_dagman"}, docname="man/x")
    page = man_pages.Page(made, env)
    for line in ('.TH X 1 "" ""', ".SH NAME", *lines):
        page.feed(line)
    page.end_paragraph()
    return made


def shape(*lines: str) -> str:
    """The body of the section NAME, as pseudo-XML in one line each."""
    section = next(
        node for node in document(*lines).findall(nodes.section) if node["names"] == ["name"]
    )
    return "\n".join(child.pformat("  ").rstrip() for child in section[1:])


def test_fonts_and_escapes() -> None:
    assert man_pages.pieces(r"a \fBb\-c\fP d\e", "R") == [("R", "a "), ("B", "b-c"), ("R", " d\\")]
    assert man_pages.styled("BR", r'\-f ", " \-\-g') == [("B", "-f"), ("R", ", "), ("B", "--g")]
    assert man_pages.styled("B", '"two words" x') == [("B", "two words x")]


def test_a_term_with_two_names_and_what_is_nested_in_it() -> None:
    assert shape(
        ".TP", ".B a", ".TQ", ".B b", "first", ".RS", ".PP", "second", ".RE", ".PP", "z"
    ) == (
        "<definition_list>\n"
        "  <definition_list_item>\n"
        '    <term ids="a">\n      <strong>\n        a\n'
        '    <term ids="b">\n      <strong>\n        b\n'
        "    <definition>\n"
        "      <paragraph>\n        first\n"
        "      <paragraph>\n        second\n"
        "<paragraph>\n  z"
    )


def test_lists_examples_and_lines() -> None:
    assert shape(".IP 1. 4", "one", ".IP 2. 4", "two").count("<list_item>") == 2
    assert "bullet_list" in shape(r".IP \(bu 3", "one")
    assert "  x -y\n    z" in shape(".nf", r"x \-y", "  z", ".fi")
    assert shape("a", ".br", "b").count("<line>") == 2


def test_the_name_of_a_page_of_ours_is_a_link() -> None:
    assert 'reftarget="/man/condor_dagman"' in shape(".BR condor_dagman (1),")
    assert "reftarget" not in shape(".BR condor_q (1)")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (".XX", "the macro XX"),
        (r"\fXa", r"the font \\fX"),
        (r"\(co", r"the escape \\\(co"),
        (r"\v", r"the escape \\v"),
        (".RE", "an RE without RS"),
        (".IP x 3", "the mark x of a list"),
    ],
)
def test_what_is_unknown_is_refused(line: str, why: str) -> None:
    with pytest.raises(man_pages.ManError, match=why):
        document(line)
