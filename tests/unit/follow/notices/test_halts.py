"""What is said of a DAG that is halted, was removed, or whose DAGMan is held."""

from __future__ import annotations

from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.notices.facts import DagmanJob, Facts
from condor_pydagman.follow.notices.halts import halt_notices
from condor_pydagman.follow.run_model import DagState, Halted, Run
from condor_pydagman.vocabulary import HELD_BY_DAGMAN
from tests.unit.explain import dag_of

NOW = 1000.0


def said(state: DagState, run: Run | None = None, **more: object) -> list[Notice]:
    return list(halt_notices(Facts("t.dag", state, NOW, run or Run(), 7)._replace(**more)))  # type: ignore[arg-type]


def test_a_held_dagman_by_its_ad() -> None:
    ad = {"HoldReasonCode": 1, "HoldReason": "by me", "EnteredCurrentStatus": 940}
    (notice,) = said(DagState.HELD, ad=ad)
    assert notice.sentence == (
        "DAGMan's job 7 has been held for 1 min, so the DAG is stopped: someone used condor_hold"
        " (HoldReasonCode 1)."
    )
    assert (notice.evidence[0].text, notice.command) == ("by me", "condor_release 7")
    assert notice.advice == ("To continue: condor_release 7",)
    (notice,) = said(DagState.HELD, ad={**ad, "HoldReasonSubCode": HELD_BY_DAGMAN})
    assert "so the DAG is stopped: DAGMan has put it on hold itself (" in notice.sentence
    (notice,) = said(DagState.HELD, ad={**ad, "JobCoolDownExpiration": NOW + 90})
    assert notice.advice == (
        "To continue: condor_release 7; the schedd starts DAGMan in 1 min 30 s, after its"
        " cool-down",
    )


def test_why_dagmans_job_was_removed() -> None:
    by = "via condor_rm (by user ann)"
    (notice,) = said(DagState.REMOVED, dagman_job=DagmanJob(removed=by, left=NOW - 5))
    assert notice.sentence == (
        f"DAGMan's job was removed: {by}; DAGMan removed the jobs of its nodes."
    )
    assert (notice.evidence[0].source, notice.since) == ("t.dag.dagman.log", NOW - 5)


def test_a_dag_that_is_held_and_halted() -> None:
    run = Run()
    run.halts = [Halted(NOW - 60)]
    held, halted = said(DagState.HELD, run)
    assert (held.cause, halted.cause) == ("dagman.held", "dag.halted")
    assert halted.sentence.endswith(" That stays so when DAGMan's job is released.")
    by_file = said(DagState.HELD, halt_file="t.dag.halt", has_halt_file=True)
    assert by_file[1].command == "rm t.dag.halt"


def test_why_a_dag_that_was_removed_has_exit_code_0() -> None:
    run = Run()
    run.removed, run.exit_code = True, 0
    final = dag_of("JOB A a.sub\nFINAL F f.sub\n")
    (notice,) = said(DagState.REMOVED, run, dag=final)
    assert notice.sentence.endswith("of its nodes; the exit code 0 is that of the FINAL node.")
    assert not said(DagState.REMOVED, run, dag=dag_of("JOB A a.sub\n"))[0].sentence.count(" 0 ")
    run.removed, run.cancelled_by = False, "ann"
    (notice,) = said(DagState.REMOVED, run)
    assert notice.sentence.endswith("of its nodes; the exit code 0 is that of the FINAL node.")
