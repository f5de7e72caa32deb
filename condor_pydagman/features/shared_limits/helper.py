"""Asks for places of limits that DAGs share, in a process: a lock which somebody holds, or a schedd
which hangs, holds up nothing else.

DAGMan itself keeps the file that proves that it lives, and has a socket by which others wake it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import htcondor2

from condor_pydagman.adapters.helper_process import Helper
from condor_pydagman.adapters.knobs import lookup, without_config_file
from condor_pydagman.config import Config
from condor_pydagman.errors import ConfigError, FileError, PydagmanError
from condor_pydagman.features.common.adapters.job_claims import Waker
from condor_pydagman.features.common.adapters.queued_dagmans import queue_name, queued_dags
from condor_pydagman.features.shared_limits import configured
from condor_pydagman.features.shared_limits.commands import LimitsOfDag
from condor_pydagman.features.shared_limits.definitions import RESTART, Kind, Limit, is_own
from condor_pydagman.features.shared_limits.directory import (
    WAKES,
    LimitsDirectory,
    OwnFile,
    file_name,
    make_round,
    open_directory,
    open_own_directory,
)
from condor_pydagman.features.shared_limits.fair_shares import Demand, Grant
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims
from condor_pydagman.features.shared_limits.messages import (
    PlacesGiven,
    PlacesUnknown,
    PlacesWanted,
    TakePlaces,
)
from condor_pydagman.graph.stepwise import Steps
from condor_pydagman.named_tuple import NamedTuple

if TYPE_CHECKING:
    from condor_pydagman.daemon.helpers import Helpers
    from condor_pydagman.graph.model import Dag

RELOAD_S = 30.0  # for which limits are taken as known


class Round(NamedTuple):
    """Make a round."""

    # of the own files: in the directory of all users, and in this user's own; '' for one that is
    # not needed
    names: tuple[str, str]
    demands: tuple[Demand, ...]


class Made(NamedTuple):
    """What a round has come to, what is to be told of it, and which limits are the user's own."""

    places: PlacesGiven | PlacesUnknown
    said: list[str]
    own: list[str] | None = None


class Shared(NamedTuple):
    """What the process has for making rounds."""

    # opens the directory of all users, or this user's own if that is wanted
    open: Callable[[bool], LimitsDirectory]
    # gives the limits by name, and what is to be told of them
    limits: Callable[[], tuple[dict[str, Limit], list[str]]]
    dag: str  # the DAG file, for people
    places: dict[bool, LimitsDirectory]  # those that are open

    def place(self, own: bool, name: str) -> LimitsDirectory:
        """A directory, with the name of the own file in it.

        Raises:
            FileError: it can't be used, or there is no such file.
        """
        found = self.places.get(own)
        if found is None or not found.directory.is_in_place():
            found = self.places[own] = self.open(own)
        if not name:
            raise FileError("a limit is another one now", transient=True)
        found.own_name = name
        return found


class LimitHelper(Helper):
    """See `Helper`.

    Args:
        files: keep the files of this DAGMan: that of the user's own limits, and of the others.
        own: names of the user's own limits, in lower case.
        share: makes Shared, in the process; it may raise PydagmanError.
        say: is told what people are to know.
    """

    purpose = "ask for places of shared limits"
    died = "the process that asks for places of shared limits has died"
    late = "no answer within {seconds} s"
    kinds = (Round, Demand, Made, PlacesGiven, PlacesUnknown, Grant, Kind)
    timeout_s, stays_s = 60.0, 20.0

    def __init__(
        self,
        files: Mapping[bool, OwnFile],
        own: Collection[str],
        share: Callable[[], Shared],
        say: Callable[[str], None],
    ) -> None:
        self._files = files
        self._own = own
        self._share = share
        self._say = say
        self._shared: Shared | None = None  # in the process
        self.waker = waker = Waker(WAKES)
        self.woken, self.address = PlacesWanted(), waker.address

    def give_up(self) -> None:
        """All places of the DAG are given up."""
        for file in self._files.values():
            file.remove()

    def orders(self, request: TakePlaces) -> Sequence[Round]:
        """A round, for which the own files are there."""
        needed = {name.lower() in self._own for one in request.demands for name in one.limits}
        names = [self._files[own].keep() if own in needed else "" for own in (False, True)]
        return (Round((names[0], names[1]), request.demands),)

    def reply(self, order: Round, answer: Made) -> PlacesGiven | PlacesUnknown:
        """What the round has come to."""
        for line in answer.said:
            self._say(f"Warning: {line}")
        if answer.own is not None:
            self._own = answer.own
        return answer.places

    def failed(self, order: object, reason: str) -> PlacesUnknown:
        """Nothing has changed, as far as is known."""
        return PlacesUnknown(reason)

    def serve(self, order: Round) -> Made:
        """In the process."""
        self._shared = self._shared or self._share()
        return answer_of(self._shared, self.address, order)


