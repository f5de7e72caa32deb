"""Reading DAG files: which one when, in which order which of its lines, and all that is wrong.

Every file is read twice, as stock DAGMan does: first the commands that define nodes and submit
descriptions, then those that use them.  Simple lines are applied in bulk the first time as long as
they name nodes that are known already; for most files that a program has written nothing is left
for the second time.  Neither the commands nor the text of a big file are ever all in memory.

SPLICE and INCLUDE begin another file in the middle of one: files are generators on a stack of our
own, so that they may nest as deep as they like.
"""

from __future__ import annotations

import os.path
import re
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Union

from condor_pydagman.dagfile import bulk, commands, hints
from condor_pydagman.dagfile.bulk import SimpleLines
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.language import DEFINING, USING
from condor_pydagman.dagfile.lexer import excerpt
from condor_pydagman.dagfile.lines import in_blocks
from condor_pydagman.dagfile.parser import MAX_LOST_ERRORS, CommandReader, Reading
from condor_pydagman.errors import DagFileError, FileError
from condor_pydagman.graph import apply_bulk, splices, sweeps
from condor_pydagman.graph.apply import apply
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.file_cache import FileCache, Player, Recorder
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message

MAX_ERRORS = 1000
STEP = 500  # commands that are applied in one step
MAX_FILES = 200_000  # nested splices multiply: a few lines can name any number of files

ReadText = Callable[[str], Union[str, Iterator[str]]]
_Reader = Union[CommandReader, Recorder, Player]
_Files = Generator["_Files", None, None]


def placed(error: ProcessingError, file: str, line: int, text: str) -> ProcessingError:
    """The error of the command on that line, whose text is `text`."""
    if not error.prefix:
        error.message += f" at {message(file)}:{line}"
    error.file, error.line, error.place = file, line, line
    column = _column(text, error.at)
    error.text, caret = excerpt(text, column or 0)
    if column is not None:
        error.column, error.caret = column + 1, caret
    return error


def _column(text: str, word: str) -> int | None:
    """Where `word` stands in a line, from 0, by itself if possible; None if it does not."""
    if not word:
        return None
    found = re.search(rf"(?<!\S){re.escape(word)}(?!\S)", text)
    column = found.start() if found else text.find(word)
    return column if column >= 0 else None


def _pause() -> _Files:
    yield from ()


_PAUSE = _pause()  # stands for no file: there is something to be done in between


class _Progress(NamedTuple):
    """What the first reading of a file tells the second.

    Attributes:
        taken: each sequence of simple lines: number of the first line, of lines, of characters, and
            the kinds that are not applied yet.
        blocked: kinds of lines of which some are not applied yet.
    """

    taken: deque[tuple[int, int, int, tuple[str, ...]]]
    blocked: set[str]


