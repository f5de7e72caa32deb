"""What people are told of shared limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from condor_pydagman.features.shared_limits.overview import OwnPart
from condor_pydagman.follow.notices.collect import notices_of
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.run_model import DagState, Run
from condor_pydagman.monitor.outside_facts import OutsideFacts
from tests import locks
from tests.dag_logs import DagLogs
from tests.features.shared_limits.test_outside import Limits
from tests.unit.follow.test_overview import NOW, a_run, seen
from tests.unit.monitor.test_watched_dag import DAG, started, watched
from tests.unit.report.test_overview_text import text


def in_use(one: Overview) -> Any:
    return one.of_features.get("shared_limits")


def test_shared_limits_while_the_dag_runs(tmp_path: Path) -> None:
    logs = started(tmp_path)
    (tmp_path / "t.dag").write_text(f"{DAG}SHARED_LIMIT tape ALL_NODES\n")
    limits = Limits()
    with locks.held(tmp_path / "t.dag.lock", "7\n"):
        dag = watched(logs, outside=OutsideFacts({"shared_limits": limits}))
        assert [(one["name"], one["waiting"]) for one in in_use(dag.look())] == [("Tape", 4)]
        logs.submit("S", 8)
        DagLogs(tmp_path, "inner.dag").start()
        assert not in_use(dag.look().subdags[0]), "it keeps to none"
    logs.end(0)
    (tmp_path / "t.dag.lock").unlink()
    asked = limits.asked
    assert not in_use(dag.look())
    assert limits.asked == asked


def test_a_limit_that_the_log_says_is_applied(tmp_path: Path) -> None:
    logs = started(tmp_path)
    limits = Limits()
    with locks.held(tmp_path / "t.dag.lock", "7\n"):
        dag = watched(logs, outside=OutsideFacts({"shared_limits": limits}))
        assert not in_use(dag.look())
        assert not limits.asked, "a plain DAG"
        logs.record("LIMITS_APPLIED", node="", text="tape")
        one = dag.look()
        assert [(limit["name"], limit["applied"]) for limit in in_use(one)] == [("Tape", True)]
        shown = " ".join(text(one).split())
        assert "shared limit Tape (applied by the administrator): 9 of 9 jobs in use" in shown
        logs.record("LIMITS_APPLIED", node="", text="")
        assert not in_use(dag.look())


def test_shared_limits() -> None:
    tape = OwnPart("tape", "JOBS", 1000, "jobs", 950, 120, 43, "node", 4)
    pre = OwnPart("tape", "PRE", 5, "PRE scripts", 5, 1, 1, "PRE script", 0)
    limits = [tape, pre, tape._replace(name="free", waiting=0)]
    one = seen(a_run(), outside={"shared_limits": [limit._asdict() for limit in limits]})
    known = Facts("t.dag", DagState.RUNNING, NOW, Run(), of=one.of_features, may_count=False)
    shown = " ".join(text(one.with_notices(notices_of(known))).split())
    assert "shared limit tape: 950 of 1,000 jobs in use, 120 by this DAG, 4 kept for" in shown
    assert (
        "43 nodes are waiting for the shared limit tape: 950 of 1,000 jobs are in use, 120 by this"
        " DAG." in shown
    )
    assert "1 PRE script is waiting for the shared limit tape: 5 of 5 PRE scripts" in shown
    assert "waiting for the shared limit free" not in shown
    assert one.as_json()["shared_limits"][0]["waiting"] == 43
    assert "shared limit" not in text(seen(a_run()))
