"""Short ways to make what tests of the engine need: a DAG from the text of its file, an engine
that recounts everything after each input, and the events that a nodes log would show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import engine as engine_module
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.report import GroupReport
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.growth.run import PieceOffered
from condor_pydagman.features.steering.run import DagSteered, NodesSteered
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.keywords import WORDS
from condor_pydagman.vocabulary import (
    NOOP_PROC,
    SHARED_CLUSTER,
    EventKind,
    ScriptKind,
)
from tests.sim.invariants import validate

A = TypeVar("A")


def dag(text: str) -> Dag:
    r"""The Dag of a DAG file's text, as DAGMan reads it.

    A first line that does not begin with a command is a shorthand for nodes and edges, such as
    `A -> B C; B C -> D; C ~> F; E`, with `~>` for weak edges.  Its nodes are numbered in the order
    in which it names them; those that no line below it defines are JOBs.
    `"A -> B\nJOB B n.sub NOOP\nRETRY A 2"` is a DAG of two nodes.
    """
    written_out = dag_file(text)
    return build(["t.dag"], lambda _: written_out, BuildOptions(use_join_nodes=False))


def dag_file(text: str) -> str:
    """What `dag` reads, in the DAG language alone."""
    shorthand, _, commands = text.strip().partition("\n")
    if shorthand.partition(" ")[0] in WORDS:
        return text
    names = dict.fromkeys(re.sub("[-~]>|;", " ", shorthand).split())
    defined = {found[1]: found[0] for found in _DEFINITION.finditer(commands)}
    lines = [defined.get(name, f"JOB {name} n.sub") for name in names]
    for statement in shorthand.split(";"):
        weak = "WEAK " if "~>" in statement else ""
        sides = re.split("[-~]>", statement)
        lines += [f"{weak}PARENT {one} CHILD {other}" for one, other in zip(sides, sides[1:])]
    lines.append(_DEFINITION.sub(lambda found: "" if found[1] in names else found[0], commands))
    return "\n".join(lines)


_DEFINITION = re.compile(
    r"^ *(?:JOB|FINAL|PROVISIONER|SERVICE|DATA|SUBDAG EXTERNAL) +(\S+).*", re.MULTILINE
)


def quiet(**fields: Any) -> Config:
    """A configuration in which time alone brings about nothing that a test has not asked for: no
    query of the queue, no report of pending nodes.  `fields` are other fields of Config."""
    return Config(check_queue_interval=0, pending_report_interval=0, **fields)


QUIET = quiet()


# States that only live running has, and what an old log shows of them.
LOGGED = {
    State.PRE_RUN: State.PRE_WAIT,
    State.PRE_UNCONFIRMED: State.PRE_WAIT,
    State.SUBMITTING: State.READY,
    State.UNKNOWN: State.READY,
    State.SUBMIT_UNCONFIRMED: State.READY,
    State.POST_RUN: State.POST_WAIT,
    State.POST_UNCONFIRMED: State.POST_WAIT,
}


def of_kind(actions: Iterable[do.Action], kind: type[A]) -> list[A]:
    """The actions, or the requests to helpers, of one kind."""
    return [one for one in map(requested, actions) if isinstance(one, kind)]


def requested(action: do.Action) -> Any:
    """An action; of one that asks a helper, the request."""
    return action.request if isinstance(action, do.Ask) else action


def as_input(told: Any) -> inputs.Input:
    """An input, or a reply of a helper as one."""
    an_input: inputs.Input = told if isinstance(told, _INPUTS) else inputs.Answered("", told)
    return an_input


_INPUTS: tuple[Any, ...] = (
    *engine_module._HANDLERS,
    PieceOffered,
    NodesSteered,
    DagSteered,
)


class EngineHarness:
    """An engine under test: gives it inputs, keeps its actions and its log.

    Attributes:
        now: seconds; moves only when a test says so.
        log: every log event told so far, to be replayed by another engine.
        last: actions of the last input.
        rescue_error: why rescue files can't be written; '' if they can.
        all: actions of all inputs.
    """

    def __init__(
        self,
        of: Dag | str,
        config: Config | None = None,
        limits: Throttles | None = None,
        given: Mapping[str, Any] = {},
    ) -> None:
        """`given`: what features are given from outside, as `Engine` takes it."""
        self._text = of if isinstance(of, str) else ""
        self.dag = dag(of) if isinstance(of, str) else of
        how: dict[str, Any] = {"dag_id": 7, "check": validate, "given": given}
        self.engine = Engine(self.dag, config or Config(), limits or Throttles(), **how)
        self.now = 1000.0
        self.rescue_error = ""
        self.log: list[LogEvent] = []
        self.last: list[do.Action] = []
        self.all: list[do.Action] = []

    def begin(self, *, recovering: bool = False) -> EngineHarness:
        """The first input."""
        self.tell(inputs.Begin(recovering))
        return self

    def tell(self, *what: Any) -> list[do.Action]:
        """Give inputs, or replies of helpers; returns all their actions.  An event without a time
        happens now."""
        self.last = []
        for one in map(as_input, what):
            if isinstance(one, LogEvent):
                one = one if one.time else one._replace(time=self.now)
                self.log.append(one)
            actions = self.engine.handle(one, self.now)
            self.last += actions
            if any(isinstance(action, do.WriteRescue) for action in actions):
                answer = inputs.RescueWritten(self.rescue_error)
                self.last += self.engine.handle(answer, self.now)
        self.all += self.last
        return self.last

    def wait(self, seconds: float) -> list[do.Action]:
        """Let time pass, then wake the engine."""
        self.now += seconds
        return self.tell(inputs.Wake())

    def asked(self, kind: type[A]) -> list[A]:
        """Actions or requests to helpers of one kind, of the last input(s)."""
        return of_kind(self.last, kind)

    def ever(self, kind: type[A]) -> list[A]:
        """Actions or requests to helpers of one kind, of all inputs."""
        return of_kind(self.all, kind)

    def state(self, name: str) -> State:
        return State(self.engine.run.nodes.states[self.dag.ids[name]])

    def states(self) -> str:
        """All states, as `A=DONE B=READY`."""
        return " ".join(f"{name}={self.state(name).name}" for name in self.dag.names)

    def said(self, text: str) -> bool:
        """Whether a line with `text` was ever said."""
        return any(text in say.text for say in self.ever(do.Say))

    def submits(self) -> list[str]:
        """Names of the nodes that the last input(s) had submitted, in order."""
        return [self.dag.names[action.node] for action in self.asked(do.SubmitNode)]

    def take(self, name: str, cluster: int, procs: int = 1) -> list[do.Action]:
        """The schedd takes a node's jobs: reply and submit events."""
        return self.tell(
            inputs.Submitted(self.dag.ids[name], cluster, procs),
            *(submit(name, cluster, proc) for proc in range(procs)),
        )

    def run_node(self, name: str, cluster: int, value: int = 0) -> list[do.Action]:
        """A node's only job is taken and ends."""
        first = self.take(name, cluster)
        return first + self.tell(terminated(cluster, value=value))

    def pre_ends(self, name: str, status: int = 0) -> list[do.Action]:
        """A PRE script ends, and its record comes back from the log."""
        return self._script_ends(name, ScriptKind.PRE, status)

    def post_ends(self, name: str, status: int = 0) -> list[do.Action]:
        """A POST script ends, and its event comes back from the log."""
        return self._script_ends(name, ScriptKind.POST, status)

    def _script_ends(self, name: str, kind: ScriptKind, status: int) -> list[do.Action]:
        first = self.tell(inputs.ScriptEnded(self.dag.ids[name], kind, status))
        return first + self.tell(*self.echo(first))

    def echo(self, actions: Iterable[do.Action]) -> list[LogEvent]:
        """The events that the engine's own appends make in the log."""
        return [event for action in actions for event in appended(self.dag, action)]

    def read_back(self) -> list[do.Action]:
        """What the engine appended in the last input(s) comes back, and what that leads to; returns
        all actions since."""
        since = len(self.all)
        events = self.echo(self.last)
        while events:
            events = self.echo(self.tell(*events))
        self.last = self.all[since:]
        return self.last

    def answers(self, request: Any) -> list[Any]:
        """What helpers reply to a request at once, in the harness of a feature."""
        return []

    def settle(self) -> list[do.Action]:
        """Have all answered that `answers` knows of, and let the log come back, until nothing is
        left to do; returns all actions since."""
        since = len(self.all) - len(self.last)
        todo = self.last
        while todo:
            told = [one for action in todo for one in self.answers(requested(action))]
            todo = self.tell(*told, *self.echo(todo))
        self.last = self.all[since:]
        self.replayed()
        return self.last

    def replayed(self) -> object:
        """Another engine that has read the log so far has come to the same."""
        return self.same_replay()

    def happens(self, *what: Any) -> list[do.Action]:
        """As `tell`, and what the engine appends to the log comes back."""
        self.tell(*what)
        return self.read_back()

    def replay(self) -> EngineHarness:
        """Another engine that has been told the same log in recovery."""
        run = self.engine.run
        pieces = run.given.get("growth")
        other = EngineHarness(
            self._text if pieces is not None else self.dag, run.config, run.limits, run.given
        )
        other._text = self._text
        if pieces is not None:  # the DAG is as it was before it has grown
            other.engine.run.given = {**run.given, "growth": pieces.of(other.dag)}
        other.now = self.now
        other.begin(recovering=True)
        other.tell(*self.log)
        return other

    def same_replay(self) -> EngineHarness:
        """As `replay`; raises AssertionError unless it has come to the same as the live engine."""
        other = self.replay()
        mine, its = self.engine.run, other.engine.run
        live = [LOGGED.get(State(state), State(state)).name for state in mine.nodes.states]
        for node in other.overdue():
            live[node] = State.RETRY_WAIT.name  # it begins when the log has been read
        assert live == [State(state).name for state in its.nodes.states], self.states()
        assert mine.nodes.retries == its.nodes.retries
        assert mine.nodes.errors == its.nodes.errors
        assert mine.nodes.values == its.nodes.values
        assert mine.nodes.marks == its.nodes.marks
        assert mine.retrying.extra_retries == its.retrying.extra_retries
        assert list(mine.nodes.waiting) == list(its.nodes.waiting)
        assert self.live_procs() == other.live_procs()
        return other

    def overdue(self) -> list[int]:
        """Nodes that wait for a retry whose delay has passed."""
        waiting = self.engine.run.nodes.in_state(State.RETRY_WAIT)
        queue = self.engine.run.retrying.queue
        return [node for node in waiting if (queue.due(node) or 0.0) <= self.now]

    def live_procs(self) -> dict[str, dict[int, int]]:
        """Flags of all procs that have not ended, by node."""
        entries = self.engine.run.job_table.by_node.items()
        live = ((node, {proc: jobs.procs[proc] for proc in jobs.live()}) for node, jobs in entries)
        return {self.dag.names[node]: procs for node, procs in live if procs}

    def queue(self) -> list[inputs.QueuedJob]:
        """What the schedd has in its queue if all is as the engine believes."""
        return [
            inputs.QueuedJob(
                jobs.cluster,
                proc,
                self.dag.names[node],
                self.engine.run.nodes.retries.get(node, 0),
                shared=jobs.only is not None,
            )
            for node, jobs in self.engine.run.job_table.by_node.items()
            for proc in jobs.live()
            if jobs.cluster > 0
        ] + self._jobs_of_bundles()

    def _jobs_of_bundles(self) -> list[inputs.QueuedJob]:
        feature = self.engine.run.features.get("bundle")
        return [
            inputs.QueuedJob(one.cluster, 0, f"bundle {number}", 0)
            for number, one in getattr(feature, "bundles", {}).items()
            if one.cluster and not one.ended
        ]

    def restart(self) -> EngineHarness:
        """Another engine that has recovered from the same log and knows the schedd's queue."""
        other = self.replay()
        other.tell(inputs.LogCaughtUp())
        if other.asked(do.QueryQueue):
            done = other.last
            other.tell(inputs.QueueListed(other.queue()))
            other.last = done + other.last
        return other


