"""The worker of a DATA node, as a job: reads its work order, and ends with the node's exit code."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable

from condor_pydagman.adapters import files
from condor_pydagman.adapters.files import open_to_append
from condor_pydagman.data_requests.faults import FaultKind, exit_code
from condor_pydagman.data_requests.request_macros import Macros
from condor_pydagman.data_requests.request_text import read_requests
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.urls import masked_text
from condor_pydagman.data_requests.work_order import Ended, WorkOrder, parse_work_order
from condor_pydagman.errors import DagFileError, FileError
from condor_pydagman.names import PLACEMENTS
from condor_pydagman.placement.attempt_lines import (
    LAST_FAULT,
    ProgressSum,
    as_string,
    attempt_line,
    ends_of,
)
from condor_pydagman.placement.endpoints.disk_faults import FULL
from condor_pydagman.placement.journal import Journal
from condor_pydagman.placement.make_worker import make_worker
from condor_pydagman.placement.placement_ad import (
    FIRST_UPDATE_S,
    UPDATE_INTERVAL_S,
    JobAdPublisher,
    own_job,
)
from condor_pydagman.placement.rules.journal_text import Done
from condor_pydagman.placement.way import Surroundings
from condor_pydagman.placement.worker import AttemptEnd, Worker
from condor_pydagman.placement.worker_processes import WorkerProcesses
from condor_pydagman.printable import escaped_line
from condor_pydagman.records.own_events import stamp
from condor_pydagman.records.placement_event import COMPLETED, PlacementEvent, event_text

MAX_WAIT_S = 3.0  # for another writer in the middle of an event
_POLL_S = 0.02
_END = b"...\n"


class NodesLogNotes:
    """Writes notes in batches.

    Args:
        path: of the nodes log, '' for none.
        say: adds a line to the worker's log.
    """

    def __init__(self, path: str, say: Callable[[str], None]) -> None:
        self._path = path
        self._say = say
        self._texts: list[str] = []
        self._failed = False

    def add(self, event: PlacementEvent) -> None:
        """One more note, written at the next `flush`."""
        if self._path:
            self._texts.append(event_text(stamp(time.localtime()), event))

    def flush(self) -> None:
        """Write all that were added."""
        texts, self._texts = self._texts, []
        if not texts:
            return
        try:
            self._append("".join(texts).encode("utf-8", "surrogateescape"))
        except OSError as error:
            if not self._failed:
                self._say(f"can't write to {self._path}: {error.strerror or error}")
            self._failed = True

    def _append(self, data: bytes) -> None:
        # No O_CREAT: a log that is gone is not for a worker to make.
        fd = open_to_append(self._path, os.O_RDWR | os.O_APPEND)
        try:
            self._wait_for_end_of_event(fd)
            if os.write(fd, data) < len(data):
                os.write(fd, b"\n" + _END)
        finally:
            os.close(fd)

    def _wait_for_end_of_event(self, fd: int) -> None:
        until = time.monotonic() + MAX_WAIT_S
        while True:
            size = os.fstat(fd).st_size
            end = os.pread(fd, len(_END), max(size - len(_END), 0))
            if not size or end == _END or time.monotonic() > until:
                return
            time.sleep(_POLL_S)


ERROR = 1  # a file of ours can't be read or written
FLUSH_S = 0.5  # between writes to the nodes log
AD_S = 20.0  # that the schedd may take for the last edit


def main(path: str) -> int:
    """Carry out the work order in a file; returns the exit code (docs/data-placement.md)."""
    stop = threading.Event()
    code = _code_of(path, stop)
    _OUTPUT.close(code)
    if code == FaultKind.STOPPED.exit_code and not stop.is_set():
        # a process of this worker was killed: the schedd starts it again, as if this one had been
        os.kill(os.getpid(), signal.SIGKILL)
    return code


def _code_of(path: str, stop: threading.Event) -> int:
    try:
        order = parse_work_order(files.read_text(path))
    except (OSError, FileError, ValueError) as error:
        _say(f"can't read the work order {path}: {error}")
        return ERROR
    if isinstance(order, Ended):
        _say("this was done before")
        return order.exit_code
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    os.environ.update(order.environment)
    try:
        kinds = _carry_out(order, path.rpartition(".")[0] + ".journal", stop)
    except DagFileError as error:
        _say(error.detail())
        kinds = {FaultKind.REQUEST}
    except (OSError, FileError) as error:
        _say(str(error))
        is_full = isinstance(error, OSError) and error.errno in FULL
        return FaultKind.NO_SPACE.exit_code if is_full else ERROR
    code = exit_code(kinds)
    if FaultKind.STOPPED not in kinds:
        _forget_secrets(path, code)
    return code


def _carry_out(order: WorkOrder, journal_path: str, stop: threading.Event) -> set[FaultKind]:
    request = read_requests(
        order.text, order.name, Macros(order.macros, order.environment), order.directory
    )
    job = own_job(os.environ.get("_CONDOR_JOB_AD", ""))
    journal = Journal(journal_path, "{}.{}".format(*job) if job[0] else "")
    listener = _NodeListener(order, journal, job)
    credentials = os.environ.get("_CONDOR_CREDS")  # of this job, if HTCondor gives it some
    environment = {**order.environment, **({"_CONDOR_CREDS": credentials} if credentials else {})}
    dag = os.path.dirname(os.path.abspath(journal_path)).removesuffix(PLACEMENTS)
    surroundings = Surroundings(
        order.settings, environment, order.directory, _say, dag, node=order.node
    )
    worker = make_worker(request.placements, surroundings, listener, stop, journal, may_fork=True)
    listener.show(worker)
    worker.start()
    while not worker.join(FLUSH_S):
        listener.tick()
    listener.end()
    kinds = worker.result()
    if FaultKind.STOPPED in kinds and not stop.is_set():
        _say("a process of this worker was killed")
    if kinds and (stop.is_set() or FaultKind.STOPPED in kinds):
        kinds = {FaultKind.STOPPED}  # whatever else went wrong, it may be started again
    if not kinds:
        journal.complete()
    journal.close()
    return kinds


class _NodeListener:
    """Tells what happens in the node's output, in the nodes log, in the journal and in the ad."""

    def __init__(self, order: WorkOrder, journal: Journal, job: tuple[int, int]) -> None:
        self._order = order
        self._journal = journal
        self._job = job
        self._notes = NodesLogNotes(order.nodes_log, _say)
        self._ad = JobAdPublisher("{}.{}".format(*self._job) if self._job[0] else "")
        self._sum = ProgressSum()
        self._worker: Worker | WorkerProcesses | None = None
        self._publish_at = time.monotonic() + FIRST_UPDATE_S

    def show(self, worker: Worker | WorkerProcesses) -> None:
        """The worker whose progress is published."""
        self._worker = worker

    def attempt_ended(self, end: AttemptEnd) -> None:
        self._sum.add(end)
        if end.fault is not None:
            _OUTPUT.fault = masked_text(end.fault.reason)
        _say(attempt_line(end))
        if end.state == COMPLETED and end.outcome is not None:
            size = end.outcome.size
            self._journal.add(Done(end.key, -1 if size is None else size))
        if end.fault is None or end.fault.kind is not FaultKind.STOPPED:
            self._notes.add(self._event(end))  # one that was stopped goes on with the next worker

    def tick(self) -> None:
        self._notes.flush()
        if time.monotonic() >= self._publish_at and self._worker is not None:
            self._publish_at = time.monotonic() + UPDATE_INTERVAL_S
            self._ad.publish(self._sum.attributes(self._worker.running))

    def end(self) -> None:
        self._notes.flush()
        self._ad.close()
        _say(self._sum.summary())

    def _event(self, end: AttemptEnd) -> PlacementEvent:
        outcome, one = end.outcome, end.placement
        size = outcome.size if outcome is not None and outcome.size is not None else -1
        source, destination = ends_of(one)
        return PlacementEvent(
            node=self._order.node,
            retry=self._order.retry,
            cluster=self._job[0],
            proc=self._job[1],
            state=end.state,
            attempt=end.attempt,
            size=size,
            moved=outcome.moved if outcome is not None else 0,
            files=int(outcome is not None and not outcome.skipped and isinstance(one, Transfer)),
            seconds=end.seconds,
            way=end.way,
            source=source,
            destination=destination,
            reason=masked_text(end.fault.reason) if end.fault is not None else "",
        )


