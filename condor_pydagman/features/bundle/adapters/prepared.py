"""Writes what the job of a bundle needs: the runner, the list of tasks, the description.

A bundle's directory is the initial directory of its job:

- `tasks`: the list of its tasks, see `runner`;
- `in/`: links to the files that are transferred to the job, by numbers, as names may be the same;
- `results`, `out/`: what the runner writes; in a run with file transfer, when they have come home;
- `live`: of a job with file transfer, its results as far as they are known while it runs;
- `runner.out`, `runner.err`: what the runner itself prints;
- `taken/`: what was in `out/`, while it is being put where it belongs.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from typing import Optional

from condor_pydagman.adapters import deleted_directories, files
from condor_pydagman.adapters.bindings import expanded
from condor_pydagman.errors import FileError
from condor_pydagman.features.bundle.adapters.look import Looker, LookOrder
from condor_pydagman.features.bundle.adapters.made import Makers, Sources
from condor_pydagman.features.bundle.adapters.program import program as program_text
from condor_pydagman.features.bundle.job_lines import DEFAULTS, for_several
from condor_pydagman.features.bundle.messages import Prepare
from condor_pydagman.features.bundle.one_bundle import NAME
from condor_pydagman.features.bundle.tasks import Task, without_task
from condor_pydagman.language.description import template_of
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import logged_name
from condor_pydagman.records.job_description import attribute, literal

RUNNER, TASKS, RESULTS, LIVE, IN, OUT = ("runner", "tasks", "results", "live", "in", "out")
ERRORS = "runner.err"
FORMAT = 1
MAX_DESCRIPTION_CHARS = 60
# What the list has of a task as it is.
_LISTED = (
    *("program", "arguments", "environment", "directory", "input", "output", "error"),
    *("remaps", "success"),
)


class PrepareOrder(NamedTuple):
    """Write the files of a bundle."""

    asked: Prepare  # without its nodes
    directory: str  # of all bundles of the DAG
    look: LookOrder  # its nodes
    # what DAGMan adds to the description of the first of them
    lines_before: str
    lines_after: str


class Job(NamedTuple):
    """The job of a bundle."""

    text: str  # its description
    # the places, from 1, of nodes that it does not run: an input would not be there
    without: Sequence[int] = ()


def prepare(order: PrepareOrder, looker: Looker) -> Job:
    """Write the files of the job.

    Raises:
        CannotBundle: a node can't be bundled any more.
        OSError, FileError: a file can't be read or written.
    """
    texts = order.look.texts
    found = [
        (*looker.task_of(node, texts), looker.file_of(node, texts)) for node in order.look.nodes
    ]
    if len({kind for kind, _, _ in found}) != 1:
        raise FileError("the descriptions of its nodes have changed since they were looked at")
    tasks, sources = [task for _, task, _ in found], [source for _, _, source in found]
    home = os.path.join(order.directory, str(order.asked.number))
    files.make_directory(order.directory)  # which another user may have made
    _make_directory(home)
    program = os.path.join(order.directory, RUNNER)
    _put_runner(program)
    tasks_of = _List(order, tasks, sources, home)
    text = "".join(json.dumps(one) + "\n" for one in [tasks_of.head(), *tasks_of.lines])
    files.replace(os.path.join(home, TASKS), [text], durable=False)
    body = looker.read(order.look.nodes[0], texts)[1]
    return Job(_description(order, tasks[0], body, program, tasks_of), tasks_of.without)


def _make_directory(home: str) -> None:
    """An empty one; what an earlier run of the DAG has left there is of no use."""
    why = deleted_directories.delete_directory(home)
    if why:
        raise FileError(f"{home} is in the way: {why}")
    files.make_directory(home)
    os.mkdir(os.path.join(home, IN))


def _put_runner(program: str) -> None:
    """The program beside the bundles is that of the DAGMan that has made the last of them."""
    wanted = program_text()
    with contextlib.suppress(OSError, FileError):
        if files.read_text(program) == wanted:
            return
    files.replace(program, [wanted], durable=False, keep_mode=True)
    os.chmod(program, 0o755)  # noqa: S103  (jobs may run as another user)


class _Inputs:
    """The files that a job gets, each once, by numbers."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._numbers: dict[str, str] = {}

    def number(self, path: str) -> str:
        """The name that a file has in the sandbox of the job."""
        found = self._numbers.get(path)
        if found is None:
            found = self._numbers[path] = f"i{len(self._numbers) + 1}"
            os.symlink(path, os.path.join(self._home, IN, found))
        return found

    @property
    def paths(self) -> list[str]:
        """What is to be transferred, relative to the job's initial directory."""
        return [f"{IN}/{number}" for number in self._numbers.values()]


DescriptionFile = Optional[tuple[str, int, int]]  # as of `Looker.file_of`


