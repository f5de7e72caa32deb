"""What only some DAGs need: the helpers that the engine asks, and what else is loaded at the start
of a DAG that has sub-DAGs, scripts or DATA nodes; and which DAGs are refused for what they want.

Other DAGs do not load what these take.  What a DAG gets of this while it runs, by nodes that are
added to it, is made when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from condor_pydagman.daemon.dag_input import CannotStart, build_options
from condor_pydagman.feature_table import (
    HELPERS,
    MOVES_DATA,
    helpers_of,
    load_all,
    part,
    rules_of,
    wanted_after_replay,
)
from condor_pydagman.graph.stepwise import Steps, at_once
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import SLEEP_AGAIN_S
from condor_pydagman.vocabulary import NodeKind

if TYPE_CHECKING:
    from condor_pydagman.adapters.helper_process import Helper, HelperProcess
    from condor_pydagman.adapters.schedd_process import ScheddProcess
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.dagman_job.options import DagmanOptions
    from condor_pydagman.graph.model import Dag


class Foreseen(NamedTuple):
    """What a feature is to do in a DAG, as far as that is known before."""

    lines: Sequence[str]  # for people
    fields: Mapping[str, Any]  # of `condor_pydagman dry-run --json`
    # by node, why it would run; '' if it is taken for done
    reasons: Mapping[int, str] = MappingProxyType({})
    several_in: str = ""  # what several nodes may be in that are a job together
    goes_on: bool = False  # whether nodes may come when all are done


def admitted(
    dag: Dag, admin: Config, owner: str = "", group: str = "", *, loads: bool = False
) -> Iterator[str]:
    """Put into a DAG what the administrator wants of it, yield what is to be told of that, and
    refuse the DAG if it can't have what it wants, as `preload` does.

    Args:
        owner: of DAGMan's job, '' for this user; `group`: its accounting group.
        loads: whether the DAG is to run, see `preload`.
    """
    for rules in rules_of(admin):
        yield from rules.apply(dag, admin, owner, group)
    (preload if loads else _refuse)(dag, admin)


def preload(dag: Dag, admin: Config) -> None:
    """Import now what nodes of this DAG need later; see each `preload` for the reason.

    Raises:
        CannotStart: it names what there is not, or what can't be read.
    """
    _load(dag)
    _refuse(dag, admin)


def _refuse(dag: Dag, admin: Config) -> None:
    wrong = at_once(_obstacle(dag, admin))
    if wrong:
        error = CannotStart(f"ERROR: {wrong}")
        error.words = tuple(wrong.partition(":")[0].split())  # if it does not begin with its place
        raise error


def _load(dag: Dag) -> None:
    """Import what the nodes of a DAG, or of a piece of one, need."""
    if dag.subdags:
        # Another version may be installed while the DAG runs, and modules of two versions must not
        # be mixed.
        from condor_pydagman.adapters import config_file  # noqa: F401  (a sub-DAG may have one)
        from condor_pydagman.dagman_job import nested_dags  # noqa: F401
    if dag.scripts:
        from condor_pydagman.adapters import script_runner

        script_runner.preload()
    if dag.may_grow():
        load_all()  # what is added may have it


def _obstacle(dag: Dag, admin: Config) -> Steps[str]:
    """What is wrong with what a DAG, or a piece of one, has; '' if nothing is."""
    if NodeKind.DATA in dag.kinds and part(MOVES_DATA, "jobs") is None:
        return "this installation lacks condor_pydagman/features/data/jobs.py"
    for name in helpers_of(dag):
        look = getattr(_module(name), "obstacle", None)
        wrong: str = "" if look is None else (yield from look(dag, admin))
        if wrong:
            return wrong
    return ""


def _module(name: str) -> Any:
    """The module of a helper.  A process has the code that DAGMan has loaded, so that an upgrade
    changes none that it will run."""
    return part(name, "helper")


def open_helpers(run: DagRun, admin: Config) -> None:
    """Make what this DAG needs."""
    late = wanted_after_replay(admin) if run.recovering else ()
    for name in (*helpers_of(run.dag), *(one for one in late if one in HELPERS)):
        run.helpers.open(name)


def foresee(dag: Dag, options: DagmanOptions, config: Config) -> dict[str, Foreseen]:
    """What features are to do, by their names; what they take for done is marked so.

    Each helper's `foresee` is asked: `how` is how DAG files are read, and with `checks_only`, as
    -lint asks, it marks nothing, nor does it ask the pool, which may take long.
    """
    how = build_options(options, config)
    helpers = ((name, _module(name)) for name in helpers_of(dag))
    return {name: one.foresee(dag, config, how) for name, one in helpers if hasattr(one, "foresee")}


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
    """See `ports.Helpers`."""

    def __init__(
        self, run: DagRun, schedd: ScheddProcess, admin: Config, given: Mapping[str, Any]
    ) -> None:
        self.run = run
        self.admin = admin  # the administrator's knobs
        self.given = given  # what features begin with
        self._schedd = schedd
        self._processes: dict[str, HelperProcess] = {}
        self._in_steps: dict[str, InSteps] = {}

    def open(self, name: str) -> HelperProcess | InSteps:
        """See `ports.Helpers`; what a helper serves is done in a process."""
        found = self._processes.get(name) or self._in_steps.get(name)
        if found is not None:
            return found
        helper = _module(name).open_helper(self)
        if hasattr(helper, "serve"):
            found = self._processes[name] = self._started(helper)
        else:
            found = self._in_steps[name] = helper
        return found

    def _started(self, helper: Helper) -> HelperProcess:
        if helper.is_like_new and self.run.config.sleep_after:
            helper.stays_s = SLEEP_AGAIN_S  # a DAGMan with a child does not sleep
        make, clock = _process_class(), self.run.clock.monotonic
        warn = lambda text: self.run.out.say(text, 0)  # noqa: E731
        return self._schedd.add(lambda epoll: make(helper, epoll, clock, warn))

    def ask(self, helper: str, request: Any, then: Callable[[Any], None]) -> None:
        """See `ports.Helpers`."""
        self.open(helper).ask(request, then)

    @property
    def rests(self) -> bool:
        """See `ports.Helpers`."""
        return not self._in_steps and all(one.rests for one in self._processes.values())

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
        _load(piece)
        return _obstacle(piece, self.admin)


def _process_class() -> type[HelperProcess]:
    from condor_pydagman.adapters.helper_process import HelperProcess

    return HelperProcess
