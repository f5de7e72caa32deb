"""SITE_POLICY and rematch: when a group is taken back from its site, and what becomes of it."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.engine.node_states import State
from condor_pydagman.features.common import rerun
from condor_pydagman.features.sites.groups import FORCE_AGAIN_S
from condor_pydagman.features.sites.messages import MatchSites, SitesMatched
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.selection import one_of_each_group
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import USER_DONE
from condor_pydagman.vocabulary import EventKind, JournalRecord, ScriptKind
from tests import make
from tests.features.sites.matched import Matched, matched, placed

FIRST_FAILURE = "SITE_POLICY g FAILURES 1"
UNIT = "A -> B -> C"


def unit(policy: str = FIRST_FAILURE, rooms: str = "s:1 t:1", commands: str = "") -> Matched:
    """A group of three that is matched to site s."""
    harness = placed(f"{UNIT}\nSITE_GROUP g NODES A B C\n{policy}\n{commands}", rooms)
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
    assert harness.sites.rounds[0] == 2


def test_its_jobs_are_removed_first() -> None:
    harness = placed("A; B; C\nSITE_GROUP g NODES A B C\nSITE_POLICY g FAILURES 1")
    harness.take("A", 1)
    harness.take("B", 2)
    harness.happens(make.terminated(1, value=3))
    assert harness.groups() == "g=LEAVING@s"
    (removal,) = harness.asked(do.RemoveJobs)
    assert removal.cluster == 2
    assert "leaves site s" in removal.reason
    assert harness.replay().engine.run.job_table.by_node[1].removing
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2))
    assert harness.groups() == "g=LEAVING@s"
    assert harness.state("C") is not State.WAITING  # it is being submitted
    harness.take("C", 3)
    assert [one.cluster for one in harness.asked(do.RemoveJobs)] == [3]
    assert harness.replay().engine.run.job_table.by_node[2].removing
    harness.happens(make.of_job(EventKind.JOB_ABORTED, 3))
    assert harness.groups() == "g=WAITING"


def test_a_script_that_runs_goes_on_to_its_end() -> None:
    harness = placed("""
        A; B
        SCRIPT PRE B x
        SITE_GROUP g NODES A B
        SITE_POLICY g FAILURES 1
    """)
    harness.take("A", 1)
    harness.happens(make.terminated(1, value=3))
    assert harness.groups() == "g=LEAVING@s"
    harness.pre_ends("B")
    harness.back()
    assert harness.groups() == "g=WAITING"
    assert harness.state("B") is State.WAITING


def test_no_retries_while_it_leaves() -> None:
    harness = placed("""
        A; B
        RETRY ALL_NODES 5
        SITE_GROUP g NODES A B
        SITE_POLICY g FAILURES 2
    """)
    harness.take("B", 1)
    harness.take("A", 2)
    harness.tell(make.terminated(2, value=1))
    harness.take("A", 3)
    harness.happens(make.terminated(3, value=1))
    assert harness.groups() == "g=LEAVING@s"
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    harness.take("A", 4)  # it was being submitted
    harness.happens(make.of_job(EventKind.JOB_ABORTED, 4))
    assert harness.groups() == "g=WAITING"
    harness.answer()
    harness.take("A", 5)
    harness.tell(make.terminated(5, value=1))
    assert harness.state("A") is not State.FAILED  # it has its retries again


CLEAN = "SITE_POLICY g CLEAN_UP C 100\nSITE_POLICY g FAILURES 1"


def test_a_clean_up_node_runs_at_the_old_site() -> None:
    harness = unit(CLEAN)
    harness.run_node("A", 1, value=1)
    harness.back()
    assert harness.groups() == "g=CLEANING@s"
    assert harness.submits() == ["C"]
    assert harness.asked(do.SubmitNode)[0].site == "s"
    harness.take("C", 2)
    harness.happens(make.terminated(2))
    assert harness.groups() == "g=WAITING"
    assert harness.states() == "A=WAITING B=WAITING C=WAITING"
    harness.answer()
    for number, name in enumerate("ABC", 11):
        harness.run_node(name, number)
    assert harness.asked(do.Exit)[0].code == 0


@pytest.mark.parametrize("value", [0, 1])
def test_what_depends_on_the_clean_up_node_waits_for_its_turn(value: int) -> None:
    harness = placed("""
        A -> B -> C -> D
        SITE_GROUP g NODES A B C
        SITE_POLICY g CLEAN_UP C 100
        SITE_POLICY g FAILURES 1
    """)
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
    harness.happens(make.of_job(EventKind.JOB_ABORTED, 2))
    assert harness.groups() == "g=WAITING"


def test_clean_ups_of_two_groups_whose_parent_has_failed_end_together() -> None:
    """The end of the first finds the node of the second futile again."""
    harness = placed(
        """
            X -> C -> Z; X -> D; A; B; Y
            SITE_GROUP g NODES A C
            SITE_POLICY g CLEAN_UP C 100
            SITE_GROUP h NODES B D
            SITE_POLICY h CLEAN_UP D 100
            SITE_POLICY ALL_GROUPS FAILURES 1
        """,
        "s:2",
    )
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
    assert harness.state("Z") is State.WAITING, "its parent is not futile meanwhile"
    harness.now = max(harness.sites.clean_up_until.values())
    harness.tell(inputs.Wake())
    harness.read_back()
    assert "CLEANING" not in harness.groups()
    assert {harness.state(name) for name in "CDZ"} == {State.FUTILE}


def test_retries_of_a_clean_up_do_not_count_at_the_next_site() -> None:
    """It fails when its time is over: the retry that this has cost is given back."""
    harness = unit(
        "SITE_POLICY g CLEAN_UP C 100\nSITE_POLICY g FAILURES 2", commands="RETRY A 1\nRETRY C 1"
    )
    harness.run_node("A", 1, value=1)
    harness.run_node("A", 3, value=1)
    harness.back()
    harness.take("C", 2)
    harness.wait(100)
    harness.happens(make.terminated(2, value=1))
    harness.answer()
    harness.run_node("A", 11)
    harness.run_node("B", 12)
    harness.run_node("C", 13, value=1)
    assert harness.submits() == ["C"]
    harness.run_node("C", 14)
    assert harness.asked(do.Exit)[0].code == 0


def test_a_group_that_is_to_leave_is_not_over_in_a_recovery_in_which_another_one_leaves() -> None:
    """All of its nodes have ended, the last one by the failure because of which it leaves."""
    harness = placed(
        """
            A; B
            SITE_GROUP g NODES A
            SITE_GROUP h NODES B
            SITE_POLICY ALL_GROUPS FAILURES 1
        """,
        "s:2 t:2",
    )
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=1))
    left = harness.echo(harness.tell(*harness.echo(harness.last)))
    harness.tell(make.terminated(2, value=1), *left)
    later = harness.restart()
    (record,) = later.ever(do.AppendJournalRecord)
    assert (record.record, record.node) == ("SITE_TAKEN_BACK", 1)


def test_a_parent_runs_again_while_its_child_leaves_with_its_group() -> None:
    """A replay numbers the child's next run as the live run did, which had dropped it."""
    harness = placed("""
        A -> B; C
        SCRIPT PRE B x
        SITE_GROUP g NODES B C
        SITE_POLICY g FAILURES 1
    """)
    run = harness.engine.run
    harness.take("C", 1)
    harness.run_node("A", 2)
    harness.tell(inputs.Halt())
    harness.happens(inputs.ScriptEnded(run.dag.ids["B"], ScriptKind.PRE, 0))
    assert State(run.nodes.states[run.dag.ids["B"]]) == State.READY
    for number, (command, node) in enumerate((("REMATCH", "B"), ("RERUN", "A"))):
        ids, options = [run.dag.ids[node]], "1" if command == "REMATCH" else ""
        harness.tell(NodesSteered(number, NodeCommand[command], ids, "ann", options, True))
        harness.read_back()
    harness.happens(make.terminated(1, value=-9))
    assert run.nodes.retries[run.dag.ids["B"]] == 1


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
        seen.append((harness.groups(), records))
    assert seen == [
        ("g=MATCHED@s", ["SITE_TAKEN_BACK"]),
        ("g=LEAVING@s", ["SITE_LEFT"]),
        ("g=CLEANING@s", []),
    ]
    harness.take("C", 2)
    harness.tell(make.terminated(2))
    other = harness.restart()
    records = [one.record for one in other.all if isinstance(one, do.AppendJournalRecord)]
    assert records == ["SITE_CLEANED"]


