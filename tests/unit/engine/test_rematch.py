"""A person has a group of nodes leave its site."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.selection import one_of_each_group
from condor_pydagman.sites.policy import SitePolicy
from condor_pydagman.vocabulary import EventKind, JournalRecord, NodeCommand
from tests import make
from tests.unit.engine.matched import Matched, matched

UNIT = "A -> B; X"


def unit(**more: object) -> Matched:
    """A group of two at site s, and a node that is in none."""
    harness = matched(UNIT, "s:1 t:1", groups={"g": "A B"}, **more)
    harness.answer()
    assert harness.groups() == "g=MATCHED@s"
    return harness


def ask(harness: Matched, name: str = "A") -> do.Steered:
    node = harness.dag.ids[name]
    harness.tell(inputs.NodesSteered(1, NodeCommand.REMATCH, [node], "ann", "", True))
    harness.back()
    (answer,) = harness.asked(do.Steered)
    return answer


def refusal(harness: Matched, name: str = "A") -> str:
    ((_, why),) = ask(harness, name).refused
    return why


def test_its_jobs_are_removed_and_it_is_matched_elsewhere() -> None:
    harness = unit()
    harness.take("A", 1)
    harness.take("X", 2)
    assert ask(harness).done == 1
    assert harness.groups() == "g=LEAVING@s"
    (removal,) = harness.asked(do.RemoveJobs)
    assert (removal.cluster, "leaves site s" in removal.reason) == (1, True)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    harness.back()
    harness.answer()
    assert harness.groups() == "g=MATCHED@t"
    assert harness.submits()[-1] == "A"
    assert harness.said("taken back from site s: user ann wants another one")


def test_any_node_of_the_group_will_do() -> None:
    harness = unit()
    assert ask(harness, "B").done == 1
    assert harness.groups() in ("g=LEAVING@s", "g=WAITING")


def test_why_it_is_refused() -> None:
    harness = unit()
    assert refusal(harness, "X") == "it is in no group of nodes that are matched to sites"
    harness.take("A", 1)
    ask(harness)
    assert refusal(harness) == "its group g is leaving its site already"
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    harness.back()
    assert refusal(harness) == "its group g waits for a site"


def test_rounds_are_not_exceeded() -> None:
    harness = unit(policies={"g": SitePolicy(rounds=1)})
    assert refusal(harness) == "its group g has been matched 1 times (ROUNDS 1)"


def test_a_group_that_has_ended() -> None:
    harness = unit()
    harness.run_node("A", 1)
    harness.run_node("B", 2)
    harness.back()
    assert refusal(harness) == "its group g has ended: run its nodes again"


def test_a_wish_about_an_earlier_site_comes_too_late() -> None:
    harness = unit()
    wish = make.record(JournalRecord.STEERED, "A", value=9)
    harness.tell(wish._replace(text="ann rematch 7"))
    assert harness.groups() == "g=MATCHED@s"
    assert harness.said("comes too late: the group has been matched again")


def test_one_node_stands_for_its_group() -> None:
    dag = make.dag("A; B; C; X; Y", groups={"g": "A B", "h": "C"})
    names = [dag.names[node] for node in one_of_each_group(dag, range(len(dag)))]
    assert names == ["A", "C", "X", "Y"]
