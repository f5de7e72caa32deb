"""Definitions of shared limits: what they may say, and what is told of those that may not."""

from __future__ import annotations

import pytest

from condor_pydagman.errors import ConfigError
from condor_pydagman.features.shared_limits.definitions import (
    Kind,
    Limit,
    parse,
    shown,
    together,
    unknown,
)


def test_several_definitions_in_lines_and_behind_semicolons() -> None:
    text = "a = JOBS 10 idle 5; b = PRE 2 POST 3\n# none = JOBS 1\nc.d = starts_per_minute 60 # yes"
    assert parse(text, "here") == [
        Limit("a", {Kind.JOBS: 10, Kind.IDLE: 5}),
        Limit("b", {Kind.PRE: 2, Kind.POST: 3}),
        Limit("c.d", {Kind.STARTS: 60}),
    ]
    assert parse(" ;\n", "here") == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a JOBS 1", "a JOBS 1: there is no '='"),
        ("a b = JOBS 1", "'a b' can't be a name"),
        ("*a = JOBS 1", "'*a' can't be a name"),
        ("a = ", "needs a number after it"),
        ("a = JOBS", "needs a number after it"),
        ("a = JOB 1", "'JOB' is none of JOBS, IDLE, PRE, POST, STARTS-PER-MINUTE"),
        ("a = JOBS 0", "expected a number from 1"),
        ("a = JOBS -1", "expected a number from 1"),
        ("a = JOBS 1 JOBS 2", "JOBS is there twice"),
        ("a = JOBS 1; A = JOBS 2", "A is defined twice"),
    ],
)
def test_mistakes_are_told_with_the_place(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse(text, "PLACE")
    assert str(error.value).startswith("PLACE: ") and told in str(error.value)


def test_all_mistakes_are_told_together() -> None:
    with pytest.raises(ConfigError) as error:
        parse("a = X 1; b = JOBS none", "PLACE")
    assert "'X'" in str(error.value) and "JOBS none" in str(error.value)


def test_a_users_own_limit_replaces_none_of_the_access_point() -> None:
    shared, own = (
        parse("Tape = JOBS 5", "knob"),
        parse("tape = JOBS 9; mine = PRE 1", "f", own=True),
    )
    found = together(shared, own)
    assert found["tape"].most == {Kind.JOBS: 5} and not found["tape"].own
    assert found["mine"].own and found["mine"].key != "mine"


def test_an_unknown_name_is_told_with_those_that_there_are() -> None:
    known = together(parse("Tape = JOBS 5; disk = JOBS 1", "knob"), [])
    assert unknown("taep", known, "KNOB") == (
        "SHARED_LIMIT taep: no such limit; the limits are Tape, disk (defined by KNOB); did you"
        " mean Tape?"
    )
    assert "no limit is defined; limits are defined by KNOB" in unknown("x", {}, "KNOB")


def test_a_limit_is_shown_as_it_is_defined() -> None:
    (limit,) = parse("a = IDLE 5 JOBS 10", "here")
    assert shown(limit) == "JOBS 10 IDLE 5"
