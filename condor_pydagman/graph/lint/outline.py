"""DAG files as stock condor_dag_checker reads them: nodes, edges, and everything that is wrong.

The stock checker is not DAGMan: each file named is a DAG of its own, reading goes on after errors,
a wrong command is left out of the numbers, and CONNECT, pins and the semantics of most commands are
not looked at.  What it says and counts is kept here, so that tools which read its output find it.
`graph.build` has what the files mean to DAGMan.

Of each file, commands that define nodes are obeyed as they come; then errors of syntax are listed;
then come the commands that name nodes, in the order of `_LATER`.  An INCLUDE or a SPLICE is read to
its end where it stands.  Files nest as deep as they like: reading is a stack of generators.
"""

from __future__ import annotations

import os.path
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.bulk import USES, Run
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.parser import CommandReader, Reading
from condor_pydagman.errors import DagFileError, FileError
from condor_pydagman.graph.lint.external import (
    NO_DESCRIPTION,
    External,
    OutlineOptions,
    undescribed,
)
from condor_pydagman.graph.lint.findings import FileKind, World
from condor_pydagman.graph.lint.references import (
    LATER,
    WITH_EDGES,
    Asker,
    Ends,
    Later,
    WaitingRows,
    kind_of,
    word_of,
)
from condor_pydagman.graph.model import JOIN, NOOP, Dag
from condor_pydagman.vocabulary import NodeKind

MOST_ERRORS = 10_000  # of a file, and as many again of commands that can't be obeyed

_JOIN_NAME = "_condor_join_node"
_USES = tuple(kind for kind in USES if kind != "PARENT")
_WITHOUT_EDGES = (NodeKind.FINAL, NodeKind.PROVISIONER, NodeKind.SERVICE)


class Issue(NamedTuple):
    """One thing that is wrong; `command` is '' where no command can be blamed."""

    reason: str
    file: str
    line: int = 0
    command: str = ""


@dataclass
class Scope:
    """What a DAG file and the files that it INCLUDEs share; a SPLICE has one of its own."""

    prefix: str = ""
    spliced: bool = False
    final: str = ""
    provisioner: str = ""
    has_config: bool = False
    splices: dict[str, Ends] = field(default_factory=dict)
    inner: list[Scope] = field(default_factory=list)
    splice_count: int = 0  # splices of its own, those that can't be read included
    counted: int = 0  # what the stock tool makes of it: at the end of every INCLUDE it counts anew


@dataclass
class Outline:
    """What was read.  `dag` has names, kinds, flags and edges only, and is finished.

    `lost` is how many issues there are besides `issues`, of which there may be very many.
    """

    dag: Dag
    scope: Scope
    issues: list[Issue]
    lost: int = 0


@dataclass
class Place:
    """A file that is being read.

    Attributes:
        file: its name as messages show it.
        directory: where it looks for other files, '' for the start directory.
        path: the file from the start directory.
    """

    file: str
    directory: str
    scope: Scope
    blocks: Iterator[str] = field(default_factory=lambda: iter(()))
    subdag: bool = False
    path: str = ""


Watch = Callable[[Place, Command], None]
Steps = Iterator["Steps"]


def read_outline(
    file: str, world: World, options: OutlineOptions, watch: Watch | None = None
) -> Outline:
    """Read the DAG that `file` describes.  `watch` is called with every command."""
    reader = _Reader(world, options, watch)
    scope = Scope()
    directory, name = ("", file)
    if options.use_dag_dir:
        directory, name = os.path.split(file)
    place = Place(file, directory, scope)
    reason = reader.open(place, name)
    if reason:
        reader.issues.append(Issue(f"Failed to open DAG {os.path.basename(file)}: {reason}", file))
    else:
        reader.run(reader.file(place), world.absolute(place.path))
    reader.dag.finish()
    return Outline(reader.dag, scope, reader.issues, reader.lost)


