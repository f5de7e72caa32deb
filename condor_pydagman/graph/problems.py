"""Errors of whole DAGs: lines that are well formed but can't be applied; all errors together."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman import printable
from condor_pydagman.errors import DagFileError, PydagmanError

MAX_SHOWN = 20


class ProcessingError(DagFileError):
    """A command that is well formed but can't be applied, say because it names an unknown node.

    `str()` is stock DAGMan's first line, which has no place in it; a later one has.

    Attributes:
        also: a second line of stock DAGMan's, or ''.
        prefix: what stock DAGMan puts before the message.
        at: the word of the line that is wrong, or ''.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str,
        line: int = 0,
        text: str = "",
        hint: str = "",
        prefix: str = "ERROR: ",
        also: str = "",
        at: str = "",
    ) -> None:
        super().__init__(
            printable.message(message),
            file=file,
            line=line,
            text=text,
            hint=printable.message(hint),
        )
        self.prefix = prefix
        self.also = printable.message(also)
        self.at = at

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


class DagFileErrors(PydagmanError):
    """Everything that is wrong with the DAG files.  `str()` is that of the first error.

    Attributes:
        errors: at least one, in the order in which stock DAGMan would meet them; one of a file that
            several SPLICEs name is there once.
        warnings: those given before.
        lost: how many more errors there are.
    """

    def __init__(
        self, errors: Sequence[DagFileError], warnings: Sequence[str] = (), lost: int = 0
    ) -> None:
        super().__init__(str(errors[0]))
        self.errors = _without_repeats(errors)
        self.warnings = list(warnings)
        self.lost = lost

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


def _without_repeats(errors: Sequence[DagFileError]) -> list[DagFileError]:
    first: dict[object, DagFileError] = {}
    for error in errors:
        first.setdefault((error.file, error.line, error.column, error.message), error)
    return list(first.values())
