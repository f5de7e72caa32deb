"""The text of the commonest events of a nodes log, read back by regular expressions.

The bindings take 11 us and more to read an event; the replay of a big DAG is little else.  Here the
usual forms are read in a fraction of that.

What is taken must come out as the bindings would give it, bit for bit.  So the expressions know
whole events only, letter by letter, as HTCondor 25.14 and we ourselves write them; whatever else is
in a log (other kinds, other lines, escapes, carriage returns, garbage) is left to the bindings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Optional

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.own_events import with_info
from condor_pydagman.vocabulary import (
    NOOP_PROC,
    RETURN_JOB_ABORTED,
    SHARED_CLUSTER,
    EventKind,
)

# What an event says behind its head: the last fields of a LogEvent, from `node` on.
_Rest = tuple[str, int, Optional[str], int, str]

# Free text is kept far below the 1023 bytes that the bindings take of some lines.
_HEAD = (
    rb" \((\d{1,9}|-01)\.(\d{1,9}|-01|" + str(NOOP_PROC).encode() + rb")\.(\d{1,9}|-01)\)"
    rb" (20\d\d-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d{3})? "
)
_END = rb"\.\.\.\n"
_HOST = rb" host: <[ -')-~]{1,400}\n"  # with a `(`, it may be the head of another event
_NAME = rb'"([^"\\\x00-\x1f\x7f]{1,400})"'  # a ClassAd string without escapes
_NODE = rb"    DAG Node: ([!-~\x80-\xff]{1,400})\n"
_STRING = rb'"[ !#-\[\]-~]{0,400}"'
_REASON = rb"[!-~](?:[ -~]{0,400}[!-~])?"
_NORMAL = rb"\(1\) Normal termination \(return value (\d{1,9})\)"
_KILLED = rb"\(0\) Abnormal termination \(signal (\d{1,9})\)"
_CORE = rb"\n\t(?:\(0\) No core file|\(1\) Corefile in: [!-~]{1,400})"
_USAGE = b"".join(
    rb"\t\tUsr \d{1,6} \d\d:\d\d:\d\d, Sys \d{1,6} \d\d:\d\d:\d\d  -  " + what + b" Usage\n"
    for what in (b"Run Remote", b"Run Local", b"Total Remote", b"Total Local")
)
_BYTES = b"".join(
    rb"\t\d{1,18}  -  " + when + b" Bytes " + way + b" By Job\n"
    for when in (b"Run", b"Total")
    for way in (b"Sent", b"Received")
)
_TABLE = (
    rb"(?:\tPartitionable Resources :    Usage  Request Allocated \n"
    rb"(?:\t   [A-Z]\w{0,40}(?: \(\w{1,10}\))? {1,40}: [ \d.]{1,200}\n){1,40})?"
)
_SUBMIT = (
    rb"submitted from" + _HOST + rb"(?:"
    rb"    \[ DAGNodeName = " + _NAME + rb"(?:; JobBatchName = " + _STRING + rb")? \]\n"
    rb"|" + _NODE + rb")?"
    rb"(?:    (" + SHARED_CLUSTER.encode() + rb")\n)?"
)
_EXECUTE = (
    rb"Job executing on" + _HOST + rb"(?:\tSlotName: [!-~]{1,200}\n)?"
    rb"(?:\t[A-Z]\w{0,60} = (?:\d{1,15}|" + _STRING + rb")\n){0,40}"
)
_ENDED = rb"Job terminated\.\n\t(?:" + _NORMAL + rb"|" + _KILLED + _CORE + rb")\n"
_POST = rb"POST Script terminated\.\n\t(?:" + _NORMAL + rb"|" + _KILLED + rb")\n" + _NODE
_HELD = (
    rb"Job was held\.\n\t(?!Reason unspecified\n)("
    + _REASON
    + rb")\n\tCode (\d{1,9}) Subcode \d{1,9}\n"
)
_REMOVED = rb"Cluster removed\n\tMaterialized \d{1,9} jobs from \d{1,9} items\.\t(Inc|C)omplete\n"


class _Unsure(Exception):
    """The expression matches, but what the bindings would make of it is not known."""


def _named(name: bytes | None, old_name: bytes | None = None, note: bytes | None = None) -> _Rest:
    return (name or old_name or b"").decode(), 0, None, 0, SHARED_CLUSTER if note else ""


def _ended(code: bytes | None, signal: bytes | None, node: bytes = b"") -> _Rest:
    value = int(code) if code is not None else -int(signal or 0)
    return node.decode(), value, None, 0, ""


def _reasoned(reason: bytes | None, code: bytes = b"0") -> _Rest:
    return "", int(code), None, 0, (reason or b"").decode()


class _Form(NamedTuple):
    """How one kind of event is written: `rest` makes the last fields from the last groups."""

    kind: int
    match: Callable[[bytes, int], re.Match[bytes] | None]
    rest: Callable[..., _Rest] | None


_BODIES: dict[EventKind, tuple[bytes, Callable[..., _Rest] | None]] = {
    EventKind.SUBMIT: (rb"Job " + _SUBMIT, _named),
    EventKind.EXECUTE: (_EXECUTE, None),
    EventKind.JOB_TERMINATED: (_ENDED + _USAGE + _BYTES + _TABLE, _ended),
    EventKind.GENERIC: (rb'(\[ DAGManNote = "[ -~\x80-\xff]{1,880} \])\n', None),
    EventKind.JOB_ABORTED: (rb"Job was aborted\.\n(?:\t(" + _REASON + rb")\n)?", _reasoned),
    EventKind.JOB_HELD: (_HELD, _reasoned),
    EventKind.JOB_RELEASED: (rb"Job was released\.\n(?:\t" + _REASON + rb"\n)?", None),
    EventKind.POST_SCRIPT_TERMINATED: (_POST, _ended),
    EventKind.PRESKIP: (rb"PRE script return value is PRE_SKIP value\n" + _NODE, _named),
    EventKind.CLUSTER_SUBMIT: (rb"Cluster " + _SUBMIT, _named),
    EventKind.CLUSTER_REMOVE: (
        _REMOVED,
        lambda word: ("", 0 if word == b"C" else RETURN_JOB_ABORTED, None, 0, ""),
    ),
}


class _Forms(dict[bytes, Optional[_Form]]):
    """The form of events by the number that they begin with, None for any other; an expression is
    compiled for the first event of its kind."""

    def __missing__(self, number: bytes) -> _Form | None:
        for kind, (body, rest) in _BODIES.items():
            if number == b"%03d" % kind:
                match = re.compile(number + _HEAD + body + _END).match
                form = self[number] = _Form(int(kind), match, rest)
                return form
        return None


_FORMS = _Forms()
_GENERIC = int(EventKind.GENERIC)
_NO_REST: _Rest = ("", 0, None, 0, "")


def _with_record(event: LogEvent, text: bytes) -> LogEvent:
    noted = with_info(event, text.decode())
    if noted is event:
        raise _Unsure
    return noted


class CommonEvents:
    """Reads events off blocks of a log.

    Args:
        minute: seconds since the epoch of a local minute, `2026-11-21T11:56`; None if it is not
            sure that the bindings would give the same (no such time, in the gap of a time change).
    """

    def __init__(self, minute: Callable[[str], float | None]) -> None:
        self._minute = minute
        self._when = b""
        self._time = 0.0
        self._stamp = ""

    def read(self, block: bytes, begin: int, max_events: int) -> tuple[list[LogEvent], int]:
        """Events from an offset in the block on, and the offset behind the last of them.

        Ends after `max_events`, and before the first event that is not whole or of another form.
        """
        events: list[LogEvent] = []
        for _ in range(max_events):
            form = _FORMS[block[begin : begin + 3]]
            found = form.match(block, begin) if form is not None else None
            if form is None or found is None:
                break
            try:
                events.append(self._event(form, found.groups()))
            except (_Unsure, UnicodeDecodeError):
                break
            begin = found.end()
        return events, begin

    def _event(self, form: _Form, groups: tuple[Any, ...]) -> LogEvent:
        cluster, proc, subproc, when, *parts = groups
        if when != self._when:
            self._set_time(when)
        third = int(subproc)
        if third < 0:  # the bindings give none that is
            third = 0
        ids = form.kind, int(cluster), int(proc), third, self._time, self._stamp
        rest = form.rest(*parts) if form.rest is not None else _NO_REST
        # LogEvent(...) takes twice as long
        event: LogEvent = tuple.__new__(LogEvent, ids + rest)
        return _with_record(event, parts[0]) if form.kind == _GENERIC else event

    def _set_time(self, when: bytes) -> None:
        text = when.decode()  # 2026-11-21 11:56:29
        day, clock = text[:10], text[11:]
        minute = self._minute(f"{day}T{clock[:5]}")
        if minute is None or int(clock[6:]) > 59:
            raise _Unsure
        self._when = when
        self._time = minute + int(clock[6:])
        self._stamp = f"{day[5:7]}/{day[8:10]}/{day[2:4]} {clock}"
