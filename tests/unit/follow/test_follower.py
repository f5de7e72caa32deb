"""What is known of a run, from its logs."""

from __future__ import annotations

import signal

import pytest

from condor_pydagman.follow.failures import failure_of
from condor_pydagman.follow.follower import MAX_SAID, order
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run, ScriptRun
from condor_pydagman.records.dagman_out import OutKind
from condor_pydagman.vocabulary import JournalRecord, NodeStatus
from tests.unit.follow.bench import A, Bench, follower_of, line, names

PRE = "SCRIPT PRE A x\n"


def test_what_follows_from_an_event_stands_behind_those_of_its_second() -> None:
    assert order(line(OutKind.START)) < order(line(OutKind.ABORT)) < 2.0
    assert order(line(OutKind.SCRIPT_START, text="PRE")) < order(
        line(OutKind.SCRIPT_START, text="POST")
    )
    assert order(line(OutKind.END, 1.25)) == 1.25  # the log has fractions of seconds


def test_what_a_line_tells_before_what_led_to_it(bench: Bench) -> None:
    """Lines of stock's have whole seconds: they are read before events of their seconds."""
    bench.follow(f"{A}JOB B x\nPARENT A CHILD B\nSCRIPT PRE B x\n")
    bench.now += 0.5
    bench.submit("A", 7)
    bench.terminate(7)
    submitted, ended = bench.read()
    bench.follower.take(submitted)
    told = line(OutKind.SCRIPT_END, int(ended.time), "B", 3, "PRE")
    assert names(bench.follower, told) == []
    assert [event.name for event in bench.follower.take(ended)] == [
        *("job.terminate", "node.state", "node.state", "script.end", "node.state")
    ]
    assert bench.follower.run.nodes["B"].status is NodeStatus.ERROR


def test_events_can_be_left_out() -> None:
    follower = follower_of()
    follower.wanted = False
    assert names(follower, line(OutKind.START), line(OutKind.NEW_RUN), line(OutKind.HALT)) == []
    assert follower.run.halted
    follower.wanted = True
    assert names(follower, line(OutKind.RESUME)) == ["dag.resume"]


def test_nobody_doubts_a_dag_that_is_not_known(bench: Bench) -> None:
    bench.submit("B", 7)
    bench.follow()
    assert bench.follower.doubts == follower_of().doubts == []


def test_what_is_said_of_failures_decides_no_state() -> None:
    follower = follower_of("JOB A x\nJOB B x\nJOB C x\nJOB D x\n")
    said = [
        line(OutKind.JOB_FAILURE, node="A", text="failed with status 3"),
        line(OutKind.JOB_FAILURE, node="B", text="failed with signal 9"),
        line(OutKind.RETRY, node="B", number=1),
        line(OutKind.JOB_FAILURE, node="C", text="failed with status 1"),
        line(OutKind.SCRIPT_END, node="C", text="POST"),
        line(OutKind.SCRIPT_END, node="D", text="POST", number=2),
        line(OutKind.ERROR, text="ERROR: disk full"),
        line(OutKind.SCRIPT_ERROR, node="D", text="it is gone"),
    ]
    assert not names(follower, *said)
    assert follower.run.said_failed == {
        "A": "job failed with status 3", "D": "POST script: exit code 2",
    }  # fmt: skip
    assert list(follower.run.errors) == ["ERROR: disk full"]
    assert follower.run.unstarted == {"D": "it is gone"}
    names(follower, line(OutKind.SCRIPT_START, node="D", text="POST"))
    assert not follower.run.unstarted
    names(follower, *(line(OutKind.SCRIPT_ERROR, node=str(n), text="x") for n in range(2000)))
    assert len(follower.run.unstarted) == MAX_SAID
    assert follower.plan
    assert follower.run.nodes["A"].status is not NodeStatus.ERROR


@pytest.mark.parametrize(("ended", "cause"), [(4.0, "node.post"), (5.0, "node.stopped")])
def test_scripts_that_were_killed_as_the_dag_was_to_end(ended: float, cause: str) -> None:
    run, node, post = Run(), NodeRun("A"), ScriptRun()
    node.attempts, post.value, post.ended = [Attempt(0)], -signal.SIGKILL, ended
    node.attempts[0].post = post
    assert failure_of(node, run).cause == "node.post"
    run.abort(5.0, "ABORT-DAG-ON")
    run.remove(7.0)  # while the FINAL node ran
    assert failure_of(node, run).cause == cause


def test_errors_are_those_since_the_last_start() -> None:
    follower = follower_of()
    names(
        follower,
        line(OutKind.ERROR, text="ERROR: of before"),
        line(OutKind.START),
        line(OutKind.ERROR, text="ERROR: at the start"),
        line(OutKind.NEW_RUN),
        *(line(OutKind.ERROR, text=f"ERROR: {number}") for number in range(4)),
    )
    assert next(iter(follower.run.errors)) == "ERROR: at the start"
    assert len(follower.run.errors) == 5


