"""Whose turn it was at a site, by what was seen of the claims."""

from __future__ import annotations

from condor_pydagman.features.sites.adapters.claims_directory import Claims
from condor_pydagman.features.sites.turns import Waits
from tests.torture.data_sites import Grant, granted, out_of_turn

WAITS = Waits(1.0, "ab", {"south": (1, 1.0)})


def test_places_that_were_got_between_two_looks() -> None:
    before = {"a": Claims("a", (("g", "south"),)), "b": Claims("b", (), WAITS)}
    now = {
        "a": Claims("a", (("g", "south"), ("h", "south"), ("i", "north"))),
        "b": Claims("b", (("g", "south"),)),
    }
    assert list(granted(before, now)) == [
        Grant("south", "a", "h", True),
        Grant("north", "a", "i", False),
        Grant("south", "b", "g", False),
    ]


def row(text: str) -> list[Grant]:
    """Places at a site: who got one, in capitals if another DAG waited."""
    return [Grant("south", one.lower(), "g", one.isupper()) for one in text]


def test_turns() -> None:
    one = {"south": 1}
    assert not list(out_of_turn(row("ABABAaaaa"), one))
    assert not list(out_of_turn(row("AABBA"), one))
    assert list(out_of_turn(row("aAAB"), one)) == ["a got 3 places of south in a row"]
    assert not list(out_of_turn(row("aAAB"), {"south": 2}))
