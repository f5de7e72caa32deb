"""Limits: whose counts, the pace of submits, and categories."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LimitsWanted
from condor_pydagman.engine.throttles import (
    Categories,
    SubmitPace,
    Throttles,
    burst_of,
    throttles,
)
from condor_pydagman.vocabulary import EventKind, JournalRecord, ScriptKind
from tests import make


@pytest.mark.parametrize(
    ("user", "administrator", "want"),
    [(None, 1000, 1000), (5, 1000, 5), (2000, 1000, 1000), (0, 1000, 1000), (5, 0, 5), (0, 0, 0)],
)
def test_the_administrator_caps_the_user(user: int | None, administrator: int, want: int) -> None:
    config = Config(max_jobs_idle=administrator, max_submits_per_interval=7)
    got = throttles(config, idle=user)
    assert got.idle == want
    assert (got.submits, got.interval_s, got.jobs, got.pre) == (7, 5.0, 0, 20)


KNOB = "DAGMAN_MAX_SUBMITS_PER_INTERVAL"
UNSET, HUNDRED, NONE = (
    Config(),
    Config(explicit=frozenset({KNOB})),
    Config(max_submits_per_interval=0),
)
THIRTY, MANY = Config(max_submits_per_interval=30), Config(max_submits_per_interval=500)


@pytest.mark.parametrize(
    ("user", "administrator", "asked", "shown", "kept"),
    [
        # Nobody has set anything: our own pace, shown as stock's 100.
        (UNSET, UNSET, None, 100, 0),
        (UNSET, UNSET, 50, 50, 50),
        (UNSET, UNSET, 100, 100, 100),
        (UNSET, UNSET, 200, 100, 100),
        (UNSET, UNSET, 0, 100, 0),
        # A CONFIG file.
        (HUNDRED, UNSET, None, 100, 100),
        (THIRTY, UNSET, None, 30, 30),
        (THIRTY, UNSET, 0, 100, 0),
        (MANY, UNSET, None, 100, 100),
        (NONE, UNSET, None, 100, 0),
        # The administrator.
        (HUNDRED, HUNDRED, None, 100, 100),
        (HUNDRED, HUNDRED, 0, 100, 100),
        (MANY, MANY, 200, 200, 200),
        (MANY, MANY, 600, 500, 500),
        (UNSET, NONE, 200, 200, 200),
        (NONE, NONE, None, 0, 0),
        (NONE, NONE, 0, 0, 0),
    ],
)
def test_submits_in_an_interval_are_shown_as_by_stock(
    user: Config, administrator: Config, asked: int | None, shown: int, kept: int
) -> None:
    got = throttles(user, administrator, submits=asked)
    assert (got.submits, 0 if got.own_pace else got.submits) == (shown, kept)


def test_our_own_pace_outlives_a_change_of_another_throttle() -> None:
    harness = make.harness_of("A B", limits=throttles(Config()))
    harness.tell(LimitsWanted(idle=5))
    assert (harness.engine.run.limits.submits, harness.engine.run.limits.own_pace) == (100, True)
    harness.tell(LimitsWanted(submits=200))
    assert (harness.engine.run.limits.submits, harness.engine.run.limits.own_pace) == (100, False)


def test_our_own_pace_is_not_kept_to_the_number_that_is_shown() -> None:
    limits, pace = Throttles(submits=1, own_pace=True, interval_s=5.0), SubmitPace()
    pace.submitted(100.0, limits)
    pace.submitted(100.0, limits)
    assert pace.blocked_until(100.0, limits) <= 100.0


def test_back_off_doubles_up_to_a_minute_and_ends_with_a_success() -> None:
    limits, pace = Throttles(), SubmitPace()
    now = 0.0
    for wait in (1, 2, 4, 8, 16, 32, 60, 60):
        assert pace.failed(now) == wait
        now = pace.blocked_until(now, limits)
    assert pace.blocked_until(now - 0.1, limits) == now
    assert pace.blocked_until(now, limits) <= now
    pace.submitted(now, limits)
    assert pace.blocked_until(now, limits) <= now
    assert pace.failed(now + 1) == 1.0


def test_what_failed_together_waits_once() -> None:
    pace = SubmitPace()
    assert pace.failed(100.0) == 1.0
    assert pace.failed(100.25) == 0.75
    assert pace.failed(101.0) == 2.0


def test_an_interval_that_has_not_begun_is_full_of_what_is_in_flight() -> None:
    limits, pace = Throttles(submits=2, interval_s=5.0), SubmitPace()
    pace.submitted(100.0, limits)
    assert pace.blocked_until(110.0, limits, in_flight=1) <= 110.0
    assert pace.blocked_until(110.0, limits, in_flight=2) == 115.0


def test_submits_in_an_interval() -> None:
    limits, pace = Throttles(submits=2, interval_s=5.0), SubmitPace()
    pace.submitted(100.0, limits)
    assert pace.blocked_until(101.0, limits) <= 101.0
    pace.submitted(103.0, limits)
    assert pace.blocked_until(103.0, limits) == 105.0
    assert pace.blocked_until(105.0, limits) <= 105.0
    pace.submitted(106.0, limits)
    pace.submitted(106.0, limits)
    assert pace.blocked_until(106.0, limits) == 111.0


def test_a_full_category_sets_aside_in_order() -> None:
    categories = Categories({1: "a", 2: "a", 3: "a", 4: "b"}, {"a": 1})
    assert categories.room(1)
    categories.enter(1)
    assert not categories.room(2)
    assert categories.room(4)  # no limit was given
    categories.set_aside(3)
    categories.set_aside(2)
    assert categories.waiting() == [3, 2]
    assert categories.leave(4) == []
    assert categories.leave(2) == []  # it was never in
    assert categories.leave(1) == [3, 2]
    assert categories.leave(1) == []
    assert categories.room(2)


def test_entering_twice_counts_once() -> None:
    categories = Categories({1: "a", 2: "a"}, {"a": 2})
    categories.enter(1)
    categories.enter(1)
    assert categories.room(2)


# Changes while running.


def in_queue(harness: make.EngineHarness) -> list[str]:
    return [name for name in harness.dag.names if harness.state(name).name == "SUBMITTED"]


def take_all(harness: make.EngineHarness, first: int = 1) -> None:
    """The schedd takes all that is submitted, in order."""
    cluster = first
    while True:
        waiting = [name for name in harness.dag.names if harness.state(name).name == "SUBMITTING"]
        if not waiting:
            return
        for name in waiting:
            harness.take(name, cluster)
            cluster += 1


def test_fewer_limits_let_more_start() -> None:
    harness = make.harness_of("A B C D", limits=Throttles(jobs=1))
    take_all(harness)
    assert in_queue(harness) == ["A"]
    harness.tell(LimitsWanted(jobs=3))
    assert harness.asked(do.PublishLimits)
    take_all(harness, 2)
    assert in_queue(harness) == ["A", "B", "C"]
    harness.tell(LimitsWanted(jobs=0))
    take_all(harness, 4)
    assert in_queue(harness) == ["A", "B", "C", "D"]


@pytest.mark.parametrize("field", ["jobs", "idle", "pre", "post", "hold", "submits"])
def test_one_limit_is_changed_and_the_others_stay(field: str) -> None:
    harness = make.harness_of("A B C D", limits=Throttles(11, 12, 13, 14, 15, 16))
    before = {name: getattr(harness.engine.run.limits, name) for name in LimitsWanted._fields}
    harness.tell(LimitsWanted(**{field: 5}))
    after = {name: getattr(harness.engine.run.limits, name) for name in LimitsWanted._fields}
    assert after == {**before, field: 5}


@pytest.mark.parametrize(("wanted", "got"), [(5, 5), (20, 20), (21, 20), (0, 20), (-3, 20), (1, 1)])
def test_the_administrator_caps_changes_too(wanted: int, got: int) -> None:
    harness = make.harness_of("A B C D", config=Config(max_pre_scripts=20))
    harness.tell(LimitsWanted(pre=wanted))
    assert harness.engine.run.limits.pre == got


def test_a_request_without_limits_changes_nothing() -> None:
    limits = Throttles(11, 12, 13, 14, 15, 16)
    harness = make.harness_of("A B C D", limits=limits)
    harness.tell(LimitsWanted())
    assert harness.engine.run.limits == Throttles(11, 12, 13, 14, 15, 16)


def test_the_pace_of_submits_obeys_a_change() -> None:
    harness = make.harness_of("A B C D", limits=Throttles(submits=1))
    take_all(harness)
    assert in_queue(harness) == ["A"]
    assert harness.engine.next_deadline() == 1005.0
    harness.tell(LimitsWanted(submits=2))
    take_all(harness, 2)
    assert in_queue(harness) == ["A", "B"]


def test_fewer_scripts_than_run() -> None:
    harness = make.harness_of("A B C\nSCRIPT PRE ALL_NODES p", limits=Throttles(pre=3))
    harness.engine.check = None  # three run, one is allowed
    harness.tell(LimitsWanted(pre=1))
    harness.pre_ends("A", 1)
    assert not harness.asked(do.RunScript)
    assert harness.engine.report().pre == 2


def test_fewer_jobs_leave_those_in_the_queue_alone() -> None:
    harness = make.harness_of("A B C D")
    take_all(harness)
    harness.tell(LimitsWanted(jobs=2))
    assert not harness.asked(do.RemoveJobs)
    assert not harness.asked(do.AppendJournalRecord)
    harness.tell(make.terminated(1), make.terminated(2))
    assert in_queue(harness) == ["C", "D"]


REMOVES = Config(remove_jobs_after_limit_change=True)


def surplus() -> make.EngineHarness:
    """Four jobs in the queue, two allowed."""
    harness = make.harness_of("A B C D", REMOVES)
    take_all(harness)
    harness.tell(LimitsWanted(jobs=2))
    return harness


def test_fewer_jobs_remove_the_youngest_where_the_knob_says_so() -> None:
    harness = surplus()
    records = [
        (record.record, harness.dag.names[record.node])
        for record in harness.asked(do.AppendJournalRecord)
    ]
    assert records == [(JournalRecord.SURPLUS, "C"), (JournalRecord.SURPLUS, "D")]
    assert not harness.asked(do.RemoveJobs)
    harness.read_back()
    reason = "DAG Limit: Max number of submitted nodes was reached."
    assert harness.asked(do.RemoveJobs) == [do.RemoveJobs(reason, 3), do.RemoveJobs(reason, 4)]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 3), make.of_job(EventKind.JOB_ABORTED, 4))
    assert harness.states() == "A=SUBMITTED B=SUBMITTED C=READY D=READY"
    harness.same_replay()
    harness.tell(make.terminated(1))
    assert harness.submits() == ["C"]
    assert harness.asked(do.SubmitNode)[0].retry == 1


def test_the_retry_granted_is_used_once() -> None:
    harness = surplus()
    harness.read_back()
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 3), make.terminated(1))
    harness.run_node("C", 9, value=1)
    assert harness.state("C").name == "FAILED"


def test_doubled_records_grant_one_retry() -> None:
    harness = surplus()
    events = harness.echo(harness.last)
    harness.tell(*events, *events)
    assert harness.engine.run.retrying.extra_retries == {2: 1, 3: 1}
    assert len(harness.asked(do.RemoveJobs)) == 2


def test_a_job_that_ends_before_the_record_is_read() -> None:
    harness = surplus()
    events = harness.echo(harness.last)
    harness.tell(make.terminated(3), make.terminated(4, value=1))
    harness.tell(*events)
    assert not harness.ever(do.RemoveJobs)
    assert harness.engine.run.retrying.extra_retries == {}
    assert harness.state("D").name == "FAILED"
    harness.same_replay()


def test_a_restart_after_the_record_removes_them() -> None:
    harness = surplus()
    harness.read_back()
    other = harness.restart()
    assert [removal.cluster for removal in other.asked(do.RemoveJobs)] == [3, 4]


@pytest.mark.parametrize("jobs", [0, 4, 5])
def test_a_limit_that_is_not_lower_removes_nothing(jobs: int) -> None:
    harness = make.harness_of("A B C D", REMOVES, Throttles(jobs=4))
    take_all(harness)
    harness.tell(LimitsWanted(jobs=jobs))
    assert not harness.asked(do.AppendJournalRecord)


def test_a_change_while_an_old_log_is_replayed_removes_nothing() -> None:
    harness = make.harness_of("A B C D", REMOVES)
    take_all(harness)
    other = make.EngineHarness(harness.dag, REMOVES).begin(recovering=True)
    other.tell(*harness.log, LimitsWanted(jobs=1), make.terminated(1))
    assert not other.ever(do.AppendJournalRecord)
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed(other.queue()))
    assert not other.ever(do.RemoveJobs)
    assert in_queue(other) == ["B", "C", "D"]


def test_services_and_noops_are_not_removed() -> None:
    harness = make.harness_of("A B\nSERVICE S n.sub\nJOB N n.sub NOOP", REMOVES)
    harness.tell(make.noop("N", 1)[0])
    take_all(harness)
    assert in_queue(harness) == ["A", "B", "S", "N"]
    harness.tell(LimitsWanted(jobs=1))
    assert [harness.dag.names[record.node] for record in harness.asked(do.AppendJournalRecord)] == [
        "B"
    ]


def test_the_final_node_is_no_surplus() -> None:
    harness = make.harness_of("A; B\nFINAL F n.sub\nABORT-DAG-ON A 3", REMOVES)
    harness.take("A", 1)
    harness.take("B", 2)
    harness.happens(make.terminated(1, value=3))
    harness.take("F", 3)
    harness.tell(LimitsWanted(jobs=1))  # B is being removed, but has not ended
    assert not harness.asked(do.AppendJournalRecord)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2), make.terminated(3))
    assert harness.state("F").name == "DONE"
    assert harness.asked(do.Exit) == [do.Exit(0)]


# PYDAGMAN_PRE_SCRIPTS_PER_SECOND.


def restarted(rate: int, scripts: int = 6, commands: str = "") -> make.EngineHarness:
    names = [f"N{number}" for number in range(scripts)]
    made = make.dag(f"{' '.join(names)} -> Z\nSCRIPT PRE ALL_NODES p\n{commands}")
    config = make.quiet(restart_pre_rate=rate)
    harness = make.EngineHarness(made, config, Throttles()).begin(recovering=True)
    harness.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    return harness


def test_pre_scripts_start_at_a_bounded_pace_after_a_restart() -> None:
    harness = restarted(2)
    started = [len(harness.asked(do.RunScript))]
    while harness.engine.next_deadline() is not None:
        deadline = harness.engine.next_deadline() or 0.0
        assert deadline > harness.now
        assert deadline - harness.now <= 0.5
        harness.wait(deadline - harness.now)
        started.append(len(harness.asked(do.RunScript)))
    assert started == [1, 1, 1, 1, 1, 1]
    assert harness.now == 1002.5


def test_other_inputs_do_not_quicken_the_restart_pace() -> None:
    harness = restarted(2)
    for _ in range(10):
        harness.tell(inputs.Wake())
    assert len(harness.ever(do.RunScript)) == 1


def test_no_pace_if_the_knob_is_not_set_or_at_a_first_start() -> None:
    assert len(restarted(0).ever(do.RunScript)) == 6
    made = make.dag("A B C\nSCRIPT PRE ALL_NODES p")
    assert len(make.EngineHarness(made, Config(restart_pre_rate=1)).begin().ever(do.RunScript)) == 3


def test_the_pace_ends_with_what_waited_at_the_restart() -> None:
    harness = restarted(1, 2)
    harness.wait(1.0)
    assert len(harness.ever(do.RunScript)) == 2
    for number in range(2):
        harness.pre_ends(f"N{number}")
        harness.run_node(f"N{number}", number + 1)
    assert len(harness.ever(do.RunScript)) == 3  # that of Z, at once


def test_halted_the_pace_wakes_nobody() -> None:
    harness = restarted(1, 3)
    harness.tell(inputs.Halt())
    assert harness.engine.next_deadline() is None
    harness.wait(10.0)
    harness.tell(inputs.Resume())
    assert len(harness.ever(do.RunScript)) == 2
    assert harness.engine.next_deadline() == harness.now + 1


def test_a_pace_and_a_deferred_script_and_an_abort() -> None:
    """The FINAL node's PRE script has its turn, whatever was put off before."""
    names = ["A", "B", "C", "D", "X"]
    made = make.dag("""
        A B C D; X
        FINAL F n.sub
        SCRIPT DEFER 2 500 PRE A p
        SCRIPT DEFER 2 500 PRE B p
        SCRIPT DEFER 2 500 PRE C p
        SCRIPT DEFER 2 500 PRE D p
        SCRIPT PRE F p
        ABORT-DAG-ON X 3
    """)
    assert made.names[:5] == names
    config = make.quiet(restart_pre_rate=1)
    harness = make.EngineHarness(made, config).begin(recovering=True)
    harness.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    harness.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 2))
    harness.run_node("X", 1, value=3)
    harness.read_back()
    assert not harness.ever(do.RunScript)[1:]
    assert harness.engine.next_deadline() is not None
    harness.wait(1.0)
    assert [run.node for run in harness.asked(do.RunScript)] == [5]


