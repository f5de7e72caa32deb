"""Rounds in the directories: read what all say, decide, write the own files, wake others.

The limits of the access point are kept in a directory that all users share; those of a user's own
in one of that user's, so that they depend on nobody else.  A DAG that has both is in both.

What a DAGMan has taken counts while it lives; of one that does not, as many places count as its DAG
has jobs in the queue: places that it had not used, or whose jobs have ended since, are free at
once, and a restart forgets nothing, as the nodes log tells how many there are.
"""

from __future__ import annotations

import contextlib
import glob
import os
import time
from collections.abc import Callable, Mapping, Sequence

from condor_pydagman.adapters.shared_directory import (
    LiveFile,
    SharedDirectory,
    Unusable,
    Usual,
    failure,
    label,
    open_private,
    open_this,
)
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.features.common.adapters.job_claims import (
    Claim,
    FileKind,
    JobClaims,
    Line,
    usual_name,
)
from condor_pydagman.features.common.adapters.queued_dagmans import Queued
from condor_pydagman.features.shared_limits import limit_claims as text
from condor_pydagman.features.shared_limits.configured import own_path
from condor_pydagman.features.shared_limits.definitions import Kind, Limit, is_own
from condor_pydagman.features.shared_limits.fair_shares import Demand, Outcome, decide
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims, Part, PlacesClaim

DEFAULT = "/var/tmp/condor_pydagman-limits"  # noqa: S108 - checked, and never trusted
KNOB = "PYDAGMAN_LIMITS_DIR"
WAKES = Line("limits")
LENGTH = 4096  # of a new file: a disk that is full does not keep DAGMan from giving something back
SEEN_LOCKED_S = 1.0  # for which the directory is locked if something is wrong; rounds take less
FILES = FileKind(
    "limits",
    text.parse,
    text.MAX_BYTES,
    max_bytes_of_user=100_000_000,
    check_s=10.0,
    forget_s=600.0,
    by_contents=True,  # there may have been another DAGMan since, with more jobs
)


Ask = Callable[[list[int]], Mapping[int, Queued]]


class LimitsDirectory(JobClaims):
    """The directory, seen by one DAGMan, or by nobody's.

    Args:
        directory: it.
        schedd: what tells the queue of the DAGMan job from others.
        name: of the own file; '' if there is none.
        ask: which of these DAGMan jobs are in the queue; PoolError if that is not known.

        own: whether it is the directory of a user's own limits.
    """

    def __init__(
        self, directory: SharedDirectory, schedd: str, name: str, ask: Ask, *, own: bool = False
    ) -> None:
        super().__init__(directory, FILES, schedd, ask)
        self.own_name = name  # name of the own file, as `OwnFile.keep` has it
        self._own = own

    def of_this(self, claims: LimitClaims) -> LimitClaims:
        """Those of the limits that are kept here."""
        parts = {key: part for key, part in claims.parts.items() if is_own(key) == self._own}
        return claims._replace(parts=parts)

    def others(self) -> list[LimitClaims]:
        """What counts of other DAGMans; raises FileError."""
        place = "own " if self._own else ""  # a DAG may be in both directories
        return [self._claims(one, place + one.name) for one in self.counting(self.own_name)]

    def write(self, claims: LimitClaims) -> None:
        """Take what the own file is to say; raises FileError."""
        if claims == self.read(self.own_name):
            return
        try:
            self.directory.overwrite(self.own_name, text.text_of(claims))
        except OSError as error:
            path = f"{self.directory.path}/{self.own_name}"
            raise FileError(failure(path, error), transient=True) from None

    def look_at_queue(self) -> bool:
        """As of `JobClaims`; all that DAGMans have taken counts while nothing can be asked."""
        with contextlib.suppress(PoolError):
            return super().look_at_queue()
        return False

    def is_locked(self) -> bool:
        """Whether somebody has held the lock for longer than rounds take."""
        try:
            with self.directory.locked(SEEN_LOCKED_S):
                return False
        except Unusable:
            return True

    def everything(self) -> list[Claim]:
        """All that counts, for people; what it says are LimitClaims.

        Raises:
            FileError: the directory can't be read.
        """
        return [one._replace(says=self._claims(one, one.name)) for one in self.counting_now()]

    def _claims(self, one: Claim, name: str) -> LimitClaims:
        """What counts of a DAGMan of the limits that are kept here."""
        says: LimitClaims = one.says
        parts = {
            key: part if one.queued is None else _left(part, one.queued)
            for key, part in says.parts.items()
            if is_own(key) == self._own
        }
        return LimitClaims(says.dag, says.address, parts, name)


