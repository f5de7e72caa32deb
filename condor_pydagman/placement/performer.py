"""Makes attempts at placements: the turn, the way, the space, and what is told of services."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.request_text import is_pattern_to_file
from condor_pydagman.data_requests.requests import Allocate, Release, Transfer
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.allocations import Space
from condor_pydagman.placement.object_store import store_of
from condor_pydagman.placement.rules.attempts import OF_THE_WAY, Candidate
from condor_pydagman.placement.rules.services import Service, service_of
from condor_pydagman.placement.rules.ways import alternatives, names_in_order, no_way
from condor_pydagman.placement.turns import Turn, Turns
from condor_pydagman.placement.way import Outcome, Progress, Surroundings, Way
from condor_pydagman.placement.work import Work

_TAKEN_BYTES = 16 << 20  # more than the buffers on the way to a server hold


class Performer:
    """What the threads of a worker share.

    Args:
        surroundings: of every attempt.
        ways: by name, in the order in which they are looked at unless a request says otherwise.
        turns: limits over the access point.
        space: allocations.
    """

    def __init__(
        self, surroundings: Surroundings, ways: Sequence[Way], turns: Turns, space: Space
    ) -> None:
        self.surroundings = surroundings
        self._ways = {way.name: way for way in ways}
        self._turns = turns
        self.space = space
        self._first: dict[tuple[object, ...], tuple[str, ...]] = {}
        self._services: dict[tuple[object, ...], _Services] = {}
        self._streams = 0
        self._count = threading.Lock()
        self._again = threading.Lock()

    def for_worker(self, count: int, stop: threading.Event) -> Performer:
        """The same for a worker with so many threads, which ends when `stop` is set."""
        settings = self.surroundings.settings._replace(max_streams=count)
        surroundings = self.surroundings._replace(settings=settings, must_stop=stop.is_set)
        return Performer(surroundings, list(self._ways.values()), self._turns, self.space)

    def candidates(self, transfer: Transfer) -> list[Candidate]:
        """The ways that may be tried, for the URLs' own protocols and then for the alternatives.

        The first of them can take the transfer; of those behind it only `obstacle` knows, since to
        ask all plugins takes a second, and they are seldom needed.

        Raises:
            Fault: none can take it; it says why of each.
        """
        if transfer.alt_protocols:
            return self._all_candidates(transfer)
        ends = _ends_of(transfer)
        known = self._first.get(ends)
        if known is None:
            found = self._all_candidates(transfer)
            known = self._first[ends] = tuple(one.way for one in found)
        return [Candidate(transfer, 0, name) for name in known]

    def _all_candidates(self, transfer: Transfer) -> list[Candidate]:
        names = names_in_order(transfer, self.surroundings.settings.ways)
        first: Fault | None = None
        pairs = list(enumerate(alternatives(transfer)))
        for number, pair in pairs:
            looked = []
            for place, name in enumerate(names):
                looked.append((name, self._ways[name].obstacle(pair, self.surroundings)))
                if not looked[-1][1]:
                    later = [Candidate(pair, number, one) for one in names[place:]]
                    rest = [
                        Candidate(two, n, one) for n, two in pairs[number + 1 :] for one in names
                    ]
                    return later + rest
            first = first or no_way(pair, looked)
        assert first is not None
        raise first

    def obstacle(self, candidate: Candidate) -> str:
        """Why a way can't take the transfer; '' if it can."""
        return self._ways[candidate.way].obstacle(candidate.transfer, self.surroundings)

    def expand(self, candidate: Candidate) -> Iterator[Transfer] | None:
        """The files of a directory or pattern; None if the way takes it as it is."""
        way = self._ways[candidate.way]
        return way.expand(candidate.transfer, self.surroundings)

    @contextlib.contextmanager
    def stream(self, has_other: Callable[[Work], bool]) -> Iterator[Stream]:
        """What one thread has for itself, see `Stream`; the last one to end closes what they
        share."""
        stream = Stream(self, has_other)
        with self._count:
            self._streams += 1
        try:
            yield stream
        finally:
            stream.leave_turn()
            for way in self._ways.values():
                way.thread_ends()
            with self._count:
                self._streams -= 1
                if self._streams == 0:
                    self.space.close()

    def turn(
        self, work: Work, candidate: Candidate, has_other: Callable[[Work], bool]
    ) -> Turn | None:
        """Wait for a turn; None if a service rests, and another candidate need not wait as long,
        which is the present one then, or there is other work.

        Raises:
            Fault: the worker is to stop, or the limits can't be kept.
        """
        return self._turns.take(
            self.services(candidate),
            priority=work.placement.priority,
            size=work.progress.total,
            progress=work.progress,
            elsewhere=lambda: self._goes_elsewhere(work) or has_other(work),
        )

    def _goes_elsewhere(self, work: Work) -> bool:
        """Whether, instead of the present candidate, which waits, another one is to be tried: also
        while somebody else tries a service of it that has rested."""
        before, work.current = work.current, self.choice(work, or_tried=True)
        return work.current != before

    def choice(self, work: Work, *, or_tried: bool = False) -> int:
        """The candidate to try now: the present one, or while a service of it is left alone, the
        first of another pair of protocols whose services have rested, or have sooner.

        `or_tried`: see `Turns.rested_at`.
        """
        if not _has_pairs(work.candidates):
            return work.current
        present = work.candidates[work.current]
        best, best_end = work.current, self._rested_at(present, or_tried)
        if best_end:
            for number, one in self._of_pairs(work, {present.pair}):
                end = self._rested_at(one, or_tried)
                if end < best_end:
                    best, best_end = number, end
                if not end:
                    break
        return best

    def _of_pairs(self, work: Work, without: set[int]) -> Iterator[tuple[int, Candidate]]:
        """The first candidate of each pair of protocols that may be tried, but for some pairs."""
        for number, one in enumerate(work.candidates):
            if one.pair not in without and number not in work.ruled_out and not self.obstacle(one):
                without = {*without, one.pair}
                yield number, one

    def alternative(self, work: Work) -> int | None:
        """After a fault: the candidate of another pair of protocols that is to be tried at once,
        as a service of the present one fails; None if there is none that has not been tried since
        the last delay."""
        if not _has_pairs(work.candidates):
            return None
        work.tried.add(work.candidates[work.current].pair)
        if not work.has_failed_service and not self._rested_at(work.candidates[work.current]):
            return None
        others = self._of_pairs(work, work.tried)
        return next((number for number, one in others if not self._rested_at(one)), None)

    def rest_s(self, work: Work) -> float:
        """Seconds until the services of the candidate that is next have rested."""
        if not work.candidates:
            return 0
        end = self._rested_at(work.candidates[self.choice(work)])
        return max(end - time.time(), 0)

    def _rested_at(self, candidate: Candidate, or_tried: bool = False) -> float:
        return self._turns.rested_at(self.services(candidate), or_tried=or_tried)

    def services(self, candidate: Candidate) -> tuple[Service, ...]:
        """Those of both ends, without this machine."""
        return self._services_of(candidate.transfer).there

    def _services_of(self, transfer: Transfer) -> _Services:
        source, destination = transfer[:2]
        key = (
            *(source.scheme, source.host, source.port),
            *(destination.scheme, destination.host, destination.port),
            transfer.credential,
        )
        found = self._services.get(key)
        if found is None:
            ends = self._service(source, transfer), self._service(destination, transfer)
            found = self._services[key] = _Services(*ends, tuple(filter(None, ends)))
        return found

    def _service(self, url: Url, transfer: Transfer) -> Service | None:
        if url.is_local:
            return None
        store = store_of(url, self.surroundings.environment, transfer.credential)
        return service_of(url, store)

    def perform(self, work: Work) -> Outcome:
        """One attempt, during a turn.

        Raises:
            Fault: it failed.
        """
        if isinstance(work.placement, Transfer):
            return self._transfer(work, work.placement)
        return self._manage_space(work.placement, work.progress)

    def allocate_again(self, placement: Transfer, progress: Progress) -> None:
        """Allocate what was released when the DAG ended, and the transfer needs.

        Raises:
            Fault: there is no room.
        """
        with self._again:
            for one in self.space.given_back(placement):
                self.surroundings.say(
                    f"allocates {one.allocation_id} again, which was released when the DAG ended"
                )
                self._manage_space(one, progress)

    def _manage_space(self, placement: Allocate | Release, progress: Progress) -> Outcome:
        if isinstance(placement, Allocate):
            return self.space.allocate(placement, self.surroundings, progress)
        return self.space.release(placement, self.surroundings, progress)

    def _transfer(self, work: Work, placement: Transfer) -> Outcome:
        candidate = work.candidates[work.current]
        way = self._ways[candidate.way]
        source, destination, services = self._services_of(candidate.transfer)
        working = _Working(source, destination, self._turns)
        work.progress.on_data = working.note if services else None
        try:
            if not placement.allocation_id:
                outcome = way.perform(candidate.transfer, self.surroundings, work.progress)
            else:
                with self.space.reserved(placement, work.progress) as settle:
                    outcome = way.perform(candidate.transfer, self.surroundings, work.progress)
                    settle(outcome.size)
        except Fault as fault:
            work.has_failed_service = self.note_failure(candidate, fault, working.services)
            if fault.kind in OF_THE_WAY and not fault.transient:
                self._first.pop(_ends_of(placement), None)  # the next one may find another way
            raise _with_pattern(fault, candidate.transfer) from None
        for service in services:
            self._turns.service_worked(service)
        return outcome

    def note_failure(
        self, candidate: Candidate, fault: Fault, working: Sequence[Service] = ()
    ) -> bool:
        """Let the service rest whose fault it is, but for those that were seen `working`; whether
        there is one."""
        failed = _failed(fault, self.services(candidate), working)
        if failed is not None:
            self._turns.service_failed(failed, fault.retry_after_s)
        return failed is not None


