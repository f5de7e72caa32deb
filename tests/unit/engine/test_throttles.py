"""Limits: whose counts, the pace of submits, and categories."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LimitsWanted
from condor_pydagman.engine.throttles import Categories, SubmitPace, Throttles, throttles
from condor_pydagman.graph.model import Script
from condor_pydagman.vocabulary import EventKind, NodeKind, Note, ScriptKind
from tests import make


@pytest.mark.parametrize(
    ("user", "administrator", "want"),
    [(None, 1000, 1000), (5, 1000, 5), (2000, 1000, 1000), (0, 1000, 1000), (5, 0, 5), (0, 0, 0)],
)
def test_the_administrator_caps_the_user(user: int | None, administrator: int, want: int) -> None:
    config = Config(max_jobs_idle=administrator, max_submits_per_interval=7)
    got = throttles(config, idle=user)
    assert got.idle == want
    assert (got.submits, got.interval, got.jobs, got.pre) == (7, 5.0, 0, 20)


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
    bench = make.Bench("A B").begin()
    bench.engine.limits.adopt(throttles(Config()))
    bench.tell(LimitsWanted(idle=5))
    assert (bench.engine.limits.submits, bench.engine.limits.own_pace) == (100, True)
    bench.tell(LimitsWanted(submits=200))
    assert (bench.engine.limits.submits, bench.engine.limits.own_pace) == (100, False)


def test_our_own_pace_is_not_kept_to_the_number_that_is_shown() -> None:
    pace = SubmitPace(Throttles(submits=1, own_pace=True, interval=5.0))
    pace.submitted(100.0)
    pace.submitted(100.0)
    assert pace.blocked_until(100.0) <= 100.0


def test_back_off_doubles_up_to_a_minute_and_ends_with_a_success() -> None:
    pace = SubmitPace(Throttles())
    assert [pace.failed(100.0) for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert pace.blocked_until(159.9) == 160.0
    assert pace.blocked_until(160.0) <= 160.0
    pace.submitted(160.0)
    assert pace.blocked_until(160.0) <= 160.0
    assert pace.failed(161.0) == 1.0


def test_submits_in_an_interval() -> None:
    pace = SubmitPace(Throttles(submits=2, interval=5.0))
    pace.submitted(100.0)
    assert pace.blocked_until(101.0) <= 101.0
    pace.submitted(103.0)
    assert pace.blocked_until(103.0) == 105.0
    assert pace.blocked_until(105.0) <= 105.0
    pace.submitted(106.0)
    pace.submitted(106.0)
    assert pace.blocked_until(106.0) == 111.0


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


def bench_of(
    text: str = "A B C D",
    config: Config | None = None,
    limits: Throttles | None = None,
    **more: object,
) -> make.Bench:
    return make.Bench(make.dag(text, **more), config, limits).begin()  # type: ignore[arg-type]


def in_queue(bench: make.Bench) -> list[str]:
    return [name for name in bench.dag.names if bench.state(name).name == "SUBMITTED"]


def take_all(bench: make.Bench, first: int = 1) -> None:
    """The schedd takes all that is submitted, in order."""
    cluster = first
    while True:
        waiting = [name for name in bench.dag.names if bench.state(name).name == "SUBMITTING"]
        if not waiting:
            return
        for name in waiting:
            bench.take(name, cluster)
            cluster += 1


def test_fewer_limits_let_more_start() -> None:
    bench = bench_of(limits=Throttles(jobs=1))
    take_all(bench)
    assert in_queue(bench) == ["A"]
    bench.tell(LimitsWanted(jobs=3))
    assert bench.asked(do.PublishLimits)
    take_all(bench, 2)
    assert in_queue(bench) == ["A", "B", "C"]
    bench.tell(LimitsWanted(jobs=0))
    take_all(bench, 4)
    assert in_queue(bench) == ["A", "B", "C", "D"]


@pytest.mark.parametrize("field", ["jobs", "idle", "pre", "post", "hold", "submits"])
def test_one_limit_is_changed_and_the_others_stay(field: str) -> None:
    bench = bench_of(limits=Throttles(11, 12, 13, 14, 15, 16))
    before = {name: getattr(bench.engine.limits, name) for name in LimitsWanted._fields}
    bench.tell(LimitsWanted(**{field: 5}))
    after = {name: getattr(bench.engine.limits, name) for name in LimitsWanted._fields}
    assert after == {**before, field: 5}


@pytest.mark.parametrize(("wanted", "got"), [(5, 5), (20, 20), (21, 20), (0, 20), (-3, 20), (1, 1)])
def test_the_administrator_caps_changes_too(wanted: int, got: int) -> None:
    bench = bench_of(config=Config(max_pre_scripts=20))
    bench.tell(LimitsWanted(pre=wanted))
    assert bench.engine.limits.pre == got


def test_nothing_is_wanted() -> None:
    limits = Throttles(11, 12, 13, 14, 15, 16)
    bench = bench_of(limits=limits)
    bench.tell(LimitsWanted())
    assert bench.engine.limits == Throttles(11, 12, 13, 14, 15, 16)


def test_the_pace_of_submits_obeys_a_change() -> None:
    bench = bench_of(limits=Throttles(submits=1))
    take_all(bench)
    assert in_queue(bench) == ["A"]
    assert bench.engine.next_deadline() == 1005.0
    bench.tell(LimitsWanted(submits=2))
    take_all(bench, 2)
    assert in_queue(bench) == ["A", "B"]


def test_fewer_scripts_than_run() -> None:
    names = "A B C"
    made = make.dag(names, pre=dict.fromkeys(names.split(), "p"))
    bench = make.Bench(made, limits=Throttles(pre=3)).begin()
    bench.engine.check = False  # three run, one is allowed
    bench.tell(LimitsWanted(pre=1))
    bench.pre_ends("A", 1)
    assert not bench.asked(do.RunScript)
    assert bench.engine.report().pre == 2


def test_fewer_jobs_leave_those_in_the_queue_alone() -> None:
    bench = bench_of()
    take_all(bench)
    bench.tell(LimitsWanted(jobs=2))
    assert not bench.asked(do.RemoveJobs)
    assert not bench.asked(do.AppendNote)
    bench.tell(make.terminated(1), make.terminated(2))
    assert in_queue(bench) == ["C", "D"]


REMOVES = Config(remove_jobs_after_limit_change=True)


def surplus() -> make.Bench:
    """Four jobs in the queue, two allowed."""
    bench = bench_of("A B C D", REMOVES)
    take_all(bench)
    bench.tell(LimitsWanted(jobs=2))
    return bench


def test_or_remove_the_youngest_beyond_the_limit() -> None:
    bench = surplus()
    notes = [(note.note, bench.dag.names[note.node]) for note in bench.asked(do.AppendNote)]
    assert notes == [(Note.SURPLUS, "C"), (Note.SURPLUS, "D")]
    assert not bench.asked(do.RemoveJobs)
    bench.read_back()
    reason = "DAG Limit: Max number of submitted nodes was reached."
    assert bench.asked(do.RemoveJobs) == [do.RemoveJobs(reason, 3), do.RemoveJobs(reason, 4)]
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 3), make.of_job(EventKind.JOB_ABORTED, 4))
    assert bench.states() == "A=SUBMITTED B=SUBMITTED C=READY D=READY"
    bench.same_replay()
    bench.tell(make.terminated(1))
    assert bench.submits() == ["C"]
    assert bench.asked(do.SubmitNode)[0].retry == 1


def test_the_retry_granted_is_used_once() -> None:
    bench = surplus()
    bench.read_back()
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 3), make.terminated(1))
    bench.run_node("C", 9, value=1)
    assert bench.state("C").name == "FAILED"


def test_doubled_notes_grant_one_retry() -> None:
    bench = surplus()
    events = bench.echo(bench.last)
    bench.tell(*events, *events)
    assert bench.engine.granted == {2: 1, 3: 1}
    assert len(bench.asked(do.RemoveJobs)) == 2


def test_a_job_that_ends_before_the_note_is_read() -> None:
    bench = surplus()
    events = bench.echo(bench.last)
    bench.tell(make.terminated(3), make.terminated(4, value=1))
    bench.tell(*events)
    assert not bench.ever(do.RemoveJobs)
    assert bench.engine.granted == {}
    assert bench.state("D").name == "FAILED"
    bench.same_replay()


def test_a_restart_after_the_note_removes_them() -> None:
    bench = surplus()
    bench.read_back()
    other = bench.restart()
    assert [removal.cluster for removal in other.asked(do.RemoveJobs)] == [3, 4]


@pytest.mark.parametrize("jobs", [0, 4, 5])
def test_a_limit_that_is_not_lower_removes_nothing(jobs: int) -> None:
    bench = bench_of("A B C D", REMOVES, Throttles(jobs=4))
    take_all(bench)
    bench.tell(LimitsWanted(jobs=jobs))
    assert not bench.asked(do.AppendNote)


def test_a_change_while_an_old_log_is_replayed_removes_nothing() -> None:
    bench = bench_of("A B C D", REMOVES)
    take_all(bench)
    other = make.Bench(bench.dag, REMOVES).begin(recovering=True)
    other.tell(*bench.log, LimitsWanted(jobs=1), make.terminated(1))
    assert not other.ever(do.AppendNote)
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed(other.queue()))
    assert not other.ever(do.RemoveJobs)
    assert in_queue(other) == ["B", "C", "D"]


def test_services_and_noops_are_not_removed() -> None:
    kinds = {"S": NodeKind.SERVICE}
    bench = bench_of("A B; S; N", REMOVES, kinds=kinds, noop="N")
    bench.tell(make.noop("N", 1)[0])
    take_all(bench)
    assert in_queue(bench) == ["A", "B", "S", "N"]
    bench.tell(LimitsWanted(jobs=1))
    assert [bench.dag.names[note.node] for note in bench.asked(do.AppendNote)] == ["B"]


def test_the_final_node_is_no_surplus() -> None:
    made = make.dag("A; B; F", kinds={"F": NodeKind.FINAL}, aborts={"A": 3})
    bench = make.Bench(made, REMOVES).begin()
    bench.take("A", 1)
    bench.take("B", 2)
    bench.tell(make.terminated(1, value=3))
    bench.read_back()
    bench.take("F", 3)
    bench.tell(LimitsWanted(jobs=1))  # B is being removed, but has not ended
    assert not bench.asked(do.AppendNote)
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 2), make.terminated(3))
    assert bench.state("F").name == "DONE"
    assert bench.asked(do.Exit) == [do.Exit(0)]


# PYDAGMAN_PRE_SCRIPTS_PER_SECOND.


def restarted(rate: int, scripts: int = 6, **more: object) -> make.Bench:
    names = [f"N{number}" for number in range(scripts)]
    made = make.dag(" ".join(names) + " -> Z", pre=dict.fromkeys([*names, "Z"], "p"), **more)  # type: ignore[arg-type]
    config = Config(restart_pre_rate=rate, check_queue_interval=0, pending_report_interval=0)
    bench = make.Bench(made, config, Throttles()).begin(recovering=True)
    bench.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    return bench


def test_pre_scripts_start_at_a_bounded_pace_after_a_restart() -> None:
    bench = restarted(2)
    started = [len(bench.asked(do.RunScript))]
    while bench.engine.next_deadline() is not None:
        deadline = bench.engine.next_deadline() or 0.0
        assert deadline > bench.now
        assert deadline - bench.now <= 0.5
        bench.wait(deadline - bench.now)
        started.append(len(bench.asked(do.RunScript)))
    assert started == [1, 1, 1, 1, 1, 1]
    assert bench.now == 1002.5


def test_other_inputs_do_not_quicken_it() -> None:
    bench = restarted(2)
    for _ in range(10):
        bench.tell(inputs.Wake())
    assert len(bench.ever(do.RunScript)) == 1


def test_no_pace_if_the_knob_is_not_set_or_at_a_first_start() -> None:
    assert len(restarted(0).ever(do.RunScript)) == 6
    made = make.dag("A B C", pre=dict.fromkeys("ABC", "p"))
    assert len(make.Bench(made, Config(restart_pre_rate=1)).begin().ever(do.RunScript)) == 3


def test_the_pace_ends_with_what_waited_at_the_restart() -> None:
    bench = restarted(1, 2)
    bench.wait(1.0)
    assert len(bench.ever(do.RunScript)) == 2
    for number in range(2):
        bench.pre_ends(f"N{number}")
        bench.run_node(f"N{number}", number + 1)
    assert len(bench.ever(do.RunScript)) == 3  # that of Z, at once


def test_halted_the_pace_wakes_nobody() -> None:
    bench = restarted(1, 3)
    bench.tell(inputs.Halt())
    assert bench.engine.next_deadline() is None
    bench.wait(10.0)
    bench.tell(inputs.Resume())
    assert len(bench.ever(do.RunScript)) == 2
    assert bench.engine.next_deadline() == bench.now + 1


def test_a_pace_and_a_deferred_script_and_an_abort() -> None:
    """The FINAL node's PRE script has its turn, whatever was put off before."""
    names = ["A", "B", "C", "D", "X"]
    made = make.dag(
        "A B C D; X; F",
        pre={**dict.fromkeys("ABCD", Script("p", 2, 500)), "F": "p"},
        aborts={"X": 3},
        kinds={"F": NodeKind.FINAL},
    )
    assert made.names[:5] == names
    config = Config(restart_pre_rate=1, check_queue_interval=0, pending_report_interval=0)
    bench = make.Bench(made, config).begin(recovering=True)
    bench.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    bench.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 2))
    bench.run_node("X", 1, value=3)
    bench.read_back()
    assert not bench.ever(do.RunScript)[1:]
    assert bench.engine.next_deadline() is not None
    bench.wait(1.0)
    assert [run.node for run in bench.asked(do.RunScript)] == [5]


