"""A DAG with BUNDLE commands under test: what stands for the process that makes bundles, for the
schedd, and for the jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import Answered, JobSubmitted, LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.features.bundle.messages import (
    HELPER,
    Collect,
    Collected,
    Forget,
    Forgotten,
    Look,
    LookAt,
    LookedAt,
    Prepare,
    Prepared,
    SlotsSeen,
    SlotsWanted,
)
from condor_pydagman.features.bundle.run import Bundles
from condor_pydagman.vocabulary import EventKind
from tests import make

BAG = "A B C D\nBUNDLE b SIZE 4 ALL_NODES"
ALL = "ABCD"
BY_A_PERSON = 1  # HoldReasonCode


class BundledDag(make.EngineHarness):
    """Answers what is asked about bundles; the schedd takes their jobs when a test says so.

    Attributes:
        kinds: by name of a node, its kind; by itself 'k'.
        is_live: whether a test tells what is known of bundles that run; else that is nothing.
    """

    kinds: Mapping[str, str] = {}
    is_live = False

    @property
    def bundles(self) -> Bundles:
        found = self.engine.run.features["bundle"]
        assert isinstance(found, Bundles)
        return found

    def happens(self, *what: Any) -> list[do.Action]:
        """As `tell`, and all is settled that follows."""
        self.tell(*what)
        return self.settle()

    def answers(self, request: Any) -> list[Any]:
        if isinstance(request, LookAt):
            nodes = (*request.followers, *request.nodes)
            return [LookedAt([self._look(one.node) for one in nodes])]
        if isinstance(request, Prepare):
            return [Prepared(request.number, f"job {request.number}")]
        if isinstance(request, Collect) and not (request.why or self.is_live):
            return [Collected(request.number, "")]
        if isinstance(request, SlotsWanted):
            return [SlotsSeen(8)]
        return [Forgotten(request.number)] if isinstance(request, Forget) else []

    def _look(self, node: int) -> Look:
        return Look(node, self.kinds.get(self.dag.names[node], "k"), is_live=self.is_live)

    def answered(self, number: int, cluster: int = 0, **why: Any) -> list[do.Action]:
        """The schedd answers the submission of a bundle's job."""
        self.tell(Answered(HELPER, JobSubmitted(number, cluster, **why)))
        return self.settle()

    def taken(self, number: int, cluster: int) -> list[do.Action]:
        """The schedd takes the job of a bundle, and it runs."""
        self.answered(number, cluster)
        self.tell(bundle_submit(number, cluster), make.of_job(EventKind.EXECUTE, cluster))
        return self.settle()

    def ends(self, cluster: int, value: int = 0) -> list[do.Action]:
        """The job of a bundle ends."""
        self.tell(make.terminated(cluster, value=value))
        return self.settle()

    def home(self, results: Mapping[str, int], suspects: str = "") -> list[do.Action]:
        """Results of the bundle are brought home which is to be collected: by name, the value."""
        (asked,) = self.asked(Collect)
        self.tell(Collected(asked.number, "events", [1.0] * len(results)))
        (written,) = self.asked(do.AppendEvents)
        assert written.text == "events"
        self.tell(*self.told(asked, results, suspects))
        return self.settle()

    def told(
        self, asked: Collect, results: Mapping[str, int], suspects: str = ""
    ) -> list[LogEvent]:
        """What the log has of a bundle that has ended."""
        numbers = {
            self.dag.names[node]: number
            for number, node in enumerate(self.bundles.bundles[asked.number].members, 1)
            if node in asked.nodes
        }
        events = [
            event
            for name, value in results.items()
            if name in numbers
            for event in task(asked.cluster, numbers[name], name, value)
        ]
        return [*events, unbundled(asked.number, f"{asked.why}\n{suspects}")]

    def bundle(self, cluster: int = 7, number: int = 1) -> None:
        """Make the bundle of all nodes, and let its job run."""
        self.settle()
        self.taken(number, cluster)

    def replayed(self) -> BundledDag:
        """Another engine that has read the log so far has come to the same."""
        other = BundledDag(self.dag, self.engine.run.config)
        other.kinds, other.now = self.kinds, self.now
        other.begin(recovering=True)
        other.tell(*self.log)
        for name in self.dag.names:
            live, again = self.state(name), other.state(name)
            both = live in (State.SUBMITTING, State.SUBMITTED) and again is State.SUBMITTING
            assert both or make.LOGGED.get(live, live) == again, (name, other.states())
        assert self.engine.run.nodes.retries == other.engine.run.nodes.retries
        assert self.engine.run.nodes.values == other.engine.run.nodes.values
        mine, its = self.bundles.bundles, other.bundles.bundles
        known = {one: its[one].members for one in its if its[one].cluster}
        assert {one: mine[one].members for one in known} == known
        return other

    def killed(self, queue: Mapping[int, int] | None = None) -> BundledDag:
        """Another engine that recovers, and learns of bundles in the queue: number and cluster."""
        other = self.replayed()
        other.tell(inputs.LogCaughtUp())
        assert other.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
        jobs = [queued(number, cluster) for number, cluster in (queue or {}).items()]
        other.tell(inputs.QueueListed([*jobs, *other.queue()]))
        other.settle()
        return other


