"""Follows the nodes log, and appends DAGMan's own events to it.

Events of the common forms are read here, by `records.event_text`; all others, and whatever else may
be in a log, by the bindings' JobEventLog, which is put to the offset of that event.

What JobEventLog does that shapes this file (measured, 25.14):

- a half-written last event blocks it for a second, so the file's tail is looked at first;
- garbage ends a poll early though more events follow, so its offset is compared with the size;
- a proc below 0 comes as -1, whichever it is;
- an event with a bad body raises out of the loop;
- a file that shrank or vanished gives no error, so the file is looked at each time;
- it takes a log for XML or JSON by the first byte of the file, wherever it is put to.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import time
from collections.abc import Iterator
from typing import Any

import classad2
import htcondor2

from condor_pydagman.adapters.own_files import open_to_add
from condor_pydagman.engine.inputs import LogBroken, LogEvent
from condor_pydagman.errors import FileError, is_of_the_machine
from condor_pydagman.records.event_text import CommonEvents
from condor_pydagman.records.job_events import noted, parse_note
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, EventKind

TORN_LOOK = 0.2  # seconds before another look at a half-written event
BATCH = 500  # events a read, so that other inputs get their turn
PATIENCE = 3.0  # seconds that a half-written event may take before it is read regardless
ERRORS_MAX = 10  # unreadable events in a row before the log counts as broken
RAW_MAX = 65536  # bytes looked at of an event that the bindings can't read
BLOCK = 262144  # bytes read at a time
EVENT_MAX = 32768  # bytes; an event of a common form is shorter
TEXT_MAX = 8192  # characters kept of a reason
LEFT_MAX = 8  # events left to the bindings without a look, after that many of other forms
_END_OF_EVENT = b"...\n"
_OTHER_FORMATS = (b"<", b"{")  # XML, JSON
_UNREADABLE = (htcondor2.HTCondorException, classad2.ClassAdException, ValueError, KeyError)
_HEAD = re.compile(r"^(\d{3}) \((-?\d{1,10})\.(-?\d{1,10})\.(-?\d{1,10})\)", re.MULTILINE)
_CODE = re.compile(r"\(return value (\d{1,10})\)")
_SIGNAL = re.compile(r"\(signal (\d{1,10})\)")
_ENDS = (EventKind.JOB_TERMINATED, EventKind.POST_SCRIPT_TERMINATED, EventKind.CLUSTER_REMOVE)
_OLD_NOTE = re.compile(r"DAG Node: \s*(\S+)", re.ASCII)  # names may have other Unicode spaces
_NODE = re.compile(r'DAGNodeName = "([^"]+)"|DAG Node: (\S+)')


class NodesLog:
    """The nodes log of one DAG.

    Args:
        path: of the file.
        bindings_only: read no event ourselves; slower, and what the other way is tested against.

    Attributes:
        path: absolute path; node jobs carry it in their ads.
        more: whether a read left events behind, so that the next one need not wait.
    """

    def __init__(self, path: str, *, bindings_only: bool = False) -> None:
        self.path = path
        self.more = False
        self._fd = -1
        self._offset = 0  # behind the last event read
        self._size = 0
        self._common = None if bindings_only else CommonEvents(_sure_minute)
        self._block = b""
        self._block_begin = 0
        self._odd = 0  # times in a row that the next event was of no common form
        self._left = 0  # events to leave to the bindings
        self._bindings: Any = None
        self._bindings_offset = 0  # where they read on
        self._torn_since: float | None = None
        self._errors = 0

    def open(self, *, truncate: bool) -> None:
        """Open the log for following and appending; makes it if it is not there.

        Raises:
            FileError: it can't be made or opened.
            OSError: the machine is in trouble: no more descriptors, a bad disk.
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
            self._fd = open_to_add(self.path, flags)
        except OSError as error:
            raise FileError(
                f"can't write the nodes log {self.path}: {error.strerror};"
                " DAGMan needs it in the directory of the DAG file",
                transient=is_of_the_machine(error),
            ) from None
        try:
            self._bindings = htcondor2.JobEventLog(self.path)
        except htcondor2.HTCondorException as error:
            self._refuse_to_go_on()
            raise FileError(f"can't read the nodes log {self.path}: {error}") from None

    def read(self) -> list[LogEvent | LogBroken]:
        """New events, at most BATCH of them; an empty list if there are none yet.

        Raises:
            OSError: the machine is in trouble: no more descriptors, a bad disk.
        """
        self.more = False
        broken = self._look()
        if broken is not None:
            return [broken]
        if self._offset >= self._size or self._torn():
            return []
        events: list[LogEvent | LogBroken] = []
        begin = self._offset
        self._block = b""
        # to the end and no further: the bindings take 3 ms to say that nothing more is there
        while len(events) < BATCH and self._offset < self._size:
            if not self._read_common(events) and not self._read_by_bindings(events):
                break
        if self._offset == begin and not events:
            self._skip_garbage()
            events += self._read_raw(begin, self._offset)
        self.more = begin < self._offset < self._size
        return events

    def to_end(self) -> Iterator[list[LogEvent | LogBroken]]:
        """All events that are there, some at a time; waits for the rest of a half-written one.

        A LogBroken is the last one.
        """
        while True:
            events = self.read()
            yield events
            if any(isinstance(event, LogBroken) for event in events):
                return
            if self.torn:
                time.sleep(TORN_LOOK)
            elif not events and not self.more:  # garbage gives an empty read
                return

    def _skip_garbage(self) -> None:
        """Go on behind the next end of an event.

        The bindings never come past something that is no event at the beginning of the log, and
        read nothing else of such a log: what can be said of an event by its looks has to do.
        """
        at = self._offset
        while at < self._size:
            block = os.pread(self._fd, BLOCK, at)
            found = block.find(b"\n" + _END_OF_EVENT)
            if found >= 0:
                self._offset = at + found + 1 + len(_END_OF_EVENT)
                return
            at += max(1, len(block) - len(_END_OF_EVENT))
        self._offset = self._size

    def _read_common(self, events: list[LogEvent | LogBroken]) -> bool:
        """Take the events of common forms that come next; whether there were any."""
        if self._common is None:
            return False
        if self._left:
            self._left -= 1
            return False
        at = self._offset - self._block_begin
        if self._block_begin + len(self._block) < self._size and at + EVENT_MAX > len(self._block):
            length = min(BLOCK, self._size - self._offset)
            self._block = os.pread(self._fd, length, self._offset)
            self._block_begin, at = self._offset, 0
            if self._offset == 0 and self._block[:1] in _OTHER_FORMATS:
                self._common = None
                return False
        taken, end = self._common.read(self._block, at, BATCH - len(events))
        if not taken:
            self._left = self._odd
            self._odd = min(self._odd + 1, LEFT_MAX)
            return False
        events += taken
        self._offset = self._block_begin + end
        self._odd = self._errors = 0
        return True

    def _read_by_bindings(self, events: list[LogEvent | LogBroken]) -> bool:
        """Take the next event, of any form; whether it was readable."""
        begin = self._offset
        if self._bindings_offset != begin:
            try:
                self._put_bindings(begin)
            except htcondor2.HTCondorException as error:
                self._refuse_to_go_on()
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
            if self._errors >= ERRORS_MAX:
                events.append(LogBroken(f"{self.path} can't be read: {error}"))
            return False
        events.append(event if event.proc != -1 else self._with_true_proc(event, begin))
        self._errors = 0
        return True

    def _with_true_proc(self, event: LogEvent, begin: int) -> LogEvent:
        """An event of no proc with the number that the text shows: the bindings make -1 of all that
        are below 0, and helpers of the schedd have -1000 and less."""
        data = os.pread(self._fd, min(self._offset - begin, RAW_MAX), begin)
        for head in reversed(list(_HEAD.finditer(data.decode("utf-8", "surrogateescape")))):
            kind, cluster, proc = int(head[1]), int(head[2]), int(head[3])
            if (kind, cluster) == event[:2] and proc < 0:
                return event._replace(proc=proc)
        return event

    def _put_bindings(self, offset: int) -> None:
        """Let the bindings read on from an offset, as if they had been pickled there.

        Raises:
            HTCondorException: they open the file again, and could not.
        """
        state, _ = self._bindings.__getstate__()
        # a new object: one whose __setstate__ failed crashes the process when it is used
        bindings = htcondor2.JobEventLog.__new__(htcondor2.JobEventLog)
        bindings.__setstate__((state, offset))
        self._bindings, self._bindings_offset = bindings, offset

    def _refuse_to_go_on(self) -> None:
        """Raise the OSError for which the bindings can't open the log, which they say is not there;
        nothing, if it is the log itself."""
        try:
            os.close(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
        except OSError as error:
            if is_of_the_machine(error):
                raise

    def _read_raw(self, begin: int, end: int) -> list[LogEvent]:
        """What can be said of an event that the bindings choke on: its head, its end.

        Nothing, if it is the end of something and does not tell how that ended: the schedd's
        history does, and what was DAGMan's own event is written again.
        """
        data = os.pread(self._fd, min(end - begin, RAW_MAX), begin)
        text = data.decode("utf-8", "surrogateescape")  # nodes may be called so
        head = _HEAD.search(text)
        if head is None:
            return []
        kind, cluster, proc, subproc = (int(head[number]) for number in (1, 2, 3, 4))
        code, killed = _CODE.search(text), _SIGNAL.search(text)
        if kind in _ENDS and not code and not killed:
            return []
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
    if kind == EventKind.GENERIC:
        record = parse_note(str(event.get("Info", "")))
        return LogEvent(**common) if record is None else noted(LogEvent(**common), record)
    special = _SPECIAL.get(kind)
    return LogEvent(**common, **(special(event) if special is not None else {}))


@functools.lru_cache(maxsize=16)
def _minute(stamp: str) -> float:
    """Seconds since the epoch of a minute in local time, `2026-11-21T11:56`.

    The first of the two in the hour that the end of summer time repeats; mktime alone gives one or
    the other by what it was asked before.
    """
    numbers = tuple(
        int(part) for part in (stamp[0:4], stamp[5:7], stamp[8:10], stamp[11:13], stamp[14:])
    )
    minute = time.mktime((*numbers, 0, 0, 0, -1))  # type: ignore[arg-type]
    for repeated in (3600, 1800):
        if time.localtime(minute - repeated)[:5] == numbers:
            return minute - repeated
    return minute


@functools.lru_cache(maxsize=16)
def _sure_minute(stamp: str) -> float | None:
    """The same; None if that minute is not on the clock, so that the bindings show another.

    There is no 30 February, and no 02:30 in the night in which clocks go from 02:00 to 03:00.
    """
    try:
        minute = _minute(stamp)
    except (ValueError, OverflowError):
        return None
    for second in (0, 59):
        shown = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(minute + second))
        if shown != f"{stamp}:{second:02}":
            return None
    return minute


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
    found = _OLD_NOTE.match(note)
    return found[1] if found is not None else ""


