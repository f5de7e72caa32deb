"""Where the nodes log is (DAGMAN_DEFAULT_NODE_LOG), and whether it may be there."""

from __future__ import annotations

import os
from collections.abc import Mapping

from condor_pydagman.adapters import knobs
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.config import Config
from condor_pydagman.daemon.dag_input import CannotStart
from condor_pydagman.names import DagPaths

_FATAL = "ERROR: Warning is fatal error because of DAGMAN_USE_STRICT setting"
_MOUNTS = "/proc/self/mounts"


def path(paths: DagPaths, cluster: int, own_ad: Mapping[str, object], config: Config) -> str:
    """The absolute path of the nodes log; `cluster` is 0 for a DAGMan that is no job."""
    words = {
        "CLUSTER": str(cluster or -1),
        "OWNER": str(own_ad.get("Owner") or ""),
        "NODE_NAME": str(own_ad.get("DAGNodeName") or ""),
    }
    return paths.nodes_log(os.getcwd(), config.default_node_log, words)


def refuse(nodes_log: str, config: Config, out: OutLog) -> None:
    """Refuse a log that could be lost, or was not meant; below a USE_STRICT of 1, say so only.

    Raises:
        CannotStart: the message says what to do.
    """
    if config.avoid_slash_tmp and nodes_log.startswith("/tmp"):
        _warn(
            f"Warning: default node log file {nodes_log} is in /tmp, which may be cleaned at any"
            " time. Move the DAG elsewhere, or set DAGMAN_AVOID_SLASH_TMP = False",
            config,
            out,
        )
    if "@(" in nodes_log:
        _warn(
            f"Warning: default node log file {nodes_log} contains a '@(' character sequence --"
            " unresolved macro substituion? DAGMAN_DEFAULT_NODE_LOG takes @(DAG_DIR), @(DAG_FILE),"
            " @(CLUSTER), @(OWNER) and @(NODE_NAME)",
            config,
            out,
        )
    if config.log_on_nfs_is_error and _nfs_matters(out) and file_system(nodes_log) == "nfs":
        raise CannotStart(
            f"Error: log file {nodes_log} on NFS. Put it elsewhere with DAGMAN_DEFAULT_NODE_LOG,"
            " or set DAGMAN_LOG_ON_NFS_IS_ERROR = False"
        )


def _warn(text: str, config: Config, out: OutLog) -> None:
    if config.use_strict >= 1:
        raise CannotStart(f"{text}\n{_FATAL}")
    out.say(text)


def _nfs_matters(out: OutLog) -> bool:
    """Stock's rule: only locks make a log on NFS dangerous."""
    if not knobs.truth("ENABLE_USERLOG_LOCKING"):
        why = "ENABLE_USERLOG_LOCKING is false"
    elif knobs.truth("CREATE_LOCKS_ON_LOCAL_DISK"):
        why = "ENABLE_USERLOG_LOCKING and CREATE_LOCKS_ON_LOCAL_DISK are true"
    else:
        return True
    out.say(f"Ignoring value of DAGMAN_LOG_ON_NFS_IS_ERROR because {why}.")
    return False


def file_system(path: str, mounts: str = _MOUNTS) -> str:
    """The type of the file system that a path is on: `nfs` for all versions of NFS; '' if unknown.

    `mounts` is the kernel's list of what is mounted where.
    """
    real, best, found = os.path.realpath(path), "", ""
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return ""
    for line in lines:
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = words[1].encode("latin-1", "replace").decode("unicode_escape")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, words[2]
    return "nfs" if found.startswith("nfs") else found
