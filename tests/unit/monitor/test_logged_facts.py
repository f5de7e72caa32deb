"""What notices are told of a DAG that is looked at again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.follow.notice import Notice, Weight
from condor_pydagman.follow.notices.collect import notices_of
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.run_model import COUNTS, DagState, Halted
from condor_pydagman.follow.tally import Tally
from condor_pydagman.monitor.found_dag import FoundDag, find_dag
from condor_pydagman.monitor.watched_dag import logged_facts
from tests.dag_logs import BEGIN
from tests.unit.follow.bench import Bench
from tests.unit.follow.test_overview import DAG, HELD, a_run, held, seen


@pytest.fixture(autouse=True)
def found(work_directory: Path) -> FoundDag:
    Path("t.dag").write_text(DAG)
    Path("t.dag.dagman.out").write_text("")
    return find_dag("t.dag", ask=False)


def known(tally: Tally, state: DagState = DagState.RUNNING, **how: Any) -> Facts:
    look = seen(tally, **how)
    facts = logged_facts(find_dag("t.dag", ask=False), state, tally, look.counts, {})
    return facts._replace(now=look.now, of=look.of_features)


def noticed(tally: Tally, cause: str, **how: Any) -> list[Notice]:
    return [one for one in notices_of(known(tally, **how)) if one.cause == cause]


def looked(tally: Tally, state: DagState = DagState.RUNNING) -> Overview:
    one = seen(tally, running=known(tally, state).is_live)
    return one.with_notices(notices_of(known(tally, state)), moves=tally.moves(one.counts))


def test_throttles_of_a_dag_that_is_too_big_to_be_read() -> None:
    tally = a_run()
    tally.run.limits = {"DAGMan_MaxJobs": 5, "DAGMan_MaxPreScripts": 2}
    tally.run.counts = dict(zip(COUNTS, (100, 50, 3, 5, 2, 12000, 30, 2, 7)))
    pre, jobs = noticed(Tally(tally.run), "throttle.full")
    assert "2 PRE scripts running, the limit is 2; 1 node is waiting" in pre.sentence
    assert "the limit is 5; 12,000 nodes are waiting" in jobs.sentence


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_groups_without_a_site_are_waited_for(bench: Bench) -> None:
    one = looked(held(bench, f"{HELD}JOB far a.sub\nSITE_GROUP unit NODES far\n"))
    assert one.waits_for[1:] == ["sites for 1 group of nodes"]


def test_a_halted_dag_fails_if_nodes_are_left_that_have_not_begun() -> None:
    def said(text: str, **how: bool) -> str:
        tally = a_run(text)
        tally.run.halts = [Halted(BEGIN + 450, **how)]
        (notice,) = noticed(tally, "dag.halted")
        return notice.sentence

    fails = "If nobody resumes it before these have ended, the DAG fails (exit code 1)."
    assert said(DAG).endswith(fails)
    assert said(f"{DAG}FINAL last a.sub\n").endswith("DAGMan runs the FINAL node and ends.")
    assert said(DAG.replace("PARENT long CHILD waits\n", "").replace("JOB waits a.sub\n", "")
                ).endswith("DAGMan submits no new ones.")  # fmt: skip
    assert said(DAG, paused=True).endswith("DAGMan submits no new ones.")


def test_a_dag_of_which_no_node_is_left() -> None:
    assert not known(a_run()).all_ended
    tally = Tally(a_run().run)
    tally.run.in_queue.clear()
    tally.run.counts = dict(zip(COUNTS, (3, 1, 0, 0, 0, 0, 0, 1, 1)))
    assert known(tally).all_ended


def test_notices_as_json_do_not_grow_with_the_dag() -> None:
    many = Notice(
        "job.held", Weight.PROBLEM, "x", tuple(map(str, range(99))), since=5.0, command="c"
    )
    (told,) = seen(a_run()).with_notices((many,)).as_json()["notices"]
    assert (told["weight"], told["since"], told["command"]) == ("problem", 5.0, "c")
    assert told["nodes"] == ["0", "1", "2", "3", "4"]


def test_a_job_of_a_service_node_that_is_held(bench: Bench) -> None:
    bench.submit("S", 7)
    bench.hold(7)
    (notice,) = noticed(bench.tally("JOB A a.sub\nSERVICE S a.sub\n"), "job.held")
    assert notice.nodes == ("S",)
