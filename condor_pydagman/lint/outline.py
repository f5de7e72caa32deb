"""DAG files as stock condor_dag_checker reads them: nodes, edges, and all errors.

Files, splices and simple lines are gone through by DAGMan's reader (`graph.build`).  But the stock
checker is not DAGMan: each file is a DAG of its own, wrong commands are not counted, and CONNECT,
pins and most semantics are left out.  Tools read its output, so messages, numbers and the order of
both are the same here; that is why the rules for names, and the order of commands, are apart.

Of each file, commands that define nodes are applied as they come; then errors of syntax are listed;
then come the commands that name nodes, in the order of `_rank`.  INCLUDE and SPLICE are read to
their end where they stand.
"""

from __future__ import annotations

import os.path
from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import cache
from itertools import repeat
from typing import Any, Union

from condor_pydagman.errors import DagFileError, FileError, UsageError
from condor_pydagman.feature_table import home, part
from condor_pydagman.graph import define
from condor_pydagman.graph.apply import apply_many, file_of
from condor_pydagman.graph.build import DagReader, Files, end_file, performed
from condor_pydagman.graph.building import ALL_NODES, Building, BuildOptions
from condor_pydagman.graph.model import JOIN, JOIN_NAME, Dag
from condor_pydagman.graph.problems import Errors, ProcessingError
from condor_pydagman.graph.scope import Scope
from condor_pydagman.language import commands
from condor_pydagman.language.bulk import KINDS, USES, SimpleLines, kind_of
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import USING, manual
from condor_pydagman.language.parser import CommandReader, Reading
from condor_pydagman.language.syntax import of_class
from condor_pydagman.lint.external import NO_DESCRIPTION, External, OutlineOptions
from condor_pydagman.lint.findings import FileKind, World
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

MAX_ERRORS = 10_000  # of a file, and as many again of commands that can't be applied

# Commands that are applied when all nodes of their file are known, in this order.
_ORDER: tuple[type, ...] = (
    commands.SubmitDescription,
    commands.Category,
    commands.ParentChild,
    commands.ScriptLine,
    commands.RetryLine,
    commands.AbortDagOn,
    commands.Vars,
    commands.Priority,
    commands.PreSkip,
    commands.ToleranceLine,
    commands.NotDone,
    commands.Done,
    commands.ConfigFile,
    commands.Reject,
)
_ONE_ONLY = (NodeKind.FINAL, NodeKind.PROVISIONER)
_LATER = frozenset(_ORDER) - {commands.SubmitDescription}  # which defines its name at once

Watch = Callable[[Building, Command], None]


class _Rows(NamedTuple):
    """PARENT lines of a simple form, and their numbers: there may be millions, so as text."""

    numbers: Sequence[int]
    text: str


_Later = list[Union[Command, _Rows]]


class Outline(NamedTuple):
    """What was read."""

    dag: Dag  # names, kinds, flags and edges only; finished
    issues: list[DagFileError]  # what is wrong; the command is '' where an error is not about one
    lost: int  # how many issues there are besides, of which there may be very many
    # names of such nodes, or ''
    final: str
    provisioner: str
    splices: int  # the stock tool's count, which it adds up anew at every INCLUDE
    unread: Mapping[str, str]  # submit descriptions that were not read, and why


class _Issues(Errors):
    most = 2 * MAX_ERRORS
    reads_on = True


class _Building(Building):
    """Join nodes are numbered over all files, from 1; issues have no hints."""

    def join_name(self) -> str:
        return f"{JOIN_NAME}{self.next_join() + 1}"

    def defined_at(self, full: str) -> str | None:
        return None  # join nodes are not compared with others

    def near(self, name: str) -> str:
        return ""


def read_outline(
    file: str, world: World, options: OutlineOptions, watch: Watch | None = None
) -> Outline:
    """Read the DAG that `file` describes.  `watch` is called with every command."""
    reader = _Reader(world, options, watch)
    directory, name = os.path.split(file) if options.use_dag_dir else ("", file)
    path = os.path.join(directory, name)
    text = reader.opened(path)
    if isinstance(text, str):
        reason = f"Failed to open DAG {os.path.basename(file)}: {text}"
        reader.errors.keep(DagFileError(reason, file=file))
    else:
        for _ in performed(reader.whole(file, path, directory, text)):
            pass
    return reader.outline()