def test_a_surplus_that_was_recorded_before_the_submit_event_came() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    harness.tell(make.record(JournalRecord.SURPLUS, "A", cluster=5), make.submit("A", 5))
    assert harness.engine.run.retrying.extra_retries == {0: 1}
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert harness.engine.run.nodes.retries == {0: 1}
    assert harness.state("A").name == "READY"


def test_a_deferred_script_at_a_bounded_pace_wakes_nobody_in_vain() -> None:
    config = make.quiet(restart_pre_rate=1)
    made = make.dag("A B\nSCRIPT DEFER 2 0 PRE ALL_NODES p")
    harness = make.EngineHarness(made, config).begin(recovering=True)
    harness.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    harness.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 2))
    assert harness.engine.next_deadline() == harness.now + 1.0


def test_a_failed_submission_uses_up_a_granted_retry_too() -> None:
    harness = make.harness_of("A\nSCRIPT POST A q\nRETRY A 0", procs=1)
    harness.tell(make.record(JournalRecord.SURPLUS, "A", cluster=5))
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    harness.post_ends("A", 1)
    assert harness.engine.run.nodes.retries == {0: 1}
    harness.tell(inputs.SubmitFailed(0, "no such file", permanent=True))
    harness.tell(*harness.echo(harness.last))
    assert harness.engine.run.nodes.retries == {0: 1}
    harness.post_ends("A", 1)
    assert harness.state("A").name == "FAILED"


