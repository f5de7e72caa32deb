"""What the loop and the performer need from outside, as Protocols.

The adapters implement them; so do the simulator (tests/sim) and the fakes of unit tests, in virtual
time.  `Loop` and `Performer` use no clock, descriptor, file or schedd directly, so tests run the
same code as users.

Times are seconds, as float: `monotonic` ones where nothing else is said.  A method that may be
killed in the middle (a crash of DAGMan, in the simulator an exception that is not caught) says
what must hold then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from condor_pydagman.adapters.schedd_requests import Request
from condor_pydagman.engine.actions import (
    Grown,
    RunScript,
    Steered,
    SubmitNode,
)
from condor_pydagman.engine.inputs import Input, LogBroken, LogEvent, LogRepaired, ScriptEnded
from condor_pydagman.graph.model import Dag, Script
from condor_pydagman.graph.stepwise import Steps
from condor_pydagman.language.description import Template
from condor_pydagman.names import DagPaths

_NOTHING_MORE: Mapping[str, str] = MappingProxyType({})


class Clock(Protocol):
    """The module `time` is one."""

    def time(self) -> float:
        """Seconds since the epoch; somebody may set this clock while DAGMan runs."""

    def monotonic(self) -> float:
        """Seconds that never go back."""


class Source(Protocol):
    """An event source."""

    def fileno(self) -> int:
        """Descriptor that is readable when something has happened; -1: it has to be polled."""


class Notifiers(Protocol):
    """The processes that hand events to programs and URLs."""

    def check(self) -> None:
        """Start those again that have ended."""

    def end(self) -> None:
        """The DAG ends: they must tell of it though one of them is killed."""


class Waiter(Protocol):
    """Sleeps until a source is ready."""

    def watch(self, source: Source) -> None:
        """Let `source` end the wait from now on; one whose `fileno` is -1 is passed over."""

    def wait(self, seconds: float) -> Collection[int]:
        """Wait up to `seconds`; returns the descriptors of the sources that are ready."""


class Sleeper(Protocol):
    """Lets DAGMan sleep; see `daemon.sleep`."""

    def due_at(self, loop: Any) -> float:
        """When to call `consider`, if nothing happens until then."""

    def consider(self, loop: Any) -> None:
        """Sleep, if it is time and nothing is under way: this does not return then."""


class Memory(Protocol):
    """What a loop goes on with after a sleep; see `Loop.memory`."""

    @property
    def epoch(self) -> float:
        """Added to monotonic seconds: the time of the engine."""

    @property
    def published(self) -> Mapping[str, Any]:
        """See `Publisher.memory`."""

    @property
    def next_parent_check_at(self) -> float:
        """Monotonic seconds."""

    @property
    def next_log_check_at(self) -> float:
        """The same."""


class Schedd(Protocol):
    """The schedd, with requests that do not block.

    Requests are performed in the order of the calls: a removal after a submit includes what was
    submitted.  A history search (ListQueue with `history`) may be answered later
    than requests after it.  Each request is answered once.  A submit is not retried.
    """

    @property
    def ready(self) -> bool:
        """Whether `deliver` has a reply at hand."""

    @property
    def busy(self) -> bool:
        """Whether a request has not been answered yet."""

    def fileno(self) -> int:
        """Readable when `deliver` is to be called; the same as long as the object lives (several
        descriptors can stand behind one: epoll(7)).  -1: replies are there at once."""

    def next_deadline(self) -> float | None:
        """When `deliver` is to be called though nothing was readable: a reply is overdue, or a
        request that had to wait is tried again."""

    def ask(self, request: Request, then: Callable[[Any], None]) -> None:
        """Make a request.  `then` is called by a later `deliver`, with the result or with a
        PoolError; it may ask again."""

    def deliver(self) -> None:
        """Call `then` for each request that has been answered since the last call."""

    def rest(self) -> None:
        """Nothing is expected to be asked soon: keep no process for it."""

    def close(self) -> None:
        """DAGMan exits: no request that has not reached the schedd yet may reach it from now on.

        `ask` must not be called any more, and `deliver` calls nothing.
        """


class NodesLog(Protocol):
    """The nodes log: read to follow the jobs, appended to for what DAGMan decides."""

    path: str  # of the file
    more: bool  # whether the last read left whole events behind

    @property
    def position(self) -> Any:
        """How far it has been read."""

    @property
    def torn(self) -> bool:
        """Whether the last read stopped before a half-written event."""

    def read(self) -> list[LogEvent | LogBroken | LogRepaired]:
        """New events, some at a time; an empty list if there are none."""

    def to_end(self) -> Iterator[list[LogEvent | LogBroken | LogRepaired]]:
        """All events that are there; waits for the rest of a half-written one.  For recovery."""

    def append(self, text: str) -> None:
        """Write one event; when it returns, the event is on the disk.  It does not block.

        Raises:
            IncompleteEvent: another process is writing an event; retry soon.
            FileError: it is not in the log, at least not whole.
        """


class LogWatch(Source, Protocol):
    """Tells that the nodes log has grown, or is gone."""

    def clear(self) -> None:
        """Acknowledge all that has happened so far."""


class Extras(Protocol):
    """What features give to nodes beside what the DAG says."""

    def template(self, template: Template, action: SubmitNode) -> Template:
        """A node's submit description, with what they give."""

    def macros(self, action: SubmitNode) -> Mapping[str, str]:
        """Macros that they give to the request of a DATA node."""

    def environment(self, action: SubmitNode | RunScript) -> Mapping[str, str]:
        """Variables that they give to a node's scripts, to $ENV() in its description or
        request, and to the worker of a DATA node."""


