"""`Workflow`: a DAG that a program makes, writes, checks and submits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import filter as matching
from typing import Any

from condor_pydagman.api.dag_errors import DagError, DagProblem
from condor_pydagman.api.dag_reading import StrPath, names_of, read_dag
from condor_pydagman.api.dag_run import DagRun
from condor_pydagman.api.dag_submit import OptionValue, options_of_free_dag, submit_dag
from condor_pydagman.api.dag_view import Dag
from condor_pydagman.errors import UsageError
from condor_pydagman.garbage import collection_off
from condor_pydagman.workflow import files, htcondor_dag, table, values
from condor_pydagman.workflow.descriptions import Description
from condor_pydagman.workflow.making import Making
from condor_pydagman.workflow.methods import DagCommands
from condor_pydagman.workflow.nodes import AllNodes, WorkflowNode, WorkflowNodes

Vars = Mapping[str, object]


class Workflow(DagCommands):
    """A DAG in the making: a mapping from names to nodes, to which methods add.

    Every command of the DAG language is a method: of nodes, of `all_nodes`, or of the Workflow.
    What is wrong by itself raises a DagError at once; what only the whole can show, such as a
    cycle, when the DAG is checked, written or submitted.  Both name the line of the program.

    Args:
        dag: an `htcondor2.dags.DAG`, with whose nodes, edges and settings it begins; None for
            none.  A node 3 of its layer A is named `A:3`, as htcondor2.dags writes it.

    Attributes:
        all_nodes: takes the commands that DAGMan takes with ALL_NODES.
        file: the DAG file that was written last, '' for none.
    """

    def __init__(self, dag: Any = None) -> None:
        self._making = Making()
        self.all_nodes = AllNodes(self._making)
        self.file = ""
        if dag is not None:
            htcondor_dag.take(self, dag)

    @classmethod
    def read(cls, *paths: StrPath) -> Workflow:
        """A Workflow that adds to DAG files: the file that it writes includes them, and they stay
        as they are.

        Raises:
            DagError: they can't be read, or DAGMan would refuse them.
        """
        flow = cls()
        flow._making.base = read_dag(*paths)
        place = flow._making.places.here()
        for command in files.included(names_of(paths)):
            flow._making.say(command, place)
        return flow

    def _add(self, word: str, **values: Any) -> Workflow:
        self._making.command(word, values)
        return self

    def __repr__(self) -> str:
        return f"<Workflow of {len(self)} nodes>"

    def __len__(self) -> int:
        return len(self._making.base or ()) + len(self._making.order)

    def __iter__(self) -> Iterator[str]:
        """The names of the nodes and splices; those of files that it adds to come first."""
        yield from self._making.base or ()
        yield from (node.name for node in self._making.order)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._making.knows(name)

    def __getitem__(self, name: str) -> WorkflowNode:
        """The node or splice of that name; KeyError if there is none."""
        if not self._making.knows(name):
            raise KeyError(name)
        return self._making.node(name)

    def select(self, pattern: str) -> WorkflowNodes:
        """The nodes whose names match a pattern of the shell, such as `Fit*`.

        Raises:
            DagError: there is none.
        """
        found = [self._making.node(name) for name in matching(self, pattern)]
        if not found:
            raise values.refused(f"There is no node {pattern}", self._making.here())
        return WorkflowNodes(self._making, found)

    # Nodes.

    def job(
        self,
        name: str,
        submit: Description,
        vars: Vars | None = None,
        *,
        directory: StrPath = "",
        noop: bool = False,
        done: bool = False,
    ) -> WorkflowNode:
        """Add a node that runs a job (JOB).

        Args:
            name: of the node.
            submit: its submit file, the name of a `description`, or the description itself: a dict
                or an htcondor2.Submit.
            vars: macros for the description, by name (VARS).
            directory: where it runs (DIR).
            noop: it has no job to submit.
            done: it need not run.

        Raises:
            DagError: there is such a node already, or no line of a DAG file says this.
            TypeError: the description is none.
        """
        return self._one("JOB", name, submit, vars, (directory, noop, done))

    def final(
        self,
        name: str,
        submit: Description,
        vars: Vars | None = None,
        *,
        directory: StrPath = "",
        noop: bool = False,
    ) -> WorkflowNode:
        """Add the node that runs when all others have ended, whether or not they succeeded
        (FINAL); see `job`."""
        return self._one("FINAL", name, submit, vars, (directory, noop, False))

    def provisioner(
        self, name: str, submit: Description, vars: Vars | None = None, *, directory: StrPath = ""
    ) -> WorkflowNode:
        """Add the node that prepares resources before any other begins (PROVISIONER); see `job`."""
        return self._one("PROVISIONER", name, submit, vars, (directory, False, False))

    def service(
        self, name: str, submit: Description, vars: Vars | None = None, *, directory: StrPath = ""
    ) -> WorkflowNode:
        """Add a node that runs beside the others (SERVICE); see `job`."""
        return self._one("SERVICE", name, submit, vars, (directory, False, False))

    def data(
        self, name: str, requests: Description, vars: Vars | None = None, *, directory: StrPath = ""
    ) -> WorkflowNode:
        """Add a node that moves data (DATA, docs/data-placement.md).

        `requests` is a request file, or a dict that is one request; see `job`.
        """
        return self._one("DATA", name, requests, vars, (directory, False, False))

    def subdag(
        self,
        name: str,
        dag: StrPath | Workflow,
        vars: Vars | None = None,
        *,
        directory: StrPath = "",
        noop: bool = False,
        done: bool = False,
    ) -> WorkflowNode:
        """Add a node that runs another DAG (SUBDAG EXTERNAL): a DAG file, or a Workflow, which is
        written into a file beside this one; see `job`."""
        return self._one("SUBDAG EXTERNAL", name, _inner(dag), vars, (directory, noop, done))

    def splice(
        self, name: str, dag: StrPath | Workflow, *, directory: StrPath = ""
    ) -> WorkflowNode:
        """Add the nodes of another DAG as nodes of this one (SPLICE): of a DAG file, or of a
        Workflow, which is written into a file beside this one.

        Its nodes are named `name+A`; what is said of them is said in the other DAG.
        """
        return self._one("SPLICE", name, _inner(dag), None, (directory, False, False))

    def _one(
        self,
        word: str,
        name: str,
        submit: Any,
        vars: Vars | None,
        options: tuple[Any, bool, bool],
    ) -> WorkflowNode:
        if not isinstance(name, str):
            raise TypeError(f"the name of a node must be a text, not {name!r}")
        if vars is not None and not isinstance(vars, (dict, Mapping)):  # a dict is told at once
            raise TypeError(f"vars must be a mapping, not {vars!r}")
        making = self._making
        definition = making.define(word, name, submit, options)
        pairs = making.pairs(vars) if vars else ""
        node = making.add(name, definition, pairs, making.places.here())
        if isinstance(submit, Making):
            making.inner[name] = submit
        return node

    def layer(
        self,
        name: str,
        submit: Description,
        rows: Iterable[Any] | int,
        *,
        columns: Sequence[str] = (),
        directory: StrPath = "",
    ) -> WorkflowNodes:
        """Add a JOB node for each row of a table.

        Args:
            name: of the nodes: `Fit{run}` has the row's value of `run`; without such a place, the
                number of the row, from 0, is put behind it.
            submit: as of `job`; the nodes share it.
            rows: the VARS of each node: mappings, named tuples, dataclasses, rows of sqlite3, a
                pandas.DataFrame, or, with `columns`, other sequences or single values; or how many
                nodes.
            columns: the names of the values.
            directory: as of `job`.

        Raises:
            DagError: two nodes have the same name, a row has no such value, or no line of a DAG
                file says this.
            TypeError: a row or the description is none.
        """
        making = self._making
        first, described, place = len(making.order), len(making.described), making.places.here()
        shared = name.partition("{")[0].rstrip("_-.") or "layer"
        definition = making.define("JOB", shared, submit, (directory, False, False), shared=True)
        name_of, nodes = table.namer(name), []
        try:
            with collection_off():
                for number, row in enumerate(table.rows(rows, columns)):
                    name = name_of(number, row)
                    nodes.append(making.add(name, definition, making.pairs(row), place))
        except BaseException as error:
            making.forget(first, described)
            if isinstance(error, table.RowError):
                raise values.refused(str(error), making.here()) from None
            raise
        making.layers.append(range(first, len(making.order)))
        return WorkflowNodes(making, nodes)

    def description(self, name: str, description: Description) -> str:
        """Add a submit description that several nodes can name (SUBMIT-DESCRIPTION); gives the
        name."""
        self._making.describe(name, description)
        return name

    # The whole.

    def text(self) -> str:
        """The DAG file."""
        return "".join(files.blocks(self._making, self._name()))

    def _name(self) -> str:
        return self.file or files.UNNAMED

    def dag(self) -> Dag:
        """The DAG as DAGMan reads it, to be looked at: with all splices and includes.

        Raises:
            DagError: DAGMan would refuse it.
        """
        return files.dag(self._making, self._name())

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Its picture, for notebooks, or what is wrong with it; of a large one its size alone: to
        read it would take seconds."""
        from condor_pydagman.picture.notebook import MAX_NODES, NO_PICTURE  # late: few are shown

        if len(self) > MAX_NODES:
            return {"text/plain": f"{self!r}\n{NO_PICTURE}"}
        try:
            return self.dag()._repr_mimebundle_()
        except DagError as error:
            return {"text/plain": f"{self!r}\n{error}"}

    def check(self) -> tuple[DagProblem, ...]:
        """Everything for which DAGMan would refuse the DAG, and lines of the submit descriptions in
        it that nothing uses, such as typing errors; () for nothing."""
        return files.problems(self._making, self._name())

    def write(self, path: StrPath, *, overwrite: bool = False) -> str:
        """Write the DAG file, and those of its inner Workflows; gives its name.

        Nothing is changed if DAGMan would refuse the DAG.

        Args:
            path: the DAG file; names of files in the DAG are relative to the working directory, as
                they are for DAGMan.
            overwrite: whether it may take the place of a file that no Workflow has written.

        Raises:
            DagError: DAGMan would refuse it.
            FileError: there is another file, DAGMan runs this one, or it can't be written.
        """
        files.write(self._making, os.fspath(path), overwrite)
        self.file = os.fspath(path)
        return self.file

    def submit(
        self, path: StrPath = "", *, overwrite: bool = False, **options: OptionValue
    ) -> DagRun:
        """Write the DAG file and submit it; gives its run.

        Args:
            path, overwrite: as of `write`; '' for the file that was written last.
            options: those of `submit_dag`, as `max_jobs=10`.  A DAG that has failed goes on where
                it has stopped; with `force=True` it begins anew, as does one that has succeeded.

        Raises:
            DagError, FileError: as of `write` and `submit_dag`; a DAG whose job is in the queue is
                neither written nor submitted.
            UsageError: no file is named.
        """
        file = path or self.file
        if not file:
            raise UsageError('name a DAG file: submit("my.dag")')
        options_of_free_dag(file, **options)  # before the file that its job will read is replaced
        return submit_dag(self.write(file, overwrite=overwrite), **options).run


def _inner(dag: StrPath | Workflow) -> StrPath | Making:
    return dag._making if isinstance(dag, Workflow) else dag
