"""What is known of a run, from its logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.follow.follower import MAX_SAID, order
from condor_pydagman.follow.run_model import Attempt, Halted, Run
from condor_pydagman.records.dagman_out import OutKind
from condor_pydagman.vocabulary import JournalRecord, NodeStatus
from tests.unit.follow.bench import A, Bench, follower_of, line, names


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


PRE = "SCRIPT PRE A x\n"


def test_what_follows_from_an_event_stands_behind_those_of_its_second() -> None:
    assert order(line(OutKind.START)) < order(line(OutKind.ABORT)) < 2.0
    assert order(line(OutKind.SCRIPT_START, text="PRE")) < order(
        line(OutKind.SCRIPT_START, text="POST")
    )
    assert order(line(OutKind.END, 1.25)) == 1.25  # the log has fractions of seconds


def test_a_new_run_forgets_the_last() -> None:
    follower = follower_of("JOB A x DONE\nJOB B x\n")
    names(
        follower, line(OutKind.START), line(OutKind.NEW_RUN), line(OutKind.SUBMIT_FAILURE, node="B")
    )
    assert follower.run.nodes["B"].attempts
    names(follower, line(OutKind.END, 2.0, number=1))
    assert (follower.run.exit_code, follower.run.ended) == (1, 2.0)
    again = [
        line(OutKind.START, 3.0),
        line(OutKind.VERSION, 3.0, text="25"),
        line(OutKind.TOLERANCE, 3.0, number=2),
        line(OutKind.RESCUE_FROM, 3.0, number=4),
        line(OutKind.RESCUE_READ, 3.0, text="x.rescue004"),
        line(OutKind.NEW_RUN, 3.0),
    ]
    assert names(follower, *again) == ["dag.start"]
    assert len(follower.plan.dag) == 2
    run = follower.run
    assert (run.begun, run.exit_code, run.ended) == (3.0, None, 0.0)
    assert (run.rescued_from, run.rescue_read) == (4, "x.rescue004")
    assert [start.version for start in run.starts] == ["25"]
    assert run.failures_allowed == 2
    assert run.nodes["A"].status is NodeStatus.DONE
    assert not run.nodes["B"].attempts


def test_a_recovery_goes_on_with_the_run() -> None:
    follower = follower_of()
    names(follower, line(OutKind.START), line(OutKind.NEW_RUN))
    names(follower, line(OutKind.START, 2.0), line(OutKind.RECOVERY, 2.0))
    assert [start.recovering for start in follower.run.starts] == [False, True]
    assert follower.run.begun == 1.0


def test_halts_by_file_of_which_stock_writes_only_the_state() -> None:
    follower = follower_of()
    lines = [line(OutKind.STATUS, float(at), number=n) for at, n in enumerate((0, 6, 6, 2, 6, 4))]
    told = [name for one in lines for name in names(follower, one)]
    assert told == ["dag.halt", "dag.resume", "dag.halt"]
    assert follower.run.halts == [Halted(1.0, 3.0), Halted(4.0)]


def test_halts() -> None:
    follower = follower_of()
    halt = line(OutKind.HALT)
    reason = line(OutKind.HALT_REASON, text="new calibration")
    assert names(
        follower, halt, reason, halt, line(OutKind.RESUME, 5.0), line(OutKind.RESUME, 5.0)
    ) == [
        "dag.halt",
        "dag.resume",
    ]
    assert follower.run.halts == [Halted(1.0, 5.0, "new calibration")]
    assert not follower.run.halted


def test_limits_and_counts_are_told_when_they_change() -> None:
    follower = follower_of()
    limit = line(OutKind.LIMIT, text="DAGMan_MaxJobs", number=7)
    assert names(follower, limit, limit) == ["dag.limits"]
    total, counts = line(OutKind.TOTAL, number=9), line(OutKind.COUNTS, text=" 1 2 3 0 0 3 0 0")
    assert names(follower, line(OutKind.STATUS, number=2), total, counts, counts) == ["dag.status"]
    assert follower.run.counts == (9, 1, 2, 3, 0, 0, 3, 0, 0)
    assert follower.run.dag_status == 2


def test_a_pre_script_whose_end_only_this_log_has() -> None:
    follower = follower_of(A + PRE)
    began = names(follower, line(OutKind.SCRIPT_START, node="A", text="PRE"))
    assert began == ["script.start", "node.state"]
    assert follower.run.nodes["A"].status is NodeStatus.PRERUN
    ended = line(OutKind.SCRIPT_END, 3.0, "A", 0, "PRE")
    assert names(follower, ended, ended) == ["script.end", "node.state"]
    pre = follower.run.nodes["A"].attempts[0].pre
    assert pre is not None
    assert (pre.started, pre.ended, pre.value) == (1.0, 3.0, 0)


@pytest.mark.parametrize("text", ["", A, f"{A}RETRY A 3\n"])
def test_what_can_not_be_submitted_has_failed(text: str) -> None:
    follower = follower_of(text)
    refused = line(OutKind.SUBMIT_FAILURE, node="A", text="no file")
    assert names(follower, refused) == ["node.submit_failed", "node.state"]
    node = follower.run.nodes["A"]
    assert (node.status, len(node.attempts)) == (NodeStatus.ERROR, 1)


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


def test_a_retry_of_a_pre_script_and_a_condition_that_forbids_it() -> None:
    for lines, status in (("", NodeStatus.PRERUN), (" UNLESS-EXIT 1", NodeStatus.ERROR)):
        follower = follower_of(f"{A}{PRE}RETRY A 3{lines}\n")
        names(follower, line(OutKind.SCRIPT_START, node="A", text="PRE"))
        names(follower, line(OutKind.SCRIPT_END, 2.0, "A", 1, "PRE"))
        assert follower.run.nodes["A"].status is status


def test_the_pre_script_of_a_final_node_of_the_stock_program(bench: Bench) -> None:
    bench.follow(f"{A}FINAL F x\nSCRIPT PRE F x\n")
    follower = bench.follower
    told = line(OutKind.SCRIPT_END, int(bench.now) + 1, "F", 1, "PRE")
    assert names(follower, told) == ["node.state", "script.end", "node.state"]
    node = follower.run.nodes["F"]
    assert (node.status, node.failure()) == (NodeStatus.ERROR, (1, "PRE script"))


def test_a_final_node_begins_when_nothing_else_goes_on(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.follow(f"{A}FINAL F x\nSCRIPT PRE F x\n")
    names(bench.follower, line(OutKind.SCRIPT_END, int(bench.now), "F", 1, "PRE"))
    assert bench.follower.run.nodes["F"].status is NodeStatus.NOT_READY


def test_a_pre_script_shows_that_the_provisioner_is_ready(bench: Bench) -> None:
    bench.submit("P", 7)
    bench.follow(f"PROVISIONER P p.sub\n{A}{PRE}")
    follower = bench.follower
    assert names(follower, line(OutKind.SCRIPT_END, bench.now + 1, "A", 1, "PRE"))
    assert follower.run.nodes["A"].status is NodeStatus.ERROR


def test_a_pre_script_shows_that_the_delay_of_a_retry_is_over(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7, value=1)
    bench.follow(f"{A}{PRE}RETRY A 1 DELAY 9\n")
    assert names(bench.follower, line(OutKind.SCRIPT_END, bench.now + 1, "A", 4, "PRE"))
    node = bench.follower.run.nodes["A"]
    assert (node.status, len(node.attempts)) == (NodeStatus.ERROR, 2)


def test_the_end_of_a_dag() -> None:
    follower = follower_of()
    told = names(
        follower,
        line(OutKind.REMOVED),
        line(OutKind.ABORT, text="Aborting DAG because ..."),
        line(OutKind.RESCUE_TO, text="x.rescue001"),
        line(OutKind.END, 2.0, number=2),
    )
    assert told == ["dag.rescue", "dag.end"]
    run = follower.run
    assert (run.removed, run.aborted, run.rescue_written) == (
        True, "Aborting DAG because ...", "x.rescue001"
    )  # fmt: skip


def test_a_dag_that_a_person_ends() -> None:
    follower = follower_of()
    assert not names(follower, line(OutKind.ASKED, 3.0, node="ann", text="cancel-all"))
    run = follower.run
    assert (run.cancelled_by, run.removed, run.removed_at) == ("ann", False, 3.0)


def test_who_halts_and_resumes_a_dag() -> None:
    follower = follower_of()
    halt, resume = (line(OutKind.ASKED, node="ann", text=what) for what in ("halt", "resume"))
    names(follower, resume, line(OutKind.HALT), halt, line(OutKind.RESUME))  # neither is theirs
    names(follower, halt, line(OutKind.HALT), resume, line(OutKind.RESUME))
    names(follower, line(OutKind.HALT), resume, line(OutKind.HALT), line(OutKind.RESUME))
    told = [(each.by, each.resumed_by) for each in follower.run.halts]
    assert told == [("", ""), ("ann", "ann"), ("", "")]


def test_events_can_be_left_out() -> None:
    follower = follower_of()
    follower.wanted = False
    assert names(follower, line(OutKind.START), line(OutKind.NEW_RUN), line(OutKind.HALT)) == []
    assert follower.run.halted
    follower.wanted = True
    assert names(follower, line(OutKind.RESUME)) == ["dag.resume"]


def test_a_script_that_is_deferred_does_not_run_meanwhile() -> None:
    follower = follower_of(A + PRE)
    begin = line(OutKind.SCRIPT_START, node="A", text="PRE")
    names(follower, begin)
    deferred = line(OutKind.SCRIPT_DEFERRED, 2.0, "A", 4, "PRE")
    assert names(follower, deferred) == ["script.end"]
    node = follower.run.nodes["A"]
    assert (node.status, node.attempts[0].pre) == (NodeStatus.PRERUN, None)
    assert names(follower, begin) == ["script.start"]
    assert (node.status, len(node.attempts)) == (NodeStatus.PRERUN, 1)


def test_an_attempt_names_its_first_job_if_it_has_one() -> None:
    attempt = Attempt(0)
    assert (attempt.job, attempt.in_queue) == ("", False)
    attempt.procs, attempt.cluster = 2, 7
    assert (attempt.job, attempt.in_queue) == ("7.0", True)
    attempt.ended_procs = 2
    assert not attempt.in_queue
    attempt.cluster = 0  # NOOP
    assert attempt.job == ""


def test_a_run_is_halted_until_it_is_resumed() -> None:
    run = Run()
    assert not run.halted
    run.halts = [Halted(1.0, 2.0), Halted(3.0)]
    assert run.halted


def test_nodes_that_the_dag_does_not_have(bench: Bench) -> None:
    for number, name in enumerate(("A", "x1", "x2", "x3", "x2", "x4")):
        bench.submit(name, 7 + number)
    bench.node()
    assert bench.follower.doubts == [
        "The nodes log names nodes that the DAG files, and what was added to them, do not have:"
        " x1, x2, x3 and 1 more."
    ]


def test_nodes_that_began_too_early(bench: Bench) -> None:
    bench.submit("B", 7)
    run = bench.follow("JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n")
    assert run.nodes["B"].status is NodeStatus.NOT_READY
    assert bench.follower.doubts == [
        "The nodes log tells what can't have happened to nodes of the DAG, as its files are now: B."
    ]


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


def test_dagmans_list_of_failed_nodes_is_the_whole_truth() -> None:
    follower = follower_of("JOB A x\n")
    names(
        follower,
        line(OutKind.JOB_FAILURE, node="Z", text="failed with status 3"),
        line(OutKind.LISTED_NODE, node="Y"),
        line(OutKind.FAILED_LIST),
        line(OutKind.LISTED_NODE, node="A"),
        line(OutKind.LISTED_ERROR, text="Job proc (1.0.0) failed with status 1"),
        line(OutKind.LISTED_NODE, node="B"),
        line(OutKind.LIST_END),
        line(OutKind.LISTED_NODE, node="X"),
        line(OutKind.LISTED_ERROR, text="not in it"),
    )
    assert follower.run.is_list
    assert follower.run.said_failed == {"A": "Job proc (1.0.0) failed with status 1", "B": ""}


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


def test_a_pre_script_that_runs_once_more_after_a_crash() -> None:
    follower = follower_of(A + PRE)
    begins = line(OutKind.SCRIPT_START, node="A", text="PRE")
    names(follower, line(OutKind.START), begins, line(OutKind.START, 5.0))
    again = line(OutKind.SCRIPT_START, 6.0, node="A", text="PRE")
    assert names(follower, again) == ["script.start"]


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


@pytest.mark.parametrize(("knob", "number"), [("DAGMAN_ALWAYS_RUN_POST", 1), ("AlwaysRunPost", 1)])
def test_a_post_script_after_a_failed_pre_script(knob: str, number: int, bench: Bench) -> None:
    bench.follow(f"{A}{PRE}SCRIPT POST A x\n")
    follower = bench.follower
    names(follower, line(OutKind.KNOB, text=knob, number=number))
    names(follower, line(OutKind.SCRIPT_END, bench.now, "A", 1, "PRE"))
    assert follower.run.nodes["A"].status is NodeStatus.POSTRUN


def test_a_restart_runs_anew_what_had_failed_without_a_record() -> None:
    follower = follower_of(f"{A}{PRE}JOB B x\nPARENT A CHILD B\n")
    start = line(OutKind.START)
    names(follower, start, line(OutKind.SCRIPT_END, 2.0, "A", 1, "PRE"))
    nodes = follower.run.nodes
    assert (nodes["A"].status, nodes["B"].status) == (NodeStatus.ERROR, NodeStatus.FUTILE)
    names(follower, line(OutKind.START, 5.0), line(OutKind.RECOVERY, 5.0))
    assert (nodes["A"].status, nodes["B"].status) == (NodeStatus.PRERUN, NodeStatus.NOT_READY)
    names(follower, line(OutKind.SCRIPT_END, 7.0, "A", 0, "PRE"))
    assert nodes["A"].status is NodeStatus.READY


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
