"""What nodes publish for the conditions of others: read when a node has ended well, and
in force before the node is done.

Values of a file are written into the nodes log, in as many records as they take, since the file may
change; attributes of jobs are there already, in the events 028 that HTCondor writes beside the
others.  A file that can't be read makes the node's run a failed one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import Jobs
from condor_pydagman.engine.node_settings import variables_in_force
from condor_pydagman.engine.node_states import Anew, Cause, State
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.features.common.file_macros import expanded, known_macros, unset_macros
from condor_pydagman.features.publish.commands import PublishedOfDag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import RETURN_NO_RESULT, EventKind

HELPER = "run_if"


class ReadResult(NamedTuple):
    """Read the file with what the node publishes.  Answered by ResultRead."""

    node: int
    retry: int
    file: str


class ResultRead(NamedTuple):
    """Answer to ReadResult: names and ClassAd literals, or why there are none."""

    node: int
    retry: int
    pairs: Sequence[tuple[str, str]] = ()
    error: str = ""


RESULT = Kind("what a node has published")  # by node
RESULT_TIMEOUT_S = 60.0  # for the event that has attributes of a job which has ended
MAX_PARTS = 100  # records for what one node has published
_ROOM = 700  # bytes of a record for names and values, less those of the node's name
_MIN_ROOM = 100
FAILED, NOTHING = -1, 0  # values of records that have no part
UNREADABLE = "what it publishes can't be read"


def read_pairs(text: str) -> list[tuple[str, str]]:
    """Names and ClassAd literals in a text that has a line for each, `name=literal`."""
    pairs = (line.partition("=") for line in text.splitlines())
    return [(name, literal) for name, sign, literal in pairs if sign]


class JobAttributes(NamedTuple):
    """Attributes of a job, as event 028 has them: names and ClassAd literals.

    `final`: the event is of the job's end.
    """

    pairs: tuple[tuple[str, str], ...]
    final: bool


_BEFORE_JOB = (State.PRE_WAIT, State.PRE_UNCONFIRMED)


class Publish(Feature):
    """What the nodes of a run have published."""

    name = "publish"
    # value: 100 * part + parts, -1: it failed; text: ClassAd, or why
    attempt_records = (("NODE_RESULT", "on_record"),)
    replies = ((ResultRead, "on_read"),)
    events = ((EventKind.JOB_AD_INFORMATION, "on_job_ad"),)

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        self.values: dict[int, dict[str, str]] = {}  # by node, ClassAd literals by name
        self._of_dag = PublishedOfDag.of(run.dag)
        # by node, a ClassAd with what an earlier run of the DAG knew of it
        self.restored = dict(self._of_dag.results)
        # nodes that ended well and whose results are to come, and when attributes of their jobs are
        # waited for no more (seconds since the epoch)
        self.until: dict[int, float] = {}
        self.asked: set[int] = set()  # nodes whose file is being read
        self._fresh: list[int] = []  # nodes that have just begun to wait
        self._told: set[int] = set()  # nodes of which the log has all that their file had
        self._late: set[int] = set()  # nodes of which no attributes are waited for any more
        self._jobs: dict[tuple[int, int], int] = {}  # by cluster and proc, -1 for any
        self._jobs_of: dict[int, list[tuple[int, int]]] = {}
        self._ends: dict[int, set[int]] = {}  # by node, procs of whose end event 028 has told
        self._parts: dict[int, dict[int, str]] = {}

    # What is to be done.

    def before_ended(self, node: int, error: str) -> bool:
        """Whether what it publishes is to be read yet."""
        run = self.run
        if error or node not in self._of_dag.published or run.mode is Mode.DRY_RUN:
            return False
        if run.nodes.states[node] in _BEFORE_JOB or self.is_known(node):
            return False  # it has been done without a job
        run.nodes.move(node, Cause.NEEDS_RESULT, run.now)
        self.until[node] = run.now + RESULT_TIMEOUT_S
        self._fresh.append(node)
        return True

    def is_known(self, node: int) -> bool:
        """Whether the log has all that a node publishes which has ended well."""
        published = self._of_dag.published[node]
        if published.file and node not in self._told:
            return False
        if not published.attributes or node in self._late:
            return True
        jobs = self.run.job_table.by_node.get(node)
        ended = len(jobs.codes) if jobs is not None and jobs.cluster > 0 else 0
        return len(self._ends.get(node, ())) >= ended

    def work(self) -> None:
        """Have files read; give up what does not come."""
        run = self.run
        fresh, self._fresh = self._fresh, []
        for node in fresh:
            file = self._file(node) if node in self.until and node not in self._told else ""
            if file:
                self.asked.add(node)
                retry = run.nodes.retries.get(node, 0)
                run.emit(do.Ask(HELPER, ReadResult(node, retry, file)))
        for node, until in list(self.until.items()):
            if until > run.now:
                break
            if self._is_idle(node):
                name = run.dag.names[node]
                run.say(f"Warning: the nodes log has no attributes of the last job of node {name}")
                run.write(RESULT, node, self._record(node, NOTHING, ""))

    def deadline(self) -> float | None:
        """When something is to be given up."""
        return next((until for node, until in self.until.items() if self._is_idle(node)), None)

    def _is_idle(self, node: int) -> bool:
        return node not in self.run.written.of(RESULT) and node not in self.asked

    def _file(self, node: int) -> str:
        """The name of the file that this run of the node publishes, macros put in; '' if none."""
        run, file = self.run, self._of_dag.published[node].file
        if "$" not in file:
            return file
        own = run.settings.get(node)
        added = own.variables if own else ()
        variables = variables_in_force(run.dag.variables.get(node, ()), added)
        known = known_macros(run.dag.names[node], ((one.key, one.value) for one in variables))
        return expanded(file, {**known, "retry": str(run.nodes.retries.get(node, 0))})

    def _record(self, node: int, value: int, text: str) -> do.AppendJournalRecord:
        retry = self.run.nodes.retries.get(node, 0)
        return do.AppendJournalRecord("NODE_RESULT", node, retry, value, text=text)

    # A file has been read.

    def on_read(self, answer: ResultRead) -> None:
        """The answer: what the node's file has in it is written into the log."""
        run, node = self.run, answer.node
        if answer.retry != run.nodes.retries.get(node, 0) or node not in self.asked:
            return
        self.asked.discard(node)
        if run.nodes.states[node] != State.RESULT:
            return
        error, texts = answer.error, _texts(answer.pairs, run.dag.names[node])
        if not error and len(texts) >= MAX_PARTS:
            error = f"there is too much in it: {len(answer.pairs)} values"
        if error:
            file = self._file(node)
            unset = unset_macros(file)
            if unset:
                error = f"no VARS of the node sets $({unset[0]})"
            text = f"{UNREADABLE}: {file}: {error}"
            run.write(RESULT, node, self._record(node, FAILED, text))
            return
        count = len(texts)
        records = [
            self._record(node, MAX_PARTS * number + count, text)
            for number, text in enumerate(texts, start=1)
        ]
        run.write(RESULT, node, *records)

    # The log.

    def on_record(self, node: int, event: LogEvent) -> None:
        """A record of what the node has published has been read."""
        if self.run.nodes.states[node] != State.RESULT:
            return
        if event.value == FAILED:
            self._forget(node)
            lifecycle.fail_run(self.run, node, RETURN_NO_RESULT, event.text)
            return
        if event.value == NOTHING:
            self._late.add(node)
            self.run.written.drop(RESULT, node)
        else:
            self._take_part(node, *divmod(event.value, MAX_PARTS), event.text)
        self._conclude_if_known(node)

    def _take_part(self, node: int, number: int, parts: int, text: str) -> None:
        known = self._parts.setdefault(node, {})
        known[number] = text
        if len(known) >= parts:
            texts = [known[number] for number in sorted(self._parts.pop(node))]
            pairs = [pair for text in texts for pair in read_pairs(text)]
            self.values.setdefault(node, {}).update(pairs)
            self._told.add(node)
            self.run.written.drop(RESULT, node)

    def jobs_seen(self, node: int, jobs: Jobs) -> None:
        """Events 028 of its jobs will be its own."""
        if node in self._of_dag.published:
            job = jobs.cluster, -1 if jobs.only is None else jobs.only
            self._jobs[job] = node
            self._jobs_of.setdefault(node, []).append(job)

    def node_of(self, event: LogEvent) -> int | None:
        """Whose attributes an event 028 has, which comes after the end of its job."""
        if event.kind != EventKind.JOB_AD_INFORMATION:
            return None
        found = self._jobs.get((event.cluster, -1))
        return self._jobs.get((event.cluster, event.proc)) if found is None else found

    def on_job_ad(self, node: int, event: LogEvent) -> None:
        """Event 028: attributes of a job of the node."""
        run, published = self.run, self._of_dag.published.get(node)
        if published is None or not published.attributes:
            return
        if event.cluster != run.nodes.clusters[node] or run.nodes.states[node] == State.DONE:
            return  # of an earlier run, or too late
        final = event.value == EventKind.JOB_TERMINATED
        attributes = JobAttributes(tuple(read_pairs(event.text)), final)
        self.add(node, event.proc, attributes, published.attributes)
        self._conclude_if_known(node)

    def add(self, node: int, proc: int, attributes: JobAttributes, names: Sequence[str]) -> None:
        """Attributes of a job of the node: those that it publishes are kept."""
        wanted = {name.lower(): name for name in names}
        values = self.values.setdefault(node, {})
        for name, literal in attributes.pairs:
            if name.lower() in wanted:
                values[wanted[name.lower()]] = literal
        if attributes.final:
            self._ends.setdefault(node, set()).add(proc)

    def _conclude_if_known(self, node: int) -> None:
        if self.run.nodes.states[node] == State.RESULT and self.is_known(node):
            self._wait_no_more(node)
            lifecycle.succeed(self.run, node)

    # What was published counts no more.

    def _wait_no_more(self, node: int) -> None:
        self.until.pop(node, None)
        self.asked.discard(node)
        self.run.written.drop(RESULT, node)
        self._parts.pop(node, None)

    def _forget(self, node: int) -> None:
        self._wait_no_more(node)
        self._told.discard(node)
        self._late.discard(node)
        self.values.pop(node, None)
        self.restored.pop(node, None)
        self._ends.pop(node, None)

    def before_retry(self, node: int, _error: str) -> str:
        """Only what has ended well has published anything: what it adds was refused."""
        if self.run.nodes.states[node] == State.GROWING:
            self._forget(node)
        return ""

    def begins_anew(self, node: int, _why: Anew) -> None:
        """It publishes anew."""
        self._forget(node)


def _texts(pairs: Iterable[tuple[str, str]], name: str) -> list[str]:
    """The values in as many texts as have room in a record; at least one."""
    room = max(_ROOM - _size(name), _MIN_ROOM)
    texts, left = [""], room
    for one, literal in pairs:
        line = f"{one}={literal}\n"
        left -= _size(line)
        if left < 0 and texts[-1]:
            texts.append("")
            left = room - _size(line)
        texts[-1] += line
    return texts


def _size(text: str) -> int:
    """How many bytes a text takes in a record."""
    return len(text.encode("utf-8", "surrogateescape")) + sum(map(text.count, '\\"\n\t\r'))
