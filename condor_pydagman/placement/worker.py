"""Runs the placements of a request file, several at a time, until each is done or has failed.

Each thread takes one placement at a time, waits for its turn, makes one attempt, and hands it back
with a delay if it is to be tried again, or if its server rests and there is something else to do.
"""

from __future__ import annotations

import functools
import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Protocol

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.request_order import follows
from condor_pydagman.data_requests.request_text import is_several
from condor_pydagman.data_requests.requests import FAIL, Allocate, Placement, Release, Transfer
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.journal import NoJournal, is_still_done
from condor_pydagman.placement.performer import Performer, Stream
from condor_pydagman.placement.rules import attempts
from condor_pydagman.placement.rules.attempts import Candidate, Next
from condor_pydagman.placement.rules.journal_text import key_of
from condor_pydagman.placement.way import Outcome, Progress
from condor_pydagman.placement.work import RequestOrder, SharedFiles, Work, WorkQueue
from condor_pydagman.records.placement_event import COMPLETED, FAILED, RESCHEDULED


class AttemptEnd(NamedTuple):
    """The end of an attempt."""

    key: str
    placement: Placement
    state: str  # COMPLETED, RESCHEDULED or FAILED
    attempt: int  # number from 1
    seconds: float  # that it took
    outcome: Outcome | None = None  # of one that succeeded
    fault: Fault | None = None  # of one that did not
    delay_s: float = 0  # seconds until the next attempt
    way: str = ""  # that was tried
    number: int = 0  # of the request in its file, from 0; files of a directory have the same


class Listener(Protocol):
    """Is told what happens; called by several threads, one at a time."""

    def attempt_ended(self, end: AttemptEnd) -> None:
        """An attempt has ended."""


class Share(NamedTuple):
    """The part of a worker's placements that is its own: every `of`-th, from `number` on."""

    number: int = 0
    of: int = 1

    def has(self, number: int) -> bool:
        """Whether that one is part of it."""
        return number % self.of == self.number


WHOLE = Share()
TRIED_S = 5.0  # until work is looked at again whose service somebody tries after its rest
GIVE_S = 0.5  # between looks at whether to stop, while other processes have enough to do