def test_the_old_site_comes_last_or_not_at_all() -> None:
    harness = unit(rooms="s:9")
    harness.run_node("A", 1, value=1)
    harness.back()
    (wanted,) = harness.ever(MatchSites)[-1].wanted
    assert (wanted.last, wanted.never) == (("s",), ())
    harness.answer()
    assert harness.groups() == "g=WAITING", "the site rests"
    harness.wait(60)
    harness.answer()
    assert harness.groups() == "g=MATCHED@s"
    harness = unit("SITE_POLICY g FAILURES 1\nSITE_POLICY g OLD_SITE NEVER", "s:9")
    harness.run_node("A", 1, value=1)
    harness.back()
    harness.answer()
    assert harness.groups() == "g=WAITING"


def test_rounds_are_limited() -> None:
    harness = unit("SITE_POLICY g FAILURES 1\nSITE_POLICY g ROUNDS 2")
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
        """
            A -> B; A -> D; E
            SITE_GROUP g NODES A B
            SITE_POLICY g FAILURES 1
        """,
        "s:1 t:1",
    )
    harness.take("E", 9)
    harness.answer()
    harness.run_node("A", 1)
    harness.take("B", 2)
    harness.take("D", 3)
    harness.happens(make.terminated(2, value=1))
    assert harness.groups() == "g=WAITING"
    harness.tell(make.terminated(3))
    assert harness.state("D") is State.DONE
    harness.answer()
    harness.run_node("A", 4)
    assert harness.state("D") is State.DONE


