"""The commands for operators on a real pool: the DAGs of a queue, those that have ended, figures,
and two runs compared."""

from __future__ import annotations

import json
import sys
from typing import Any

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from condor_pydagman.monitor.found_dag import found_by_ad
from condor_pydagman.web.dags_list import id_of, newest_by_id
from condor_pydagman.web.ended_answers import ended_row
from tests import schemas
from tests.pool.scenes import Scene, Stage

STAGE = Stage()
DAG = (
    "JOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\nJOB H told.sub\nRETRY B 1\nVARS B code='1'\n"
)


def row(s: Scene, command: str) -> dict[str, Any]:
    """What a command says of the scene's DAG as JSON; it is in the table as well."""
    constraint = ("-allusers", "-constraint", f"ClusterId == {s.cluster}")
    once = ("-once",) if command == "top" else ()
    (line,) = s.run("condor_pydagman", command, "--json", *constraint).splitlines()
    found: dict[str, Any] = json.loads(line)
    schemas.check(command, found)
    _, shown = s.run("condor_pydagman", command, *once, *constraint).splitlines()
    assert shown.split()[0] == str(s.cluster)
    assert shown.endswith(f" {s.work}/t.dag")
    return found


def figures(s: Scene) -> dict[str, float]:
    """The sums over all DAGs of the queue, by names and labels."""
    text = s.run("condor_pydagman", "metrics")
    return {
        " ".join([sample.name, *sample.labels.values()]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def check_looks_again(s: Scene) -> None:
    """The screen of `top`, which asks once for what a job keeps, has it at each look."""
    program = (
        "from condor_pydagman.monitor.queued_dags import Looks\n"
        f"looks = Looks('ClusterId == {s.cluster}', '', '')\n"
        "for _ in range(2):\n"
        "    (dag,) = looks.look()\n"
        "    print(dag.owner, dag.dag, dag.submitted > 0, dag.total, dag.state)\n"
    )
    first, again = s.run(sys.executable, "-c", program).splitlines()
    assert first == again
    assert again.endswith(f" {s.work}/t.dag True 3 running")


def check_list_of_page(s: Scene) -> None:
    """The page has the DAG among those that have ended lately, and finds its files."""
    program = "import sys; from condor_pydagman.web.ended_answers import main; sys.exit(main([]))"
    ads = json.loads(s.run(sys.executable, "-c", program))
    ad = next(ad for ad in ads if ad["ClusterId"] == s.cluster)
    shown = ended_row(ad)
    assert (shown["directory"], shown["file"], shown["done"]) == (str(s.work), "t.dag", 2)
    assert (shown["failed_first"], shown["retries"]) == ("B", 1) and shown["took_s"] > 0
    assert list(newest_by_id(ads)).count(id_of(found_by_ad(ad))) == 1


@STAGE.scene
def seen_by_an_operator(s: Scene) -> None:
    s.submit(DAG.replace("'", '"'), started="A 0")
    s.started("H 0")
    s.run("condor_hold", str(s.job("H")))
    s.has(PYDAGMAN_WaitsFor="job.held", PYDAGMAN_WaitsForCount=1, DAG_JobsHeld=1)
    seen = row(s, "top")
    assert (seen["state"], seen["done"], seen["total"]) == ("running", 0, 3)
    assert (seen["jobs_running"], seen["jobs_held"], seen["waits_for"]) == (1, 1, "job.held")
    assert seen["program"].startswith("condor_pydagman ")
    assert seen["memory_kb"] > 0 and seen["last_end"] == 0
    check_looks_again(s)
    told = figures(s)
    assert told["dagman_schedd_up"] == 1
    assert told["dagman_jobs held"] >= 1 and told["dagman_waiting job.held"] >= 1
    s.run("condor_release", str(s.job("H")))
    s.touch("go.A", "go.H")
    assert s.ends() == 1
    s.gone()
    ended = row(s, "runs")
    assert (ended["state"], ended["exit_code"], ended["done"]) == ("failed (1)", 1, 2)
    assert (ended["failed_nodes"], ended["retries"]) == ("B", 1)
    assert ended["running_s"] + ended["held_s"] > 0
    assert json.loads(s.text("t.dag.metrics"))["program"] == seen["program"]
    check_list_of_page(s)
    s.submit_again()
    assert s.ends() == 1
    lines = s.run("condor_pydagman", "report", "--compare", "t.dag:-2", "t.dag").splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["A", "run", "took"]


test_all_dags = STAGE.tests()
