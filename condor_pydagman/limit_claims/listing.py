"""All shared limits and what DAGs have of them, for people."""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Callable

from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.limit_claims import configured
from condor_pydagman.limit_claims.directory import DEFAULT, LimitsDirectory, open_directory
from condor_pydagman.limit_claims.queued_dags import queued_dags
from condor_pydagman.matchmaking.queued_dagmans import queue_name
from condor_pydagman.shared_limits.limit_overview import LimitRow, Owned, rows


def all_limits(say: Callable[[str], None] = lambda text: None) -> list[LimitRow]:
    """All limits that this user's DAGs can name.

    Args:
        say: is told what is unusual.

    Raises:
        ConfigError: the definitions have mistakes.
        FileError: the directory can't be read.
    """
    limits = configured.limits(lookup(configured.KNOB) or "")
    path = lookup("PYDAGMAN_LIMITS_DIR") or DEFAULT
    owned = _owned(path, say) if limits and os.path.exists(path) else []
    return rows(limits, owned, time.time())


def _owned(path: str, say: Callable[[str], None]) -> list[Owned]:
    seen = LimitsDirectory(open_directory(path, say), queue_name(), "", queued_dags)
    try:
        return [
            Owned(_user(one.user), one.user == os.geteuid(), one.cluster, one.lives, one.stakes)
            for one in seen.everything()
        ]
    finally:
        seen.close()


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