def begun(text: str = BAG, **how: Any) -> BundledDag:
    """The DAG has begun, and nothing has been answered; `how` are attributes of BundledDag."""
    harness = BundledDag(make.dag(text), make.QUIET)
    for name, value in how.items():
        setattr(harness, name, value)
    harness.bundles.on_slots(SlotsSeen(8))
    harness.begin()
    return harness


def settled(text: str = BAG, **how: Any) -> BundledDag:
    """The same, and all has been answered but by the schedd."""
    harness = begun(text, **how)
    harness.settle()
    return harness


def running(text: str = BAG, **how: Any) -> BundledDag:
    """The same, and the schedd has taken the bundle of all nodes, which runs as cluster 7."""
    harness = begun(text, **how)
    harness.bundle()
    return harness


def bundle_submit(number: int, cluster: int) -> LogEvent:
    """The job of a bundle is in the queue."""
    return make.submit(f"bundle {number}", cluster)


def held(cluster: int, text: str) -> LogEvent:
    """A person has put a job on hold."""
    return LogEvent(EventKind.JOB_HELD, cluster, 0, 0, value=BY_A_PERSON, text=text)


def removed(cluster: int) -> LogEvent:
    return make.of_job(EventKind.JOB_ABORTED, cluster, text="by bob")


def task(cluster: int, number: int, name: str, value: int) -> list[LogEvent]:
    """The life of the task of a node."""
    return [
        LogEvent(EventKind.SUBMIT, cluster, 0, number, node=name),
        LogEvent(EventKind.EXECUTE, cluster, 0, number),
        LogEvent(EventKind.JOB_TERMINATED, cluster, 0, number, value=value),
    ]


def unbundled(number: int, why: str = "it has ended\n") -> LogEvent:
    return LogEvent(
        *(EventKind.GENERIC, -1, -1, 0),
        record="UNBUNDLED",
        value=number,
        text=why,
    )


def queued(number: int, cluster: int, *, leaving: bool = False) -> inputs.QueuedJob:
    return inputs.QueuedJob(cluster, 0, f"bundle {number}", 0, leaving=leaving)


def well(names: str = ALL) -> dict[str, int]:
    return dict.fromkeys(names, 0)


def states(harness: BundledDag, names: str, state: State) -> bool:
    return all(harness.state(name) is state for name in names)


def bundled(harness: BundledDag) -> list[list[str]]:
    """Who is in the bundles that the last input(s) have made."""
    asked = harness.asked(Prepare)
    return [[harness.dag.names[one.node] for one in prepare.nodes] for prepare in asked]


def submitted(harness: BundledDag) -> list[str]:
    """Names of nodes that have ever been submitted alone."""
    return [harness.dag.names[one.node] for one in harness.ever(do.SubmitNode)]


def records(harness: BundledDag, kind: str) -> list[do.AppendJournalRecord]:
    found = harness.asked(do.AppendJournalRecord)
    return [one for one in found if one.record == kind]
