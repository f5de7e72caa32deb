"""Which function applies which command of a DAG file; many simple lines are applied at once.

The commands of a feature are applied by its `commands`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain, repeat
from typing import Any, cast

from condor_pydagman.feature_table import home, part
from condor_pydagman.graph import define, modify
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.edges import ascending
from condor_pydagman.graph.model import OnlyScript, Retry, Script
from condor_pydagman.language import commands
from condor_pydagman.language.bulk import SimpleLines
from condor_pydagman.language.commands import Command
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ScriptKind

OF_THE_WHOLE = (
    "it is about nodes that are in the DAG already: put it into the DAG file that is submitted,"
    " where it counts new nodes as well"
)
IN_THE_SUBMITTED_FILE = "put it into the DAG file that is submitted"


class Applied(NamedTuple):
    """How a command of a feature is applied."""

    command: type  # its class
    # puts it into the Dag; gets the text of its `file` as well, if it names one
    apply: Callable[..., None]
    # what to do where a piece has it, which can't be added to a DAG that runs; '' if it can
    refused: str = ""
    # refuses a line that a piece can't have, if it can have others; raises ProcessingError
    refuse: Callable[[Any], None] | None = None
    of_new: str = ""  # the words for it, if a piece can say it of its own nodes only
    # gives it as a job may add it without TRUSTED, or refuses it; None: no job may
    of_job: Callable[[Any], Command] | None = None
    says_done: bool = False  # whether it says that its node is done
    # its field that may name a file, no DAG file, that belongs to it; '' if none does
    file: str = ""


def unchanged(command: Command) -> Command:
    """For `Applied.of_job`: a job may add it as it is."""
    return command


def _nothing(building: Building, command: Command) -> None:
    """condor_submit_dag has applied it."""


_FUNCTIONS: dict[type, Callable[[Building, Any], None]] = {
    commands.Job: define.job,
    commands.Subdag: define.subdag,
    commands.SubmitDescription: define.submit_description,
    commands.ParentChild: define.parent_child,
    commands.Pin: define.pin,
    commands.Connect: define.connect,
    commands.ScriptLine: modify.script,
    commands.RetryLine: modify.retry,
    commands.AbortDagOn: modify.abort_dag_on,
    commands.Vars: modify.set_variables,
    commands.Priority: modify.priority,
    commands.PreSkip: modify.pre_skip,
    commands.ToleranceLine: modify.tolerance,
    commands.SavePointFile: modify.save_point_file,
    commands.Category: modify.category,
    commands.Done: modify.done,
    commands.NotDone: modify.not_done,
    commands.MaxJobs: define.max_jobs,
    commands.NodeStatusFile: define.node_status_file,
    commands.JobstateLog: define.jobstate_log,
    commands.Dot: define.dot,
    commands.Reject: define.reject,
    commands.ConfigFile: _nothing,
    commands.SetJobAttr: _nothing,
    commands.Env: _nothing,
}


def apply(
    building: Building, command: Command, text_of: Callable[[str], str] = lambda file: ""
) -> None:
    """Apply a command; SPLICE and INCLUDE, which read another DAG file, are applied by `build`.

    Args:
        building: what it is applied to.
        command: any other.
        text_of: reads a file that belongs to a command.

    Raises:
        ProcessingError: it can't be applied; without its place.
    """
    row = applied(type(command))
    if row is None:
        _FUNCTIONS[type(command)](building, command)
    elif file_of(command):
        row.apply(building, command, text_of(file_of(command)))
    else:
        row.apply(building, command)


def file_of(command: Command) -> str:
    """The name of the file, no DAG file, that belongs to a command of a feature; '' if none."""
    row = applied(type(command))
    return getattr(command, row.file) if row is not None and row.file else ""


@cache
def applied(command: type) -> Applied | None:
    """How the commands of that class are applied, if they are a feature's."""
    if not home(command):
        return None
    rows = part(home(command), "commands").APPLIED
    return cast(Applied, next(row for row in rows if row.command is command))


