"""A group is taken back from its site: its jobs, its clean-up, and its nodes that start over."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.site_records import FORCE_AGAIN_S
from condor_pydagman.graph.model import USER_DONE
from condor_pydagman.sites.policy import SitePolicy
from condor_pydagman.vocabulary import EventKind, JournalRecord, NodeCommand, ScriptKind
from tests import make
from tests.unit.engine.matched import Matched, matched

FIRST_FAILURE = SitePolicy(failures=1)
UNIT = "A -> B -> C"


def unit(policy: SitePolicy = FIRST_FAILURE, rooms: str = "s:1 t:1", **more: object) -> Matched:
    """A group of three that is matched to site s."""
    harness = matched(UNIT, rooms, groups={"g": "A B C"}, policies={"g": policy}, **more)
    harness.answer()
    assert harness.groups() == "g=MATCHED@s"
    return harness


def test_all_its_nodes_start_over_at_another_site() -> None:
    harness = unit()
    harness.run_node("A", 1)
    harness.run_node("B", 2, value=1)
    assert harness.states() == "A=DONE B=FAILED C=FUTILE"
    harness.back()
    assert harness.groups() == "g=WAITING"
    assert harness.states() == "A=WAITING B=WAITING C=WAITING"
    harness.answer()
    assert harness.groups() == "g=MATCHED@t"
    assert harness.submits() == ["A"]
    for number, name in enumerate("ABC", 11):
        harness.run_node(name, number)
    assert harness.asked(do.Exit)[0].code == 0
    assert harness.engine.run.sites.rounds[0] == 2


def test_its_jobs_are_removed_first() -> None:
    harness = matched("A; B; C", "s:1 t:1", groups={"g": "A B C"}, policies={"g": FIRST_FAILURE})
    harness.answer()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=3))
    harness.back()
    assert harness.groups() == "g=LEAVING@s"
    (removal,) = harness.asked(do.RemoveJobs)
    assert removal.cluster == 2
    assert "leaves site s" in removal.reason
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2))
    assert harness.groups() == "g=LEAVING@s"
    assert harness.state("C") is not State.WAITING  # it is being submitted
    harness.take("C", 3)
    assert [one.cluster for one in harness.asked(do.RemoveJobs)] == [3]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 3))
    harness.back()
    assert harness.groups() == "g=WAITING"


def test_a_script_that_runs_goes_on_to_its_end() -> None:
    harness = matched(
        "A; B", "s:1 t:1", groups={"g": "A B"}, policies={"g": FIRST_FAILURE}, pre={"B": "x"}
    )
    harness.answer()
    harness.take("A", 1)
    harness.tell(make.terminated(1, value=3))
    harness.back()
    assert harness.groups() == "g=LEAVING@s"
    harness.pre_ends("B")
    harness.back()
    assert harness.groups() == "g=WAITING"
    assert harness.state("B") is State.WAITING


def test_no_retries_while_it_leaves() -> None:
    policy = SitePolicy(failures=2)
    harness = matched(
        "A; B", "s:1 t:1", groups={"g": "A B"}, policies={"g": policy}, retries={"A": 5, "B": 5}
    )
    harness.answer()
    harness.take("B", 1)
    harness.take("A", 2)
    harness.tell(make.terminated(2, value=1))
    harness.take("A", 3)
    harness.tell(make.terminated(3, value=1))
    harness.back()
    assert harness.groups() == "g=LEAVING@s"
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    harness.take("A", 4)  # it was being submitted
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 4))
    harness.back()
    assert harness.groups() == "g=WAITING"
    harness.answer()
    harness.take("A", 5)
    harness.tell(make.terminated(5, value=1))
    assert harness.state("A") is not State.FAILED  # it has its retries again


CLEAN = SitePolicy(failures=1, clean_up="C", clean_up_time=100)


def test_a_clean_up_node_runs_at_the_old_site() -> None:
    harness = unit(CLEAN)
    harness.run_node("A", 1, value=1)
    harness.back()
    assert harness.groups() == "g=CLEANING@s"
    assert harness.submits() == ["C"]
    assert harness.asked(do.SubmitNode)[0].site == "s"
    harness.take("C", 2)
    harness.tell(make.terminated(2))
    harness.back()
    assert harness.groups() == "g=WAITING"
    assert harness.states() == "A=WAITING B=WAITING C=WAITING"
    harness.answer()
    for number, name in enumerate("ABC", 11):
        harness.run_node(name, number)
    assert harness.asked(do.Exit)[0].code == 0


@pytest.mark.parametrize("value", [0, 1])
def test_what_depends_on_the_clean_up_node_waits_for_its_turn(value: int) -> None:
    harness = matched(UNIT + " -> D", "s:1 t:1", groups={"g": "A B C"}, policies={"g": CLEAN})
    harness.answer()
    harness.run_node("A", 1, value=1)
    harness.back()
    harness.run_node("C", 2, value=value)
    harness.back()
    assert harness.groups() == "g=WAITING"
    assert harness.state("D") is State.WAITING
    assert not harness.engine.run.nodes.errors


def test_a_clean_up_has_so_much_time() -> None:
    harness = unit(CLEAN)
    harness.run_node("A", 1, value=1)
    harness.back()
    harness.take("C", 2)
    assert harness.engine.next_deadline() == harness.now + 100
    harness.wait(100)
    assert [one.cluster for one in harness.asked(do.RemoveJobs)] == [2]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2))
    harness.back()
    assert harness.groups() == "g=WAITING"


def test_clean_ups_of_two_groups_whose_parent_has_failed_end_together() -> None:
    """The end of the first finds the node of the second futile again."""
    policies = {
        name: SitePolicy(failures=1, clean_up=node, clean_up_time=100)
        for name, node in (("g", "C"), ("h", "D"))
    }
    groups = {"g": "A C", "h": "B D"}
    harness = matched("X -> C; X -> D; A; B; Y", "s:2", groups=groups, policies=policies)
    harness.answer()
    harness.run_node("X", 1, value=1)
    harness.take("A", 2)
    harness.take("B", 3)
    harness.take("Y", 4)
    taken_back = harness.echo(
        harness.tell(make.terminated(2, value=1), make.terminated(3, value=1))
    )
    harness.tell(inputs.Halt())  # so that the clean-ups do not begin
    harness.tell(*harness.echo(harness.tell(*taken_back)))
    assert harness.groups() == "g=CLEANING@s h=CLEANING@s"
    harness.now = max(harness.engine.run.sites.clean_up_until.values())
    harness.tell(inputs.Wake())
    harness.read_back()
    assert "CLEANING" not in harness.groups()
    assert (harness.state("C"), harness.state("D")) == (State.FUTILE, State.FUTILE)


def test_retries_of_a_clean_up_do_not_count_at_the_next_site() -> None:
    """It fails when its time is over: the retry that this has cost is given back."""
    harness = unit(CLEAN._replace(failures=2), retries={"A": 1, "C": 1})
    harness.run_node("A", 1, value=1)
    harness.run_node("A", 3, value=1)
    harness.back()
    harness.take("C", 2)
    harness.wait(100)
    harness.tell(make.terminated(2, value=1))
    harness.back()
    harness.answer()
    harness.run_node("A", 11)
    harness.run_node("B", 12)
    harness.run_node("C", 13, value=1)
    assert harness.submits() == ["C"]
    harness.run_node("C", 14)
    assert harness.asked(do.Exit)[0].code == 0


def test_a_group_that_is_to_leave_is_not_over_in_a_recovery_in_which_another_one_leaves() -> None:
    """All of its nodes have ended, the last one by the failure because of which it leaves."""
    policies = dict.fromkeys("gh", FIRST_FAILURE)
    harness = matched("A; B", "s:2 t:2", groups={"g": "A", "h": "B"}, policies=policies)
    harness.answer()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=1))
    left = harness.echo(harness.tell(*harness.echo(harness.last)))
    harness.tell(make.terminated(2, value=1), *left)
    later = harness.restart()
    (record,) = later.ever(do.AppendJournalRecord)
    assert (record.record, record.node) == (JournalRecord.SITE_TAKEN_BACK, 1)


def test_a_parent_runs_again_while_its_child_leaves_with_its_group() -> None:
    """A replay numbers the child's next run as the live run did, which had dropped it."""
    policies = {"g": FIRST_FAILURE}
    harness = matched("A -> B; C", groups={"g": "B C"}, policies=policies, pre={"B": "x"})
    harness.answer()
    run = harness.engine.run
    harness.take("C", 1)
    harness.run_node("A", 2)
    harness.tell(inputs.Halt())
    harness.tell(inputs.ScriptEnded(run.dag.ids["B"], ScriptKind.PRE, 0))
    harness.back()
    assert State(run.nodes.states[run.dag.ids["B"]]) == State.READY
    for number, (command, node) in enumerate((("REMATCH", "B"), ("RERUN", "A"))):
        ids, options = [run.dag.ids[node]], "1" if command == "REMATCH" else ""
        harness.tell(inputs.NodesSteered(number, NodeCommand[command], ids, "ann", options, True))
        harness.read_back()
    harness.tell(make.terminated(1, value=-9))
    harness.back()
    assert run.nodes.retries[run.dag.ids["B"]] == 1