class Placements(Protocol):
    """What is done for the DATA nodes of a run."""

    def template(self, action: SubmitNode, text: str) -> Template | None:
        """The description of a node's job; None if `text` is an ordinary submit file.

        Raises:
            PoolError: the request is wrong, or the configuration.
            FileError: what the job needs can't be written.
        """

    def forget(self, nodes: Iterable[int]) -> None:
        """What these nodes have noted as done counts no more."""

    def leave(self, nodes: Iterable[int]) -> None:
        """These nodes have left their site: what they have allocated there is released."""

    def note(self, event: LogEvent) -> None:
        """Add up what an event of kind GENERIC, and without a record, tells of them, and say it."""

    def metrics(self) -> Iterable[tuple[str, float]]:
        """What the metrics file has of them."""

    def end(self, *, removed: bool) -> None:
        """The run is over; `removed`: DAGMan's job is being removed."""


class Helpers(Protocol):
    """What is done for features that few DAGs have; made when it is first needed."""

    def ask(self, helper: str, request: Any, then: Callable[[Any], None]) -> None:
        """Do what the engine asks a helper for; `then` is given the reply later, perhaps in parts,
        and what the helper has to say without being asked."""

    def open(self, name: str) -> object:
        """Make a helper now."""

    def next_deadline(self) -> float | None:
        """When to call `work`, monotonic seconds; None if there is nothing to do."""

    def work(self, now: float) -> None:
        """Some milliseconds of what is due."""

    def kill_programs(self) -> None:
        """Kill the programs that helpers run; they are not answered."""

    def give_up(self) -> None:
        """The DAG has ended: nothing is kept for it any more."""

    def obstacle(self, piece: Dag) -> Steps[str]:
        """Load what new nodes need; returns why they can't have it, '' if they can."""


class Scripts(Protocol):
    """Runs PRE, POST and HOLD scripts, without waiting.  The end of one shows as a signal."""

    problems: list[str]  # other errors, to be logged and removed by the caller

    def start(
        self,
        action: RunScript,
        script: Script,
        name: str,
        directory: str,
        more: Mapping[str, str] = _NOTHING_MORE,
    ) -> ScriptEnded | None:
        """Start a script of node `name`, with `more` variables in its environment; an answer at
        once means that it could not start.

        While the machine is short of processes, memory or descriptors, it is pending: see `work`.
        """

    def next_deadline(self) -> float | None:
        """When to call `work`: a script is pending; None: never."""

    def work(self) -> list[ScriptEnded]:
        """Start pending scripts, in their order; returns the ends of those that could not be
        started in 1.5 s, or were killed before they started."""

    def ended(self) -> list[ScriptEnded]:
        """Scripts that have ended since the last call."""

    def kill_all(self, *, answered: bool = False) -> None:
        """Kill all PRE and POST scripts; `answered`: `ended` or `work` is to tell of them."""


class Files(Protocol):
    """Files that DAGMan writes; the module `adapters.files` is one."""

    def replace(
        self, path: str, chunks: Iterable[str], *, durable: bool = ..., keep_old: bool = ...
    ) -> None:
        """Write a whole file: at every moment there is the old one or the new one.

        `durable`: return when it is on the disk.  `keep_old`: rename the old one to `.old`.

        Raises:
            FileError: it could not be written; the old one is still there.
        """

    def make_directory(self, path: str) -> None:
        """Make a directory and those above it, unless they are there.

        Raises:
            FileError: it could not be made.
        """

    def rescue_numbers(self, paths: DagPaths) -> list[int]:
        """Numbers of the rescue files that are there."""


class Signals(Source, Protocol):
    """What the schedd sends its DAGMan."""

    def read(self) -> list[Input]:
        """Inputs for the signals since the last call, SIGCHLD left out."""


class HaltFile(Source, Protocol):
    """The halt file of the DAG."""

    path: str  # of the file

    def look(self) -> bool | None:
        """True if the file has appeared since the last look, False if it is gone, else None."""


class Control(Source, Protocol):
    """The command socket, and the state of its commands that the job ad keeps."""

    def open(self) -> list[Input]:
        """The commands to an earlier DAGMan of this job that are still in force."""

    def announce(self) -> None:
        """Tell the job ad what it does not know yet; called once, when the DAG has begun."""

    def next_deadline(self) -> float | None:
        """When `read_requests` is to be called though no client is ready."""

    def read_requests(self) -> list[Input]:
        """Read requests of clients; returns them as inputs."""

    def input_handled(self, an_input: Input) -> None:
        """The engine has handled `an_input`: reply to the client that sent it."""

    def answer(self, answer: Steered | Grown) -> None:
        """A request for nodes or a person's piece is in force, or refused: answer the client."""

    def retry_publishing(self) -> None:
        """Called at intervals: set attributes again that the schedd has not accepted."""


class Out(Protocol):
    """`.dagman.out`."""

    verbosity: int  # level of the lines that are wanted, as DAGMAN_VERBOSITY

    def say(self, text: str, level: int = ...) -> None:
        """A line; it may stay in memory until `flush`."""

    def say_test(self, text: str, level: int = ...) -> None:
        """A line of the kind D_TEST."""

    def flush(self) -> None:
        """Write what is in memory."""

    def begin_cached(self) -> None:
        """Keep lines in memory even through `flush` (DAGMAN_DEBUG_CACHE_ENABLE)."""

    def end_cached(self) -> None:
        """Write them."""


class Lock(Protocol):
    """The lock file.  While it is there, a start is a recovery."""

    path: str  # of the file

    def restore(self) -> bool:
        """Write it again if somebody has deleted it; returns whether that was so."""

    def remove(self) -> None:
        """The run is over.  If DAGMan is killed before this, the next start recovers."""

    def release(self) -> None:
        """Release the lock and leave the file as it was found: deleted, if we made it."""
