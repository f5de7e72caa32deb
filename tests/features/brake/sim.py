"""Brakes in random DAGs, the people who take them back, and what must hold of them.

O47 A brake acts exactly when more has failed than it allows, by the events of the log alone; once,
    until a person takes it back; a restart neither forgets it nor one that was taken back.
O48 Nothing but the FINAL node is submitted while a brake acts.

Failures are counted from what becomes of the nodes, not by the engine's own counters.  Where people
steer nodes, groups leave sites or conditions fail, some do not count; then the rest of O47 is
looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Union

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import HELD
from condor_pydagman.engine.node_states import State
from condor_pydagman.features.brake.commands import Brake, BrakesOfDag, brakes_of
from condor_pydagman.features.brake.run import BRAKED
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import ORDINARY_KINDS, EventKind, JournalRecord, NodeKind
from tests.oracles import require
from tests.sim.fake_jobs import BY_A_PERSON
from tests.sim.parts import Part

if TYPE_CHECKING:
    from condor_pydagman.config import Config
    from condor_pydagman.engine.state import RunState
    from tests.sim.process import Process
    from tests.sim.world import World

AGAIN_S = 59.0  # before a record that was not read back is written once more
EVERY_S = 20.0  # seconds between two occasions to resume the DAG
_NOT_COUNTED = (BY_A_PERSON, 15, 16)


# A run that failed: its node, and what its failure may have in common with others.  None: it ended
# well.
Run = Union[tuple[int, object], None]


class _Snapshot(NamedTuple):
    """What the engine had before an input."""

    over: bool
    states: bytes
    retries: dict[int, int]
    held: bool


def _brakes(words: str) -> Callable[[World], bool]:
    """Whether brakes acted more than once in a world, with these words in its trace."""
    return lambda world: Brakers.of(world).acted > 1 and words in world.trace_text()


class Brakers(Part):
    """People who resume a DAG that brakes have stopped, and the oracles O47 and O48.

    Attributes:
        acted: how often a brake has acted.
    """

    kind = "braked"
    meaning = "the DAGs have brakes"
    place = 4
    stream = "brakes"
    fresh: ClassVar = {"braked": 25, "steered matched decided braked": 25}
    crashed: ClassVar = (
        (8, _brakes("HoldJobs")),
        (47, _brakes("'BRAKES_OFF'")),
        (103, _brakes("because of brake")),
    )

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._rng = Random(f"brakes {world.seed}")
        self.acted = 0
        self._exact = world.kinds.isdisjoint(("steered", "matched", "decided", "enough"))
        self._before: _Snapshot | None = None
        self._forget()

    @classmethod
    def config(cls, config: Config, seed: int) -> Config:
        return config.but(remove_jobs_after_limit_change=False)  # DAGMan's own do not count

    @classmethod
    def add(cls, dag: Dag, rng: Random) -> None:
        """Give a DAG one to three brakes."""
        for number in range(rng.randint(1, 3)):
            last = rng.choice((0, 0, 2, 5))
            alike = rng.choice(("", "", "EXIT_CODE", "HOLD_REASON"))
            if dag.groups and rng.random() < 0.3:
                alike = "SITE"
            last = 0 if alike == "HOLD_REASON" else last
            percent = rng.random() < 0.3
            limit = rng.choice((0, 20, 50)) if percent else rng.choice((0, 0, 1, 2))
            category = rng.choice(("", "", "a"))
            effect = rng.choice(("HALT", "HALT", "HOLD", "HOLD", "ABORT"))
            BrakesOfDag.put(dag).brakes.append(
                Brake(0, f"b{number}", limit, percent, last, alike, category, effect)
            )

    def begin(self) -> None:
        if self.is_on:
            self.world.after(EVERY_S, self._maybe_resume)

    def _forget(self) -> None:
        self._resumes = 0
        self._acting: set[int] = set()
        self._expected: set[int] = set()
        self._asked: dict[int, float] = {}  # when its record was written, by brake
        self._unsure: set[int] = set()  # of which the order of runs is not known
        self._runs: dict[int, list[Run]] = {}  # by brake

    def _maybe_resume(self) -> None:
        world = self.world
        world.after(EVERY_S, self._maybe_resume)
        process = world.process
        if process is None or process.loop.ending or not process.engine.run.halt.by_rule:
            return
        if self._rng.random() < 0.3:
            process.add_input(inputs.Resume("mended"))

    # What the other oracles tell.

    def started(self, process: Process, *, recovering: bool) -> None:
        self._forget()

    def input_given(self, process: Process, an_input: inputs.Input) -> None:
        run = process.engine.run
        if "brake" not in run.features:
            return
        if isinstance(an_input, LogEvent):
            self._hear_record(an_input)
        held = isinstance(an_input, LogEvent) and _is_held(process, an_input)
        self._before = _Snapshot(
            run.is_over, bytes(run.nodes.states), dict(run.nodes.retries), held
        )

    def input_done(self, process: Process, an_input: inputs.Input) -> None:
        run = process.engine.run
        if "brake" not in run.features:
            return
        if isinstance(an_input, LogEvent):
            self._hear(process, an_input)
        if not run.is_over and run.phase is Phase.RUNNING:
            halts = any(brakes_of(run.dag)[number].effect != "ABORT" for number in self._acting)
            require(run.halt.by_rule == halts, f"O47: halted is {run.halt.by_rule}, not {halts}")
            missing = self._expected - self._acting - self._unsure - set(run.written.of(BRAKED))
            require(not (missing and self._exact), f"O47: brakes {missing} do not act")
            if isinstance(an_input, inputs.Resume) and not an_input.file and self._acting:
                require(bool(run.written.of(BRAKED)), "O47: a resume is not written")

    def action_asked(self, process: Process, action: do.Action) -> None:
        dag = process.dag
        if self._acting and not self.world.ever_garbled:
            for one in self.world.oracles.submissions(action):
                goes_on = one.node == self.world.oracles.goes_on
                final = dag.kinds[one.node] == NodeKind.FINAL
                require(final or goes_on, f"O48: {dag.names[one.node]} submitted while braked")
        if isinstance(action, do.AppendJournalRecord) and action.record == "BRAKED":
            again = action.value in self._acting
            again |= self.world.now - self._asked.get(action.value, -AGAIN_S) < AGAIN_S
            require(
                not again or self.world.ever_garbled,
                f"O47: brake {action.value} acts once more",
            )
            self._asked[action.value] = self.world.now

    def replayed(self, live: RunState, other: RunState) -> None:
        brakes, replayed = live.features.get("brake"), other.features.get("brake")
        if brakes is not None and replayed is not None:
            told, again = (
                (one.round, one.braked, one.run.halt.by_rule) for one in (brakes, replayed)
            )
            require(told == again, f"O7: brakes {told}, replayed {again}")

    def holds_back(self, run: RunState) -> bool:
        brakes = run.features.get("brake")
        return brakes is not None and bool(brakes.braked)

    # Counting.

    def _hear(self, process: Process, event: LogEvent) -> None:
        run, before = process.engine.run, self._before
        assert before is not None
        if before.over or run.is_over:
            return
        for number, brake in enumerate(brakes_of(run.dag)):
            if brake.alike == "HOLD_REASON":
                runs = _newly_held(process, event, before)
            else:
                runs = _ended(process, event, before, brake.alike == "EXIT_CODE")
            mine = [one for node, one in runs if _counts(run.dag, brake, node)]
            if brake.last and len(mine) > 1:
                self._unsure.add(number)
            for one in mine:
                history = self._runs.setdefault(number, [])
                history.append(one)
                if _is_too_much(run.dag, brake, history):
                    self._expected.add(number)

    def _hear_record(self, event: LogEvent) -> None:
        number, of_now = event.value, event.text.partition(" ")[0] == str(self._resumes)
        if event.record == "BRAKES_OFF" and number == self._resumes:
            self._forget()
            self._resumes = number + 1
        elif event.record == "BRAKED" and of_now and number not in self._acting:
            expected = number in self._expected | self._unsure
            expected |= self.world.ever_garbled or not self._exact
            require(expected, f"O47: brake {number} acts too early")
            self._acting.add(number)
            self.acted += 1


def _is_held(process: Process, event: LogEvent) -> bool:
    table = process.engine.run.job_table
    node = table.node_of(event.cluster, event.proc)
    jobs = None if node is None else table.by_node.get(node)
    return jobs is not None and bool(jobs.procs.get(event.proc, 0) & HELD)


def _newly_held(process: Process, event: LogEvent, before: _Snapshot) -> list[tuple[int, Run]]:
    counted = event.kind == EventKind.JOB_HELD and event.value not in _NOT_COUNTED
    if not counted or before.held or not _is_held(process, event):
        return []
    node = process.engine.run.job_table.node_of(event.cluster, event.proc)
    assert node is not None
    return [(node, (node, event.value))]


def _ended(
    process: Process, event: LogEvent, before: _Snapshot, by_value: bool
) -> list[tuple[int, Run]]:
    """The runs that an event has ended, each with its node."""
    nodes, found = process.engine.run.nodes, list[tuple[int, Run]]()
    for node, was in enumerate(before.states):
        state = nodes.states[node]
        retried = nodes.retries.get(node, 0) > before.retries.get(node, 0)
        retried &= event.record != JournalRecord.SUBMIT_FAILED  # which uses up all retries
        retried &= state != State.WAITING  # for a parent that it has got: its run has not failed
        if retried or (state == State.FAILED != was):
            found.append((node, (node, nodes.values.get(node, 0) if by_value else "")))
        elif state == State.DONE != was and not _is_cached(process, node):
            found.append((node, None))
    return found


def _is_cached(process: Process, node: int) -> bool:
    """Whether the node is done without having run."""
    cache = process.engine.run.features.get("cache")
    return cache is not None and node in cache.cached


def _counts(dag: Dag, brake: Brake, node: int) -> bool:
    if dag.kinds[node] not in ORDINARY_KINDS:
        return False
    return not brake.category or dag.categories.get(node) == brake.category


def _is_too_much(dag: Dag, brake: Brake, history: list[Run]) -> bool:
    if brake.percent and len(history) < brake.last:
        return False
    members = sum(_counts(dag, brake, node) for node in range(len(dag)))
    limit = brake.limit * (brake.last or members) / 100 if brake.percent else brake.limit
    failures = [run for run in history[-brake.last :] if run is not None]
    keys = {key for _, key in failures}
    return any(len({node for node, own in failures if own == key}) > limit for key in keys)


PART = Brakers