class _Reader:
    """Reads one DAG; `issues` grows, up to a limit; `lost` counts the others."""

    def __init__(self, world: World, options: OutlineOptions, watch: Watch | None) -> None:
        self.dag = Dag()
        self.issues: list[Issue] = []
        self.lost = 0
        self._world = world
        self._options = options
        self._watch = watch
        self._joins = 0
        self._has_parents = bytearray()
        self._has_children = bytearray()
        self._open_files: list[str] = []
        self._subdags: list[str] = []
        self._external = External(world, options)
        self._descriptions: set[str] = set()
        self._undescribed: list[tuple[Place, commands.Job]] = []

    def run(self, steps: Steps, full: str) -> None:
        """Work off `steps`, those of the file `full`, and all that they lead to."""
        self._subdags = [full]
        stack = [steps]
        while stack:
            inner = next(stack[-1], None)
            if inner is None:
                stack.pop()
            else:
                stack.append(inner)
        self._blame_undescribed()

    def open(self, place: Place, name: str) -> str:
        """Read the text of the file `name`; the result is why that can't be done, or ''."""
        place.path = os.path.join(place.directory, name)
        try:
            place.blocks = self._world.read_blocks(place.path)
        except FileNotFoundError:
            return "Provided file path does not exist"
        except (IsADirectoryError, FileError):
            return "Provided file path is not a file"
        except (OSError, ValueError):
            return "Failed to open file"
        return ""

    def file(self, place: Place) -> Steps:
        """Obey the commands of a file whose text has been read."""
        errors: list[DagFileError] = []
        reading = Reading(
            place.file,
            limit_errors=1 if place.subdag else MOST_ERRORS,
            allow_any_node_name_characters=self._options.allow_illegal_chars,
            errors=errors,
        )
        later = Later()
        asker = Asker(self.dag, place.scope)
        reader = CommandReader(place.blocks, reading, in_runs=True)
        try:
            for item in reader:
                if place.subdag and errors:
                    break  # the rest of a sub-DAG is not looked at after an error
                if not isinstance(item, Run):
                    yield from self._obey(place, item, asker, later)
                elif not self._can_take(place) or not self._take_run(place, item, later):
                    for command, _ in reader.commands_of(item):
                        yield from self._obey(place, command, asker, later)
        except (OSError, FileError) as error:
            self.issues.append(Issue(f"Failed to read {place.file}: {error}", place.file))
        self.issues += [Issue(one.message, one.file, one.line, one.command) for one in errors]
        if not place.subdag:
            self.lost += reading.lost
        for waiting in later:
            if not isinstance(waiting, WaitingRows):
                self._obey_late(place, waiting, asker)
            elif not self._add_rows(place, waiting.rows):
                for one in waiting.commands():
                    self._obey_late(place, one, asker)
        scope = place.scope
        scope.counted += scope.splice_count
        scope.counted += sum(inner.counted for inner in scope.inner)

    def _obey(self, place: Place, command: Command, asker: Asker, later: Later) -> Steps:
        """Obey a command, or put it off to the end of its file."""
        if self._watch:
            self._watch(place, command)
        if isinstance(command, commands.ParentChild):
            ends = asker.edges(command)
            if ends is None:
                later.add(command)
            else:
                self._join(*ends)
        elif type(command) in LATER:
            if self._is_to_wait(place, command, asker):
                later.add(command)
        else:
            if isinstance(command, commands.SubmitDescription):
                later.add(command)
            yield from self._define(place, command)

    def _can_take(self, place: Place) -> bool:
        """Whether simple lines need no look at each of them."""
        options = self._options
        looked_at = options.check_descriptions or options.check_scripts or place.subdag
        return self._watch is None and not looked_at

    def _take_run(self, place: Place, run: Run, later: Later) -> bool:
        """Obey simple lines all at once; False, and nothing done, if one is out of the ordinary."""
        dag, scope = self.dag, place.scope
        names = [name for name, _ in run.rows("JOB")]
        if any(name.startswith(_JOIN_NAME) or name in scope.splices for name in names):
            return False
        if run.rows("PARENT") and any(map(dag.kinds.count, _WITHOUT_EDGES)):
            return False
        jobs = [scope.prefix + name for name in names] if scope.prefix else names
        new = set(jobs)
        if len(new) < len(jobs) or not dag.ids.keys().isdisjoint(new):
            return False
        used = [scope.prefix + name for kind in _USES for name, _ in run.rows(kind)]
        if scope.splices:  # a name may be that of a splice
            rows = run.rows("PARENT")
            used += [scope.prefix + name for row in rows for ends in row for name in ends.split()]
        if not all(name in dag.ids or name in new for name in used):
            return False
        self._has_parents.extend(bytes(len(jobs)))
        self._has_children.extend(bytes(len(jobs)))
        dag.add_jobs(jobs, repeat("", len(jobs)), repeat(0, len(jobs)))
        rows = run.rows("PARENT")
        if rows and not self._add_rows(place, rows):
            self._add_known_rows(place, run, later)
        return True

    def _add_rows(self, place: Place, rows: Sequence[tuple[str, str]]) -> bool:
        """The edges of PARENT lines; False, and nothing done, if a name is not that of a node."""
        prefix, get = place.scope.prefix, self.dag.ids.__getitem__
        lists = [names.split() for _, names in rows]
        try:
            tails = [get(prefix + parent) for parent, _ in rows]
            heads = [get(prefix + name) for names in lists for name in names]
        except KeyError:
            return False
        if any(map(self.dag.kinds.count, _WITHOUT_EDGES)):
            return False
        tails = [tail for tail, names in zip(tails, lists) for _ in names]
        self.dag.edges.add_many(tails, heads)
        for node in tails:
            self._has_children[node] = 1
        for node in heads:
            self._has_parents[node] = 1
        return True

    def _add_known_rows(self, place: Place, run: Run, later: Later) -> None:
        """The edges of PARENT lines as far as all their nodes are known; the others wait."""
        prefix, ids = place.scope.prefix, self.dag.ids
        known, waiting, numbers = [], [], []
        for number, row in zip(run.parent_lines(), run.rows("PARENT")):
            if prefix + row[0] in ids and all(prefix + name in ids for name in row[1].split()):
                known.append(row)
            else:
                waiting.append(row)
                numbers.append(number)
        if known:
            self._add_rows(place, known)
        later.add_rows(WaitingRows(numbers, waiting))

    def _define(self, place: Place, command: Command) -> Steps:
        """Obey a command that does not name nodes."""
        if isinstance(command, (commands.Job, commands.Subdag)):
            self._add_node(place, command)
            if isinstance(command, commands.Subdag):
                yield from self._subdag(place, command)
            else:
                self._check_job(place, command)
        elif isinstance(command, commands.SubmitDescription):
            self._descriptions.add(command.name)
        elif isinstance(command, commands.Include):
            yield from self._include(place, command)
        elif isinstance(command, commands.Splice):
            yield from self._splice(place, command)

    def _check_job(self, place: Place, command: commands.Job) -> None:
        known = command.description is None and command.submit in self._descriptions
        reason = "" if known else self._external.job(command, place.directory)
        if reason == NO_DESCRIPTION:
            self._undescribed.append((place, command))
            return
        self._blame_if(place, command, reason)

    def _blame_undescribed(self) -> None:
        for place, command in undescribed(self._undescribed, self._descriptions):
            self._blame(place, command, NO_DESCRIPTION)

    def _blame(self, place: Place, command: Command, reason: str) -> None:
        if len(self.issues) >= 2 * MOST_ERRORS:
            self.lost += 1
            return
        word = "" if isinstance(command, commands.Reject) else word_of(command)
        self.issues.append(Issue(reason, place.file, command.line, word))

    def _blame_if(self, place: Place, command: Command, reason: str) -> None:
        if reason:
            self._blame(place, command, reason)

    def _add_node(self, place: Place, command: commands.Job | commands.Subdag) -> None:
        scope, kind, flags = place.scope, kind_of(command), 0
        name = scope.prefix + command.name
        reason = self._against_node(scope, command.name, kind)
        if reason:
            self._blame(place, command, reason)
            return
        if command.name.startswith(_JOIN_NAME) and kind is NodeKind.JOB:
            flags = JOIN  # a full rescue DAG of an old version has them as ordinary nodes
        self._new_node(name, kind, flags)
        if kind is NodeKind.FINAL:
            scope.final = name
        elif kind is NodeKind.PROVISIONER:
            scope.provisioner = name

    def _against_node(self, scope: Scope, name: str, kind: NodeKind) -> str:
        if kind is NodeKind.FINAL and scope.spliced:
            return "Spliced DAGs can not contain a final node"
        if scope.prefix + name in self.dag.ids or name in scope.splices:
            return f"Node {name} is already defined in the DAG"
        if kind is NodeKind.FINAL and scope.final:
            return "Final node is already defined in the DAG"
        if kind is NodeKind.PROVISIONER and scope.provisioner:
            return "Provisioner node is already defined in the DAG"
        return ""

    def _new_node(self, name: str, kind: NodeKind, flags: int = 0) -> int:
        self._has_parents.append(0)
        self._has_children.append(0)
        return self.dag.add_node(name, "", kind, flags)

    def _include(self, place: Place, command: commands.Include) -> Steps:
        inner = Place(command.file, place.directory, place.scope, subdag=place.subdag)
        reason = self.open(inner, command.file)
        full = self._world.absolute(os.path.join(place.directory, command.file))
        if reason:
            self._blame(place, command, f"Failed to read include file: {reason}")
        elif full in self._open_files:
            self._blame(place, command, "Recursive file inclusion detected")
        else:
            self._open_files.append(full)
            yield self.file(inner)
            self._open_files.pop()

    def _splice(self, place: Place, command: commands.Splice) -> Steps:
        scope, name = place.scope, command.name
        if name in scope.splices or scope.prefix + name in self.dag.ids:
            reason = f"Splice name {name} is already defined in the DAG"
            self._blame(place, command, reason)
            return
        begin = len(self.dag)
        scope.splice_count += 1
        directory = os.path.join(place.directory, command.directory)
        inner_scope = Scope(f"{scope.prefix}{name}+", spliced=True)
        inner = Place(command.file, directory, inner_scope, subdag=place.subdag)
        if command.directory and not self._world.is_directory(directory):
            reason = "No such file or directory"
        else:
            reason = self.open(inner, command.file)
        full = self._world.absolute(os.path.join(directory, command.file))
        if reason:
            self._blame(place, command, f"Failed to read splice {name}: {reason}")
        elif full in self._open_files:
            self._blame(place, command, "Recursive splicing detected")
        else:
            scope.inner.append(inner_scope)
            self._open_files.append(full)
            yield self.file(inner)
            self._open_files.pop()
            scope.splices[name] = self._ends_from(begin)

    def _ends_from(self, begin: int) -> Ends:
        """The ends of a splice whose nodes are those from `begin` on."""
        nodes = [n for n in range(begin, len(self.dag)) if self.dag.kinds[n] in WITH_EDGES]
        initial = array("i", (node for node in nodes if not self._has_parents[node]))
        terminal = array("i", (node for node in nodes if not self._has_children[node]))
        return Ends(initial, terminal)

    def _subdag(self, place: Place, command: commands.Subdag) -> Steps:
        directory = os.path.join(place.directory, command.directory)
        if not self._options.check_subdags:
            if self._options.check_descriptions and not self._world.is_directory(directory or "."):
                self._blame(place, command, "No such file or directory")
            return
        path = os.path.join(directory, command.file)
        reason = ""
        if command.directory and not self._world.is_directory(directory):
            reason = "No such file or directory"
        elif self._world.kind(path) is FileKind.MISSING:
            reason = f"{command.file} does not exist"
        if reason:
            if self._options.strict:
                self._blame(place, command, reason)
            return
        full = self._world.absolute(path)
        if full in self._subdags:
            self._blame(place, command, "Recursive sub-DAG detected")
            return
        inner = Place(command.file, directory, Scope(), subdag=True)
        reason = self.open(inner, command.file)
        if reason:
            self._blame(place, command, f"Failed to open DAG {command.file}: {reason}")
            return
        yield from self._inside(place, command, inner, full)

    def _inside(self, place: Place, command: commands.Subdag, inner: Place, full: str) -> Steps:
        """Read a sub-DAG into a DAG of its own, and blame `command` for what is wrong there."""
        kept = dict(vars(self))
        self.dag, self.issues, self._open_files, self._joins = Dag(), [], [], 0
        self._has_parents, self._has_children = bytearray(), bytearray()
        self._external = External(self._world, self._options)
        self._descriptions, self._undescribed = set(), []
        self._subdags.append(full)
        yield self.file(inner)
        self._blame_undescribed()
        self._subdags.pop()
        found = self.issues
        vars(self).update(kept)
        for issue in found:
            self._blame(place, command, f"{issue.file}:{issue.line}>{issue.reason}")

    def _join(self, parents: list[int], children: list[int]) -> None:
        if not parents or not children:
            return
        for parent in parents:
            self._has_children[parent] = 1
        for child in children:
            self._has_parents[child] = 1
        if len(parents) > 1 and len(children) > 1 and self._options.use_join_nodes:
            self._joins += 1
            name = f"{_JOIN_NAME}{self._joins}"
            node = self._new_node(name, NodeKind.JOB, JOIN | NOOP)
            self._has_parents[node] = self._has_children[node] = 1
            self.dag.add_edges(parents, [node])
            self.dag.add_edges([node], children)
        else:
            self.dag.add_edges(parents, children)

    def _is_to_wait(self, place: Place, command: Command, asker: Asker) -> bool:
        """Whether a command that names a node is to be looked at again at the end of the file."""
        if isinstance(command, (commands.ConfigFile, commands.Reject)):
            return True
        if isinstance(command, commands.ScriptLine):
            return bool(self._external.script(command, place.directory) or asker.objection(command))
        return bool(asker.objection(command))

    def _obey_late(self, place: Place, command: Command, asker: Asker) -> None:
        scope = place.scope
        if isinstance(command, commands.ParentChild):
            parents, children, reasons = asker.edges_and_reasons(command)
            for reason in reasons:
                self._blame(place, command, reason)
            self._join(parents, children)
            return
        if isinstance(command, commands.SubmitDescription):
            reason = self._external.description(command.description, place.directory)
            self._blame_if(place, command, reason)
            return
        if isinstance(command, commands.ConfigFile):
            self._blame_if(place, command, self._external.config(command, place.directory, scope))
            return
        if isinstance(command, commands.ScriptLine):
            self._blame_if(place, command, self._external.script(command, place.directory))
        reason = asker.objection(command)
        if isinstance(command, commands.Reject):
            reason = "DAG marked with REJECT command"
        if reason:
            self._blame(place, command, reason)
