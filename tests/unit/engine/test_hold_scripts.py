"""HOLD scripts: one for each time a proc goes on hold, and no part of the node's life."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import hold_scripts, inputs
from condor_pydagman.engine.inputs import LogEvent, ScriptEnded
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Script, Tolerance
from condor_pydagman.vocabulary import EventKind, ScriptKind
from tests import make

HOLD = ScriptKind.HOLD
QUIET = Config(check_queue_interval=0, pending_report_interval=0)


def held(cluster: int, proc: int = 0, text: str = "why") -> LogEvent:
    return make.of_job(EventKind.JOB_HELD, cluster, proc, text=text)


def released(cluster: int, proc: int = 0) -> LogEvent:
    return make.of_job(EventKind.JOB_RELEASED, cluster, proc)


def bench_of(script: str | Script = "h", *, procs: int = 1, limit: int = 0) -> make.Bench:
    made = make.dag("A -> B", hold={"A": script})
    bench = make.Bench(made, QUIET, Throttles(hold=limit)).begin()
    bench.take("A", 5, procs)
    return bench


def ended(status: int = 0) -> ScriptEnded:
    return ScriptEnded(0, HOLD, status)


RUN = do.RunScript(0, HOLD, ("h",))


def test_what_it_is_told() -> None:
    words = (
        "h $NODE $RETURN $JOBID $JOB_COUNT $SUCCESS $EXIT_CODES $EXIT_CODE_LIST"
        " $EXIT_CODE_COUNTS $PRE_SCRIPT_RETURN $JOB_ABORT_COUNT $DAG_STATUS $QUEUED_COUNT"
    )
    bench = bench_of(words)
    bench.tell(held(5))
    assert bench.said("  Hold reason: why")
    assert bench.said("Running HOLD script of Node A...")
    (run,) = bench.asked(do.RunScript)
    assert run == do.RunScript(
        0, HOLD, ("h", "A", "-1", "5.0", "1", "True", "", "", "", "-1", "0", "0", "1")
    )


@pytest.mark.parametrize("status", [0, 1, -9])
def test_its_exit_code_is_ignored(status: int) -> None:
    bench = bench_of()
    bench.tell(held(5))
    bench.tell(ended(status))
    assert not bench.last
    assert bench.states() == "A=SUBMITTED B=WAITING"
    bench.tell(released(5), make.terminated(5))
    assert bench.states() == "A=DONE B=SUBMITTING"


def test_those_that_wait_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hold_scripts, "MOST_WAITING", 3)
    bench = bench_of(limit=1)
    for _ in range(20):
        bench.tell(held(5), released(5))
    assert len([say for say in bench.ever(do.Say) if "HOLD scripts wait" in say.text]) == 1
    for _ in range(20):
        bench.tell(ended())
    assert len(bench.ever(do.RunScript)) == 4


def test_it_can_not_be_started() -> None:
    bench = bench_of()
    bench.tell(held(5))
    bench.tell(ScriptEnded(0, HOLD, 1, "no such file"))
    assert bench.said("Error: Failed to execute HOLD for Node A: no such file")
    assert bench.engine.report().hold_scripts == 0
    bench.tell(make.terminated(5))
    assert bench.state("A").name == "DONE"


def test_once_for_each_time() -> None:
    bench = bench_of()
    for _ in range(3):
        bench.tell(held(5))
        assert bench.asked(do.RunScript) == [RUN]
        bench.tell(ended(), released(5))
    assert bench.engine.hold_scripts.running == 0


def test_several_at_once() -> None:
    """Two HELD events before the first script has ended make stock DAGMan die, and die again."""
    bench = bench_of(procs=3)
    bench.tell(held(5, 0), held(5, 1), held(5, 2))
    assert bench.asked(do.RunScript) == [RUN] * 3
    assert bench.engine.report().hold_scripts == 3
    bench.tell(ended(), ended(), ended())
    assert bench.engine.report().hold_scripts == 0
    bench.tell(ended())  # one more than ran
    assert bench.engine.report().hold_scripts == 0


def test_throttle() -> None:
    bench = bench_of(procs=3, limit=2)
    bench.tell(held(5, 0), held(5, 1), held(5, 2))
    assert bench.asked(do.RunScript) == [RUN] * 2
    assert bench.engine.report().deferrals.hold == 1
    assert bench.engine.next_deadline() is None
    bench.tell(ended())
    assert bench.asked(do.RunScript) == [RUN]
    bench.tell(ended(), ended())
    assert not bench.asked(do.RunScript)


def test_defer() -> None:
    bench = bench_of(Script("h", 4, 30), limit=20)
    bench.tell(held(5))
    bench.tell(ended(4))
    assert bench.said("Deferring HOLD script of node A for 30 seconds (exit status was 4)...")
    assert bench.engine.report().deferrals.hold == 1
    assert bench.engine.next_deadline() == bench.now + 30
    assert not bench.wait(29.0)
    bench.wait(1.0)
    assert bench.asked(do.RunScript) == [RUN]
    assert bench.engine.next_deadline() is None
    bench.tell(ended(3))
    assert bench.engine.next_deadline() is None


def test_a_deferred_one_without_a_free_place_does_not_wake_anybody() -> None:
    bench = bench_of(Script("h", 4, 30), procs=2, limit=1)
    bench.tell(held(5, 0), held(5, 1))
    bench.tell(ended(4))
    assert bench.asked(do.RunScript) == [RUN]  # that of the other proc
    bench.wait(40.0)
    assert not bench.asked(do.RunScript)
    assert bench.engine.next_deadline() is None
    bench.tell(ended())
    assert bench.asked(do.RunScript) == [RUN]


def test_a_paused_dag_does_not_start_it_and_does_not_spin() -> None:
    bench = bench_of(Script("h", 4, 30), procs=2)
    bench.tell(held(5, 0), ended(4), inputs.Halt(pause=True))
    bench.wait(40.0)
    assert not bench.asked(do.RunScript)
    assert bench.engine.next_deadline() is None
    bench.tell(held(5, 1))
    assert not bench.asked(do.RunScript)
    bench.tell(inputs.Resume())
    assert bench.asked(do.RunScript) == [RUN] * 2


def test_a_halted_dag_starts_it() -> None:
    bench = bench_of()
    bench.tell(inputs.Halt())
    bench.tell(held(5))
    assert bench.asked(do.RunScript) == [RUN]


def test_nothing_waits_for_it_at_the_end() -> None:
    made = make.dag("A", hold={"A": "h"})
    bench = make.Bench(made, QUIET).begin()
    bench.take("A", 5)
    bench.tell(held(5), released(5), make.terminated(5))
    assert bench.asked(do.Exit) == [do.Exit(0)]
    assert not bench.ever(do.KillScripts)


def test_a_script_whose_node_has_gone_on() -> None:
    bench = bench_of()
    bench.tell(held(5), released(5), make.terminated(5))
    assert not bench.tell(ended())
    assert bench.engine.hold_scripts.running == 0


def test_after_a_restart_only_those_that_are_on_hold_still() -> None:
    bench = bench_of(procs=4)
    bench.tell(held(5, 0), held(5, 1), held(5, 2))
    bench.tell(released(5, 1), make.terminated(5, 2))
    other = bench.replay()
    assert not other.ever(do.RunScript)
    other.tell(inputs.LogCaughtUp())
    assert not other.ever(do.RunScript)
    other.tell(inputs.QueueListed(other.queue()))
    assert other.asked(do.RunScript) == [RUN]


def test_held_twice_in_an_old_log_is_one_script() -> None:
    bench = bench_of()
    bench.tell(held(5), released(5), held(5))
    assert bench.restart().asked(do.RunScript) == [RUN]


def test_a_proc_held_in_an_earlier_run_of_its_node() -> None:
    made = make.dag("A", hold={"A": "h"}, retries={"A": 1})
    bench = make.Bench(made, QUIET).begin()
    bench.take("A", 5)
    bench.tell(held(5), make.of_job(EventKind.JOB_ABORTED, 5))
    bench.take("A", 6)
    assert not bench.restart().ever(do.RunScript)


def test_a_restart_obeys_the_throttle() -> None:
    bench = bench_of(procs=3, limit=2)
    bench.tell(held(5, 0), held(5, 1), held(5, 2))
    other = bench.restart()
    assert other.asked(do.RunScript) == [RUN] * 2
    other.tell(ended())
    assert other.asked(do.RunScript) == [RUN]


def test_a_node_without_one() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5)
    bench.tell(held(5))
    assert not bench.asked(do.RunScript)
    assert bench.engine.report().procs_held == 1


@pytest.mark.parametrize("strict", [0, 1])
def test_an_unknown_macro(strict: int) -> None:
    made = make.dag("A", hold={"A": "h $WHAT"})
    bench = make.Bench(made, Config(use_strict=strict)).begin()
    bench.take("A", 5)
    bench.tell(held(5))
    assert bench.said("Warning: unrecognized macro $WHAT in node A HOLD script arguments")
    if strict:
        assert bench.asked(do.Exit) == [do.Exit(1)]
    else:
        assert bench.asked(do.RunScript) == [do.RunScript(0, HOLD, ("h", "$WHAT"))]


def test_the_limit_of_holds_removes_the_jobs_and_the_script_runs_all_the_same() -> None:
    made = make.dag("A", hold={"A": "h"}, retries={"A": 1})
    bench = make.Bench(made, Config(max_job_holds=1)).begin()
    bench.take("A", 5)
    bench.tell(held(5))
    assert bench.said(
        "Total hold count for job 5 (node A)has reached DAGMAN_MAX_JOB_HOLDS (1);"
        " all job proc(s) for this node will now be removed"
    )
    assert bench.asked(do.RemoveJobs) == [
        do.RemoveJobs("DAG Limit: Max number of held jobs was reached.", 5)
    ]
    assert bench.asked(do.RunScript) == [RUN]
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert bench.submits() == ["A"]


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_the_limit_counts_procs_that_are_on_hold_now(limit: int) -> None:
    bench = make.Bench("A", Config(max_job_holds=limit)).begin()
    bench.take("A", 5, procs=3)
    bench.tell(held(5, 0), released(5, 0), held(5, 0), held(5, 0))
    assert bool(bench.ever(do.RemoveJobs)) == (limit == 1)
    bench.tell(held(5, 1))
    assert bool(bench.ever(do.RemoveJobs)) == (limit in (1, 2))
    bench.tell(held(5, 2))
    assert len(bench.ever(do.RemoveJobs)) == (limit > 0)


def test_the_limit_of_holds_in_a_replay() -> None:
    made = make.dag("A", post={"A": "q $RETURN $JOB_ABORT_COUNT"})
    bench = make.Bench(made, Config(max_job_holds=2)).begin()
    bench.take("A", 5, procs=2)
    bench.tell(held(5, 0), held(5, 1))
    other = bench.restart()
    assert [removal.cluster for removal in other.asked(do.RemoveJobs)] == [5]
    gone = [make.of_job(EventKind.JOB_ABORTED, 5, proc) for proc in (0, 1)]
    other.tell(*gone)
    assert other.asked(do.RunScript)[0].words == ("q", "-1002", "2")
    bench.tell(*gone)
    bench.same_replay()


def test_an_event_of_a_proc_that_has_ended_starts_nothing() -> None:
    bench = bench_of(procs=2)
    bench.tell(make.terminated(5, 0), held(5, 0))
    assert not bench.asked(do.RunScript)
    assert bench.engine.report().procs_held == 0


def test_a_doubled_event_starts_no_second_script() -> None:
    bench = make.Bench(make.dag("A", hold={"A": "h"})).begin()
    bench.take("A", 5)
    held = make.of_job(EventKind.JOB_HELD, 5)
    bench.tell(held, held)
    assert len(bench.ever(do.RunScript)) == 1
    bench.tell(make.of_job(EventKind.JOB_RELEASED, 5), held)
    assert len(bench.ever(do.RunScript)) == 2


class Watched(dict[int, int]):
    """Flags of procs, which count how many of them are looked at one after the other."""

    looked = 0

    def values(self) -> Any:
        self.looked += len(self)
        return super().values()

    def items(self) -> Any:
        self.looked += len(self)
        return super().items()


def test_the_limit_of_holds_is_no_reason_to_look_at_all_procs() -> None:
    bench = make.Bench("A", Config(max_job_holds=50)).begin()
    bench.take("A", 5, procs=40)
    jobs = bench.engine.book.by_node[0]
    bench.engine.check = False
    jobs.procs = watched = Watched(jobs.procs)
    bench.tell(*(held(5, proc) for proc in range(40)))
    assert (jobs.held, watched.looked) == (40, 0)


def test_what_it_is_told_while_procs_end_and_in_the_next_run() -> None:
    made = make.dag("A", hold={"A": "h $RETURN"}, retries={"A": 1})
    made.tolerances[0] = Tolerance(1)
    bench = make.Bench(made, QUIET).begin()
    bench.take("A", 5, procs=4)
    said = []
    for event in (held(5, 3), make.terminated(5, 0), held(5, 2), make.terminated(5, 1, 3)):
        said += [run.words[1] for run in bench.tell(event) if isinstance(run, do.RunScript)]
    bench.tell(released(5, 2), held(5, 2))
    assert [*said, bench.asked(do.RunScript)[0].words[1]] == ["-1", "0", "3"]
    bench.tell(make.terminated(5, 2, 4), make.of_job(EventKind.JOB_ABORTED, 5, 3))
    bench.take("A", 6)
    bench.tell(held(6))
    assert bench.asked(do.RunScript)[0].words == ("h", "-1")
