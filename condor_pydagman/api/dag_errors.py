"""What is wrong with DAG files, as one exception with all the mistakes that were found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from condor_pydagman.errors import DagFileError, PydagmanError, own_spelling
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.named_tuple import NamedTuple


class Place(NamedTuple):
    """Where something stands in a DAG file.

    Attributes:
        file: the name by which the file was read; '' if not known.
        line: from 1; if the command continues over several lines, that of the wrong word; 0 if not
            known.
        column: in characters, from 1; 0 if not known.
    """

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        numbers = [number for number in (self.line, self.column) if number]
        return ":".join([self.file, *map(str, numbers)])


@dataclass(frozen=True)
class DagProblem:
    """One mistake in a DAG file.

    Attributes:
        message: what is wrong, in stock DAGMan's words.
        place: where.
        text: the line there, or the part of it around the wrong word; '' if not known.
        command: the command word, '' if it is about none.
        hint: what to do, '' if nothing is suggested.
    """

    message: str
    place: Place
    text: str = ""
    command: str = ""
    hint: str = ""
    _detail: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        """Several lines for a person: stock DAGMan's message, the line with a caret, the hint."""
        return self._detail or f"{self.place}: {self.message}"


class DagError(PydagmanError):
    """DAGMan would refuse these DAG files.  `str()` shows all mistakes, up to a limit.

    Attributes:
        errors: what is wrong, at least one mistake, in the order in which DAGMan meets them.
        more: how many further mistakes were counted, but not kept.
    """

    def __init__(self, errors: Iterable[DagProblem], more: int = 0, text: str = "") -> None:
        self.errors = tuple(errors)
        self.more = more
        super().__init__(own_spelling(text or "\n".join(map(str, self.errors))))


def problem(error: DagFileError) -> DagProblem:
    """The public form of an error of the parser."""
    return DagProblem(
        error.message,
        Place(error.file, error.place, error.column),
        error.text,
        error.command,
        error.hint,
        own_spelling(error.detail()),
    )


def dag_error(errors: DagFileErrors) -> DagError:
    """The exception with all errors of one reading of DAG files."""
    return DagError(map(problem, errors.errors), errors.lost, errors.detail())
