"""From DAG files to a Dag: which file is read when, splices, what is applied in what order."""

from __future__ import annotations

import os.path
import re
from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import chain, islice
from operator import ne
from typing import TypeVar, Union

from condor_pydagman.errors import FileError
from condor_pydagman.graph import define
from condor_pydagman.graph.apply import NotSimple, apply, apply_many, define_jobs
from condor_pydagman.graph.building import STRICT_MIDDLE, Building, BuildOptions, fail
from condor_pydagman.graph.file_cache import FileCache, Player, Recorder
from condor_pydagman.graph.model import Dag, Splice
from condor_pydagman.graph.problems import DagFileErrors, Errors, ProcessingError
from condor_pydagman.graph.scope import Scope
from condor_pydagman.language import bulk, commands, hints
from condor_pydagman.language.bulk import SimpleLines
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import DEFINING, USING
from condor_pydagman.language.lexer import excerpt
from condor_pydagman.language.lines import in_blocks
from condor_pydagman.language.parser import MAX_LOST_ERRORS, CommandReader, Reading
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message
from condor_pydagman.vocabulary import NodeKind

# Entering the file of a SPLICE, leaving it, and lifting its nodes into the file that names it.

MAX_PREFIX_LENGTH = 10_000  # of a node's name, for the splices that it is in
# With so many no further splice is read: a few lines can define more nodes than memory holds.
MAX_NODES = 20_000_000
MAX_EDGES = 10 * MAX_NODES  # each PARENT line that shares its edges counts once

_FORBIDDEN = (NodeKind.FINAL, NodeKind.PROVISIONER)


def enter(building: Building, command: commands.Splice) -> None:
    """The scope of a new splice becomes the present one."""
    outer = building.scope
    name = outer.munge + command.name
    clash = "give the splice another name"
    if name in building.dag.ids and building.find(command.name) is not None:
        fail(
            f"Splice name {command.name} already associated with a node in DAG.",
            clash,
            at=command.name,
        )
    if name in outer.splices:
        fail(f"Splice named {command.name} already exists in DAG.", clash, at=command.name)
    scope = Scope(outer, name, command.file)
    if len(scope.prefix) > MAX_PREFIX_LENGTH:
        fail(
            f"The names of its nodes would be longer than {MAX_PREFIX_LENGTH:,} characters",
            "splices nest too deep",
        )
    scope.enter_directory(command.directory)
    building.scope = scope
    building.has_splices = True


def leave(building: Building, *, good: bool) -> None:
    """The splice's file has been read: its scope ends, and if it was `good` waits to be lifted."""
    scope = building.scope
    outer = scope.outer
    if outer is None:
        raise ValueError("the root can't be left")
    building.scope = outer
    if building.errors.reads_on:  # what is in it is known, if not all
        outer.splices[scope.name] = scope
    elif not good:
        return
    _refuse_forbidden(building, scope)
    outer.splices[scope.name] = scope


def end_file(building: Building) -> None:
    """At the end of a file, INCLUDEd or not: what the scope's splices hold becomes its own."""
    outer = building.scope
    for splice in outer.lift():
        _lift_limits(building, outer, splice)
        _lift_descriptions(building, outer, splice)
    if outer.outer is not None:
        _note_ends(building, outer)


def note(building: Building) -> None:
    """Have the Dag tell which of its nodes are of which splice."""
    count, found = 0, building.dag.splices
    open_splices: dict[Scope, int] = {}
    for piece in building.scope.walk():
        if isinstance(piece, range):
            count += len(piece)
        elif piece in open_splices:
            place = open_splices.pop(piece)
            found[place] = found[place]._replace(end=count)
        else:
            open_splices[piece] = len(found)
            found.append(Splice(piece.prefix[:-1], piece.file, piece.directory, count, count))


def _refuse_forbidden(building: Building, scope: Scope) -> None:
    for node in sorted(building.special):
        kind = NodeKind(building.dag.kinds[node])
        if kind in _FORBIDDEN and node in scope:
            name = scope.name[len(scope.munge) :]
            fail(
                f"Splice {name} has a {kind.name} node. This is not permitted.",
                f"put the {kind.name} node into the DAG file that names the splice",
            )


