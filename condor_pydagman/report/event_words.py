"""An event of a DAG in words, for people."""

from __future__ import annotations

from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.printable import size_text
from condor_pydagman.report import feature_words
from condor_pydagman.report.feature_words import Events, why
from condor_pydagman.words import result


def event_words(event: DagEvent) -> str:
    """What has happened: `fit_007  job 12.0 runs on slot1@node3`."""
    words = _WORDS.get(event.name, feature_words.event_words)(event)
    if not event.node:
        return words
    attempt = f" (attempt {event.attempt + 1})" if event.attempt > 0 else ""
    return f"{event.node}{attempt}: {words}"


def _job(event: DagEvent) -> str:
    return f"job {event.job}" if event.job else "job"


def _state(event: DagEvent) -> str:
    value, reason = event.data.get("value"), str(event.data.get("reason") or "")
    how = f", {result(value, reason)}" if value is not None or reason else ""
    if event.data.get("skipped"):
        why = f"skipped: {reason}" if reason else "skipped by its PRE script"
        how = f", {reason if reason.startswith('skipped') else why}"
    if event.data.get("cached"):
        how = f", cached: {reason}"
    return f"{event.data['was']} -> {event.data['status']}{how}"


def _limits(event: DagEvent) -> str:
    return "throttle " + ", ".join(f"{name} = {value}" for name, value in event.data.items())


def _status(event: DagEvent) -> str:
    names = [name for name in event.data if name not in ("status", "total")]
    shown = ", ".join(f"{event.data[name]} {name}" for name in names if event.data[name])
    return f"nodes: {shown or 'none'} of {event.data['total']}"


def _ends(event: DagEvent) -> str:
    return f"{event.data['source']} -> {event.data['destination']}"


def _moved(event: DagEvent) -> str:
    size = size_text(event.data["bytes"]) if event.data["bytes"] >= 0 else "done"
    return f"{size} in {event.data['seconds']:.1f} s by {event.data['way']}"


_WORDS: Events = {
    "dag.start": lambda event: "DAGMan started",
    "dag.halt": lambda event: "halted",
    "dag.resume": lambda event: "resumed",
    "dag.limits": _limits,
    "dag.status": _status,
    "dag.rescue": lambda event: f"rescue file {event.data['file']} is written",
    "dag.end": lambda event: f"DAGMan ended, exit code {event.data['exit_code']}",
    "node.state": _state,
    "node.retry": lambda event: f"is retried, retry {event.data['retry']}",
    "node.submit_failed": lambda event: f"could not be submitted{why(event)}",
    "job.submit": lambda event: f"{_job(event)} submitted",
    "job.execute": lambda event: f"{_job(event)} runs on {event.data['host']}",
    "job.evict": lambda event: f"{_job(event)} was evicted{why(event)}",
    "job.hold": lambda event: f"{_job(event)} is held{why(event)} (code {event.data['code']})",
    "job.release": lambda event: f"{_job(event)} was released{why(event)}",
    "job.terminate": lambda event: f"{_job(event)} ended, {result(event.data.get('value'))}",
    "job.abort": lambda event: f"{_job(event)} was removed{why(event)}",
    "data.done": lambda event: f"{_ends(event)}: {_moved(event)}",
    "data.retry": lambda event: f"{_ends(event)}: attempt {event.data['try']} failed{why(event)}",
    "data.fail": lambda event: f"{_ends(event)} failed{why(event)}",
    "script.start": lambda event: f"{event.data['script']} script started",
    "script.end": lambda event: (
        f"{event.data['script']} script ended, {result(event.data['value'])}"
    ),
}
