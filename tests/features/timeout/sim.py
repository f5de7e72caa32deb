"""Nodes with a TIMEOUT in simulated worlds of any kind.

O22: a TIMEOUT does not strike early; what it strikes is removed.  With WARN it tells each time
once, and removes nothing.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.queues import Target
from condor_pydagman.features.timeout.commands import Timeout, TimeoutsOfDag
from condor_pydagman.graph.model import Dag
from condor_pydagman.timers import REMOVAL_GRACE_S
from condor_pydagman.vocabulary import (
    ALL_PROCS,
    HELPER_PROC,
    SHARED_CLUSTER,
    EventKind,
    JournalRecord,
)
from tests.oracles import require
from tests.sim.oracles_special import JITTER, happened
from tests.sim.parts import Part

if TYPE_CHECKING:
    from tests.sim.fake_jobs import Cluster
    from tests.sim.process import Process
    from tests.sim.truth import Truth
    from tests.sim.world import World

_WAITS_AGAIN = (
    EventKind.JOB_EVICTED,
    EventKind.JOB_HELD,
    EventKind.SHADOW_EXCEPTION,
    EventKind.JOB_SUSPENDED,
    EventKind.JOB_RECONNECT_FAILED,
)


_WORDS = ("QUEUED", "RUNNING", "TOTAL")


def _limit_in(text: str) -> str:
    """QUEUED, RUNNING or TOTAL, in the text of a record."""
    return text.split("TIMEOUT ")[1].split()[0]


class Clocks(Part):
    """What procs have done since when."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._forget_era()
        self._forget_life()

    def _forget_era(self) -> None:
        self._struck: set[Target] = set()  # clusters, as the log says
        self._told_to_remove: set[Target] = set()
        self._to_remove: dict[Target, float] = {}  # since when, by cluster that took too long

    def _forget_life(self) -> None:
        self._since: dict[tuple[int, int], tuple[str, float]] = {}
        self._submitted: dict[tuple[int, int], float] = {}
        # what has been told to be late, with what, and since when it was so
        self._late: set[tuple[tuple[int, int], str, float]] = set()

    @classmethod
    def add_to_node(cls, dag: Dag, node: int, rng: Random, often: float) -> None:
        if rng.random() < often / 3:
            limits = [rng.choice((0, 30, 100)), rng.choice((0, 30, 100)), rng.choice((0, 60, 300))]
            late = [limit // 2 for limit in limits] if node % 2 else [0, 0, 0]
            ends = limits if node % 3 else [0, 0, 0]  # with WARN alone, or no limit at all
            TimeoutsOfDag.put(dag).timeouts[node] = Timeout(*ends, *late)

    def learn(self, truth: Truth, event: LogEvent, cluster: Cluster | None) -> None:
        struck = event.record == "TIMED_OUT"
        if cluster is None or cluster.asker:
            return
        if struck and not truth.all_ended(cluster):
            truth.given_up.add(cluster.target)
            self._struck.add(cluster.target)

    def started(self, process: Process, *, recovering: bool) -> None:
        if not recovering:
            self._forget_era()
        self._forget_life()

    def input_given(self, process: Process, an_input: inputs.Input) -> None:
        if isinstance(an_input, LogEvent) and an_input.proc > HELPER_PROC:
            self._hear(process, an_input)

    def _hear(self, process: Process, event: LogEvent) -> None:
        job, when = (event.cluster, event.proc), happened(process, event)
        if event.record == JournalRecord.ADOPTED:
            procs = range(event.value) if event.text != SHARED_CLUSTER else (event.proc,)
            for proc in procs:
                self._submitted.setdefault((event.cluster, proc), when)
                self._since.setdefault((event.cluster, proc), ("QUEUED", when))
        elif event.record == "LATE":
            word = _limit_in(event.text)
            if word in ("TOTAL", self._since.get(job, ("", 0.0))[0]):
                self._late.add((job, word, self._begun(job, word)))
        elif event.kind == EventKind.SUBMIT and job not in self._submitted:
            self._submitted[job] = when
            self._since.setdefault(job, ("QUEUED", when))
        elif event.kind in (EventKind.EXECUTE, EventKind.JOB_UNSUSPENDED):
            self._enter(job, "RUNNING", when)
        elif event.kind in _WAITS_AGAIN:
            self._enter(job, "QUEUED", when)

    def _enter(self, job: tuple[int, int], what: str, when: float) -> None:
        if self._since.get(job, ("", 0.0))[0] != what:
            self._since[job] = (what, when)

    def action_asked(self, process: Process, action: do.Action) -> None:
        if isinstance(action, do.RemoveJobs):
            self._told_to_remove.add((action.cluster, action.proc))
        elif isinstance(action, do.AppendJournalRecord) and not self.world.ever_garbled:
            self._not_early(process, action)

    def _not_early(self, process: Process, action: do.AppendJournalRecord) -> None:
        if action.record not in ("TIMED_OUT", "LATE"):
            return
        job, is_late = (action.cluster, action.proc), action.record == "LATE"
        limits = process.engine.run.features["timeout"].of_node(action.node)
        word = _limit_in(action.text)
        limit = limits[_WORDS.index(word) + len(_WORDS) * is_late]
        doing, since = self._since[job][0], self._begun(job, word)
        if word != "TOTAL":
            require(doing == word, f"O22: {job} is {doing}, but {action.text}")
        took = process.now - since
        require(took >= limit - JITTER, f"O22: {job} after {took:.3f} s: {action.text}")
        is_news = not is_late or (job, word, since) not in self._late
        require(is_news, f"O22: {job} is told twice: {action.text}")

    def _begun(self, job: tuple[int, int], word: str) -> float:
        """Since when it does what a limit is for."""
        return self._submitted[job] if word == "TOTAL" else self._since[job][1]

    def input_done(self, process: Process, an_input: inputs.Input) -> None:
        settled = process.idle and process.engine.run.phase in (Phase.RUNNING, Phase.FINISHING)
        if not settled or (0, ALL_PROCS) in self._told_to_remove:
            return
        truth, now = self.world.oracles.truth, self.world.now
        for number in self._struck - self._told_to_remove:
            # one that has failed besides may be about to be removed for that, a little later
            late = now > self._to_remove.setdefault(number, now) + REMOVAL_GRACE_S + JITTER
            over = truth.all_ended(self.world.schedd.clusters[number])
            require(over or not late, f"O22: cluster {number} is not removed")


PART = Clocks
