"""The real loop in virtual time: the order of inputs, and what waits for what."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from pytest_mock import MockerFixture

from condor_pydagman.adapters import schedd_requests as ask
from condor_pydagman.config import Config
from condor_pydagman.daemon import end_notice, loop
from condor_pydagman.daemon import nodes_log as nodes_log_writer
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import (
    Begin,
    DagRemoved,
    LimitsWanted,
    LogEvent,
    QueueListed,
    Shutdown,
)
from condor_pydagman.errors import FileError
from condor_pydagman.features.notify import starter
from condor_pydagman.graph.model import StatusFile
from condor_pydagman.records.own_events import with_info
from condor_pydagman.vocabulary import EXIT_RESTART, EventKind
from tests import make
from tests.unit.daemon.simulated_daemon import SimulatedDaemon

SOON_S = 1.0  # seconds within which people are obeyed


def long_script() -> Any:
    return make.dag("A -> B\nSCRIPT PRE A script $NODE $RETRY")


def with_final() -> Any:
    return make.dag("A; B\nFINAL F n.sub")


def lasting(daemon: SimulatedDaemon) -> None:
    """Let jobs run without end."""
    daemon.outcomes.seconds = lambda node, retry: 1e6  # type: ignore[method-assign]


def test_queue_replies_are_handled_after_earlier_log_events() -> None:
    """A job that ends before the schedd's reply is handled must not count as lost."""
    daemon = SimulatedDaemon("A", recovering=True)
    daemon.world.log.append_own(make.submit("A", 7))
    listed = daemon.process.requests._list_queue

    def end_and_list(request: ask.ListQueue) -> ask.Listing:
        daemon.world.log.append_own(make.terminated(7))
        return listed(request)

    daemon.process.requests._handlers[ask.ListQueue] = end_and_list
    assert daemon.run_to_end() == 0
    kinds = [type(told) for _, told in daemon.told]
    assert kinds.index(QueueListed) > kinds.index(LogEvent) + 1
    assert isinstance(daemon.told[kinds.index(QueueListed) - 1][1], LogEvent)


def test_queue_replies_wait_for_a_half_written_event() -> None:
    daemon = SimulatedDaemon("A", recovering=True)
    daemon.world.log.append_own(make.submit("A", 7))
    listed = daemon.process.requests._list_queue

    def tear_and_list(request: ask.ListQueue) -> ask.Listing:
        daemon.world.log._add(make.terminated(7), 2.0, False)
        return listed(request)

    daemon.process.requests._handlers[ask.ListQueue] = tear_and_list
    daemon.input_at(1.0, inputs.Halt("tea"))
    daemon.input_at(5.0, inputs.Resume())
    assert daemon.run_to_end() == 0
    assert daemon.when(inputs.Halt)[0] <= 1.0 + SOON_S
    assert 2.0 <= daemon.when(QueueListed)[0] <= 2.0 + 2 * nodes_log_writer.TORN_CHECK_S


@pytest.mark.parametrize("feature", ["", "morning"])
def test_a_record_that_is_not_known_puts_the_dag_on_hold(
    feature: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "ABSENT", {"TOMORROW": feature} if feature else {})
    daemon = SimulatedDaemon("A", recovering=True)
    note = '[ DAGManNote = "TOMORROW"; Node = "A"; DAGManNodeRetry = 0; Value = 0; Text = "" ]'
    daemon.world.log.append_own(make.submit("A", 7))
    daemon.world.log.append_own(with_info(inputs.LogEvent(EventKind.GENERIC), note))
    before = list(daemon.world.log.entries)
    assert daemon.run_to_end() == EXIT_RESTART
    assert daemon.process.exit and not daemon.process.exit.concluded
    assert daemon.world.log.entries == before
    assert daemon.world.locked
    assert not daemon.requests(ask.Remove)
    (hold,) = daemon.requests(do.HoldJobs)
    assert hold.cluster == 0
    writer = f"the feature {feature}" if feature else "another version"
    assert f"a record TOMORROW, which {writer} of condor_pydagman has written" in hold.reason
    assert hold.reason in daemon.world.trace_text()