def _note_ends(building: Building, scope: Scope) -> None:
    """The initial and terminal nodes among those that are new: what is noted here stays noted, even
    if the file goes on after an INCLUDE and gives them parents (as in stock)."""
    building.mark_ends()
    special = building.special
    for piece in scope.new_pieces():
        nodes = (piece, piece) if isinstance(piece, range) else (piece.initial, piece.terminal)
        has_parents, has_children = building.has_parents, building.has_children
        scope.initial += [n for n in nodes[0] if not has_parents[n] and n not in special]
        scope.terminal += [n for n in nodes[1] if not has_children[n] and n not in special]


def _lift_limits(building: Building, outer: Scope, splice: Scope) -> None:
    cut = len(outer.prefix)
    for category in sorted(splice.categories | set(splice.limits)):
        outer.categories.add(category)
        limit, higher = splice.limits.get(category, -1), outer.limits.get(category)
        if higher is None:
            if limit >= 0:
                outer.limits[category] = limit
        elif higher != limit:
            shown = category if category[0] == "+" else category[cut:]
            building.warn(
                f"Warning: higher-level ({outer}) maxjobs value of {higher} for category {shown}"
                f" overrides splice {splice.name} value of {limit}",
                STRICT_MIDDLE,
            )


def _lift_descriptions(building: Building, outer: Scope, splice: Scope) -> None:
    where = f"splice {outer}" if outer.outer else "root"
    for name, text in splice.descriptions.items():
        if outer.descriptions.setdefault(name, text) != text:
            building.keep_warning(
                "WARNING: Conflicting inline descriptions using the same name"
                f" '{name}' between {where} and splice {splice.name}."
            )


# Reading DAG files: which one when, in which order which of its lines, and all that is wrong.
#
# Every file is read twice, as stock DAGMan does: first the commands that define nodes and submit
# descriptions, then those that use them.  Simple lines are applied in bulk the first time as long
# as they name nodes that are known already; for most files that a program has written nothing is
# left for the second time.  Neither the commands nor the text of a big file are ever all in memory.
#
# SPLICE and INCLUDE begin another file in the middle of one: files are generators on a stack of our
# own, so that they may nest as deep as they like.

STEP = 500  # commands that are applied in one step
MAX_FILES = 200_000  # nested splices multiply: a few lines can name any number of files

ReadText = Callable[[str], Union[str, Iterator[str]]]
_Reader = Union[CommandReader, Recorder, Player]
Files = Generator["Files", None, None]


def placed(error: ProcessingError, file: str, line: int, text: str) -> ProcessingError:
    """The error of the command on that line, whose text is `text`."""
    if not error.prefix:
        error.message += f" at {message(file)}:{line}"
    error.file, error.line, error.place = file, line, line
    column = -1
    if error.at:  # where that stands by itself, if it does
        found = re.search(rf"(?<!\S){re.escape(error.at)}(?!\S)", text)
        column = found.start() if found else text.find(error.at)
    error.text, caret = excerpt(text, max(column, 0))
    if column >= 0:
        error.column, error.caret = column + 1, caret
    return error


def _pause() -> Files:
    yield from ()


_PAUSE = _pause()  # stands for no file: there is something to be done in between


def performed(files: Files) -> Iterator[None]:
    """Read `files` and those that they lead to, a step at each item."""
    stack = [files]
    while stack:
        nested = next(stack[-1], None)
        if nested is None:
            stack.pop()
        elif nested is _PAUSE:
            yield
        else:
            stack.append(nested)


class _Progress(NamedTuple):
    """What the first reading of a file tells the second."""

    # each sequence of simple lines: number of the first line, of lines, of characters, and the
    # kinds that are not applied yet
    taken: deque[tuple[int, int, int, tuple[str, ...]]]
    blocked: set[str]  # kinds of lines of which some are not applied yet