def harness_of(
    text: str = "A -> B",
    config: Config | None = None,
    limits: Throttles | None = None,
    *,
    procs: int = 0,
) -> EngineHarness:
    """A harness whose DAG has begun; `text` is as of `dag`.

    With `procs`, the schedd has taken so many jobs of node A, as cluster 5.
    """
    harness = EngineHarness(dag(text), config, limits).begin()
    if procs:
        harness.take("A", 5, procs)
    return harness


def appended(of: Dag, action: do.Action) -> list[LogEvent]:
    """What an append action leaves in the nodes log; nothing for other actions."""
    if isinstance(action, do.AppendJournalRecord):
        return [_record(of, action)]
    if isinstance(action, do.AppendPostEnded):
        name = of.names[action.node]
        return [post_ended(name, action.status, action.cluster, action.proc, action.subproc)]
    if isinstance(action, do.AppendPreSkip):
        return [pre_skip(of.names[action.node], action.subproc)]
    if isinstance(action, do.AppendNoop):
        return noop(of.names[action.node], action.subproc)
    return []


def _record(of: Dag, action: do.AppendJournalRecord) -> LogEvent:
    return LogEvent(
        EventKind.GENERIC,
        action.cluster,
        action.proc,
        0,
        node=of.names[action.node] if action.node >= 0 else "",
        value=action.value,
        record=action.record,
        retry=action.retry,
        text=action.text,
    )