def make_round(
    places: Sequence[LimitsDirectory],
    own: LimitClaims,
    limits: Mapping[str, Limit],
    demands: Sequence[Demand],
) -> Outcome:
    """Make a round: what is written into the own files when this returns is taken.

    Args:
        places: the directories of these limits, the shared one first.
        own: the DAG file, and where this DAGMan is woken.
        limits: by key.
        demands: by class of nodes.

    Raises:
        FileError: that can't be done; nothing has changed.
    """
    outcome = _decided(places, own, limits, demands)
    # not under the locks: it may take long
    asked = [place.look_at_queue() for place in places]
    return _decided(places, own, limits, demands) if any(asked) else outcome


def _decided(
    places: Sequence[LimitsDirectory],
    own: LimitClaims,
    limits: Mapping[str, Limit],
    demands: Sequence[Demand],
) -> Outcome:
    with contextlib.ExitStack() as locks:
        for place in places:
            locks.enter_context(place.locked())
        mine = [place.of_this(place.read(place.own_name) or own) for place in places]
        before = own._replace(parts={key: one for part in mine for key, one in part.parts.items()})
        others = [one for place in places for one in place.others()]
        outcome = decide(before, others, limits, demands, time.time())
        for place in places:
            place.write(place.of_this(outcome.claims))
    WAKES.wake(outcome.woken)
    return outcome


def _left(part: Part, queued: Queued) -> Part:
    """What counts of a DAGMan that does not live, but whose job is in the queue.

    Its scripts may run still if it is about to be started again; on hold it has ended them.
    """
    most = {Kind.JOBS: queued.nodes, Kind.IDLE: queued.idle}
    scripts = 0 if queued.held else 10**9
    places = {}
    for kind, claim in part.places.items():
        held = min(claim.held, most.get(kind, scripts))
        places[kind] = PlacesClaim(held, held, held, 0.0, held)
    return Part(places, part.starts)


def open_own_directory(say: Callable[[str], None]) -> SharedDirectory:
    """The directory of this user's own limits; raises FileError."""
    return open_private(own_usual(), say)


def own_usual() -> str:
    """What it is called: another one for each file that defines own limits."""
    return f"{DEFAULT}-{label(own_path())}"


def open_directory(path: str, say: Callable[[str], None]) -> SharedDirectory:
    """The directory of the settings: PYDAGMAN_LIMITS_DIR, or '' for the default.

    Raises:
        FileError: it can't be used.
    """
    return open_this(path, say, Usual(DEFAULT, KNOB, "shared limits"))


def file_name(schedd: str, cluster: int) -> str:
    """Usual name of the file of a DAGMan of this user."""
    return usual_name(FILES, schedd, cluster)


def has_file(path: str, cluster: int) -> bool:
    """Whether a DAGMan of this user's, in whichever queue, has a file in that directory."""
    usual = f"{glob.escape(path)}/{FILES.prefix}.{os.geteuid()}.{'[0-9a-f]' * 16}.{cluster}"
    return bool(glob.glob(usual) or glob.glob(f"{usual}.*"))


class OwnFile:
    """The file of one DAGMan, as DAGMan itself keeps it: there, and locked, which proves that it
    lives.  The process that makes rounds writes it.

    Args:
        usual: name of the file, unless another user has taken it.
        open_shared: opens the directory; it may raise FileError.
    """

    def __init__(self, usual: str, open_shared: Callable[[], SharedDirectory]) -> None:
        self._usual = self.name = usual  # `name` is the one that it has
        self._open = open_shared
        self._file: LiveFile | None = None

    def keep(self) -> str:
        """See to it that it is there and locked; returns its name.  Cheap if it is.

        Raises:
            FileError: it can't be had.
        """
        file = self._file
        if file is not None and file.is_there() and file.directory.is_in_place():
            return file.name
        self.close()
        directory = self._open()
        try:
            self.name = directory.name_of_ours(self._usual)
            self._file = LiveFile(directory, self.name, b" " * LENGTH, again=True)
        except OSError as error:
            directory.close()
            path = f"{directory.path}/{self.name}"
            raise FileError(failure(path, error), transient=True) from None
        return self.name

    def close(self) -> None:
        """Close it: nothing proves any more that DAGMan lives."""
        if self._file is not None:
            self._file.close()
            self._file.directory.close()
            self._file = None

    def remove(self) -> None:
        """Give up everything."""
        if self._file is not None:
            self._file.remove()
            self.close()
