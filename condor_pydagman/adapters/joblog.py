"""Follows the nodes log, and appends DAGMan's own events to it.

Events of common forms are read by `records.event_text`; all others, and any other content, by the
bindings' JobEventLog, which is set to the offset of that event.

Behaviour of JobEventLog that this file works around (measured, 25.14):

- a half-written last event blocks it for a second, so the end of the file is checked first;
- garbage ends a poll early though more events follow, so its offset is compared with the size;
- it returns -1 for every proc below 0;
- an event with a bad body raises an exception;
- a file that shrank or was deleted gives no error, so the file is checked each time;
- the first byte of the file decides whether it reads XML or JSON, whatever its offset is;
- it takes an event behind half an event for the other half: of the two, only the half is read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Iterator
from typing import Any

import classad2
import htcondor2

from condor_pydagman.adapters import files, local_time
from condor_pydagman.adapters.classad_values import MAX_VALUE_BYTES, literal
from condor_pydagman.adapters.files import open_to_append
from condor_pydagman.engine.inputs import LogBroken, LogEvent, LogRepaired
from condor_pydagman.errors import FileError, is_machine_error
from condor_pydagman.records.event_text import CommonEvents
from condor_pydagman.records.own_events import with_info
from condor_pydagman.timers import TORN_CHECK_S, TORN_TIMEOUT_S
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, SHARED_CLUSTER, EventKind

MAX_BATCH_EVENTS = 500  # in one read, so that other inputs are handled in between
MAX_ERRORS = 10  # unreadable events in a row before the log counts as broken
BLOCK_BYTES = 262144  # read at a time
MAX_EVENT_BYTES = 32768  # an event of a common form is shorter; read of others
MAX_TEXT_CHARS = 8192  # kept of a reason
MAX_LEFT_TO_BINDINGS = 8  # events given to the bindings unseen, after as many of uncommon forms
_END_OF_EVENT = b"...\n"
_OTHER_FORMATS = (b"<", b"{")  # XML, JSON
_UNREADABLE = (htcondor2.HTCondorException, classad2.ClassAdException, ValueError, KeyError)
# Of what the bindings can't read; compiled when first used, which is seldom.
_HEAD = r"(?m)^(\d{3}) \((-?\d{1,10})\.(-?\d{1,10})\.(-?\d{1,10})\)"
_CODE = r"\(return value (\d{1,10})\)"
_SIGNAL = r"\(signal (\d{1,10})\)"
_END_KINDS = (EventKind.JOB_TERMINATED, EventKind.POST_SCRIPT_TERMINATED, EventKind.CLUSTER_REMOVE)
# An event, or the beginning of its first line, and another one within it.
_WHOLE_HEAD = rb"\d{3} \(-?\d+\.-?\d+\.-?\d+\) (?:\d{4}-\d\d-|\d\d/)\d\d \d\d:\d\d:\d\d"
_TWO_HEADS = rb"(?s)(?:" + _WHOLE_HEAD + rb".+?|[^\n]+?)(" + _WHOLE_HEAD + rb")"
_OLD_LOG_NOTE = r"(?a)DAG Node: \s*(\S+)"  # names may have other Unicode spaces
_NODE = r'DAGNodeName = "([^"]+)"|DAG Node: (\S+)'


class IncompleteEvent(FileError):
    """The last event of the log is half written: another process may be writing it."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} ends in an event that is being written", transient=True)


