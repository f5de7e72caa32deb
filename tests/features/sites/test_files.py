"""Descriptions of sites, and what is wrong with them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.features.common.expression_text import MAX_EXPRESSION
from condor_pydagman.features.sites.adapters.files import (
    MAX_BYTES,
    lonely_probes,
    read_site,
    read_sites,
    with_probe,
)

NORTH = """\
# The cluster in the north.
Name = "north"
MaxMatches = 2 + 1
Requirements = TARGET.WantsCpus <= 64 && \\
    TARGET.Owner != "guest"

SiteEnvironment = "QUEUE=long;AREA=/scratch"
"""


def described(tmp_path: Path, text: str, name: str = "north.ad") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_site(tmp_path: Path) -> None:
    site = read_site(described(tmp_path, NORTH))
    assert (site.name, site.problems, site.warnings) == ("north", (), ())
    ad = site.ad()
    assert ad.eval("MaxMatches") == 3
    assert str(ad.lookup("Requirements")).endswith('TARGET.Owner != "guest"')


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "north.ad"
    os.mkfifo(path)
    assert read_site(path).problems == (f"{path}: it is not a regular file",)


def test_a_directory_is_no_description(tmp_path: Path) -> None:
    path = tmp_path / "north.ad"
    path.mkdir()
    assert len(read_site(path).problems) == 1


def test_an_expression_on_which_the_library_crashes(tmp_path: Path) -> None:
    """It follows each operator with a call of a function; see MAX_EXPRESSION."""
    text = 'Name = "north"\nMaxMatches = 1\nX = '
    site = read_site(described(tmp_path, text + "a" + ".a" * 300_000))
    assert site.problems == (f"{site.path}:3: this has more than 10,000 characters",)
    site = read_site(described(tmp_path, text + "a" + ".a" * (MAX_EXPRESSION // 2 - 1)))
    assert not site.problems
    assert "X" in str(site.ad())


MISTAKES = [
    ("Name = ", ":1: there is no expression\n    Name ="),
    ('Name "x"', ":1: expected: Attribute = expression\n"),
    ('Name = "x', ":1: this text has no end: a quote is missing\n" + '    Name = "x\n           ^'),
    (
        '\nName = "x"\nMaxMatches = (3',
        ":3: '(' is not closed\n    MaxMatches = (3\n                 ^",
    ),
    ('Name = "x"\nname = "y"\nMaxMatches = 1', ":2: name is set in line 1 already\n"),
    ('Name = "x"\nMaxMatches = -1', ":2: a site needs MaxMatches = N, a whole number"),
    ('Name = "x"\nMaxMatches = "many"', ":2: a site needs MaxMatches = N, a whole number"),
    ('Name = "x"\nMaxMatches = nothing', ":2: a site needs MaxMatches = N, a whole number"),
    ("MaxMatches = 1", ":1: a site needs a Name"),
    ("Name = 7\nMaxMatches = 1", ":1: a site needs a Name"),
    ('Name = "x"\nMaxMatches = 1\nSiteEnvironment = 3', ":3: SiteEnvironment must be text"),
    (
        'Name = "x"\nMaxMatches = 1\nSiteEnvironment = "3"',
        ':3: SiteEnvironment must be "NAME=value',
    ),
]


@pytest.mark.parametrize(("text", "problem"), MISTAKES)
def test_a_mistake_is_shown_where_it_is(tmp_path: Path, text: str, problem: str) -> None:
    path = described(tmp_path, text)
    assert read_site(path).problems[0].startswith(f"{path}{problem}")


def test_all_mistakes_are_told_together(tmp_path: Path) -> None:
    site = read_site(described(tmp_path, 'Name = "x\nMaxMatches = 1 +\nRank ='))
    assert [problem.split(":")[1] for problem in site.problems] == ["1", "2", "3"]


def test_a_misspelt_attribute_is_doubted(tmp_path: Path) -> None:
    text = 'Name = "x"\nMaxMatches = 1\nRequirement = true'
    site = read_site(described(tmp_path, text))
    assert not site.problems
    assert site.warnings == (
        f"{tmp_path}/north.ad:3: warning: Requirement: did you mean Requirements?",
    )


# As the users of the recipe of 2003 publish it.
OLD = """\
MyType = "Machine"
Name = "x-north"
UpdateSequenceNumber = 1058990000
CurMatches = 7
MaxMatches = 50
Requirements = (CurMatches < MaxMatches) && (TARGET.WANT_X =?= TRUE)
Rank = 1
WantAdRevaluate = True
Is_X_Site = True
MatchmakerURL = "https://dags.example.org"
SiteEnvironment = "SiteGatekeeperURL=ce.north.example.org;SiteWorkingArea=/scratch/units"
"""


def test_an_ad_of_the_old_recipe(tmp_path: Path) -> None:
    path = described(tmp_path, OLD)
    site = read_site(path)
    assert (site.name, site.problems) == ("x-north", ())
    own = "MyType, UpdateSequenceNumber, CurMatches"
    note = f"{path}:1: note: the monitor sets {own} itself; what is given here is ignored"
    assert site.warnings == (note,)
    kept = [line.partition(" = ")[0] for line in OLD.splitlines()]
    assert list(site.attributes) == [name for name in kept if name not in own.split(", ")]


DOUBTS = [
    ("MaxMatches = 99999999999999999999999", "warning: MaxMatches is 0: no group is matched"),
    ("MaxMatches = 4 - 4", "warning: MaxMatches is 0"),
    (
        'MaxMatches = 1\nSiteEnvironment = "A=1;word;1B=2;;C=x\\ny;D;E=2"',
        "warning: SiteEnvironment: no NAME=value, and left out: 'word', '1B=2', 'C=x\\ny', ...",
    ),
    ("MaxMatches = 1\nSiteEnvironment = \"A=1 'B=x y' c\"", "and left out: 'c'"),
]


@pytest.mark.parametrize(("text", "doubt"), DOUBTS)
def test_what_may_be_meant_otherwise(tmp_path: Path, text: str, doubt: str) -> None:
    site = read_site(described(tmp_path, f'Name = "x"\n{text}\n'))
    assert not site.problems
    (warning,) = site.warnings
    assert doubt in warning


@pytest.mark.parametrize("text", ["MaxMatches = 0", 'MaxMatches = 1\nSiteEnvironment = "A=1;"'])
def test_what_is_meant_so(tmp_path: Path, text: str) -> None:
    assert read_site(described(tmp_path, f'\ufeffName = "x"\n{text}\n')).warnings == ()


def test_of_two_with_one_name_the_second_is_wrong(tmp_path: Path) -> None:
    described(tmp_path, NORTH, "a.ad")
    described(tmp_path, NORTH.replace("north", "North"), "b.ad")
    described(tmp_path, "this is none", "notes.txt")
    one, other = read_sites(tmp_path)
    assert not one.problems
    why = f"Name 'North' is that of {tmp_path}/a.ad as well; give one another"
    assert other.problems == (f"{tmp_path}/b.ad: {why}",)


def test_what_is_no_description(tmp_path: Path) -> None:
    (tmp_path / "bytes.ad").write_bytes(b'Name = "x"\nMaxMatches = \xff')
    (tmp_path / "folder.ad").mkdir()
    (tmp_path / "gone.ad").symlink_to("nowhere")
    (tmp_path / "large.ad").write_bytes(b"#" * (MAX_BYTES + 1))
    problems = [site.problems[0].removeprefix(f"{tmp_path}/") for site in read_sites(tmp_path)]
    assert problems == [
        "bytes.ad:2: this is not UTF-8",
        "folder.ad: Is a directory",
        "gone.ad: No such file or directory",
        "large.ad: more than 1,000,000 bytes",
    ]


def test_what_is_wrong_apart_from_a_line_that_can_not_be_read(tmp_path: Path) -> None:
    text = 'Name "x"\nMaxMatches = -1\nRank = (1\nSiteEnvironment = 3'
    site = read_site(described(tmp_path, text))
    told = [problem.partition("\n")[0].partition(".ad:")[2] for problem in site.problems]
    assert told == [
        "1: expected: Attribute = expression",
        "3: '(' is not closed",
        "2: a site needs MaxMatches = N, a whole number that is not negative",
        '4: SiteEnvironment must be text: "NAME=value;NAME=value"',
    ]


USELESS = [
    ("Area = Aera", "submit files can't use $(MATCH_Area): its value is undefined"),
    ("Area = 1 / 0", "submit files can't use $(MATCH_Area): its value is error"),
    ("Area = {1, 2}", "submit files can't use $(MATCH_Area): it is no text, number or truth"),
    (f'Area = "{"a" * 2001}"', "submit files can't use $(MATCH_Area): it has more than 2,000"),
    ("Area = TARGET.Depth", ""),
    ("Area = MaxMatches - CurMatches", ""),
    ("Requirements = TARGET.Depth < 3\nRank = Depth", ""),
]


@pytest.mark.parametrize(("line", "warning"), USELESS)
def test_an_attribute_that_submit_files_can_not_use(
    tmp_path: Path, line: str, warning: str
) -> None:
    site = read_site(described(tmp_path, f'Name = "x"\nMaxMatches = 1\n{line}\n'))
    assert not site.problems
    assert len(site.warnings) == bool(warning)
    assert all(f".ad:3: warning: {warning}" in one for one in site.warnings)


def test_an_attribute_that_the_probe_may_define(tmp_path: Path) -> None:
    path = described(tmp_path, 'Name = "x"\nMaxMatches = 1\nFull = QueueDepth > 9\n')
    path.with_suffix(".probe").touch()
    assert read_site(path).warnings == ()


def test_a_probe_that_can_not_be_executed(tmp_path: Path) -> None:
    path = described(tmp_path, NORTH)
    probe = path.with_suffix(".probe")
    assert not with_probe(read_site(path)).problems
    probe.write_text("#!/bin/sh\n")
    why = f"{probe}: it can't be executed (chmod +x {probe})"
    assert with_probe(read_site(path)).problems == (why,)
    probe.chmod(0o755)
    assert not with_probe(read_site(path)).problems
    (tmp_path / "south.probe").touch()
    assert lonely_probes(tmp_path) == [
        f"{tmp_path}/south.probe: warning: it is not used, as there is no south.ad"
    ]
