"""From the text of a DAG file to its commands and to what is wrong with it.

Reading goes on after an error, so that a person sees all of them at once; the first is the one that
stock DAGMan would show.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator

from condor_pydagman.errors import DagFileError, DagFileWarning
from condor_pydagman.language import bulk, hints
from condor_pydagman.language.bulk import SimpleLines
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import SUBMIT_ONLY, WORDS, about
from condor_pydagman.language.lexer import (
    TRIMMED,
    LineError,
    QuotingError,
    Words,
    excerpt,
    first_word,
    splits_plainly,
)
from condor_pydagman.language.lines import (
    MAX_COMMAND_LENGTH,
    Context,
    Lines,
    Where,
    in_blocks,
    is_comment,
    normal,
)
from condor_pydagman.language.node_lines import skip_description
from condor_pydagman.language.syntax import Syntax, of_class, of_word
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message

MAX_ERRORS = 20
MAX_LOST_ERRORS = 100_000  # errors beyond those that are kept, after which reading stops


class Parsed(NamedTuple):
    """The commands of a DAG file in the order of the file, and what is wrong with it.

    `lost` is the number of errors beyond those that are kept.
    """

    commands: list[Command]
    errors: list[DagFileError]
    warnings: list[DagFileWarning]
    lost: int = 0


class Reading:
    """How a file is to be read, and the errors found so far."""

    def __init__(
        self,
        file: str,
        words: Container[str] = WORDS,
        max_errors: int = MAX_ERRORS,
        is_second_reading: bool = False,
        allow_any_node_name_characters: bool = False,
        errors: list[DagFileError] | None = None,
    ) -> None:
        self.file = file  # name of the file, for messages
        # command words to read; lines of other commands of the language are skipped
        self.words = words
        self.max_errors = max_errors  # of errors, and of warnings, no more than this are kept
        # what was reported of skipped lines at the first reading of the text is not reported again
        self.is_second_reading = is_second_reading
        # see DAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS
        self.allow_any_node_name_characters = allow_any_node_name_characters
        self.errors = [] if errors is None else errors  # grows while the commands are read
        self.lost = 0  # number of errors found when `errors` was full
        # of lines that are applied, but probably not as intended
        self.warnings: list[DagFileWarning] = []
        # number of the first line that was skipped because of `words`; 0 if none was
        self.skipped = 0

    @property
    def full(self) -> bool:
        """Whether further errors are only counted."""
        return len(self.errors) >= self.max_errors

    def warn(self, line: int, text: str) -> None:
        """Keep a warning, unless there are very many."""
        if len(self.warnings) < self.max_errors:
            self.warnings.append(DagFileWarning(self.file, line, message(text)))


def parse(text: str, file: str, *, max_errors: int = MAX_ERRORS) -> Parsed:
    """All commands of a DAG file and all errors, of which the first `max_errors` are kept."""
    reading = Reading(file, max_errors=max_errors)
    found = list(iter_commands(text, reading))
    return Parsed(found, reading.errors, reading.warnings, reading.lost)


def manager_commands(text: str, file: str) -> list[Command]:
    """The CONFIG, SET_JOB_ATTR and ENV commands, which condor_submit_dag applies.

    Other lines are not looked into, except that their command word must be known and that an inline
    submit description must end (as in the stock program).

    Raises:
        DagFileError: the first line that is wrong.
    """
    reading = Reading(file, words=SUBMIT_ONLY, max_errors=1)
    found = list(CommandReader(in_blocks(text), reading, in_bulk=True).commands())
    if reading.errors:
        raise reading.errors[0]
    return found


def iter_commands(text: str, reading: Reading) -> Iterator[Command]:
    """Commands one by one, so that those of a million lines need not be in memory together.

    Errors are added to `reading.errors`; look there when the iterator is at its end.
    """
    return CommandReader(in_blocks(text), reading).commands()


class CommandReader:
    """The commands of a DAG file that comes in blocks, one by one or simple lines in bulk.

    Iterate over it, once; errors are added to `reading.errors` meanwhile.
    """

    def __init__(
        self,
        blocks: Iterable[str],
        reading: Reading,
        *,
        in_bulk: bool = False,
        known: deque[tuple[int, int, int]] | None = None,
    ) -> None:
        """`known` as in `Lines`."""
        self._lines = Lines(blocks, known)
        self._parser = _Parser(reading, self._lines)
        self._reading = reading
        self._in_bulk = in_bulk

    def __iter__(self) -> Iterator[Command | SimpleLines]:
        lines, parser = self._lines, self._parser
        while True:
            simple = lines.simple_lines() if self._in_bulk else None
            if simple is not None:
                yield simple
                continue
            line = lines.logical()
            if lines.nul or lines.too_long:
                parser.refuse_the_rest()
                return
            if line is None:
                break
            command = parser.command(line)
            if command is not None:
                yield command
            elif self._reading.lost > MAX_LOST_ERRORS:
                return  # not a DAG file
        if lines.cut_off and not self._reading.is_second_reading:
            self._reading.warn(
                lines.cut_off,
                "The command is ignored: its last line ends in \\, and the file ends there",
            )

    def commands(self) -> Iterator[Command]:
        """The commands one by one, without those read in bulk."""
        return (item for item in self if not isinstance(item, SimpleLines))

    def commands_of(self, simple: SimpleLines) -> Iterator[tuple[Command, str]]:
        """The commands of the simple lines given last, one by one, with their lines."""
        end = self._lines.number
        for number, line in simple.numbered():
            self._lines.number = number
            stripped = line.strip(TRIMMED)
            if not stripped or is_comment(stripped):
                continue
            command = self._parser.command(stripped)
            if command is not None:
                yield command, line
        self._lines.number = end

    def text(self) -> str:
        """The line of the command given last."""
        return self._lines.opening


class _Parser:
    def __init__(self, reading: Reading, lines: Lines) -> None:
        self._reading = reading
        self._lines = lines
        self._block = ""
        self._plain = True  # whether str.split() finds the words of a line
        self._context = Context(lines, reading.allow_any_node_name_characters)
        self._simple = frozenset(word for word in bulk.WORDS if word in reading.words)
        self._skipped = frozenset(word for word in WORDS if word not in reading.words)

    def command(self, line: str) -> Command | None:
        """The command of a logical line; None if it is skipped or wrong."""
        if self._lines.block is not self._block:
            self._block = self._lines.block
            self._plain = splits_plainly(self._block)
        plain = self._plain and not self._lines.continued
        word = line.split(None, 1)[0] if plain else first_word(line)
        if word in self._skipped and "{" not in line and "@=" not in line:
            self._skip()
            return None
        if plain and word in self._simple:
            command = bulk.read_line(line, word, self._lines.number)
            if command is not None:
                return command
        return self._ordinary(word, line, plain)

    def refuse_the_rest(self) -> None:
        """Add the error because of which there is no reading on."""
        if self._reading.is_second_reading:
            return
        if self._lines.nul is not None:
            self._refuse_nul(self._lines.nul)
            return
        self._add(
            DagFileError(
                f"The command is longer than {MAX_COMMAND_LENGTH:,} characters",
                file=self._reading.file,
                line=self._lines.too_long,
                hint="is this a DAG file? A long list of nodes can be given in several commands",
            )
        )

    def _refuse_nul(self, nul: Where) -> None:
        """A NUL character, which no line may hold."""
        begin = nul.raw[:1000]
        self._add(
            DagFileError(
                "The line holds a NUL character",
                file=self._reading.file,
                line=nul.number,
                column=nul.column + 1,
                excerpt=excerpt(nul.raw, nul.column),
                hint="the file seems to be UTF-16: save it as UTF-8"
                if begin.count("\0") > len(begin) // 3
                else "is this a DAG file? They are text",
            )
        )

    def _ordinary(self, word: str, line: str, plain: bool) -> Command | None:
        syntax = of_word(word) or of_word(normal(word))
        if syntax is None:
            self._unknown(word, line)
            return None
        if syntax.word in self._reading.words:
            return self._parsed(syntax, word, line, plain)
        self._skip()
        if ("{" in line or "@=" in line) and about(syntax.word).inline:
            self._skip_description(syntax, word, line)
        return None

    def _skip(self) -> None:
        self._reading.skipped = self._reading.skipped or self._lines.number

    def _parsed(self, syntax: Syntax, word: str, line: str, plain: bool) -> Command | None:
        number = self._lines.number
        words = Words(line, len(word), plain=plain)
        try:
            command = syntax.read(words, self._context)
        except (LineError, QuotingError) as wrong:
            self._wrong(syntax, number, wrong)
            return None
        for remark in words.remarks or ():
            self._reading.warn(number, remark)
        return command

    def _skip_description(self, syntax: Syntax, word: str, line: str) -> None:
        number = self._lines.number
        try:
            skip_description(Words(line, len(word)), self._context)
        except LineError as wrong:
            if not self._reading.is_second_reading:
                self._wrong(syntax, number, wrong)

    def _add(self, error: DagFileError) -> None:
        if self._reading.full:
            self._reading.lost += 1
        else:
            self._reading.errors.append(error)

    def _wrong(self, syntax: Syntax, number: int, wrong: LineError | QuotingError) -> None:
        if self._reading.full:  # else it would take long to look for the hint
            self._reading.lost += 1
            return
        row, where = about(syntax.word), self._lines.where(wrong.column)
        usage = (isinstance(wrong, LineError) and wrong.usage) or row.usage
        hint, command = hints.of_wrong(wrong), row.called or row.word
        self._add_at(where, number, str(wrong), usage, hint, command)

    def _unknown(self, word: str, line: str) -> None:
        if self._reading.is_second_reading:
            return
        if self._reading.full:
            self._reading.lost += 1
            return
        where, text = self._lines.where(0), f"'{word.replace('-', '_')}' is not a valid DAG command"
        hint = hints.of_unknown(word, line, WORDS, where.number)
        self._add_at(where, self._lines.number, text, "Not a valid command", hint)

    def _add_at(
        self, where: Where, line: int, text: str, usage: str, hint: str, command: str = ""
    ) -> None:
        self._add(
            DagFileError(
                message(text),
                file=self._reading.file,
                line=line,
                place=where.number,
                column=where.column + 1,
                excerpt=excerpt(where.raw, where.column),
                command=command,
                usage=usage,
                hint=message(hint),
            )
        )


# From a command to its line in a DAG file: what the parser reads from it is the same command.
#
# Every line is read back before it is given out: what no line can say (a file name with a newline,
# a node called CHILD) is refused, never written as something else.


def lines_of(command: Command, *, allow_any_node_name_characters: bool = False) -> str:
    """The line of `command`, or the lines if it has an inline description; no newline at the end.

    Raises:
        ValueError: the command can't be written in the DAG language.
    """
    text = of_class(type(command)).write(command)
    reading = Reading("", allow_any_node_name_characters=allow_any_node_name_characters)
    read = [(type(one), *one[1:]) for one in iter_commands(text, reading)]
    if reading.errors or read != [(type(command), *command[1:])]:
        raise ValueError(f"can't be written in a DAG file: {message(text)}")
    return text