class NodesLog:
    """The nodes log of one DAG.

    Args:
        path: of the file.
        bindings_only: read all events by the bindings; slower, for comparison in tests.
    """

    def __init__(self, path: str, *, bindings_only: bool = False) -> None:
        self.path = path  # absolute path; node jobs carry it in their ads
        # whether a read left events in the log, so that the next one need not wait
        self.more = False
        self._fd = -1
        self._offset = 0  # after the last event read
        self._size = 0
        self._common = None if bindings_only else CommonEvents(local_time.existing_minute)
        self._block = b""
        self._block_begin = 0
        self._uncommon = 0  # times in a row that the next event was of no common form
        self._leave_to_bindings = 0  # events to leave to the bindings
        self._bindings: Any = None
        self._bindings_offset = 0  # at which they read next
        self._torn_at: float | None = None  # of a read
        self._incomplete_at: float | None = None  # of an append
        self._errors = 0

    def open(self, *, truncate: bool) -> None:
        """Open the log for following and appending; make it if it does not exist.

        Raises:
            FileError: it can't be made or opened.
            OSError: the machine has a problem: no free descriptors, a failing disk.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if truncate else 0)
        try:
            self.path.encode()
        except UnicodeEncodeError:
            raise FileError(
                f"HTCondor's bindings can't read the nodes log {self.path}: its name is not"
                " UTF-8; rename the file or the directory"
            ) from None
        try:
            self._fd = open_to_append(self.path, flags)
        except OSError as error:
            raise FileError(
                f"can't write the nodes log {self.path}: {error.strerror};"
                " DAGMan needs it in the directory of the DAG file",
                transient=is_machine_error(error),
            ) from None
        try:
            self._bindings = htcondor2.JobEventLog(self.path)
            self._file = os.fstat(self._fd)
            _keep_from_programs(self._file)
        except htcondor2.HTCondorException as error:
            self._raise_machine_error()
            raise FileError(f"can't read the nodes log {self.path}: {error}") from None

    @property
    def position(self) -> tuple[int, int, os.stat_result]:
        """How far it has been read, in bytes, how long it was then, and which file it is."""
        return self._offset, self._size, self._file

    @position.setter
    def position(self, position: tuple[int, int, os.stat_result]) -> None:
        self._offset, self._size, self._file = position

    def read(self) -> list[LogEvent | LogBroken | LogRepaired]:
        """New events, at most MAX_BATCH_EVENTS of them; an empty list if there are none yet.

        Raises:
            OSError: the machine has a problem: no free descriptors, a failing disk.
        """
        self.more = False
        broken = self._check_file()
        if broken is not None:
            return [broken]
        if self._offset >= self._size or self._is_torn():
            return []
        events: list[LogEvent | LogBroken | LogRepaired] = []
        begin = self._offset
        self._block = b""
        # only up to the known size: the bindings take 3 ms to find that there are no more events
        while len(events) < MAX_BATCH_EVENTS and self._offset < self._size:
            if not self._read_common(events) and not self._read_by_bindings(events):
                break
        if self._offset == begin and not events:
            self._skip_garbage()
            events += self._read_raw(begin, self._offset)
        self.more = begin < self._offset < self._size
        return events

    def to_end(self) -> Iterator[list[LogEvent | LogBroken | LogRepaired]]:
        """All events up to the end, in lists; waits for the rest of a half-written one.

        Ends after a LogBroken.
        """
        while True:
            events = self.read()
            yield events
            if any(isinstance(event, LogBroken) for event in events):
                return
            if self.torn:
                time.sleep(TORN_CHECK_S)
            elif not events and not self.more:  # garbage gives an empty read
                return

    def _skip_garbage(self) -> None:
        """Skip to the byte after the next end of an event.

        The bindings never get past garbage at the beginning of the log, and read nothing else of
        such a log: `_read_raw` reads what it can of these events.
        """
        at = self._offset
        while at < self._size:
            block = os.pread(self._fd, BLOCK_BYTES, at)
            found = block.find(b"\n" + _END_OF_EVENT)
            if found >= 0:
                self._offset = at + found + 1 + len(_END_OF_EVENT)
                return
            at += max(1, len(block) - len(_END_OF_EVENT))
        self._offset = self._size

    def _read_common(self, events: list[LogEvent | LogBroken | LogRepaired]) -> bool:
        """Read the next events as long as they are of common forms; whether there were any."""
        if self._common is None:
            return False
        if self._leave_to_bindings:
            self._leave_to_bindings -= 1
            return False
        at = self._offset - self._block_begin
        if self._block_begin + len(self._block) < self._size and at + MAX_EVENT_BYTES > len(
            self._block
        ):
            length = min(BLOCK_BYTES, self._size - self._offset)
            self._block = os.pread(self._fd, length, self._offset)
            self._block_begin, at = self._offset, 0
            if self._offset == 0 and self._block[:1] in _OTHER_FORMATS:
                self._common = None
                return False
        taken, end = self._common.read(self._block, at, MAX_BATCH_EVENTS - len(events))
        if not taken:
            self._leave_to_bindings = self._uncommon
            self._uncommon = min(self._uncommon + 1, MAX_LEFT_TO_BINDINGS)
            return False
        events += taken
        self._offset = self._block_begin + end
        self._uncommon = self._errors = 0
        return True

    def _read_by_bindings(self, events: list[LogEvent | LogBroken | LogRepaired]) -> bool:
        """Read the next event, of any form; whether it was readable."""
        begin = self._offset
        data = os.pread(self._fd, min(self._size - begin, MAX_EVENT_BYTES), begin)
        two = re.match(_TWO_HEADS, data.partition(b"\n" + _END_OF_EVENT)[0])
        if two is not None:
            self._skip_garbage()
            events += [*self._read_raw(begin, begin + two.start(1)), LogRepaired()]
            return True
        if self._bindings_offset != begin:
            try:
                self._seek_bindings(begin)
            except htcondor2.HTCondorException as error:
                self._raise_machine_error()
                events.append(LogBroken(f"{self.path} can't be opened again: {error}"))
                return False
        try:
            try:
                event = _log_event(next(self._bindings.events(0)))
            finally:
                self._offset = self._bindings_offset = int(self._bindings.__getstate__()[1])
        except StopIteration:
            return False
        except _UNREADABLE as error:
            events += self._read_raw(begin, self._offset)
            self._errors += 1
            if self._errors >= MAX_ERRORS:
                events.append(LogBroken(f"{self.path} can't be read: {error}"))
            return False
        if event.proc == -1:  # or less: procs of the schedd's own have -1000 and less
            raw = self._read_raw(begin, self._offset)
            event = event._replace(proc=raw[0].proc) if raw and raw[0][:2] == event[:2] else event
        events.append(event)
        self._errors = 0
        return True

    def _seek_bindings(self, offset: int) -> None:
        """Set the offset of the bindings, by the interface for unpickling.

        Raises:
            HTCondorException: the bindings open the file again, and failed.
        """
        state, _ = self._bindings.__getstate__()
        # a new object: one whose __setstate__ failed crashes the process when it is used
        bindings = htcondor2.JobEventLog.__new__(htcondor2.JobEventLog)
        bindings.__setstate__((state, offset))
        self._bindings, self._bindings_offset = bindings, offset

    def _raise_machine_error(self) -> None:
        """Raise the machine's OSError that keeps the bindings from opening the log, if any:
        they report every failure as a missing file."""
        try:
            os.close(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK))
        except OSError as error:
            if is_machine_error(error):
                raise

    def _read_raw(self, begin: int, end: int) -> list[LogEvent]:
        """What can be read of an event that the bindings can't read: its head and its result.

        Nothing, if it is the end of a job or script without a result: the schedd's history has that
        of a job, and DAGMan writes its own events again.
        """
        data = os.pread(self._fd, min(end - begin, MAX_EVENT_BYTES), begin)
        text = data.decode("utf-8", "surrogateescape")  # names of nodes may have such bytes
        head = re.search(_HEAD, text)
        if head is None:
            return []
        kind, cluster, proc, subproc = (int(head[number]) for number in (1, 2, 3, 4))
        code, killed = re.search(_CODE, text), re.search(_SIGNAL, text)
        if kind in _END_KINDS and not code and not killed:
            return []
        node = re.search(_NODE, text)
        value = -int(killed[1]) if killed else int(code[1]) if code else 0
        shared = kind == EventKind.SUBMIT and f"    {SHARED_CLUSTER}\n" in text
        event = LogEvent(kind, cluster, proc, subproc, time.time(), value=value)
        name = node[1] or node[2] if node else ""
        return [event._replace(node=name, text=SHARED_CLUSTER if shared else "(unreadable)")]

    def append(self, text: str) -> None:
        """Write one event and wait until the disk has it.

        Raises:
            IncompleteEvent: nothing was written; try again, for TORN_TIMEOUT_S at most.
            FileError: it was not written, at least not whole.
        """
        data = text.encode("utf-8", "surrogateescape")
        if self._ends_incomplete():
            data = b"\n" + _END_OF_EVENT + data  # whatever wrote that event has ended
        try:
            written = os.write(self._fd, data)
            if written < len(data):
                self._cut_off(written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fdatasync(self._fd)
        except OSError as error:
            raise FileError(f"can't write the nodes log {self.path}: {error.strerror}") from None

    def _cut_off(self, written: int) -> None:
        """Cut off the part of an event that was just written, if it is the end of the file."""
        end = os.lseek(self._fd, 0, os.SEEK_CUR)
        if os.fstat(self._fd).st_size == end:
            os.ftruncate(self._fd, end - written)

    def _ends_incomplete(self) -> bool:
        """Whether the last event is half written and has been so for TORN_TIMEOUT_S.

        Raises:
            IncompleteEvent: its writer may still complete it.
        """
        if self._ends_complete(os.fstat(self._fd).st_size):
            self._incomplete_at = None
            return False
        now = time.monotonic()
        if self._incomplete_at is None:
            self._incomplete_at = now
        if now - self._incomplete_at < TORN_TIMEOUT_S:
            raise IncompleteEvent(self.path)
        self._incomplete_at = None
        return True

    def _check_file(self) -> LogBroken | None:
        try:
            info = os.stat(self.path)
        except OSError as error:
            return LogBroken(f"{self.path} is gone ({error.strerror})")
        if not os.path.samestat(info, self._file):
            return LogBroken(f"{self.path} has been replaced by another file")
        before, self._size = self._size, info.st_size
        if self._size < before:
            return LogBroken(f"{self.path} shrank from {before} to {self._size} bytes")
        return None

    def _is_torn(self) -> bool:
        """Whether the last event is half written, and may still be completed or is all there is."""
        if self._ends_complete(self._size):
            self._torn_at = None
            return False
        now = time.monotonic()
        if self._torn_at is None:
            self._torn_at = now
        if now - self._torn_at < TORN_TIMEOUT_S:
            return True
        begin = max(0, self._size - MAX_EVENT_BYTES)
        head, end, _ = os.pread(self._fd, MAX_EVENT_BYTES, begin).rpartition(b"\n" + _END_OF_EVENT)
        if end or not begin:  # else it is no event
            self._size = begin + len(head + end)
        return self._offset >= self._size

    def _ends_complete(self, size: int) -> bool:
        """Whether the last event of a log of `size` bytes is complete."""
        tail = os.pread(self._fd, len(_END_OF_EVENT), max(0, size - len(_END_OF_EVENT)))
        return tail in (b"", _END_OF_EVENT)

    @property
    def torn(self) -> bool:
        """Whether the last read stopped before a half-written event, which is to be read again
        soon."""
        since = self._torn_at
        return since is not None and time.monotonic() - since < TORN_TIMEOUT_S


def _log_event(event: Any) -> LogEvent:
    kind = int(event["EventTypeNumber"])
    stamp = str(event["EventTime"])  # 2026-11-21T11:56:29.877
    common = {
        "kind": kind,
        "cluster": event.cluster,
        "proc": event.proc,
        "subproc": int(event.get("Subproc", 0)),
        # the bindings take 40 times as long
        "time": local_time.minute(stamp[:16]) + int(stamp[17:19]),
        "stamp": f"{stamp[5:7]}/{stamp[8:10]}/{stamp[2:4]} {stamp[11:19]}",
    }
    if kind == EventKind.GENERIC:
        return with_info(LogEvent(**common), str(event.get("Info", "")))
    details = _DETAILS.get(kind)
    return LogEvent(**common, **(details(event) if details is not None else {}))


def _submit(event: Any) -> dict[str, Any]:
    notes = event.get("StructuredNotes")
    text = SHARED_CLUSTER if event.get("UserNotes") == SHARED_CLUSTER else ""
    if notes is not None and "DAGNodeName" in notes:
        return {"node": str(notes["DAGNodeName"]), "text": text}
    return {"node": _named_in(event, "LogNotes"), "text": text}


def _named_in(event: Any, note: str) -> str:
    """The node's name in a note of the old form, `DAG Node: NAME`."""
    found = re.match(_OLD_LOG_NOTE, str(event.get(note, "")))
    return found[1] if found is not None else ""


