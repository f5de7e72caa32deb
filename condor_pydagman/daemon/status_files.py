"""Files that a DAG asks for, and that are written again and again: node status file, DOT file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from condor_pydagman.adapters import files
from condor_pydagman.daemon.dag_input import read_dag
from condor_pydagman.errors import FileError
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.records.node_status import asctime, node_status_text
from condor_pydagman.vocabulary import NodeKind, NodeStatus

if TYPE_CHECKING:
    from condor_pydagman.adapters.outlog import OutLog
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.ports import Files, Out
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.dagman_job.options import DagmanOptions
    from condor_pydagman.names import DagPaths


# Shape, letter in the label, and further attributes of a node; all others look untouched.
_LOOKS = {
    NodeStatus.PRERUN: ("ellipse", "Pre", " style=dotted"),
    NodeStatus.SUBMITTED: ("ellipse", "R", " peripheries=2"),
    NodeStatus.POSTRUN: ("ellipse", "Post", " style=dotted"),
    NodeStatus.DONE: ("ellipse", "Done", " style=bold"),
    NodeStatus.ERROR: ("box", "E", ""),
}
_UNTOUCHED = ("ellipse", "I", "")


def dot_text(
    dag: Dag,
    statuses: Iterable[tuple[int, NodeStatus]],
    *,
    now_local: Sequence[int],
    include_text: str | None = None,
) -> Iterator[str]:
    """Pieces of the file's text: all nodes, then all edges (manual: "Visualizing DAGs").

    Args:
        statuses: of all nodes, each with its node.
        now_local: broken-down local time.
        include_text: what stands in the file that DOT's INCLUDE names, None if it is not there.
    """
    yield f'digraph DAG {{\n    label="DAGMan Job status at {asctime(now_local)}";\n\n'
    if dag.dot is not None and include_text is not None:
        yield from _included(dag.dot.include, include_text)
    for node, status in statuses:
        if dag.kinds[node] != NodeKind.SERVICE:
            shape, letter, more = _LOOKS.get(status, _UNTOUCHED)
            name = _escaped(dag.names[node])
            yield f'    "{name}" [shape={shape} label="{name} ({letter})"{more}];\n'
    yield "\n"
    for parent, name in enumerate(dag.names):
        tail = _escaped(name)
        for child in dict.fromkeys(dag.children(parent)):
            yield f'    "{tail}" -> "{_escaped(dag.names[child])}";\n'
    yield "}\n"


def file_name(name: str, overwrite: bool, existing: Iterable[int]) -> str:
    """Name of the DOT file to write: `name`, or without OVERWRITE `name.<first unused number>`."""
    if overwrite:
        return name
    used = set(existing)
    number = 0
    while number in used:
        number += 1
    return f"{name}.{number}"


def _included(file: str, text: str) -> Iterator[str]:
    yield f"// Beginning of commands included from {file}.\n"
    yield text if not text or text.endswith("\n") else text + "\n"
    yield f"// End of commands included from {file}.\n\n"


def _escaped(name: str) -> str:
    return name.replace('"', '\\"')


# Writes files for users and tools; an error is reported once, and so is its end.
#
# The DAG goes on without such files.


class FileOutput:
    """Replaces files that are written repeatedly.

    Args:
        say: prints a line for the user.
        where: the functions that write.
    """

    def __init__(self, say: Callable[[str], None], where: Files = files) -> None:
        self._say = say
        self._files = where
        self._known: dict[str, str] = {}

    def replace(self, what: str, path: str, chunks: Iterable[str]) -> None:
        """Replace the file, or report the error; `what` names the kind of file, for messages."""
        try:
            self._files.replace(path, chunks, durable=False)
        except FileError as error:
            reason = str(error).partition(": ")[2]  # the name may have a number
            if self._known.get(what) != reason:
                self._known[what] = reason
                self._say(f"Warning: {error} ({what}; the DAG goes on without it)")
        else:
            if self._known.pop(what, None):
                self._say(f"{path} can be written again ({what})")


class DotWriter:
    """Writes the same file again and again, or with DONT-OVERWRITE a new one each time."""

    def __init__(self, dag: Dag, out: Out) -> None:
        self._dag = dag
        self._out = out
        self._output = FileOutput(lambda text: out.say(text, 0))
        self._path = ""
        self._unreadable: set[str] = set()

    def write(self, statuses: Iterable[tuple[int, NodeStatus]]) -> None:
        """Write it, if the DAG has a DOT command; `statuses` as in `dot_text`."""
        shape = self._dag.dot
        if shape is None:
            return
        if not self._path or not shape.overwrite:
            self._path = file_name(shape.file, shape.overwrite, _numbers(shape.file))
        text = dot_text(
            self._dag,
            statuses,
            now_local=time.localtime(),
            include_text=self._included(shape.include),
        )
        self._output.replace("DOT file", self._path, text)

    def _included(self, file: str) -> str | None:
        if not file:
            return None
        try:
            return files.read_text(file)
        except (OSError, FileError) as error:
            if file not in self._unreadable:
                self._unreadable.add(file)
                self._out.say(f"Warning: can't read DOT INCLUDE file {file}: {error}")
            return None


class StatusFiles:
    """Both files of one run."""

    def __init__(self, run: DagRun) -> None:
        self._run = run
        self._output = FileOutput(lambda text: run.out.say(text, 0), run.files)
        self._dot = DotWriter(run.dag, run.out)

    def write_dot(self) -> None:
        """The DOT file, if the DAG has one."""
        self._dot.write((one.node, one.status) for one in self._run.engine.node_reports())

    def write_status_file(self, *, final: bool = False, outcome: str = "") -> None:
        """The node status file, if the DAG has one; see `node_status_text`."""
        dag = self._run.dag
        if dag.status_file is None:
            return
        now = self._run.clock.time()
        last = final and outcome != "held"  # a DAGMan that is held comes back
        following = 0.0 if last else now + dag.status_file.interval
        text = node_status_text(
            dag,
            self._run.engine.report(),
            self._run.engine.node_reports(),
            now=now,
            now_local=time.localtime(now),
            next_update=following,
            next_local=None if last else time.localtime(following),
            final=final,
            outcome=outcome,
        )
        self._output.replace("node status file", dag.status_file.file, text)

    def write_last(self, outcome: str) -> None:
        """DAGMan ends; `outcome` is the node status file's word for it."""
        self.write_status_file(final=True, outcome=outcome)
        if self._run.dag.dot is not None and self._run.dag.dot.update:
            self.write_dot()


def _numbers(name: str) -> list[int]:
    """Numbers k for which `name.k` exists."""
    directory, base = os.path.split(name)
    try:
        entries = os.listdir(directory or ".")
    except OSError:
        return []
    tails = (entry[len(base) + 1 :] for entry in entries if entry.startswith(base + "."))
    return [int(tail) for tail in tails if tail.isascii() and tail.isdigit()]


def draw(options: DagmanOptions, config: Config, paths: DagPaths, out: OutLog) -> int:
    """-Dot: write the DOT file of the DAG as it is; returns the exit code.

    Raises:
        CannotStart: there is something wrong with the DAG.
    """
    dag, _ = read_dag(options, config, paths, out)
    if dag.dot is None:
        out.say("Unable to write .dot file, no DOT filename specified")
        return 0
    out.say(f"Writing .dot file: {dag.dot.file}")
    untouched = (NodeStatus.NOT_READY, NodeStatus.DONE)
    DotWriter(dag, out).write(
        (node, untouched[bool(flags & DONE)]) for node, flags in enumerate(dag.flags)
    )
    return 0