class _Reader(DagReader):
    """Reads one DAG, for `subdags` one that is the last of these, of which each names the next."""

    def __init__(
        self,
        world: World,
        options: OutlineOptions,
        watch: Watch | None,
        subdags: tuple[str, ...] = (),
    ) -> None:
        how = BuildOptions(
            use_join_nodes=options.use_join_nodes,
            allow_any_node_name_characters=options.allow_illegal_chars,
        )
        super().__init__(_Building(Dag(), how, _Issues()), world.read_blocks)
        self._world = world
        self._options = options
        self._watch = watch
        self._subdags = subdags
        self._external = External(world, options)
        self._descriptions: set[str] = set()
        self._undescribed: list[tuple[_Later, str, commands.Job]] = []
        self._configured: set[Scope] = set()
        self._splices: Counter[Scope] = Counter()  # of its own, those that can't be read included
        self._counted: Counter[Scope] = Counter()
        # Whether simple lines need a look at each of them.
        self._looks_closer = bool(watch or subdags) or (
            options.check_descriptions or options.check_scripts
        )

    def outline(self) -> Outline:
        """All that was read; nothing may be read after that."""
        dag, scope = self._building.dag, self._building.scope
        dag.finish(parents_later=True)
        final, provisioner = (
            next((dag.names[node] for node in dag.of_kind(kind) if node in scope), "")
            for kind in _ONE_ONLY
        )
        splices = self._counted[scope]
        errors, unread = self.errors, self._external.unread
        return Outline(dag, errors.kept, errors.lost, final, provisioner, splices, unread)

    def opened(self, path: str) -> Iterator[str] | str:
        """The text of a file in blocks, or why it can't be read."""
        try:
            return self._world.read_blocks(path)
        except FileNotFoundError:
            return "Provided file path does not exist"
        except (IsADirectoryError, FileError):
            return "Provided file path is not a file"
        except (OSError, ValueError):
            return "Failed to open file"

    def whole(self, file: str, path: str, directory: str, text: Iterator[str]) -> Files:
        """Read a DAG, whose first file has been opened; it looks for others in `directory`."""
        self._building.scope.where = directory
        self._subdags = self._subdags or (self._world.absolute(path),)
        yield self._contents(file, path, "", text)
        seen = set()  # each name comes once for a file; stock looks in that file alone
        for later, where, command in self._undescribed:
            key = id(later), command.submit
            if command.submit not in self._descriptions and key not in seen:
                seen.add(key)
                self._report(command, NO_DESCRIPTION, where)

    def _read_all(self, path: str, text: Iterator[str]) -> Files:
        file, scope = self._building.file, self._building.scope
        later: _Later = []
        inner = len(self._subdags) > 1
        reading = Reading(
            file,
            max_errors=1 if inner else MAX_ERRORS,
            allow_any_node_name_characters=self._options.allow_illegal_chars,
        )
        reader = self._kept.reader(
            (path, file, False), reading, lambda: CommandReader(text, reading, in_bulk=True)
        )
        try:
            for item in reader:
                if inner and reading.errors:
                    break  # the rest of a sub-DAG is not looked at after an error
                if not isinstance(item, SimpleLines):
                    yield from self._perform(item, later)
                    continue
                odd = self._add_simple(item, later)
                for command, line in reader.commands_of(item) if odd else ():
                    if kind_of(line) in odd:
                        yield from self._perform(command, later)
        except (OSError, FileError) as error:
            self.errors.keep(DagFileError(f"Failed to read {file}: {error}", file=file))
        self.errors.kept += reading.errors
        if not inner:
            self.errors.lost += reading.lost
        for waiting in sorted(later, key=_rank):
            self._apply_late(waiting)
        nested = sum(self._counted[splice] for splice in scope.splices.values())
        self._counted[scope] += self._splices[scope] + nested

    def _add_simple(self, simple: SimpleLines, later: _Later) -> Sequence[str]:
        """Apply simple lines all at once, but for those of the kinds that need a closer look."""
        building, dag = self._building, self._building.dag
        names = simple.columns("JOB")[0]
        full, splices = building.full_names(names), building.scope.splices
        new = set(full)
        if self._looks_closer or JOIN_NAME in simple.text or not splices.keys().isdisjoint(names):
            return KINDS
        if len(new) < len(full) or not dag.ids.keys().isdisjoint(new):
            return KINDS
        if full:
            building.scope.add(len(dag), len(full))
            dag.add_jobs(full, repeat("", len(full)), repeat(0, len(full)))
        odd = []
        for kind in filter(simple.has, USES):
            if kind != "PARENT":
                if building.numbers(simple.columns(kind)[0]) is None:
                    odd.append(kind)
            elif not apply_many(building, simple, kind):
                if splices:
                    odd.append(kind)
                else:
                    numbers = simple.numbers("PARENT")
                    compact = numbers if isinstance(numbers, range) else array("i", numbers)
                    later.append(_Rows(compact, simple.text_of(kind)))
        return odd

    def _perform(self, command: Command, later: _Later) -> Files:
        """Apply a command, or put it off to the end of its file."""
        building = self._building
        if self._watch:
            self._watch(building, command)
        objection, add = _rule(type(command), "objection"), _adder(type(command))
        if isinstance(command, commands.ParentChild):
            if not self._join(command):
                later.append(command)
        elif objection is not None:
            self._report(command, objection(command, building, self._external))
        elif is_late(type(command)):
            if add is not None or self._is_to_wait(command):
                later.append(command)
        elif isinstance(command, commands.Job):
            self._add_node(command, NodeKind.JOB if command.kind == NodeKind.DATA else command.kind)
            self._check_job(command, later)
        elif isinstance(command, commands.Subdag):
            self._add_node(command, NodeKind.SUBDAG)
            yield from self._subdag(command)
        elif isinstance(command, commands.SubmitDescription):
            later.append(command)
            self._descriptions.add(command.name)
        elif isinstance(command, commands.Include):
            fails = "Failed to read include file"
            yield from self._other(command, fails, "Recursive file inclusion detected")
        elif isinstance(command, commands.Splice):
            yield from self._splice(command)
        elif add is not None:
            self._add_for_feature(command, add)

    def _add_node(self, command: commands.Job | commands.Subdag, kind: NodeKind) -> None:
        building, name, flags = self._building, command.name, 0
        reason = self._against_node(name, kind)
        self._report(command, reason)
        if not reason:
            if name.startswith(JOIN_NAME) and kind is NodeKind.JOB:
                flags = JOIN  # a full rescue DAG of an old version has them as ordinary nodes
            building.add_node(building.scope.full(name), "", kind, flags, 0)

    def _against_node(self, name: str, kind: NodeKind) -> str:
        building, scope = self._building, self._building.scope
        if kind is NodeKind.FINAL and scope.outer is not None:
            return "Spliced DAGs can not contain a final node"
        if building.find(name) is not None or name in scope.splices:
            return f"Node {name} is already defined in the DAG"
        if kind in _ONE_ONLY and any(node in scope for node in building.dag.of_kind(kind)):
            return f"{kind.name.capitalize()} node is already defined in the DAG"
        return ""

    def _check_job(self, command: commands.Job, later: _Later) -> None:
        known = command.description is None and command.submit in self._descriptions
        where = self._building.scope.where
        reason = "" if known else self._external.job(command, where)
        if reason == NO_DESCRIPTION:  # a description of that name may still come
            self._undescribed.append((later, self._building.file, command))
        else:
            self._report(command, reason)

    def _add_for_feature(self, command: Command, add: Callable[..., str]) -> None:
        file = file_of(command)
        where = self._building.scope.where
        text = self.opened(os.path.join(where, file)) if file else iter(())
        if isinstance(text, str):
            self._report(command, f"Failed to read {file}: {text}")
            return
        try:
            reason = add(self._building, command, "".join(text))
        except (OSError, FileError, UsageError) as error:
            reason = str(error)
        self._report(command, reason)

    def _report(self, command: Command, reason: str, file: str = "") -> None:
        """Keep what is wrong with a command, if anything is."""
        if reason:
            word = "" if isinstance(command, commands.Reject) else word_of(command)
            file = file or self._building.file
            self.errors.keep(DagFileError(reason, file=file, line=command.line, command=word))

    def _splice(self, command: commands.Splice) -> Files:
        building, outer, name = self._building, self._building.scope, command.name
        if name in outer.splices or building.find(name) is not None:
            self._report(command, f"Splice name {name} is already defined in the DAG")
            return
        self._splices[outer] += 1
        scope = building.scope = Scope(outer, name, command.file)
        scope.enter_directory(command.directory)
        if command.directory and not self._world.is_directory(scope.where):
            self._report(command, f"Failed to read splice {name}: No such file or directory")
        else:
            fails = f"Failed to read splice {name}"
            if (yield from self._other(command, fails, "Recursive splicing detected")):
                end_file(building)
                outer.splices[name] = scope
        building.scope = outer

    def _other(
        self, command: commands.Include | commands.Splice, fails: str, recursive: str
    ) -> Generator[Files, None, bool]:
        """Read the file that a command names; the result is whether that is possible."""
        path = os.path.join(self._building.scope.where, command.file)
        text, known = self._flood() or self.opened(path), self._world.absolute(path)
        if isinstance(text, str):
            self._report(command, f"{fails}: {text}")
        elif known in self._open:
            self._report(command, recursive)
        else:
            yield self._contents(command.file, path, known, text)
            return True
        return False

    def _flood(self) -> str:
        """Why DAGMan would take in no further file; '' if it would."""
        try:
            self._refuse_flood()
        except ProcessingError as error:
            return error.message
        return ""

    def _subdag(self, command: commands.Subdag) -> Files:
        options, world = self._options, self._world
        directory = os.path.join(self._building.scope.where, command.directory)
        if not options.check_subdags:
            if options.check_descriptions and not world.is_directory(directory or "."):
                self._report(command, "No such file or directory")
            return
        path = os.path.join(directory, command.file)
        reason = ""
        if command.directory and not world.is_directory(directory):
            reason = "No such file or directory"
        elif world.kind(path) is FileKind.MISSING:
            reason = f"{command.file} does not exist"
        if reason:
            self._report(command, reason if options.strict else "")
            return
        full = world.absolute(path)
        if full in self._subdags:
            self._report(command, "Recursive sub-DAG detected")
            return
        text = self._flood() or self.opened(path)
        if isinstance(text, str):
            self._report(command, f"Failed to open DAG {command.file}: {text}")
            return
        inner = _Reader(world, options, self._watch, (*self._subdags, full))
        inner._files_read = self._files_read
        yield from inner.whole(command.file, path, directory, text)
        self._files_read = inner._files_read
        for one in inner.errors.kept:
            self._report(command, f"{one.file}:{one.line}>{one.message}")

    def _is_to_wait(self, command: Command) -> bool:
        """Whether a command that names a node is to be looked at again at the end of the file."""
        if isinstance(command, (commands.ConfigFile, commands.Reject)):
            return True
        building, missing = self._building, ""
        if isinstance(command, commands.ScriptLine):
            missing = self._external.script(command, building.scope.where)
        return bool(missing or _against_name(building, command))

    def _apply_late(self, waiting: Command | _Rows) -> None:
        building, external, scope = self._building, self._external, self._building.scope
        add = _adder(type(waiting))
        if isinstance(waiting, _Rows):
            simple = SimpleLines(0, len(waiting.numbers), waiting.text, {})
            if not apply_many(building, simple, "PARENT"):
                for line, (parent, children) in zip(waiting.numbers, simple.rows("PARENT")):
                    one = commands.ParentChild(line, (parent,), tuple(children.split()))
                    self._join(one, at_end=True)
        elif isinstance(waiting, commands.ParentChild):
            self._join(waiting, at_end=True)
        elif add is not None:
            self._add_for_feature(waiting, add)
        elif isinstance(waiting, commands.SubmitDescription):
            self._report(waiting, external.description(waiting.description, scope.where))
        elif isinstance(waiting, commands.Reject):
            self._report(waiting, "DAG marked with REJECT command")
        elif isinstance(waiting, commands.ConfigFile):
            second = "DAG configuration file is already defined" * (scope in self._configured)
            self._report(waiting, second or external.config(waiting, scope.where))
            self._configured.add(scope)
        else:
            if isinstance(waiting, commands.ScriptLine):
                self._report(waiting, external.script(waiting, scope.where))
            self._report(waiting, _against_name(building, waiting))

    def _join(self, command: commands.ParentChild, *, at_end: bool = False) -> bool:
        """Apply a PARENT line; false if a name is not known yet, or of a node without edges.

        `at_end`: of the file, where these are reported, and all that can be joined is.
        """
        building, errors = self._building, self.errors
        kinds, reasons, unknown = building.dag.kinds, [], ""
        ends: list[Sequence[int]] = []
        for which, names in (("Parent", command.parents), ("Child", command.children)):
            nodes = define.ends(building, names, which.lower()) or ()
            special = building.special.intersection(nodes) if building.special else ()
            for name, node in sorted((building.shown(node), node) for node in special):
                kind = NodeKind(kinds[node]).name
                reasons.append(f"{kind} node {name} can not have dependencies")
            missing = ",".join(sorted(one.at for one in errors.objections))
            many = "Parents" if which == "Parent" else "Children"
            unknown += f" {many} [{missing}]" if missing else ""
            errors.objections = []
            ends.append([node for node in nodes if node not in special] if special else nodes)
        if unknown:
            reasons.append(f"References to undefined nodes:{unknown}")
        if reasons and not at_end:
            return False
        for reason in reasons:
            self._report(command, reason)
        define.join(building, *ends)
        return True


