"""What a run was, as rows: of attempts, and of the nodes of one kind."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from condor_pydagman.adapters.installation import to_install
from condor_pydagman.errors import UsageError
from condor_pydagman.monitor.told_runs import Told
from condor_pydagman.report.attempt_table import rows
from condor_pydagman.report.groups import Group, ResourceUse, group_names, groups, resources
from condor_pydagman.report.spans import spans

Row = dict[str, Any]

_TIMES = ("pre_start", "pre_end", "submit", "execute", "end", "post_start", "post_end")
_MEMORY = "Memory (MB)"
_PARTS = (("waiting", "idle"), ("held", "held"), ("running", "run"), ("scripts", "scripts"))


def attempt_rows(told: Told) -> list[Row]:
    """A row for each attempt of a node, as `condor_pydagman report --format json`."""
    end = told.run.ended or time.time()
    numbers = told.seen.numbers if told.seen is not None else None
    return [row for row in rows(told.run, told.dag, end, numbers) if row["attempt"] is not None]


def statistics_rows(told: Told) -> list[Row]:
    """A row for the nodes of each submit description, those that ran longest first."""
    names = group_names(told.run, told.dag)
    made = groups(told.run, spans(told.run, told.run.ended or time.time()), names)
    used = {use.group: use for use in resources(told.run, names) if use.resource == _MEMORY}
    return [_statistics(group, used.get(group.name)) for group in made]


def _statistics(group: Group, memory: ResourceUse | None) -> Row:
    row: Row = {
        "description": group.name,
        "nodes": group.nodes,
        "attempts": group.attempts,
        "failed": group.failed,
    }
    for name, field in _PARTS:
        row[f"{name}_mean_s"], row[f"{name}_max_s"] = getattr(group, field)
    row["running_total_s"] = group.total_run
    row["memory_mb_requested"] = memory.requested if memory is not None else None
    row["memory_mb_mean"] = memory.mean if memory is not None else None
    row["memory_mb_max"] = memory.most if memory is not None else None
    return row


def frame(found: Sequence[Row], columns: Sequence[str]) -> Any:
    """Rows of attempts as a DataFrame of pandas; times as timestamps in UTC.

    Raises:
        UsageError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise UsageError(
            f"to_frame() needs the Python package pandas ({error}): {to_install('pandas')}."
            " attempts() gives the same rows without it"
        ) from None
    made = pandas.DataFrame(list(found), columns=list(columns))
    for name in _TIMES:
        made[name] = pandas.to_datetime(made[name], unit="s", utc=True).dt.round("ms")
    return made