def test_a_surplus_that_was_noted_before_the_submit_event_came() -> None:
    bench = make.Bench("A").begin(recovering=True)
    bench.tell(make.note(Note.SURPLUS, "A", cluster=5), make.submit("A", 5))
    assert bench.engine.granted == {0: 1}
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert bench.engine.nodes.retries == {0: 1}
    assert bench.state("A").name == "READY"


def test_a_deferred_script_at_a_bounded_pace_wakes_nobody_in_vain() -> None:
    config = Config(restart_pre_rate=1, check_queue_interval=0, pending_report_interval=0)
    made = make.dag("A B", pre={"A": Script("p", 2, 0), "B": Script("p", 2, 0)})
    bench = make.Bench(made, config).begin(recovering=True)
    bench.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    bench.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 2))
    assert bench.engine.next_deadline() == bench.now + 1.0


def test_a_failed_submission_uses_up_a_granted_retry_too() -> None:
    bench = make.Bench(make.dag("A", post={"A": "q"}, retries={"A": 0})).begin()
    bench.take("A", 5)
    bench.tell(make.note(Note.SURPLUS, "A", cluster=5))
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    bench.post_ends("A", 1)
    assert bench.engine.nodes.retries == {0: 1}
    bench.tell(inputs.SubmitFailed(0, "no such file", permanent=True))
    bench.tell(*bench.echo(bench.last))
    assert bench.engine.nodes.retries == {0: 1}
    bench.post_ends("A", 1)
    assert bench.state("A").name == "FAILED"


def test_a_delay_between_two_submits() -> None:
    pace = SubmitPace(Throttles(), delay=3)
    assert pace.blocked_until(10) <= 10
    pace.submitted(10)
    assert pace.blocked_until(11) == 13
    assert pace.blocked_until(13) <= 13
