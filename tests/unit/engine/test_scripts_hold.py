"""HOLD scripts: one for each time a proc goes on hold, and no part of the node's life."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, queues
from condor_pydagman.engine.inputs import LogEvent, ScriptEnded
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Script, Tolerance
from condor_pydagman.vocabulary import EventKind, ScriptKind
from tests import make
from tests.make import QUIET

HOLD = ScriptKind.HOLD


def held(cluster: int, proc: int = 0, text: str = "why") -> LogEvent:
    return make.of_job(EventKind.JOB_HELD, cluster, proc, text=text)


def released(cluster: int, proc: int = 0) -> LogEvent:
    return make.of_job(EventKind.JOB_RELEASED, cluster, proc)


def with_hold_script(
    script: str | Script = "h", *, procs: int = 1, limit: int = 0
) -> make.EngineHarness:
    """A has the script, and the schedd has taken its jobs."""
    return make.harness_of("A -> B", QUIET, Throttles(hold=limit), procs=procs, hold={"A": script})


def ended(status: int = 0) -> ScriptEnded:
    return ScriptEnded(0, HOLD, status)


RUN = do.RunScript(0, HOLD, ("h",))


def test_macros_of_a_hold_script() -> None:
    words = (
        "h $NODE $RETURN $JOBID $JOB_COUNT $SUCCESS $EXIT_CODES $EXIT_CODE_LIST"
        " $EXIT_CODE_COUNTS $PRE_SCRIPT_RETURN $JOB_ABORT_COUNT $DAG_STATUS $QUEUED_COUNT"
    )
    harness = with_hold_script(words)
    harness.tell(held(5))
    assert harness.said("  Hold reason: why")
    assert harness.said("Running HOLD script of Node A...")
    (run,) = harness.asked(do.RunScript)
    assert run == do.RunScript(
        0, HOLD, ("h", "A", "-1", "5.0", "1", "True", "", "", "", "-1", "0", "0", "1")
    )


@pytest.mark.parametrize("status", [0, 1, -9])
def test_the_exit_code_of_a_hold_script_is_ignored(status: int) -> None:
    harness = with_hold_script()
    harness.tell(held(5))
    harness.tell(ended(status))
    assert not harness.last
    assert harness.states() == "A=SUBMITTED B=WAITING"
    harness.tell(released(5), make.terminated(5))
    assert harness.states() == "A=DONE B=SUBMITTING"


def test_the_number_of_waiting_hold_scripts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "MAX_HOLD_SCRIPTS", 3)
    harness = with_hold_script(limit=1)
    for _ in range(20):
        harness.tell(held(5), released(5))
    assert len([say for say in harness.ever(do.Say) if "HOLD scripts wait" in say.text]) == 1
    for _ in range(20):
        harness.tell(ended())
    assert len(harness.ever(do.RunScript)) == 4


def test_a_hold_script_that_can_not_be_started() -> None:
    harness = with_hold_script()
    harness.tell(held(5))
    harness.tell(ScriptEnded(0, HOLD, 1, "no such file"))
    assert harness.said("Error: Failed to execute HOLD for Node A: no such file")
    assert harness.engine.report().hold_scripts == 0
    harness.tell(make.terminated(5))
    assert harness.state("A").name == "DONE"


def test_a_hold_script_runs_once_for_each_hold() -> None:
    harness = with_hold_script()
    for _ in range(3):
        harness.tell(held(5))
        assert harness.asked(do.RunScript) == [RUN]
        harness.tell(ended(), released(5))
    assert harness.engine.run.scripts.hold.running == 0


def test_hold_scripts_of_several_procs_at_once() -> None:
    """Two HELD events before the first script has ended make stock DAGMan die, and die again."""
    harness = with_hold_script(procs=3)
    harness.tell(held(5, 0), held(5, 1), held(5, 2))
    assert harness.asked(do.RunScript) == [RUN] * 3
    assert harness.engine.report().hold_scripts == 3
    harness.tell(ended(), ended(), ended())
    assert harness.engine.report().hold_scripts == 0
    harness.tell(ended())  # one more than ran
    assert harness.engine.report().hold_scripts == 0


def test_a_throttle_bounds_the_hold_scripts_that_run() -> None:
    harness = with_hold_script(procs=3, limit=2)
    harness.tell(held(5, 0), held(5, 1), held(5, 2))
    assert harness.asked(do.RunScript) == [RUN] * 2
    assert harness.engine.report().deferrals.hold == 1
    assert harness.engine.next_deadline() is None
    harness.tell(ended())
    assert harness.asked(do.RunScript) == [RUN]
    harness.tell(ended(), ended())
    assert not harness.asked(do.RunScript)


def test_defer_runs_a_hold_script_again_later() -> None:
    harness = with_hold_script(Script("h", 4, 30), limit=20)
    harness.tell(held(5))
    harness.tell(ended(4))
    assert harness.said("Deferring HOLD script of node A for 30 seconds (exit status was 4)...")
    assert harness.engine.report().deferrals.hold == 1
    assert harness.engine.next_deadline() == harness.now + 30
    assert not harness.wait(29.0)
    harness.wait(1.0)
    assert harness.asked(do.RunScript) == [RUN]
    assert harness.engine.next_deadline() is None
    harness.tell(ended(3))
    assert harness.engine.next_deadline() is None


def test_a_deferred_one_without_a_free_place_does_not_wake_anybody() -> None:
    harness = with_hold_script(Script("h", 4, 30), procs=2, limit=1)
    harness.tell(held(5, 0), held(5, 1))
    harness.tell(ended(4))
    assert harness.asked(do.RunScript) == [RUN]  # that of the other proc
    harness.wait(40.0)
    assert not harness.asked(do.RunScript)
    assert harness.engine.next_deadline() is None
    harness.tell(ended())
    assert harness.asked(do.RunScript) == [RUN]


def test_a_paused_dag_does_not_start_it_and_does_not_spin() -> None:
    harness = with_hold_script(Script("h", 4, 30), procs=2)
    harness.tell(held(5, 0), ended(4), inputs.Halt(pause=True))
    harness.wait(40.0)
    assert not harness.asked(do.RunScript)
    assert harness.engine.next_deadline() is None
    harness.tell(held(5, 1))
    assert not harness.asked(do.RunScript)
    harness.tell(inputs.Resume())
    assert harness.asked(do.RunScript) == [RUN] * 2


def test_a_halted_dag_starts_it() -> None:
    harness = with_hold_script()
    harness.tell(inputs.Halt())
    harness.tell(held(5))
    assert harness.asked(do.RunScript) == [RUN]


def test_nothing_waits_for_it_at_the_end() -> None:
    made = make.dag("A", hold={"A": "h"})
    harness = make.EngineHarness(made, QUIET).begin()
    harness.take("A", 5)
    harness.tell(held(5), released(5), make.terminated(5))
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert not harness.ever(do.KillScripts)


def test_a_script_whose_node_has_gone_on() -> None:
    harness = with_hold_script()
    harness.tell(held(5), released(5), make.terminated(5))
    assert not harness.tell(ended())
    assert harness.engine.run.scripts.hold.running == 0


def test_after_a_restart_only_those_that_are_on_hold_still() -> None:
    harness = with_hold_script(procs=4)
    harness.tell(held(5, 0), held(5, 1), held(5, 2))
    harness.tell(released(5, 1), make.terminated(5, 2))
    other = harness.replay()
    assert not other.ever(do.RunScript)
    other.tell(inputs.LogCaughtUp())
    assert not other.ever(do.RunScript)
    other.tell(inputs.QueueListed(other.queue()))
    assert other.asked(do.RunScript) == [RUN]


def test_held_twice_in_an_old_log_is_one_script() -> None:
    harness = with_hold_script()
    harness.tell(held(5), released(5), held(5))
    assert harness.restart().asked(do.RunScript) == [RUN]


def test_a_proc_held_in_an_earlier_run_of_its_node() -> None:
    made = make.dag("A", hold={"A": "h"}, retries={"A": 1})
    harness = make.EngineHarness(made, QUIET).begin()
    harness.take("A", 5)
    harness.tell(held(5), make.of_job(EventKind.JOB_ABORTED, 5))
    harness.take("A", 6)
    assert not harness.restart().ever(do.RunScript)


def test_a_restart_obeys_the_throttle() -> None:
    harness = with_hold_script(procs=3, limit=2)
    harness.tell(held(5, 0), held(5, 1), held(5, 2))
    other = harness.restart()
    assert other.asked(do.RunScript) == [RUN] * 2
    other.tell(ended())
    assert other.asked(do.RunScript) == [RUN]


def test_a_node_without_a_hold_script() -> None:
    harness = make.EngineHarness("A").begin()
    harness.take("A", 5)
    harness.tell(held(5))
    assert not harness.asked(do.RunScript)
    assert harness.engine.report().procs_held == 1


@pytest.mark.parametrize("strict", [0, 1])
def test_an_unknown_macro_in_a_hold_script(strict: int) -> None:
    made = make.dag("A", hold={"A": "h $WHAT"})
    harness = make.EngineHarness(made, Config(use_strict=strict)).begin()
    harness.take("A", 5)
    harness.tell(held(5))
    assert harness.said("Warning: unrecognized macro $WHAT in node A HOLD script arguments")
    if strict:
        assert harness.asked(do.Exit) == [do.Exit(1)]
    else:
        assert harness.asked(do.RunScript) == [do.RunScript(0, HOLD, ("h", "$WHAT"))]


def test_the_limit_of_holds_removes_the_jobs_and_the_script_runs_all_the_same() -> None:
    made = make.dag("A", hold={"A": "h"}, retries={"A": 1})
    harness = make.EngineHarness(made, Config(max_job_holds=1)).begin()
    harness.take("A", 5)
    harness.tell(held(5))
    assert harness.said(
        "Total hold count for job 5 (node A)has reached DAGMAN_MAX_JOB_HOLDS (1);"
        " all job proc(s) for this node will now be removed"
    )
    assert harness.asked(do.RemoveJobs) == [
        do.RemoveJobs("DAG Limit: Max number of held jobs was reached.", 5)
    ]
    assert harness.asked(do.RunScript) == [RUN]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert harness.submits() == ["A"]


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_the_limit_counts_procs_that_are_on_hold_now(limit: int) -> None:
    harness = make.EngineHarness("A", Config(max_job_holds=limit)).begin()
    harness.take("A", 5, procs=3)
    harness.tell(held(5, 0), released(5, 0), held(5, 0), held(5, 0))
    assert bool(harness.ever(do.RemoveJobs)) == (limit == 1)
    harness.tell(held(5, 1))
    assert bool(harness.ever(do.RemoveJobs)) == (limit in (1, 2))
    harness.tell(held(5, 2))
    assert len(harness.ever(do.RemoveJobs)) == (limit > 0)


def test_the_limit_of_holds_in_a_replay() -> None:
    made = make.dag("A", post={"A": "q $RETURN $JOB_ABORT_COUNT"})
    harness = make.EngineHarness(made, Config(max_job_holds=2)).begin()
    harness.take("A", 5, procs=2)
    harness.tell(held(5, 0), held(5, 1))
    other = harness.restart()
    assert [removal.cluster for removal in other.asked(do.RemoveJobs)] == [5]
    gone = [make.of_job(EventKind.JOB_ABORTED, 5, proc) for proc in (0, 1)]
    other.tell(*gone)
    assert other.asked(do.RunScript)[0].words == ("q", "-1002", "2")
    harness.tell(*gone)
    harness.same_replay()


def test_an_event_of_a_proc_that_has_ended_starts_nothing() -> None:
    harness = with_hold_script(procs=2)
    harness.tell(make.terminated(5, 0), held(5, 0))
    assert not harness.asked(do.RunScript)
    assert harness.engine.report().procs_held == 0


def test_a_doubled_event_starts_no_second_script() -> None:
    harness = make.EngineHarness(make.dag("A", hold={"A": "h"})).begin()
    harness.take("A", 5)
    held = make.of_job(EventKind.JOB_HELD, 5)
    harness.tell(held, held)
    assert len(harness.ever(do.RunScript)) == 1
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 5), held)
    assert len(harness.ever(do.RunScript)) == 2


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
    harness = make.EngineHarness("A", Config(max_job_holds=50)).begin()
    harness.take("A", 5, procs=40)
    jobs = harness.engine.run.job_table.by_node[0]
    harness.engine.check = False
    jobs.procs = watched = Watched(jobs.procs)
    harness.tell(*(held(5, proc) for proc in range(40)))
    assert (jobs.held, watched.looked) == (40, 0)


def test_what_it_is_told_while_procs_end_and_in_the_next_run() -> None:
    made = make.dag("A", hold={"A": "h $RETURN"}, retries={"A": 1})
    made.tolerances[0] = Tolerance(1)
    harness = make.EngineHarness(made, QUIET).begin()
    harness.take("A", 5, procs=4)
    said = []
    for event in (held(5, 3), make.terminated(5, 0), held(5, 2), make.terminated(5, 1, 3)):
        said += [run.words[1] for run in harness.tell(event) if isinstance(run, do.RunScript)]
    harness.tell(released(5, 2), held(5, 2))
    assert [*said, harness.asked(do.RunScript)[0].words[1]] == ["-1", "0", "3"]
    harness.tell(make.terminated(5, 2, 4), make.of_job(EventKind.JOB_ABORTED, 5, 3))
    harness.take("A", 6)
    harness.tell(held(6))
    assert harness.asked(do.RunScript)[0].words == ("h", "-1")
