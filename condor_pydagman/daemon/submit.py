"""Submits nodes: makes a description, asks the schedd, and reports the outcome as inputs.

No decisions here: an error of an adapter becomes the input that reports it.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Union

from condor_pydagman.adapters import files
from condor_pydagman.adapters.schedd_requests import (
    MULTIPLE_PROCS,
    Accepted,
    Checks,
    FirstCommonInput,
    LostReply,
    QueueFull,
    Submit,
    SubmitResult,
)
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_settings import variables_in_force
from condor_pydagman.errors import CannotPrepare, FileError, PoolError
from condor_pydagman.feature_table import part
from condor_pydagman.graph.model import Variable
from condor_pydagman.language.description import Template, template_of
from condor_pydagman.records import job_description
from condor_pydagman.timers import FLUSH_INTERVAL_S
from condor_pydagman.vocabulary import NodeKind

MAX_TEMPLATES = 64  # submit files kept in parsed form

Submission = Union[do.SubmitNode, do.SubmitTogether, do.SubmitJob]
# Called with the engine's inputs that report the outcome of a submission.
ReportOutcome = Callable[[Sequence[inputs.Input]], None]


def refused(action: Submission, reason: str) -> Sequence[inputs.Input]:
    """What the engine is told if nothing has come of an action, for now."""
    if isinstance(action, do.SubmitJob):
        return [inputs.Answered(action.asker, inputs.JobSubmitted(action.number, 0, reason))]
    nodes = action.nodes if isinstance(action, do.SubmitTogether) else (action,)
    return [inputs.SubmitFailed(one.node, reason, permanent=False) for one in nodes]


class _Outcomes:
    """Reports outcomes in the order of the submissions, whichever is known first."""

    def __init__(self) -> None:
        self._awaited: deque[tuple[ReportOutcome, list[Sequence[inputs.Input]]]] = deque()

    def await_one(self, report: ReportOutcome) -> ReportOutcome:
        """One more submission; the outcome is to be given to what is returned."""
        known: list[Sequence[inputs.Input]] = []
        self._awaited.append((report, known))

        def tell(outcome: Sequence[inputs.Input]) -> None:
            known.append(outcome)
            while self._awaited and self._awaited[0][1]:
                first, (outcome,) = self._awaited.popleft()
                first(outcome)

        return tell


class Submitter:
    """Submits nodes of one run."""

    def __init__(self, run: DagRun) -> None:
        self.run = run
        self._templates: dict[str, tuple[tuple[int, int], Template]] = {}
        self._next_flush_at = 0.0
        self._outcomes = _Outcomes()
        # A submission deferred because of its list of common input files, and its description.
        self._deferred: tuple[do.SubmitNode, str] | None = None
        # what submits several nodes as one cluster; None without the folder of features
        made = part("common", "together")
        self._together = None if made is None else made.Together(self)

    def submit(self, action: Submission, report: ReportOutcome) -> None:
        """Submit the jobs of one or several nodes; `report` is called once, now or later, in the
        order of calls."""
        report = self._outcomes.await_one(report)
        if isinstance(action, do.SubmitTogether):
            assert self._together is not None  # no node is shareable without it
            self._together.submit(action, report)
        elif isinstance(action, do.SubmitJob):
            self._submit_job(action, report)
        else:
            self._submit_one(action, report)

    def _submit_one(self, action: do.SubmitNode, report: ReportOutcome) -> None:
        node = action.node
        try:
            text = self._description(action)
        except (OSError, FileError) as error:
            reason = f"can't read the submit file: {reason_of(error)}"
            report([self.failed(node, reason, permanent=self._is_permanent())])
        except CannotPrepare as error:
            self.say(str(error), 0)
            reason = f"Failed to submit Sub-DAG: {error.reason}"
            report([self.failed(node, reason, permanent=not error.transient)])
        except PoolError as error:
            permanent = not error.transient and self._is_permanent()
            report([self.failed(node, error.reason, permanent=permanent)])
        else:
            request = self.request(action, text, action)
            self.ask(request, lambda result: report([self._answered(action, text, result)]))

    def _submit_job(self, action: do.SubmitJob, report: ReportOutcome) -> None:
        def tell(result: SubmitResult) -> None:  # no person has written it: warnings help nobody
            report([inputs.Answered(action.asker, _submitted_job(action, result.outcome))])

        self.ask(Submit(action, action.text, "", Checks()), tell)

    def request(self, action: Submission, text: str, first: do.SubmitNode) -> Submit:
        """What the schedd is asked, of one node or several."""
        run, node = self.run, first.node
        checks = Checks(
            by_condor_submit=run.by_condor_submit,
            one_proc=run.config.prohibit_multi_jobs and not isinstance(action, do.SubmitTogether),
            common_input=first.common_input,
            name=run.dag.submits[node],
            written=self.text_of(node) if "warning" in text.lower() else "",
        )
        more = run.extras.environment(first) if run.extras is not None else {}
        return Submit(action, text, run.dag.directories.get(node, ""), checks, more)

    def ask(self, request: Submit, then: Callable[[SubmitResult], None]) -> None:
        """Ask the schedd.

        `.dagman.out` is flushed at intervals: it shows a submission that takes long, without a
        write for each of a thousand nodes.
        """
        now = self.run.clock.monotonic()
        if now >= self._next_flush_at:
            self.run.out.flush()
            self._next_flush_at = now + FLUSH_INTERVAL_S
        self.run.schedd.ask(request, then)

    def _answered(self, action: do.SubmitNode, text: str, result: SubmitResult) -> inputs.Input:
        node, outcome = action.node, result.outcome
        for line in result.lines:
            self.say(line)
        if isinstance(outcome, FirstCommonInput):
            self._deferred = action, text
            return inputs.CommonInput(node, outcome.token)
        if isinstance(outcome, PoolError):
            return self._not_submitted(node, text, outcome)
        together, warned = self._together, bool(result.lines)
        shareable = together is not None and together.may_share(node, outcome.procs, warned=warned)
        return inputs.Submitted(node, outcome.cluster, outcome.procs, shareable=shareable)

    def at_submission(self, action: do.SubmitNode) -> job_description.AtSubmission:
        """What a node's description says of the state at its submission."""
        return job_description.AtSubmission(
            action.retry,
            action.dag_status,
            action.failed_count,
            action.on_hold,
            action.priority,
            self._variables(action),
        )

    def _variables(self, action: do.SubmitNode) -> Sequence[Variable] | None:
        """The node's VARS with what a person has set; None if nothing."""
        if not action.variables:
            return None
        return variables_in_force(self.run.dag.variables.get(action.node, ()), action.variables)

    def _not_submitted(self, node: int, text: str, error: PoolError) -> inputs.SubmitFailed:
        if isinstance(error, LostReply):
            return self.failed(node, error.reason, permanent=False, unknown=True)
        if error.transient:
            full = isinstance(error, QueueFull)
            return self.failed(node, error.reason, permanent=False, full=full)
        directory = self.run.dag.directories.get(node, "")
        reason = _explained(error, text, self.text_of(node), directory)
        permanent = reason == MULTIPLE_PROCS or self._is_permanent()
        return self.failed(node, reason, permanent=permanent)

    def text_of(self, node: int) -> str:
        """Text of a node's submit description as it is now, '' if it can't be read."""
        try:
            return self._own_text(node)
        except (OSError, FileError):
            return ""

    def _own_text(self, node: int) -> str:
        """As `text_of`, but errors are raised."""
        dag = self.run.dag
        inline = dag.descriptions.get(dag.submits[node])
        if inline is not None:
            return inline
        path = os.path.join(dag.directories.get(node, ""), dag.submits[node])
        return files.read_text(path, own=node in dag.subdags)

    def say(self, text: str, level: int = 3) -> None:
        """A line of `.dagman.out`."""
        self.run.out.say(text, level)

    def _is_permanent(self) -> bool:
        """Whether an error in a description is permanent: to stock, which knows only that
        condor_submit failed, it is not."""
        return not self.run.by_condor_submit

    def _description(self, action: do.SubmitNode) -> str:
        node, run = action.node, self.run
        deferred, self._deferred = self._deferred, None
        if deferred is not None and deferred[0] == action._replace(common_input=""):
            return deferred[1]
        if node in run.dag.subdags:
            from condor_pydagman.dagman_job import nested_dags  # there, see `helpers.preload`

            nested_dags.prepare(
                run.dag,
                node,
                run.options,
                priority=action.priority,
                retry=action.retry,
                config=run.config,
                say=self.say,
            )
            name, file = run.dag.names[node], run.dag.submits[node]
            self.say(f"Submitting HTCondor Node {name} job(s)...")
            self.say(f"Submitting node {name} from file {file} using direct job submission")
        placing = run.placements if self._may_be_request(node) else None
        template = placing.template(action, self._own_text(node)) if placing is not None else None
        written = template or self.template_of(node)
        return job_description.describe(
            run.dag,
            node,
            written if run.extras is None else run.extras.template(written, action),
            run.workflow,
            self.at_submission(action),
            attributes_only=template is not None,
        )

    def _may_be_request(self, node: int) -> bool:
        """Whether the node may name a request: a FINAL node can release what DATA nodes made."""
        kind, final = self.run.dag.kinds[node], NodeKind.FINAL
        return kind == NodeKind.DATA or (kind == final and node not in self.run.dag.subdags)

    def failed(
        self, node: int, reason: str, *, permanent: bool, unknown: bool = False, full: bool = False
    ) -> inputs.SubmitFailed:
        """The input that tells of a failed submission, with the place of the node's submit file."""
        dag = self.run.dag
        place, name = dag.place(node), dag.submits[node]
        if place:
            what = "submit description" if name in dag.descriptions else f"submit file {name}"
            reason += f" ({what}, named at {place})"
        stamp = time.strftime("%m/%d/%y %H:%M:%S", time.localtime(self.run.clock.time()))
        return inputs.SubmitFailed(node, reason, permanent, unknown, stamp, full)

    def template_of(self, node: int) -> Template:
        """The node's submit description, from memory if its file has not changed."""
        dag = self.run.dag
        name = dag.submits[node]
        inline = dag.descriptions.get(name)
        if inline is not None:
            return _template(inline)
        directory = dag.directories.get(node, "")
        if directory and not os.path.isdir(directory):  # transient: stock retries as well
            raise PoolError(f"Could not change to node directory {directory}", transient=True)
        path = os.path.join(directory, name)
        info = os.stat(path)
        sign = (info.st_mtime_ns, info.st_size)
        known = self._templates.get(path)
        if known is None or known[0] != sign:
            if len(self._templates) >= MAX_TEMPLATES:
                self._templates.clear()
            ours = node in dag.subdags  # its name is derived; no line of the DAG gives it
            known = (sign, template_of(files.read_text(path, own=ours)))
            self._templates[path] = known
        return known[1]


