"""An event of the nodes log, as the engine takes it, by its text alone.

DAGMan itself reads its log by HTCondor's bindings, or as they would (`adapters.joblog`); a reader
has logs of any age and machine, and needs the text of an event anyhow, for what people want to
know.  Both must read the same: tests compare them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.records.own_events import parse_record, with_info
from condor_pydagman.trace import nodes_log_text as log_text
from condor_pydagman.trace.nodes_log_text import NodesLogEvent
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, SHARED_CLUSTER, EventKind

_NO_REASON = "Reason unspecified"
_COMPLETE = "\tComplete"
_SHARED = f"    {SHARED_CLUSTER}"


class ReadEvent(LogEvent):
    """A LogEvent that has its text with it.

    Attributes:
        said: all behind the time; '' of an event that is made of another one.
    """

    said = ""


def log_event(event: NodesLogEvent) -> ReadEvent | None:
    """The event for the engine; None if that would read nothing of it: the end of a job or script
    without a result."""
    kind, cluster, proc, subproc, time, text, _ = event
    node, value, said = _REST.get(kind, _nothing)(text)
    if value is None:
        return None
    ids = kind, cluster, proc, max(subproc, 0), time, ""
    read: ReadEvent = tuple.__new__(ReadEvent, (*ids, node, value, None, 0, said))
    if kind == EventKind.GENERIC:
        read = tuple.__new__(ReadEvent, with_info(read, _first_line(text)))
    read.said = text
    return read


def is_record(event: NodesLogEvent) -> bool:
    """Whether our DAGMan has written it, as one of its own records."""
    return event.kind == EventKind.GENERIC and parse_record(_first_line(event.text)) is not None


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


_Rest = tuple[str, Optional[int], str]  # node, value and text of a LogEvent


def _nothing(_: str) -> _Rest:
    return "", 0, ""


def _submitted(text: str) -> _Rest:
    return log_text.node_name(text), 0, SHARED_CLUSTER if _SHARED in text else ""


def _ended(text: str) -> _Rest:
    return "", log_text.end_value(text), ""


def _post_ended(text: str) -> _Rest:
    return log_text.node_name(text), log_text.end_value(text), ""


def _skipped(text: str) -> _Rest:
    return log_text.node_name(text), 0, ""


def _aborted(text: str) -> _Rest:
    return "", 0, log_text.reason(text)


def _held(text: str) -> _Rest:
    reason = log_text.reason(text)
    return "", log_text.hold_codes(text)[0], "" if reason == _NO_REASON else reason


def _cluster_removed(text: str) -> _Rest:
    return "", 0 if _COMPLETE in text else RETURN_JOB_ABORTED, ""


_REST: dict[int, Callable[[str], _Rest]] = {
    EventKind.SUBMIT: _submitted,
    EventKind.CLUSTER_SUBMIT: _submitted,
    EventKind.JOB_TERMINATED: _ended,
    EventKind.POST_SCRIPT_TERMINATED: _post_ended,
    EventKind.PRESKIP: _skipped,
    EventKind.JOB_ABORTED: _aborted,
    EventKind.JOB_HELD: _held,
    EventKind.CLUSTER_REMOVE: _cluster_removed,
}