class _Output:
    """The node's output: a full disk takes lines from it, and changes nothing else."""

    def __init__(self) -> None:
        self._unsaid = ""  # the last text that was not written
        self.fault = ""  # why a placement has failed

    def say(self, text: str) -> None:
        """Lines, as soon as there is room for them."""
        stamp = time.strftime("%m/%d/%y %H:%M:%S")
        lines = masked_text(text).split("\n")
        try:
            print("\n".join(f"{stamp} {escaped_line(line)}" for line in lines), flush=True)
        except OSError:
            self._unsaid = text
        else:
            self._unsaid = ""

    def close(self, code: int) -> None:
        """The end.  If it can't take why the node has failed, the job's ad does."""
        try:
            sys.stdout.flush()
        except OSError:
            # what is left in the buffer would make Python end with another code
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if code:
                self._tell_the_ad()

    def _tell_the_ad(self) -> None:
        job = own_job(os.environ.get("_CONDOR_JOB_AD", ""))
        if job[0]:
            ad = JobAdPublisher("{}.{}".format(*job))
            ad.publish({LAST_FAULT: as_string(self.fault or masked_text(self._unsaid))})
            ad.finish(AD_S)


_OUTPUT = _Output()
_say = _OUTPUT.say


def _forget_secrets(path: str, code: int) -> None:
    """Replace the work order by its result."""
    text = Ended(code).to_text()
    try:
        files.replace(path, [text])
    except FileError as error:
        _say(str(error))
        with contextlib.suppress(OSError):
            _overwrite(path, text.encode())


def _overwrite(path: str, data: bytes) -> None:
    """Replace what is in a longer file, in place: a full disk has no room for another one."""
    fd = files.open_own(path, os.O_WRONLY)
    try:
        if os.write(fd, data) == len(data):
            os.ftruncate(fd, len(data))
    finally:
        os.close(fd)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
