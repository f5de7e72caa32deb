"""Records what jobs the stock DAGMan makes of the submit files of tests/submit_corpus.

    python -m tools.record_submit_corpus [--times N] [TOPIC-NAME ...]

It starts a pool of its own and has the stock condor_dagman submit every file, each as a node of one
DAG.  Jobs are submitted on hold, those of a late-materialized cluster match no machine: none ever
runs.  tests/corpora.py describes cases and recordings.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.corpora import shared_files, submit_files, write
from tools import recording

FILE = "submit_corpus.json"

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


def lay_out(names: Iterable[str], directory: Path) -> None:
    """Write cases, and the files they use, into a new directory that anybody may write to."""
    files = dict(shared_files())
    lines = ["CONFIG knobs"]
    for name in names:
        files[f"{name}.sub"] = submit_files()[name]
        lines.append(f"JOB {name} {name}.sub")
        late = "queue-late" in name
        lines.append(f"VARS {name} APPEND " + ('requirements="false"' if late else 'hold="true"'))
    files["t.dag"] = "\n".join(lines) + "\n"
    files["knobs"] = _DAG_KNOBS
    write(files, directory)


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


def main(argv: Sequence[str]) -> int:
    """Record all cases, or those named; returns the exit code."""
    options = recording.parser(__doc__).parse_args(argv)
    chosen = recording.chosen(options.case, submit_files())
    wanted = sorted({_PLAIN, *chosen}) if options.case else chosen
    with recording.own_pool() as (access_point, place):
        return recording.keep(
            FILE,
            access_point.version,
            lambda number: reduced(made(access_point, place / str(number), wanted, stock=True)),
            options.times,
            options.case,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