@pytest.mark.parametrize("then", ["its group leaves", "it gets a parent", "FINAL begins"])
def test_a_node_that_waits_again_when_its_parent_has_failed_is_futile(then: str) -> None:
    """It goes on after its parent has started over, and can't be submitted."""
    harness = placed(
        """
            A -> X; B; Y
            FINAL F n.sub
            SITE_GROUP g NODES A B
            SITE_GROUP h NODES X Y
            SITE_POLICY ALL_GROUPS FAILURES 1
            SITE_POLICY g ROUNDS 1
        """,
        "s:2",
    )
    for number, name in enumerate("ABY", 1):
        harness.take(name, number)
    harness.tell(make.terminated(1))
    harness.happens(make.terminated(3, value=int(then == "its group leaves")))
    harness.happens(make.terminated(2, value=1))
    assert (harness.state("A"), harness.state("X")) == (State.FAILED, State.SUBMITTING)
    node = harness.dag.ids["X"]
    harness.tell(inputs.Halt(), inputs.SubmitFailed(node, "it is busy", False))
    assert harness.state("X") is (State.FUTILE if "leaves" in then else State.READY)
    if then == "it gets a parent":
        rerun.wait_for_more(harness.engine.run, node)
        harness.engine.settle()
    harness.wait(60)
    assert harness.state("X") is State.FUTILE