@pytest.mark.parametrize(
    "lines, knob, is_wanted",
    [("", "", False), ("NOTIFY * PROGRAM x", "", True), ("", "* PROGRAM x", True)],
)
@pytest.mark.parametrize("is_restarted", [False, True])
def test_notifiers_of_a_dag_or_a_knob_are_ended_with_the_dag(
    lines: str, knob: str, is_wanted: bool, is_restarted: bool, mocker: MockerFixture
) -> None:
    notifiers = mocker.patch.object(starter, "Notifiers")
    daemon = SimulatedDaemon(f"A\n{lines}", config=Config(notify=knob))
    if is_restarted:
        lasting(daemon)
        daemon.input_at(1.0, Shutdown("Got SIGTERM."))
    assert daemon.run_to_end() == (EXIT_RESTART if is_restarted else 0)
    assert notifiers.return_value.start.called == is_wanted
    assert notifiers.return_value.end.called == (is_wanted and not is_restarted)


def test_what_is_overdue_is_published_between_inputs(mocker: MockerFixture) -> None:
    daemon = SimulatedDaemon("A")
    publisher = mocker.patch.object(daemon.loop, "_publisher")
    publisher.next_deadline.return_value = 0.0
    for daemon.world.now in (
        10.0,
        10.0 + loop.PUBLISH_OVERDUE_S / 2,
        10.0 + loop.PUBLISH_OVERDUE_S,
    ):
        daemon.loop._feed(inputs.Wake())
    assert publisher.publish_due.call_count == 2


@pytest.mark.parametrize(
    "record, kind, noted",
    [
        (None, EventKind.GENERIC, True),
        ("HALT", EventKind.GENERIC, False),
        (None, EventKind.EXECUTE, False),
    ],
)
def test_what_jobs_note_of_placements_is_passed_on(
    record: str | None, kind: EventKind, noted: bool, mocker: MockerFixture
) -> None:
    daemon, event = SimulatedDaemon("A"), LogEvent(kind, 5, record=record)
    daemon.loop._note(event)  # without a DATA node nobody listens
    daemon.run._placements = mocker.Mock()
    daemon.loop._note(event)
    assert daemon.run.placements.note.mock_calls == [mocker.call(event)] * noted


def test_a_metrics_file_that_can_not_be_written_is_told(mocker: MockerFixture) -> None:
    daemon = SimulatedDaemon("A")
    mocker.patch.object(daemon.run.files, "replace", side_effect=FileError("can't write t: full"))
    assert daemon.run_to_end() == 0
    assert "Warning: can't write t: full" in [what for *_, what in daemon.world.lines]


def test_throttles_edited_before_the_start_are_known_when_the_dag_begins() -> None:
    daemon = SimulatedDaemon("A; B; C")
    daemon.world.schedd.own_ad.edit({"DAGMan_MaxJobs": "1"})
    assert daemon.run_to_end() == 0
    kinds = [type(told) for _, told in daemon.told]
    assert kinds.index(LimitsWanted) < kinds.index(Begin)
    assert daemon.process.engine.report().limits.jobs == 1
    edits = [request.attributes for request in daemon.requests(ask.EditOwnAd)]
    assert {edit["DAGMan_MaxJobs"] for edit in edits if "DAGMan_MaxJobs" in edit} == {"1"}


def test_throttles_edited_later_are_found() -> None:
    every = Config().check_queue_interval
    daemon = SimulatedDaemon("A")
    lasting(daemon)
    for time, idle in (100.0, "5"), (100.0 + every, "6"):
        edit = {"DAGMan_MaxIdle": idle}
        daemon.at(time, partial(daemon.world.schedd.own_ad.edit, edit))
    daemon.input_at(200.0 + 2 * every, DagRemoved())
    assert daemon.run_to_end() == 2
    first, second = daemon.when(LimitsWanted)
    assert 100.0 < first <= 100.0 + every < second
    assert daemon.process.engine.report().limits.idle == 6


def test_throttles_read_before_our_own_edit_are_ignored() -> None:
    """A command sets throttles while they are being read, which is not repeated."""
    daemon = SimulatedDaemon("A", config=Config(check_queue_interval=10))
    lasting(daemon)
    daemon.at(20.0, lambda: daemon.hang_schedd(100.0))
    daemon.input_at(60.0, LimitsWanted(jobs=3))
    daemon.input_at(500.0, DagRemoved())
    assert daemon.run_to_end() == 2
    assert daemon.when(LimitsWanted) == [60.0]
    asked = [time for time, request in daemon.asked if isinstance(request, ask.ListQueue)]
    assert len([time for time in asked if 20.0 < time < 60.0]) == 1
    assert daemon.world.schedd.own_ad.limits()["DAGMan_MaxJobs"] == 3


