"""The nodes log as who follows a DAG reads it: events for the engine, with their texts.

DAGMan itself reads its log by HTCondor's bindings, or as they would (`adapters.joblog`); a reader
has logs of any age and machine, takes what it can get of them, and needs the text of an event
anyhow, for what people want to know.  Both must read the same: tests compare them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any, Optional

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.follow import event_facts
from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.records.own_events import with_info
from condor_pydagman.vocabulary import NOOP_PROC, RETURN_JOB_ABORTED, SHARED_CLUSTER, EventKind

_END = b"\n...\n"
_WINDOWS_END = b"\n...\r\n"
ENDS = _END, _WINDOWS_END  # of an event
_ANY_END = re.compile(rb"\n\.\.\.\r?\n")
_ID = rb"(-?\d{1,9}|1\d{9}|" + str(NOOP_PROC).encode() + rb")"  # the engine takes 32 bits
_HEAD = re.compile(
    rb"(\d{3}) \(" + rb"\.".join([_ID] * 3) + rb"\) "
    rb"((?:\d{4}-\d\d-\d\d|\d\d/\d\d)[ T]\d\d:\d\d:\d\d\S*) ?"
)
_ANOTHER_HEAD = re.compile(rb"\n(?=\d{3} \(-?\d{1,10}\.-?\d{1,10}\.-?\d{1,10}\) \d)")
_NO_REASON = "Reason unspecified"
_COMPLETE = "\tComplete"
_SHARED = f"    {SHARED_CLUSTER}"
_FIELDS = len(LogEvent._fields)


class NodesLogEvent(LogEvent):
    """A LogEvent that has its text with it.  Of the end of a job or script without a result, which
    the engine must not be given, the value is None.
    """

    __slots__ = ()
    # all behind the time; '' of an event that is made of another one
    said: str = property(itemgetter(_FIELDS))  # type: ignore[assignment]
    # offset behind it in the log, bytes
    end: int = property(itemgetter(_FIELDS + 1))  # type: ignore[assignment]

    def _replace(self, **changes: Any) -> NodesLogEvent:
        """See `typing.NamedTuple`; for `said` and `end` as well."""
        said, end = changes.pop("said", self.said), changes.pop("end", self.end)
        return _with_text(of_engine(self)._replace(**changes), said, end)


def of_engine(event: LogEvent) -> LogEvent:
    """The event without its text."""
    plain: LogEvent = tuple.__new__(LogEvent, event[:_FIELDS])
    return plain


def said(event: LogEvent) -> str:
    """The text of an event, '' if it is not at hand."""
    return event.said if isinstance(event, NodesLogEvent) else ""


def _with_text(event: LogEvent, said: str, end: int) -> NodesLogEvent:
    read: NodesLogEvent = tuple.__new__(NodesLogEvent, (*event, said, end))
    return read


def log_events(data: bytes, begin: int, times: LocalTimes) -> Iterator[NodesLogEvent]:
    """The whole events of a part of a log that begins at offset `begin` with an event.

    Behind the last of them may be a part of another.  What is no event is passed over.
    """
    if _WINDOWS_END in data:
        yield from _events_of_windows(data, begin, times)
        return
    at = 0
    while True:
        end = data.find(_END, at)
        if end < 0:
            return
        head = _HEAD.match(data, at, end)
        if head is not None and data.find(b"\n0", at, end) < 0:
            yield _event(data, head, end, begin + end + len(_END), times)
        else:
            yield from _odd_events(data[at:end], begin + end + len(_END), times)
        at = end + len(_END)


def _events_of_windows(data: bytes, begin: int, times: LocalTimes) -> Iterator[NodesLogEvent]:
    """Of a log that somebody has given line ends of Windows; HTCondor reads it, too."""
    at = 0
    for end in _ANY_END.finditer(data):
        block = data[at : end.start()].replace(b"\r\n", b"\n").rstrip(b"\r") + _END
        at = end.end()
        yield from log_events(block, begin + at - len(block), times)


def _odd_events(block: bytes, end: int, times: LocalTimes) -> Iterator[NodesLogEvent]:
    """The beginning of an event whose writer died stands before the next one."""
    for part in _ANOTHER_HEAD.split(block):
        head = _HEAD.search(part)
        if head is not None:
            yield _event(part, head, len(part), end, times)


def _event(
    data: bytes, head: re.Match[bytes], stop: int, end: int, times: LocalTimes
) -> NodesLogEvent:
    number, cluster, proc, subproc, stamp = head.groups()
    kind, said = int(number), data[head.end() : stop].decode("utf-8", "surrogateescape")
    time = times.seconds(stamp.decode("utf-8", "surrogateescape"))
    ids = kind, int(cluster), int(proc), max(int(subproc), 0), time, ""
    rest = _REST.get(kind)
    node, value, text = rest(said) if rest is not None else _NOTHING
    if kind == EventKind.GENERIC:
        return _with_text(with_info(LogEvent(*ids), said.partition("\n")[0]), said, end)
    read: NodesLogEvent
    read = tuple.__new__(NodesLogEvent, (*ids, node, value, None, 0, text, said, end))
    return read


_Rest = tuple[str, Optional[int], str]  # node, value and text of a LogEvent
_NOTHING: _Rest = ("", 0, "")


def _submitted(text: str) -> _Rest:
    return event_facts.node_name(text), 0, SHARED_CLUSTER if _SHARED in text else ""


def _post_ended(text: str) -> _Rest:
    return event_facts.node_name(text), event_facts.end_value(text), ""


def _held(text: str) -> _Rest:
    reason = event_facts.reason(text)
    return "", event_facts.hold_codes(text)[0], "" if reason == _NO_REASON else reason


_REST: dict[int, Callable[[str], _Rest]] = {
    EventKind.SUBMIT: _submitted,
    EventKind.CLUSTER_SUBMIT: _submitted,
    EventKind.JOB_TERMINATED: lambda text: ("", event_facts.end_value(text), ""),
    EventKind.POST_SCRIPT_TERMINATED: _post_ended,
    EventKind.PRESKIP: lambda text: (event_facts.node_name(text), 0, ""),
    EventKind.JOB_ABORTED: lambda text: ("", 0, event_facts.reason(text)),
    EventKind.JOB_HELD: _held,
    EventKind.CLUSTER_REMOVE: lambda text: ("", 0 if _COMPLETE in text else RETURN_JOB_ABORTED, ""),
}
