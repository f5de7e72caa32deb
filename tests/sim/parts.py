"""What a feature brings to simulated worlds: a class derived from `Part`, named PART in the module
`tests/features/NAME/sim.py`, where `tests.sim.kinds` finds it.

Nothing else in `tests/sim` names a feature.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import RunState
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Dag

if TYPE_CHECKING:
    from collections.abc import Callable

    from condor_pydagman.daemon.run import DagRun
    from tests.sim.fake_jobs import Cluster, Job
    from tests.sim.process import Process
    from tests.sim.truth import Truth
    from tests.sim.world import World

P = TypeVar("P", bound="Part")
Having = Mapping[str, Sequence["Part"]]  # see `World.having`
MAX_DELAY_S = 20.0  # seconds that an answer of a helper may take
FRESH = 25  # seeds of worlds of a kind that the tests try, most of them in the long run only


class Part:
    """One object a world, from its beginning to its end, whether or not the world is of its kind.

    The methods are named after moments; each part has those that it needs.  What happens by chance
    has random generators of its own, `Random(f"NAME {seed}")`, so that it changes no draw of
    anything else.  An oracle has a number that no other has, and calls `verdicts.require`.

    Attributes:
        kind: the name of the kind of world in which DAGs have the feature, an option of
            `tests.sim.run`; '': no kind, worlds of any kind may have it.
        meaning: what is so in these worlds.
        place: parts come in the order of their places, at each moment: what a later one gives to a
            DAG may depend on what earlier ones gave.  The pairs of kinds come in this order as well
            (`kinds.PAIRS`): the place of a new part is the next free one.
        stream: of the random generator of `add`, if it is not called as the kind.
        fresh: kinds of worlds of which the tests try seeds, and how many; by itself: FRESH seeds of
            its own kind.  Worlds of two kinds are tried without being named here.
        crashed: seeds of worlds of its kind that the tests run anew with crashes, each with what
            must happen in them.
        helpers: what stands for a helper (`daemon.helpers`) in a simulated DAGMan, by its name: a
            class whose objects have `ask(request, then)`, and `kill_programs()` if they run any.
        undoes: whether what nodes have done may count no more in worlds of its kind.
        at_once: journal records after which a node may run anew without the delay of a retry.
    """

    kind = ""
    meaning = ""
    place = 0
    stream = ""
    fresh: ClassVar[Mapping[str, int]] = {}
    crashed: ClassVar[Collection[tuple[int, Callable[[World], bool]]]] = ()
    helpers: ClassVar[Mapping[str, Callable[[Process], Any]]] = {}
    undoes = False
    at_once: ClassVar[Collection[str]] = ()

    def __init__(self, world: World) -> None:
        """What it does from now on, time after time, comes before what people do to DAGMan."""
        self.world = world

    @classmethod
    def of(cls: type[P], world: World) -> P:
        """The one of a world."""
        return next(part for part in world.parts if isinstance(part, cls))

    @classmethod
    def name(cls) -> str:
        """Of the feature, which is that of the folder."""
        return cls.__module__.split(".")[-2]

    @property
    def is_on(self) -> bool:
        """Whether the world is of its kind."""
        return self.kind in self.world.kinds

    @property
    def is_exact(self) -> bool:
        """Whether what nodes have done counts for good, as far as the kinds of the world go."""
        return not any(part.undoes and part.is_on for part in self.world.parts)

    # What is drawn; of worlds of its kind only.

    @classmethod
    def config(cls, config: Config, seed: int) -> Config:
        """The settings of the DAG, if the feature needs others than those that were drawn."""
        return config

    @classmethod
    def add(cls, dag: Dag, rng: Random) -> None:
        """Give a random DAG something of the feature."""

    def lines(
        self, name: str, parents: Collection[str], rng: Random, before: list[str]
    ) -> list[str]:
        """Lines about a new node of a piece, of which some parents are known; `before` are those of
        earlier parts about it."""
        return []

    # What is drawn, of worlds of any kind.

    @classmethod
    def add_to_node(cls, dag: Dag, node: int, rng: Random, often: float) -> None:
        """Give a node something of a feature that any random DAG may have.

        `rng` is that of the DAG: whatever is drawn from it changes all DAGs.
        """

    # What the world is.

    def begin(self) -> None:
        """All of the world is there; what it does from now on, time after time, comes after what
        people do to DAGMan."""

    def given(self, dag: Dag) -> object | None:
        """What a DAGMan that starts gives to the feature (see `Engine`); None: nothing."""
        return None

    def prepare(self, run: DagRun) -> None:
        """A DAGMan is about to start."""

    def answered(self, answer: do.Action) -> None:
        """DAGMan has answered who asked over its command socket."""

    def given_up(self) -> None:
        """DAGMan gives up all that it keeps beyond its DAG."""

    def never_runs(self, cluster: Cluster) -> bool:
        """Whether a job stays idle for now, whatever comes."""
        return False

    def is_deaf(self, cluster: Cluster) -> bool:
        """Whether it takes long until a job that is removed is gone."""
        return False

    def job_runs(self, job: Job) -> None:
        """A job that is no node's runs, again perhaps: it ends by `FakeJobs.end`."""

    def goes_on(self, code: int) -> bool:
        """Whether the DAG, which has ended with a code, is run again from its start."""
        return False

    def new_era(self) -> None:
        """It is run again, or its rescue DAG is."""

    # What is checked, in this order; each process starts with `started`.

    def started(self, process: Process, *, recovering: bool) -> None:
        """A process is about to begin; with a new `Truth` if it does not recover."""

    def input_given(self, process: Process, an_input: inputs.Input) -> None:
        """The engine is about to be told something."""

    def action_asked(self, process: Process, action: do.Action) -> None:
        """An action for an input is about to be done."""

    def input_done(self, process: Process, an_input: inputs.Input) -> None:
        """All actions for an input have been done; not if the log has lost anything."""

    def job_asked(self, action: do.SubmitJob) -> tuple[Sequence[do.SubmitNode], Throttles]:
        """The nodes that a job stands for which is no node's, and the limits in force when DAGMan
        decided to submit it."""
        return (), Throttles()

    def job_taken(self, cluster: Cluster, action: do.SubmitJob) -> Iterable[Cluster]:
        """The schedd takes such a job: what of it is each node's."""
        return ()

    def cluster_taken(self, process: Process, cluster: Cluster) -> None:
        """The schedd takes a node's jobs."""

    def in_log(self, process: Process, event: LogEvent) -> None:
        """An event can be read in the log, now or soon, and the truth knows it; `process` runs."""

    def rescue_written(self, process: Process, text: str) -> None:
        """A rescue file is on disk."""

    def replayed(self, live: RunState, other: RunState) -> None:
        """O7: a fresh engine has replayed the log; it has to have what the live one has."""

    def exited(self, process: Process, code: int) -> None:
        """A process has ended by itself."""

    def ended_well(self, process: Process) -> None:
        """It has, with exit code 0, which neither a FINAL node nor an ABORT-DAG-ON has made."""

    # What the truth knows, by what can be read in the log alone: see `Truth`.

    def learn(self, truth: Truth, event: LogEvent, cluster: Cluster | None) -> None:
        """The log has an event, perhaps of a cluster of this era: what it means for nodes."""

    def conclude(self, truth: Truth, event: LogEvent) -> None:
        """All have learned of it: what follows."""

    def is_incomplete(self, truth: Truth, name: str, *, ran: bool) -> bool:
        """Whether a node whose jobs and scripts have ended well is not done yet; `ran`: unless its
        jobs were left out.  A part may note that it was asked, for what is still to come."""
        return False

    def runs_anew(self, name: str) -> None:
        """What a node has done, and what was decided of it, counts no more."""

    def got_parent(self, name: str) -> None:
        """A node, which has not begun, has another parent."""

    # What other oracles ask.

    def allows(self, run: RunState, parent: int, child: int) -> bool:
        """O1: whether a node need not wait for that parent."""
        return False

    def holds_back(self, run: RunState) -> bool:
        """O21, O23, O26: whether it keeps what is ready from being started."""
        return False

    def waiting(self, run: RunState) -> Collection[int]:
        """O26: nodes that are ready, and wait for something of the feature."""
        return ()

    def idle(self, run: RunState) -> int:
        """O26: how many jobs in the queue wait that are no node's."""
        return 0

    def differs(self, want: State, have: State, other: RunState, node: int) -> bool:
        """O7: whether a node may have a state that its replay does not have, as no log shows it."""
        return False

    def blurs(self, dag: Dag) -> bool:
        """O8: whether what nodes have done may count no more by rules that the truth does not know:
        then the engine is believed which of them a rescue DAG decides anew."""
        return False

    def done_anew(self) -> set[str]:
        """O8: names of nodes that are done, and which a rescue DAG decides anew."""
        return set()

    def not_run(self) -> set[str]:
        """Names of nodes that are done in this era and have not run."""
        return set()


class FakeHelper:
    """What one DAGMan process has a helper do: each request takes its time, and is answered by
    `_answer` of the derived class.

    Attributes:
        may_outlive: whether it may still do what it was asked for when its DAGMan has died.
    """

    may_outlive = False

    def __init__(self, process: Process, rng: Random) -> None:
        self._process, self._world, self._rng = process, process.world, rng

    def ask(self, request: Any, then: Callable[[Any], None]) -> None:
        self._world.boundary()
        self._process.requests.pending += 1
        delay = self._rng.choice((0.0, 0.0, self._rng.uniform(0.0, MAX_DELAY_S)))
        self._world.at(self._done_at(delay), lambda: self._obey(request, then))

    def _done_at(self, delay: float) -> float:
        return self._world.now + delay

    def _obey(self, request: Any, then: Callable[[Any], None]) -> None:
        world, process = self._world, self._process
        alive = world.process is process and process.exit is None
        orphaned = self.may_outlive and world.process is None
        if alive or (orphaned and self._rng.random() < 0.5):
            answer = self._answer(request)
        if alive:
            process.requests._answer_at(world.now, then, answer)

    def _answer(self, request: Any) -> Any:
        raise NotImplementedError
