"""The commands about the whole DAG: throttles of categories, files that DAGMan writes, REJECT."""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.notify_lines import Notification
from condor_pydagman.graph import model
from condor_pydagman.graph.building import STRICT_HIGH, STRICT_MIDDLE, Building
from condor_pydagman.graph.model import StatusFile
from condor_pydagman.graph.modify import category_name
from condor_pydagman.graph.problems import ProcessingError


def max_jobs(building: Building, command: commands.MaxJobs) -> None:
    """MAXJOBS."""
    limits = building.scope.limits
    name = building.text(category_name(building, command.category))
    old = limits.get(name)
    if old not in (None, command.limit):
        building.warn(
            f"Warning: new maxjobs value {command.limit} for category {command.category}"
            f" overrides old value {old}",
            STRICT_HIGH,
        )
    limits[name] = command.limit


def node_status_file(building: Building, command: commands.NodeStatusFile) -> None:
    """NODE_STATUS_FILE; that of a splice has no effect."""
    if building.scope.outer is not None:
        return
    old = building.dag.status_file
    if old is not None:
        building.warn(_not_overridden("NODE_STATUS_FILE", command.file, old.file), STRICT_HIGH)
        return
    building.dag.status_file = StatusFile(command.file, command.interval, command.always)


def jobstate_log(building: Building, command: commands.JobstateLog) -> None:
    """JOBSTATE_LOG; that of a splice has no effect."""
    if building.scope.outer is not None:
        return
    old = building.dag.jobstate_log
    if old:
        building.warn(_not_overridden("JOBSTATE_LOG", command.file, old), STRICT_HIGH)
        return
    building.dag.jobstate_log = command.file


def notify(building: Building, command: commands.NotifyLine) -> None:
    """NOTIFY: each adds one; that of a splice has no effect, as of other files about the DAG."""
    if building.scope.outer is None:
        building.dag.notifications.append(Notification(*command[1:]))


def dot(building: Building, command: commands.Dot) -> None:
    """DOT; that of a splice has no effect."""
    if building.scope.outer is None:
        building.dag.dot = model.DotFile(*command[1:])


def reject(building: Building, command: commands.Reject) -> None:
    """REJECT."""
    raise ProcessingError(
        "DAG marked as rejected",
        file="",
        prefix="",
        hint="take out the REJECT line when the DAG is ready to be run",
    )


def warn_of_categories(building: Building) -> None:
    """After all files: categories without nodes and categories without a throttle."""
    limits, used = building.dag.category_limits, set(building.dag.categories.values())
    for category in sorted(used | building.scope.categories | set(limits)):
        if category not in used:
            building.warn(
                f"Warning: category {category} has no assigned nodes, so the throttle setting"
                f" ({limits.get(category, -1)}) will have no effect",
                STRICT_MIDDLE,
            )
        if category not in limits:
            building.warn(f"Warning: category {category} has no throttle value set", STRICT_MIDDLE)


def add_priority(building: Building) -> None:
    """After all files: -Priority and DAGMAN_DEFAULT_PRIORITY go on top of every node's own."""
    dag, more = building.dag, building.options.priority
    if more:
        dag.priority = more
        for node in range(len(dag)):
            dag.priorities[node] = dag.priorities.get(node, 0) + more


def _not_overridden(word: str, new: str, old: str) -> str:
    return f"Warning: Attempt to set {word} to {new} does not override existing value of {old}"
