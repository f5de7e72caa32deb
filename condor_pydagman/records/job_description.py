"""The submit text of a node's jobs: the user's submit file between the lines that DAGMan adds.

Lines put before the file's own are defaults that the file may override; lines put after them
override the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from condor_pydagman.config import Config
from condor_pydagman.errors import PoolError
from condor_pydagman.language.description import NOTHING, Template
from condor_pydagman.language.lexer import item_text
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable
from condor_pydagman.vocabulary import DagStatus, NodeKind

if TYPE_CHECKING:
    from condor_pydagman.graph.model import Dag, Variable


# Names, paths and values quoted for the submit language, so that it reads them unchanged.
#
# The language cuts blanks off both ends of a value, takes a backslash at its end for "continued in
# the next line", and `$(NAME)` or `$FUNCTION(...)` for a macro.

MAX_SHOWN = 100  # characters of a value that is refused
_DOLLAR = "$(DOLLAR)"
_DOLLARS = re.compile(r"\$+")


def literal(text: str) -> str:
    """A path or name as a value: no macro in it is expanded.

    The dollar macro stands for itself only at the end of a run of dollars, and an even number of
    dollars begins no macro.  The one text that has no such form is `$(DOLLAR)` itself.
    """
    if "$" in text:
        text = _DOLLARS.sub(_plain_dollars, text)
    return whole(text)


def attribute(text: str) -> str:
    """A string as the value of an attribute (`MY.NAME`): in the old syntax of ClassAds, where a
    backslash stands for itself unless a quote follows that is not the last."""
    return literal('"' + text.replace('"', '\\"') + '"')


def whole(text: str, what: str = "a name or path") -> str:
    """A value whose macros count, kept from its first character to its last.

    Raises:
        PoolError: it is more than one line; `what` says in the message what it is.
    """
    if "\n" in text or "\0" in text:
        reason = f"{what} has more than one line: {printable(text[:MAX_SHOWN])}"
        raise PoolError(reason, transient=False)
    if text.endswith("\\") or text[-1:].isspace():
        text += NOTHING
    return NOTHING + text if text[:1].isspace() else text


def _plain_dollars(run: re.Match[str]) -> str:
    dollars = run[0]
    return dollars[:-1] + _DOLLAR if len(dollars) % 2 else dollars


# Events that the schedd and the shadow write into the nodes log.
NODES_MASK = "0,1,2,4,5,7,8,9,10,11,12,13,16,17,24,27,35,36"

# No further parent is listed once the list has this many characters.
MAX_PARENT_NAMES_LENGTH = 2000

_LIKE_A_MACRO = re.compile(r"\$\w*[(\[]")
# By which DAGMan hears of its jobs: nothing that is appended counts instead.
_HEARD_BY = ("dag_node_name", "dagman_log")
_ATTRIBUTES = ("my.", "+")  # beginnings of keys that are attributes of the job

_SUBMITTED_BY_DAGMAN = 1  # JobSubmitMethod of jobs that a DAGMan submits itself


class Workflow(NamedTuple):
    """What all job descriptions of one DAGMan have in common.

    `dagman_cluster` is 0 where DAGMan is not itself a job; `nodes_log` is an absolute path;
    `inherited` are pairs: name of an attribute of the jobs, text of its expression.
    """

    dagman_cluster: int
    nodes_log: str
    config: Config
    batch_name: str = ""
    batch_id: str = ""
    accounting_group: str = ""
    accounting_group_user: str = ""
    inherited: tuple[tuple[str, str], ...] = ()


class AtSubmission(NamedTuple):
    """What is so of a node when it is submitted; by default, of its first attempt, before anything
    has failed.
    """

    retry: int = 0
    dag_status: DagStatus = DagStatus.OK
    failed_count: int = 0  # nodes that have failed
    hold: bool = False  # whether its jobs go on hold at once: see DAGMAN_PUT_FAILED_JOBS_ON_HOLD
    # those in force, None for the DAG's
    priority: int | None = None
    variables: Sequence[Variable] | None = None


_FIRST = AtSubmission()


def describe(
    dag: Dag,
    node: int,
    template: Template,
    workflow: Workflow,
    at: AtSubmission = _FIRST,
    *,
    attributes_only: bool = False,
) -> str:
    """The submit text of a node's jobs (manual: "Variable Values Associated with Nodes").

    With `attributes_only` the node's VARS are left out but for attributes of the job: they are
    macros of a request.
    The order is stock DAGMan's; a later line wins.  `My.DAGManNodeRetry` is always there, because
    recovery asks the schedd which run of a node a job belongs to.
    """
    before, after = added_lines(dag, node, workflow, at, attributes_only=attributes_only)
    chunks = [before]
    for body, queue in template:
        chunks += (body, after, queue)
    return "".join(chunks)


def added_lines(
    dag: Dag,
    node: int,
    workflow: Workflow,
    at: AtSubmission = _FIRST,
    *,
    attributes_only: bool = False,
) -> tuple[str, str]:
    """What DAGMan adds to a node's submit file: before its own lines, and after them."""
    variables = dag.variables.get(node, ()) if at.variables is None else at.variables
    if attributes_only:
        variables = tuple(v for v in variables if v.key.lower().startswith(_ATTRIBUTES))
    before = [
        _node_macros(dag, node, at),
        _defaults(dag, node, workflow, at),
        _recorded(workflow),
        *(_assignment(v.key, v.value) for v in variables if not v.append),
    ]
    overrides, appended = _overrides(dag, node, workflow), [v for v in variables if v.append]
    after = [
        overrides,
        *(data.description_lines(node) for data in dag.features.values()),
        *(_assignment(v.key, v.value) for v in appended),
        overrides * any(v.key.lower() in _HEARD_BY for v in appended),
    ]
    return "".join(before), "".join(after)


