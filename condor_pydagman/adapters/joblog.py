"""Follows the nodes log with the bindings' JobEventLog, and appends DAGMan's own events to it.

What JobEventLog does that shapes this file (measured, 25.14):

- a half-written last event blocks it for a second, so the file's tail is looked at first;
- garbage ends a poll early though more events follow, so its offset is compared with the size;
- an event with a bad body raises out of the loop;
- a file that shrank or vanished gives no error, so the file is looked at each time.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import time
from typing import Any

import classad2
import htcondor2

from condor_pydagman.engine.inputs import LogBroken, LogEvent
from condor_pydagman.errors import FileError
from condor_pydagman.records.job_events import parse_note
from condor_pydagman.vocabulary import EventKind

BATCH = 500  # events a read, so that other inputs get their turn
PATIENCE = 3.0  # seconds that a half-written event may take before it is read regardless
ERRORS_MAX = 10  # unreadable events in a row before the log counts as broken
RAW_MAX = 65536  # bytes looked at of an event that the bindings can't read
_END_OF_EVENT = b"...\n"
_UNREADABLE = (htcondor2.HTCondorException, classad2.ClassAdException, ValueError, KeyError)
_HEAD = re.compile(r"^(\d{3}) \((-?\d+)\.(-?\d+)\.(-?\d+)\)", re.MULTILINE)
_CODE = re.compile(r"\(return value (\d+)\)")
_SIGNAL = re.compile(r"\(signal (\d+)\)")
_NODE = re.compile(r'DAGNodeName = "([^"]+)"|DAG Node: (\S+)')


class NodesLog:
    """The nodes log of one DAG.

    Attributes:
        path: absolute path; node jobs carry it in their ads.
        more: whether a read left events behind, so that the next one need not wait.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.more = False
        self._fd = -1
        self._log: Any = None
        self._size = 0
        self._torn_since: float | None = None
        self._errors = 0

    def open(self, *, truncate: bool) -> None:
        """Open the log for following and appending; makes it if it is not there.

        Raises:
            FileError: it can't be made or opened.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._fd = os.open(self.path, flags | (os.O_TRUNC if truncate else 0), 0o644)
        except OSError as error:
            raise FileError(
                f"can't write the nodes log {self.path}: {error.strerror};"
                " DAGMan needs it in the directory of the DAG file"
            ) from None
        self._log = htcondor2.JobEventLog(self.path)

    def read(self) -> list[LogEvent | LogBroken]:
        """New events, at most BATCH of them; an empty list if there are none yet."""
        self.more = False
        broken = self._look()
        if broken is not None:
            return [broken]
        if self._offset() >= self._size or self._torn():
            return []
        events: list[LogEvent | LogBroken] = []
        begin = offset = self._offset()
        poll = self._log.events(0)
        try:
            # to the end and no further: the bindings take 3 ms to say that nothing more is there
            while len(events) < BATCH and offset < self._size:
                events.append(_log_event(next(poll)))
                offset = self._offset()
                self._errors = 0
        except StopIteration:
            pass
        except _UNREADABLE as error:
            events.extend(self._read_raw(offset, self._offset()))
            self._errors += 1
            if self._errors >= ERRORS_MAX:
                return [*events, LogBroken(f"{self.path} can't be read: {error}")]
        self.more = begin < self._offset() < self._size
        return events

    def _read_raw(self, begin: int, end: int) -> list[LogEvent]:
        """What can be said of an event that the bindings choke on: its head, its end."""
        text = os.pread(self._fd, min(end - begin, RAW_MAX), begin).decode("utf-8", "replace")
        head = _HEAD.search(text)
        if head is None:
            return []
        kind, cluster, proc, subproc = (int(head[number]) for number in (1, 2, 3, 4))
        code, killed = _CODE.search(text), _SIGNAL.search(text)
        node = _NODE.search(text)
        value = -int(killed[1]) if killed else int(code[1]) if code else 0
        event = LogEvent(kind, cluster, proc, subproc, time.time(), value=value)
        return [event._replace(node=node[1] or node[2] if node else "", text="(unreadable)")]

    def append(self, text: str) -> None:
        """Write one event and wait until the disk has it.

        Raises:
            FileError: it was not written, at least not whole.
        """
        data = text.encode("utf-8", "surrogateescape")
        if not self._ends_well_soon():
            data = b"\n" + _END_OF_EVENT + data  # whoever began that event is dead
        try:
            written = os.write(self._fd, data)
            if written < len(data):
                self._take_back(written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fdatasync(self._fd)
        except OSError as error:
            raise FileError(f"can't write the nodes log {self.path}: {error.strerror}") from None

    def _take_back(self, written: int) -> None:
        """Cut off a piece of an event that we have just written, if it is the end of the file."""
        end = os.lseek(self._fd, 0, os.SEEK_CUR)
        if os.fstat(self._fd).st_size == end:
            os.ftruncate(self._fd, end - written)

    def _ends_well_soon(self) -> bool:
        """Whether the last event is whole, or becomes so while we wait."""
        limit = time.monotonic() + PATIENCE
        while not self._ends_well(os.fstat(self._fd).st_size):
            if time.monotonic() > limit:
                return False
            time.sleep(0.02)
        return True

    def _look(self) -> LogBroken | None:
        try:
            info = os.stat(self.path)
        except OSError as error:
            return LogBroken(f"{self.path} is gone ({error.strerror})")
        if not os.path.samestat(info, os.fstat(self._fd)):
            return LogBroken(f"{self.path} has been replaced by another file")
        size = info.st_size
        if size < self._size:
            return LogBroken(f"{self.path} shrank from {self._size} to {size} bytes")
        self._size = size
        return None

    def _torn(self) -> bool:
        """Whether the last event is only half written, and not for long yet."""
        if self._ends_well(self._size):
            self._torn_since = None
            return False
        now = time.monotonic()
        if self._torn_since is None:
            self._torn_since = now
        return now - self._torn_since < PATIENCE

    def _ends_well(self, size: int) -> bool:
        """Whether the last event of the log, so many bytes long, is whole."""
        tail = os.pread(self._fd, len(_END_OF_EVENT), max(0, size - len(_END_OF_EVENT)))
        return tail in (b"", _END_OF_EVENT)

    @property
    def torn(self) -> bool:
        """Whether the last read stopped before a half-written event: look again soon."""
        since = self._torn_since
        return since is not None and time.monotonic() - since < PATIENCE

    def _offset(self) -> int:
        _, offset = self._log.__getstate__()  # its public state for pickling
        return int(offset)


def _log_event(event: Any) -> LogEvent:
    kind = int(event["EventTypeNumber"])
    stamp = str(event["EventTime"])  # 2026-11-21T11:56:29.877
    common = {
        "kind": kind,
        "cluster": event.cluster,
        "proc": event.proc,
        "subproc": int(event.get("Subproc", 0)),
        "time": _epoch(stamp),
        "stamp": f"{stamp[5:7]}/{stamp[8:10]}/{stamp[2:4]} {stamp[11:19]}",
    }
    special = _SPECIAL.get(kind)
    return LogEvent(**common, **(special(event) if special is not None else {}))


@functools.lru_cache(maxsize=16)
def _minute(stamp: str) -> float:
    """Seconds since the epoch of a minute in local time, `2026-11-21T11:56`."""
    numbers = (
        int(part) for part in (stamp[0:4], stamp[5:7], stamp[8:10], stamp[11:13], stamp[14:])
    )
    return time.mktime((*numbers, 0, 0, 0, -1))  # type: ignore[arg-type]


def _epoch(stamp: str) -> float:
    """Seconds since the epoch of an event's time; the bindings' own way takes 40 times as long."""
    return _minute(stamp[:16]) + int(stamp[17:19])


def _submit(event: Any) -> dict[str, Any]:
    notes = event.get("StructuredNotes")
    if notes is not None and "DAGNodeName" in notes:
        return {"node": str(notes["DAGNodeName"])}
    return {"node": _named(str(event.get("LogNotes", "")))}


def _named(note: str) -> str:
    """The node's name in a note of the old form, `DAG Node: NAME`."""
    prefix = "DAG Node: "
    words = note[len(prefix) :].split() if note.startswith(prefix) else []
    return words[0] if words else ""


