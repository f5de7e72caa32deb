"""Puts a worker together: the ways, the turns and the ledger, by the settings."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from condor_pydagman.config import Config
from condor_pydagman.config.knob import TRANSFER
from condor_pydagman.data_requests.request_order import follows
from condor_pydagman.data_requests.requests import Placement
from condor_pydagman.data_requests.settings import Settings, settings_of
from condor_pydagman.placement.allocations import Space
from condor_pydagman.placement.cache_way import CacheWay
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.gfal_way import GfalWay
from condor_pydagman.placement.journal import NoJournal
from condor_pydagman.placement.module_way import ModuleWay
from condor_pydagman.placement.performer import Performer
from condor_pydagman.placement.plugin_way import PluginWay
from condor_pydagman.placement.turns import Turns
from condor_pydagman.placement.way import Surroundings, Way
from condor_pydagman.placement.worker import Listener, Worker
from condor_pydagman.placement.worker_processes import WorkerProcesses, processes_for


def configured_settings() -> Settings:
    """The settings in force; the defaults where there is no HTCondor.

    Raises:
        ConfigError: a knob is wrong.
    """
    try:
        from condor_pydagman.adapters import knobs
    except ImportError:  # no bindings: a transfer needs none
        return settings_of(Config(), lambda name: None)
    return settings_of(knobs.load(program=TRANSFER), knobs.lookup)


def make_worker(
    placements: Sequence[Placement],
    surroundings: Surroundings,
    listener: Listener,
    stop: threading.Event,
    journal: NoJournal | None = None,
    *,
    may_fork: bool = False,
) -> Worker | WorkerProcesses:
    """A worker for these placements; see `Worker`.

    Args:
        may_fork: whether the process has no threads, so that several processes may share many
            placements.
    """
    journal = journal or NoJournal()
    surroundings = surroundings._replace(must_stop=stop.is_set)
    settings, say = surroundings.settings, surroundings.say
    direct = DirectWay()
    ways: list[Way] = [ModuleWay(), direct, GfalWay(direct.obstacle), PluginWay()]
    performer = Performer(
        surroundings,
        [*ways, CacheWay(ways)],
        Turns(settings, say),
        Space(settings, say, surroundings.dag, surroundings.node),
    )
    # what has to follow other requests is in the process that knows of their ends
    may_fork = may_fork and not follows(placements)
    count = processes_for(placements, settings.max_streams) if may_fork else 1
    if count > 1:
        return WorkerProcesses(placements, performer, listener, stop, journal, count)
    return Worker(placements, performer, listener, stop, journal)