@pytest.mark.parametrize("wanted", [DagRemoved(), Shutdown("Got SIGTERM."), inputs.Halt("tea")])
def test_commands_are_obeyed_while_the_schedd_hangs(wanted: inputs.Input) -> None:
    daemon = SimulatedDaemon("A; B; C")
    lasting(daemon)
    daemon.at(10.0, daemon.hang_schedd)
    daemon.input_at(100.0, wanted)
    daemon.input_at(200.0, Shutdown("enough"))
    code = daemon.run_to_end()
    assert daemon.when(type(wanted))[0] == pytest.approx(100.0, abs=SOON_S)
    if isinstance(wanted, DagRemoved):
        assert code in (2, 3)
        assert daemon.world.now <= 100.0 + 100.0
        assert daemon.world.rescue_text
    else:
        assert code == 3


def test_exit_waits_for_the_last_removal_until_a_timeout() -> None:
    daemon = SimulatedDaemon("A")
    lasting(daemon)
    daemon.at(10.0, daemon.hang_schedd)
    daemon.input_at(100.0, DagRemoved())
    daemon.input_at(100.0 + end_notice.REMOVAL_TIMEOUT_S + 5.0, DagRemoved())
    assert daemon.run_to_end() == 2
    assert daemon.world.now <= 100.0 + end_notice.REMOVAL_TIMEOUT_S + 5.0 + SOON_S
    assert not daemon.world.locked


@pytest.mark.parametrize("seed", range(1, 5))
def test_a_removal_that_ends_the_run_at_once_is_still_reported(seed: int) -> None:
    """Without a rescue file the run ends while it handles condor_rm."""
    daemon = SimulatedDaemon("A", config=Config(max_rescue_num=0), seed=seed)
    lasting(daemon)
    daemon.input_at(100.0, DagRemoved())
    assert daemon.run_to_end() == 2
    assert daemon.requests(ask.Remove)
    assert daemon.world.schedd.own_ad.ended()


def test_a_start_does_not_wait_long_for_a_schedd_that_hangs() -> None:
    daemon = SimulatedDaemon("A")
    daemon.hang_schedd()
    daemon.input_at(100.0, Shutdown("Got SIGTERM."))
    assert daemon.run_to_end() == 3
    assert daemon.when(Begin)[0] == pytest.approx(loop.START_TIMEOUT_S, abs=SOON_S)


def test_a_start_collects_replies_when_they_are_due() -> None:
    """A request may have to wait for a process, for example."""
    due, daemon = 2.0, SimulatedDaemon("A")
    requests: Any = daemon.process.requests
    real_ask, real_deliver = requests.ask, requests.deliver
    held: list[Any] = []

    def ask_(*words: Any) -> None:
        if daemon.world.now < due:
            requests.pending += 1
            held.append(words)
        else:
            real_ask(*words)

    def deliver() -> None:
        while held and daemon.world.now >= due:
            requests.pending -= 1
            real_ask(*held.pop(0))
        real_deliver()

    requests.ask, requests.deliver = ask_, deliver
    requests.next_deadline = lambda: due if held else None
    assert daemon.run_to_end() == 0
    assert daemon.when(Begin)[0] == pytest.approx(due, abs=SOON_S)


def test_a_signal_ends_the_wait_of_a_start() -> None:
    daemon = SimulatedDaemon("A")
    daemon.hang_schedd()
    daemon.input_at(5.0, DagRemoved())
    daemon.input_at(100.0, Shutdown("Got SIGTERM."))
    daemon.run_to_end()
    assert daemon.when(DagRemoved)[0] == pytest.approx(5.0, abs=SOON_S)


def test_the_end_of_a_child_does_not_end_the_wait_of_a_start() -> None:
    """One that has read the DAG's CONFIG file, or that has asked the schedd."""
    daemon = SimulatedDaemon("A")
    daemon.hang_schedd(5.0)
    daemon.process.signals.child_ended = True
    assert daemon.run_to_end() == 0
    assert daemon.when(Begin)[0] == pytest.approx(5.0, abs=SOON_S)


def test_log_events_do_not_keep_a_start_busy() -> None:
    """Sources that are not watched yet must not wake the loop repeatedly."""
    daemon = SimulatedDaemon("A", recovering=True)
    daemon.world.log.append_own(make.submit("A", 7))
    daemon.hang_schedd(3.0)
    daemon.at(4.0, lambda: daemon.world.log.append_own(make.terminated(7)))
    assert daemon.run_to_end() == 0


