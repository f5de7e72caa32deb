"""What a person has set for a node instead of what its DAG file says, as the nodes log has it.

No state of the run is needed here: `steering` sets, `RunState` answers with the values in force.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Optional

from condor_pydagman.graph.model import Retry, Variable
from condor_pydagman.named_tuple import NamedTuple

# Bytes of a text and its node's name together.  A record in the nodes log takes 900 with its frame
# and the number of the command (see `records.own_events`).
MAX_BYTES = 700

# Seconds that jobs may wait, run and live, and perhaps those after which they are late; 0 for no
# limit, None: as the DAG file says.
TimeoutSetting = tuple[Optional[int], ...]


class NodeSettings(NamedTuple):
    """What is set; None, or no variables: as the DAG file says."""

    priority: int | None = None  # the node's own, without what is added for the whole DAG
    retries: int | None = None  # how many times it runs again after a failure
    # limits of its jobs; what is not said stays
    timeout: TimeoutSetting | None = None
    category: str | None = None  # which throttle counts it
    # keys and values that are added to its VARS, or replace them
    variables: tuple[tuple[str, str], ...] = ()

    def merged(self, later: NodeSettings) -> NodeSettings:
        """These, and what was set later."""
        said = {name: value for name, value in later._asdict().items() if value not in (None, ())}
        variables = tuple({**dict(self.variables), **dict(later.variables)}.items())
        if self.timeout is not None and later.timeout is not None:
            limits = zip_longest(self.timeout, later.timeout)
            said["timeout"] = tuple(old if new is None else new for old, new in limits)
        return self._replace(**{**said, "variables": variables})


NOTHING = NodeSettings()


def retry_in_force(retry: Retry | None, settings: NodeSettings | None) -> Retry | None:
    """A node's RETRY command with what was set."""
    if settings is None or settings.retries is None:
        return retry
    return (retry or Retry(0))._replace(limit=settings.retries)


def variables_in_force(
    variables: Iterable[Variable], set_by_person: Iterable[tuple[str, str]]
) -> tuple[Variable, ...]:
    """A node's VARS with what was set; a key that is named again keeps its placement."""
    merged = {variable.key: variable for variable in variables}
    for key, value in set_by_person:
        known = merged.get(key) or Variable(key, value, False)
        merged[key] = known._replace(value=value)
    return tuple(merged.values())


def categories_in_force(
    categories: Mapping[int, str], settings: Mapping[int, NodeSettings]
) -> dict[int, str]:
    """The category of each node that has one."""
    changed = {node: one.category for node, one in settings.items() if one.category is not None}
    return {**categories, **changed}
