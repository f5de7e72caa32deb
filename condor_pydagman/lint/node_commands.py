"""What nodes of a DAG would run, with all macros as far as they are known before; nothing is
submitted.

HTCondor's bindings read the descriptions, in a process that can do nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from condor_pydagman.adapters.described_jobs import COMMANDS, LATER
from condor_pydagman.adapters.files import working_directory
from condor_pydagman.adapters.followed_files import Followed, owner_of, text_of_node
from condor_pydagman.adapters.foreign_texts import read
from condor_pydagman.data_requests.request_ads import is_request
from condor_pydagman.engine.script_words import MacroError, expand
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.description import template_of
from condor_pydagman.language.quoted_words import parse_arguments
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.job_description import Workflow, describe
from condor_pydagman.vocabulary import NodeKind, ScriptKind

_READER = "condor_pydagman.adapters.described_jobs:commands"


class JobCommand(NamedTuple):
    """What a job runs."""

    # the program and its arguments; empty if a container's image says what it runs
    words: Sequence[str]
    # its initial directory as the description has it, relative to that of the node
    directory: str = ""
    # files for standard input and so on; '' for none
    input: str = ""
    output: str = ""
    error: str = ""
    image: str = ""  # of its container; '' if it has none


class NodeCommands(NamedTuple):
    """What a node runs."""

    node: str  # its name
    kind: NodeKind  # of the node
    directory: str  # DIR of the node; '' for where the DAG is submitted
    # the submit file, or the name of a description in the DAG file; the DAG file of a SUBDAG node
    description: str
    jobs: int  # how many it has, 0 if that is not known or it has none
    commands: Sequence[JobCommand]  # of the first MAX_JOBS of them; one if they are all the same
    # words of its scripts; macros that get their values later are left as they are
    scripts: Mapping[ScriptKind, Sequence[str]]
    note: str = ""  # why the commands are not known, or what is run instead; '' otherwise


def commands_of(dag: Dag, nodes: Iterable[int], workflow: Workflow) -> Iterator[NodeCommands]:
    """What each of the nodes would run in its first attempt.

    Only for a process of one thread that depends on the working directory.
    """
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
            yield _with_jobs(dag, node, known, workflow)


def _with_jobs(dag: Dag, node: int, known: NodeCommands, workflow: Workflow) -> NodeCommands:
    try:
        of_dag = owner_of(dag.files[0])
        with working_directory(known.directory):
            text, owner = text_of_node(dag, node, of_dag)
            if is_request(known.kind, text):
                return known._replace(jobs=1, note=f"the requests of {known.description}")
            whole = describe(dag, node, template_of(text), workflow)
            described = Followed(whole, owner)
        jobs, found = read(_READER, described, shape=COMMANDS)
        commands = list(map(_command, found))
    except OSError as error:
        return known._replace(note=f"{known.description}: {error.strerror or error}")
    except PydagmanError as error:
        return known._replace(note=f"{known.description}: {getattr(error, 'reason', error)}")
    except ValueError as error:  # of the arguments
        return known._replace(note=f"{known.description}: {error}")
    are_alike = all(one == commands[0] for one in commands)
    return known._replace(jobs=jobs, commands=commands[:1] if are_alike else commands)


def _command(found: Mapping[str, str]) -> JobCommand:
    def value(*names: str) -> str:
        texts = (found[name].strip() for name in names)
        text = next(filter(None, texts), "")
        for name, number in LATER.items():
            text = text.replace(number, f"$({name})")
        return text

    program, shell = value("executable"), value("shell")
    if program:
        words = (program, *parse_arguments(value("arguments")))
    else:
        words = ("/bin/sh", "-c", shell) if shell else ()
    directory, image = value("initialdir"), value("container_image", "docker_image")
    return JobCommand(words, directory, value("input"), value("output"), value("error"), image)


class _KnownBefore(dict[str, str]):
    """Values of the macros of scripts, see `engine.views.Macros`; the others stay as they are."""

    def __missing__(self, name: str) -> str:
        return f"${name}"


def _scripts(dag: Dag, node: int) -> Iterator[tuple[ScriptKind, Sequence[str]]]:
    name, limit = dag.names[node], dag.retries[node].limit if node in dag.retries else 0
    values = _KnownBefore(JOB=name, NODE=name, RETRY="0", MAX_RETRIES=str(limit))
    for kind in ScriptKind:
        script = dag.script(node, kind)
        if script is None:
            continue
        try:
            yield kind, expand(script.command, values, kind, name)
        except MacroError:  # which DAGMan leaves to the script, with a warning
            yield kind, script.command.split()