@pytest.mark.parametrize("wanted", [DagRemoved(), Shutdown("Got SIGTERM."), inputs.Halt("tea")])
def test_commands_are_obeyed_while_the_disk_is_full(wanted: inputs.Input) -> None:
    daemon = SimulatedDaemon(long_script)
    daemon.world._full_until = 50.0
    daemon.input_at(40.0, wanted)
    daemon.input_at(3000.0, Shutdown("enough"))
    daemon.run_to_end()
    assert daemon.when(type(wanted))[0] == pytest.approx(40.0, abs=SOON_S)


def with_a_pending_start() -> SimulatedDaemon:
    """The PRE script of B gets no process from second 5 to second 6.5; the job of A runs."""
    daemon = SimulatedDaemon(lambda: make.dag("A; X -> B\nSCRIPT PRE B script $NODE $RETRY"))
    seconds = {"A": 5.5, "X": 5.0}
    daemon.outcomes.seconds = lambda node, retry: seconds.get(node)  # type: ignore[method-assign]
    daemon.faults(short_machine=1.0)
    return daemon


@pytest.mark.parametrize("wanted", [DagRemoved(), Shutdown("Got SIGTERM."), inputs.Halt("tea")])
def test_commands_are_obeyed_while_there_is_no_process_for_a_script(wanted: inputs.Input) -> None:
    daemon = with_a_pending_start()
    at: list[float] = []
    start = daemon.run.scripts.start

    def started(*words: Any) -> Any:
        at.append(daemon.world.now)
        daemon.input_at(daemon.world.now + 0.2, wanted)
        return start(*words)

    daemon.run.scripts.start = started
    daemon.input_at(100.0, Shutdown("enough"))
    daemon.run_to_end()
    assert len(at) == 1
    assert daemon.when(type(wanted))[0] == pytest.approx(at[0] + 0.2, abs=0.01)
    ends = daemon.when(inputs.ScriptEnded)
    if isinstance(wanted, inputs.Halt):
        assert ends == [pytest.approx(at[0] + 1.5, abs=0.01)]
    else:
        assert ends == []
        assert daemon.world.now < at[0] + 1.5


def test_a_script_starts_when_there_are_processes_again() -> None:
    daemon = SimulatedDaemon(long_script)
    daemon.faults(short_machine=1.0)
    daemon.at(1.0, lambda: daemon.faults(short_machine=0.0))
    assert daemon.run_to_end() == 0
    assert daemon.when(inputs.ScriptEnded)[0] >= 1.5


def test_a_dagman_that_exits_for_a_restart_starts_no_pending_script() -> None:
    """Its end would be lost, and the next DAGMan would run it again."""
    daemon = SimulatedDaemon(lambda: make.dag("A; B\nSCRIPT PRE A script $NODE $RETRY"))
    lasting(daemon)
    daemon.faults(short_machine=1.0)
    daemon.at(0.4, lambda: daemon.faults(short_machine=0.0))
    daemon.at(0.4, daemon.hang_schedd)
    daemon.at(0.4, lambda: daemon.run.schedd.ask(ask.ReadOwnAd(), lambda _: None))
    daemon.input_at(0.5, Shutdown("Got SIGTERM."))
    assert daemon.run_to_end() == 3
    assert daemon.world.now >= 0.75
    assert [action.node for action, _ in daemon.run.scripts.pending] == [0]


def test_the_final_node_follows_scripts_that_were_killed_before_they_started() -> None:
    build = lambda: make.dag("A\nFINAL F n.sub\nSCRIPT PRE A script $NODE $RETRY")  # noqa: E731
    daemon = SimulatedDaemon(build)
    daemon.faults(short_machine=1.0)
    daemon.input_at(0.5, DagRemoved())
    daemon.run_to_end()
    assert daemon.when(inputs.ScriptEnded) == [pytest.approx(0.5, abs=0.1)]
    assert daemon.requests(ask.Submit)


def test_job_events_are_handled_while_the_disk_is_full() -> None:
    daemon = SimulatedDaemon(lambda: make.dag("A; B\nSCRIPT PRE A script $NODE $RETRY"))
    daemon.world._full_until = 50.0
    assert daemon.run_to_end() == 0
    ends = [
        time for time, told in daemon.told
        if isinstance(told, LogEvent) and told.kind == EventKind.JOB_TERMINATED
    ]  # fmt: skip
    assert ends[0] < 50.0 < ends[-1]


