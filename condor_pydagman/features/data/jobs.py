"""What is done for DATA nodes (`ports.Placements`): the job of one is made when it is submitted.

The request file is read and checked; a work order is written for the worker, which is the job.  A
file that is an ordinary submit file makes an ordinary job, as of a JOB node.  The worker's job is
one of the local universe: HTCondor runs it on the access point at once, without a slot, and starts
it again if it or the schedd dies.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence

from condor_pydagman.adapters import detached_process, files
from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.adapters.python_child import python_command
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.data_requests.request_ads import is_request
from condor_pydagman.data_requests.request_macros import Macros, variables_named
from condor_pydagman.data_requests.request_text import RequestFile, read_requests
from condor_pydagman.data_requests.requests import Placement, Transfer
from condor_pydagman.data_requests.settings import Settings, settings_of
from condor_pydagman.data_requests.work_order import (
    FINAL,
    FINAL_STATUS,
    WorkOrder,
    file_stem,
    passed_on,
)
from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_settings import variables_in_force
from condor_pydagman.errors import ConfigError, DagFileError, FileError, PoolError
from condor_pydagman.language.description import Template, template_of
from condor_pydagman.language.lexer import item_text
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records import job_description
from condor_pydagman.records.job_description import literal
from condor_pydagman.records.placement_event import PlacementTotals, parse_event
from condor_pydagman.vocabulary import NodeKind

SUFFIX = ".order"


def remove_work_orders(directory: str) -> None:
    """Remove the work orders that nobody will carry out any more, which may have secrets.

    What can't be removed stays.
    """
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIX):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


# Attributes of the job's ad; the worker changes them while it runs.
STATE, REQUESTS = "PlacementState", "PlacementRequests"
RECEIVED = "request_received"
RELEASER = "condor_pydagman.placement.dag_allocations"
MAX_DESCRIPTION = 60  # characters
# A worker that is killed (the kernel is out of memory) is started again by the schedd, and goes on
# where it was.  In the local universe only NumJobStarts counts that, with one less at each end.
MAX_STARTS_AGAIN = 5
_IS_OVER = f"ExitBySignal =!= True || (NumJobStarts ?: 0) >= {MAX_STARTS_AGAIN}"


class WorkerCommand(NamedTuple):
    """How the worker is started: the program, and its arguments but for the work order."""

    program: str
    arguments: Sequence[str]


def job_text(
    command: WorkerCommand,
    order: str,
    output: str,
    log: str,
    placements: Sequence[Placement],
    environment: Sequence[tuple[str, str]],
) -> str:
    """The user's part of the description, without a queue statement.

    Args:
        order: absolute path of the work order.
        output: absolute path for what the worker prints.
        log: the job event log that the request names, '' for none.
        placements: what the request asks for; empty if it was not read.
        environment: variables that are no secrets.
    """
    words = _quoted([*command.arguments, order])
    variables = _quoted([f"{name}={value}" for name, value in environment])
    lines = [
        "universe = local",
        f"executable = {literal(command.program)}",
        f'arguments = "{literal(words)}"',
        f'environment = "{literal(variables)}"',
        f"output = {literal(output)}",
        f"error = {literal(output)}",
        f'My.{STATE} = "{RECEIVED}"',
        f"My.{REQUESTS} = {len(placements)}",
        f"description = {literal(description(placements))}",
        f"on_exit_remove = {_IS_OVER}",
    ]
    if log:
        lines.append(f"log = {literal(log)}")
    return "\n".join(lines) + "\n"


def description(placements: Sequence[Placement]) -> str:
    """What `condor_q` shows of the job: "transfer 3 files", "allocate 1"."""
    if not placements:
        return "data placement"
    counts: dict[str, int] = {}
    for one in placements:
        word = type(one).__name__.lower()
        counts[word] = counts.get(word, 0) + 1
    if len(placements) == 1 and isinstance(placements[0], Transfer):
        name = placements[0].source.name or placements[0].source.path
        if name.isascii() and name.isprintable() and "$" not in name:
            return f"transfer {name}"[:MAX_DESCRIPTION]
    return ", ".join(f"{word} {count}" for word, count in counts.items())


def _quoted(words: Sequence[str]) -> str:
    """Words as the new syntax of arguments and environments has them, without the outer quotes."""
    return " ".join("'" + word.replace("'", "''").replace('"', '""') + "'" for word in words)


# A longer request file is checked by the worker: the loop must not wait for that.
MAX_CHECKED = 200_000  # characters
_OUTPUT, JOURNAL = ".out", ".journal"
# Variables of DAGMan's environment that are no secrets, and that the worker needs to start.
_TO_START = ("CONDOR_CONFIG", "PYTHONPATH", "HOME")


class Origin(NamedTuple):
    """Where a node's request comes from: its name for messages, and the node's directory."""

    name: str
    directory: str


class DataNodes:
    """See `ports.Placements`."""

    def __init__(self, run: DagRun) -> None:
        self._run = run
        self._directory = os.path.abspath(run.paths.placements)
        self._settings: Settings | None = None
        self._ready = False
        self._totals = PlacementTotals()
        self._left: dict[str, float] = {}  # when nodes have left a site, by their names

    def template(self, action: SubmitNode, text: str) -> Template | None:
        """See `ports.Placements`."""
        node, dag = action.node, self._run.dag
        if not is_request(dag.kinds[node], text):
            return None
        place = Origin(dag.submits[node], os.path.abspath(dag.directories.get(node, "")))
        if dag.submits[node] in dag.descriptions:
            place = place._replace(name=f"{dag.place(node) or 'inline'} (inline request)")
        macros = self._macros(action)
        environment = {**os.environ, **self._extras(action)}
        request = self._checked(text, place, Macros(macros, environment))
        stem = os.path.join(self._made_directory(), file_stem(dag.names[node]))
        self._write_order(action, text, place, macros, stem)
        job = job_text(
            worker_command(),
            stem + SUFFIX,
            stem + _OUTPUT,
            request.log,
            request.placements,
            [(name, os.environ[name]) for name in _TO_START if name in os.environ],
        )
        return template_of(job)

    def note(self, event: LogEvent) -> None:
        """See `ports.Placements`."""
        noted = parse_event(event.text)
        line = "" if noted is None else self._totals.add(noted)
        if line:
            self._run.out.say(line)

    def metrics(self) -> list[tuple[str, int | float]]:
        """See `ports.Placements`."""
        return self._totals.metrics()

    def end(self, *, removed: bool) -> None:
        """See `ports.Placements`."""
        remove_work_orders(self._directory)
        if (removed or self._left) and os.path.isdir(self._directory):
            self.release_allocations({} if removed else self._left)

    def release_allocations(self, left: Mapping[str, float]) -> None:
        """Let a process that outlives DAGMan release what the removed DAG has allocated.

        `left`: only what these nodes have allocated, each before a time.
        """
        try:
            order = WorkOrder(
                token="",
                node="",
                retry=0,
                name="",
                text="",
                macros={},
                directory=self._directory,
                nodes_log="",
                environment=passed_on(os.environ),
                settings=self._read_settings(),
                left=left,
            )
            detached_process.start(RELEASER, order.to_text().encode())
        except (PoolError, OSError) as error:
            self._run.out.say(f"Warning: allocations of this DAG are not released: {error}", 0)

    def forget(self, nodes: Iterable[int]) -> None:
        """See `ports.Placements`."""
        for node in nodes:
            path = os.path.join(self._directory, file_stem(self._run.dag.names[node]) + JOURNAL)
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass
            except OSError as error:
                self._run.out.say(f"Warning: {path} can't be removed: {error.strerror}", 0)

    def leave(self, nodes: Iterable[int]) -> None:
        """See `ports.Placements`."""
        left = dict.fromkeys((self._run.dag.names[node] for node in nodes), time.time())
        self._left |= left
        if os.path.isdir(self._directory):
            self.release_allocations(left)

    def _extras(self, action: SubmitNode) -> Mapping[str, str]:
        """The variables that features give, and those of a FINAL node."""
        final = {}
        if self._run.dag.kinds[action.node] == NodeKind.FINAL:
            final = {FINAL: "1", FINAL_STATUS: str(int(action.dag_status))}
        return {**final, **(self._run.extras.environment(action) if self._run.extras else {})}

    def _checked(self, text: str, place: Origin, macros: Macros) -> RequestFile:
        if len(text) > MAX_CHECKED:
            return RequestFile(())
        try:
            return read_requests(text, place.name, macros, place.directory)
        except DagFileError as error:
            for line in error.detail().split("\n"):
                self._run.out.say(line, 0)
            hint = f" ({error.hint})" if error.hint else ""
            where = f"{error.file}:{error.line}: " if error.line else f"{error.file}: "
            raise PoolError(f"{where}{error.message}{hint}", transient=False) from None

    def _macros(self, action: SubmitNode) -> dict[str, str]:
        """Macros of a request: the node's VARS, those that DAGMan sets for every job, and those
        that features give."""
        dag, node, extras = self._run.dag, action.node, self._run.extras
        own = {
            "JOB": item_text(dag.names[node]),
            "RETRY": str(action.retry),
            "DAG_STATUS": str(int(action.dag_status)),
            "FAILED_COUNT": str(action.failed_count),
            "DAG_PARENT_NAMES": item_text(job_description.parent_names(dag, node)),
            "DAGManJobId": str(self._run.workflow.dagman_cluster),
            "SUBMIT_FILE": dag.submits[node],
        }
        variables = variables_in_force(dag.variables.get(node, ()), action.variables)
        more = {} if extras is None else extras.macros(action)
        return {**own, **{one.key: one.value for one in variables}, **more}

    def _write_order(
        self, action: SubmitNode, text: str, place: Origin, macros: Mapping[str, str], stem: str
    ) -> None:
        run = self._run
        named = variables_named([text, *macros.values()])
        order = WorkOrder(
            token=f"{time.time_ns():x}.{os.getpid():x}",
            node=run.dag.names[action.node],
            retry=action.retry,
            name=place.name,
            text=text,
            macros=macros,
            directory=place.directory,
            nodes_log=run.workflow.nodes_log,
            environment={**passed_on(os.environ, named), **self._extras(action)},
            settings=self._read_settings(),
        )
        files.replace(stem + SUFFIX, [order.to_text()])

    def _read_settings(self) -> Settings:
        if self._settings is None:
            try:
                self._settings = settings_of(self._run.config, lookup)
            except ConfigError as error:
                raise PoolError(str(error), transient=False) from None
        return self._settings

    def _made_directory(self) -> str:
        """The directory for the orders.  At its start, a run that continues no other removes what
        workers of earlier runs have noted as done; one from a rescue file removes that of groups
        which it does not bind to the site where they were."""
        if not self._ready:
            files.make_directory(self._directory, 0o700)
            try:
                _make_private(self._directory)
                self._forget_earlier_runs()
            except OSError as error:
                raise FileError(
                    f"can't use the directory {self._directory}: {error.strerror or error}"
                ) from None
            self._ready = True
        return self._directory

    def _forget_earlier_runs(self) -> None:
        run = self._run
        if run.resumes:
            return
        if not run.rescue_number:
            with os.scandir(self._directory) as entries:
                journals = [entry.path for entry in entries if entry.name.endswith(JOURNAL)]
            for path in journals:
                os.unlink(path)
        for group in run.dag.groups:
            if not group.matched:
                self.forget(group.nodes)


def worker_command() -> WorkerCommand:
    """The installed `condor_pydagman`, beside this program or its Python; else Python itself."""
    for program in filter(os.path.isabs, (sys.argv[0], sys.executable)):
        path = os.path.join(os.path.dirname(program), "condor_pydagman")
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return WorkerCommand(path, ("transfer", "--order"))
    python, *words = python_command(
        "from condor_pydagman.placement.data_node import main; sys.exit(main(sys.argv[1]))"
    )
    return WorkerCommand(python, tuple(words))


def _make_private(directory: str) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(fd)
        if found.st_uid != os.geteuid():
            raise OSError(errno.EPERM, f"it belongs to user {found.st_uid}; move it away")
        if found.st_mode & 0o077:
            os.fchmod(fd, 0o700)
    finally:
        os.close(fd)
