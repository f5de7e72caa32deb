"""The contract of what finds sites for a DAGMan: a round at its start, and what comes of faults."""

from __future__ import annotations

from typing import Protocol

import pytest

COLLECTOR, DIRECTORY, DISK = "no collector", "no directory of claims", "a full disk"
FAULTS = (COLLECTOR, DIRECTORY, DISK)
Claims = dict[int, str]


class Side(Protocol):
    """One of the two: sites `north` and `south`, each with one place, and a DAG of three groups."""

    def first_round(self, claims: Claims, wanted: tuple[int, ...], fault: str = "") -> Claims | str:
        """DAGMan starts, says which sites it keeps, and asks for more.

        Returns:
            What it gets besides; why there is no round, if there is none.
        """

    def kept(self) -> Claims:
        """What other DAGMans see that it keeps."""


class SitesContract:
    """Give it a fixture `side`."""

    def test_groups_get_sites_while_there_is_room(self, side: Side) -> None:
        found = side.first_round({}, (0, 1, 2))
        assert isinstance(found, dict)
        assert sorted(found.values()) == ["north", "south"]
        assert list(found) == [0, 1]
        assert side.kept() == found

    def test_a_restart_keeps_what_it_says_and_gives_up_the_rest(self, side: Side) -> None:
        first = side.first_round({}, (0, 1))
        assert isinstance(first, dict)
        assert side.first_round({0: first[0]}, (2,)) == {2: first[1]}
        assert side.kept() == {0: first[0], 2: first[1]}

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_fault_is_told_and_changes_nothing(self, side: Side, fault: str) -> None:
        first = side.first_round({}, (0,))
        assert isinstance(first, dict)
        reason = side.first_round(first, (1,), fault)
        assert isinstance(reason, str)
        assert reason
        assert side.kept() == first

    @pytest.mark.parametrize("fault", FAULTS)
    def test_when_the_fault_is_gone_the_same_request_is_fulfilled(
        self, side: Side, fault: str
    ) -> None:
        assert isinstance(side.first_round({}, (0,), fault), str)
        assert side.kept() == {}
        found = side.first_round({}, (0,))
        assert isinstance(found, dict)
        assert side.kept() == found
