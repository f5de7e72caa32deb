"""What DAGs that are watched have of shared limits."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from condor_pydagman.errors import FileError
from condor_pydagman.features.shared_limits import listing, outside
from condor_pydagman.features.shared_limits.commands import LimitsOfDag, LimitUse
from condor_pydagman.features.shared_limits.outside import LimitsInUse, watcher
from condor_pydagman.features.shared_limits.overview import DagPart, LimitRow
from condor_pydagman.graph.model import Dag
from tests import make

ROW = LimitRow("Tape", "JOBS", 9, False, 9, 4, (DagPart("t.dag", "ann", 7, 5, 4, 90.0, True),))
OTHER = LimitRow("other", "JOBS", 9, False, 0, 0, ())


class Limits(LimitsInUse):
    """Counts how often it is asked."""

    def __init__(self) -> None:
        super().__init__(self.all, lambda cluster: cluster == 7)
        self.asked = 0
        self.problem = False

    def all(self) -> Sequence[LimitRow]:
        self.asked += 1
        if self.problem:
            raise FileError("no directory")
        return [ROW, OTHER]


def a_dag(*limits: str) -> Dag:
    dag = make.dag("A -> B")
    LimitsOfDag.put(dag).uses = [LimitUse(limit) for limit in limits]
    return dag


def test_those_that_the_dag_keeps_to() -> None:
    limits = Limits()
    (part,) = limits.of(a_dag("TAPE"), 7)
    assert (part.name, part.taken, part.own, part.waiting) == ("Tape", 9, 5, 4)
    (part,) = limits.of(a_dag("other"), 7)
    assert (part.name, part.own) == ("other", 0)
    assert limits.asked == 1, "not for each look"


def test_one_that_the_administrator_applies_is_told_apart() -> None:
    dag = a_dag("other")
    LimitsOfDag.of(dag).applied = ("Tape",)
    assert {part.name: part.applied for part in Limits().of(dag, 7)} == {
        "Tape": True,
        "other": False,
    }
    LimitsOfDag.of(dag).uses = []
    assert [part.name for part in Limits().of(dag, 7)] == ["Tape"]


def test_nothing_is_read_for_a_dag_that_keeps_to_none() -> None:
    limits = Limits()
    assert limits.of(a_dag(), 7) == ()
    assert limits.of(None, 8) == ()
    assert not limits.asked


def test_a_dag_that_is_too_large_to_be_read_is_known_by_its_claims() -> None:
    (part,) = Limits().of(None, 7)
    assert part.name == "Tape"


def test_a_directory_that_can_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "FRESH_S", 0.0)
    monkeypatch.setattr(outside, "SHARE", 0)
    limits = Limits()
    limits.problem = True
    assert limits.of(a_dag("tape"), 7) == []
    limits.problem = False
    assert limits.of(a_dag("tape"), 7)
    assert limits.asked == 2


def test_by_the_directory_of_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing.LimitsListing, "rows", lambda listing: [ROW])
    monkeypatch.setattr(listing, "has_file", lambda path, cluster: cluster == 7)
    limits = watcher()
    assert limits.of(None, 8) == ()
    assert [part.name for part in limits.of(None, 7)] == ["Tape"]
    assert [part.name for part in limits.of(a_dag("tape"), 7)] == ["Tape"]