def test_a_clean_up_that_never_began() -> None:
    harness = unit(CLEAN)
    harness.run_node("A", 1, value=1)
    harness.tell(inputs.Halt())
    harness.back()
    assert harness.groups() == "g=LEAVING@s" or harness.groups() == "g=MATCHED@s"


def test_a_restart_in_each_step() -> None:
    harness = unit(CLEAN)
    harness.take("A", 1)
    steps = [make.terminated(1, value=1)]
    seen = []
    while steps:
        harness.tell(*steps)
        steps = harness.echo(harness.last)
        other = harness.restart()
        records = [one.record for one in other.all if isinstance(one, do.AppendJournalRecord)]
        seen.append((harness.groups(), [one.value for one in records]))
    assert seen == [
        ("g=MATCHED@s", ["SITE_TAKEN_BACK"]),
        ("g=LEAVING@s", ["SITE_LEFT"]),
        ("g=CLEANING@s", []),
    ]
    harness.take("C", 2)
    harness.tell(make.terminated(2))
    other = harness.restart()
    records = [one.record for one in other.all if isinstance(one, do.AppendJournalRecord)]
    assert records == [JournalRecord.SITE_CLEANED]


def test_the_old_site_comes_last_or_not_at_all() -> None:
    harness = unit(rooms="s:9")
    harness.run_node("A", 1, value=1)
    harness.back()
    (wanted,) = harness.ever(do.MatchSites)[-1].wanted
    assert (wanted.last, wanted.never) == (("s",), ())
    harness.answer()
    assert harness.groups() == "g=MATCHED@s"
    harness = unit(SitePolicy(failures=1, old_site="NEVER"), "s:9")
    harness.run_node("A", 1, value=1)
    harness.back()
    harness.answer()
    assert harness.groups() == "g=WAITING"