def _end(event: Any) -> dict[str, Any]:
    if event.get("TerminatedNormally", True):
        value = int(event.get("ReturnValue", 0))
    else:
        value = -int(event.get("TerminatedBySignal", 1))
    return {"value": value, "node": str(event.get("DAGNodeName", ""))}


def _held(event: Any) -> dict[str, Any]:
    code = event.get("HoldReasonCode", 0)
    text = str(event.get("HoldReason", ""))[:MAX_TEXT_CHARS]
    return {"text": text, "value": code if isinstance(code, int) else 0}


def _job_ad(event: Any) -> dict[str, Any]:
    """What a submit description's job_ad_information_attrs asks for, a line for each."""
    pairs = ((name, literal(event[name])) for name in event if name not in _OF_EVENTS)
    lines = [f"{name}={text}\n" for name, text in pairs if text and len(text) <= MAX_VALUE_BYTES]
    return {"value": int(event.get("TriggerEventTypeNumber", -1)), "text": "".join(lines)}


_OF_EVENTS = frozenset(
    (
        *("EventTypeNumber", "EventTime", "Cluster", "Proc", "Subproc", "MyType"),
        *("TriggerEventTypeNumber", "TriggerEventTypeName"),
    )
)
_DETAILS = {
    int(EventKind.SUBMIT): _submit,
    int(EventKind.CLUSTER_SUBMIT): _submit,
    int(EventKind.JOB_TERMINATED): _end,
    int(EventKind.POST_SCRIPT_TERMINATED): _end,
    int(EventKind.PRESKIP): lambda event: {"node": _named_in(event, "SkipEventLogNotes")},
    int(EventKind.JOB_ABORTED): lambda event: {
        "text": str(event.get("Reason", ""))[:MAX_TEXT_CHARS]
    },
    int(EventKind.JOB_HELD): _held,
    int(EventKind.CLUSTER_REMOVE): lambda event: {
        "value": 0 if int(event.get("Completion", 0)) == 1 else RETURN_JOB_ABORTED
    },
    int(EventKind.JOB_AD_INFORMATION): _job_ad,
}


