"""What happens to nodes: attempts, states and events, by entries of the nodes log."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.records.dagman_out import OutKind
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, JournalRecord, NodeStatus
from tests.unit.follow.bench import A, Bench, line, names

DONE, ERROR, READY = NodeStatus.DONE, NodeStatus.ERROR, NodeStatus.READY
PRE, POST = "SCRIPT PRE A x\n", "SCRIPT POST A x\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_node_that_succeeds(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.now += 2
    bench.execute(7)
    bench.now += 3
    bench.terminate(7)
    node = bench.node()
    (attempt,) = node.attempts
    assert node.status is DONE
    assert attempt.over
    assert (attempt.job, attempt.value, attempt.hosts) == ("7.0", 0, ("slot1@one",))
    assert (attempt.started - attempt.submitted, attempt.ended - attempt.started) == (2, 3)
    assert attempt.cpu_s == 1
    assert attempt.usage["Cpus"].used == 0.25
    assert [event.name for event in bench.events] == [
        "job.submit", "node.state", "job.execute", "job.terminate", "node.state"
    ]  # fmt: skip
    assert bench.events[-1].data == {"status": "DONE", "was": "SUBMITTED"}


def test_without_a_retry_a_failure_is_one(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7, value=-9)
    node = bench.node()
    assert (node.status, node.attempts[0].value) == (ERROR, -9)
    assert bench.events[-1].data["value"] == -9


def test_retries_are_attempts(bench: Bench) -> None:
    for cluster in (7, 8):
        bench.submit("A", cluster)
        bench.terminate(cluster, value=3)
    node = bench.node("RETRY A 2\n")
    assert node.status is READY
    assert [attempt.job for attempt in node.attempts] == ["7.0", "8.0"]
    assert [event.data["retry"] for event in bench.told("node.retry")] == [1, 2]
    assert bench.node("RETRY A 1\n").status is ERROR


def test_a_post_script_decides(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7, value=3)
    assert bench.node(POST).status is NodeStatus.POSTRUN
    bench.post("A", 0, 7)
    node = bench.node(POST)
    assert (node.status, node.attempts[0].value) == (DONE, 3)
    assert node.attempts[0].post is not None
    assert node.attempts[0].post.value == 0


def test_a_node_of_several_jobs_ends_with_the_last(bench: Bench) -> None:
    for proc in range(3):
        bench.submit("A", 7, proc)
    bench.terminate(7, 2)
    bench.terminate(7, 0, value=1)
    bench.terminate(7, 0, value=1)  # twice in the log
    assert bench.node().status is NodeStatus.SUBMITTED
    bench.abort(7, 1)
    node = bench.node()
    attempt = node.attempts[0]
    assert (node.status, attempt.procs, attempt.failed_procs, attempt.value) == (ERROR, 3, 2, 1)
    assert bench.node("TOLERANCE A 2\n").status is DONE


@pytest.mark.parametrize(
    ("tolerance", "by_configuration", "status"),
    [
        ("TOLERANCE A 50%\n", 0, DONE),
        ("TOLERANCE A 49%\n", 0, ERROR),
        ("", 2, DONE),
        ("", 1, ERROR),
        ("TOLERANCE A 1\n", 4, ERROR),
    ],
)
def test_how_many_jobs_may_fail(
    bench: Bench, tolerance: str, by_configuration: int, status: NodeStatus
) -> None:
    for proc in range(4):
        bench.submit("A", 7, proc)
    for proc in range(4):
        bench.terminate(7, proc, value=int(proc < 2))
    run = bench.follow(A + tolerance, failures_allowed=by_configuration)
    assert run.nodes["A"].status is status


@pytest.mark.parametrize(
    ("lines", "others"),
    [
        ("RETRY A 2 UNLESS-EXIT 3\n", "RETRY A 2 UNLESS-EXIT 7\n"),
        ("RETRY A 2 ONLY-IF 5\n", "RETRY A 2 ONLY-IF 3\n"),
        ("RETRY A 2\nABORT-DAG-ON A 3\n", "RETRY A 2\nABORT-DAG-ON A 4\n"),
    ],
)
def test_a_value_after_which_there_is_no_other_attempt(
    bench: Bench, lines: str, others: str
) -> None:
    bench.submit("A", 7)
    bench.terminate(7, value=3)
    assert bench.node(lines).status is ERROR
    assert bench.node(others).status is READY


def test_holds_releases_and_evictions(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.execute(7)
    bench.event(4, "Job was evicted.\n\t(0) CPU times\n\tReason: vacated\n", "007.000.000")
    bench.hold(7)
    attempt = bench.node().attempts[0]
    assert (attempt.held, attempt.running, attempt.evictions) == (1, 0, 1)
    bench.now += 5
    bench.event(13, "Job was released.\n\tby me\n", "007.000.000")
    attempt = bench.node().attempts[0]
    (hold,) = attempt.holds
    assert (attempt.held, hold.reason, hold.code, hold.subcode) == (0, "no such file", 13, 2)
    assert hold.released - hold.time == 5
    assert [event.name for event in bench.events[-3:]] == ["job.evict", "job.hold", "job.release"]
    assert bench.events[-3].data["reason"] == "vacated"


def test_when_none_of_its_jobs_runs(bench: Bench) -> None:
    for proc in (0, 1):
        bench.submit("A", 7, proc)
    bench.execute(7, 0)
    bench.hold(7, 0)
    bench.now += 2
    bench.execute(7, 1)
    assert bench.node().attempts[0].stopped == 0
    bench.now += 3
    bench.terminate(7, 1)
    attempt = bench.node().attempts[0]
    begin = attempt.started
    assert attempt.pauses == ((begin, begin + 2),)
    assert attempt.stopped == begin + 5


def test_a_job_removed_while_it_is_held(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.hold(7)
    bench.abort(7, reason="via condor_rm (by user me)")
    attempt = bench.node().attempts[0]
    assert (attempt.held, attempt.value) == (0, RETURN_JOB_ABORTED)
    assert attempt.reason == "via condor_rm (by user me)"
    assert attempt.holds[0].released


def test_pre_scripts_by_our_records(bench: Bench) -> None:
    bench.record(JournalRecord.PRE_ENDED, 4)
    node = bench.node(PRE)
    assert node.status is ERROR
    assert node.attempts[0].pre is not None
    assert node.attempts[0].pre.value == 4
    assert bench.node(f"{PRE}RETRY A 1\n").status is NodeStatus.PRERUN


def test_a_value_of_a_pre_script_that_skips_its_node(bench: Bench) -> None:
    bench.node(f"{PRE}PRE_SKIP A 4\n")
    ended = line(OutKind.SCRIPT_END, bench.now, "A", 4, "PRE")
    assert names(bench.follower, ended) == []  # the nodes log says it
    bench.event(34, "PRE script return value is PRE_SKIP value\n    DAG Node: A\n", "000.2.001")
    node = bench.node(f"{PRE}PRE_SKIP A 4\n")
    assert (node.status, node.skipped, len(node.attempts)) == (DONE, True, 1)


def test_a_skipped_node_whose_pre_script_is_told_late(bench: Bench) -> None:
    """The two logs are read in turn, and their times are of seconds and of milliseconds."""
    bench.event(34, "PRE script return value is PRE_SKIP value\n    DAG Node: A\n", "000.2.001")
    node = bench.node(f"{PRE}PRE_SKIP A 4\n")
    begin, end = (
        line(what, bench.now + 1, "A", 4, "PRE")
        for what in (OutKind.SCRIPT_START, OutKind.SCRIPT_END)
    )
    assert names(bench.follower, begin, end) == ["script.start"]
    assert (node.status, len(node.attempts)) == (DONE, 1)
    assert node.attempts[0].pre is not None
    assert node.attempts[0].pre.value == 4


def test_retries_that_a_person_has_set_count(bench: Bench) -> None:
    bench.record("STEERED", 1, text='ann set {"retries":1}')
    bench.submit("A", 7)
    bench.abort(7)
    assert bench.node().status is READY
    bench.log.write_text("")
    bench.record("STEERED", 1, text='ann set {"retries":0}')
    bench.submit("A", 7)
    bench.abort(7)
    assert bench.node("RETRY A 3\n").status is ERROR


def test_jobs_that_could_not_be_submitted_and_jobs_that_were_lost(bench: Bench) -> None:
    bench.record(JournalRecord.SUBMIT_FAILED)
    node = bench.node("RETRY A 3\n")
    assert node.attempts[0].reason == "why"
    bench.log.write_text("")
    bench.submit("A", 7)
    bench.record(JournalRecord.JOB_LOST, cluster=7)
    assert bench.node().status is ERROR
    bench.log.write_text("")
    bench.submit("A", 7)
    bench.record(JournalRecord.JOB_ENDED, cluster=7)
    assert bench.node().status is DONE


def test_a_job_can_write_no_record_of_dagman(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.record(JournalRecord.JOB_ENDED, cluster=7)
    text = bench.log.read_text().replace("(-01.-01.-01)", "(007.000.000)")
    bench.log.write_text(text)
    assert bench.node().status is NodeStatus.SUBMITTED


def test_noop_nodes_and_nodes_that_share_a_cluster(bench: Bench) -> None:
    for number, name in enumerate("AB", 1):
        job = f"000.2147483647.{number:03d}"
        bench.event(0, f"Job submitted from host: <x>\n    DAG Node: {name}\n", job)
        bench.event(5, "Job terminated.\n\t(1) Normal termination (return value 0)\n", job)
    for proc, name in enumerate("CD"):
        notes = f'    [ DAGNodeName = "{name}" ]\n    one of several DAG nodes in its cluster\n'
        bench.event(0, f"Job submitted from host: <x>\n{notes}", f"009.{proc:03d}.000")
    bench.terminate(9, 1)
    states = {name: node.status for name, node in bench.follow().nodes.items()}
    assert states == {"A": DONE, "B": DONE, "C": NodeStatus.SUBMITTED, "D": DONE}


def test_a_job_ends_once(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7)
    bench.abort(7)
    node = bench.node()
    assert (node.status, node.attempts[0].value) == (NodeStatus.DONE, 0)
    assert [event.name for event in bench.events if event.job] == ["job.submit", "job.terminate"]


def test_late_materialization_ends_with_its_cluster(bench: Bench) -> None:
    bench.event(35, 'Cluster submitted from host: <x>\n    [ DAGNodeName = "A" ]\n', "007.-01.-01")
    bench.submit("A", 7)
    bench.terminate(7)
    assert bench.node().status is NodeStatus.SUBMITTED
    bench.event(
        36, "Cluster removed\n\tMaterialized 1 jobs from 1 items.\tComplete\n", "007.-01.-01"
    )
    assert bench.node().status is DONE


def test_jobs_that_are_of_no_node(bench: Bench) -> None:
    bench.event(0, "Job submitted from host: <x>\n", "007.000.000")
    bench.execute(7)
    bench.hold(7)
    bench.terminate(7)
    assert bench.follow().nodes == {}
    assert bench.events == []


def test_a_job_that_is_removed_while_it_runs_is_not_evicted(bench: Bench) -> None:
    evicted = "Job was evicted.\n\t(0) CPU times\n"
    for cluster, pause, count in ((7, 1, 0), (8, 60, 1)):
        bench.submit("A", cluster)
        bench.execute(cluster)
        bench.event(4, evicted, f"{cluster:03d}.000.000")
        bench.now += pause
        bench.abort(cluster)
        attempts = bench.node("RETRY A 9\n").attempts
        assert attempts[-1].evictions == count
