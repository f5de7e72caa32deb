"""Several processes for requests of many files: each runs a worker with its share of them.

Python runs one thread at a time, so what limits small files is the processor's time for each.
Each stream has a process of its own, up to MAX_PROCESSES: threads would wait for each other.
Processes are forked before any thread is there.  They tell the first one what happens, which keeps
journal, notes and sums as with one process, and they end with it.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import selectors
import signal
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Placement, Transfer
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.placement.endpoints import choose
from condor_pydagman.placement.journal import NoJournal
from condor_pydagman.placement.performer import Performer
from condor_pydagman.placement.waits import Wait
from condor_pydagman.placement.way import Outcome, Progress
from condor_pydagman.placement.work import SharedFiles, Work
from condor_pydagman.placement.worker import AttemptEnd, Listener, Share, Worker, lists_files

MANY = 200  # placements that are worth several processes
MAX_PROCESSES = 4
TELL_S = 0.5  # between what a process tells of its work under way
# An end of an attempt is told so late at most; what is untold when a process is killed is repeated.
UNTOLD_S = 0.1
FORK_AGAIN_S = 1.0  # between attempts, while the system lets the user have no more processes
MAX_UNTOLD = 50
GARBAGE_OBJECTS = 20_000  # between looks for cycles, of which a transfer makes hardly any
_PR_SET_PDEATHSIG = 1
_TOLD = ("number", "placement", "outcome", "fault")  # see `_Child.end_of`
_NUMBER, _PLACEMENT, _OUTCOME, _FAULT = map(AttemptEnd._fields.index, _TOLD)
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def processes_for(placements: Sequence[Placement], streams: int) -> int:
    """How many processes are worth their start."""
    directories = any(one.source.is_directory for one in placements if isinstance(one, Transfer))
    if len(placements) < MANY and not directories:
        return 1
    most = len(os.sched_getaffinity(0)) if _waits_for_none(placements) else MAX_PROCESSES
    return max(min(streams, most), 1)


def _waits_for_none(placements: Sequence[Placement]) -> bool:
    """Whether all are between files of this machine: more streams than processors only make each
    other wait for the disk's directories."""
    return all(
        one.source.is_local and one.destination.is_local
        for one in placements
        if isinstance(one, Transfer)
    )


class WorkerProcesses:
    """Like a `Worker`, which see, with its work divided among processes."""

    def __init__(
        self,
        placements: Sequence[Placement],
        performer: Performer,
        listener: Listener,
        stop: threading.Event,
        journal: NoJournal,
        count: int,
    ) -> None:
        self._placements = placements
        self._listener = listener
        self._stop = stop
        self._failed: set[FaultKind] = set()
        self._bug = ""
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, _Child] = {}
        self._stopped = False
        settings = performer.surroundings.settings
        shared = SharedFiles() if any(map(lists_files, placements)) else None
        transfers = (one for one in placements if isinstance(one, Transfer))
        choose.load_http({url.scheme for one in transfers for url in one[:2]})
        wait = Wait(performer.surroundings.say)
        for number in range(count):
            streams = 1
            if not _waits_for_none(placements):
                streams = len(range(number, settings.max_streams, count))
            own_stop = threading.Event()
            share = performer.for_worker(streams, own_stop)
            made = lambda told, number=number, share=share, own_stop=own_stop: Worker(  # noqa: E731
                placements, share, told, own_stop, journal, Share(number, count), shared
            )
            child = self._child(made, own_stop, wait)
            if child is None:
                self._failed.add(FaultKind.STOPPED)  # nobody has this share
                break
            self._children[child.fd] = child
            self._selector.register(child.fd, selectors.EVENT_READ)
        if shared is not None:
            shared.close()

    def _child(self, make: Any, stop: threading.Event, wait: Wait) -> _Child | None:
        """A process, as soon as the user may have one more; None if the worker is to stop first."""
        try:
            while True:
                try:
                    return _Child(make, self._placements, stop)
                except BlockingIOError:
                    wait.begins("a process, of which this user may have no more now")
                    if self._stop.wait(FORK_AGAIN_S):
                        return None
        finally:
            wait.over()

    @property
    def running(self) -> set[Work]:
        """See `Worker`: as the processes have last told."""
        return {work for child in self._children.values() for work in child.running}

    def start(self) -> None:
        """See `Worker`: the processes begin at once."""

    def join(self, timeout_s: float) -> bool:
        """See `Worker`."""
        until = time.monotonic() + timeout_s
        while self._children:
            if self._stop.is_set() and not self._stopped:
                self._stopped = True
                for child in self._children.values():
                    child.stop()
            left = until - time.monotonic()
            if left <= 0:
                return False
            for key, _ in self._selector.select(min(left, TELL_S)):
                self._read(self._children[key.fd])
        return True

    def result(self) -> set[FaultKind]:
        """See `Worker`."""
        if self._bug:
            raise RuntimeError(self._bug)
        return self._failed

    def _read(self, child: _Child) -> None:
        messages = child.read()
        for kind, content in messages or ():
            if kind == "ends":
                for one in content:
                    self._listener.attempt_ended(child.end_of(one))
            elif kind == "running":
                child.show(content)
            elif kind == "failed":
                self._failed |= {FaultKind[name] for name in content}
            else:
                self._bug = content
        if messages is None:
            del self._children[child.fd]
            self._selector.unregister(child.fd)
            if child.end() and not self._bug:
                self._failed.add(FaultKind.STOPPED)  # killed: what it had is not done