# Simple lines, applied many at a time: what `apply` does with each of them, only faster.
#
# Whatever is out of the ordinary (an unknown name, a second VARS for a node) is left to `apply`: a
# function that returns False has done nothing.


class NotSimple(Exception):
    """A name is defined twice: start again, and apply the commands one by one."""


def define_jobs(building: Building, simple: SimpleLines) -> None:
    """The JOB lines among simple lines.

    Raises:
        NotSimple: the Dag is spoilt.
    """
    scope, dag = building.scope, building.dag
    names, submits = simple.columns("JOB")
    if not names:
        return
    if scope.splices and not scope.splices.keys().isdisjoint(scope.munge + n for n in names):
        raise NotSimple
    full = building.full_names(names)
    first = len(dag)
    if not dag.add_jobs(full, building.texts(submits), simple.numbers("JOB")):
        raise NotSimple
    scope.add(first, len(names))
    if scope.directory:
        directory = building.text(scope.directory.rstrip("/") or "/")
        dag.directories.update(zip(range(first, first + len(names)), repeat(directory)))


def apply_many(building: Building, simple: SimpleLines, kind: str) -> bool:
    """The lines of another kind."""
    if kind == "PARENT":
        return _add_edges(building, simple)
    names, details = simple.columns(kind)
    if not names:
        return True
    nodes = building.numbers(names)
    return nodes is not None and _FOR_MANY[kind](building, nodes, details)


def _set_variables(building: Building, nodes: Sequence[int], texts: Sequence[str]) -> bool:
    append = building.options.default_append_vars
    return building.dag.variables.add_simple(nodes, texts, append)


def _set_retries(building: Building, nodes: Sequence[int], limits: Sequence[str]) -> bool:
    if not building.special.isdisjoint(nodes):
        return False
    retries = building.dag.retries
    if not retries.keys().isdisjoint(nodes) or len(set(nodes)) < len(nodes):
        return False
    values = {limit: building.share(Retry(int(limit))) for limit in set(limits)}
    retries.update(zip(nodes, map(values.__getitem__, limits)))
    return True


def _set_scripts(
    kind: ScriptKind, building: Building, nodes: Sequence[int], texts: Sequence[str]
) -> bool:
    scripts = building.dag.scripts
    if len(set(nodes)) < len(nodes) or any(kind in scripts.get(node, ()) for node in nodes):
        return False
    for node, text in zip(nodes, texts):
        old = scripts.get(node)
        scripts[node] = {**old, kind: Script(text)} if old else OnlyScript(kind, text)
    return True


def _add_edges(building: Building, simple: SimpleLines) -> bool:
    if not simple.has("PARENT"):
        return True
    uniform = simple.edges()
    if uniform is not None:
        columns = building.all_numbers((uniform.parents, *uniform.children))
        if columns is None or _any_special(building, *columns):
            return False
        children = ascending(columns[1:])
        if children is not None:
            building.dag.edges.add_columns(columns[0], children)
            return True
    return _add_rows(building, *simple.columns("PARENT"))


def _add_rows(building: Building, parents: Sequence[str], children: Sequence[str]) -> bool:
    """Lines of which some name a child twice, or not all as many children."""
    lists = [names.split() for names in children]
    ends = building.all_numbers((parents, list(chain.from_iterable(lists))))
    if ends is None or _any_special(building, *ends):
        return False
    edges, begin, heads = building.dag.edges, 0, ends[1]
    for parent, names in zip(ends[0], lists):
        end = begin + len(names)
        edges.add((parent,), sorted(set(heads[begin:end])))
        begin = end
    return True


def _any_special(building: Building, *ends: Sequence[int]) -> bool:
    special = building.special
    return bool(special) and not all(map(special.isdisjoint, ends))


_FOR_MANY: dict[str, Callable[[Building, Sequence[int], Sequence[str]], bool]] = {
    "VARS": _set_variables,
    "RETRY": _set_retries,
    "SCRIPT PRE": partial(_set_scripts, ScriptKind.PRE),
    "SCRIPT POST": partial(_set_scripts, ScriptKind.POST),
}