def inheritance(config: Config, *, sub_dag: bool) -> dict[str, str]:
    """Which attribute of DAGMan's own ad each inherited attribute of the jobs comes from.

    A sub-DAG's own ad has them by the names that the DAG above gave them, prefix included.
    """
    prefix = config.inherit_attrs_prefix
    return {
        prefix + name: prefix + name if sub_dag else name for name in _listed(config.inherit_attrs)
    }


def inherited(
    wanted: Mapping[str, str], expressions: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """`Workflow.inherited`, of `inheritance` and what the schedd says (`own_expressions`)."""
    return tuple((name, expressions[own]) for name, own in wanted.items() if own in expressions)


def parent_names(dag: Dag, node: int) -> str:
    """Names of the node's parents with commas; the list ends with the name that fills it.

    The list may be cut, a name in it never is.
    """
    if not dag.has_parents(node):
        return ""
    seen: dict[int, None] = {}
    length = -1
    for parent in dag.parents(node):
        if parent in seen:
            continue
        seen[parent] = None
        length += len(dag.names[parent]) + 1
        if length >= MAX_PARENT_NAMES_LENGTH:
            break
    return ",".join(map(dag.names.__getitem__, seen))


def _node_macros(dag: Dag, node: int, at: AtSubmission) -> str:
    parents = parent_names(dag, node)
    parent_line = f"DAG_PARENT_NAMES = {_names_value(parents)}\n" if parents else ""
    parents_attribute = '"$(DAG_PARENT_NAMES)"'
    if any(character in parents for character in '"\\$'):
        parents_attribute = attribute(parents)
    return (
        f"SUBMIT_FILE = {literal(dag.submits[node])}\n"
        f"My.JobSubmitMethod = {_SUBMITTED_BY_DAGMAN}\n"
        f"JOB = {_names_value(dag.names[node])}\n"
        f"RETRY = {at.retry}\n"
        f"DAG_STATUS = {int(at.dag_status)}\n"
        f"FAILED_COUNT = {at.failed_count}\n"
        f"{parent_line}"
        f"My.DAGParentNodeNames = {parents_attribute}\n"
        f"My.DAGManNodeRetry = {at.retry}\n"
    )


def _names_value(names: str) -> str:
    """Names of nodes as the value of a macro.

    Functions of macros expand what they get again, and a match expands `$$(...)`: a name that looks
    like a macro, as a job may give it, is for `adapters.descriptions`, which knows who uses it.
    """
    return whole(item_text(names)) if _LIKE_A_MACRO.search(names) else literal(names)


def _defaults(dag: Dag, node: int, workflow: Workflow, at: AtSubmission) -> str:
    config = workflow.config
    lines = []
    if workflow.batch_name.strip():  # a single blank means: no batch name
        lines.append(f"batch_name = {literal(workflow.batch_name)}\n")
    elif workflow.batch_name and dag.kinds[node] == NodeKind.SUBDAG:
        lines.append('My.JobBatchName = " "\n')  # DAGMan of the sub-DAG reads it
    if workflow.batch_id:
        lines.append(f"batch_id = {literal(workflow.batch_id)}\n")
    priority = dag.priorities.get(node, 0) if at.priority is None else at.priority
    if priority:
        lines.append(f"priority = {priority}\n")
    if at.hold:
        lines.append("hold = true\n")
    if config.hold_claim_time > 0 and dag.has_children(node):
        lines.append(f"keep_claim_idle = {config.hold_claim_time}\n")
    if workflow.accounting_group:
        lines.append(f"accounting_group = {literal(workflow.accounting_group)}\n")
    if workflow.accounting_group_user:
        lines.append(f"accounting_group_user = {literal(workflow.accounting_group_user)}\n")
    return "".join(lines)


def _recorded(workflow: Workflow) -> str:
    """What DAGMAN_RECORD_MACHINE_ATTRS and DAGMAN_INHERIT_ATTRS put into the jobs' ads."""
    text = ""
    machine = workflow.config.record_machine_attrs
    names = _listed(machine)
    if names:
        recorded = [f"MachineAttr{name}0" for name in names]
        text += f"job_ad_information_attrs = {','.join([*recorded, 'DAGNodeName'])}\n"
        text += f"job_machine_attrs = {machine}\n"
    return text + "".join(f"My.{name} = {literal(value)}\n" for name, value in workflow.inherited)


def _overrides(dag: Dag, node: int, workflow: Workflow) -> str:
    config = workflow.config
    name = literal(dag.names[node])
    text = (
        f"dag_node_name = {name}\n"
        f"submit_event_notes = DAG Node: {name}\n"
        f"dagman_log = {literal(workflow.nodes_log)}\n"
        f'My.DAGManNodesMask = "{NODES_MASK}"\n'
    )
    if "\\/" in workflow.nodes_log:  # which HTCondor takes for two separators, and makes one of
        text += f"My.DAGManNodesLog = {attribute(workflow.nodes_log)}\n"
    if workflow.dagman_cluster > 0:
        text += f"My.DAGManJobId = {workflow.dagman_cluster}\n"
        text += f"DAGManJobId = {workflow.dagman_cluster}\n"
    if config.suppress_job_logs:
        text += "log =\n"
    if config.suppress_notification:
        text += "notification = NEVER\n"
    if dag.kinds[node] == NodeKind.SERVICE:
        text += "My.DAGLifetimeJob = true\n"
    return text


def _assignment(key: str, value: str) -> str:
    value = whole(value, f"the value of {key}")
    return f"{key} = {value}\n"


def _listed(text: str) -> list[str]:
    """Items of a list in a knob: blanks and commas separate."""
    return text.replace(",", " ").split()
