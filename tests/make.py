"""Short ways to make what tests of the engine need: a DAG from a line of text, an engine that
recounts everything after each input, and the events that a nodes log would show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, Union

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import (
    DONE,
    NOOP,
    Abort,
    Cached,
    Condition,
    Dag,
    Published,
    Retry,
    Script,
    SiteGroup,
    Timeout,
)
from condor_pydagman.sites.policy import NO_POLICY, SitePolicy
from condor_pydagman.vocabulary import (
    NOOP_PROC,
    SHARED_CLUSTER,
    EventKind,
    JournalRecord,
    NodeKind,
    ScriptKind,
)

A = TypeVar("A")
ScriptLike = Union[str, Script]


def dag(
    text: str,
    *,
    pre: Mapping[str, ScriptLike] | None = None,
    post: Mapping[str, ScriptLike] | None = None,
    hold: Mapping[str, ScriptLike] | None = None,
    retries: Mapping[str, int | tuple[int, int] | Retry] | None = None,
    timeouts: Mapping[str, Timeout] | None = None,
    kinds: Mapping[str, NodeKind] | None = None,
    saves: Mapping[str, str] | None = None,
    aborts: Mapping[str, int | tuple[int, int]] | None = None,
    pre_skips: Mapping[str, int] | None = None,
    priorities: Mapping[str, int] | None = None,
    categories: Mapping[str, str] | None = None,
    limits: Mapping[str, int] | None = None,
    groups: Mapping[str, str] | None = None,
    policies: Mapping[str, SitePolicy] | None = None,
    conditions: Mapping[str, str | Condition] | None = None,
    published: Mapping[str, Published] | None = None,
    cached: Mapping[str, Cached] | None = None,
    noop: str = "",
    done: str = "",
    jobstate_log: str = "",
) -> Dag:
    """A DAG from `"A -> B C; B C -> D; C ~> F; E"`; nodes are defined in the order they are named.

    `~>` makes weak edges.  Several parents and several children in one statement make a junction.
    `retries` values are a limit, (limit, UNLESS-EXIT) or a Retry, `aborts` values a status or
    (status, RETURN code); `kinds` says which nodes are no JOB.  `noop`, `done` and
    the values of `groups` are names with blanks between them.
    """
    made = Dag(files=["t.dag"])
    sides = [
        [part.split() for part in line.replace("~>", "->").split("->")] for line in text.split(";")
    ]
    _add_edges(made, sides, text.split(";"))
    given = ((ScriptKind.PRE, pre), (ScriptKind.POST, post), (ScriptKind.HOLD, hold))
    for kind, scripts in given:
        _add_scripts(made, kind, scripts or {})
    made.retries = {made.ids[n]: _retry(value) for n, value in (retries or {}).items()}
    made.aborts = {made.ids[n]: _abort(value) for n, value in (aborts or {}).items()}
    made.pre_skips = {made.ids[n]: value for n, value in (pre_skips or {}).items()}
    made.priorities = {made.ids[n]: value for n, value in (priorities or {}).items()}
    made.categories = {made.ids[n]: value for n, value in (categories or {}).items()}
    made.category_limits = dict(limits or {})
    made.timeouts = {made.ids[n]: value for n, value in (timeouts or {}).items()}
    _add_groups(made, groups or {}, policies or {})
    made.save_points = {made.ids[n]: value for n, value in (saves or {}).items()}
    _add_conditions(made, conditions or {})
    made.published = {made.ids[n]: value for n, value in (published or {}).items()}
    made.cached = {made.ids[n]: value for n, value in (cached or {}).items()}
    _set_kinds(made, kinds or {})
    _flag(made, noop, NOOP)
    _flag(made, done, DONE)
    made.jobstate_log = jobstate_log
    made.finish()
    return made


def _add_edges(made: Dag, sides: list[list[list[str]]], lines: list[str]) -> None:
    for parts in sides:
        for name in (name for part in parts for name in part):
            if name not in made.ids:
                made.add_node(name, "n.sub")
    for parts, line in zip(sides, lines):
        for parents, children in zip(parts, parts[1:]):
            tails, heads = [made.ids[n] for n in parents], [made.ids[n] for n in children]
            made.add_edges(tails, heads, weak="~>" in line)


def _add_scripts(made: Dag, kind: ScriptKind, scripts: Mapping[str, ScriptLike]) -> None:
    for name, script in scripts.items():
        whole = Script(script) if isinstance(script, str) else script
        made.scripts.setdefault(made.ids[name], {})[kind] = whole


def _add_groups(made: Dag, groups: Mapping[str, str], policies: Mapping[str, SitePolicy]) -> None:
    for name, members in groups.items():
        nodes = tuple(sorted(made.ids[one] for one in members.split()))
        made.group_of.update(dict.fromkeys(nodes, len(made.site_groups)))
        policy = policies.get(name, NO_POLICY)
        clean_up = made.ids.get(policy.clean_up, -1)
        made.site_groups.append(SiteGroup(name, nodes, policy, clean_up))


def _add_conditions(made: Dag, conditions: Mapping[str, str | Condition]) -> None:
    for name, condition in conditions.items():
        whole = Condition(condition) if isinstance(condition, str) else condition
        made.conditions[made.ids[name]] = whole


def _retry(value: int | tuple[int, int] | Retry) -> Retry:
    if isinstance(value, Retry):
        return value
    return Retry(value) if isinstance(value, int) else Retry(value[0], (value[1],))


def _abort(value: int | tuple[int, int]) -> Abort:
    return Abort(value) if isinstance(value, int) else Abort(*value)


def _set_kinds(made: Dag, kinds: Mapping[str, NodeKind]) -> None:
    for name, kind in kinds.items():
        made.kinds[made.ids[name]] = kind


def _flag(made: Dag, names: str, flag: int) -> None:
    for name in names.split():
        made.flags[made.ids[name]] |= flag


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
        self, of: Dag | str, config: Config | None = None, limits: Throttles | None = None
    ) -> None:
        self.dag = dag(of) if isinstance(of, str) else of
        self.engine = Engine(
            self.dag, config or Config(), limits or Throttles(), dag_id=7, check=True
        )
        self.now = 1000.0
        self.rescue_error = ""
        self.log: list[LogEvent] = []
        self.last: list[do.Action] = []
        self.all: list[do.Action] = []

    def begin(self, *, recovering: bool = False) -> EngineHarness:
        """The first input."""
        self.tell(inputs.Begin(recovering))
        return self

    def tell(self, *what: inputs.Input) -> list[do.Action]:
        """Give inputs; returns all their actions.  An event without a time happens now."""
        self.last = []
        for one in what:
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
        """Actions of one kind, of the last input(s)."""
        return [action for action in self.last if isinstance(action, kind)]

    def ever(self, kind: type[A]) -> list[A]:
        """Actions of one kind, of all inputs."""
        return [action for action in self.all if isinstance(action, kind)]

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

    def take_together(self, cluster: int) -> list[do.Action]:
        """The schedd takes the nodes of the last SubmitTogether: replies and submit events."""
        (action,) = self.asked(do.SubmitTogether)
        nodes = [one.node for one in action.nodes]
        return self.tell(
            *(
                inputs.Submitted(node, cluster, 1, proc, shareable=True)
                for proc, node in enumerate(nodes)
            ),
            *(
                submit(self.dag.names[node], cluster, proc, shared=True)
                for proc, node in enumerate(nodes)
            ),
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

    def replay(self) -> EngineHarness:
        """Another engine that has been told the same log in recovery."""
        other = EngineHarness(self.dag, self.engine.run.config, self.engine.run.limits)
        other.now = self.now
        other.begin(recovering=True)
        other.tell(*self.log)
        return other

    def same_replay(self) -> EngineHarness:
        """As `replay`; raises AssertionError unless it has come to the same as the live engine."""
        other = self.replay()
        mine, its = self.engine.run, other.engine.run
        live = [LOGGED.get(State(state), State(state)).name for state in mine.nodes.states]
        assert live == [State(state).name for state in its.nodes.states], self.states()
        assert mine.nodes.retries == its.nodes.retries
        assert mine.nodes.errors == its.nodes.errors
        assert mine.nodes.values == its.nodes.values
        assert mine.retrying.extra_retries == its.retrying.extra_retries
        assert list(mine.nodes.waiting) == list(its.nodes.waiting)
        assert self.live_procs() == other.live_procs()
        return other

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
    **parts: Any,
) -> EngineHarness:
    """A harness whose DAG has begun; `text` and `parts` are what `dag` takes.

    With `procs`, the schedd has taken so many jobs of node A, as cluster 5.
    """
    harness = EngineHarness(dag(text, **parts), config, limits).begin()
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
    kind: JournalRecord,
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