def submit(name: str, cluster: int, proc: int = 0, *, shared: bool = False) -> LogEvent:
    """A proc is in the queue; `shared`: its cluster has jobs of other nodes as well."""
    text = SHARED_CLUSTER if shared else ""
    return LogEvent(EventKind.SUBMIT, cluster, proc, 0, node=name, text=text)


def cluster_submit(name: str, cluster: int) -> LogEvent:
    """A cluster with late materialization is in the queue."""
    return LogEvent(EventKind.CLUSTER_SUBMIT, cluster, -1, 0, node=name)


def cluster_remove(cluster: int) -> LogEvent:
    """A cluster with late materialization has left the queue."""
    return LogEvent(EventKind.CLUSTER_REMOVE, cluster, -1, 0)


def terminated(cluster: int, proc: int = 0, value: int = 0) -> LogEvent:
    return LogEvent(EventKind.JOB_TERMINATED, cluster, proc, 0, value=value)


def of_job(kind: EventKind, cluster: int, proc: int = 0, text: str = "") -> LogEvent:
    """An event that carries nothing but a job id and perhaps a reason."""
    return LogEvent(kind, cluster, proc, 0, text=text)


def noop(name: str, subproc: int) -> list[LogEvent]:
    """The two events of a NOOP node."""
    return [
        LogEvent(EventKind.SUBMIT, 0, NOOP_PROC, subproc, node=name),
        LogEvent(EventKind.JOB_TERMINATED, 0, NOOP_PROC, subproc),
    ]


def pre_skip(name: str, subproc: int) -> LogEvent:
    return LogEvent(EventKind.PRESKIP, 0, NOOP_PROC, subproc, node=name)


def post_ended(
    name: str, status: int, cluster: int = -1, proc: int = 0, subproc: int = 0
) -> LogEvent:
    kind = EventKind.POST_SCRIPT_TERMINATED
    return LogEvent(kind, cluster, proc, subproc, node=name, value=status)


def record(
    kind: str,
    name: str,
    *,
    value: int = 0,
    retry: int = 0,
    cluster: int = -1,
    proc: int = -1,
) -> LogEvent:
    return LogEvent(
        EventKind.GENERIC, cluster, proc, 0, node=name, record=kind, value=value, retry=retry
    )


def group_reports(engine: Engine) -> list[GroupReport]:
    """Of the groups that run at one site each."""
    sites = engine.features.get("sites")
    return [] if sites is None else list(sites.group_reports())
