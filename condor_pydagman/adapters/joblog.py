"""Follows the nodes log with the bindings' JobEventLog, and appends DAGMan's own events to it.

What JobEventLog does that shapes this file (measured, 25.14):

- a half-written last event blocks it for a second, so the file's tail is looked at first;
- garbage ends a poll early though more events follow, so its offset is compared with the size;
- an event with a bad body raises out of the loop;
- a file that shrank or vanished gives no error, so the file is looked at each time.
"""

from __future__ import annotations

import functools
import os
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
_END_OF_EVENT = b"...\n"


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
        before = self._offset()
        poll = self._log.events(0)
        try:
            # to the end and no further: the bindings take 3 ms to say that nothing more is there
            while len(events) < BATCH and self._offset() < self._size:
                events.append(_log_event(next(poll)))
                self._errors = 0
        except StopIteration:
            pass
        except (htcondor2.HTCondorException, classad2.ClassAdException) as error:
            self._errors += 1
            if self._errors >= ERRORS_MAX:
                return [*events, LogBroken(f"{self.path} can't be read: {error}")]
        self.more = before < self._offset() < self._size
        return events

    def append(self, text: str) -> None:
        """Write one event and wait until the disk has it.

        Raises:
            FileError: it was not written (a piece of it is taken back if that can be done safely).
        """
        data = text.encode("utf-8", "surrogateescape")
        size = os.fstat(self._fd).st_size
        try:
            written = os.write(self._fd, data)
            if written < len(data):
                if os.fstat(self._fd).st_size == size + written:
                    os.ftruncate(self._fd, size)
                raise OSError(28, "No space left on device")
            os.fdatasync(self._fd)
        except OSError as error:
            raise FileError(f"can't write the nodes log {self.path}: {error.strerror}") from None

    def _look(self) -> LogBroken | None:
        try:
            size = os.stat(self.path).st_size
        except OSError as error:
            return LogBroken(f"{self.path} is gone ({error.strerror})")
        if size < self._size:
            return LogBroken(f"{self.path} shrank from {self._size} to {size} bytes")
        self._size = size
        return None

    def _torn(self) -> bool:
        """Whether the last event is only half written, and not for long yet."""
        tail = os.pread(self._fd, len(_END_OF_EVENT), max(0, self._size - len(_END_OF_EVENT)))
        if tail == _END_OF_EVENT:
            self._torn_since = None
            return False
        now = time.monotonic()
        if self._torn_since is None:
            self._torn_since = now
        return now - self._torn_since < PATIENCE

    @property
    def torn(self) -> bool:
        """Whether the last read stopped before a half-written event: look again soon."""
        return self._torn_since is not None

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