def test_what_waits_for_other_parents_waits_for_the_node_again() -> None:
    harness = matched(
        """
            A -> B; A -> D; E -> D
            SITE_GROUP g NODES A B
            SITE_POLICY g FAILURES 1
        """,
        "s:1 t:1",
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


@pytest.mark.parametrize(("runs", "is_done"), [(False, True), (True, False)])
def test_nodes_that_the_file_calls_done_stay_done_unless_they_have_run(
    runs: bool, is_done: bool
) -> None:
    of = make.dag("""
        A -> B
        DONE A
        SITE_GROUP g NODES A B
        SITE_POLICY g FAILURES 1
    """)
    of.flags[0] |= USER_DONE
    harness = placed(of)
    if runs:
        harness.tell(inputs.SubmitFailed(1, "it is busy", False))
        harness.tell(NodesSteered(1, NodeCommand.RERUN, [0], "ann", "", True))
        harness.read_back()
        harness.run_node("A", 2)
    harness.run_node("B", 1, value=1)
    harness.back()
    assert (harness.state("A") is State.DONE) == is_done
    assert harness.state("B") is State.WAITING


def test_jobs_at_a_dead_site_are_removed_by_force() -> None:
    harness = placed("""
        A; B
        SITE_GROUP g NODES A B
        SITE_POLICY g FAILURES 1
        SITE_POLICY g REMOVAL 300
    """)
    harness.take("A", 1)
    harness.take("B", 2)
    harness.happens(make.terminated(1, value=3))
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
    harness.happens(make.of_job(EventKind.JOB_ABORTED, 2))
    assert harness.groups() == "g=WAITING"
    assert not harness.sites.force_at


def test_a_script_that_runs_when_all_jobs_are_removed_is_waited_for() -> None:
    harness = placed("""
        A; B
        SCRIPT POST B x
        SITE_GROUP g NODES A B
        SITE_POLICY g FAILURES 1
        SITE_POLICY g REMOVAL 300
    """)
    harness.take("A", 1)
    harness.take("B", 2)
    harness.happens(make.terminated(1, value=3))
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2))
    harness.wait(300)
    assert harness.states() == "A=FAILED B=POST_RUN"
    due = harness.engine.next_deadline()
    assert due is None or due > harness.now


def test_the_job_of_a_clean_up_at_a_dead_site_is_removed_by_force() -> None:
    harness = unit(f"{CLEAN}\nSITE_POLICY g REMOVAL 300")
    harness.run_node("A", 1, value=1)
    harness.back()
    harness.take("C", 2)
    harness.wait(100)
    (removal,) = harness.asked(do.RemoveJobs)
    assert not removal.force
    harness.wait(300)
    assert [one.force for one in harness.asked(do.RemoveJobs)] == [True]
    harness.happens(make.of_job(EventKind.JOB_ABORTED, 2))
    assert harness.groups() == "g=WAITING"


# When a group is taken back: idle or held jobs, failures, sites without ads, expressions.


def one_job(policy: str = "") -> Matched:
    """A group whose only job is in the queue at site s; `policy` is a SITE_POLICY command of it."""
    harness = matched(f"A; Z\nSITE_GROUP g NODES A\n{policy}", "s:1 t:1")
    harness.take("Z", 9)
    harness.answer()
    harness.take("A", 1)
    return harness


def taken_back_for(harness: Matched) -> str:
    """Why the group is being taken back, '' if it is not."""
    harness.back()
    if "LEAVING" not in harness.groups():
        return ""
    (said,) = [
        say.text for say in harness.all if hasattr(say, "text") and "has to leave site" in say.text
    ]
    return str(said).partition(": ")[2]


def test_a_job_that_is_idle_for_too_long() -> None:
    harness = one_job("SITE_POLICY g IDLE 60")
    harness.wait(59)
    assert taken_back_for(harness) == ""
    harness.wait(1)
    assert taken_back_for(harness) == "job 1.0 of node A has been idle for 60 s"


def test_a_job_that_runs_is_not_idle() -> None:
    harness = one_job("SITE_POLICY g IDLE 60")
    harness.tell(make.of_job(EventKind.EXECUTE, 1))
    harness.wait(100)
    assert taken_back_for(harness) == ""
    harness.tell(make.of_job(EventKind.JOB_EVICTED, 1))
    harness.wait(59)
    assert taken_back_for(harness) == ""
    harness.wait(1)
    assert taken_back_for(harness) != ""


def test_a_restart_does_not_set_the_clock_back() -> None:
    harness = one_job("SITE_POLICY g IDLE 60")
    harness.wait(50)
    other = harness.restart()
    assert other.engine.next_deadline() == harness.now + 10


def test_a_job_whose_submission_the_log_has_lost_is_idle() -> None:
    harness = placed("A\nSITE_GROUP g NODES A\nSITE_POLICY g IDLE 60", "s:1")
    later = harness.restart()
    later.tell(inputs.QueueListed((inputs.QueuedJob(1, 0, "A", 0),)))
    later.read_back()
    later.wait(59)
    assert not later.ever(AppendJournalRecord)[1:]
    (taken_back,) = (one for one in later.wait(1) if isinstance(one, AppendJournalRecord))
    assert taken_back.record == "SITE_TAKEN_BACK"
    assert taken_back.text == "job 1.0 of node A has been idle for 60 s"