class Worker:
    """Runs placements.

    Args:
        placements: of the request file.
        performer: makes attempts.
        listener: is told.
        stop: set to end soon.
        journal: what earlier workers have done.
        share: what of them is for this worker.
        files: of directories, which workers in other processes share with this one; None if there
            are no such workers.
    """

    def __init__(
        self,
        placements: Sequence[Placement],
        performer: Performer,
        listener: Listener,
        stop: threading.Event,
        journal: NoJournal,
        share: Share = WHOLE,
        files: SharedFiles | None = None,
    ) -> None:
        self._performer = performer
        own = [placement for number, placement in enumerate(placements) if share.has(number)]
        self._shared = SharedFiles() if files is None and any(map(lists_files, own)) else files
        self._listings = 0  # of directories, that have not ended
        self._settings = performer.surroundings.settings
        self._listener = listener
        self._stop = stop
        self._journal = journal
        self._queue = WorkQueue(stop, self._next_of_others, self._others_may_give)
        self._order = RequestOrder(follows(placements))
        self._lock = threading.Lock()
        self._failed: set[FaultKind] = set()
        self._crash: BaseException | None = None
        self._threads: list[threading.Thread] = []
        self.running: set[Work] = set()  # what is under way now, for those who show it
        works = 0
        for number, placement in enumerate(placements):
            if not share.has(number):
                continue
            work = self._work(number, placement)
            if self._is_done(work):
                continue
            works += 1
            self._listings += lists_files(placement)
            self._order.begin(number)
            if not self._order.hold(work):
                self._queue.add(work)
        if self._shared is not None and not self._listings:
            self._shared.end_giving()
        self._streams = self._settings.max_streams
        if self._shared is None:
            self._streams = max(1, min(self._streams, works))

    def start(self) -> None:
        """Start the threads."""
        for number in range(self._streams):
            thread = threading.Thread(target=self._run, name=f"stream {number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def join(self, timeout_s: float) -> bool:
        """Wait for the end, at most so long; whether it has come."""
        until = time.monotonic() + timeout_s
        if self._stop.is_set():
            self._queue.wake()
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0))
        return not any(thread.is_alive() for thread in self._threads)

    def result(self) -> set[FaultKind]:
        """Why placements have failed for good; empty if all are done.

        Raises:
            BaseException: a bug, in one of the threads.
        """
        if self._shared is not None:
            self._shared.close()
            if not self._shared.is_over:
                self._failed.add(FaultKind.STOPPED)  # nobody knows what has not been taken
        if self._crash is not None:
            raise self._crash
        return self._failed

    def _work(self, number: int, placement: Placement, *, single: bool = False) -> Work:
        key = key_of(placement)
        progress = Progress(self._stop)
        if isinstance(placement, Transfer) and placement.if_exists == FAIL:
            progress.own_file = self._journal.named.get(key)
            progress.before_name = functools.partial(self._journal.name, key)
        return Work(number, placement, key, progress, single)

    def _is_done(self, work: Work) -> bool:
        """Whether an earlier worker has done it, and that still holds."""
        size = self._journal.done.get(work.key)
        if isinstance(work.placement, Release) and self._order.has_begun(work.number):
            return False
        return size is not None and is_still_done(work.placement, size)

    def _run(self) -> None:
        try:
            with self._performer.stream(self._queue.has_other) as stream:
                while True:
                    taken = self._queue.take(wait=False)
                    if taken is None:
                        stream.leave_turn()  # others must not wait for one that waits itself
                        taken = self._queue.take(wait=True)
                    if taken is None:
                        break
                    try:
                        self._attempt(stream, taken)
                    finally:
                        self.running.discard(taken)
                        self._queue.ended()
        except BaseException as error:  # a bug: the others must not wait for this thread
            self._crash = error
            self._stop.set()
        self._queue.wake()

    def _attempt(self, stream: Stream, work: Work) -> None:
        work.attempts += 1
        work.has_failed_service = False
        begun = time.monotonic()
        self.running.add(work)
        try:
            work.progress.check_stop()
            if work.single and self._is_done(work):
                self._ended(work)
                return
            if isinstance(work.placement, Transfer) and not work.candidates:
                work.candidates = self._performer.candidates(work.placement)
            if self._expand(work):
                return
            outcome = stream.perform(work)
            if outcome is None:  # not now, and no attempt
                work.attempts -= 1
                pause_s = max(self._performer.rest_s(work), TRIED_S)
                self._queue.delay(work, time.monotonic() + pause_s)
                return
        except Fault as fault:
            self._failed_attempt(work, fault, time.monotonic() - begun)
        else:
            self._tell(work, COMPLETED, begun, outcome=outcome, way=outcome.way)
            self._ended(work)

    def _expand(self, work: Work) -> bool:
        """Whether the work is a directory whose files are work of their own from now on, which a
        thread of its own lists: nobody is to wait for a file system or server that is slow.

        An error before the first of them fails this attempt, a later one the placement: the files
        before it are not listed again.
        """
        if work.single or not isinstance(work.placement, Transfer):
            return False
        work.current = self._performer.choice(work)
        candidate = work.candidates[work.current]
        transfer = candidate.transfer
        if not is_several(transfer.source, transfer.destination):
            return False
        try:
            files = self._performer.expand(candidate)
            first = next(files, None) if files is not None else None
        except Fault as fault:
            work.has_failed_service = self._performer.note_failure(candidate, fault)
            raise
        if files is not None and first is not None:
            every = itertools.chain((first,), files)
            threading.Thread(target=self._give, args=(work, every), daemon=True).start()
        elif files is not None:
            self._ended(work)
        return files is not None

    def _give(self, work: Work, files: Iterator[Transfer]) -> None:
        """List a directory for all processes, which must not wait for a transfer of this one."""
        begun = time.monotonic()
        try:
            for file in files:
                if not self._is_given(work.number, file):
                    break
                self._queue.wake()
        except Fault as fault:
            self._fail(work, fault, begun)
        except BaseException as error:  # a bug
            self._crash = error
            self._stop.set()
        self._ended(work)
        self._queue.wake()

    def _is_given(self, number: int, file: Transfer) -> bool:
        """Wait for room for a file; False if the worker is to stop."""
        assert self._shared is not None
        self._order.begin(number)
        try:
            while not self._stop.is_set():
                if self._shared.give(number, file, GIVE_S):
                    return True
        except Fault:  # there is never room for it
            self._order.end(number)
            raise
        return False

    def _next_of_others(self) -> Work | None:
        """A file that another process, or this one, has listed."""
        taken = None
        if self._others_may_give() and self._shared is not None:
            taken = self._shared.take()
        return self._work(*taken, single=True) if taken is not None else None

    def _others_may_give(self) -> bool:
        return self._shared is not None and not (self._shared.is_over or self._stop.is_set())

    def _failed_attempt(self, work: Work, fault: Fault, seconds: float) -> None:
        policy = attempts.policy(work.placement, self._settings)
        begun = time.monotonic() - seconds
        way = self._way(work)
        retries = work.attempts - 1
        may_again = attempts.follow_up(fault, retries, policy, has_next=False) is Next.AGAIN
        follower = None if may_again else self._next_candidate(work, fault)
        follow = attempts.follow_up(fault, retries, policy, has_next=follower is not None)
        if follow is Next.AGAIN:
            self._again(work, fault, attempts.delay_s(fault, retries, policy, work.key), begun)
        elif follow is Next.NEXT_CANDIDATE and follower is not None:
            work.current = follower
            self._tell(work, RESCHEDULED, begun, fault=fault, way=way)
            self._queue.add(work)
        else:
            self._fail(work, fault, begun)
            if isinstance(work.placement, Allocate):
                self._fail_followers(work, fault)
            self._ended(work)

    def _again(self, work: Work, fault: Fault, delay_s: float, begun: float) -> None:
        """Try it again: another pair of protocols at once, or the same after a delay.  While a
        service rests that it needs, it can't begin sooner."""
        way, other = self._way(work), self._performer.alternative(work)
        if other is not None:
            work.current = other
            self._tell(work, RESCHEDULED, begun, fault=fault, way=way)
            self._queue.add(work)
            return
        work.tried.clear()
        longer = max(delay_s, self._performer.rest_s(work))
        self._tell(work, RESCHEDULED, begun, fault=fault, delay_s=longer, way=way)
        self._queue.delay(work, time.monotonic() + delay_s)

    def _ended(self, work: Work) -> None:
        """What has waited for it can begin."""
        if self._shared is not None and not work.single and lists_files(work.placement):
            with self._lock:
                self._listings -= 1
                if not self._listings:
                    self._shared.end_giving()
        for one in self._order.end(work.number):
            self._queue.add(one)

    def _fail_followers(self, work: Work, fault: Fault) -> None:
        """What names an allocation that was not made fails for the same reason."""
        for one in self._order.followers(work.number):
            one.attempts += 1
            reason = f"the allocation that it names was not made: {fault.reason}"
            self._fail(one, Fault(fault.kind, reason, transient=False), time.monotonic())
            self._ended(one)

    def _fail(self, work: Work, fault: Fault, begun: float) -> None:
        with self._lock:
            self._failed.add(fault.kind)
        self._tell(work, FAILED, begun, fault=fault, way=self._way(work))

    def _next_candidate(self, work: Work, fault: Fault) -> int | None:
        if not work.candidates:
            return None
        work.ruled_out |= attempts.ruled_out(work.candidates, work.current, fault)
        while True:
            number = attempts.next_candidate(work.candidates, work.current, work.ruled_out)
            if number is None or not self._performer.obstacle(work.candidates[number]):
                return number
            work.ruled_out.add(number)

    def _way(self, work: Work) -> str:
        if work.candidates:
            candidate = work.candidates[work.current]
            return f"{candidate.way} {label(candidate)}"
        return type(work.placement).__name__.lower()

    def _tell(
        self,
        work: Work,
        state: str,
        begun: float,
        *,
        outcome: Outcome | None = None,
        fault: Fault | None = None,
        delay_s: float = 0,
        way: str = "",
    ) -> None:
        seconds = time.monotonic() - begun
        end = AttemptEnd(
            work.key,
            work.placement,
            state,
            work.attempts,
            seconds,
            outcome,
            fault,
            delay_s,
            way,
            work.number,
        )
        with self._lock:
            self._listener.attempt_ended(end)


def lists_files(placement: Placement) -> bool:
    """Whether a placement is of several files, which are listed."""
    return isinstance(placement, Transfer) and is_several(placement.source, placement.destination)


def label(candidate: Candidate) -> str:
    """The protocols of a candidate: "http-file"."""
    transfer = candidate.transfer
    return f"{transfer.source.scheme}-{transfer.destination.scheme}"
