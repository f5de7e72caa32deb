"""Ads of node jobs, whole: the same under stock condor_dagman and ours.

No job can run: all are submitted on hold, or match no machine (held jobs of a late-materialized
cluster run), so that they stay in the queue to be looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory

pytestmark = pytest.mark.pool

DAG = """\
CONFIG knobs
SET_JOB_ATTR Campaign = "summer"
SET_JOB_ATTR AcctGroup = "physics"
SET_JOB_ATTR AcctGroupUser = "marie"
JOB ROOT held.sub
JOB P none.sub NOOP
JOB Q none.sub NOOP
JOB KID held.sub
PARENT P Q CHILD KID
JOB LAST held.sub
PARENT KID CHILD LAST
JOB SEVERAL several.sub
JOB LATER later.sub
JOB SUB {
    executable = job.sh
    hold = true
    My.Own = "$(JOB) $(RETRY) $(DAG_STATUS) $(FAILED_COUNT) [$(DAG_PARENT_NAMES)] $(one)"
}
JOB ELSEWHERE held.sub DIR sub
SUBDAG EXTERNAL INNER inner.dag
SERVICE WATCH held.sub
PRIORITY ROOT 7
RETRY KID 3
VARS SUB one="1" +Two="2" My.Three="\\"three\\""
VARS ROOT APPEND priority="9" one="last"
VARS KID PREPEND priority="4"
SCRIPT POST KID script.sh 0 post
#== knobs
DAGMAN_HOLD_CLAIM_TIME = 33
DAGMAN_SUPPRESS_NOTIFICATION = True
DAGMAN_RECORD_MACHINE_ATTRS = Arch, Cpus
DAGMAN_INHERIT_ATTRS = Campaign
DAGMAN_INHERIT_ATTRS_PREFIX = From_
DAGMAN_NODE_RECORD_INFO = Retry
#== held.sub
executable = job.sh
arguments = "$(JOB) x"
hold = true
notification = always
log = own.log
queue
#== several.sub
executable = job.sh
hold = true
queue name in (a, b)
#== later.sub
executable = job.sh
requirements = false
max_materialize = 1
queue 3
#== inner.dag
JOB X held.sub
"""
NODES = {"ROOT", "KID", "SEVERAL", "LATER", "SUB", "ELSEWHERE", "INNER", "WATCH"}
# Times, ids, what HTCondor counts, versions; and what ours always says, stock for a retry alone.
CHANGING = {
    "QDate", "EnteredCurrentStatus", "GlobalJobId", "ClusterId", "ServerTime", "AutoClusterId",
    "AutoClusterAttrs", "JobMaterializeDate", "LastRejMatchNegotiator", "LastRejMatchReason",
    "LastRejMatchTime", "DiskUsage", "DiskUsage_RAW", "ImageSize", "ImageSize_RAW", "CondorVersion",
    "CondorPlatform", "SubmitVersion", "JobMaterializeDigestFile", "DAGManNodeRetry",
}  # fmt: skip
# The job of a sub-DAG is another program; its DAGMan has written into the ad already.
CHANGING_IN_SUB_DAGS = re.compile(
    "Cmd|Arguments|Environment|ExecutableSize.*|TransferInputSizeMB|OtherJobRemoveRequirements"
    "|DAG_.*|DAGMan_.*|PYDAGMAN_.*|Job(Current|Last)?Start.*|JobStatus|LastJobStatus|NumJobStarts"
    "|NumShadowStarts|ShadowBday|LastJobLeaseRenewal|CompletionDate"
)
DAG_ID = {"DAGManJobId", "JobBatchId", "JobBatchName"}


@pytest.fixture(scope="module")
def ads(access_point: AccessPoint, place: Path) -> Iterator[dict[str, dict[str, dict[str, Any]]]]:
    """Ads by program, then by node and proc; one DAG after the other has been submitted."""
    clusters, found = {}, {}
    for flavour in (STOCK, OURS):
        work = place / "ads" / flavour
        for path in (work, work / "sub"):
            dags.write(new_directory(path), DAG)
        words = ["-append", "priority = 3", "-batch-name", "our batch"]
        stock = flavour == STOCK
        words += ["-dagman", access_point.stock_dagman if stock else access_point.our_dagman]
        clusters[flavour] = access_point.submit(work, *words, "t.dag", stock=stock)
    for flavour, cluster in clusters.items():
        found[flavour] = _standing(access_point, cluster, place / "ads" / flavour)
    yield found
    for cluster in clusters.values():
        access_point.run("condor_rm", str(cluster), check=False)


def _standing(access_point: AccessPoint, cluster: int, work: Path) -> dict[str, dict[str, Any]]:
    """Ads of all node jobs, with the DAG's id and directory masked."""
    here = f"DAGManJobId == {cluster}"

    def look() -> dict[str, dict[str, Any]]:
        jobs = access_point.queue(here)
        return {f"{ad['DAGNodeName']}.{ad['ProcId']}": ad for ad in jobs}

    access_point.wait_for(
        lambda: {name.split(".")[0] for name in look()} >= NODES,
        say=f"jobs of {cluster}",
        dag=work / "t.dag",
    )
    return {
        name: {key: _masked(key, value, cluster, work) for key, value in ad.items()}
        for name, ad in look().items()
    }


def _masked(key: str, value: Any, cluster: int, work: Path) -> Any:
    if key in DAG_ID:
        return str(value).replace(str(cluster), "DAG")
    return value.replace(str(work), "WORK") if isinstance(value, str) else value


@pytest.mark.parametrize("node", sorted(NODES))
def test_ads_of(ads: dict[str, dict[str, dict[str, Any]]], node: str) -> None:
    ours, stock = (
        {
            (name, key): value
            for name, ad in ads[flavour].items()
            for key, value in ad.items()
            if name.split(".")[0] == node and key not in CHANGING
            if node != "INNER" or not CHANGING_IN_SUB_DAGS.fullmatch(key)
        }
        for flavour in (OURS, STOCK)
    )
    assert ours
    apart = [key for key in ours.keys() | stock.keys() if ours.get(key) != stock.get(key)]
    text = [f"{key}: {ours.get(key)!r}, stock {stock.get(key)!r}" for key in sorted(apart)]
    assert not text, "\n".join(text)
