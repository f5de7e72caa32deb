"""Shared limits as people see them."""

from __future__ import annotations

from condor_pydagman.features.shared_limits.definitions import WORDS as KINDS
from condor_pydagman.features.shared_limits.definitions import Kind, parse, together
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims, Part, PlacesClaim
from condor_pydagman.features.shared_limits.overview import (
    WORDS,
    DagPart,
    LimitRow,
    Owned,
    OwnPart,
    parts_of,
    rows,
    waits_for,
)

LIMITS = together(
    parse("tape = JOBS 10 STARTS-PER-MINUTE 60", "t"), parse("mine = PRE 2", "t", own=True)
)

B = ("b.dag", "bob", 2)


def owned(dag: str, cluster: int, parts: dict[str, Part], *, mine: bool = True) -> Owned:
    return Owned("ann" if mine else "bob", mine, cluster, True, LimitClaims(dag, "0", parts))


def test_what_dags_have_and_want() -> None:
    tape = Part({Kind.JOBS: PlacesClaim(4, 4, 9, 50.0, 4)}, ((95.0, 3), (5.0, 2)))
    others = Part({Kind.JOBS: PlacesClaim(6, 6, 6, 0.0, 2)}, (), 7, 90.0)
    two = owned("b.dag", 2, {"tape": others}, mine=False)
    found = rows(LIMITS, [owned("a.dag", 1, {"tape": tape}), two], 100.0)
    jobs = DagPart("a.dag", "ann", 1, 4, 5, 50.0, True), DagPart(*B, 2, 0, 0.0, True, 4)
    starts = DagPart("a.dag", "ann", 1, 3, 0, 0.0, True), DagPart(*B, 0, 7, 90.0, True)
    assert found == [
        LimitRow("mine", "PRE", 2, True, 0, 0, ()),
        LimitRow("tape", "JOBS", 10, False, 6, 5, jobs, 4),
        LimitRow("tape", "STARTS-PER-MINUTE", 60, False, 3, 7, starts),
    ]
    assert [row.kind for row in waits_for(found, 1)] == ["JOBS"]
    assert [row.kind for row in waits_for(found, 2)] == ["STARTS-PER-MINUTE"]
    assert waits_for(found, 3) == []


def test_a_users_own_limit_is_that_users_alone() -> None:
    parts = {"~mine": Part({Kind.PRE: PlacesClaim(1, 1, 1, 0.0, 1)})}
    found = rows(LIMITS, [owned("a", 1, parts), owned("b", 2, parts, mine=False)], 0.0)
    assert found[0].taken == 1


def test_how_limits_stand_for_one_dag() -> None:
    parts = {"tape": Part({Kind.JOBS: PlacesClaim(4, 4, 9, 50.0, 4)}), "~mine": Part({})}
    found = rows(LIMITS, [owned("a.dag", 1, parts)], 100.0)
    tape = OwnPart("tape", "JOBS", 10, "jobs", 4, 4, 5, "node", 0)
    mine = OwnPart("mine", "PRE", 2, "PRE scripts", 0, 0, 0, "PRE script", 0)
    starts = OwnPart("tape", "STARTS-PER-MINUTE", 60, "starts a minute", 0, 0, 0, "node", 0)
    assert parts_of(found, 1, None) == [tape]
    assert parts_of(found, 1, {"tape", "mine"}) == [mine, tape, starts]
    assert parts_of(found, 2, {"tape"})[0] == tape._replace(own=0, waiting=0)
    assert parts_of(found, 2, None) == []


def test_there_are_words_for_each_kind() -> None:
    assert WORDS.keys() == KINDS.keys()
