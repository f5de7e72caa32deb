"""The schedd, asked by a process of its own: DAGMan's loop waits for no call of the bindings.

All those calls hold up the whole process, for minutes where a schedd or a credd hangs.  So a child
of DAGMan makes them, one after another; its answers are a source of the loop like others.  It never
submits for a DAGMan that is dead (see `child`).  A submit whose answer can't come any more is lost:
the job may be in the queue or not.

The child is forked before a large DAG is read, so that it is small.  While there is nothing to ask
it leaves: 200 idle DAGMans on an access point would pay for 200 of them.  A child that is forked
later takes some milliseconds, and copies what a large DAGMan changes meanwhile; there it stays.

A search of the history, which may take minutes, has a child of its own.  What the bindings need for
the ads of a long history they do not give back: so that child lives for one search, and the kernel
ends one that takes too long.

While the machine has no process for a child, requests wait: no node fails for that.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol, TypeVar

from condor_pydagman.adapters import job_history, submit_checks
from condor_pydagman.adapters import schedd_requests as ask
from condor_pydagman.adapters.child import Child, ProcessShortage, watched
from condor_pydagman.adapters.process_usage import memory_kb
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_requests import (
    Listing,
    ListQueue,
    ListRemovable,
    LostReply,
    Remove,
    Request,
    Submit,
    SubmitResult,
    request_message,
    request_of,
    result_message,
    result_of,
)
from condor_pydagman.adapters.submit_checks import FirstList, remarks_of
from condor_pydagman.engine.actions import HoldJobs, SetJobPriorities
from condor_pydagman.engine.inputs import EndedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import CHILD_IDLE_S, GIVE_UP_S, HISTORY_TIMEOUT_S, LOOK_IDLE_S

MAX_ASKED = 2  # submits handed over to the child: one that it makes, and the next
MAX_NEXT_LENGTH = 8000  # characters of that one's description: it has to fit into a socket's buffer
LARGE_BYTES = 150_000_000  # resident memory of a DAGMan whose child stays

Then = Callable[[Any], None]

_DIED = "the process that asks the schedd has died"


class Beside(Protocol):
    """What has something else done by a process of its own; see `helper_process`."""

    def next_deadline(self) -> float | None:
        """When to call `results` though nothing is readable, monotonic seconds."""

    def results(self) -> list[tuple[Then, Any]]:
        """What has been done."""

    def end(self) -> None:
        """Give up."""


B = TypeVar("B", bound=Beside)


class _Call(NamedTuple):
    request: Request
    then: Then


class ScheddProcess:
    """Hands requests over to a child, and brings the results back; see `daemon.ports.Schedd`.

    Args:
        adapter: how the child asks.  Here it only keeps what children have found out.
        clock: monotonic seconds.
    """

    def __init__(self, adapter: ScheddAdapter, clock: Callable[[], float] = time.monotonic) -> None:
        self._adapter = adapter
        self._clock = clock
        self._epoll = select.epoll()
        self._child: Child | None = None
        self._asked: deque[_Call] = deque()  # what the child has been asked, in order
        self._waiting: deque[_Call] = deque()
        self._results: deque[tuple[Then, Any]] = deque()
        self._give_up_at: float | None = None  # of what the child has been asked
        self._leaves_at = 0.0  # CHILD_IDLE_S after the last request that is no look
        self._known: list[Any] = []  # what the child has found out, or has been told
        self._closed = False
        self._search = HistorySearch(adapter, self._epoll, clock)
        self._beside: list[Beside] = []
        self._shortage = ProcessShortage(
            "ask the schedd", clock, lambda text: self._adapter.warn(text)
        )

    def add(self, make: Callable[[select.epoll], B]) -> B:
        """From now on, bring back what this has done, too; returns it."""
        beside = make(self._epoll)
        self._beside.append(beside)
        return beside

    @property
    def ready(self) -> bool:
        """Whether `deliver` has a result at hand."""
        return bool(self._results)

    @property
    def busy(self) -> bool:
        """Whether something that was asked has not been answered yet."""
        return bool(self._asked or self._waiting or self._results or self._search.busy)

    def fileno(self) -> int:
        """Readable when a child has answered or has ended; the same at all times."""
        return self._epoll.fileno()

    def next_deadline(self) -> float | None:
        """When `deliver` is to be called though nothing is readable, monotonic seconds."""
        retry_at = self._shortage.retry_at if self._waiting else None
        besides = (one.next_deadline() for one in self._beside)
        times = (self._give_up_at, retry_at, self._search.next_deadline(), *besides)
        return min((time for time in times if time is not None), default=None)

    def memory(self) -> list[Any]:
        """What the adapter has found out."""
        return self._adapter.memory()

    def start(self) -> None:
        """Fork the child now, before there is much memory that it would share.

        Without a process it is tried again with the first request.
        """
        try:
            self._fork()
        except OSError:
            self._child = None

    def ask(self, request: Request, then: Then) -> None:
        """Hand over a request; `then` is given its result by a later `deliver`."""
        assert not self._closed
        self._waiting.append(_Call(request, then))
        self._send_next()

    def deliver(self) -> None:
        """Call what waits for the results that have come."""
        if self._child is not None:
            self._receive(self._child)
        self._send_next()
        self._results.extend(self._search.results())
        for beside in self._beside:
            self._results.extend(beside.results())
        if self._give_up_at is not None and self._clock() >= self._give_up_at:
            self._give_up()
        for _ in range(len(self._results)):
            if self._closed:  # by a `then` before: the others might ask again
                return
            then, result = self._results.popleft()
            then(result)

    def rest(self) -> None:
        """End the child if it has nothing to do."""
        if not self.busy:
            self._end_child()

    def close(self) -> None:
        """End the children: nothing reaches the schedd any more that is not on its way."""
        self._closed = True
        self._waiting.clear()
        self._search.end()
        for beside in self._beside:
            beside.end()
        self._end_child()

    def _send_next(self) -> None:
        """Have the child do what is next, unless it has enough to do; the removal of all jobs waits
        for that GIVE_UP_S at most."""
        while self._waiting and not self._closed and self._has_room():
            child = self._child or self._shortage.started(self._fork)
            if child is None:
                return
            call = self._waiting.popleft()
            self._asked.append(call)
            message = [request_message(call.request), self._news()]
            child.send(message, self._idle_s(call.request))
        if self._give_up_at is None and any(_removes_all(call.request) for call in self._waiting):
            self._give_up_at = self._clock() + GIVE_UP_S

    def _idle_s(self, request: Request) -> float:
        """Seconds that the child is to wait for another request after this one."""
        now = self._clock()
        if not isinstance(request, ListQueue):
            self._leaves_at = now + CHILD_IDLE_S
        return max(LOOK_IDLE_S, self._leaves_at - now)

    def _has_room(self) -> bool:
        """Whether the child is to be asked what is next.

        It has the next submit at hand while it makes one: to wait for it would take about a tenth
        of the time of a submission.
        """
        if not self._asked:
            return True
        following = self._waiting[0].request
        return (
            len(self._asked) < MAX_ASKED
            and isinstance(self._asked[0].request, Submit)
            and isinstance(following, Submit)
            and len(following.text) <= MAX_NEXT_LENGTH
            and self._known == self._adapter.memory()
        )

    def _news(self) -> list[Any] | None:
        """What the child does not know yet; None if it knows all."""
        known, self._known = self._known, self._adapter.memory()
        return None if known == self._known else self._known

    def _fork(self) -> Child:
        serving = Child(_Server(self._adapter), stays=_has_large_parent)
        self._child = child = watched(serving, self._epoll)
        self._known = self._adapter.memory()
        return child

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            self._epoll.unregister(child.fileno())
            child.kill()

    def _receive(self, child: Child) -> None:
        try:
            messages = child.receive()
        except EOFError:
            self._end_child()
            self._on_end(idle=child.idle)
            return
        for message in messages:
            call = self._asked.popleft()
            self._give_up_at = None
            if "memory" in message:
                self._known = message["memory"]
                self._adapter.remember(self._known)
            for text in message.get("warned", ()):
                self._adapter.warn(text)
            self._send_next()  # the child need not wait for what comes of this
            self._answered(call, result_of(call.request, message))

    def _on_end(self, *, idle: bool) -> None:
        """The child is gone.  If it was `idle`, it has not taken what it was asked last."""
        if idle:
            self._waiting.extendleft(reversed(self._asked))
            self._asked.clear()
        self._lose_asked(_DIED)
        self._send_next()

    def _lose_asked(self, reason: str) -> None:
        """The child answers nothing more; how far it came is not known."""
        asked, self._asked, self._give_up_at = self._asked, deque(), None
        for call in asked:
            self._answered(call, _lost(call.request, reason))

    def _give_up(self) -> None:
        """All jobs are to be removed: what hangs must not keep that back."""
        self._end_child()
        self._lose_asked("given up, as the jobs are to be removed")
        self._send_next()

    def _answered(self, call: _Call, result: Any) -> None:
        request, then = call
        if isinstance(request, ListQueue) and request.history and isinstance(result, Listing):
            self._search.want(result, then)
            return
        self._results.append((then, result))


class _Server:
    """Obeys requests in the child."""

    def __init__(self, adapter: ScheddAdapter) -> None:
        self._adapter = adapter
        self._warned: list[str] = []

    def __call__(self, message: list[Any]) -> dict[str, Any]:
        adapter = self._adapter
        adapter.warn = self._warned.append
        wanted, news = message
        if news is not None:
            adapter.remember(news)
        memory = adapter.memory()
        answer = result_message(obey(adapter, request_of(wanted)))
        if memory != adapter.memory():
            answer["memory"] = adapter.memory()
        if self._warned:
            answer["warned"] = self._warned
            self._warned = []
        return answer


def _removes_all(request: Request) -> bool:
    return isinstance(request, (ListRemovable, Remove)) and not request.cluster


def _lost(request: Request, reason: str) -> Any:
    """What becomes of a request that was handed over and is not answered."""
    if isinstance(request, Submit):
        return SubmitResult(LostReply(reason))
    return PoolError(reason, transient=True)


def _has_large_parent() -> bool:
    """Whether this is the child of a DAGMan with so much memory that another fork is dear."""
    try:
        return memory_kb(os.getppid())[0] << 10 > LARGE_BYTES
    except OSError:
        return False


def obey(adapter: ScheddAdapter, request: ask.Request) -> Any:
    """Perform a request; returns the result, or the PoolError that says why there is none.

    The history part of a ListQueue is done by `history_process`.
    """
    try:
        return _HANDLERS[type(request)](adapter, request)
    except PoolError as error:
        return error


def _submit(adapter: ScheddAdapter, wanted: ask.Submit) -> ask.SubmitResult:
    lines: list[str] = []
    text, directory, checks = wanted.text, wanted.directory, wanted.checks
    outcome: ask.Accepted | ask.FirstCommonInput | PoolError
    try:
        if checks.one_proc and adapter.procs_of(text, directory) > 1:
            raise PoolError(ask.MULTIPLE_PROCS, transient=False)
        inspect = partial(_check_description, text, checks, lines)
        with _environment(wanted.environment):
            outcome = ask.Accepted(*adapter.submit(text, directory, inspect))
    except FirstList as first:
        outcome = ask.FirstCommonInput(first.token)
    except PoolError as error:
        outcome = error
    except ValueError as error:  # a value has no end
        outcome = PoolError(str(error), transient=False)
    except OSError as error:
        reason = f"can't read the submit file: {error.strerror or error}"
        outcome = PoolError(reason, transient=False)
    return ask.SubmitResult(outcome, lines)


@contextlib.contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    """Within, these variables are set as well."""
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _check_description(text: str, checks: ask.Checks, lines: list[str], description: Any) -> None:
    """Raise and warn in the cases in which stock DAGMan does."""
    if checks.by_condor_submit:
        submit_checks.check_executable(description)
        by, before = "condor_submit", "From submit: WARNING: "
    else:
        submit_checks.check_common_input(description, checks.common_input)
        by, before = "DAGMAN", "Submit warning: Submit:0:"
    remarks = remarks_of(description, text, written=checks.written, name=checks.name, by=by)
    lines += [before + line.removeprefix("WARNING: ") for line in remarks]


_HANDLERS: dict[type, Callable[[ScheddAdapter, Any], Any]] = {
    ask.Submit: _submit,
    ask.ListRemovable: lambda adapter, wanted: adapter.removable(
        wanted.cluster, spare_services=wanted.spare_services, proc=wanted.proc
    ),
    ask.Remove: lambda adapter, wanted: adapter.remove(
        wanted.reason,
        wanted.cluster,
        spare_services=wanted.spare_services,
        ended=wanted.ended,
        proc=wanted.proc,
        force=wanted.force,
    ),
    HoldJobs: lambda adapter, wanted: adapter.hold(
        wanted.cluster, wanted.proc, wanted.reason, release=wanted.release
    ),
    SetJobPriorities: lambda adapter, wanted: adapter.prioritize(wanted.priority, wanted.jobs),
    ask.ListQueue: lambda adapter, _: adapter.listing(),
    ask.ReadAttribute: lambda adapter, wanted: adapter.attribute(wanted.cluster, wanted.name),
    ask.ReadOwnAd: lambda adapter, _: adapter.own_ad(),
    ask.EditOwnAd: lambda adapter, wanted: adapter.publish(
        wanted.attributes, durable=wanted.durable
    ),
}


class HistorySearch:
    """Makes listings of the queue whole, one after another.

    Args:
        adapter: how the child asks.
        epoll: becomes readable when a child has answered or has ended.
        clock: monotonic seconds.
    """

    def __init__(
        self, adapter: ScheddAdapter, epoll: select.epoll, clock: Callable[[], float]
    ) -> None:
        self._adapter = adapter
        self._epoll = epoll
        self._patience = job_history.Patience()
        self._waiting: deque[tuple[Listing, Then]] = deque()
        self._child: Child | None = None
        self._results: list[tuple[Then, Any]] = []
        self._shortage = ProcessShortage(
            "search the history", clock, lambda text: self._adapter.warn(text)
        )

    @property
    def busy(self) -> bool:
        """Whether a listing is still to be made whole."""
        return bool(self._waiting or self._results)

    def next_deadline(self) -> float | None:
        """When to call `results` though no child has answered, monotonic seconds."""
        return self._shortage.retry_at if self._waiting else None

    def want(self, listing: Listing, then: Then) -> None:
        """Add what the history has to a listing of the queue."""
        if not self._adapter.cluster:  # there is no run that the history could know
            self._results.append((then, listing))
            return
        self._waiting.append((listing, then))
        if len(self._waiting) == 1:
            self._begin()

    def results(self) -> list[tuple[Then, Any]]:
        """The listings that have become whole."""
        if self._child is not None:
            self._receive(self._child)
        elif self._waiting:
            self._begin()
        results, self._results = self._results, []
        return results

    def end(self) -> None:
        """Give up."""
        self._waiting.clear()
        self._end_child()

    def _begin(self) -> None:
        self._child = child = self._shortage.started(self._fork)
        if child is not None:
            child.send(None)

    def _fork(self) -> Child:
        return watched(Child(self._serve, alarm_s=HISTORY_TIMEOUT_S), self._epoll)

    def _serve(self, _: None) -> dict[str, Any]:
        try:
            return {"value": self._adapter.ended_jobs()}
        except PoolError as error:
            return result_message(error)
        except Exception as error:  # no memory: it is told, whatever it is
            reason = " ".join(str(error).split()) or type(error).__name__
            return result_message(PoolError(reason, transient=True))

    def _receive(self, child: Child) -> None:
        try:
            messages = child.receive()
        except EOFError:
            self._end_child()
            reason = "its answer ends in the middle"
            if child.overdue:
                reason = f"no answer within {HISTORY_TIMEOUT_S:.0f} s"
            self._found(PoolError(reason, transient=True))
            return
        for message in messages:
            self._end_child()
            if "error" in message:
                self._found(PoolError(message["error"][1], transient=True))
            else:
                self._found([EndedJob(*job) for job in message["value"]])

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            self._epoll.unregister(child.fileno())
            child.kill()

    def _found(self, found: list[EndedJob] | PoolError) -> None:
        listing, then = self._waiting.popleft()
        verdict = self._patience.judge(found)
        if isinstance(verdict, str):
            self._adapter.warn(verdict)
            verdict = []
        whole = verdict if isinstance(verdict, PoolError) else listing._replace(ended=verdict)
        self._results.append((then, whole))
        if self._waiting:
            self._begin()
