"""A DAG that is followed: events in order, each once, wherever a reader begins again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.follower import Plan
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor import dag_monitor
from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.found_dag import FoundDag, find_dag
from condor_pydagman.monitor.plan import read_plan
from condor_pydagman.vocabulary import NodeStatus
from tests.dag_logs import DagLogs


@pytest.fixture
def logs(tmp_path: Path) -> DagLogs:
    (tmp_path / "t.dag").write_text(
        "JOB A a.sub\nJOB B a.sub\nSCRIPT PRE B x\nRETRY A 1\nPARENT A CHILD B\n"
    )
    return DagLogs(tmp_path)


def found(logs: DagLogs) -> FoundDag:
    return find_dag(str(logs.log.with_name("t.dag")), ask=False)


def plan(logs: DagLogs) -> Callable[[], Plan]:
    return lambda: read_plan(found(logs))


def all_events(monitor: DagMonitor) -> list[DagEvent]:
    events = monitor.poll()
    while monitor.more:
        events += monitor.poll()
    return events


def a_run(logs: DagLogs, look: Callable[[], object] = lambda: None) -> None:
    steps: list[Callable[[], None]] = [
        logs.start,
        lambda: logs.submit("A", 7),
        lambda: logs.execute(7),
        lambda: logs.terminate(7, value=2),
        lambda: logs.say("Retrying node A (retry #1 of 1)..."),
        lambda: logs.submit("A", 8),
        lambda: logs.terminate(8),
        lambda: logs.say("Running PRE script of Node B..."),
        lambda: logs.say("PRE Script of node B completed successfully."),
        lambda: logs.submit("B", 9),
        lambda: logs.hold(9),
        lambda: logs.abort(9),
        lambda: logs.end(1),
    ]
    for step in steps:
        step()
        logs.now += 1.25
        look()


@pytest.mark.parametrize("fraction", [0.0, 0.25])
def test_a_post_script_starts_before_it_ends(logs: DagLogs, fraction: float) -> None:
    logs.log.with_name("t.dag").write_text(
        "JOB A a.sub\nJOB B a.sub\nSCRIPT POST A x\nSCRIPT POST B x\n"
    )
    logs.start()
    for number, name in enumerate("AB"):
        logs.submit(name, number + 7)
    logs.now += fraction
    for number, name in enumerate("AB"):
        logs.terminate(number + 7)
        logs.say(f"Running POST script of Node {name}...")
    for name in "BA":
        logs.post(name, 0)
        logs.say(f"POST Script of node {name} completed successfully.")
    events = all_events(DagMonitor(found(logs), read_plan=plan(logs)))
    for name in "AB":
        told = [event.name for event in events if event.node == name and event.data.get("script")]
        assert told == ["script.start", "script.end"]
    for number, event in enumerate(events):
        monitor = DagMonitor(found(logs), since=event.id, read_plan=plan(logs))
        assert all_events(monitor) == events[number + 1 :]


def test_line_ends_of_windows_change_nothing(logs: DagLogs) -> None:
    a_run(logs)
    events = [event._replace(id="") for event in all_events(DagMonitor(found(logs)))]
    for file in (logs.log, logs.out):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    told = all_events(DagMonitor(found(logs)))
    assert [event._replace(id="") for event in told] == events


def test_a_reader_goes_on_behind_any_event(logs: DagLogs) -> None:
    a_run(logs)
    events = all_events(DagMonitor(found(logs), read_plan=plan(logs)))
    assert len({event.id for event in events}) == len(events)
    for number, event in enumerate(events):
        monitor = DagMonitor(found(logs), since=event.id, read_plan=plan(logs))
        assert all_events(monitor) == events[number + 1 :]
        assert monitor.run.exit_code == 1


def test_of_a_new_run_everything_is_new(logs: DagLogs) -> None:
    a_run(logs)
    last = all_events(DagMonitor(found(logs)))[-1].id
    live = DagMonitor(found(logs))
    all_events(live)
    logs.start()
    for cluster in range(20, 30):  # more than there was
        logs.submit("A", cluster)
        logs.terminate(cluster)
    for monitor in (DagMonitor(found(logs), since=last), live):
        events = all_events(monitor)
        assert [event.name for event in events[:2]] == ["dag.start", "job.submit"]
        assert events[1].job == "20.0"
        assert not monitor.over


def test_a_run_that_begins_with_a_rescue_file_while_it_is_followed(
    logs: DagLogs, tmp_path: Path
) -> None:
    def names() -> dict[str, str]:
        return {name: node.status.name for name, node in monitor.run.nodes.items()}

    monitor = DagMonitor(found(logs), read_plan=plan(logs))
    assert not all_events(monitor)
    assert names() == {"A": "READY", "B": "NOT_READY"}
    a_run(logs)
    all_events(monitor)
    assert names() == {"A": "DONE", "B": "ERROR"}
    (tmp_path / "t.dag.rescue001").write_text("DONE A\n")
    logs.start(rescue=str(tmp_path / "t.dag.rescue001"))
    all_events(monitor)
    assert names() == {"A": "DONE", "B": "PRERUN"}


def test_only_the_last_run_is_told_unless_more_is_asked_for(logs: DagLogs) -> None:
    a_run(logs)
    first = all_events(DagMonitor(found(logs)))[0].id
    a_run(logs)
    assert [event.name for event in all_events(DagMonitor(found(logs)))].count("dag.start") == 1
    older = all_events(DagMonitor(found(logs), since=first))
    assert [event.name for event in older].count("dag.end") == 2


def test_logs_in_blocks_keep_the_order_of_time(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_run(logs)
    events = all_events(DagMonitor(found(logs), read_plan=plan(logs)))
    monkeypatch.setattr(dag_monitor, "BLOCK_BYTES", 1200)
    assert all_events(DagMonitor(found(logs), read_plan=plan(logs))) == events


def test_the_end_of_big_logs(logs: DagLogs) -> None:
    a_run(logs)
    monitor = DagMonitor(found(logs), tail_bytes=300)
    run = monitor.read()
    assert not run.complete
    assert run.exit_code == 1


def test_a_dagman_that_is_to_be_started_again_is_not_over(logs: DagLogs) -> None:
    logs.start()
    logs.end(3)
    monitor = DagMonitor(found(logs))
    monitor.read()
    assert not monitor.over
    logs.start(fresh=False)
    logs.end(0)
    assert monitor.read().exit_code == 0
    assert monitor.over
    assert [start.recovering for start in monitor.run.starts] == [False, True]


def test_a_retry_that_has_failed_within_a_second_is_not_still_to_come(logs: DagLogs) -> None:
    """The line of the retry has whole seconds: it is read behind the end of the attempt."""
    logs.start()
    for cluster in (7, 8):
        logs.submit("A", cluster)
        logs.terminate(cluster, value=3)
        if cluster == 7:
            logs.say("Retrying node A (retry #1 of 1)...")
        logs.now += 0.01
    logs.end(1)
    node = DagMonitor(found(logs)).read().nodes["A"]
    assert (node.status, len(node.attempts)) == (NodeStatus.ERROR, 2)


def submitted_again(logs: DagLogs, at: float) -> DagMonitor:
    """A reader of a DAG whose job was submitted then."""
    return DagMonitor(found(logs)._replace(submitted=at, state=DagState.IDLE, exit_code=None))


def test_the_run_before_is_not_that_of_a_dag_submitted_again(logs: DagLogs) -> None:
    a_run(logs)
    logs.now += 10
    monitor = submitted_again(logs, logs.now)
    assert (monitor.poll(), monitor.over, monitor.run.starts) == ([], False, [])
    logs.say("** /usr/bin/condor_dagman (CONDOR_DAGMAN) STARTING UP")
    assert (monitor.poll(), monitor.begun) == ([], False)
    logs.now += 1
    logs.start(rescue="t.dag.rescue001")
    logs.submit("B", 20)
    assert [event.name for event in all_events(monitor)] == [
        "dag.start", "job.submit", "node.state"
    ]  # fmt: skip
    logs.terminate(20)
    logs.end()
    assert [event.name for event in all_events(monitor)][-1] == "dag.end"
    assert (monitor.over, monitor.run.exit_code) == (True, 0)


def test_a_run_that_goes_on_under_another_job_is_told_from_its_beginning(logs: DagLogs) -> None:
    logs.start()
    logs.submit("A", 7)
    logs.now += 10
    monitor = submitted_again(logs, logs.now)
    assert not monitor.poll()
    logs.start(fresh=False)
    logs.terminate(7)
    names = [event.name for event in all_events(monitor)]
    assert names == [
        "dag.start", "job.submit", "node.state", "dag.start", "job.terminate", "node.state"
    ]  # fmt: skip


def test_a_job_that_could_not_begin_its_run(logs: DagLogs) -> None:
    a_run(logs)
    logs.now += 10
    monitor = submitted_again(logs, logs.now)
    logs.say("** /usr/bin/condor_dagman (CONDOR_DAGMAN) STARTING UP")
    logs.end(1)
    assert [event.name for event in all_events(monitor)] == ["dag.start", "dag.end"]
    assert (monitor.over, monitor.run.exit_code) == (True, 1)


def test_a_dagman_that_lives_has_not_ended_though_its_log_has_only_the_run_before(
    logs: DagLogs,
) -> None:
    a_run(logs)
    logs.say("** /usr/bin/condor_dagman (CONDOR_DAGMAN) STARTING UP")
    monitor = DagMonitor(found(logs)._replace(state=DagState.RUNNING))
    assert (monitor.poll(), monitor.over) == ([], False)
    logs.start()
    assert [event.name for event in all_events(monitor)] == ["dag.start"]
