"""What nodes of a DAG would run, with all macros as far as they are known before; nothing is
submitted.

HTCondor's bindings read the descriptions, but for those that could run a command then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman.adapters import descriptions
from condor_pydagman.adapters.files import read_text, working_directory
from condor_pydagman.dagman_job.condor_sub import parse_arguments
from condor_pydagman.data_requests.request_ads import is_request
from condor_pydagman.engine.script_words import MacroError, expand
from condor_pydagman.errors import PoolError, PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.job_description import (
    Template,
    Workflow,
    describe,
    may_run_commands,
    split,
)
from condor_pydagman.vocabulary import NodeKind, ScriptKind

MAX_JOBS = 3  # of a node that are told
_RUNS_COMMANDS = "to read its description could run a command, by `include` or `queue ... from`"
# In place of what nobody knows before: no description has these numbers.
_LATER = {
    **dict.fromkeys(("Cluster", "ClusterId"), "1000000007"),
    **{"SUBMIT_TIME": "1000000009", "YEAR": "1000000021", "MONTH": "1000000033"},
    "DAY": "1000000087",
}
_RANDOM = re.compile(r"\$(?=RANDOM_(?:CHOICE|INTEGER)\()", re.I)  # another value at each reading
_IMAGES = ("container_image", "docker_image")


class JobCommand(NamedTuple):
    """What a job runs.

    Attributes:
        words: the program and its arguments; empty if a container's image says what it runs.
        directory: its initial directory as the description has it, relative to that of the node.
        input, output, error: files for standard input and so on; '' for none.
        image: of its container; '' if it has none.
    """

    words: Sequence[str]
    directory: str = ""
    input: str = ""
    output: str = ""
    error: str = ""
    image: str = ""


class NodeCommands(NamedTuple):
    """What a node runs.

    Attributes:
        node: its name.
        kind: of the node.
        directory: DIR of the node; '' for where the DAG is submitted.
        description: the submit file, or the name of a description in the DAG file; the DAG file of
            a SUBDAG node.
        jobs: how many it has, 0 if that is not known or it has none.
        commands: of the first MAX_JOBS of them; one if they are all the same.
        scripts: words of its scripts; macros that get their values later are left as they are.
        note: why the commands are not known, or what is run instead; '' otherwise.
    """

    node: str
    kind: NodeKind
    directory: str
    description: str
    jobs: int
    commands: Sequence[JobCommand]
    scripts: Mapping[ScriptKind, Sequence[str]]
    note: str = ""


def commands_of(dag: Dag, nodes: Iterable[int], workflow: Workflow) -> Iterator[NodeCommands]:
    """What each of the nodes would run in its first attempt.

    Only for a process of one thread that depends on the working directory.
    """
    templates: dict[tuple[str, str], Template] = {}
    for node in nodes:
        kind = NodeKind(dag.kinds[node])
        known = NodeCommands(
            dag.names[node],
            kind,
            dag.directories.get(node, ""),
            dag.subdags.get(node) or dag.submits[node],
            0,
            (),
            dict(_scripts(dag, node)),
        )
        if dag.is_noop(node):
            yield known._replace(note="no job: NOOP")
        elif kind is NodeKind.SUBDAG:
            yield known._replace(note=f"the DAG {known.description}")
        else:
            yield _with_jobs(dag, node, known, workflow, templates)


def _with_jobs(
    dag: Dag,
    node: int,
    known: NodeCommands,
    workflow: Workflow,
    templates: dict[tuple[str, str], Template],
) -> NodeCommands:
    try:
        with working_directory(known.directory):
            text = dag.descriptions.get(known.description)
            text = read_text(known.description) if text is None else text
            if is_request(known.kind, text):
                return known._replace(jobs=1, note=f"the requests of {known.description}")
            if may_run_commands(text):
                return known._replace(note=_RUNS_COMMANDS)
            key = known.description, known.directory
            template = templates.setdefault(key, split(text))
            jobs, commands = _jobs(describe(dag, node, template, workflow))
    except OSError as error:
        return known._replace(note=f"{known.description}: {error.strerror or error}")
    except (PoolError, *descriptions.BINDINGS) as error:
        return known._replace(note=f"{known.description}: {descriptions.reason_of(error)}")
    except PydagmanError as error:
        return known._replace(note=f"{known.description}: {error}")
    return known._replace(jobs=jobs, commands=commands)


def _jobs(text: str) -> tuple[int, Sequence[JobCommand]]:
    """How many jobs a description has, and the commands of the first of them."""
    description = descriptions.parse(text)
    items, each = descriptions.queued(description)
    jobs = len(items) * each
    for key, value in list(description.items()):
        if _RANDOM.search(value):
            description[key] = _RANDOM.sub("$(DOLLAR)", value)
    found = []
    for proc in range(min(jobs, MAX_JOBS)):
        found.append(_command(descriptions.of_job(description, _LATER, proc, items, each)))
    are_alike = all(one == found[0] for one in found)
    return jobs, found[:1] if are_alike else found


def _command(description: Any) -> JobCommand:
    def value(*names: str) -> str:
        found = (descriptions.expanded(description, name).strip() for name in names)
        text = next(filter(None, found), "")
        for name, number in _LATER.items():
            text = text.replace(number, f"$({name})")
        return text

    program, shell = value("executable"), value("shell")
    if program:
        words = (program, *parse_arguments(value("arguments")))
    else:
        words = ("/bin/sh", "-c", shell) if shell else ()
    return JobCommand(
        words,
        value("initialdir"),
        value("input"),
        value("output"),
        value("error"),
        value(*_IMAGES),
    )


class _KnownBefore:
    """Values of the macros of scripts, see `engine.views.Macros`; the others stay as they are."""

    def __init__(self, dag: Dag, node: int) -> None:
        name = dag.names[node]
        retry = dag.retries.get(node)
        self._values = {
            **dict.fromkeys(("JOB", "NODE"), name),
            "RETRY": "0",
            "MAX_RETRIES": str(retry.limit if retry else 0),
        }

    def __getitem__(self, name: str) -> str:
        return self._values.get(name, f"${name}")


def _scripts(dag: Dag, node: int) -> Iterator[tuple[ScriptKind, Sequence[str]]]:
    values = _KnownBefore(dag, node)
    for kind in ScriptKind:
        script = dag.script(node, kind)
        if script is None:
            continue
        try:
            yield kind, expand(script.command, values, kind, dag.names[node])
        except MacroError:  # which DAGMan leaves to the script, with a warning
            yield kind, script.command.split()
