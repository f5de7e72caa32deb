"""The man pages are in step with the tables of options, and say something of every option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from condor_pydagman.dagman_job.options import OPTIONS
from tools import command_tables, man_pages

ROOT = Path(__file__).resolve().parents[3]
PAGES = man_pages.pages()


def test_every_command_has_a_page() -> None:
    entries = re.findall(r"^    (condor_\w+) = ", (ROOT / "setup.cfg").read_text("utf-8"), re.M)
    commands = {*entries, *(path.name for path in (ROOT / "scripts").iterdir())}
    assert len(commands) == 4
    assert {f"{name}.1" for name in commands} <= set(PAGES)


@pytest.mark.parametrize("option", OPTIONS, ids=[option.name for option in OPTIONS])
def test_every_option_is_told_of(option: object) -> None:
    word = command_tables.words_of(option)  # type: ignore[arg-type]
    head = rf"\fB{man_pages.roff(word.names[-1])}\fR"
    said = PAGES["condor_submit_dag.1"].partition(".SH OPTIONS")[2]
    told = said[said.index(head) :].splitlines()[1]
    assert not told.startswith((".TP", ".SH", ".SS")), "say in man/parts what it does"


def test_every_command_of_condor_pydagman_is_told_of() -> None:
    page = PAGES["condor_pydagman.1"]
    for name, parser in command_tables.parsers().items():
        assert not name or f'.SS "{man_pages.roff(name)}"' in page
        for word in command_tables.parser_options(parser):
            assert rf"\fB{man_pages.roff(word.names[-1])}\fR" in page


def test_an_option_that_a_part_leaves_out_is_named() -> None:
    part = (ROOT / "man/parts/condor_dagman.1").read_text("utf-8")
    with pytest.raises(man_pages.PartError, match="for maxidle, maxpre"):
        man_pages.page("condor_dagman.1", re.sub(r'\.\\" option Max(Idle|Pre)\n', "", part))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('.\\" option Nosuch', "no option Nosuch"),
        ('.\\" subcommand pool walk', "no command pool walk"),
        ('.\\" optoin Debug', "unknown comment"),
    ],
)
def test_a_part_that_asks_for_what_is_not_there_is_refused(line: str, message: str) -> None:
    with pytest.raises(man_pages.PartError, match=message):
        man_pages.page("condor_pydagman.1", line + "\n")


def test_a_command_that_the_part_does_not_name_is_added() -> None:
    page = man_pages.page("condor_pydagman.1", '.\\" other-subcommands\n')
    assert '.SS "flatten"' in page
    assert r"\fB\-o\fR, \fB\-\-output\fR \fIFILE\fR" in page


def test_text_is_broken_by_sentences_and_at_the_width() -> None:
    long = "word " * 20
    lines = list(
        man_pages.reflow([f"One. Two of .dag. The {long}", ".nf", long, ".fi", "e.g. this"])
    )
    assert lines[:2] == ["One.", "Two of .dag."]
    assert all(len(line) <= man_pages.WIDTH for line in lines if "word" in line and line != long)
    assert long in lines
    assert lines[-1] == "e.g. this"


def test_text_is_never_taken_for_a_request() -> None:
    wrapped = list(man_pages.reflow(["x" * 75 + " of .dagman.out and more"]))
    assert wrapped[1] == r"\&.dagman.out and more"
    assert man_pages.roff(".halt -x") == r"\&.halt \-x"
    assert man_pages.roff("a\\b") == r"a\eb"


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_is_sound(name: str) -> None:
    """What mandoc -T lint would say, as far as it can be seen without it."""
    lines = PAGES[name].splitlines()
    assert lines[1].startswith(".TH ")
    for opening, closing in ((".RS", ".RE"), (".nf", ".fi")):
        assert lines.count(opening) == lines.count(closing)
    for line, following in zip(lines, lines[1:]):
        assert line.strip(), "an empty line"
        assert line == line.rstrip()
        if line in (".TP", ".PP"):
            assert not following.startswith((".SH", ".SS", ".TP", ".PP")), line + following
    known = r"\.(TH|SH|SS|TP|TQ|PP|IP|RS|RE|nf|fi|br|nh|ad|B|I|BR|RB|BI|IB|IR|RI)( |$)|\.\\\""
    for line in lines:
        assert not line.startswith(".") or re.match(known, line), line
