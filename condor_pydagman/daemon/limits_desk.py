"""Limits that a DAG shares with others: hands requests for places over.

It also keeps the file that proves that this DAGMan lives.  DAGs without SHARED_LIMIT do not load
it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import htcondor2

from condor_pydagman.adapters.knobs import lookup, without_config_file
from condor_pydagman.adapters.shared_directory import SharedDirectory
from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import ConfigError
from condor_pydagman.limit_claims import configured
from condor_pydagman.limit_claims.directory import LimitsDirectory, open_directory
from condor_pydagman.limit_claims.limit_process import (
    LimitProcess,
    Places,
    Rounds,
    TakePlaces,
    WaitForWake,
)
from condor_pydagman.limit_claims.own_file import OwnFile, file_name
from condor_pydagman.limit_claims.queued_dags import queued_dags
from condor_pydagman.matchmaking.queued_dagmans import queue_name
from condor_pydagman.shared_limits.definitions import RESTART, Kind, Limit, unknown

if TYPE_CHECKING:
    from condor_pydagman.adapters.schedd_process import ScheddProcess
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.graph.model import Dag

RELOAD_S = 30.0  # for which limits are taken as known
Tell = Callable[[inputs.Input], None]


class LimitsDesk:
    """What DAGMan does about shared limits.

    Args:
        run: of the DAG.
        own: keeps the file of this DAGMan.
    """

    def __init__(self, run: DagRun, own: OwnFileKeeper) -> None:
        self._run = run
        self._own = own
        self._listens = False

    def take(self, action: do.TakePlaces, tell: Tell) -> None:
        """Ask for places; `tell` is given PlacesGiven or PlacesUnknown later, and PlacesWanted
        whenever others want something."""
        ask = self._run.schedd.ask
        if not self._listens:
            self._listens = True
            ask(WaitForWake(), lambda _: tell(inputs.PlacesWanted()))  # type: ignore[arg-type]
        ask(TakePlaces(action.demands), lambda result: tell(self._told(result)))  # type: ignore[arg-type]

    def _told(self, result: Places | str) -> inputs.Input:
        if isinstance(result, str):
            return inputs.PlacesUnknown(result)
        for line in result.said:
            self._run.out.say(f"Warning: {line}", 0)
        return inputs.PlacesGiven(result.grants, result.contested, result.again_s)

    def give_up(self) -> None:
        """The DAG has ended: all its places are given up."""
        self._own.remove()


class OwnFileKeeper:
    """Makes the own file when it is first needed, and again if it is gone.

    Args:
        run: of the DAG.
        name: usual name of the file.
    """

    def __init__(self, run: DagRun, name: str) -> None:
        self._run = run
        self.name = name
        self._file: OwnFile | None = None

    def keep(self) -> str:
        """See to it that it is there; returns its name.

        Raises:
            FileError: it can't be had.
        """
        if self._file is not None and not self._file.directory.is_in_place():
            self._file.close()
            self._file = None
        if self._file is None:
            self._file = OwnFile(_directory(self._run), self.name)
        return self._file.keep()

    def remove(self) -> None:
        """Remove it."""
        if self._file is not None:
            self._file.remove()


def refuse_unknown_limits(dag: Dag, config: Config) -> str:
    """What is wrong with the limits that a DAG names; '' if nothing is."""
    try:
        known = configured.limits(config.shared_limits)
    except ConfigError as error:
        return str(error)
    for use in dag.limit_uses:
        if use.limit.lower() not in known:
            return unknown(use.limit, known, configured.PLACES)
    return ""


def open_desk(run: DagRun, schedd: ScheddProcess, admin: Config) -> LimitsDesk:
    """The desk of a DAG, and the process that asks for places."""
    queue = queue_name(run.own_ad.get("GlobalJobId"))
    own = OwnFileKeeper(run, file_name(queue, run.cluster or run.pid))
    schedd.add_helper(
        TakePlaces,
        lambda epoll: LimitProcess(
            lambda: _rounds(run, queue, admin),
            own.keep,
            epoll,
            run.clock.monotonic,
            lambda text: run.out.say(text, 0),
        ),
    )
    schedd.share_helper(TakePlaces, WaitForWake)
    return LimitsDesk(run, own)


def _directory(run: DagRun) -> SharedDirectory:
    return open_directory(run.config.limits_dir, lambda text: run.out.say(text, 0))


def _rounds(run: DagRun, queue: str, admin: Config) -> Rounds:
    directory = open_directory(run.config.limits_dir, lambda text: None)
    seen = LimitsDirectory(directory, queue, "", queued_dags)
    return Rounds(seen, Definitions(admin), os.path.abspath(run.paths.primary))


class Definitions:
    """The limits as they are defined now; one that is defined no more, or wrongly, stays.

    Args:
        admin: the administrator's knobs when DAGMan started.
    """

    def __init__(self, admin: Config) -> None:
        self._limits = configured.limits(admin.shared_limits)
        self._pace = admin.all_restart_pre_rate
        self._until = time.monotonic() + RELOAD_S
        self._said: list[str] = []

    def __call__(self) -> tuple[dict[str, Limit], list[str]]:
        """The limits by name, and what is to be told of them, once."""
        news: list[str] = []
        if time.monotonic() >= self._until:
            self._until = time.monotonic() + RELOAD_S
            news = self._load()
        found = dict(self._limits)
        if self._pace:
            found[RESTART] = Limit(RESTART, {Kind.STARTS: 60 * self._pace})
        return found, news

    def _load(self) -> list[str]:
        htcondor2.reload_config()
        with without_config_file():
            text = lookup(configured.KNOB) or ""
        try:
            new = configured.limits(text)
        except ConfigError as error:
            return self._once(f"limits stay as they were: {error}")
        gone = sorted(self._limits[name].name for name in self._limits.keys() - new.keys())
        self._limits = {**self._limits, **new}
        if not gone:
            return []
        return self._once(f"shared limits {', '.join(gone)} are defined no more; they stay")

    def _once(self, line: str) -> list[str]:
        if line in self._said:
            return []
        self._said.append(line)
        return [line]