def _failed(
    fault: Fault, services: Sequence[Service], working: Sequence[Service]
) -> Service | None:
    """The service that caused the fault, unless it has worked since."""
    if not fault.host or not fault.transient or not services:
        return None
    named = [one for one in services if fault.host in (one.server, *one.names)]
    if not named:  # to which one of them has redirected
        return Service(services[0].scheme, fault.host)
    return next((one for one in named if one not in working), None)


def _with_pattern(fault: Fault, transfer: Transfer) -> Fault:
    """The fault, with what is wrong if the source is meant as a pattern and is taken for a name."""
    if fault.kind is not FaultKind.MISSING or not is_pattern_to_file(transfer):
        return fault
    reason = (
        f"{fault.reason}; {transfer.source.name} is taken for the name of one file, since"
        f" {transfer.destination} is no directory: end it in / for all files that match"
    )
    return Fault(fault.kind, reason, transient=fault.transient)


def _has_pairs(candidates: Sequence[Candidate]) -> bool:
    """Whether there are several pairs of protocols."""
    return bool(candidates) and candidates[0].pair != candidates[-1].pair


class _Working:
    """What is seen of services while a transfer runs: one that gives or takes data works, whatever
    becomes of this file."""

    def __init__(self, source: Service | None, destination: Service | None, turns: Turns) -> None:
        self.services: list[Service] = []
        self._turns = turns
        self._signs = [(1, source), (_TAKEN_BYTES, destination)]

    def note(self, moved: int) -> bool:
        """So many bytes were moved; whether no more need be told."""
        while self._signs and moved >= self._signs[0][0]:
            service = self._signs.pop(0)[1]
            if service is not None:
                self.services.append(service)
                self._turns.service_worked(service)
        return not self._signs


