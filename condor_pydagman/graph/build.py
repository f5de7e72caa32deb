"""From DAG files to a Dag: which files, in which order which of their lines, and all that is wrong.

Every file is read twice, as stock DAGMan does: first the commands that define nodes and submit
descriptions, then those that name nodes.  Commands are never all in memory.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Sequence

from condor_pydagman.dagfile.parser import Reading, iter_commands
from condor_pydagman.dagfile.syntax import SYNTAX
from condor_pydagman.errors import DagFileError, FileError
from condor_pydagman.graph.apply import Applier, BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.problems import DagFileErrors, ProcessingError

__all__ = ["BuildOptions", "DagFileErrors", "ProcessingError", "build", "run_commands"]

MOST_ERRORS = 1000

_FIRST = frozenset(s.word for s in SYNTAX.values() if s.defines or not s.supported)
_SECOND = frozenset(s.word for s in SYNTAX.values() if s.word not in _FIRST and not s.manager)


def build(files: Sequence[str], read_text: Callable[[str], str], options: BuildOptions) -> Dag:
    """The Dag that `files`, DAG files as named on the command line, describe.  It is finished.

    `read_text` gives the text of a file; it raises FileError or OSError.

    Raises:
        DagFileErrors: at least one file can't be read or obeyed.
    """
    dag = Dag(files=list(files))
    applier = Applier(dag, options)
    errors: list[DagFileError] = []
    munge = options.munge_node_names and len(files) > 1
    for number, file in enumerate(files):
        try:
            text = _read(file, read_text)
        except DagFileError as error:
            errors.append(error)
            continue
        applier.enter(file, f"{number}." if munge else "")
        shown = os.path.basename(file) if options.use_dag_dir else file
        _read_twice(text, shown, applier, options, errors)
    if not errors:
        _close(applier, errors)
    if errors:
        raise DagFileErrors(errors, dag.warnings)
    dag.finish()
    return dag


def run_commands(
    text: str, reading: Reading, applier: Applier, *, only_syntax: bool = False
) -> None:
    """Obey the commands of `text`; what is wrong goes to `reading.errors`, with its place."""
    errors, apply = reading.errors, applier.apply
    for command in iter_commands(text, reading):
        if only_syntax:
            continue
        try:
            apply(command)
        except ProcessingError as error:
            errors.append(_placed(error, reading.file, command.line, text))
            if len(errors) >= reading.limit_errors:
                return


def _read_twice(
    text: str, file: str, applier: Applier, options: BuildOptions, errors: list[DagFileError]
) -> None:
    before = len(errors)
    for words in (_FIRST, _SECOND):
        reading = Reading(
            file,
            words=words,
            limit_errors=MOST_ERRORS,
            again=words is _SECOND,
            allow_any_node_name_characters=options.allow_any_node_name_characters,
            errors=errors,
        )
        # If nodes are missing because their lines are wrong, "unknown node" would mislead.
        only_syntax = words is _SECOND and len(errors) > before
        run_commands(text, reading, applier, only_syntax=only_syntax)


def _close(applier: Applier, errors: list[DagFileError]) -> None:
    try:
        applier.close()
    except ProcessingError as error:
        errors.append(error)


def _placed(error: ProcessingError, file: str, line: int, text: str) -> ProcessingError:
    """The error with its place, which the one who found it does not know."""
    message = error.message if error.prefix else f"{error.message} at {file}:{line}"
    return ProcessingError(
        message,
        file=file,
        line=line,
        text=_line(text, line),
        hint=error.hint,
        prefix=error.prefix,
    )


def _line(text: str, number: int) -> str:
    begin = 0
    for _ in range(number - 1):
        begin = text.find("\n", begin) + 1
    end = text.find("\n", begin)
    return text[begin : end if end >= 0 else len(text)].strip()[:160]


def _read(file: str, read_text: Callable[[str], str]) -> str:
    try:
        return read_text(file)
    except FileNotFoundError:
        reason = "Provided file path does not exist"
    except IsADirectoryError:
        reason = "Provided file path is not a file"
    except (OSError, FileError) as error:
        reason = f"Failed to open file ({error})"
    raise ProcessingError(f"Failed to open {file}: {reason}", file=file)
