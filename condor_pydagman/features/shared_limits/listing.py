"""All shared limits and what DAGs have of them, for people."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.adapters.shared_directory import private_paths, user_name
from condor_pydagman.features.common.adapters.queued_dagmans import queue_name, queued_dags
from condor_pydagman.features.shared_limits import configured
from condor_pydagman.features.shared_limits.directory import (
    DEFAULT,
    KNOB,
    LimitsDirectory,
    has_file,
    open_directory,
    open_own_directory,
    own_usual,
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
        self._seen: dict[bool, LimitsDirectory] = {}  # that of own limits, and of the others

    def rows(self) -> list[LimitRow]:
        """All limits as they are now.

        Raises:
            ConfigError, FileError: as of `all_limits`.
        """
        limits = configured.limits(lookup(configured.KNOB) or "")
        kinds = {limit.own for limit in limits.values()}
        return rows(limits, [one for own in kinds for one in self._owned(own)], time.time())

    def is_locked(self) -> bool:
        """Whether somebody keeps all DAGMans from the directory."""
        return False in self._seen and self._seen[False].is_locked()

    def _owned(self, own: bool) -> list[Owned]:
        seen = self._seen.get(own)
        if seen is not None and not seen.directory.is_in_place():
            seen.close()
            del self._seen[own]
        if own not in self._seen:
            paths = private_paths(own_usual()) if own else [claims_path()]
            if not any(map(os.path.exists, paths)):
                return []
            self._queue = self._queue or queue_name()
            say = self._say
            directory = open_own_directory(say) if own else open_directory(claims_path(), say)
            self._seen[own] = LimitsDirectory(directory, self._queue, "", queued_dags, own=own)
        return [
            Owned(user_name(one.user), one.user == os.geteuid(), one.cluster, one.lives, one.says)
            for one in self._seen[own].everything()
        ]

    def close(self) -> None:
        """Close all files."""
        for seen in self._seen.values():
            seen.close()
        self._seen.clear()


def claims_path() -> str:
    """The directory in which DAGMans say what they have taken of limits of the access point."""
    return lookup(KNOB) or DEFAULT


def has_claim(cluster: int) -> bool:
    """Whether a DAGMan of this user's, in whichever queue, has ever asked for a limit."""
    return any(has_file(path, cluster) for path in (claims_path(), *private_paths(own_usual())))
