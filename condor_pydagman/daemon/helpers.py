"""What only some DAGs need: the helpers that the engine asks, and what else is loaded at the start
of a DAG that has sub-DAGs, scripts or DATA nodes.

Other DAGs do not load what these take.  What a DAG gets of this while it runs, by nodes that are
added to it, is made when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from condor_pydagman.adapters import script_runner
from condor_pydagman.daemon.dag_input import CannotStart, build_options
from condor_pydagman.features import load_all, part
from condor_pydagman.graph.stepwise import Steps, at_once
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import MB, NodeKind

if TYPE_CHECKING:
    from condor_pydagman.adapters.helper_process import Helper, HelperProcess
    from condor_pydagman.adapters.schedd_process import ScheddProcess
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.late_pieces import LatePieces
    from condor_pydagman.daemon.ports import Out
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.dagman_job.options import DagmanOptions
    from condor_pydagman.graph.model import Dag
    from condor_pydagman.names import DagPaths


class Row(NamedTuple):
    """Where a helper is, and what its process may take.

    Attributes:
        module: of this package; its `open_helper(helpers)` gives the helper, its `obstacle(dag,
            admin)` says why a DAG can't have what it wants of it.
        timeout_s: seconds that one order may take; 0: it has no process, but works in DAGMan itself
            (see `InSteps`).
        stays_s: seconds for which the process stays without an order.
        max_bytes: of memory that the process may take beyond what DAGMan had; 0: no limit.
    """

    module: str
    timeout_s: float = 0.0
    stays_s: float = 0.0
    max_bytes: int = 0


HELPERS = {
    "cache": Row("features.cache.helper", 60.0, 600.0),
    "conditions": Row("features.run_if.helper", 10.0, 10.0, 256 << 20),
    "growth": Row("features.growth.helper"),
    "limits": Row("features.shared_limits.helper", 60.0, 20.0),
    "sites": Row("features.sites.helper", 90.0, 5.0),
}


def preload(dag: Dag, admin: Config) -> None:
    """Import now what nodes of this DAG need later; see each `preload` for the reason.

    Raises:
        CannotStart: it names what there is not, or what can't be read.
    """
    wrong = at_once(_obstacle(dag, admin))
    if wrong:
        raise CannotStart(f"ERROR: {wrong}", 1)


def _obstacle(dag: Dag, admin: Config) -> Steps[str]:
    """Import what the nodes of a DAG, or of a piece of one, need; returns what is wrong with it."""
    if dag.subdags:
        from condor_pydagman.daemon import subdag_nodes

        subdag_nodes.preload()
    if dag.scripts or dag.features.get("feeder"):
        script_runner.preload()
    if dag.may_grow():
        load_all()  # what is added may have it
    if NodeKind.DATA in dag.kinds:
        from condor_pydagman.daemon import data_nodes  # noqa: F401  (large, and few DAGs have any)
    wrong = ""
    for name in wanted(dag):
        if not wrong:
            wrong = yield from _module(name).obstacle(dag, admin)
    return wrong


def wanted(dag: Dag) -> list[str]:
    """The helpers that a DAG wants."""
    wants = {
        "sites": dag.features.get("sites"),
        "limits": dag.features.get("shared_limits"),
        "conditions": dag.features.get("run_if") or _publishes(dag),
        "cache": dag.features.get("cache"),
        "growth": dag.features.get("growth") or dag.features.get("feeder"),
    }
    return [name for name, there in wants.items() if there]


def _publishes(dag: Dag) -> bool:
    """Not if it has only what an earlier run knew."""
    return "publish" in dag.features and bool(part("publish", "graph").published_of(dag))


def _module(name: str) -> ModuleType:
    """The module of a helper.  A process has the code that DAGMan has loaded, so that an upgrade
    changes none that it will run."""
    return import_module(f"condor_pydagman.{HELPERS[name].module}")


def open_helpers(run: DagRun, admin: Config) -> None:
    """Make what this DAG needs."""
    for name in wanted(run.dag):
        run.helpers.open(name)
    if admin.all_restart_pre_rate and run.recovering:
        run.helpers.open("limits")


class InSteps(Protocol):
    """A helper that works in DAGMan itself, some milliseconds at a time."""

    def ask(self, request: Any, then: Callable[[Any], None]) -> None:
        """Do what is asked; `then` is given the reply later."""

    def next_deadline(self) -> float | None:
        """When to call `work`, monotonic seconds; None if there is nothing to do."""

    def work(self, now: float) -> None:
        """A step of what is due."""

    def kill_programs(self) -> None:
        """Kill the programs that it runs; they are not answered."""


class Helpers:
    """See `ports.Helpers`.

    Attributes:
        admin: the administrator's knobs.
        pieces: what is added to the DAG.
    """

    def __init__(
        self, run: DagRun, schedd: ScheddProcess, admin: Config, pieces: LatePieces
    ) -> None:
        self.run, self.admin, self.pieces = run, admin, pieces
        self._schedd = schedd
        self._processes: dict[str, HelperProcess] = {}
        self._in_steps: dict[str, InSteps] = {}

    def open(self, name: str) -> HelperProcess | InSteps:
        """See `ports.Helpers`."""
        found = self._processes.get(name) or self._in_steps.get(name)
        if found is not None:
            return found
        row, helper = HELPERS[name], _module(name).open_helper(self)
        if row.timeout_s:
            made = self._processes[name] = self._started(helper, row)
            return made
        in_steps: InSteps = helper
        self._in_steps[name] = in_steps
        return in_steps

    def _started(self, helper: Helper, row: Row) -> HelperProcess:
        make, clock = _process_class(), self.run.clock.monotonic
        warn = lambda text: self.run.out.say(text, 0)  # noqa: E731
        return self._schedd.add(lambda epoll: make(helper, epoll, clock, warn, *row[1:]))

    def ask(self, helper: str, request: Any, then: Callable[[Any], None]) -> None:
        """See `ports.Helpers`."""
        self.open(helper).ask(request, then)

    def next_deadline(self) -> float | None:
        """See `ports.Helpers`."""
        times = [helper.next_deadline() for helper in self._in_steps.values()]
        return min((time for time in times if time is not None), default=None)

    def work(self, now: float) -> None:
        """See `ports.Helpers`."""
        for helper in self._in_steps.values():
            helper.work(now)

    def kill_programs(self) -> None:
        """See `ports.Helpers`."""
        for helper in self._in_steps.values():
            helper.kill_programs()

    def give_up(self) -> None:
        """See `ports.Helpers`."""
        for process in self._processes.values():
            process.helper.give_up()

    def obstacle(self, piece: Dag) -> Steps[str]:
        """See `ports.Helpers`."""
        return _obstacle(piece, self.admin)


def known_results(dag: Dag, paths: DagPaths) -> Mapping[str, str]:
    """Names of what nodes with a CACHE command have last made, by names of nodes."""
    if dag.features.get("cache") and _module("cache").asks_at_the_start(dag):
        found: Mapping[str, str] = _module("cache").known_results(paths.cache)
        return found
    return _LateResults(paths.cache)


class _LateResults(Mapping[str, str]):
    """The same, read when it is first asked for, which most DAGs never do."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: Mapping[str, str] | None = None

    def _all(self) -> Mapping[str, str]:
        if self._known is None:
            self._known = _module("cache").known_results(self._path)
        return self._known

    def __getitem__(self, name: str) -> str:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def foresee(dag: Dag, paths: DagPaths, options: DagmanOptions, config: Config, out: Out) -> None:
    """-DryRun: nodes with a CACHE command of which nothing has changed are taken for done; say so,
    and what others would add to the DAG."""
    if dag.features.get("cache"):
        _module("cache").foresee(dag, paths.cache, out)
    if dag.may_grow():
        ahead, how = _growth_outlook(), build_options(options, config)
        for line in ahead.told(dag, ahead.outlook(dag, how, config.max_piece_mb * MB)):
            out.say(line)


def _process_class() -> type[HelperProcess]:
    from condor_pydagman.adapters.helper_process import HelperProcess

    return HelperProcess


def _growth_outlook() -> ModuleType:
    from condor_pydagman.features.growth.adapters import outlook as growth_outlook

    return growth_outlook