class _Child:
    """A process, and the pipe from it: a line of JSON for each message."""

    def __init__(self, make: Any, placements: Sequence[Placement], stop: threading.Event) -> None:
        self.fd, write = os.pipe()
        parent = os.getpid()
        # A signal that comes now waits for the process's own handlers: those of this one would take
        # it, and it is not sent again.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            self.pid = os.fork()
            if not self.pid:
                _be_child(make, _Told(write, placements), parent, stop, before)
        except OSError:
            os.close(self.fd)
            os.close(write)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(write)
        os.set_blocking(self.fd, False)
        self.running: list[Work] = []
        self._placements = placements
        self._data = b""

    def read(self) -> list[tuple[str, Any]] | None:
        """What it has told; None at its end."""
        try:
            data = os.read(self.fd, 1 << 20)
        except BlockingIOError:
            return []
        if not data:
            return None
        *lines, self._data = (self._data + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def end_of(self, told: list[Any]) -> AttemptEnd:
        """The end of an attempt, as `_told_end` gives it."""
        told[_PLACEMENT] = self._placement(told[_NUMBER], told[_PLACEMENT])
        if told[_OUTCOME] is not None:
            told[_OUTCOME] = Outcome(*told[_OUTCOME])
        if told[_FAULT] is not None:
            kind, reason, more = told[_FAULT]
            told[_FAULT] = Fault(FaultKind[kind], reason, **more)
        return AttemptEnd(*told)

    def show(self, told: Sequence[list[Any]]) -> None:
        """Its work under way."""
        self.running = []
        for number, urls, offset, moved, total in told:
            progress = Progress(threading.Event())
            progress.offset, progress.moved, progress.total = offset, moved, total
            self.running.append(Work(number, self._placement(number, urls), "", progress))

    def _placement(self, number: int, urls: list[list[Any]] | None) -> Placement:
        placement = self._placements[number]
        if urls is None or not isinstance(placement, Transfer):
            return placement
        source, destination = (Url(*fields) for fields in urls)
        return placement._replace(source=source, destination=destination)

    def stop(self) -> None:
        """Ask it to end."""
        os.kill(self.pid, signal.SIGTERM)

    def end(self) -> int:
        """Wait for it; its status."""
        os.close(self.fd)
        return os.waitpid(self.pid, 0)[1]


class _Told:
    """The listener of a worker in a process: passes all on, many ends of attempts at once."""

    def __init__(self, fd: int, placements: Sequence[Placement]) -> None:
        self._fd = fd
        self._placements = placements
        self._lock = threading.Lock()
        self._ends: list[list[Any]] = []
        self._since = 0.0

    def attempt_ended(self, end: AttemptEnd) -> None:
        """See `worker.Listener`."""
        now = time.monotonic()
        with self._lock:
            if not self._ends:
                self._since = now
            known = self._placements[end.number] is end.placement
            self._ends.append(_told_end(end, is_known=known))
            if len(self._ends) >= MAX_UNTOLD or now - self._since > UNTOLD_S:
                self._tell_ends()

    def tell(self, kind: str, content: Any) -> None:
        """One message, as a whole, after all ends."""
        with self._lock:
            self._tell_ends()
            self._write([kind, content])

    def tell_ends(self) -> None:
        """All ends that have not been told."""
        with self._lock:
            self._tell_ends()

    def _tell_ends(self) -> None:
        if self._ends:
            self._write(["ends", self._ends])
            self._ends = []

    def _write(self, message: list[Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self._fd, data) :]


def _told_end(end: AttemptEnd, *, is_known: bool) -> list[Any]:
    """In what JSON knows: of a file that the request does not have, the URLs alone differ."""
    told: list[Any] = list(end)
    fault = end.fault
    told[_PLACEMENT] = None if is_known else _urls(end.placement)
    if fault is not None:
        more = {name: getattr(fault, name) for name in ("transient", "host", "retry_after_s")}
        told[_FAULT] = fault.kind.name, fault.reason, more
    return told


def _urls(placement: Placement) -> Sequence[Url] | None:
    return placement[:2] if isinstance(placement, Transfer) else None


def _under_way(work: Work) -> list[Any]:
    progress = work.progress
    moved = progress.offset, progress.moved, progress.total
    return [work.number, _urls(work.placement), *moved]


def _be_child(
    make: Any, told: _Told, parent: int, stop: threading.Event, mask: Iterable[int]
) -> NoReturn:
    code = 1
    try:
        for number in _SIGNALS:
            signal.signal(number, lambda *_: stop.set())
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
        gc.freeze()  # what all processes share is not looked at again, so it stays shared
        gc.set_threshold(GARBAGE_OBJECTS)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        worker: Worker = make(told)
        worker.start()
        next_tell = time.monotonic() + TELL_S
        while not worker.join(UNTOLD_S):
            told.tell_ends()
            if time.monotonic() < next_tell:
                continue
            next_tell = time.monotonic() + TELL_S
            told.tell("running", [_under_way(work) for work in list(worker.running)])
        told.tell("failed", [kind.name for kind in worker.result()])
        code = 0
    except BaseException as error:
        import traceback  # it is a bug, and only then needed

        told.tell("bug", "".join(traceback.format_exception(type(error), error, None)[-1:]))
    finally:
        os._exit(code)
