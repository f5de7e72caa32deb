"""DAG files as stock condor_dag_checker reads them: nodes, edges, and all errors.

The stock checker is not DAGMan (see `graph.build`): each file is a DAG of its own, reading goes on
after errors, wrong commands are not counted, and CONNECT, pins and most semantics are left out.
Tools read its output, so messages and numbers are the same here.

Of each file, commands that define nodes are applied as they come; then errors of syntax are listed;
then come the commands that name nodes, in the order of `references`.  INCLUDE and SPLICE are read
to their end where they stand.  Files nest as deep as they like: reading is a stack of generators.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterator
from typing import Any

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.bulk import SimpleLines
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.parser import CommandReader, Reading
from condor_pydagman.errors import DagFileError, FileError, UsageError
from condor_pydagman.features import home, part
from condor_pydagman.graph.apply import file_of
from condor_pydagman.graph.file_cache import FileCache, Player, Recorder
from condor_pydagman.graph.model import JOIN, JOIN_NAME, Dag
from condor_pydagman.graph.scope import NodeSet
from condor_pydagman.lint.external import (
    NO_DESCRIPTION,
    External,
    OutlineOptions,
    undescribed,
)
from condor_pydagman.lint.findings import FileKind, World
from condor_pydagman.lint.outline_graph import OutlineGraph
from condor_pydagman.lint.references import (
    Deferred,
    Ends,
    Resolver,
    WaitingRows,
    adder,
    is_late,
    kind_of,
    word_of,
)
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

MAX_ERRORS = 10_000  # of a file, and as many again of commands that can't be applied


class Issue(NamedTuple):
    """One thing that is wrong; `command` is '' where the error is not about a command."""

    reason: str
    file: str
    line: int = 0
    command: str = ""


def _objects(command: Command) -> Any:
    """What says of commands of a feature as they are read whether they are wrong, if anything."""
    own = home(type(command))
    return getattr(part(own, "lint"), "objection", None) if own else None


class Scope:
    """What a DAG file and the files that it INCLUDEs share; a SPLICE has one of its own."""

    def __init__(self, prefix: str = "", *, spliced: bool = False) -> None:
        self.prefix = prefix
        self.spliced = spliced
        self.final = ""
        self.provisioner = ""
        self.has_config = False
        self.words: set[str] = set()  # of commands of which a DAG has one
        self.splices: dict[str, Ends] = {}
        self.sets: dict[str, NodeSet] = {}
        self.inner: list[Scope] = []
        self.splice_count = 0  # splices of its own, those that can't be read included
        self.counted = 0  # the stock tool's count, which it adds up anew at every INCLUDE


class Outline(NamedTuple):
    """What was read.  `dag` has names, kinds, flags and edges only, and is finished.

    `lost` is how many issues there are besides `issues`, of which there may be very many.
    """

    dag: Dag
    scope: Scope
    issues: list[Issue]
    lost: int = 0


class Place:
    """A file that is being read.

    Attributes:
        file: its name as messages show it.
        directory: where it looks for other files, '' for the start directory.
        path: the file from the start directory.
    """

    def __init__(self, file: str, directory: str, scope: Scope, *, subdag: bool = False) -> None:
        self.file = file
        self.directory = directory
        self.scope = scope
        self.blocks: Iterator[str] = iter(())
        self.subdag = subdag
        self.path = ""


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
    dag = reader.finished_dag()
    return Outline(dag, scope, reader.issues, reader.lost)


class _Reader:
    """Reads one DAG; `issues` grows, up to a limit; `lost` counts the others."""

    def __init__(self, world: World, options: OutlineOptions, watch: Watch | None) -> None:
        self._graph = OutlineGraph(options.use_join_nodes)
        self.issues: list[Issue] = []
        self.lost = 0
        self._world = world
        self._options = options
        self._watch = watch
        self._open_files: list[str] = []
        self._subdags: list[str] = []
        self._kept = FileCache()
        self._external = External(world, options)
        self._descriptions: set[str] = set()
        self._undescribed: list[tuple[Place, commands.Job]] = []

    def finished_dag(self) -> Dag:
        """The Dag of all that was read; nothing may be read after that."""
        self._graph.dag.finish(parents_later=True)
        return self._graph.dag

    def run(self, steps: Steps, full: str) -> None:
        """Perform `steps`, those of the file `full`, and all that they lead to."""
        self._subdags = [full]
        stack = [steps]
        while stack:
            inner = next(stack[-1], None)
            if inner is None:
                stack.pop()
            else:
                stack.append(inner)
        self._report_undescribed()

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
        """Apply the commands of a file whose text has been read."""
        errors: list[DagFileError] = []
        reading = Reading(
            place.file,
            max_errors=1 if place.subdag else MAX_ERRORS,
            allow_any_node_name_characters=self._options.allow_illegal_chars,
            errors=errors,
        )
        later = Deferred()
        resolver = Resolver(self._graph.dag, place.scope)
        reader = self._reader(place, reading)
        try:
            for item in reader:
                if place.subdag and errors:
                    break  # the rest of a sub-DAG is not looked at after an error
                if not isinstance(item, SimpleLines):
                    yield from self._apply(place, item, resolver, later)
                elif not self._may_add_simple(place) or not self._add_simple(place, item, later):
                    for command, _ in reader.commands_of(item):
                        yield from self._apply(place, command, resolver, later)
        except (OSError, FileError) as error:
            self.issues.append(Issue(f"Failed to read {place.file}: {error}", place.file))
        self.issues += [Issue(one.message, one.file, one.line, one.command) for one in errors]
        if not place.subdag:
            self.lost += reading.lost
        for waiting in later:
            if not isinstance(waiting, WaitingRows):
                self._apply_late(place, waiting, resolver)
            elif not self._graph.add_parents(place.scope.prefix, waiting.simple()):
                for one in waiting.commands():
                    self._apply_late(place, one, resolver)
        scope = place.scope
        scope.counted += scope.splice_count
        scope.counted += sum(inner.counted for inner in scope.inner)

    def _reader(self, place: Place, reading: Reading) -> CommandReader | Recorder | Player:
        def new() -> CommandReader:
            return CommandReader(place.blocks, reading, in_bulk=True)

        if place.subdag:  # its first error ends the reading
            return new()
        return self._kept.reader((place.path, place.file, False), reading, new)

    def _apply(self, place: Place, command: Command, resolver: Resolver, later: Deferred) -> Steps:
        """Apply a command, or put it off to the end of its file."""
        if self._watch:
            self._watch(place, command)
        if isinstance(command, commands.ParentChild):
            ends = resolver.edges(command)
            if ends is None:
                later.add(command)
            else:
                self._graph.add_edges(*ends)
        elif _objects(command) is not None:
            why = _objects(command)(command, place.scope, self._external, place.directory)
            self._report_if(place, command, why)
        elif is_late(type(command)):
            if self._is_to_wait(place, command, resolver):
                later.add(command)
        else:
            if isinstance(command, commands.SubmitDescription):
                later.add(command)
            yield from self._define(place, command)

    def _may_add_simple(self, place: Place) -> bool:
        """Whether simple lines need no look at each of them."""
        options = self._options
        looked_at = options.check_descriptions or options.check_scripts or place.subdag
        return self._watch is None and not looked_at

    def _add_simple(self, place: Place, simple: SimpleLines, later: Deferred) -> bool:
        """Apply simple lines all at once; False, and nothing done, if one needs a closer look."""
        graph, scope = self._graph, place.scope
        if not graph.add_simple_jobs(scope, simple):
            return False
        if simple.has("PARENT") and not graph.add_parents(scope.prefix, simple):
            later.add_rows(WaitingRows(simple))
        return True

    def _define(self, place: Place, command: Command) -> Steps:
        """Apply a command that does not name nodes."""
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
        else:
            self._add_for_feature(place, command)

    def _add_for_feature(self, place: Place, command: Command) -> bool:
        """Add the nodes or edges of a command of a feature; false if it brings none."""
        add = adder(type(command))
        if add is None:
            return False
        file = file_of(command)
        beside = Place(file, place.directory, place.scope)
        reason = self.open(beside, file) if file else ""
        if reason:
            reason = f"Failed to read {file}: {reason}"
        else:
            try:
                reason = add(self._graph, place.scope, command, "".join(beside.blocks))
            except (OSError, FileError, UsageError) as error:
                reason = str(error)
        self._report_if(place, command, reason)
        return True

    def _check_job(self, place: Place, command: commands.Job) -> None:
        known = command.description is None and command.submit in self._descriptions
        reason = "" if known else self._external.job(command, place.directory)
        if reason == NO_DESCRIPTION:
            self._undescribed.append((place, command))
            return
        self._report_if(place, command, reason)

    def _report_undescribed(self) -> None:
        for place, command in undescribed(self._undescribed, self._descriptions):
            self._report(place, command, NO_DESCRIPTION)

    def _report(self, place: Place, command: Command, reason: str) -> None:
        if len(self.issues) >= 2 * MAX_ERRORS:
            self.lost += 1
            return
        word = "" if isinstance(command, commands.Reject) else word_of(command)
        self.issues.append(Issue(reason, place.file, command.line, word))

    def _report_if(self, place: Place, command: Command, reason: str) -> None:
        if reason:
            self._report(place, command, reason)

    def _add_node(self, place: Place, command: commands.Job | commands.Subdag) -> None:
        scope, kind, flags = place.scope, kind_of(command), 0
        name = scope.prefix + command.name
        reason = self._against_node(scope, command.name, kind)
        if reason:
            self._report(place, command, reason)
            return
        if command.name.startswith(JOIN_NAME) and kind is NodeKind.JOB:
            flags = JOIN  # a full rescue DAG of an old version has them as ordinary nodes
        self._graph.add_node(name, kind, flags)
        if kind is NodeKind.FINAL:
            scope.final = name
        elif kind is NodeKind.PROVISIONER:
            scope.provisioner = name

    def _against_node(self, scope: Scope, name: str, kind: NodeKind) -> str:
        if kind is NodeKind.FINAL and scope.spliced:
            return "Spliced DAGs can not contain a final node"
        if scope.prefix + name in self._graph.dag.ids or name in scope.splices:
            return f"Node {name} is already defined in the DAG"
        if kind is NodeKind.FINAL and scope.final:
            return "Final node is already defined in the DAG"
        if kind is NodeKind.PROVISIONER and scope.provisioner:
            return "Provisioner node is already defined in the DAG"
        return ""

    def _include(self, place: Place, command: commands.Include) -> Steps:
        inner = Place(command.file, place.directory, place.scope, subdag=place.subdag)
        reason = self.open(inner, command.file)
        full = self._world.absolute(os.path.join(place.directory, command.file))
        if reason:
            self._report(place, command, f"Failed to read include file: {reason}")
        elif full in self._open_files:
            self._report(place, command, "Recursive file inclusion detected")
        else:
            self._open_files.append(full)
            yield self.file(inner)
            self._open_files.pop()

    def _splice(self, place: Place, command: commands.Splice) -> Steps:
        scope, name = place.scope, command.name
        if name in scope.splices or scope.prefix + name in self._graph.dag.ids:
            reason = f"Splice name {name} is already defined in the DAG"
            self._report(place, command, reason)
            return
        begin = len(self._graph.dag)
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
            self._report(place, command, f"Failed to read splice {name}: {reason}")
        elif full in self._open_files:
            self._report(place, command, "Recursive splicing detected")
        else:
            scope.inner.append(inner_scope)
            self._open_files.append(full)
            yield self.file(inner)
            self._open_files.pop()
            scope.splices[name] = self._graph.ends_from(begin)

    def _subdag(self, place: Place, command: commands.Subdag) -> Steps:
        directory = os.path.join(place.directory, command.directory)
        if not self._options.check_subdags:
            if self._options.check_descriptions and not self._world.is_directory(directory or "."):
                self._report(place, command, "No such file or directory")
            return
        path = os.path.join(directory, command.file)
        reason = ""
        if command.directory and not self._world.is_directory(directory):
            reason = "No such file or directory"
        elif self._world.kind(path) is FileKind.MISSING:
            reason = f"{command.file} does not exist"
        if reason:
            if self._options.strict:
                self._report(place, command, reason)
            return
        full = self._world.absolute(path)
        if full in self._subdags:
            self._report(place, command, "Recursive sub-DAG detected")
            return
        inner = Place(command.file, directory, Scope(), subdag=True)
        reason = self.open(inner, command.file)
        if reason:
            self._report(place, command, f"Failed to open DAG {command.file}: {reason}")
            return
        yield from self._inside(place, command, inner, full)

    def _inside(self, place: Place, command: commands.Subdag, inner: Place, full: str) -> Steps:
        """Read a sub-DAG into a DAG of its own; its errors are reported as those of `command`."""
        kept = dict(vars(self))
        self._graph = OutlineGraph(self._options.use_join_nodes)
        self.issues, self._open_files = [], []
        self._external = External(self._world, self._options)
        self._descriptions, self._undescribed = set(), []
        self._subdags.append(full)
        yield self.file(inner)
        self._report_undescribed()
        self._subdags.pop()
        found = self.issues
        vars(self).update(kept)
        for issue in found:
            self._report(place, command, f"{issue.file}:{issue.line}>{issue.reason}")

    def _is_to_wait(self, place: Place, command: Command, resolver: Resolver) -> bool:
        """Whether a command that names a node is to be looked at again at the end of the file."""
        if isinstance(command, (commands.ConfigFile, commands.Reject)) or adder(type(command)):
            return True
        if isinstance(command, commands.ScriptLine):
            missing = self._external.script(command, place.directory)
            return bool(missing or resolver.objection(command))
        return bool(resolver.objection(command))

    def _apply_late(self, place: Place, command: Command, resolver: Resolver) -> None:
        scope = place.scope
        if isinstance(command, commands.ParentChild):
            parents, children, reasons = resolver.edges_and_reasons(command)
            for reason in reasons:
                self._report(place, command, reason)
            self._graph.add_edges(parents, children)
            return
        if self._add_for_feature(place, command):
            return
        if isinstance(command, commands.SubmitDescription):
            reason = self._external.description(command.description, place.directory)
            self._report_if(place, command, reason)
            return
        if isinstance(command, commands.ConfigFile):
            self._report_if(place, command, self._external.config(command, place.directory, scope))
            return
        if isinstance(command, commands.ScriptLine):
            self._report_if(place, command, self._external.script(command, place.directory))
        reason = resolver.objection(command)
        if isinstance(command, commands.Reject):
            reason = "DAG marked with REJECT command"
        if reason:
            self._report(place, command, reason)
