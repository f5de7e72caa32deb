"""What a job may add to its DAG: nodes that run what the author's DAG names, and text for them.

Whoever can write the output of a job is not the author of the DAG: nothing that an EXTEND without
TRUSTED reads runs a command on the access point, names a file outside the DAG's directory or
changes what a submit description says.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING

from condor_pydagman.features.common.inside import TRUST, check_inside, leads_inside
from condor_pydagman.features.growth.commands import Extend, Scatter, growth_of, scatters_of
from condor_pydagman.graph.apply import applied
from condor_pydagman.graph.building import fail
from condor_pydagman.graph.model import JOIN
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.lexer import item_text, may_begin_macro
from condor_pydagman.language.submit_commands import ALL
from condor_pydagman.language.syntax import of_class
from condor_pydagman.vocabulary import NodeKind

if TYPE_CHECKING:
    from condor_pydagman.graph.model import Dag

# A macro's name: `SUBMIT.x` counts before `x`, and `include:x` is a statement.
_MACRO = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What begins so is a command, whatever follows: of grid, vm and cloud jobs too; or a switch of the
# queue statement; or a macro of DAGMan's own.
_BEGINNINGS = (
    *("request_", "remote_", "ec2_", "cloud_", "vm_", "xen_", "kvm_", "vmware_"),
    *("queue", "submitfail", "submitwarn", "dagman_", "pydagman_"),
)
# Parts of commands that begin with the name of a service.
_PARTS = re.compile(r"_oauth_|_container_port$")
# Of the submit language, and what DAGMan says of each node.
_WORDS = """
if elif else endif include use warning error dollar dollardollar job retry dag_status failed_count
submit_file dag_parent_names dagmanjobid jobmaterializelimit
"""
_RESERVED = frozenset(_WORDS.split())
_ODD = re.compile(r"^[ \t]*(?:SCRIPT\b|JOB[ \t]+/)", re.I | re.M)
Pairs = tuple[tuple[str, str], ...]

_ALLOWED = frozenset(
    (
        commands.Job,
        commands.ParentChild,
        commands.Vars,
        commands.RetryLine,
        commands.AbortDagOn,
        commands.Priority,
        commands.ToleranceLine,
        commands.Category,
        commands.MaxJobs,
        Extend,
        Scatter,
        commands.Done,
    )
)


class Named:
    """The submit descriptions that a DAG names: those of its nodes, and of its SCATTER lines."""

    def __init__(self, dag: Dag) -> None:
        self._descriptions = frozenset(dag.descriptions)
        ordinary = [kind != NodeKind.DATA for kind in dag.kinds]
        for node in dag.subdags:
            ordinary[node] = False
        nodes = set(compress(zip(dag.submits, _directories(dag, len(dag))), ordinary))
        lines = {(how.submit, how.directory) for _, how in scatters_of(growth_of(dag))}
        self._files = {_path(submit, directory) for submit, directory in nodes | lines}

    def has(self, submit: str, directory: str) -> bool:
        """Whether the DAG names the description that a node in this directory does."""
        return submit in self._descriptions or _path(submit, directory) in self._files


def admitted(command: Command) -> Command:
    """The command as a job may give it: its values are text.

    Raises:
        ProcessingError: a job may not give it; without its place.
    """
    row = applied(type(command))
    if row is not None and row.of_job is not None:
        return row.of_job(command)
    if type(command) not in _ALLOWED:
        word = of_class(type(command)).word
        fail(f"What a job adds to the DAG can't have {word}", TRUST, at=word)
    if isinstance(command, commands.Job):
        if command.kind == NodeKind.DATA:
            fail("What a job adds to the DAG can't have DATA", TRUST, at=command.name)
        if may_begin_macro(item_text(command.name)):
            fail(
                f"A job can't name a node {command.name}",
                f"$(JOB) could become another macro. {TRUST}",
                at=command.name,
            )
        if not leads_inside(command.name):
            fail(
                f"A job can't name a node {command.name}",
                f"$(JOB) in names of files would lead out of the DAG's directory. {TRUST}",
                at=command.name,
            )
        if command.description is not None:
            fail(
                f"Node {command.name} has a description of its own",
                f"a job can only name those of the DAG. {TRUST}",
                at=command.name,
            )
        check_inside(command.directory)
    elif isinstance(command, (Extend, Scatter)):
        check_inside(command.directory, command.file)
        if isinstance(command, Scatter):
            _check_keys(command.pairs)
            return as_text(command)
        if command.trusted:
            fail("A job can't trust what comes next", TRUST, at="TRUSTED")
    elif isinstance(command, commands.Vars):
        if command.append:
            fail("A job's VARS can't have APPEND", f"descriptions come last. {TRUST}", at="APPEND")
        _check_keys(command.pairs)
        return as_text(command)
    return command


def as_text(command: Command) -> Command:
    """The command with its values as text: all that is to do of one that was admitted before."""
    if isinstance(command, commands.Vars):
        return command._replace(pairs=_texts(command.pairs), append=False)
    if isinstance(command, Scatter):
        return command._replace(pairs=_texts(command.pairs))
    return command


def is_plain(text: str) -> bool:
    """Whether a DAG file has nothing that `admitted` would refuse or change but in lines that are
    never simple (`language.bulk`): else its lines are read one by one."""
    if "$" in text or ".." in text or _ODD.search(text):
        return False
    return all(map(_is_macro, _words_before_equals(text)))


def _words_before_equals(text: str) -> set[str]:
    # By no regular expression: the time of one grows with the square of a word's length.
    parts = text.split("=")
    parts.pop()
    words = (part.rsplit(None, 1)[-1] for part in parts if part.strip())
    return {word.rpartition('"')[2] for word in words} - {""}


def mistakes(piece: Dag, count: int, named: Named, file: str) -> list[ProcessingError]:
    """What of the first `count` nodes of a piece names a description that the DAG does not."""
    lines = [(node, how) for node, how in scatters_of(growth_of(piece)) if node < count]
    by = {(how.submit, how.directory): node for node, how in lines}
    for node, one in enumerate(zip(piece.submits[:count], _directories(piece, count))):
        if not piece.flags[node] & JOIN:  # which the DAG makes of a PARENT line
            by[one] = node
    return [
        ProcessingError(
            f"Node {piece.names[node]}: the DAG names no submit description {submit}",
            file=file,
            hint=f"a job can only name those that the DAG's own lines do. {TRUST}",
        )
        for (submit, directory), node in sorted(by.items(), key=lambda one: one[1])
        if not named.has(submit, directory)
    ]


def _directories(dag: Dag, count: int) -> Iterator[str]:
    return (dag.directories.get(node, "") for node in range(count))


def _texts(pairs: Sequence[tuple[str, str]]) -> Pairs:
    return tuple((key, item_text(value)) for key, value in pairs)


def _check_keys(pairs: Sequence[tuple[str, str]]) -> None:
    for key, _ in pairs:
        if not _is_macro(key):
            fail(
                f"VARS {key} would change the submit description",
                "a job can only set macros that are no commands of it and have names of letters,"
                f" digits and _. {TRUST}",
                at=key,
            )


def _is_macro(key: str) -> bool:
    low = key.lower()
    if _MACRO.fullmatch(key) is None or low.startswith(_BEGINNINGS) or _PARTS.search(low):
        return False
    return low not in ALL and low not in _RESERVED


def _path(submit: str, directory: str) -> str:
    # Not by normpath: where `x` is a link, `x/..` is another directory.
    path = os.path.join(directory, submit)
    names = [name for name in path.split("/") if name not in ("", ".")]
    return "/" * path.startswith("/") + "/".join(names)