class DagReader:
    """Reads DAG files and applies their commands."""

    def __init__(self, building: Building, read_text: ReadText, *, in_bulk: bool = True) -> None:
        # what is wrong; the policy decides what is read in spite of it
        self.errors = building.errors
        self._building = building
        self._read_text = read_text
        self._in_bulk = in_bulk
        self._open: dict[str, None] = {}  # paths of the files that are being read
        self._files_read = 0
        self._kept = FileCache()

    def steps(self, file: str) -> Iterator[None]:
        """Read a DAG file of the command line, and all the files that it names; a block of a file,
        or STEP commands, at each step.

        Raises:
            NotSimple: something that bulk reading can't express; read again without `in_bulk`.
        """
        return performed(self._file(file))

    def _file(self, file: str) -> Files:
        path = os.path.join(self._building.scope.where, file)
        known = os.path.normpath(path)
        try:
            self._refuse_recursion(known)
            self._refuse_flood()
            text = self._text(path, file)
        except ProcessingError as error:
            self._keep(error, file)
        else:
            yield from self._contents(file, path, known, text)

    def _contents(self, file: str, path: str, known: str, text: Iterator[str]) -> Files:
        """A file from beginning to end; what it changes for the time of its reading is undone."""
        building, scope = self._building, self._building.scope
        before = scope.where, scope.directory, building.file, building.dag.places.file
        self._open[known] = None
        self._enter(file, path)
        try:
            yield from self._read_all(path, text)
        except ProcessingError as error:
            self._keep(error, building.file)
        del self._open[known]
        scope.where, scope.directory, building.file, shown = before
        building.dag.places.enter(shown)

    def _read_all(self, path: str, text: Iterator[str]) -> Files:
        building, errors = self._building, self.errors
        begin = len(errors.kept), len(building.dag)
        yield from self._passes(path, text)
        self._condense(*begin)
        if errors.reads_on or not errors.kept:
            end_file(building)

    def _condense(self, before: int, nodes: int) -> None:
        """Of another file that is read as a DAG file one error says it all."""
        errors = self.errors.kept[before:]
        if not errors or len(self._building.dag) > nodes:
            return
        other = hints.of_other_file(message(errors[0].file), [error.text for error in errors])
        if other:
            errors[0].hint = other
            self.errors.cut(before + 1)

    def _enter(self, file: str, path: str) -> None:
        """The present scope is that of `file` now."""
        building, scope = self._building, self._building.scope
        building.file = file
        building.dag.places.enter(path)
        if building.options.use_dag_dir:
            building.file = os.path.basename(file)
            scope.where = os.path.dirname(path)
            scope.directory = ""
            if scope.where:
                scope.directory = os.path.join(building.options.cwd, scope.where)

    def _passes(self, path: str, text: Iterator[str]) -> Files:
        file, before = self._building.file, len(self.errors)
        reading, progress = self._reading(file, DEFINING), _Progress(deque(), set())
        reader = self._kept.reader(
            (path, file, False),
            reading,
            lambda: CommandReader(text, reading, in_bulk=self._in_bulk),
        )
        yield from self._apply(reader, reading, progress)
        if not reading.skipped and not progress.blocked:
            return
        second = self._reading(file, USING, is_second_reading=True)
        if not self.errors.goes_on(before):
            # Nodes may be missing because their lines are wrong: look for bad syntax only.
            for _ in CommandReader(self._text(path, file), second):
                pass
            self._note(second)
            return
        known = deque((line, lines, length) for line, lines, length, _ in progress.taken)
        reader = self._kept.reader(
            (path, file, True),
            second,
            lambda: CommandReader(
                self._text(path, file), second, in_bulk=self._in_bulk, known=known
            ),
        )
        yield from self._apply(reader, second, progress)

    def _apply(self, reader: _Reader, reading: Reading, progress: _Progress) -> Files:
        """Apply the commands of a file; yields the files that have to be read in between."""
        building, errors = self._building, self.errors
        for count, item in enumerate(reader, 1):
            if errors.lost > MAX_LOST_ERRORS:
                break
            if not count % STEP:
                yield _PAUSE
            if isinstance(item, SimpleLines):
                if reading.is_second_reading:
                    self._finish_simple(item, reader, reading, progress)
                else:
                    self._begin_simple(item, reading, progress)
                yield _PAUSE
                continue
            before = len(errors)
            try:
                item = building.admit(item)
                if isinstance(item, commands.Splice):
                    enter(building, item)
                    yield self._file(item.file)
                    leave(building, good=len(errors) == before)
                elif isinstance(item, commands.Include):
                    yield self._file(item.file)
                else:
                    apply(building, item, self._text_beside)
            except ProcessingError as error:
                errors.objections.append(error)
            else:
                if len(errors) > before:
                    self._add_trail(reading, before, item, reader.text())
            if errors.objections:
                self._add(reading, item, reader.text())
        self._note(reading)

    def _text_beside(self, file: str) -> str:
        """All of a file that is no DAG file."""
        self._files_read += 1
        return "".join(self._text(os.path.join(self._building.scope.where, file), file))

    def _begin_simple(self, simple: SimpleLines, reading: Reading, progress: _Progress) -> None:
        """The first time: what can be applied already."""
        building = self._building
        define_jobs(building, simple)
        if reading.skipped:  # commands of a kind are applied in their order
            progress.blocked.update(bulk.USES)
        left = []
        for kind in bulk.USES:
            if not simple.has(kind):
                continue
            if kind in progress.blocked or not apply_many(building, simple, kind):
                progress.blocked.add(kind)
                left.append(kind)
        progress.taken.append((simple.line, simple.lines, len(simple.text), tuple(left)))

    def _finish_simple(
        self, simple: SimpleLines, reader: _Reader, reading: Reading, progress: _Progress
    ) -> None:
        """The second time: what is left."""
        *_, left = progress.taken.popleft()
        wrong = {kind for kind in left if not apply_many(self._building, simple, kind)}
        if not wrong:
            return
        for command, text in reader.commands_of(simple):
            if bulk.kind_of(text) not in wrong:
                continue
            try:
                apply(self._building, self._building.admit(command))
            except ProcessingError as error:
                self.errors.objections.append(error)
            if self.errors.objections:
                self._add(reading, command, text)

    def _add(self, reading: Reading, command: Command, text: str) -> None:
        """Keep the objections with their place, which the one who found them does not know."""
        errors = self.errors
        for error in errors.objections:
            if not errors.follows(error, command):
                self._keep(placed(error, reading.file, command.line, text), reading.file)
        errors.objections = []

    def _keep(self, error: ProcessingError, file: str) -> None:
        error.file = error.file or file
        self.errors.keep(error)

    def _add_trail(self, reading: Reading, before: int, command: Command, text: str) -> None:
        """Say in the first error of another file because of which command it was read."""
        self.errors.note_nested(command, before)
        if len(self.errors.kept) <= before:
            return
        error, failed = self.errors.kept[before], ""
        if isinstance(command, commands.Splice):
            name = self._building.scope.munge + command.name
            failed = message(f"Failed to parse splice {name}'s DAG file {command.file}")
        if isinstance(error, ProcessingError) and not error.line:  # the file can't be read
            error.also = failed
            placed(error, reading.file, command.line, text)
        else:
            error.trail += [f"ERROR: {failed}"] if failed else []
            error.trail.append(f"Processing error at {message(reading.file)}:{command.line}")

    def _note(self, reading: Reading) -> None:
        """What is to be kept of a reading that is over."""
        self.errors.lost += reading.lost
        remarks = self._building.dag.remarks
        remarks += reading.warnings[: self.errors.most - len(remarks)]

    def _reading(
        self, file: str, words: frozenset[str], *, is_second_reading: bool = False
    ) -> Reading:
        return Reading(
            file,
            words=words,
            is_second_reading=is_second_reading,
            max_errors=self.errors.most,
            allow_any_node_name_characters=self._building.options.allow_any_node_name_characters,
            errors=self.errors.kept,
        )

    def _refuse_recursion(self, path: str) -> None:
        if path in self._open:
            shown = os.path.join(self._building.options.cwd, path)
            fail(
                f"Recursive DAG file parsing detected with {shown}",
                "a file can't INCLUDE or SPLICE itself, nor one that does so",
            )

    def _refuse_flood(self) -> None:
        self._files_read += 1
        dag, is_splice = self._building.dag, self._building.scope.outer is not None
        for count, limit, what in (
            (self._files_read, MAX_FILES, "files to be read, counting each SPLICE and INCLUDE"),
            (is_splice * len(dag), MAX_NODES, "nodes: no further splice is taken in"),
            (is_splice * len(dag.edges), MAX_EDGES, "edges: no further splice is taken in"),
        ):
            if count > limit:
                hint = "do splices hold splices that hold splices? A SUBDAG has a DAGMan of its own"
                fail(f"More than {limit:,} {what}", hint)

    def _text(self, path: str, shown: str) -> Iterator[str]:
        hint = ""
        try:
            text = self._read_text(path)
            return self._watched(in_blocks(text) if isinstance(text, str) else text, shown)
        except FileNotFoundError:
            self._refuse_missing_directory(path, shown)
            reason = "Provided file path does not exist"
            where = self._building.scope.where
            if where and not os.path.isabs(shown):
                hint = f"{shown} is looked for in {where}"
        except IsADirectoryError:
            reason = "Provided file path is not a file"
        except (OSError, FileError) as error:
            reason = f"Failed to open file ({error})"
        fail(f"Failed to open {shown}: {reason}", hint)

    def _watched(self, blocks: Iterator[str], shown: str) -> Iterator[str]:
        try:
            yield from blocks
        except (OSError, FileError) as error:
            fail(f"Failed to read {shown}: {error}")

    def _refuse_missing_directory(self, path: str, shown: str) -> None:
        """Say so if the file is missing because its directory is."""
        use_dag_dir = self._building.options.use_dag_dir
        directory = os.path.dirname(path) if use_dag_dir else self._building.scope.where
        try:
            if directory:
                self._read_text(directory)
        except FileNotFoundError:
            where = os.path.dirname(shown) if use_dag_dir else directory
            what = "into DAG directory" if use_dag_dir else "to directory"
            fail(
                f"Failed to change {what} {where}:"
                f" Unable to chdir to {where}: No such file or directory",
                f"{shown} is looked for in that directory",
            )
        except (OSError, FileError):
            return