def test_nothing_is_submitted_after_the_removal_of_all_jobs() -> None:
    """B waits for a full disk when condor_rm comes; the disk has room again before the end."""
    daemon = SimulatedDaemon(lambda: make.dag("A; B; C\nSCRIPT PRE A script $NODE $RETRY"))
    lasting(daemon)
    daemon.outcomes.common_input = lambda node: True  # type: ignore[method-assign]
    daemon.world._full_until = 30.0
    daemon.input_at(20.0, DagRemoved())
    daemon.at(20.0, lambda: daemon.hang_schedd(25.0))
    assert daemon.run_to_end() == 2
    submits = [time for time, request in daemon.asked if isinstance(request, ask.Submit)]
    removals = [time for time, request in daemon.asked if isinstance(request, ask.ListRemovable)]
    assert removals
    assert all(time < removals[0] for time in submits)


def test_a_disk_that_stays_full_ends_the_run() -> None:
    daemon = SimulatedDaemon(long_script)
    daemon.world._full_until = 1e6
    assert daemon.run_to_end() == 1
    assert daemon.when(inputs.AppendFailed)
    assert daemon.world.now < 120.0


def test_dagman_leaves_when_its_schedd_is_gone() -> None:
    daemon = SimulatedDaemon("A")
    lasting(daemon)
    daemon.run.is_orphaned = lambda: daemon.world.now > 100.0
    assert daemon.run_to_end() == 3
    assert 100.0 < daemon.world.now <= 100.0 + loop.PARENT_CHECK_S + SOON_S
    assert daemon.world.locked


def test_the_halt_file_halts_and_its_removal_resumes() -> None:
    daemon = SimulatedDaemon("A -> B; C")
    daemon.outcomes.seconds = lambda node, retry: {"A": 20.0}.get(node, 100.0)  # type: ignore[method-assign]
    daemon.at(10.0, lambda: daemon.world.users.halted.add("file"))
    daemon.at(50.0, daemon.world.users.halted.clear)
    assert daemon.run_to_end() == 0
    assert daemon.when(inputs.Halt) == [10.0]
    assert daemon.when(inputs.Resume) == [50.0]
    submits = {
        request.action.node: time
        for time, request in daemon.asked
        if isinstance(request, ask.Submit)
    }
    assert submits[1] == 50.0


def test_an_existing_halt_file_halts_before_the_dag_begins() -> None:
    daemon = SimulatedDaemon("A")
    daemon.world.users.halted.add("file")
    assert daemon.run_to_end() == 1
    kinds = [type(told) for _, told in daemon.told]
    assert kinds.index(inputs.Halt) < kinds.index(Begin)
    assert not daemon.requests(ask.Submit)


def test_a_deleted_lock_file_is_written_again() -> None:
    daemon = SimulatedDaemon("A")
    lasting(daemon)
    looks: list[float] = []
    said: list[str] = []
    daemon.run.out.say = lambda text, level=3: said.append(text)
    daemon.run.lock.restore = lambda: bool(looks.append(daemon.world.now)) or len(looks) == 2
    daemon.input_at(300.0, DagRemoved())
    daemon.run_to_end()
    assert len(looks) > 2
    assert said.count("Lock file t.dag.lock was gone: made anew") == 1


def test_an_idle_loop_wakes_rarely() -> None:
    daemon = SimulatedDaemon("A")
    lasting(daemon)
    waits: list[float] = []
    wait = daemon.world.wait

    def counted(sources: Any, seconds: float) -> Any:
        waits.append(seconds)
        return wait(sources, seconds)

    daemon.world.wait = counted  # type: ignore[method-assign]
    daemon.input_at(36_000.0, Shutdown("Got SIGTERM."))
    daemon.run_to_end()
    assert len(waits) < 36_000 / 60 * 8


def test_the_final_node_is_not_removed_with_the_others() -> None:
    """The schedd hangs: the submission of FINAL waits until the removal of all jobs is over."""
    daemon = SimulatedDaemon(with_final)
    lasting(daemon)
    daemon.at(10.0, lambda: daemon.hang_schedd(30.0))
    daemon.input_at(12.0, DagRemoved())
    daemon.input_at(100.0, Shutdown("enough"))
    daemon.run_to_end()
    kinds = [type(request) for _, request in daemon.asked]
    last_removal = max(n for n, kind in enumerate(kinds) if kind is ask.Remove)
    submits = [n for n, kind in enumerate(kinds) if kind is ask.Submit]
    assert len(submits) == 3
    assert submits[-1] > last_removal


