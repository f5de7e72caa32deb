"""All shared limits and what DAGs have of them, for people."""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Callable

from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.adapters.queued_dagmans import queue_name, queued_dags
from condor_pydagman.features.shared_limits import configured
from condor_pydagman.features.shared_limits.directory import (
    DEFAULT,
    LimitsDirectory,
    open_directory,
)
from condor_pydagman.features.shared_limits.overview import LimitRow, Owned, rows


def all_limits(say: Callable[[str], None] = lambda text: None) -> list[LimitRow]:
    """All limits that this user's DAGs can name.

    Args:
        say: is told what is unusual.

    Raises:
        ConfigError: the definitions have mistakes.
        FileError: the directory can't be read.
    """
    listing = LimitsListing(say)
    try:
        found = listing.rows()
        if listing.is_locked():
            say(f"{claims_path()} is locked by another process: no DAG can use shared limits")
        return found
    finally:
        listing.close()


class LimitsListing:
    """The same, for those who look again and again: what the schedd has said is kept for a while.

    Args:
        say: is told what is unusual.
    """

    def __init__(self, say: Callable[[str], None] = lambda text: None) -> None:
        self._say = say
        self._queue = ""
        self._seen: LimitsDirectory | None = None

    def rows(self) -> list[LimitRow]:
        """All limits as they are now.

        Raises:
            ConfigError, FileError: as of `all_limits`.
        """
        limits = configured.limits(lookup(configured.KNOB) or "")
        return rows(limits, self._owned() if limits else [], time.time())

    def is_locked(self) -> bool:
        """Whether somebody keeps all DAGMans from the directory."""
        return self._seen is not None and self._seen.is_locked()

    def _owned(self) -> list[Owned]:
        path = claims_path()
        if self._seen is not None and not self._seen.directory.is_in_place():
            self.close()
        if self._seen is None:
            if not os.path.exists(path):
                return []
            self._queue = self._queue or queue_name()
            directory = open_directory(path, self._say)
            self._seen = LimitsDirectory(directory, self._queue, "", queued_dags)
        return [
            Owned(_user(one.user), one.user == os.geteuid(), one.cluster, one.lives, one.says)
            for one in self._seen.everything()
        ]

    def close(self) -> None:
        """Close all files."""
        if self._seen is not None:
            self._seen.close()
            self._seen = None


def claims_path() -> str:
    """The directory in which DAGMans say what they have taken."""
    return lookup("PYDAGMAN_LIMITS_DIR") or DEFAULT


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
