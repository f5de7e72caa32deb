"""`condor_pydagman rescue`: the rescue files of a DAG, and what one of them says."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from condor_pydagman.adapters.files import read_text, rescue_numbers
from condor_pydagman.adapters.local_time import local_text
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.cli.which_dag import add_dag_argument, chosen_dag
from condor_pydagman.errors import FileError, PydagmanError
from condor_pydagman.feature_table import offered
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.graph.apply_rescue import Saved, read_saved
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.monitor.file_facts import changed_at
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.plan import begin_of_last_run, read_dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import does, first_of, number_of
from condor_pydagman.vocabulary import NodeKind

MAX_SHOWN = 10
_DESCRIPTION = """\
Show the newest rescue file of a DAG: which nodes it skips, and which it would run again. To run
the DAG from it, submit the DAG as before: condor_pydagman run, or condor_submit_dag. With --take:
say of nodes with CACHE that what has changed since they were last done makes no difference."""
_FAILED = re.compile(r"^# Nodes that failed: \d+\n((?:#[^\n]*\n)*?#[^\n]*<ENDLIST>)", re.M)


class RescueFile(NamedTuple):
    """What a rescue file says."""

    path: str  # of the file
    number: int  # in its name
    written: float  # seconds since the epoch
    saved: Saved  # nodes that are done, and retries left
    failed: Sequence[str]  # nodes that had failed, by its comment


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers,
        "rescue",
        "show what a rescue file skips and what it runs again",
        _DESCRIPTION,
        run,
    )
    add_dag_argument(parser)
    parser.add_argument(
        "--number", type=int, metavar="N", help="number of the rescue file (default: the newest)"
    )
    parser.add_argument("--nodes", action="store_true", help="list all nodes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--take",
        nargs="*",
        metavar="NODE",
        help="take the results of these nodes with CACHE as they are, whatever has changed since",
    )
    parser.add_argument(
        "--pattern", help="with --take: of the nodes whose names match *, ? and [...]"
    )
    parser.add_argument("--all", action="store_true", help="with --take: of all nodes")


def run(arguments: argparse.Namespace) -> int:
    """Print what the command line asks for; returns the exit code.

    Raises:
        PydagmanError: there is no such DAG or rescue file, or it can't be read.
    """
    found = chosen_dag(arguments.dag, ask=False)
    if arguments.take is not None or arguments.pattern or arguments.all:
        return _take(found, arguments)
    numbers = rescue_numbers(found.paths)
    wanted = arguments.number or _number_in(arguments.dag) or max(numbers, default=0)
    if wanted not in numbers:
        raise FileError(_no_such(found, wanted, numbers))
    file = _read(found.paths.rescue(wanted), wanted)
    names = _names(found)
    if arguments.json:
        print(json.dumps(_as_json(file, numbers, names)))
        return 0
    say(*_lines(found, file, numbers, names), *_node_lines(file, names, arguments.nodes))
    return 0


def _take(found: FoundDag, arguments: argparse.Namespace) -> int:
    names, pattern = arguments.take, "*" if arguments.all else arguments.pattern
    if names is None or bool(names) + (arguments.pattern is not None) + arguments.all != 1:
        arguments.parser.error("--take is for NODE ..., --pattern PATTERN or --all, one of these")
    for take_results in offered("cli", "take_results"):
        code, lines = take_results(found, names, pattern)
        say(*lines)
        return int(code)
    raise PydagmanError("this installation has no CACHE")


def _number_in(dag: str | None) -> int:
    """The number of a rescue file that is named in place of its DAG."""
    found = re.search(r"\.rescue(\d{3,})$", dag or "")
    return int(found[1]) if found is not None else 0


def _no_such(found: FoundDag, wanted: int, numbers: Sequence[int]) -> str:
    if numbers:
        there = ", ".join(map(str, numbers))
        return f"{found.name} has no rescue file {wanted}; there are: {there}"
    return (
        f"{found.name} has no rescue file: DAGMan writes one when a run fails or is removed. The"
        " next submission starts from the beginning"
    )


def _read(path: str, number: int) -> RescueFile:
    try:
        written, text = os.stat(path).st_mtime, read_text(path, own=True)
        saved = read_saved(text, path)
    except OSError as error:
        raise FileError(f"can't read {path}: {error.strerror}") from None
    except DagFileErrors as errors:
        raise PydagmanError(errors.detail()) from None
    return RescueFile(path, number, written, saved, _failed(text))


def _failed(text: str) -> list[str]:
    """The names in the comment; those with a comma can't be told apart."""
    found = _FAILED.search(text)
    if found is None:
        return []
    listed = re.sub(r"(?m)^#\s*", "", found[1]).replace("\n", "").replace("<ENDLIST>", "")
    return [name for name in listed.split(",") if name]


def _names(found: FoundDag) -> Sequence[str] | None:
    """The nodes of the DAG that DAGMan counts; None if it can't be read."""
    try:
        dag = read_dag(found)
    except PydagmanError:
        return None
    return [name for name, kind in zip(dag.names, dag.kinds) if kind != NodeKind.SERVICE]


def _lines(
    found: FoundDag, file: RescueFile, numbers: Sequence[int], names: Sequence[str] | None
) -> Iterator[str]:
    newest = "the newest" if file.number == max(numbers) else "not the newest"
    when = local_text(file.written)
    yield f"{os.path.relpath(file.path)}: written {when}, {newest} of {len(numbers)}"
    done = len(file.saved.done)
    if names is None:
        kept = f"{number_of(done, 'node')} {does(done, 'be')} done and would be skipped"
        yield f"{kept}; the DAG itself can't be read"
    else:
        unknown = [name for name in file.saved.done if name not in set(names)]
        left = len(names) - done + len(unknown)
        total = number_of(len(names), "node")
        yield f"{done - len(unknown)} of {total} are done and would be skipped, {left} would run"
        if unknown:
            some = first_of(unknown, MAX_SHOWN)
            yield f"The DAG has no node {some}: DAGMan would refuse this rescue file"
        if changed_at(found.paths.primary) > file.written:
            yield f"{found.name} has changed since the rescue file was written"
    if file.failed:
        yield f"Failed: {first_of(file.failed, MAX_SHOWN)}"
    retries = [f"{name} {left}" for name, left in file.saved.retries.items()]
    if retries:
        yield f"Retries left: {first_of(retries, MAX_SHOWN)}"
    succeeded = found.state is DagState.SUCCEEDED and file.written < begin_of_last_run(found)
    if succeeded:
        yield f"A later run of {found.name} succeeded; a new run uses the file all the same"
    option = "" if file.number == max(numbers) else f"-DoRescueFrom {file.number} "
    yield f"To run the rest: condor_pydagman run {option}{found.name}"
    yield f"To start over (sets rescue files aside): condor_pydagman run -force {found.name}"
    if not succeeded:
        yield f"To see why nodes failed: condor_pydagman explain {found.name}"


def _node_lines(file: RescueFile, names: Sequence[str] | None, wanted: bool) -> Iterator[str]:
    if not wanted:
        return
    done, failed = set(file.saved.done), set(file.failed)
    for name in names if names is not None else file.saved.done:
        what = "is done" if name in done else "failed" if name in failed else "would run"
        yield f"{name}: {what}"


def _as_json(
    file: RescueFile, numbers: Sequence[int], names: Sequence[str] | None
) -> dict[str, Any]:
    return {
        "file": file.path,
        "number": file.number,
        "numbers": list(numbers),
        "written": round(file.written, 3),
        "nodes": None if names is None else len(names),
        "done": file.saved.done,
        "failed": list(file.failed),
        "retries": file.saved.retries,
    }