def test_the_pre_script_of_a_retry_that_begins_in_the_second_of_the_failure(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.follow(f"{A}{PRE}RETRY A 1\n")
    follower, second = bench.follower, float(int(bench.now))
    begins = line(OutKind.SCRIPT_START, second, node="A", text="PRE")
    assert names(follower, begins) == []
    known = len(bench.read())
    bench.execute(7)
    bench.terminate(7, value=3)
    executed, ended = bench.read()[known:]
    follower.take(executed)
    told = follower.take(ended)
    assert [event.name for event in told][-1] == "script.start"
    assert list(follower.late) == [len(told) - 1]
    first, second_try = follower.run.nodes["A"].attempts
    assert first.pre is None
    assert second_try.pre is not None
    assert second_try.pre.started == second


def test_a_line_is_taken_as_it_is_when_its_second_is_over(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.follow(f"{A}{PRE}JOB B x\n")
    second = float(int(bench.now))
    assert names(bench.follower, line(OutKind.SCRIPT_START, second, "A", text="PRE")) == []
    bench.now = second + 0.9
    bench.submit("B", 8)
    bench.now = second + 1.0
    bench.execute(8)
    told = [[event.name for event in bench.follower.take(one)] for one in bench.read()[-2:]]
    assert ["script.start" in of_one for of_one in told] == [False, True]


def test_what_is_shown_while_nothing_comes_is_told_with_the_next_entry() -> None:
    follower = follower_of(A + PRE)
    assert names(follower, line(OutKind.START)) == ["dag.start"]
    assert follower.plan
    follower.settle()
    assert follower.run.nodes["A"].status is NodeStatus.PRERUN
    assert names(follower, line(OutKind.LIMIT, text="DAGMan_MaxJobs")) == ["dag.limits"]
    assert names(follower, line(OutKind.NEW_RUN)) == []
    begins = line(OutKind.SCRIPT_START, node="A", text="PRE")
    assert names(follower, begins) == ["script.start", "node.state"]


# What the stock program does not log.


def test_many_lines_of_one_second_are_not_looked_at_again_and_again(bench: Bench) -> None:
    nodes = range(300)
    text = "".join(f"JOB N{n} x\nSCRIPT PRE N{n} x\n" for n in nodes)
    bench.follow(f"{A}{text}PARENT A CHILD {' '.join(f'N{n}' for n in nodes)}\n")
    follower, second = bench.follower, float(int(bench.now))
    for node in nodes:
        names(follower, line(OutKind.SCRIPT_END, second, f"N{node}", 0, "PRE"))
    bench.submit("A", 7)
    bench.terminate(7)
    for event in bench.read():
        follower.take(event)
    states = {follower.run.nodes[f"N{node}"].status for node in nodes}
    assert states == {NodeStatus.READY}


def test_the_pre_script_of_a_final_node_of_the_stock_program(bench: Bench) -> None:
    bench.follow(f"{A}FINAL F x\nSCRIPT PRE F x\n")
    follower = bench.follower
    told = line(OutKind.SCRIPT_END, int(bench.now) + 1, "F", 1, "PRE")
    assert names(follower, told) == ["node.state", "script.end", "node.state"]
    node, run = follower.run.nodes["F"], follower.run
    assert (node.status, failure_of(node, run).brief) == (NodeStatus.ERROR, (1, "PRE script"))


def test_the_stock_program_goes_on_with_a_dag_of_ours(bench: Bench) -> None:
    bench.record(JournalRecord.PRE_ENDED)
    bench.follow(f"{A}{PRE}JOB B x\nSCRIPT PRE B x\n")
    follower, later = bench.follower, bench.now + 10
    names(follower, line(OutKind.START, later), line(OutKind.RECOVERY, later))
    names(follower, line(OutKind.SCRIPT_END, later + 1, "B", 3, "PRE"))
    assert follower.run.nodes["B"].status is NodeStatus.ERROR


@pytest.mark.parametrize("first", ["A", "B"])
def test_what_has_a_record_stays_failed(first: str, bench: Bench) -> None:
    other = "B" if first == "A" else "A"
    bench.follow("".join(f"JOB {name} x\nSCRIPT PRE {name} x\n" for name in (first, other)))
    follower, later = bench.follower, bench.now + 10
    names(follower, line(OutKind.SCRIPT_END, bench.now, "A", 1, "PRE"))  # read before its record
    bench.record(JournalRecord.PRE_ENDED, 1)
    for event in bench.read():
        follower.take(event)
    names(follower, line(OutKind.START, later), line(OutKind.RECOVERY, later))
    assert follower.run.nodes["A"].status is NodeStatus.ERROR