def test_a_job_that_is_known_to_run_is_not_idle_when_it_is_adopted() -> None:
    harness = one_job("SITE_POLICY g IDLE 60")
    harness.tell(make.of_job(EventKind.EXECUTE, 1))
    harness.tell(make.record(JournalRecord.ADOPTED, "A", value=1, cluster=1))
    harness.wait(100)
    assert taken_back_for(harness) == ""


def test_a_job_that_is_held_for_too_long() -> None:
    harness = one_job("SITE_POLICY g HELD 30")
    harness.wait(100)
    harness.tell(make.of_job(EventKind.JOB_HELD, 1))
    harness.wait(29)
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 1))
    harness.tell(make.of_job(EventKind.JOB_HELD, 1))
    harness.wait(29)
    assert taken_back_for(harness) == ""
    harness.wait(1)
    assert taken_back_for(harness) == "job 1.0 of node A has been on hold for 30 s"


def test_a_site_whose_ad_is_gone() -> None:
    harness = one_job("SITE_POLICY g GONE 120")
    for gone in (False, True, True):
        harness.wait(60)
        harness.tell(SitesMatched((), ["t"] if gone else ["s", "t"]))
        assert taken_back_for(harness) == ""
    harness.wait(60)
    assert taken_back_for(harness) == "its site has had no ad for 120 s"


def test_an_ad_that_comes_back() -> None:
    harness = one_job("SITE_POLICY g GONE 120")
    for there in (["t"], ["t", "s"], ["t"], ["t"]):
        harness.wait(60)
        harness.tell(SitesMatched((), there))
        assert taken_back_for(harness) == ""


def test_a_place_that_others_have_got() -> None:
    harness = one_job()
    harness.tell(SitesMatched((), ["s"], without_room=[0]))
    assert taken_back_for(harness) == (
        "others have got its place while DAGMan's job was not in the queue"
    )


def test_an_expression_that_becomes_true() -> None:
    harness = one_job("SITE_POLICY g REMATCH_IF TARGET.Bad")
    harness.wait(60)
    harness.answer(unfit=(0,))
    assert taken_back_for(harness) == "TARGET.Bad is true"


def test_without_a_policy_nothing_is_taken_back() -> None:
    harness = one_job()
    harness.tell(make.of_job(EventKind.JOB_HELD, 1))
    harness.wait(100_000)
    assert taken_back_for(harness) == ""
    assert harness.groups() == "g=MATCHED@s"


# A person has a group of nodes leave its site.


PAIR = "A -> B; X"


def pair(commands: str = "") -> Matched:
    """A group of two at site s, and a node that is in none."""
    harness = placed(f"{PAIR}\nSITE_GROUP g NODES A B\n{commands}")
    assert harness.groups() == "g=MATCHED@s"
    return harness


def ask(harness: Matched, name: str = "A") -> do.Steered:
    node = harness.dag.ids[name]
    harness.happens(NodesSteered(1, NodeCommand.REMATCH, [node], "ann", "", True))
    (answer,) = harness.asked(do.Steered)
    return answer


def refusal(harness: Matched, name: str = "A") -> str:
    ((_, why),) = ask(harness, name).refused
    return why


def test_its_jobs_are_removed_and_it_is_matched_elsewhere() -> None:
    harness = pair()
    harness.take("A", 1)
    harness.take("X", 2)
    assert ask(harness).done == 1
    assert harness.groups() == "g=LEAVING@s"
    (removal,) = harness.asked(do.RemoveJobs)
    assert (removal.cluster, "leaves site s" in removal.reason) == (1, True)
    harness.happens(make.of_job(EventKind.JOB_ABORTED, 1))
    harness.answer()
    assert harness.groups() == "g=MATCHED@t"
    assert harness.submits()[-1] == "A"
    assert harness.said("has to leave site s: user ann wants another one")


def test_any_node_of_the_group_will_do() -> None:
    harness = pair()
    assert ask(harness, "B").done == 1
    assert harness.groups() in ("g=LEAVING@s", "g=WAITING")