class _Services(NamedTuple):
    """The services of a transfer."""

    # None for this machine
    source: Service | None
    destination: Service | None
    there: tuple[Service, ...]  # both, without this machine


def _ends_of(transfer: Transfer) -> tuple[object, ...]:
    """What of a transfer without alternatives decides which ways can take it."""
    source, destination = transfer.source, transfer.destination
    schemes = source.scheme, destination.scheme
    directories = source.is_directory, destination.is_directory
    has_user = bool(source.user or destination.user)
    return schemes, directories, source[2:4], destination[2:4], has_user, transfer.ways


class Stream:
    """A thread of a worker: it keeps its turn from one file to the next of the same services.

    Args:
        has_other: whether there is something to do instead of work whose service rests.
    """

    def __init__(self, performer: Performer, has_other: Callable[[Work], bool]) -> None:
        self._performer = performer
        self._has_other = has_other
        self._turn: Turn | None = None
        self._of: object = None

    def perform(self, work: Work) -> Outcome | None:
        """One attempt, as soon as it is its turn; None if its service rests and there is other
        work.

        Raises:
            Fault: it failed.
        """
        if not isinstance(work.placement, Transfer):
            # one that waits for space must not keep a turn from what will release space
            self.leave_turn()
            return self._performer.perform(work)
        if self._performer.space.given_back(work.placement):
            self.leave_turn()
            self._performer.allocate_again(work.placement, work.progress)
        work.current = self._performer.choice(work)
        while True:
            candidate = work.candidates[work.current]
            of = (self._performer.services(candidate), work.placement.priority)
            if self._turn is not None and self._of == of and self._turn.renew():
                break
            self.leave_turn()
            self._turn = self._performer.turn(work, candidate, self._has_other)
            self._of = of
            if self._turn is not None:
                break
            if work.candidates[work.current] is candidate:
                return None
        return self._performer.perform(work)

    def leave_turn(self) -> None:
        """Let others have the turn."""
        if self._turn is not None:
            self._turn.close()
            self._turn = None
