"""Errors of whole DAGs: lines that are well formed but can't be obeyed, and all errors of a run."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.errors import DagFileError, PydagmanError

MOST_SHOWN = 20


class ProcessingError(DagFileError):
    """A command that is well formed but can't be obeyed, say because it names an unknown node.

    `str()` is stock DAGMan's first line, which has no place in it; the second one has.
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
    ) -> None:
        super().__init__(message, file=file, line=line, text=text, hint=hint)
        self.prefix = prefix

    def __str__(self) -> str:
        return self.prefix + self.message

    def detail(self) -> str:
        """As stock's two lines, then the line itself and what to do."""
        lines = [str(self)]
        if self.line:
            lines.append(f"Processing error at {self.file}:{self.line}")
        if self.text:
            lines.append(f"    {self.text}")
        if self.hint:
            lines.append(f"       {self.hint}")
        return "\n".join(lines)


class DagFileErrors(PydagmanError):
    """Everything that is wrong with the DAG files.  `str()` is that of the first error.

    Attributes:
        errors: at least one, in the order in which stock DAGMan would meet them.
        warnings: those given before.
    """

    def __init__(self, errors: Sequence[DagFileError], warnings: Sequence[str] = ()) -> None:
        super().__init__(str(errors[0]))
        self.errors = list(errors)
        self.warnings = list(warnings)

    def detail(self) -> str:
        """All errors at length, up to a limit."""
        parts = [error.detail() for error in self.errors[:MOST_SHOWN]]
        more = len(self.errors) - MOST_SHOWN
        if more > 0:
            parts.append(f"and {more} more")
        return "\n".join(parts)