def test_why_it_is_refused() -> None:
    harness = pair()
    assert refusal(harness, "X") == "it is in no group of nodes that are matched to sites"
    harness.take("A", 1)
    ask(harness)
    assert refusal(harness) == "its group g is leaving its site already"
    harness.happens(make.of_job(EventKind.JOB_ABORTED, 1))
    assert refusal(harness) == "its group g waits for a site"


def test_rounds_are_not_exceeded() -> None:
    harness = pair("SITE_POLICY g ROUNDS 1")
    assert refusal(harness) == "its group g has been matched 1 times (ROUNDS 1)"


def test_a_group_that_has_ended() -> None:
    harness = pair()
    harness.run_node("A", 1)
    harness.run_node("B", 2)
    harness.back()
    assert refusal(harness) == "its group g has ended: run its nodes again"


def test_a_wish_about_an_earlier_site_comes_too_late() -> None:
    harness = pair()
    wish = make.record("STEERED", "A", value=9)
    harness.tell(wish._replace(text="ann rematch 7"))
    assert harness.groups() == "g=MATCHED@s"
    assert harness.said("comes too late: the group has been matched again")


def test_one_node_stands_for_its_group() -> None:
    dag = make.dag("A; B; C; X; Y\nSITE_GROUP g NODES A B\nSITE_GROUP h NODES C")
    names = [dag.names[node] for node in one_of_each_group(dag, range(len(dag)))]
    assert names == ["A", "C", "X", "Y"]


def test_a_group_whose_site_is_gone_waits_no_longer_than_its_policy_says() -> None:
    harness = one_job("SITE_POLICY g GONE 120\nSITE_POLICY g WAIT 100")
    for _ in range(2):
        harness.wait(60)
        harness.tell(SitesMatched((), ["t"]))
    harness.wait(60)
    assert taken_back_for(harness) == "its site has had no ad for 120 s"
    harness.happens(make.of_job(EventKind.JOB_ABORTED, 1))
    harness.tell(SitesMatched((), ["t"], [(0, "t does not meet the requirements")]))
    harness.wait(99)
    harness.back()
    assert harness.groups() == "g=WAITING"
    harness.wait(1)
    harness.back()
    assert harness.groups() == "g=SITELESS"
    assert "there was none for 100 s (WAIT 100)" in harness.engine.run.nodes.errors[0]


def _placing(policy: str) -> Matched:
    """A group whose DATA node has failed at a site."""
    text = "DATA A a.dap\nJOB B b\nDATA C c.dap\nPARENT A CHILD B\nPARENT B CHILD C\n"
    text += f"SITE_GROUP g NODES A B C\n{policy}\n"
    harness = placed(build(["t.dag"], lambda _path: text, BuildOptions()), "s:1 t:1")
    harness.take("A", 1)
    harness.happens(make.terminated(1, value=1))
    return harness


def test_what_is_allocated_there_is_given_back() -> None:
    harness = _placing("SITE_POLICY g FAILURES 1")
    assert _forgets_before(harness.all, "SITE_LEFT") == ((0, 2), True)


def test_notes_of_its_placements_are_forgotten_first() -> None:
    """Before the log has it that the group has left, or has cleaned up: a crash between the two
    forgets them once more."""
    harness = _placing(CLEAN)
    assert harness.groups() == "g=CLEANING@s"
    assert _forgets_before(harness.all, "SITE_LEFT") == ((0, 2), False)
    assert not any(isinstance(one, do.ForgetPlacements) for one in harness.restart().all)
    harness.take("C", 2)
    harness.happens(make.terminated(2))
    assert _forgets_before(harness.all, "SITE_CLEANED") == ((0, 2), True)


def _forgets_before(actions: list[do.Action], record: str) -> do.ForgetPlacements:
    """The nodes whose notes are forgotten right before a record is written; are they gone?"""
    (place,) = [
        number
        for number, one in enumerate(actions)
        if isinstance(one, AppendJournalRecord) and one.record is record
    ]
    before = actions[place - 1]
    assert isinstance(before, do.ForgetPlacements)
    return before