__all__ = ["BuildOptions", "DagFileErrors", "ProcessingError", "ReadText", "build"]


def build(files: Sequence[str], read_text: ReadText, options: BuildOptions) -> Dag:
    """The Dag that `files`, DAG files as named on the command line, describe.  It is finished.

    `read_text` gives the text of a file, whole or in blocks that end at line ends; it raises
    FileError or OSError.

    Raises:
        DagFileErrors: at least one file can't be read or applied.
    """
    return build_with(Errors, files, read_text, options)[0]


_Policy = TypeVar("_Policy", bound=Errors)


def build_with(
    policy: Callable[[], _Policy], files: Sequence[str], read_text: ReadText, options: BuildOptions
) -> tuple[Dag, _Policy]:
    """As `build`, with another policy for errors, and those that it kept."""
    errors = policy()
    try:
        return _build(files, read_text, options, errors), errors
    except NotSimple:
        errors = policy()
        return _build(files, read_text, options, errors, in_bulk=False), errors


def _build(
    files: Sequence[str],
    read_text: ReadText,
    options: BuildOptions,
    errors: Errors,
    *,
    in_bulk: bool = True,
) -> Dag:
    dag = Dag(files=list(files))
    building = Building(dag, options, errors)
    reader = DagReader(building, read_text, in_bulk=in_bulk)
    munge = options.munge_node_names and len(files) > 1
    for number, file in enumerate(files):  # of several, nodes are named after the file's number
        building.scope.munge = f"{number}." if munge else ""
        for _ in reader.steps(file):
            pass
    if errors.reads_on or not errors.kept:
        _complete(building)
    building.close()
    errors.conclude(dag.warnings)
    dag.finish()
    if not errors.kept:  # else it may only follow that a condition names what is not there
        features = sorted(dag.all_features(), key=lambda data: data.place)
        found = chain.from_iterable(data.mistakes(dag) for data in features)
        errors.kept += islice(filter(None, found), errors.most)
        errors.conclude(dag.warnings)
    return dag


def complete_features(building: Building) -> None:
    """After all files: have features look at what has been read.

    Raises:
        ProcessingError: it can't be.
    """
    for data in building.dag.all_features():
        data.complete(building)


def _complete(building: Building) -> None:
    note(building)
    order = array("i", chain.from_iterable(building.scope.ranges()))  # that of stock's list
    if any(map(ne, order, range(len(order)))):
        building.dag.renumber(order)
    building.dag.category_limits = building.scope.limits
    building.dag.descriptions = building.scope.descriptions
    try:
        if not building.errors.kept:
            define.warn_of_categories(building)
            for data in building.dag.all_features():
                for warning in data.warnings(building.dag):
                    building.warn(warning, STRICT_MIDDLE)
        complete_features(building)
    except ProcessingError as error:
        building.errors.kept.append(error)
    define.add_priority(building)
