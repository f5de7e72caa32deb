"""Ads of node jobs, whole: the same as under stock condor_dagman.

No job can run: all are submitted on hold, or match no machine (held jobs of a late-materialized
cluster run), so that they stay in the queue to be looked at.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.bindings import alike
from tests.pool.stock import Stock, plain

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


Ads = dict[str, dict[str, dict[str, Any]]]  # by node, by proc


@pytest.fixture(scope="module")
def ads(access_point: AccessPoint, place: Path) -> Iterator[Ads]:
    """The ads under ours."""
    with _ads_under(access_point, place / "ads" / OURS, OURS) as found:
        yield found


@pytest.fixture(scope="module")
def stock_ads(stock: Stock, access_point: AccessPoint, place: Path) -> Ads:
    """The ads under stock, by the recording."""

    def produce() -> Ads:
        with _ads_under(access_point, place / "ads" / STOCK, STOCK) as found:
            return found

    expected: Ads = stock("ads", produce)
    return expected


@contextlib.contextmanager
def _ads_under(access_point: AccessPoint, work: Path, flavour: str) -> Iterator[Ads]:
    """The ads of all node jobs, which stay in the queue as long as this lasts."""
    for path in (work, work / "sub"):
        dags.write(new_directory(path), DAG)
    stock = flavour == STOCK
    words = ["-append", "priority = 3", "-batch-name", "our batch"]
    words += ["-dagman", access_point.stock_dagman if stock else access_point.our_dagman]
    cluster = access_point.submit(work, *words, "t.dag", stock=stock)
    try:
        yield _standing(access_point, cluster, work)
    finally:
        access_point.run("condor_rm", str(cluster), check=False)


def _standing(access_point: AccessPoint, cluster: int, work: Path) -> Ads:
    """Ads of all node jobs, without what changes from run to run or from machine to machine."""

    def look() -> list[dict[str, Any]]:
        jobs = access_point.queue(f"DAGManJobId == {cluster}")
        names = {ad["DAGNodeName"] for ad in jobs}
        is_inside = any(ad["DAGNodeName"] == "INNER" and "DAG_NodesTotal" in ad for ad in jobs)
        return jobs if names >= NODES and is_inside else []

    jobs = access_point.wait_for(look, say=f"jobs of {cluster}", dag=work / "t.dag")
    found: Ads = {node: {} for node in sorted(NODES)}
    for ad in jobs:
        node = ad["DAGNodeName"]
        found[node][str(ad["ProcId"])] = {
            key: _masked(key, value, ad, work)
            for key, value in sorted(ad.items())
            if key not in CHANGING
            if node != "INNER" or not CHANGING_IN_SUB_DAGS.fullmatch(key)
        }
    return found


def _masked(key: str, value: Any, ad: dict[str, Any], work: Path) -> Any:
    """A value without the DAG's id and directory, and the names of the user and the machine."""
    if key in DAG_ID:
        return str(value).replace(str(ad["DAGManJobId"]), "DAG")
    if not isinstance(value, str):
        return value
    user, _, domain = ad["User"].partition("@")
    return value.replace(str(work), "WORK").replace(user, "USER").replace(domain, "DOMAIN")


@pytest.mark.parametrize("node", sorted(NODES))
def test_ads_of(access_point: AccessPoint, ads: Ads, stock_ads: Ads, node: str) -> None:
    ours, expected = plain(ads[node]), stock_ads[node]
    assert ours
    assert ours.keys() == expected.keys()
    for proc in ours:
        ad, theirs = (alike(one[proc], access_point.version) for one in (ours, expected))
        apart = [key for key in {**ad, **theirs} if ad.get(key) != theirs.get(key)]
        text = [f"{k}: {ad.get(k)!r}, stock {theirs.get(k)!r}" for k in sorted(apart)]
        assert not text, "\n".join(text)
