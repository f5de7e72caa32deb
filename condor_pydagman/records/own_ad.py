"""The attributes of DAGMan's own job ad that show the state of the DAG.

condor_q, `htcondor dag status` and monitors read them from queue and history.  A value here is the
text of a ClassAd expression, which is what an edit of the schedd's queue takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from condor_pydagman.config import Config
from condor_pydagman.engine.inputs import LimitsWanted
from condor_pydagman.engine.report import Report
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.records import progress_ad
from condor_pydagman.vocabulary import MAX_FINAL_EXIT_CODE

# Throttles in our own job ad, by the name that the engine has for each.
LIMITS = {
    "DAGMan_MaxIdle": "idle",
    "DAGMan_MaxJobs": "jobs",
    "DAGMan_MaxPreScripts": "pre",
    "DAGMan_MaxPostScripts": "post",
    "DAGMan_MaxHoldScripts": "hold",
    "DAGMan_MaxSubmitsPerInterval": "submits",
}
OWN_PACE = "PYDAGMAN_OwnPace"  # submits per interval are not limited: the number is shown only
ADDRESS = "DAG_Address"  # of the command socket
HALTED = "PYDAGMAN_HaltedByCommand"  # a restarted DAGMan stays halted
ENDED = "PYDAGMAN_Ended"  # see `ended`
BEGUN = "PYDAGMAN_BegunAnew"  # when; the jobs of runs before are not this one's
RUN_COUNT = "JobRunCount"  # the schedd's: how often it has started the job
LEAVING = EXIT_CODE, EXIT_BY_SIGNAL, LEAVES = "ExitCode", "ExitBySignal", "OnExitRemove"
_NAMED = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_ESCAPES = {byte: f"\\{letter}" for byte, letter in _NAMED.items()}
_ESCAPED = {letter.encode(): bytes((byte,)) for byte, letter in _NAMED.items()}
_UPDATE_TIME = "DAG_AdUpdateTime"
_STATISTICS = "DAG_Stats"  # differs at every update, so a change of it alone causes none


def quoted(text: str) -> str:
    """A string as HTCondor writes it in a ClassAd, quotes around it: bytes other than printable
    ASCII as octal numbers."""
    if not text.isascii() or not text.isprintable() or '"' in text or "\\" in text:
        text = re.sub(r'[^ -~]|["\\]', _escaped, text)
    return f'"{text}"'


def unquoted(string: str) -> str:
    """The text of a string in a ClassAd, as `quoted` writes it."""
    if "\\" not in string:
        return string[1:-1]
    data = string[1:-1].encode("utf-8", "surrogateescape")
    data = re.sub(rb"(?s)\\(?:([0-3]?[0-7]{1,2})|(.))", _meant, data)
    return data.decode("utf-8", "surrogateescape")


def _escaped(found: re.Match[str]) -> str:
    data = found[0].encode("utf-8", "surrogateescape")
    return "".join(_ESCAPES.get(byte, f"\\{byte:03o}") for byte in data)


def _meant(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return bytes((int(found[1], 8),))
    return _ESCAPED.get(found[2], found[2])


def literal(value: str | int) -> str:
    """A value as a ClassAd writes it."""
    return str(value) if isinstance(value, int) else quoted(value)


def attributes(
    report: Report, now: float, statistics: str = "", *, is_last: bool = False
) -> dict[str, str]:
    """All attributes of a DAG's state, the time of the update among them (seconds).

    `statistics` is the expression of DAG_Stats; `is_last` adds what the history is to keep.
    """
    numbers = {
        "DAG_Status": int(report.dag_status),
        "DAG_InRecovery": int(report.in_recovery),
        "DAG_NodesTotal": report.total,
        "DAG_NodesDone": report.done,
        "DAG_NodesPrerun": report.pre,
        "DAG_NodesQueued": report.queued,
        "DAG_NodesPostrun": report.post,
        "DAG_NodesHoldrun": report.hold_scripts,
        "DAG_NodesReady": report.ready,
        "DAG_NodesFailed": report.failed,
        "DAG_NodesUnready": report.unready,
        "DAG_NodesFutile": report.futile,
        "DAG_JobsSubmitted": report.procs_submitted,
        "DAG_JobsIdle": report.procs_idle,
        "DAG_JobsHeld": report.procs_held,
        "DAG_JobsRunning": report.procs_running,
        "DAG_JobsCompleted": report.procs_completed,
        _UPDATE_TIME: int(now),
    }
    texts = {name: str(value) for name, value in numbers.items()}
    # With the status in one edit, so that a DAGMan that is started again finds both or none.
    texts[HALTED] = "true" if report.halts.by_command or report.halts.paused else "false"
    values = progress_ad.attributes(report)
    if is_last:
        values.update(progress_ad.summary(report))
    texts.update((name, literal(value)) for name, value in values.items())
    for one in report.shown:
        if one.attribute:
            texts[one.attribute] = "undefined" if one.value == "" else literal(one.value)
    if statistics:
        texts[_STATISTICS] = statistics
    return texts


def throttles(limits: Throttles) -> dict[str, str]:
    """The limits in force, which a restarted DAGMan takes up again; 0 means none."""
    texts = {name: str(getattr(limits, field)) for name, field in LIMITS.items()}
    return {**texts, OWN_PACE: "true" if limits.own_pace else "false"}


def earlier_throttles(own_ad: Mapping[str, object]) -> dict[str, int]:
    """The limits that a job ad has of an earlier start, or of SET_JOB_ATTR, by the names that the
    engine has for them; 0 asks for no limit."""
    found = {field: own_ad.get(name) for name, field in LIMITS.items()}
    shown = Config().max_submits_per_interval
    if own_ad.get(OWN_PACE) is True and found["submits"] == shown:  # else it has been edited
        found["submits"] = 0
    return {f: n for f, n in found.items() if isinstance(n, int) and n >= 0}


def ended(code: int, run_count: object) -> dict[str, str]:
    """Attributes telling that the DAG has ended with this exit code; the job then leaves the queue.

    The lock file goes before the process does.  If that is killed in between, the schedd starts the
    job again, and nothing else would tell that there is nothing left to do.  Empty for exit codes
    with which the job comes back (by condor_submit_dag's OnExitRemove), and without a count.
    """
    if not isinstance(run_count, int) or not 0 <= code <= MAX_FINAL_EXIT_CODE:
        return {}
    return {ENDED: quoted(f"{code} {run_count}")}


def ended_with(own_ad: Mapping[str, object]) -> int | None:
    """The exit code of the DAG, if a start before this one has ended it and the schedd has not
    heard of it; None if there is something to do.

    A job that its OnExitRemove brings back begins anew, and takes the mark away (`begun_anew`)
    before it does anything.  So the mark holds for any later start: the one in between may have
    been killed as well, or the schedd, which knew that the job was to leave.
    """
    found = re.fullmatch(r"(\d) (\d+)", str(own_ad.get(ENDED) or ""))
    count = own_ad.get(RUN_COUNT)
    if found is None or not isinstance(count, int) or count <= int(found[2]):
        return None
    code = int(found[1])
    reported = own_ad.get(EXIT_BY_SIGNAL) is False and own_ad.get(EXIT_CODE) == code
    return None if reported and own_ad.get(LEAVES) is not True else code


def begun_anew(own_ad: Mapping[str, object], now: float, *, recovers: bool) -> dict[str, str]:
    """That a new run begins, whose job may have had runs before; empty for the job's first run, and
    if one is to be recovered."""
    count = own_ad.get(RUN_COUNT)
    again = isinstance(count, int) and count > 1 and not recovers
    if own_ad.get(ENDED) is None and not again:
        return {}
    return {ENDED: "undefined", BEGUN: str(int(now))}


def began_at(own_ad: Mapping[str, object]) -> int:
    """When the present run of a job that has had runs before began; 0 if it is the first."""
    begun = own_ad.get(BEGUN)
    return begun if isinstance(begun, int) else 0


def wanted_limits(found: Mapping[str, object], limits: Throttles) -> LimitsWanted | None:
    """What was edited in DAGMan's job ad, by its attributes as they are; None if nothing."""
    edited = {}
    for name, field in LIMITS.items():
        value = found.get(name)
        if type(value) is int and value >= 0 and value != getattr(limits, field):
            edited[field] = value
    return LimitsWanted(**edited) if edited else None


def changed(new: Mapping[str, str], published: Mapping[str, str]) -> dict[str, str]:
    """What of `new` must be written, in an order that ends with the update time.

    If nothing but the update time and what DAGMan uses differs, nothing needs writing: each
    attribute costs the schedd a transaction of its own.
    """
    different = {name: value for name, value in new.items() if published.get(name) != value}
    last = (progress_ad.MEMORY, progress_ad.CPU, _STATISTICS, _UPDATE_TIME)
    along = {name: different.pop(name) for name in last if name in different}
    return {**different, **along} if different else {}