def _end(event: Any) -> dict[str, Any]:
    if event.get("TerminatedNormally", True):
        value = int(event.get("ReturnValue", 0))
    else:
        value = -int(event.get("TerminatedBySignal", 1))
    return {"value": value, "node": str(event.get("DAGNodeName", ""))}


def _pre_skip(event: Any) -> dict[str, Any]:
    return {"node": _named(str(event.get("SkipEventLogNotes", "")))}


def _generic(event: Any) -> dict[str, Any]:
    note = parse_note(str(event.get("Info", "")))
    return note._asdict() if note is not None else {}


def _aborted(event: Any) -> dict[str, Any]:
    return {"text": str(event.get("Reason", ""))}


def _held(event: Any) -> dict[str, Any]:
    return {"text": str(event.get("HoldReason", ""))}


_SPECIAL = {
    int(EventKind.SUBMIT): _submit,
    int(EventKind.CLUSTER_SUBMIT): _submit,
    int(EventKind.JOB_TERMINATED): _end,
    int(EventKind.POST_SCRIPT_TERMINATED): _end,
    int(EventKind.PRESKIP): _pre_skip,
    int(EventKind.GENERIC): _generic,
    int(EventKind.JOB_ABORTED): _aborted,
    int(EventKind.JOB_HELD): _held,
}