def test_rounds_are_limited() -> None:
    harness = unit(SitePolicy(failures=1, rounds=2))
    for number in (1, 2):
        harness.run_node("A", number, value=1)
        harness.back()
        if number == 1:
            harness.answer()
    assert harness.groups() == "g=SITELESS"
    assert harness.states() == "A=FAILED B=FUTILE C=FUTILE"
    assert "it has been matched 2 times (ROUNDS 2)" in harness.engine.run.nodes.errors[0]
    assert harness.asked(do.Exit)[0].code == 1


def test_what_others_have_used_stays_used() -> None:
    """D has begun with what A has made."""
    harness = matched(
        "A -> B; A -> D; E", "s:1 t:1", groups={"g": "A B"}, policies={"g": FIRST_FAILURE}
    )
    harness.take("E", 9)
    harness.answer()
    harness.run_node("A", 1)
    harness.take("B", 2)
    harness.take("D", 3)
    harness.tell(make.terminated(2, value=1))
    harness.back()
    assert harness.groups() == "g=WAITING"
    harness.tell(make.terminated(3))
    assert harness.state("D") is State.DONE
    harness.answer()
    harness.run_node("A", 4)
    assert harness.state("D") is State.DONE


def test_what_waits_for_other_parents_waits_for_the_node_again() -> None:
    harness = matched(
        "A -> B; A -> D; E -> D", "s:1 t:1", groups={"g": "A B"}, policies={"g": FIRST_FAILURE}
    )
    harness.take("E", 9)
    harness.answer()
    harness.run_node("A", 1)
    harness.run_node("B", 2, value=1)
    harness.back()
    harness.tell(make.terminated(9))
    assert harness.state("D") is State.WAITING
    harness.answer()
    harness.run_node("A", 3)
    assert harness.state("D") is State.READY


def test_nodes_that_the_user_has_marked_done_stay_done() -> None:
    of = make.dag("A -> B", groups={"g": "A B"}, policies={"g": FIRST_FAILURE}, done="A")
    of.flags[0] |= USER_DONE
    harness = matched(of, "s:1 t:1")
    harness.answer()
    harness.run_node("B", 1, value=1)
    harness.back()
    assert harness.states() == "A=DONE B=WAITING"


def test_jobs_at_a_dead_site_are_removed_by_force() -> None:
    policy = SitePolicy(failures=1, removal=300)
    harness = matched("A; B", "s:1 t:1", groups={"g": "A B"}, policies={"g": policy})
    harness.answer()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=3))
    harness.back()
    (removal,) = harness.asked(do.RemoveJobs)
    assert not removal.force
    harness.wait(299)
    assert not harness.asked(do.RemoveJobs)
    harness.wait(1)
    (removal,) = harness.asked(do.RemoveJobs)
    assert removal.force
    assert removal.cluster == 2
    assert harness.said("site s has not confirmed for 300 s")
    harness.wait(FORCE_AGAIN_S)
    assert [one.force for one in harness.asked(do.RemoveJobs)] == [True]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2))
    harness.back()
    assert harness.groups() == "g=WAITING"
    assert not harness.engine.run.sites.force_at


def test_a_script_that_runs_when_all_jobs_are_removed_is_waited_for() -> None:
    policy = SitePolicy(failures=1, removal=300)
    harness = matched("A; B", groups={"g": "A B"}, policies={"g": policy}, post={"B": "x"})
    harness.answer()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=3))
    harness.back()
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2))
    harness.wait(300)
    assert harness.states() == "A=FAILED B=POST_RUN"
    due = harness.engine.next_deadline()
    assert due is None or due > harness.now


def test_the_job_of_a_clean_up_at_a_dead_site_is_removed_by_force() -> None:
    policy = SitePolicy(failures=1, clean_up="C", clean_up_time=100, removal=300)
    harness = unit(policy)
    harness.run_node("A", 1, value=1)
    harness.back()
    harness.take("C", 2)
    harness.wait(100)
    (removal,) = harness.asked(do.RemoveJobs)
    assert not removal.force
    harness.wait(300)
    assert [one.force for one in harness.asked(do.RemoveJobs)] == [True]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2))
    harness.back()
    assert harness.groups() == "g=WAITING"
