"""Submits nodes together, as the jobs of one cluster.

They have one description (see `shared_description`); if it can't be made of all of them, it is of
the first ones, and the others are given back.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.adapters.schedd_requests import (
    Accepted,
    FirstCommonInput,
    LostReply,
    SubmitResult,
)
from condor_pydagman.daemon.submit import ReportOutcome, Submitter, reason_of
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.features.common import shared_description
from condor_pydagman.language.description import Template
from condor_pydagman.records import job_description
from condor_pydagman.vocabulary import NodeKind

# Why the first of several nodes do not go together: their lines differ (records.job_description).
DIFFERENT = (
    "their VARS set different macros or use a number of the cluster,"
    " or only some have parents, children or a priority"
)
READ_ONCE = "they differ in a command that HTCondor reads once for a cluster"
MAX_SAID_ALONE = 20  # submit files of which `.dagman.out` says why their nodes do not go together
MORE = 4  # times as many nodes as went together are tried next, if others had to be left out
FEWER = 8  # a cluster that was refused is tried again with so many times fewer nodes


class Together:
    """Submits nodes of one run together, by its `Submitter`."""

    def __init__(self, submitter: Submitter) -> None:
        self._submitter = submitter
        self._run = submitter.run
        self._said_alone: set[str] = set()
        # Submit files whose nodes differ in what must be the same in a cluster.
        self._alone: set[Template] = set()

    def submit(self, action: do.SubmitTogether, report: ReportOutcome) -> None:
        """Submit the first ones that can share a description; the others are given back."""
        try:
            text, count = self._shared_description(action)
        except (OSError, FileError) as error:
            report([_not_together(action.nodes, 0, reason_of(error))])
            return
        except PoolError as error:
            report([_not_together(action.nodes, 0, error.reason)])
            return
        if count < 2:
            report([_not_together(action.nodes, 0, DIFFERENT if count else READ_ONCE)])
            return
        asked, left = do.SubmitTogether(action.nodes[:count]), action.nodes[count:]
        request = self._submitter.request(asked, text, asked.nodes[0])

        def tell(result: SubmitResult) -> None:
            refusal = _refusal(result)
            if refusal:
                report([_not_together(action.nodes, count // FEWER, refusal)])
                return
            answers = self._answered(asked, result)
            report([*answers, _not_together(left, MORE * count)] if left else answers)

        self._submitter.ask(request, tell)

    def _answered(self, action: do.SubmitTogether, result: SubmitResult) -> list[inputs.Input]:
        outcome, nodes = result.outcome, action.nodes
        for line in result.lines:
            self._submitter.say(line)
        if isinstance(outcome, Accepted):
            missing = nodes[outcome.procs :]
            return [
                inputs.Submitted(one.node, outcome.cluster, 1, proc, shareable=True)
                for proc, one in enumerate(nodes[: outcome.procs])
            ] + self._unknown(missing, "the cluster has fewer jobs than nodes")
        assert isinstance(outcome, LostReply)
        return self._unknown(nodes, outcome.reason)

    def _unknown(self, nodes: Sequence[do.SubmitNode], reason: str) -> list[inputs.Input]:
        failed = self._submitter.failed
        return [failed(one.node, reason, permanent=False, unknown=True) for one in nodes]

    def _shared_description(self, action: do.SubmitTogether) -> tuple[str, int]:
        """One description for the first nodes of them, and for how many it is."""
        template = self._submitter.template_of(action.nodes[0].node)
        if shared_description.obstacle(template):
            return "", 1
        lines = []
        for one in action.nodes:
            at = self._submitter.at_submission(one)
            added = job_description.added_lines(self._run.dag, one.node, self._run.workflow, at)
            lines.append(shared_description.NodeLines(*added))
        text, count = shared_description.shared(template, lines)
        if count == 0:
            self._alone.add(template)
        return text, count

    def may_share(self, node: int, procs: int, *, warned: bool) -> bool:
        """Whether others with the node's submit file may be submitted together."""
        if self._run.config.max_nodes_in_cluster < 2 or self._run.by_condor_submit:
            return False
        if self._run.dag.kinds[node] != NodeKind.JOB:
            return False
        try:
            template = self._submitter.template_of(node)
        except (OSError, FileError, PoolError):
            return False
        obstacle = shared_description.obstacle(template)
        if not obstacle and template in self._alone:
            obstacle = READ_ONCE
        if not obstacle and warned:
            obstacle = "HTCondor warns of it, see the lines above"
        if not obstacle and procs != 1:
            obstacle = f"a node has {procs} jobs"
        if obstacle:
            self._say_alone(node, obstacle)
        return not obstacle

    def _say_alone(self, node: int, obstacle: str) -> None:
        """Say why nodes with the node's submit file are not submitted together: once for a file,
        and for some files only, since each node may have its own."""
        name = self._run.dag.submits[node]
        if name in self._said_alone or len(self._said_alone) >= MAX_SAID_ALONE:
            return
        self._said_alone.add(name)
        what = "submit description" if name in self._run.dag.descriptions else "submit file"
        self._submitter.say(f"Nodes with {what} {name} are submitted one by one: {obstacle}")


def _refusal(result: SubmitResult) -> str:
    """Why nothing of nodes that were submitted together is in the queue; '' if it may be."""
    outcome = result.outcome
    if isinstance(outcome, FirstCommonInput):
        return "they have a list of common input files"
    if isinstance(outcome, PoolError) and not isinstance(outcome, LostReply):
        return outcome.reason
    return ""


def _not_together(
    nodes: Sequence[do.SubmitNode], most: int, reason: str = ""
) -> inputs.NotTogether:
    return inputs.NotTogether([one.node for one in nodes], most, reason)