def test_a_submission_waiting_for_a_removal_is_cancelled_by_the_next() -> None:
    daemon = SimulatedDaemon(with_final)
    lasting(daemon)
    daemon.at(10.0, lambda: daemon.hang_schedd(300.0))
    daemon.input_at(12.0, DagRemoved())
    daemon.input_at(20.0, DagRemoved())
    assert daemon.run_to_end() == 2
    assert len(daemon.requests(ask.Submit)) == 2


def test_nothing_starts_before_the_job_ad_has_the_throttles() -> None:
    """Ours must not overwrite an edit that is made after the first node has started."""
    daemon = SimulatedDaemon("A")
    ask_, held = daemon.process.requests.ask, []

    def slow(request: Any, then: Any) -> None:
        if isinstance(request, ask.EditOwnAd) and "DAGMan_MaxJobs" in request.attributes:
            held.append(daemon.world.now)
            daemon.hang_schedd(5.0)
        ask_(request, then)

    daemon.process.requests.ask = slow  # type: ignore[method-assign]
    assert daemon.run_to_end() == 0
    assert daemon.when(Begin)[0] >= held[0] + 5.0


def test_an_edit_that_is_obeyed_is_not_written_back() -> None:
    """It would overwrite the next edit, which may follow as soon as the first one has an effect."""
    daemon = SimulatedDaemon("A B C D", config=Config(check_queue_interval=30))
    lasting(daemon)
    daemon.at(100.0, lambda: daemon.world.schedd.own_ad.edit({"DAGMan_MaxJobs": "3"}))
    daemon.input_at(300.0, Shutdown("enough"))
    daemon.run_to_end()
    (obeyed_at,) = daemon.when(LimitsWanted)
    edits = [(time, one) for time, one in daemon.asked if isinstance(one, ask.EditOwnAd)]
    later = [one for time, one in edits if time >= obeyed_at]
    assert not [one for one in later if "DAGMan_MaxJobs" in one.attributes]
    assert daemon.run.engine.report().limits.jobs == 3


def test_the_last_status_file_stays_while_the_schedd_is_slow_to_hear_of_the_end() -> None:
    def nothing_to_do() -> Any:
        made = make.dag("A\nDONE A")
        made.status_file = StatusFile("t.status", interval=1)
        return made

    daemon = SimulatedDaemon(nothing_to_do)
    daemon.hang_schedd(loop.START_TIMEOUT_S + 5)
    assert daemon.run_to_end() == 0
    assert "STATUS_DONE (success)" in daemon.world.files["t.status"]
    assert 'NextUpdate = 0; /* "none" */' in daemon.world.files["t.status"]


@pytest.mark.parametrize(
    ("log", "hangs_s", "ends_at", "rests"),
    [
        ([], 0.0, 0.0, False),
        ([make.submit("A", 7)], 0.0, 0.0, True),
        ([make.submit("A", 7), make.terminated(7)], 0.0, 0.0, False),  # B is submitted
        ([make.submit("A", 7)], 1e9, loop.RECOVERY_TIMEOUT_S, False),
        ([make.submit("A", 7)], 12.0, loop.RECOVERY_TIMEOUT_S, True),
        ([make.submit("A", 7), make.terminated(7)], 12.0, loop.RECOVERY_TIMEOUT_S, False),
    ],
)
def test_when_the_turn_to_start_ends(
    mocker: MockerFixture, log: list[LogEvent], hangs_s: float, ends_at: float, rests: bool
) -> None:
    """After a recovery with nothing to do there is no process for the schedd, and it may sleep,
    also when the schedd has answered late."""
    daemon, ended = SimulatedDaemon("A -> B", recovering=bool(log)), []
    lasting(daemon)
    for event in log:
        daemon.world.log.append_own(event)
    queue = [inputs.QueuedJob(7, 0, "A", 0)] if len(log) == 1 else []
    daemon.process.requests._handlers[ask.ListQueue] = lambda _: ask.Listing(queue, [])
    end_turn = lambda: ended.append(daemon.world.now)  # noqa: E731
    daemon.loop._sources = daemon.loop._sources._replace(end_turn=end_turn)
    rest = mocker.patch.object(daemon.process.requests, "rest")
    daemon.world.now = 10.0
    if hangs_s:
        daemon.at(10.0, lambda: daemon.hang_schedd(hangs_s))
    daemon.input_at(60.0, Shutdown("enough"))
    daemon.at(59.0, lambda: rest(daemon.loop.fed_at == 0.0))
    daemon.run_to_end()
    assert ended == [pytest.approx(daemon.when(Begin)[0] + ends_at, abs=0.3)]
    assert rest.mock_calls == [mocker.call()] * rests + [mocker.call(rests)]
