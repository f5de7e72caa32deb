"""The submit files under tests/submit_corpus, and what jobs the stock DAGMan makes of each.

Use: python tools/record_submit_corpus.py

It starts a pool of its own, has the stock condor_dagman submit every file, each as a node of one
DAG, and writes what came out into stock.json there.  tests/unit/test_submit_corpus.py and
tests/pool/test_submit_corpus.py compare ours with it.

A case is one file, TOPIC/CASE.sub; it may use what is in `files`.  Jobs are submitted on hold,
those of a late-materialized cluster match no machine: none ever runs.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "submit_corpus"
RECORDING = CORPUS / "stock.json"

# For the pool: what the cases that `use template` want.
KNOBS = """
SUBMIT_TEMPLATE_NAMES = corpus corpus_args
SUBMIT_TEMPLATE_corpus @=end
  My.FromTemplate = "$(JOB)"
  priority = 6
@end
SUBMIT_TEMPLATE_corpus_args @=end
  My.FromTemplate = "$(1) $(2) $(0)"
@end
"""

_DAG_KNOBS = "DAGMAN_MAX_SUBMIT_ATTEMPTS = 1\n"
_FAILED = re.compile(r"ULOG_SUBMIT_FAILURE for HTCondor Node (\S+) \(-1\.-1\.-1\) \{[^}]*\} *(.*)")
_ENDED = re.compile(r"assigned HTCondor ID|Node submit failed after")
# Times, ids, what HTCondor counts, and versions.
CHANGING = {
    "QDate", "EnteredCurrentStatus", "GlobalJobId", "ClusterId", "ServerTime", "AutoClusterId",
    "AutoClusterAttrs", "JobMaterializeDate", "LastRejMatchNegotiator", "LastRejMatchReason",
    "LastRejMatchTime", "DiskUsage", "DiskUsage_RAW", "ImageSize", "ImageSize_RAW",
    "CondorVersion", "CondorPlatform", "SubmitVersion", "JobMaterializeDigestFile",
    "JobMaterializeItemsFile", "DAGManNodeRetry", "DAGManJobId", "JobBatchId", "JobBatchName",
    "DAGManNodesMask", "DAGManNodesLog", "DAGNodeName", "SubmitEventNotes", "ProcId", "UserLog",
    "JobSubmitFile", "JobMaterializeNextProcId", "JobMaterializeNextRow",
    "User", "Owner", "OsUser", "FileSystemDomain", "NTDomain",
}  # fmt: skip
_PLAIN = "queue-none"  # the case whose attributes are not recorded for others that have them too


def cases() -> list[str]:
    """Names of all cases, `TOPIC-CASE`."""
    return sorted(f"{path.parent.name}-{path.stem}" for path in CORPUS.glob("*/*.sub"))


def text_of(case: str) -> str:
    """The submit file of a case."""
    topic, _, name = case.partition("-")
    return (CORPUS / topic / f"{name}.sub").read_bytes().decode("utf-8")


def lay_out(names: Iterable[str], directory: Path) -> None:
    """Write cases, and the files they use, into a new directory that anybody may write to."""
    shutil.copytree(CORPUS / "files", directory)
    lines = ["CONFIG knobs"]
    for name in names:
        (directory / f"{name}.sub").write_bytes(text_of(name).encode())
        lines.append(f"JOB {name} {name}.sub")
        late = "queue-late" in name
        lines.append(f"VARS {name} APPEND " + ('requirements="false"' if late else 'hold="true"'))
    (directory / "t.dag").write_text("\n".join(lines) + "\n")
    (directory / "knobs").write_text(_DAG_KNOBS)
    for path in [directory, *directory.rglob("*")]:
        path.chmod(0o777)


def made(access_point: Any, directory: Path, names: list[str], *, stock: bool) -> dict[str, Any]:
    """Have a DAGMan submit the cases: by name `jobs`, a list of attributes, or an `error`."""
    lay_out(names, directory)
    dagman = access_point.stock_dagman if stock else access_point.our_dagman
    cluster = access_point.submit(directory, "-dagman", dagman, "t.dag", stock=stock)
    out = directory / "t.dag.dagman.out"

    def said() -> str:
        return out.read_text("utf-8", "replace") if out.exists() else ""

    def queue() -> Any:
        ads = access_point.queue(f"DAGManJobId == {cluster}")
        there = {ad["DAGNodeName"] for ad in ads}
        return ads if there | dict(_FAILED.findall(said())).keys() >= set(names) else None

    try:
        access_point.wait_for(lambda: len(_ENDED.findall(said())) == len(names), say="submissions")
        ads = access_point.wait_for(queue, say="jobs in the queue")
    finally:
        access_point.run("condor_rm", str(cluster), check=False)
    failed = _FAILED.findall(said())
    found: dict[str, Any] = {name: {"error": text.strip()} for name, text in failed}
    for ad in sorted(ads, key=lambda ad: (ad["ClusterId"], ad["ProcId"])):
        jobs = found.setdefault(ad["DAGNodeName"], {"jobs": []})["jobs"]
        if (
            "queue-late" not in ad["DAGNodeName"] or not jobs
        ):  # how many exist at this moment varies
            jobs.append(_masked(ad, directory))
    return found


def reduced(found: Mapping[str, Any]) -> dict[str, Any]:
    """Without the attributes that are as those of a plain job; `null`: the case has it not."""
    plain = found[_PLAIN]["jobs"][0]
    return {
        name: {"jobs": [_difference(job, plain) for job in what["jobs"]]}
        if "jobs" in what
        else what
        for name, what in found.items()
    }


def _difference(job: dict[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
    keys = sorted(job.keys() | plain.keys())
    return {key: job.get(key) for key in keys if job.get(key) != plain.get(key)}


def _masked(ad: dict[str, Any], directory: Path) -> dict[str, Any]:
    user, cluster = str(ad["Owner"]), str(ad["ClusterId"])

    def mask(key: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        value = value.replace(str(directory), "@")
        if key == "Args":
            value = re.sub(rf"\b{cluster}\b", "CLUSTER", value)
        return re.sub(rf"\b{re.escape(user)}\b", "USER", value)

    return {key: mask(key, value) for key, value in ad.items() if key not in CHANGING}


def main() -> int:
    """Record all cases; returns the exit code."""
    from condor_pydagman.pool import Pool
    from tests.pool.access_point import AccessPoint

    (ROOT / "var").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "var") as temporary:
        place = Path(temporary)
        place.chmod(0o755)
        pool = Pool(place / "pool")
        (place / "pool" / "config.d").mkdir(parents=True)
        (place / "pool" / "config.d" / "knobs").write_text(
            KNOBS + "DAGMAN_USER_LOG_SCAN_INTERVAL = 1\n"
        )
        pool.start(timeout_s=120)
        try:
            found = made(AccessPoint(pool), place / "cases", cases(), stock=True)
        finally:
            pool.stop()
    text = json.dumps(reduced(found), indent=1, sort_keys=True, ensure_ascii=False)
    RECORDING.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
