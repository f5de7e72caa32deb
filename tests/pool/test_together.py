"""Nodes submitted together as procs of one cluster, on a real pool: each runs as it would alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.features.common.shared_description import obstacle
from condor_pydagman.language.description import template_of
from condor_pydagman.vocabulary import SHARED_CLUSTER
from tests.corpora import submit_files
from tests.pool import dags
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.scenes import Scene, Stage
from tests.pool.test_submit_corpus import RECORDED
from tools.record_submit_corpus import CHANGING, lay_out

STAGE = Stage()
TOGETHER = """\
CONFIG together
RETRY C 1
#== together
PYDAGMAN_MAX_NODES_IN_CLUSTER = 100
"""


@STAGE.scene
def dagman_is_killed_while_they_run(s: Scene) -> None:
    s.submit("".join(f"JOB {name} told.sub\n" for name in "ABCDE") + TOGETHER)
    s.started(*(f"{name} 0" for name in "ABCDE"))
    s.touch("go.B")
    s.restart()
    s.touch("go.A", "go.C", "go.D")
    s.restart()
    s.touch("go.E")
    assert s.ends() == 0
    assert dags.starts(s.work) == {f"{name} 0": 1 for name in "ABCDE"}
    clusters = {event.cluster for event in s.events() if event["EventTypeNumber"] == 0}
    assert len(clusters) < 5


test_scenes = STAGE.tests()


def job_ads(access_point: AccessPoint, work: Path, nodes: int) -> dict[str, dict[str, Any]]:
    """Submit `t.dag`, whose jobs are held; their ads by the node's name, once all are there."""
    cluster = access_point.submit(work, "t.dag")

    def found() -> list[Any] | None:
        ads = access_point.queue(f"DAGManJobId == {cluster}")
        return ads if len(ads) == nodes else None

    try:
        ads = access_point.wait_for(found, say="all jobs")
    finally:
        access_point.run("condor_rm", str(cluster), check=False)
    return {ad["DAGNodeName"]: dict(ad) for ad in ads}


def is_shared(ad: dict[str, Any]) -> bool:
    """Whether a job is in a cluster with jobs of other nodes, by its ad."""
    return bool(ad.get("SubmitEventUserNotes") == SHARED_CLUSTER)


CASES = sorted(
    case
    for case, what in RECORDED.items()
    if len(what.get("jobs", ())) == 1 and not obstacle(template_of(submit_files()[case]))
)


@pytest.fixture(scope="module")
def jobs(access_point: AccessPoint, place: Path) -> dict[str, dict[str, Any]]:
    """Three nodes of each submit file that can be shared; their job ads, by the node's name."""
    work = new_directory(place / "together") / "jobs"
    lay_out(CASES, work)
    names = [f"{case}-{number}" for case in CASES for number in range(3)]
    lines = [f'JOB {n} {n[:-2]}.sub\nVARS {n} APPEND hold="true"\n' for n in names]
    (work / "t.dag").write_text("CONFIG knobs\n" + "".join(lines))
    with (work / "knobs").open("a") as knobs:
        knobs.write("PYDAGMAN_MAX_NODES_IN_CLUSTER = 10\nDAGMAN_MAX_JOBS_IDLE = 0\n")
    return job_ads(access_point, work, len(names))


def test_many_submit_files_are_shared(jobs: dict[str, Any]) -> None:
    """Those of which there is a warning for each job are not."""
    found = [case for case in CASES if is_shared(jobs[f"{case}-1"])]
    assert len(found) > 45


@pytest.mark.parametrize("case", CASES)
def test_a_job_is_as_one_of_a_cluster_of_its_own(jobs: dict[str, Any], case: str) -> None:
    alone, *shared = (jobs[f"{case}-{number}"] for number in range(3))
    assert not is_shared(alone)
    wanted = _comparable(alone, f"{case}-0")
    if is_shared(shared[0]):
        assert shared[0]["ClusterId"] == shared[1]["ClusterId"]
    for number, job in enumerate(shared, 1):
        assert _comparable(job, f"{case}-{number}") == wanted


def _comparable(job: dict[str, Any], node: str) -> dict[str, Any]:
    left_out = CHANGING | {"TotalSubmitProcs", "SubmitEventUserNotes"}
    kept = {key: value for key, value in job.items() if key not in left_out}
    return {
        key: value.replace(node, "NODE") if isinstance(value, str) else str(value)
        for key, value in kept.items()
    }


