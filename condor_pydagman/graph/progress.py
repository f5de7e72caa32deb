"""A rescue file: what an earlier run of the same DAG had done.

It is read after the DAG files, as one more of them (manual: "The Rescue DAG"), and must not add
nodes or edges.
"""

from __future__ import annotations

from typing import NamedTuple

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.parser import Reading
from condor_pydagman.errors import DagFileError
from condor_pydagman.graph.apply import Applier, BuildOptions
from condor_pydagman.graph.build import MOST_ERRORS, run_commands
from condor_pydagman.graph.model import Dag, Retry
from condor_pydagman.graph.problems import DagFileErrors, ProcessingError


class Progress(NamedTuple):
    """What a rescue file says: nodes that are done, and retries that are left."""

    done: list[int]
    retries: dict[int, Retry]


def apply_progress(dag: Dag, text: str, file: str, options: BuildOptions | None = None) -> Progress:
    """Mark the nodes of `dag` that a rescue file calls DONE and set the RETRY values it brings.

    Names in a rescue file are full names, as in `dag.names`.

    Raises:
        DagFileErrors: a line can't be read or obeyed.
    """
    applier = _ProgressApplier(dag, options or BuildOptions())
    errors: list[DagFileError] = []
    run_commands(text, Reading(file, limit_errors=MOST_ERRORS, errors=errors), applier)
    if errors:
        raise DagFileErrors(errors, dag.warnings)
    return Progress(list(dict.fromkeys(applier.done)), applier.retries)


class _ProgressApplier(Applier):
    def __init__(self, dag: Dag, options: BuildOptions) -> None:
        super().__init__(dag, options)
        self.done: list[int] = []
        self.retries: dict[int, Retry] = {}

    def apply(self, command: Command) -> None:
        if isinstance(command, (commands.Job, commands.ParentChild)):
            raise ProcessingError(
                "A rescue file can't add nodes or dependencies",
                file="",
                hint="put them into the DAG file itself",
            )
        if isinstance(command, (commands.ConfigFile, commands.SetJobAttr, commands.Env)):
            return
        super().apply(command)
        if isinstance(command, commands.Done):
            self.done.append(self.dag.ids[command.node])
        elif isinstance(command, commands.RetryLine):
            for node in self._nodes(command.node):
                self.retries[node] = self.dag.retries[node]