def _end(event: Any) -> dict[str, Any]:
    if event.get("TerminatedNormally", True):
        value = int(event.get("ReturnValue", 0))
    else:
        value = -int(event.get("TerminatedBySignal", 1))
    return {"value": value, "node": str(event.get("DAGNodeName", ""))}


def _pre_skip(event: Any) -> dict[str, Any]:
    return {"node": _named(str(event.get("SkipEventLogNotes", "")))}


def _aborted(event: Any) -> dict[str, Any]:
    return {"text": str(event.get("Reason", ""))[:TEXT_MAX]}


def _cluster_removed(event: Any) -> dict[str, Any]:
    complete = int(event.get("Completion", 0)) == 1
    return {"value": 0 if complete else RETURN_JOB_ABORTED}


def _held(event: Any) -> dict[str, Any]:
    return {"text": str(event.get("HoldReason", ""))[:TEXT_MAX]}


_SPECIAL = {
    int(EventKind.SUBMIT): _submit,
    int(EventKind.CLUSTER_SUBMIT): _submit,
    int(EventKind.JOB_TERMINATED): _end,
    int(EventKind.POST_SCRIPT_TERMINATED): _end,
    int(EventKind.PRESKIP): _pre_skip,
    int(EventKind.JOB_ABORTED): _aborted,
    int(EventKind.JOB_HELD): _held,
    int(EventKind.CLUSTER_REMOVE): _cluster_removed,
}