class _List:
    """The list of tasks.

    Args:
        descriptions: files that those of the nodes were read from.
        home: the directory of the bundle.
    """

    def __init__(
        self,
        order: PrepareOrder,
        tasks: Sequence[Task],
        descriptions: Sequence[DescriptionFile],
        home: str,
    ) -> None:
        self._order, self.home = order, home
        self.inputs = _Inputs(home)  # what is transferred to the job
        self._descriptions = descriptions
        self.is_transferred = tasks[0].transfers_files  # whether anything is
        self.lines: list[dict[str, object]] = []  # of the tasks
        self.without: list[int] = []  # numbers of the tasks that are not in it
        self._makers = Makers()
        for number, task in enumerate(tasks, 1):
            after = order.asked.after[number - 1] if order.asked.after else ()
            self._makers.add(number, task, after if self.is_transferred else ())
            sources = [self._makers.sources(number, path) for path in _inputs_of(task)]
            if None in sources or self._is_too_early(number, after):
                self.without.append(number)
            else:
                self._add(number, task, after, [one for one in sources if one is not None])

    def _is_too_early(self, number: int, after: Sequence[int]) -> bool:
        """Whether one that it runs after is left out, or makes its description."""
        description = self._descriptions[number - 1]
        is_made = description is not None and self._makers.names(number, description[0])
        return is_made or any(one in self.without for one in after)

    def _add(self, number: int, task: Task, after: Sequence[int], found: list[Sources]) -> None:
        paths = _inputs_of(task)
        sources = [self._source(*one) for one in zip(paths, found)]
        sandboxed = sources.pop() if task.transfers_program else ""
        names = [os.path.basename(path) for path in paths]
        outputs = task.outputs
        if outputs is not None:  # streams come home in any case
            outputs = [name for name in outputs if name not in (task.output, task.error)]
        line = {
            "n": number,
            "name": logged_name(self._order.look.nodes[number - 1].name),
            **{key: getattr(task, key) for key in _LISTED},
            "sandboxed": sandboxed,
            "inputs": list(zip(sources, names)),
            "outputs": outputs,
            "timeout": self._order.asked.time_limits[number - 1],
        }
        if after:  # it may write the description anew
            line |= {"after": list(after), "description": self._descriptions[number - 1]}
        self.lines.append(line)

    def _source(self, path: str, found: Sources) -> str | list[str]:
        """As the list has it."""
        at_path = [self.inputs.number(path)] if found.at_path else []
        return [*found.made, *at_path] if found.made else at_path[0]

    def head(self) -> dict[str, object]:
        """The first line."""
        order = self._order
        head = {
            "format": FORMAT,
            "bundle": order.asked.number,
            "parallel": order.asked.parallel,
            "home": self.home,
            "release": order.asked.release_s,
            "stream": self.is_transferred,
        }
        return {**head, "chain": order.asked.chain_s} if any(order.asked.after) else head

    def names(self) -> list[str]:
        """Of the nodes that are in it."""
        nodes = enumerate(self._order.look.nodes, 1)
        return [node.name for number, node in nodes if number not in self.without]


def _inputs_of(task: Task) -> list[str]:
    """Paths of the files that a task gets, and behind them that of its program if it is one."""
    named = [*task.inputs, *filter(None, [task.input])]
    paths = [os.path.join(task.directory, name) for name in named]
    return paths + [task.program] * task.transfers_program


def _transfers(inputs: Sequence[str], *, if_needed: bool) -> list[str]:
    """HTCondor brings nothing home at an eviction if it transfers files only where needed."""
    return [
        f"transfer_input_files = {','.join([TASKS, *inputs])}",
        f"transfer_output_files = {RESULTS},{OUT}",
        f"when_to_transfer_output = {'ON_EXIT' if if_needed else 'ON_EXIT_OR_EVICT'}",
        "transfer_executable = true",
        f"output = {LIVE}",
        "stream_output = true",
    ]


def _description(order: PrepareOrder, task: Task, body: str, program: str, tasks: _List) -> str:
    ((lines, _),) = template_of(body)
    own = "\n".join([order.lines_before, lines, order.lines_after])
    kept = without_task(own)
    names = tasks.names()
    about = f"{len(names)} nodes: {' '.join(names[:MAX_DESCRIPTION_CHARS])}"
    of_files = ["output = runner.out"]
    if tasks.is_transferred:
        of_files = _transfers(tasks.inputs.paths, if_needed=task.if_needed)
    added = [
        f"executable = {literal(program)}",
        f"arguments = {TASKS}",
        f"initialdir = {literal(tasks.home)}",
        f"error = {ERRORS}",
        *of_files,
        f"dag_node_name = {NAME}{order.asked.number}",
        f"submit_event_notes = DAG Node: {NAME}{order.asked.number}",
        f"description = {literal(about[:MAX_DESCRIPTION_CHARS])}",
        f"My.DAGManBundleNodes = {len(names)}",
        f"My.DAGManBundleNames = {attribute(' '.join(names)[:1000])}",
        'My.DAGParentNodeNames = ""',
        "My.DAGManNodeRetry = 0",
        *(f"{key} = {literal(path)}" for key, path in task.files_of_job.items()),
        *_requests(task, order.asked.parallel),
    ]
    return "\n".join([kept, *added, "queue", ""])


def _requests(task: Task, parallel: int) -> Iterator[str]:
    """What as many tasks side by side need; what a description does not ask for, the access point
    does."""
    if parallel < 2:
        return
    defaults = {
        name: str(expanded(f"JOB_DEFAULT_{name.replace('_', '')}") or "") for name in DEFAULTS
    }
    wanted = {**{name: value for name, value in defaults.items() if value}, **task.requests}
    for key, value in for_several(wanted, parallel):
        yield f"{key} = {value}"