def test_a_delay_between_two_submits() -> None:
    limits, pace = Throttles(), SubmitPace(delay_s=3)
    assert pace.blocked_until(10, limits) <= 10
    pace.submitted(10, limits)
    assert pace.blocked_until(11, limits) == 13
    assert pace.blocked_until(13, limits) <= 13


# Nodes that are submitted in a minute.


def test_starts_are_spread_over_the_minute() -> None:
    assert burst_of(600) == (10, 1.0)
    assert burst_of(6) == (1, 10.0)


@pytest.mark.parametrize("most", [1, 7, 60, 130])
def test_one_dag_starts_so_many_nodes_a_minute(most: int) -> None:
    harness = make.EngineHarness(
        "; ".join(f"N{n}" for n in range(2 * most)), make.quiet(max_starts_per_minute=most)
    ).begin()
    times: list[float] = []
    for _ in range(1000):
        while len(harness.ever(do.SubmitNode)) > len(times):
            node = harness.ever(do.SubmitNode)[len(times)].node
            times.append(harness.now)
            harness.run_node(harness.dag.names[node], len(times))
        deadline = harness.engine.next_deadline()
        if deadline is None or len(times) == 2 * most:
            break
        harness.now = max(harness.now, deadline)
        harness.tell(inputs.Wake())
    assert len(times) == 2 * most
    for begin in times:
        assert sum(begin <= when < begin + 60 for when in times) <= most
    assert times[-1] - times[0] <= 120.1


def test_a_restart_knows_how_many_nodes_were_started_in_the_last_minute() -> None:
    config = make.quiet(max_starts_per_minute=2)
    harness = make.harness_of("A; B; C", config)
    harness.run_node("A", 1)
    harness.now += 31
    harness.tell(inputs.Wake())
    harness.run_node("B", 2)
    other = harness.restart()
    assert not other.ever(do.SubmitNode)
    other.now = 1000.0 + 61
    other.tell(inputs.Wake())
    assert other.submits() == ["C"]
