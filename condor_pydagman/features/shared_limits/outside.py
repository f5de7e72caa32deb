"""What DAGs have of limits that DAGs share; of a DAG that keeps to none nothing is read.

The files of all DAGMans of the access point are read, so only so often, and once for all DAGs that
are watched together.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from condor_pydagman.errors import PydagmanError
from condor_pydagman.features.shared_limits.commands import LimitsOfDag, limit_uses_of
from condor_pydagman.features.shared_limits.overview import (
    LimitRow,
    LimitsAsked,
    OwnPart,
    parts_of,
)
from condor_pydagman.graph.model import Dag

if TYPE_CHECKING:
    from condor_pydagman.features.shared_limits.listing import LimitsListing

FRESH_S = 2.0  # for which what was read of the directory is told again
SHARE = 50  # reading may take one part in so many of the time until the next


class LimitsInUse:
    """The limits, looked at again and again.

    Args:
        rows: gives all of them as they are now, or raises PydagmanError.
        has_claim: whether a DAGMan job has ever asked for a part of any.
    """

    def __init__(
        self, rows: Callable[[], Sequence[LimitRow]], has_claim: Callable[[int], bool]
    ) -> None:
        self._rows, self._has_claim = rows, has_claim
        self._known: Sequence[LimitRow] = ()
        self._next = 0.0  # by the monotonic clock

    def of(self, dag: Dag | None, cluster: int) -> Sequence[OwnPart]:
        """How those stand that a DAG keeps to; none if they can't be read, which `condor_pydagman
        limits` explains.

        Args:
            dag: None if it is too large to be read: then its DAGMan's claims tell.
            cluster: of its DAGMan job, or the number of its process.
        """
        names = {use.limit.lower() for use in limit_uses_of(dag)} if dag is not None else None
        keeps_to_some = bool(names) if names is not None else self._has_claim(cluster)
        applied = _applied(dag) if dag is not None else ()
        return parts_of(self._fresh(), cluster, names, applied) if keeps_to_some else ()

    def shown(self, dag: Dag | None, cluster: int, *, has_any: bool) -> dict[str, Any]:
        """Those that the DAG keeps to, while it may have a part of them."""
        parts = self.of(dag, cluster) if has_any else ()
        return {"shared_limits": [part._asdict() for part in parts]}

    def _fresh(self) -> Sequence[LimitRow]:
        begun = time.monotonic()
        if begun >= self._next:
            try:
                self._known = self._rows()
            except PydagmanError:
                self._known = ()
            now = time.monotonic()
            self._next = now + max(FRESH_S, SHARE * (now - begun))
        return self._known


def _applied(dag: Dag) -> tuple[str, ...]:
    return tuple(map(str.lower, LimitsOfDag.of(dag).applied))


def watcher() -> LimitsInUse:
    """By the directory of claims; what reads it is loaded when a DAG needs it first."""

    @functools.cache
    def listing() -> LimitsListing:
        from condor_pydagman.features.shared_limits.listing import LimitsListing

        return LimitsListing()

    def has_claim(cluster: int) -> bool:
        from condor_pydagman.features.shared_limits.listing import has_claim

        return has_claim(cluster)

    return LimitsInUse(lambda: listing().rows(), has_claim)


def asked(dag: Dag, primary: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What is taken of the limits that the DAG keeps to, and whether DAGMan can have places of
    them; see `monitor.outside_facts`."""
    if not limit_uses_of(dag):
        return {}, ()
    from condor_pydagman.adapters.request_client import limits_trouble_of
    from condor_pydagman.features.shared_limits.listing import all_limits

    found, unknown = LimitsAsked(applied=_applied(dag)), []
    try:
        found = found._replace(trouble=limits_trouble_of(primary))
    except PydagmanError as error:
        unknown.append(f"DAGMan does not report whether it can use the shared limits: {error}")
    try:
        found = found._replace(rows=tuple(all_limits()))
    except PydagmanError as error:
        unknown.append(f"The use of shared limits is not known: {error}")
    return {"shared_limits": found}, tuple(unknown)