# Values of commands, one for each of the nodes that are submitted together.  Where HTCondor would
# give a proc what another one has, the nodes must not share a cluster.
VALUES = {
    "arguments": ["1", "", "2 3", "'"],
    "concurrency_limits": ["a", "b", ""],
    "docker_image": ["a", "", "b"],
    "environment": ["A=1", "B=2", ""],
    "error": ["a", "", "b", "/dev/null"],
    "executable": ["/bin/true", "/bin/sh"],
    "getenv": ["", "HOME", "PATH"],
    "initialdir": ["/tmp", "/var", "."],
    "input": ["", "/dev/null"],
    "job_set_name": ["a", "b"],
    "log": ["a", "", "b"],
    "max_retries": ["1", "", "2"],
    "my.DeferralTime": ["4000000000", "1", "4000000001"],
    "my.Text": ["1", "", "x"],
    "nice_user": ["true", "", "false"],
    "notify_user": ["a", "", "b"],
    "output": ["", "a", "b", "/dev/null"],
    "periodic_hold": ["1 > 3", "", "1 > 2"],
    "priority": ["5", "", "-3"],
    "rank": ["Memory", "Disk", ""],
    "request_cpus": ["2", "undefined", "1 + 1"],
    "request_disk": ["1GB", "", "10"],
    "request_gpus": ["1", "", "2"],
    "request_memory": ["1GB", "undefined", "10"],
    "requirements": ["TARGET.Memory > 3", "TARGET.HasFileTransfer", "TARGET.Cpus > 3"],
    "should_transfer_files": ["YES", "NO", ""],
    "transfer_executable": ["false", "", "true"],
    "transfer_input_files": ["https://a/b", "c", "http://x/y", ""],
    "transfer_output_files": ["a", "", "b"],
    "universe": ["vanilla", "local"],
}


@pytest.fixture(scope="module")
def differing(access_point: AccessPoint, place: Path) -> dict[str, dict[str, Any]]:
    """Nodes KEY-N-alone and KEY-N-shared with the N-th value; their job ads, by name."""
    work = new_directory(place / "differing")
    lines = []
    for key, values in VALUES.items():
        body = f"executable = /bin/echo\narguments = x\n{key} = $(v)\n"
        for file in [key, *(f"{key}-{number}" for number in range(len(values)))]:
            (work / f"{file}.sub").write_text(body)
        lines.append(f'JOB {key}-first {key}.sub\nVARS {key}-first v="{values[0]}"\n')
        for place_of, part in (("shared", key), ("alone", "")):
            for number, value in enumerate(values):
                name, file = f"{key}-{number}-{place_of}", part or f"{key}-{number}"
                lines.append(f'JOB {name} {file}.sub\nVARS {name} v="{value}"\n')
    lines.append('VARS ALL_NODES APPEND hold="true"\n')
    (work / "t.dag").write_text("CONFIG knobs\n" + "".join(lines))
    (work / "knobs").write_text(
        "PYDAGMAN_MAX_NODES_IN_CLUSTER = 10\nDAGMAN_MAX_JOBS_IDLE = 0\n"
        "DAGMAN_MAX_SUBMITS_PER_INTERVAL = 1000\n"
    )
    names = [line for line in lines if line.startswith("JOB")]
    return job_ads(access_point, work, len(names))


@pytest.mark.parametrize("key", VALUES)
def test_a_job_has_nothing_of_another_proc(differing: dict[str, Any], key: str) -> None:
    for number in range(len(VALUES[key])):
        alone, shared = (differing[f"{key}-{number}-{how}"] for how in ("alone", "shared"))
        assert not is_shared(alone)
        wanted = _comparable(alone, f"{key}-{number}-alone")
        assert _comparable(shared, f"{key}-{number}-shared") == wanted


def test_values_that_differ_are_shared(differing: dict[str, Any]) -> None:
    shared = {name.partition("-")[0] for name, ad in differing.items() if is_shared(ad)}
    assert shared >= {"arguments", "output", "rank"}
    assert not shared & {"environment", "getenv", "universe", "nice_user", "executable"}
