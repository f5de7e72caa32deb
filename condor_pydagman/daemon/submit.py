"""Submits a node: its description, what is looked at before, and what came of it as an input.

No decisions here: an adapter's error becomes the input that says so.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import Any

from condor_pydagman.adapters import common_input as common_input_files
from condor_pydagman.adapters import files, submit_checks, submit_errors
from condor_pydagman.adapters.common_input import FirstList
from condor_pydagman.adapters.description_remarks import of_description
from condor_pydagman.adapters.schedd import LostReply
from condor_pydagman.daemon import subdags
from condor_pydagman.daemon.run import Run
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.records import job_description

TEMPLATES_MAX = 64  # submit files kept in parsed form
SHOW_EVERY = 0.02  # seconds of submitting after which `.dagman.out` gets what was said

_MULTI = "Submit generated multiple job procs; disallowed by DAGMAN_PROHIBIT_MULTI_JOBS setting"


class Submitter:
    """Submits nodes of one run, one at a time."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._templates: dict[str, tuple[tuple[int, int], job_description.Template]] = {}
        self._next_show = 0.0
        self._begun: tuple[int, str] | None = None  # a node whose submission was put off, and text

    def submit(self, action: do.SubmitNode) -> inputs.Input:
        """Submit a node's jobs; returns the engine's input that tells what came of it."""
        node = action.node
        try:
            cluster, procs = self._hand_over(node, self._description(action), action.common_input)
        except (OSError, FileError) as error:
            reason = f"can't read the submit file: {_reason(error)}"
            return self._failed(node, reason, permanent=self._for_good())
        except subdags.CannotPrepare as error:
            self._say(str(error), 0)
            reason = f"Failed to submit Sub-DAG: {error.reason}"
            return self._failed(node, reason, permanent=not error.transient)
        except LostReply as error:
            return self._failed(node, error.reason, permanent=False, unknown=True)
        except PoolError as error:
            permanent = not error.transient and (error.reason == _MULTI or self._for_good())
            return self._failed(node, error.reason, permanent=permanent)
        except FirstList as first:
            return inputs.CommonInput(node, first.token)
        return inputs.Submitted(node, cluster, procs)

    def text_of(self, node: int) -> str:
        """Text of a node's submit description as it is now, '' if it can't be read."""
        dag = self.run.dag
        inline = dag.descriptions.get(dag.submits[node])
        if inline is not None:
            return inline
        try:
            directory = dag.directories.get(node, "")
            path = os.path.join(directory, dag.submits[node])
            return files.read_text(path, own=node in dag.subdags)
        except (OSError, FileError):
            return ""

    def _say(self, text: str, level: int = 3) -> None:
        self.run.out.say(text, level)

    def _for_good(self) -> bool:
        """Whether what is wrong with a description is so for good: to stock, which knows only that
        condor_submit failed, it is not."""
        return not self.run.by_condor_submit

    def _description(self, action: do.SubmitNode) -> str:
        node, run = action.node, self.run
        begun, self._begun = self._begun, None
        if begun is not None and begun[0] == node:
            return begun[1]
        if node in run.dag.subdags:
            subdags.prepare(
                run.dag,
                node,
                run.options,
                priority=run.engine.priority(node),
                retry=action.retry,
                config=run.config,
                say=self._say,
            )
            self._say(f"Submitting HTCondor Node {run.dag.names[node]} job(s)...")
        return job_description.describe(
            run.dag,
            node,
            self._template(node),
            run.workflow,
            retry=action.retry,
            dag_status=action.dag_status,
            failed_count=action.failed_count,
            hold=action.on_hold,
        )

    def _hand_over(self, node: int, text: str, common_input: str) -> tuple[int, int]:
        run = self.run
        directory = run.dag.directories.get(node, "")
        self._show()
        try:
            if run.config.prohibit_multi_jobs and run.schedd.procs_of(text, directory) > 1:
                raise PoolError(_MULTI, transient=False)
            look = partial(self._look, node, text, common_input)
            return run.schedd.submit(text, directory, look)
        except FirstList:
            self._begun = node, text
            raise
        except PoolError as error:
            if error.transient:
                raise
            reason = submit_errors.explained(error, text, self.text_of(node), directory)
            raise PoolError(reason, transient=False) from None

    def _look(self, node: int, text: str, common_input: str, description: Any) -> None:
        """Refuse what stock DAGMan would not submit, and warn of what it warns of."""
        if self.run.by_condor_submit:
            submit_checks.check(description)
            by, before = "condor_submit", "From submit: WARNING: "
        else:
            common_input_files.check(description, common_input)
            by, before = "DAGMAN", "Submit warning: Submit:0:"
        name = self.run.dag.submits[node]
        written = self._written(node) if "warning" in text.lower() else ""
        for line in of_description(description, text, written=written, name=name, by=by):
            self._say(before + line.removeprefix("WARNING: "))

    def _written(self, node: int) -> str:
        """The node's submit description without what DAGMan adds."""
        dag = self.run.dag
        inline = dag.descriptions.get(dag.submits[node])
        if inline is not None:
            return inline
        known = self._templates.get(os.path.join(dag.directories.get(node, ""), dag.submits[node]))
        return "".join(body + queue for body, queue in known[1].parts) if known else ""

    def _show(self) -> None:
        """Let `.dagman.out` tell what is being submitted, in case that takes long; a write for each
        of a thousand nodes would be dear."""
        now = time.monotonic()
        if now >= self._next_show:
            self.run.out.flush()
            self._next_show = now + SHOW_EVERY

    def _failed(
        self, node: int, reason: str, *, permanent: bool, unknown: bool = False
    ) -> inputs.SubmitFailed:
        dag = self.run.dag
        place, name = dag.place(node), dag.submits[node]
        if place:
            what = "submit description" if name in dag.descriptions else f"submit file {name}"
            reason += f" ({what}, named at {place})"
        stamp = time.strftime("%m/%d/%y %H:%M:%S")
        return inputs.SubmitFailed(node, reason, permanent, unknown, stamp)

    def _template(self, node: int) -> job_description.Template:
        """The node's submit description, from memory if its file has not changed."""
        dag = self.run.dag
        name = dag.submits[node]
        inline = dag.descriptions.get(name)
        if inline is not None:
            self._say(
                f"Submitting node {dag.names[node]} from inline description using direct job"
                " submission"
            )
            return job_description.split(inline)
        self._say(f"Submitting node {dag.names[node]} from file {name} using direct job submission")
        directory = dag.directories.get(node, "")
        if directory and not os.path.isdir(directory):  # it may come: stock tries again as well
            raise PoolError(f"Could not change to node directory {directory}", transient=True)
        path = os.path.join(directory, name)
        info = os.stat(path)
        sign = (info.st_mtime_ns, info.st_size)
        known = self._templates.get(path)
        if known is None or known[0] != sign:
            if len(self._templates) >= TEMPLATES_MAX:
                self._templates.clear()
            ours = node in dag.subdags  # by its name alone, which no line of the DAG says
            known = (sign, job_description.split(files.read_text(path, own=ours)))
            self._templates[path] = known
        return known[1]


def _reason(error: OSError | FileError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
