"""Which function applies which command of a DAG file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.graph import (
    brakes,
    cache_commands,
    chosen_nodes,
    condition_commands,
    connect,
    define,
    enough_commands,
    growers,
    limit_uses,
    modify,
    site_groups,
    sweeps,
    whole,
)
from condor_pydagman.graph.building import Building


def _nothing(building: Building, command: Command) -> None:
    """condor_submit_dag has applied it."""


_FUNCTIONS: dict[type, Callable[[Building, Any], None]] = {
    commands.Job: define.job,
    commands.Subdag: define.subdag,
    commands.Sweep: sweeps.sweep,
    commands.SweepParent: sweeps.sweep_parent,
    commands.SubmitDescription: define.submit_description,
    commands.ParentChild: connect.parent_child,
    commands.Pin: connect.pin,
    commands.Connect: connect.connect,
    commands.ScriptLine: modify.script,
    commands.RetryLine: modify.retry,
    commands.AbortDagOn: modify.abort_dag_on,
    commands.Vars: modify.set_variables,
    commands.Priority: modify.priority,
    commands.PreSkip: modify.pre_skip,
    commands.ToleranceLine: modify.tolerance,
    commands.TimeoutLine: modify.timeout,
    commands.SavePointFile: modify.save_point_file,
    commands.Category: modify.category,
    commands.RunIf: condition_commands.run_if,
    commands.Publish: condition_commands.publish,
    commands.Skipped: condition_commands.skipped,
    commands.NodeResult: condition_commands.node_result,
    commands.Cache: cache_commands.cache,
    commands.Done: modify.done,
    commands.NotDone: modify.not_done,
    commands.SiteGroupLine: site_groups.site_group,
    commands.SitePolicyLine: site_groups.site_policy,
    commands.SiteMatched: site_groups.site_matched,
    commands.Choose: chosen_nodes.choose,
    commands.SharedLimit: limit_uses.shared_limit,
    commands.BrakeLine: brakes.brake,
    commands.EnoughLine: enough_commands.enough,
    commands.NotNeeded: enough_commands.not_needed,
    commands.ExtendLine: growers.extend,
    commands.ScatterLine: growers.scatter,
    commands.FeederLine: growers.feeder,
    commands.GrownLine: growers.grown,
    commands.LetGoLine: growers.let_go,
    commands.MaxJobs: whole.max_jobs,
    commands.NodeStatusFile: whole.node_status_file,
    commands.JobstateLog: whole.jobstate_log,
    commands.NotifyLine: whole.notify,
    commands.Dot: whole.dot,
    commands.Reject: whole.reject,
    commands.ConfigFile: _nothing,
    commands.SetJobAttr: _nothing,
    commands.Env: _nothing,
}


def apply(building: Building, command: Command) -> None:
    """Apply a command; SPLICE and INCLUDE, which read another file, are applied by `reading`.

    Raises:
        ProcessingError: it can't be applied; without its place.
    """
    _FUNCTIONS[type(command)](building, command)
