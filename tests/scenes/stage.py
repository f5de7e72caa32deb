"""The stage on which a scene is played: an engine with a nodes log, a schedd and a clock.

The schedd takes what is submitted, and answers for its queue; what the engine writes into the log
is read back: all at once, unless a scene says otherwise.  What else happens, a scene says by the
phrases of `phrases.py`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, TypeVar

from condor_pydagman.config.table import knobs, read
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.report import NodeReport
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import throttles
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.records.rescue import rescue_text
from tests import make
from tests.scenes.jobs import Job, Jobs
from tests.scenes.reading import Scene
from tests.scenes.words import Words

Function = TypeVar("Function", bound=Callable[..., Any])
Part = TypeVar("Part")
_ANSWERS: dict[type, Callable[..., Iterable[Any]]] = {}  # of helpers, by the class of the request
_FACTS: dict[str, Callable[..., str]] = {}
# Without these, time alone would bring about what no scene has asked for.
QUIET = {"DAGMAN_CHECK_QUEUE_INTERVAL": "0", "DAGMAN_PENDING_REPORT_INTERVAL": "0"}


class Stage:
    """Where one scene is played.

    Attributes:
        harness: the engine, its clock and its log.
        jobs: those that the schedd has taken.
        schedd_waits: answers of the schedd are phrases of the scene.
        helpers_wait: and helpers answer when the scene says so: the requests that are `unanswered`.
        log_waits: what the engine writes is not read back; it is among `unread` then.
        said: lines for people, of the present step.
    """

    def __init__(self, scene: Scene) -> None:
        unknown = scene.settings.keys() - {knob.name for knob in knobs()}
        assert not unknown, f"no knobs: {unknown}"
        texts = {**QUIET, **scene.settings}
        config = read(lambda knob: texts.get(knob.name), is_set=scene.settings.__contains__)
        limited: dict[str, Any] = {
            name[3:].lower(): int(most) for name, most in scene.options.items() if most
        }
        limits = throttles(config, **limited)
        self._dag = scene.dag
        self.harness = make.EngineHarness(scene.dag, config, limits)
        if "DryRun" in scene.options:
            self.harness.engine.run.mode = Mode.DRY_RUN
        self.jobs = Jobs()
        self.schedd_waits = self.helpers_wait = self.log_waits = False
        self.unread: list[inputs.LogEvent] = []
        self.unanswered: list[Any] = []
        self.said: list[str] = []
        self._parts: dict[type, Any] = {}
        self._words = Words(self.harness.dag, self.jobs.owner)

    @property
    def phase(self) -> Phase:
        """What the engine is doing."""
        return self.harness.engine.run.phase

    @property
    def replayable(self) -> bool:
        """Whether the log has all that has been decided."""
        dry = self.harness.engine.run.mode is Mode.DRY_RUN
        return self.phase is not Phase.STARTING and not self.unread and not dry

    @property
    def restartable(self) -> bool:
        """Whether another DAGMan would go on from here as this one does: all is in the log, nobody
        has been asked for anything, no command of people's is in force, nothing is due."""
        run = self.harness.engine.run
        in_flight = run.nodes.in_state(State.SUBMITTING, State.UNKNOWN)
        return (
            self.phase in (Phase.RUNNING, Phase.FINISHING)
            and self.replayable
            and not (self.schedd_waits or self.helpers_wait or self.log_waits or [*in_flight])
            and not (run.halted or run.limits_changed)
            and self.harness.engine.next_deadline() is None
        )

    def node(self, name: str) -> int:
        """The number of a node."""
        return self.harness.dag.ids[name]

    def part(self, kind: type[Part]) -> Part:
        """What a feature keeps of the scene: the one object of this class."""
        part: Part = self._parts.setdefault(kind, kind())
        return part

    # What happens.

    def tell(self, told: Iterable[Any]) -> list[str]:
        """Tell the engine this, and what follows from it at once; returns in words what it does."""
        done = list[str]()
        for one in told:
            pending = deque([one])
            while pending:
                for action in self.harness.tell(pending.popleft()):
                    pending.extend(self._answers(action))
                    self.said += [action.text] if isinstance(action, do.Say) else []
                    if self.schedd_waits or not isinstance(action, do.QueryQueue):
                        done.append(self._words.of(action))
        return [*filter(None, done)]

    def _answers(self, action: do.Action) -> Iterable[Any]:
        """What the outside answers at once, and what can be read in the log."""
        if not self.schedd_waits:
            if isinstance(action, do.SubmitNode):
                return self.taken(self.harness.dag.names[action.node])
            if isinstance(action, do.SubmitTogether):
                return self._taken_together([one.node for one in action.nodes])
            if isinstance(action, do.QueryQueue):
                return [inputs.QueueListed(self.harness.queue())]
        request = make.requested(action)
        if type(request) in _ANSWERS:
            self.unanswered.append(request)
            return [] if self.helpers_wait else self.answer()
        events = make.appended(self.harness.dag, action)
        if not self.log_waits:
            return events
        self.unread += events
        return []

    def answer(self) -> Iterable[Any]:
        """What helpers answer to what they have been asked."""
        asked, self.unanswered = self.unanswered, []
        for request in asked:
            yield from _ANSWERS[type(request)](self, request)

    def taken(self, node: str, cluster: str = "") -> Iterable[Any]:
        """The schedd has taken the node's jobs: its reply, and what the log shows."""
        jobs = self.jobs.add([node], cluster)
        if not self.harness.engine.run.recovering:
            yield self.reply(node)
        yield from self.submit_events(jobs)

    def reply(self, node: str) -> inputs.Submitted:
        """The schedd's reply to the submission of the node's last cluster."""
        cluster, count = self.jobs.cluster(node), self.jobs.counts.get(node, 1)
        return inputs.Submitted(self.node(node), cluster, count, shareable=True)

    def submit_events(self, jobs: list[Job], *, shared: bool = False) -> list[inputs.LogEvent]:
        """Submit events of jobs."""
        return [make.submit(self.jobs.owner(job), *job, shared=shared) for job in jobs]

    def _taken_together(self, nodes: list[int]) -> Iterable[Any]:
        jobs = self.jobs.add([self.harness.dag.names[node] for node in nodes])
        for node, (cluster, proc) in zip(nodes, jobs):
            yield inputs.Submitted(node, cluster, 1, proc, shareable=True)
        yield from self.submit_events(jobs, shared=True)

    def crash(self) -> None:
        """DAGMan dies; another one has read the log so far."""
        self.unanswered = []
        error = self.harness.rescue_error
        self.harness = self.harness.replay()
        self._words = Words(self.harness.dag, self.jobs.owner)
        self.harness.rescue_error = error

    def run_anew(self, given: Mapping[str, Any], *, rescue: bool = False) -> None:
        """The DAG has ended, and is to run once more, from its rescue file if so asked; `given` as
        of EngineHarness."""
        run, dag = self.harness.engine.run, make.dag(self._dag)
        self.jobs.live.clear()
        if rescue:
            nodes, created = self.harness.engine.node_reports(), (1970, 1, 1, 0, 0, 0)
            text = rescue_text(self.harness.dag, nodes, created=created, reset_retries=True)
            apply_progress(dag, "".join(text), "t.dag.rescue001")
        self.harness = make.EngineHarness(dag, run.config, run.limits, given)

    # What is the case.

    def fact(self, wanted: str) -> str:
        """What is the case, in the words of what a scene wants to be the case."""
        subject, _, rest = wanted.partition(" ")
        if subject in self.harness.dag.ids:
            return f"{subject} {self._of_node(subject, rest)}"
        if subject == "wakes":
            return f"wakes {self._wakes(rest)}"
        if subject == "status":
            return f"status {self.harness.engine.run.shown_status.name}"
        if subject == "phase":
            return f"phase {self.phase.value}"
        if subject == "shown":
            field = rest.partition(":")[0]
            return self._shown(field)
        of_feature = wanted.partition(":")[0]
        if of_feature in _FACTS:
            return f"{of_feature}: {_FACTS[of_feature](self)}".strip()
        return f"{subject} {attrgetter(subject)(self.harness.engine.report())}"

    def _of_node(self, name: str, wanted: str) -> str:
        nodes, node = self.harness.engine.run.nodes, self.node(name)
        kind, _, text = wanted.partition(": ")
        if kind == "error":
            error = nodes.errors.get(node, "")
            return wanted if text in error else f"error: {error}"
        kinds: dict[str, Any] = {
            "retries": nodes.retries.get(node, 0),
            "value": nodes.values.get(node),
            "cluster": nodes.clusters[node],
        }
        if not text:
            return self.harness.state(name).name.lower().replace("_", " ")
        found = kinds[kind] if kind in kinds else getattr(self._node_report(node), kind)
        return f"{kind}: {found}"

    def _node_report(self, node: int) -> NodeReport:
        return next(one for one in self.harness.engine.node_reports() if one.node == node)

    def _shown(self, field: str) -> str:
        """What a feature shows of the whole DAG."""
        shown = [one for one in self.harness.engine.report().shown if one.field == field]
        values = [str(one.value or one.answer or "") for one in shown]
        return f"shown {field}: {', '.join(values)}".strip()

    def _wakes(self, wanted: str) -> str:
        deadline = self.harness.engine.next_deadline()
        if deadline is None:
            return "never"
        after = deadline - self.harness.now
        bounds = re.fullmatch(r"in (\d+)\.\.(\d+) s", wanted)
        if bounds and float(bounds[1]) <= after <= float(bounds[2]):
            return wanted
        return f"in {after:g} s"


def answers(kind: type) -> Callable[[Function], Function]:
    """Have a function answer at once, with the stage and the request, what helpers are asked."""

    def known(function: Function) -> Function:
        _ANSWERS[kind] = function
        return function

    return known


def fact(name: str) -> Callable[[Function], Function]:
    """Have a function, with the stage, say what is the case behind `name: `."""

    def known(function: Function) -> Function:
        _FACTS[name] = function
        return function

    return known