class DagReader:
    """Reads DAG files and applies their commands.

    Attributes:
        errors: what is wrong, in the order in which stock DAGMan would meet it.
        lost: how many more errors there were.
    """

    def __init__(self, building: Building, read_text: ReadText, *, in_bulk: bool = True) -> None:
        self.errors: list[DagFileError] = []
        self.lost = 0
        self._building = building
        self._read_text = read_text
        self._in_bulk = in_bulk
        self._open: dict[str, None] = {}  # paths of the files that are being read
        self._files_read = 0
        self._kept = FileCache()

    def read(self, file: str) -> None:
        """Read a DAG file of the command line, and all the files that it names.

        Raises:
            NotSimple: something that bulk reading can't express; read again without `in_bulk`.
        """
        for _ in self.steps(file):
            pass

    def steps(self, file: str) -> Iterator[None]:
        """As `read`, a block of a file, or STEP commands, at each step."""
        stack = [self._file(file)]
        while stack:
            nested = next(stack[-1], None)
            if nested is None:
                stack.pop()
            elif nested is _PAUSE:
                yield
            else:
                stack.append(nested)

    def _file(self, file: str) -> _Files:
        """A file from beginning to end; what it changes for the time of its reading is undone."""
        building, scope = self._building, self._building.scope
        before = scope.where, scope.directory, building.file, building.dag.places.file
        path = os.path.join(scope.where, file)
        known = os.path.normpath(path)
        try:
            self._refuse_recursion(known)
            text = self._text(path, file)
        except ProcessingError as error:
            self._keep(error, file)
            return
        self._open[known] = None
        self._enter(file, path)
        begin = len(self.errors), len(building.dag)
        try:
            yield from self._passes(path, text)
            self._condense(*begin)
            if self._is_of_use():
                splices.end_file(building)
        except ProcessingError as error:
            self._keep(error, building.file)
        del self._open[known]
        scope.where, scope.directory, building.file, shown = before
        building.dag.places.enter(shown)

    def _condense(self, before: int, nodes: int) -> None:
        """Of a submit description that is read as a DAG file one error says it all."""
        errors = self.errors[before:]
        if not errors or len(self._building.dag) > nodes:
            return
        if sum(hints.tells_submit_file(error.text) for error in errors) > 1:
            errors[0].hint = hints.of_submit_file(message(errors[0].file))
            del self.errors[before + 1 :]

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

    def _passes(self, path: str, text: Iterator[str]) -> _Files:
        file, before = self._building.file, self._wrong()
        reading, progress = self._reading(file, DEFINING), _Progress(deque(), set())
        reader = self._kept.reader(
            (path, file, False),
            reading,
            lambda: CommandReader(text, reading, in_bulk=self._in_bulk),
        )
        yield from self._apply(reader, reading, progress)
        if not reading.skipped and not progress.blocked:
            return
        if self._goes_on(before):
            yield from self._second_pass(path, file, progress)
        else:  # nodes may be missing because their lines are wrong: look for bad syntax only
            reading = self._reading(file, USING, is_second_reading=True)
            for _ in CommandReader(self._text(path, file), reading):
                pass
            self._note(reading)

    def _is_of_use(self) -> bool:
        """Whether what has been read so far will be."""
        return not self.errors

    def _goes_on(self, before: int) -> bool:
        """Whether a second reading makes sense of a file that began after so many errors."""
        return self._wrong() == before

    def _leave_splice(self, *, good: bool) -> None:
        splices.leave(self._building, good=good)

    def _second_pass(self, path: str, file: str, progress: _Progress) -> _Files:
        reading = self._reading(file, USING, is_second_reading=True)
        known = deque((line, lines, length) for line, lines, length, _ in progress.taken)
        reader = self._kept.reader(
            (path, file, True),
            reading,
            lambda: CommandReader(
                self._text(path, file), reading, in_bulk=self._in_bulk, known=known
            ),
        )
        yield from self._apply(reader, reading, progress)

    def _apply(self, reader: _Reader, reading: Reading, progress: _Progress) -> _Files:
        """Apply the commands of a file; yields the files that have to be read in between."""
        for count, item in enumerate(reader, 1):
            if self.lost > MAX_LOST_ERRORS:
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
            before = self._wrong()
            try:
                item = self._building.admit(item)
                if isinstance(item, commands.Splice):
                    splices.enter(self._building, item)
                    yield self._file(item.file)
                    self._leave_splice(good=self._wrong() == before)
                elif isinstance(item, commands.Include):
                    yield self._file(item.file)
                elif isinstance(item, commands.Sweep) and item.rows:
                    self._sweep(item)
                else:
                    apply(self._building, item)
            except ProcessingError as error:
                self._add(error, reading, item, reader.text())
            else:
                if self._wrong() > before:
                    self._add_trail(reading, before, item, reader.text())
        self._note(reading)

    def _sweep(self, command: commands.Sweep) -> None:
        """A sweep whose values are in a file."""
        self._files_read += 1
        path = os.path.join(self._building.scope.where, command.rows)
        sweeps.sweep(self._building, command, "".join(self._text(path, command.rows)))

    def _begin_simple(self, simple: SimpleLines, reading: Reading, progress: _Progress) -> None:
        """The first time: what can be applied already."""
        building = self._building
        apply_bulk.define_jobs(building, simple)
        if reading.skipped:  # commands of a kind are applied in their order
            progress.blocked.update(bulk.USES)
        left = []
        for kind in bulk.USES:
            if not simple.has(kind):
                continue
            if kind in progress.blocked or not apply_bulk.use(building, simple, kind):
                progress.blocked.add(kind)
                left.append(kind)
        progress.taken.append((simple.line, simple.lines, len(simple.text), tuple(left)))

    def _finish_simple(
        self, simple: SimpleLines, reader: _Reader, reading: Reading, progress: _Progress
    ) -> None:
        """The second time: what is left."""
        *_, left = progress.taken.popleft()
        wrong = {kind for kind in left if not apply_bulk.use(self._building, simple, kind)}
        if not wrong:
            return
        for command, text in reader.commands_of(simple):
            if bulk.kind_of(text) not in wrong:
                continue
            try:
                apply(self._building, self._building.admit(command))
            except ProcessingError as error:
                self._add(error, reading, command, text)

    def _add(self, error: ProcessingError, reading: Reading, command: Command, text: str) -> None:
        """Keep the error with its place, which the one who found it does not know."""
        self._keep(placed(error, reading.file, command.line, text), reading.file)

    def _keep(self, error: ProcessingError, file: str) -> None:
        error.file = error.file or file
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(error)
        else:
            self.lost += 1

    def _add_trail(self, reading: Reading, before: int, command: Command, text: str) -> None:
        """Say in the first error of another file because of which command it was read."""
        if len(self.errors) <= before:
            return
        error, failed = self.errors[before], ""
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
        self.lost += reading.lost
        remarks = self._building.dag.remarks
        remarks += reading.warnings[: MAX_ERRORS - len(remarks)]

    def _wrong(self) -> int:
        return len(self.errors) + self.lost

    def _reading(
        self, file: str, words: frozenset[str], *, is_second_reading: bool = False
    ) -> Reading:
        return Reading(
            file,
            words=words,
            is_second_reading=is_second_reading,
            max_errors=MAX_ERRORS,
            allow_any_node_name_characters=self._building.options.allow_any_node_name_characters,
            errors=self.errors,
        )

    def _refuse_recursion(self, path: str) -> None:
        self._files_read += 1
        if path in self._open:
            shown = os.path.join(self._building.options.cwd, path)
            fail(
                f"Recursive DAG file parsing detected with {shown}",
                "a file can't INCLUDE or SPLICE itself, nor one that does so",
            )
        if self._files_read > MAX_FILES:
            fail(
                f"More than {MAX_FILES:,} files to be read, counting each SPLICE and INCLUDE",
                "do splices hold splices that hold splices?",
            )

    def _text(self, path: str, shown: str) -> Iterator[str]:
        try:
            text = self._read_text(path)
            return self._watched(in_blocks(text) if isinstance(text, str) else text, shown)
        except FileNotFoundError:
            self._refuse_missing_directory(path, shown)
            reason = "Provided file path does not exist"
        except IsADirectoryError:
            reason = "Provided file path is not a file"
        except (OSError, FileError) as error:
            reason = f"Failed to open file ({error})"
        fail(f"Failed to open {shown}: {reason}")

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
