"""SITE_GROUP, SITE_POLICY and SITE_MATCHED: how their lines are read and written."""

from __future__ import annotations

import pytest

from condor_pydagman.features.sites.commands import SiteGroupLine, SiteMatched, SitePolicyLine
from condor_pydagman.language.commands import Command
from condor_pydagman.language.parser import lines_of
from tests.unit.language.one_line import good, message, wrong

ROUND_TRIPS = [
    ("SITE_GROUP g NODES A B A", SiteGroupLine(1, "g", "NODES", ("A", "B", "A"))),
    ("Site-Group g splice S", SiteGroupLine(1, "g", "SPLICE", ("S",))),
    ("SITE_GROUP g ALL-NODES", SiteGroupLine(1, "g", "ALL_NODES")),
    (
        'SITE_POLICY g REQUIREMENTS  TARGET.Arch == "X86_64" && x ',
        SitePolicyLine(1, "g", "REQUIREMENTS", 'TARGET.Arch == "X86_64" && x'),
    ),
    (
        "SITE_POLICY g ATTRIBUTE WANT_X=a == b",
        SitePolicyLine(1, "g", "ATTRIBUTE", ("WANT_X", "a == b")),
    ),
    ("SITE_POLICY ALL_GROUPS idle 2h", SitePolicyLine(1, "ALL_GROUPS", "IDLE", 7200)),
    ("SITE_POLICY g GONE 0", SitePolicyLine(1, "g", "GONE", 0)),
    ("SITE_POLICY g FAILURES 2", SitePolicyLine(1, "g", "FAILURES", 2)),
    ("SITE_POLICY g CLEAN-UP C", SitePolicyLine(1, "g", "CLEAN_UP", ("C", 600))),
    ("SITE_POLICY g CLEAN_UP C 5m", SitePolicyLine(1, "g", "CLEAN_UP", ("C", 300))),
    ("SITE_POLICY g OLD_SITE never", SitePolicyLine(1, "g", "OLD_SITE", "NEVER")),
    ("SITE_MATCHED s+g site 3", SiteMatched(1, "s+g", "site", 3)),
]


@pytest.mark.parametrize(("line", "command"), ROUND_TRIPS)
def test_lines_are_read_and_written(line: str, command: Command) -> None:
    assert good(line + "\n") == command
    assert good(lines_of(command) + "\n") == command


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("SITE_GROUP all_groups ALL_NODES", "'all_groups' can't be the name of a group"),
        ("SITE_GROUP s+g NODES A", "'s+g' can't be the name of a group"),
        ("SITE_POLICY g ATTRIBUTE x == 3", "Invalid ATTRIBUTE 'x == 3'"),
        ("SITE_POLICY g ATTRIBUTE 3x = 3", "Invalid ATTRIBUTE '3x = 3'"),
        ("SITE_POLICY g WAIT", "WAIT missing time value"),
        ("SITE_POLICY g WAIT soon", "Invalid WAIT time value 'soon'"),
        ("SITE_POLICY g FAILURES 0", "Invalid FAILURES number '0'"),
        ("SITE_POLICY g FAILURES 10%", "Invalid FAILURES number '10%'"),
        ("SITE_POLICY g ROUNDS -1", "Invalid ROUNDS number '-1'"),
        ("SITE_POLICY g CLEAN_UP C x", "Invalid CLEAN_UP time value 'x'"),
        ("SITE_POLICY g OLD_SITE", "OLD_SITE missing LAST or NEVER"),
        ("SITE_MATCHED g s 0", "Invalid number of the round '0'"),
    ],
)
def test_errors(line: str, said: str) -> None:
    assert message(line + "\n").partition(": ")[2] == said


@pytest.mark.parametrize(
    ("line", "at", "why"),
    [
        ("SITE_POLICY g RANK  TARGET.x + ", "+", "a value is missing after this"),
        ("SITE_POLICY g REQUIREMENTS (a && b", "(", "'(' is not closed"),
        ("SITE_POLICY g REMATCH_IF a && b c", "c", "an operator is missing before 'c'"),
        ("SITE_POLICY g ATTRIBUTE x = 1 ! 2", "!", "an operator is missing before '!'"),
    ],
)
def test_a_mistake_in_an_expression_is_told_where_it_is(line: str, at: str, why: str) -> None:
    error = wrong(line + "\n")
    assert (error.column, error.hint) == (line.rindex(at) + 1, why)


def test_an_expression_that_is_too_long_is_refused() -> None:
    """HTCondor's library crashes on it."""
    good("SITE_POLICY g RANK " + "+".join(["a"] * 5000) + "\n")
    error = wrong("SITE_POLICY g REQUIREMENTS a" + ".a" * 50_000 + "\n")
    assert error.hint == "an expression has 10,000 characters at most"