@lru_cache(maxsize=MAX_TEMPLATES)  # many nodes may have one description in the DAG file
def _template(text: str) -> Template:
    return template_of(text)


def _explained(error: PoolError, text: str, file_text: str, directory: str) -> str:
    """The reason of a failed submission, with the line of the submit file if that can be told.

    What tells it is loaded when the first submission fails.
    """
    try:
        tells = part("common", "adapters.submit_errors")
    except (FileError, OSError):  # replaced by an upgrade meanwhile; no more descriptors
        return error.reason
    return str(tells.explained(error, text, file_text, directory)) if tells else error.reason


def _submitted_job(
    action: do.SubmitJob, outcome: Accepted | FirstCommonInput | PoolError
) -> inputs.JobSubmitted:
    if isinstance(outcome, Accepted):
        return inputs.JobSubmitted(action.number, outcome.cluster)
    if isinstance(outcome, FirstCommonInput):
        reason = "it has a list of common input files"
        return inputs.JobSubmitted(action.number, 0, reason, permanent=True)
    lost, full = isinstance(outcome, LostReply), isinstance(outcome, QueueFull)
    permanent = not (lost or outcome.transient)
    return inputs.JobSubmitted(action.number, 0, outcome.reason, permanent, lost, full)


def reason_of(error: OSError | FileError) -> str:
    """What an error says, without the file."""
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
