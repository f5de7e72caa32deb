"""The files of a Workflow: their texts, what is wrong with them, and how they are written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from condor_pydagman.adapters.files import DagFiles, make_directory, read_text, replace
from condor_pydagman.api.dag_errors import DagError, DagProblem, Place
from condor_pydagman.api.dag_reading import build_options, dag_of, problems_of
from condor_pydagman.api.dag_view import Dag
from condor_pydagman.dagman_job.prepare_job import refuse_running
from condor_pydagman.data_requests.request_ads import is_request
from condor_pydagman.errors import FileError
from condor_pydagman.garbage import collection_off
from condor_pydagman.graph import model
from condor_pydagman.language.commands import Command, Include
from condor_pydagman.language.description import SubmitDescription
from condor_pydagman.language.parser import manager_commands
from condor_pydagman.lint.findings import Findings
from condor_pydagman.names import DagPaths
from condor_pydagman.workflow import values, written
from condor_pydagman.workflow.making import Making

UNNAMED = "workflow.dag"  # what messages call a file that has no name yet
_BLOCK_LINES = 2000

Texts = Mapping[str, Making]  # by the names of files what stands in them
Read = Callable[[str], Iterator[str]]  # gives a file of some name in blocks of whole lines


def included(names: Iterable[str]) -> Iterator[Command]:
    """The commands that include DAG files, with those that condor_submit_dag looks for in the DAG
    file itself only (CONFIG, SET_JOB_ATTR, ENV)."""
    for name in names:
        yield from manager_commands(read_text(name), name)
        yield Include(0, name)


def texts(flow: Making, file: str) -> dict[str, Making]:
    """A Workflow and those in it, by the names of their files."""
    found = {file: flow}
    for name, inner in flow.inner.items():
        for path, one in texts(inner, written.inner_file(file, name)).items():
            if path in found:
                text = f"Two inner Workflows would be written into {path}: name one otherwise"
                raise values.refused(text, flow.places.place(flow.node(name).place))
            found[path] = one
    return found


def blocks(flow: Making, file: str) -> Iterator[str]:
    """The text of its file, in blocks of whole lines."""
    some: list[str] = []
    for line, _ in written.lines(flow, file):
        some.append(line)
        if len(some) == _BLOCK_LINES:
            yield "\n".join([*some, ""])
            some.clear()
    yield "\n".join([*some, ""]) if some else ""


def problems(flow: Making, file: str) -> tuple[DagProblem, ...]:
    """See `Workflow.check`; at the lines of the program."""
    own = texts(flow, file)
    read = _read_also(own, lambda path: blocks(own[path], path))
    found = problems_of([file], read, build_options(False, False), _unused_lines)
    return tuple(_at_program(own, found))


def _unused_lines(dag: model.Dag) -> Iterator[DagProblem]:
    """The lines of inline descriptions that nothing uses."""
    from condor_pydagman.lint.description_rules import UnusedLineRules  # late: few ask for it

    findings = Findings()
    rules = UnusedLineRules(dag, findings)
    texts = {name: SubmitDescription(text) for name, text in dag.descriptions.items()}
    for node, submit in enumerate(dag.submits):
        if submit in texts and not is_request(dag.kinds[node], dag.descriptions[submit]):
            rules.look_at(node, texts[submit], dag.variables.get(node, ()))
    rules.report()
    for one in findings.kept:
        yield DagProblem(one.message, Place(one.file, one.line), hint=one.hint)


def _read_also(own: Texts, read: Read) -> Read:
    """What reads files of the program with `read`, and others from disk."""
    files = DagFiles()
    return lambda path: read(path) if path in own else files.read(path)


def dag(flow: Making, file: str) -> Dag:
    """The DAG as DAGMan reads it.

    Raises:
        DagError: it would refuse it.
    """
    own = texts(flow, file)
    read = _read_also(own, lambda path: blocks(own[path], path))
    try:
        return dag_of([file], read, build_options(False, False))
    except DagError as error:
        raise DagError(_at_program(own, error.errors), error.more) from None


def _at_program(own: Texts, found: Iterable[DagProblem]) -> Iterator[DagProblem]:
    """The same errors; those in files of the program are at its lines."""
    for error in found:
        place = error.place
        said = _said(own[place.file], place) if place.file in own and place.line else None
        if said is None:
            yield error
        else:
            yield values.problem(error.message, *said, hint=error.hint, word=error.command)


def _said(flow: Making, place: Place) -> tuple[Place, str] | None:
    """Where a program says a line of its file, and the line."""
    before = 0
    for text, said in written.lines(flow, place.file):
        lines = text.count("\n") + 1
        if before + lines >= place.line:
            return flow.places.place(said), text.split("\n")[place.line - before - 1]
        before += lines
    return None


def write(flow: Making, file: str, overwrite: bool) -> None:
    """Write all files of a Workflow; see `Workflow.write`."""
    own = texts(flow, file)
    for path in own:
        _refuse(flow, path, overwrite)
    with collection_off():
        made = {path: list(blocks(one, path)) for path, one in own.items()}
        read = _read_also(own, lambda path: iter(made[path]))
        found = problems_of([file], read, build_options(False, False))
    if found:
        raise DagError(_at_program(own, found))
    for path, text in made.items():
        make_directory(os.path.dirname(path))
        replace(path, text, durable=False)


def _refuse(flow: Making, path: str, overwrite: bool) -> None:
    """FileError if the file must not be written."""
    if not path or re.search(r"[\n\r\0]", path):
        raise FileError(f"{path!r} can't be the name of a DAG file")
    if os.path.exists(path) and not os.path.isfile(path):
        raise FileError(f"{path} is there, and is no file")
    refuse_running(DagPaths(path))
    base = filter(os.path.exists, flow.base.files if flow.base else ())
    if os.path.exists(path) and any(os.path.samefile(path, one) for one in base):
        raise FileError(f"{path} is a file that this Workflow adds to: write to another one")
    if os.path.lexists(path) and not overwrite and not _is_ours(path):
        raise FileError(
            f"{path} is there, and no Workflow has written it: nothing has been changed; choose"
            " another name, or say overwrite=True"
        )


def _is_ours(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline().rstrip("\n") == written.HEAD
    except OSError as error:
        raise FileError(f"can't read {path}: {error.strerror}") from None
