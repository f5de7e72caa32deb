"""What DAGs need that have sub-DAGs, scripts, DATA nodes, groups, shared limits, conditions or
CACHE commands.

Others do not load what these take.  What a DAG gets of this while it runs, by nodes that are added
to it, is opened when it is first needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from condor_pydagman.adapters import script_runner
from condor_pydagman.adapters.kept_pieces import MB
from condor_pydagman.daemon import subdag_nodes
from condor_pydagman.daemon.dag_input import CannotStart, build_options, growth_desk
from condor_pydagman.graph.stepwise import Steps, at_once
from condor_pydagman.vocabulary import NodeKind

if TYPE_CHECKING:
    from condor_pydagman.adapters.kept_pieces import KeptPieces
    from condor_pydagman.adapters.schedd_process import ScheddProcess
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.ports import Cache, Conditions, Growth, Out, SharedLimits
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.dagman_job.options import DagmanOptions
    from condor_pydagman.graph.model import Dag
    from condor_pydagman.names import DagPaths


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
        subdag_nodes.preload()
    if dag.scripts or dag.feeder is not None:
        script_runner.preload()
    if NodeKind.DATA in dag.kinds:
        from condor_pydagman.daemon import data_nodes  # noqa: F401  (large, and few DAGs have any)
    wrong = _site_desk().refuse_bad_policies(dag) if dag.site_groups else ""
    if dag.limit_uses and not wrong:
        wrong = _limits_desk().refuse_unknown_limits(dag, admin)
    if decides(dag) and not wrong:
        wrong = yield from _condition_desk().refuse_bad_conditions(dag)
    return wrong


def open_desks(run: DagRun, schedd: ScheddProcess, admin: Config) -> None:
    """Begin what is done beside the schedd for this DAG."""
    if run.dag.site_groups:
        run.sites = _site_desk().open_desk(run, schedd)
    if run.dag.limit_uses or (admin.all_restart_pre_rate and run.recovering):
        run.limits_desk()
    if decides(run.dag):
        run.condition_desk()
    if run.dag.cached:
        run.cache_desk()


class Desks:
    """See `ports.Desks`.

    Args:
        admin: the administrator's knobs.
        pieces: what is added to the DAG.
    """

    def __init__(
        self, run: DagRun, schedd: ScheddProcess, admin: Config, pieces: KeptPieces
    ) -> None:
        self._run = run
        self._schedd = schedd
        self._admin = admin
        self._pieces = pieces

    def obstacle(self, piece: Dag) -> Steps[str]:
        """See `ports.Desks`."""
        return _obstacle(piece, self._admin)

    def growth(self) -> Growth:
        """See `ports.Desks`."""
        return growth_desk(self._run, self._pieces)

    def shared_limits(self) -> SharedLimits:
        """See `ports.Desks`."""
        desk: SharedLimits = _limits_desk().open_desk(self._run, self._schedd, self._admin)
        return desk

    def conditions(self) -> Conditions:
        """See `ports.Desks`."""
        desk: Conditions = _condition_desk().open_desk(self._run, self._schedd)
        return desk

    def cache(self) -> Cache:
        """See `ports.Desks`."""
        desk: Cache = _cache_desk().open_desk(self._run, self._schedd)
        return desk


def known_results(dag: Dag, paths: DagPaths) -> Mapping[str, str]:
    """Names of what nodes with a CACHE command have last made, by names of nodes."""
    if dag.cached and _cache_desk().asks_at_the_start(dag):
        found: Mapping[str, str] = _cache_desk().known_results(paths.cache)
        return found
    return _LateResults(paths.cache)


class _LateResults(Mapping[str, str]):
    """The same, read when it is first asked for, which most DAGs never do."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: Mapping[str, str] | None = None

    def _all(self) -> Mapping[str, str]:
        if self._known is None:
            self._known = _cache_desk().known_results(self._path)
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
    if dag.cached:
        _cache_desk().foresee(dag, paths.cache, out)
    if dag.extensions or dag.feeder is not None:
        ahead, how = _growth_outlook(), build_options(options, config)
        for line in ahead.told(dag, ahead.outlook(dag, how, config.max_piece_mb * MB)):
            out.say(line)


def decides(dag: Dag) -> bool:
    """Whether the DAG has conditions, or nodes that publish anything."""
    return bool(dag.conditions or dag.published)


def _site_desk() -> ModuleType:
    from condor_pydagman.daemon import site_desk

    return site_desk


def _limits_desk() -> ModuleType:
    from condor_pydagman.daemon import limits_desk

    return limits_desk


def _condition_desk() -> ModuleType:
    from condor_pydagman.daemon import condition_desk

    return condition_desk


def _cache_desk() -> ModuleType:
    from condor_pydagman.daemon import cache_desk

    return cache_desk


def _growth_outlook() -> ModuleType:
    from condor_pydagman.adapters import growth_outlook

    return growth_outlook