def _against_name(building: Building, command: Command) -> str:
    """What is wrong with the node that a command names, '' if nothing or if it names none."""
    name, is_done = getattr(command, "node", None), isinstance(command, commands.Done)
    if name is None or building.find(name) is not None:
        return ""
    if name in building.scope.sets and not is_done:
        return ""
    if name.upper() == ALL_NODES:
        return "ALL_NODES can not be used with DONE command" if is_done else ""
    if isinstance(command, commands.Category):
        return f"References to undefined nodes: {name}"
    if name in building.scope.splices:
        return f"Cannot be applied to splice {name}"
    return f"References undefined node {name}"


def word_of(command: Command) -> str:
    """The word of a command as messages show it; PIN_IN for both kinds of pins."""
    if isinstance(command, commands.Job):
        return command.kind.name
    return of_class(type(command)).word


def is_late(command: type) -> bool:
    """Whether commands of that class are applied when all nodes of their file are known."""
    return command in _LATER or (bool(home(command)) and of_class(command).word in USING)


@cache
def _rule(command: type, name: str) -> Any:
    """What the `lint` of a feature has under that name, if the command is a feature's.

    `objection` says of commands as they are read whether they are wrong, if anything does.
    """
    return getattr(part(home(command), "lint"), name, None) if home(command) else None


def _adder(command: type) -> Callable[..., str] | None:
    """What adds nodes or edges for commands of a feature; None if they bring none.

    It is in the table `ADDED` of the feature's `lint`.  It gets what is being built, the command,
    and the text of the file that belongs to this; the result is why it can't be applied, or ''.
    """
    found: Callable[..., str] | None = (_rule(command, "ADDED") or {}).get(command)
    return found


def _rank(waiting: Command | _Rows) -> tuple[int, int]:
    return _rank_of(commands.ParentChild if isinstance(waiting, _Rows) else type(waiting))


@cache
def _rank_of(command: type) -> tuple[int, int]:
    """The place of commands among those that wait: those of features, in the order of the manual,
    stand before DONE; but those that add edges behind PARENT."""
    if not home(command):
        return _ORDER.index(command), 0
    words = [row.word for row in manual()]
    before = commands.NotDone if _adder(command) is None else commands.ParentChild
    return _ORDER.index(before), 1 + words.index(of_class(command).word)
