"""Errors of whole DAGs: lines that are well formed but can't be applied; all errors together."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman import printable
from condor_pydagman.errors import DagFileError, PydagmanError
from condor_pydagman.language.commands import Command

MAX_ERRORS = 1000
MAX_SHOWN = 20


class ProcessingError(DagFileError):
    """A command that is well formed but can't be applied, say because it names an unknown node.

    `str()` is stock DAGMan's first line, which has no place in it; a later one has.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str = "",
        line: int = 0,
        hint: str = "",
        prefix: str = "ERROR: ",
        also: str = "",
        at: str = "",
    ) -> None:
        super().__init__(
            printable.message(message), file=file, line=line, hint=printable.message(hint)
        )
        self.prefix = prefix  # what stock DAGMan puts before the message
        self.also = printable.message(also)  # a second line of stock DAGMan's, or ''
        self.at = at  # the word of the line that is wrong, or ''

    def __str__(self) -> str:
        return self.prefix + self.message

    def detail(self) -> str:
        """As stock's lines, then the line itself and what to do."""
        lines = [str(self)]
        if self.also:
            lines.append(f"ERROR: {self.also}")
        if self.line:
            lines.append(f"Processing error at {printable.message(self.file)}:{self.line}")
        lines += self.shortened_trail()
        if self.text:
            lines.append(f"    {self.text}")
            if self.caret:
                lines.append("    " + " " * (self.caret - 1) + "^")
        if self.hint:
            lines.append(f"       {self.hint}")
        return "\n".join(lines)


class Errors:
    """What is wrong with DAG files that are read, and what is read in spite of it: the policy.

    This one is DAGMan's: any error refuses the DAG, and once a line that defines nodes is wrong,
    those that use them are only parsed, for errors of syntax.
    """

    most = MAX_ERRORS  # how many are kept
    reads_on = False  # whether the valid rest of files with errors is wanted

    def __init__(self) -> None:
        self.kept: list[DagFileError] = []  # in the order in which stock DAGMan would meet them
        self.lost = 0  # how many more there were
        # those to the command that is being applied; their place is not known yet
        self.objections: list[ProcessingError] = []

    def __len__(self) -> int:
        return len(self.kept) + self.lost

    def keep(self, error: DagFileError) -> None:
        """Keep an error that has its place, unless there are very many."""
        if len(self.kept) < self.most:
            self.kept.append(error)
        else:
            self.lost += 1

    def cut(self, count: int) -> None:
        """All but the first `count` of those that are kept say the same again."""
        del self.kept[count:]

    def object(self, error: ProcessingError) -> None:
        """A part of a command can't be applied; on return, the rest is.

        Raises:
            ProcessingError: the rest is not to be applied.
        """
        if not self.reads_on:
            raise error
        self.objections.append(error)

    def follows(self, error: ProcessingError, command: Command) -> bool:
        """Whether an objection may only be there because of an earlier error."""
        return False

    def goes_on(self, before: int) -> bool:
        """Whether the lines that use nodes are applied, of a file that began after so many."""
        return len(self) == before

    def note_nested(self, command: Command, before: int) -> None:
        """Errors came, after so many, of the file that `command` names."""

    def conclude(self, warnings: Sequence[str]) -> None:
        """All files have been read.

        Raises:
            DagFileErrors: so they have no Dag.
        """
        if self.kept and not self.reads_on:
            raise DagFileErrors(self.kept, warnings, self.lost)


class DagFileErrors(PydagmanError):
    """Everything that is wrong with the DAG files.  `str()` is that of the first error."""

    def __init__(
        self, errors: Sequence[DagFileError], warnings: Sequence[str] = (), lost: int = 0
    ) -> None:
        super().__init__(str(errors[0]))
        # at least one, in the order in which stock DAGMan would meet them; one of a file that
        # several SPLICEs name is there once
        first: dict[object, DagFileError] = {}
        for error in errors:
            first.setdefault((error.file, error.line, error.column, error.message), error)
        self.errors = list(first.values())
        self.warnings = list(warnings)  # those given before
        self.lost = lost  # how many more errors there are

    def only_of(self, file: str) -> DagFileErrors:
        """The same, with no word of other files, which may be private, but the line's number."""
        errors = [
            error
            if error.file in ("", file)
            else ProcessingError(
                f"A line of {error.file} can't be used",
                file=error.file,
                line=error.line,
                hint="condor_dag_checker says why",
            )
            for error in self.errors
        ]
        return DagFileErrors(errors, self.warnings, self.lost)

    def detail(self) -> str:
        """All errors at length, up to a limit."""
        parts = [error.detail() for error in self.errors[:MAX_SHOWN]]
        more = len(self.errors) - len(parts) + self.lost
        if more > 0:
            parts.append(f"and {more} more")
        return "\n".join(parts)