def answer_of(shared: Shared, address: str, order: Round) -> Made:
    """Make a round for demands whose limits are given by name.

    Raises:
        PydagmanError: that can't be done.
    """
    by_name, said = shared.limits()
    names_of_own = [name for name, limit in by_name.items() if limit.own]
    keyed = [
        one._replace(limits=tuple(_key(name, by_name) for name in one.limits))
        for one in order.demands
    ]
    limits = {limit.key: limit for limit in by_name.values()}
    needed = sorted({is_own(key) for one in keyed for key in one.limits})
    try:
        places = [shared.place(own, order.names[own]) for own in needed]
        outcome = make_round(places, LimitClaims(shared.dag, address, {}), limits, keyed)
    except PydagmanError as error:
        return Made(PlacesUnknown(str(error)), said, names_of_own)
    names = {key: limit.name for key, limit in limits.items()}
    grants = [
        grant._replace(full=(names[grant.full[0]], grant.full[1]) if grant.full else None)
        for grant in outcome.grants
    ]
    return Made(PlacesGiven(grants, outcome.contested, outcome.again_s), said, names_of_own)


def _key(name: str, limits: dict[str, Limit]) -> str:
    limit = limits.get(name.lower())
    return limit.key if limit is not None else name.lower()


def open_helper(helpers: Helpers) -> LimitHelper:
    """The helper of a DAG that keeps to shared limits."""
    run, admin = helpers.run, helpers.admin
    queue, place = queue_name(run.job.ad.get("GlobalJobId")), run.config.limits_dir
    say = lambda text: run.out.say(text, 0)  # noqa: E731
    name = file_name(queue, run.job.cluster or run.process.pid)
    files = {
        False: OwnFile(name, lambda: open_directory(place, say)),
        True: OwnFile(name, lambda: open_own_directory(say)),
    }

    def opened(own: bool) -> LimitsDirectory:
        say = lambda text: None  # noqa: E731
        directory = open_own_directory(say) if own else open_directory(place, say)
        return LimitsDirectory(directory, queue, "", queued_dags, own=own)

    def share() -> Shared:
        definitions = Definitions(admin, needs_own=names_limits)
        return Shared(opened, definitions, os.path.abspath(run.paths.primary), {})

    # A mistake in the user's file must not stop a DAG that has limits by a rule alone.
    names_limits = bool(LimitsOfDag.of(run.dag).uses)
    known = configured.limits(admin.shared_limits, needs_own=names_limits)
    own = [name for name, limit in known.items() if limit.own]
    return LimitHelper(files, own, share, say)


def obstacle(dag: Dag, admin: Config) -> Steps[str]:
    """What is wrong with the limits that a DAG names; '' if nothing is."""
    yield from ()
    return configured.unknown_limits(dag, admin)


class Definitions:
    """The limits as they are defined now; one that is defined no more, or wrongly, stays.

    Args:
        admin: the administrator's knobs when DAGMan started.
        needs_own: see `configured.limits`.
    """

    def __init__(self, admin: Config, *, needs_own: bool = True) -> None:
        self._needs_own = needs_own
        self._limits = configured.limits(admin.shared_limits, needs_own=needs_own)
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
            new = configured.limits(text, needs_own=self._needs_own)
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
