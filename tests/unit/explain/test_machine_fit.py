"""Jobs and machines, by the Requirements of both."""

from __future__ import annotations

from typing import Any

import classad2
import pytest

from condor_pydagman.errors import PydagmanError
from condor_pydagman.explain import jobs
from condor_pydagman.explain.jobs import fit_of
from condor_pydagman.explain.known_facts import Clause

MEMORY = "(TARGET.Memory >= RequestMemory)"


def ad(**attributes: Any) -> Any:
    """An ad; Requirements are an expression."""
    found = classad2.ClassAd()
    for name, value in attributes.items():
        found[name] = classad2.ExprTree(value) if name == "Requirements" else value
    return found


def job(requirements: str, **attributes: Any) -> Any:
    return ad(Requirements=requirements, ClusterId=7, ProcId=0, **attributes)


def slot(**attributes: Any) -> Any:
    return ad(**{"Requirements": "true", "State": "Unclaimed", "Memory": 100, **attributes})


def test_free_busy_and_unfit_slots() -> None:
    slots = [slot(), slot(State="Claimed"), slot(Memory=10)]
    fit = fit_of(job(MEMORY, RequestMemory=50), 3, ("A",), slots)
    assert (fit.jobs, fit.job, fit.nodes) == (3, "7.0", ("A",))
    assert (fit.slots, fit.willing, fit.able, fit.free) == (3, 2, 2, 1)
    text = "TARGET.Memory >= RequestMemory"
    assert fit.clauses == (Clause(text, 2, ("RequestMemory = 50",)),)


def test_a_partitionable_slot_counts_as_if_nothing_ran_in_it() -> None:
    whole = slot(PartitionableSlot=True, Memory=0, TotalSlotMemory=100)
    part = slot(SlotType="Dynamic", State="Claimed")
    fit = fit_of(job(MEMORY, RequestMemory=50), 1, ("A",), [whole, part])
    assert (fit.slots, fit.partitionable, fit.able, fit.free) == (1, 1, 1, 0)
    assert whole["Memory"] == 0


def test_slots_that_refuse_the_job() -> None:
    slots = [slot(Requirements='TARGET.Owner == "ann"')]
    fit = fit_of(job(MEMORY, RequestMemory=50, Owner="bob"), 1, ("A",), slots)
    assert (fit.willing, fit.able) == (1, 0)


def test_each_clause_is_counted() -> None:
    requirements = '(TARGET.Arch == "VAX") && (TARGET.HasFoo) && (Purpose == "x")'
    slots = [slot(Arch="X86_64"), slot(Arch="X86_64", HasFoo=True)]
    fit = fit_of(job(requirements, Purpose="x"), 1, ("A",), slots)
    assert [clause.slots for clause in fit.clauses] == [0, 1, 2]
    assert fit.clauses[2].values == ('Purpose = "x"',)


def test_an_attribute_that_is_undefined() -> None:
    whole = job(MEMORY)
    whole["RequestMemory"] = classad2.ExprTree("ifThenElse(Used isnt undefined, Used, Asked)")
    assert fit_of(whole, 1, (), [slot()]).clauses[0].values == ("RequestMemory = undefined",)


def test_an_empty_pool() -> None:
    assert fit_of(job("true"), 1, ("A",), []).slots == 0


def test_an_ad_that_grows_without_end() -> None:
    """Its owner has written it: whoever looks must not run out of memory."""
    texts = {f"A{n}": classad2.ExprTree(f"strcat(A{n - 1}, A{n - 1})") for n in range(1, 40)}
    with pytest.raises(PydagmanError):
        fit_of(job("size(A39) > 0", A0="x" * 100, **texts), 1, ("A",), [slot()])


def test_more_slots_than_are_compared_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_AT_A_TIME", 2)
    slots = [slot(), slot(Memory=10), slot(State="Claimed"), slot(PartitionableSlot=True), slot()]
    fit = fit_of(job(MEMORY, RequestMemory=50), 1, ("A",), slots)
    assert (fit.slots, fit.willing, fit.able, fit.free, fit.partitionable) == (5, 4, 4, 3, 1)
    assert [clause.slots for clause in fit.clauses] == [4]
