"""The schedd as a simulated DAGMan asks it: requests arrive in order, and some take their time.

A request reaches the schedd at once or after a while; its answer comes at once, after a while, or
(but for a submit, see FakeSchedd) as an error long after.  What has not reached the schedd when
DAGMan dies never does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from condor_pydagman.adapters import schedd_requests as ask
from condor_pydagman.engine import actions as do
from condor_pydagman.engine.actions import SubmitJob, SubmitNode, SubmitTogether
from condor_pydagman.errors import PoolError
from condor_pydagman.vocabulary import NodeKind
from tests.sim.ports import SCHEDD

if TYPE_CHECKING:
    from tests.sim.process import Process
    from tests.sim.world import World

MAX_DELAY_S = 30.0  # seconds that a slow request or answer takes
REPLY_TIMEOUT_S = 90.0  # seconds after which an answer counts as lost


class FakeRequests:
    """The port of one DAGMan process.

    Attributes:
        pending: requests that have not been answered.
    """

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process
        self._direct = world.rng.random() < 0.5  # answers are at hand without a wait
        self._answers: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._free_at = 0.0  # when the schedd has done all that it has been asked
        self._closed = False
        self.pending = 0
        self._handlers: dict[type, Callable[[Any], Any]] = {
            ask.ListRemovable: self._list_removable,
            ask.ListQueue: self._list_queue,
            do.HoldJobs: lambda wanted: world.schedd.hold(wanted),
            do.SetJobPriorities: lambda _: world.schedd.prioritize(),
            ask.ReadAttribute: lambda wanted: world.schedd.provisioner_state(wanted.cluster),
            ask.ReadOwnAd: lambda _: world.schedd.own_ad.values(),
            ask.EditOwnAd: self._edit,
        }

    @property
    def ready(self) -> bool:
        return self._direct and bool(self._answers)

    @property
    def busy(self) -> bool:
        return self.pending > 0

    @property
    def readable(self) -> bool:
        """Whether there are answers."""
        return bool(self._answers)

    def rest(self) -> None:
        assert not self.pending

    def fileno(self) -> int:
        return -1 if self._direct else SCHEDD

    def next_deadline(self) -> float | None:
        return None

    def ask(self, request: ask.Request, then: Callable[[Any], None]) -> None:
        assert not self._closed
        world = self._world
        world.boundary()
        self.pending += 1
        obey = self._prepared(request)
        slow = world.hit("slow_schedd")
        begin = max(world.now, self._free_at) + (
            world.rng.uniform(0.0, MAX_DELAY_S) if slow else 0.0
        )
        self._free_at = begin
        if begin <= world.now:
            self._obey(request, obey, then)
        else:
            world.at(begin, lambda: self._obey(request, obey, then))

    def deliver(self) -> None:
        while self._answers and not self._closed:
            then, result = self._answers.popleft()
            self.pending -= 1
            then(result)
            if not self._closed:
                self._world.boundary()

    def close(self) -> None:
        self._closed = True

    def _obey(
        self, request: ask.Request, obey: Callable[[], Any], then: Callable[[Any], None]
    ) -> None:
        world = self._world
        if self._closed or world.process is not self._process:
            return
        result = obey()
        wait = 0.0
        if not isinstance(request, ask.Submit) and world.hit("lost_answer"):
            result, wait = PoolError("no answer", transient=True), REPLY_TIMEOUT_S
        elif world.hit("slow_schedd"):
            wait = world.rng.uniform(0.0, MAX_DELAY_S)
        if isinstance(request, ask.ListQueue) and request.history:
            wait += world.rng.choice((0.0, 0.0, MAX_DELAY_S))  # searched aside: others go on
            self._answer_at(world.now + wait, then, result)
        else:
            self._free_at = max(self._free_at, world.now + wait)
            self._answer_at(self._free_at, then, result)

    def _answer_at(self, time: float, then: Callable[[Any], None], result: Any) -> None:
        if time <= self._world.now:
            self._answers.append((then, result))
        else:
            self._world.at(time, lambda: self._answers.append((then, result)))

    def _prepared(self, request: ask.Request) -> Callable[[], Any]:
        """What obeys the request later; it is judged by what DAGMan knows now."""
        world, process = self._world, self._process
        if isinstance(request, ask.Submit):
            if isinstance(request.action, SubmitTogether):
                return self._prepared_together(request.action.nodes)
            if isinstance(request.action, SubmitJob):
                return self._prepared_job(request.action)
            action = request.action
            limits = world.oracles.limits_at_submit(action.node)
            world.oracles.special.submit_asked(process, action.node)
            kind, name = NodeKind(process.dag.kinds[action.node]), process.dag.names[action.node]
            if world.workload.outcomes.common_input(name) and not request.checks.common_input:
                return lambda: ask.SubmitResult(ask.FirstCommonInput("the list"))
            submit = world.schedd.submit
            return lambda: ask.SubmitResult(submit(action, name, kind, limits))
        if isinstance(request, ask.Remove):
            heard = world.oracles.ends_seen()
            return lambda: self._remove(request, heard)
        handler = self._handlers[type(request)]

        def obey() -> Any:
            if world.schedd.down:
                return PoolError("the schedd is down", transient=True)
            return handler(request)

        return obey

    def _prepared_together(self, actions: Sequence[SubmitNode]) -> Callable[[], Any]:
        world, process = self._world, self._process
        nodes = [process.dag.names[action.node] for action in actions]
        limits = [world.oracles.limits_at_submit(action.node) for action in actions]
        for action in actions:
            world.oracles.special.submit_asked(process, action.node)
        if any(map(world.workload.outcomes.common_input, nodes)):
            return lambda: ask.SubmitResult(ask.FirstCommonInput("the list"))
        submit = world.schedd.submit_together
        return lambda: ask.SubmitResult(submit(actions, nodes, limits))

    def _prepared_job(self, action: SubmitJob) -> Callable[[], Any]:
        world, process = self._world, self._process
        for one in world.oracles.submissions(action):
            world.oracles.special.submit_asked(process, one.node)
        return lambda: ask.SubmitResult(world.schedd.submit_job(action))

    def _remove(self, request: ask.Remove, heard: frozenset[tuple[int, int]]) -> PoolError | None:
        error = self._world.schedd.remove(request, self._world.era, heard)
        if error:
            self._world.trace("not removed", error)
        return PoolError(error, transient=True) if error else None

    def _list_removable(self, request: ask.ListRemovable) -> Any:
        return self._world.schedd.removable(request, self._world.era)

    def _list_queue(self, request: ask.ListQueue) -> ask.Listing:
        schedd, era = self._world.schedd, self._world.era
        ended = schedd.ended(era) if request.history else ()
        return ask.Listing(schedd.listed(era), ended, schedd.own_ad.limits())

    def _edit(self, request: ask.EditOwnAd) -> PoolError | None:
        if self._world.hit("no_edit"):
            return PoolError("it may not be edited", transient=True)
        self._world.schedd.own_ad.edit(request.attributes)
        return None