# Searches a nodes log for submit events of a run, where its lock file is empty.

_SUBMIT = re.compile(rb"^000 \((\d{1,10})\.", re.M)
_MAX_HEAD_BYTES = 32  # so that a head across two blocks is found


def has_submit_events(path: str, cluster: int, since: float = 0.0) -> bool:
    """Whether this nodes log has submit events of jobs that the DAGMan job `cluster` submitted.

    Their clusters have greater numbers than its own; those of an earlier run have smaller ones.
    `since` (seconds since the epoch): a log that was last written before is of an earlier run.
    False if the log can't be read, and if `cluster` is 0 (DAGMan runs by hand).
    """
    if not cluster:
        return False
    with contextlib.suppress(OSError), open(files.open_to_append(path, os.O_RDONLY), "rb") as log:
        if os.fstat(log.fileno()).st_mtime <= since:
            return False
        rest = b""
        while block := log.read(BLOCK_BYTES):
            text = rest + block
            if any(int(found[1]) > cluster for found in _SUBMIT.finditer(text)):
                return True
            rest = text[-_MAX_HEAD_BYTES:]
    return False


def _keep_from_programs(log: os.stat_result) -> None:
    """Close the bindings' descriptors of the log in programs that this process becomes or starts.

    None is opened for that: a POSIX lock would end when it is closed.
    """
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the directory just listed
            if os.path.samestat(os.fstat(int(name)), log):
                os.set_inheritable(int(name), False)
