"""The lines of `.dagman.out` that readers want: the only place that knows how they look.

Most tell what the nodes log does not: PRE scripts (stock DAGMan logs only that one made it skip the
node), failed submissions, halts, throttles, counts of nodes, starts and ends of DAGMan.  That nodes
have failed is read for those who have nothing but this file.  Both programs write the same lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import DagStatus

START_OF_DAGMAN = b"(CONDOR_DAGMAN) STARTING UP"
# Words of the lines at the beginning of a run, the last one first.
BEGIN_OF_RUN = (b"MultiLogFiles: truncating log file", START_OF_DAGMAN)


class OutKind(Enum):
    """What a line tells."""

    START = "start"  # DAGMan has started
    VERSION = "version"  # text: of the program
    NODES_LOG = "nodes_log"  # text: its path
    NEW_RUN = "new_run"  # the nodes log is emptied: what was before is another run's
    RECOVERY = "recovery"  # the nodes log is replayed
    TOLERANCE = "tolerance"  # number: of a node's jobs that may fail by the configuration
    KNOB = "knob"  # text: its name, or an option in its place; number: 1 for True
    KNOB_PLACE = "knob_place"  # node: name of the knob; number; text: where it was set
    RESCUE_FROM = "rescue_from"  # number: of the rescue file that is read
    RESCUE_READ = "rescue_read"  # text: its name
    RESCUE_TO = "rescue_to"  # text: name of the rescue file that is written
    SCRIPT_START = "script_start"  # text: PRE, POST, HOLD
    SCRIPT_END = "script_end"  # text: the same; number: exit code, negative for a signal
    SCRIPT_ERROR = "script_error"  # text: why a PRE or POST script could not be started
    SCRIPT_DEFERRED = "script_deferred"  # text: PRE, POST, HOLD; number: exit code
    RETRY = "retry"  # number: of the retry
    JOB_FAILURE = "job_failure"  # text: how
    SUBMIT_FAILURE = "submit_failure"  # text: why
    QUEUE_FULL = "queue_full"  # text: why the schedd takes no job; '' when it does again
    NO_SITE_YET = "no_site_yet"  # node: names of groups that wait for a site; text: why
    HALT = "halt"  # text: PAUSED, or more about it
    HALT_REASON = "halt_reason"  # text: what was said when it was halted
    RESUME = "resume"
    RESUME_REASON = "resume_reason"  # text: what was said when it was resumed
    STEERED = "steered"  # node; text: what is done to its jobs, and who wants it
    LIMIT = "limit"  # text: name in the job ad; number: 0 for none
    STATUS = "status"  # number: of the DAG's state
    TOTAL = "total"  # number: of nodes; the counts by state follow
    COUNTS = "counts"  # text: the counts
    PLACE = "place"  # tells nothing any more, but ids of events rest on where such lines are
    ERROR = "error"  # text: the line
    FAILED_LIST = "failed_list"  # the list of the nodes that have failed begins
    LISTED_NODE = "listed_node"
    LISTED_ERROR = "listed_error"  # text: why the node before it has failed
    LIST_END = "list_end"
    ABORT = "abort"  # text: why
    REMOVED = "removed"  # by condor_rm
    ASKED = "asked"  # node: who asks something of the whole DAG; text: halt, resume, cancel-all
    END = "end"  # number: exit code


# Kinds on which no ids of events rest: those that people hold are from before these were read.
UNCOUNTED = frozenset((
    *(OutKind.NODES_LOG, OutKind.KNOB, OutKind.JOB_FAILURE, OutKind.ERROR, OutKind.ASKED),
    *(OutKind.RESUME_REASON, OutKind.STEERED, OutKind.KNOB_PLACE, OutKind.QUEUE_FULL),
    *(OutKind.FAILED_LIST, OutKind.LISTED_NODE, OutKind.LISTED_ERROR, OutKind.LIST_END),
    OutKind.SCRIPT_ERROR,
))  # fmt: skip


class OutLine(NamedTuple):
    """A line of `.dagman.out`."""

    what: OutKind  # what it tells, and what the other fields mean
    time: float  # seconds since the epoch; 0.0 if it can't be read
    node: str
    number: int
    text: str
    end: int  # offset behind it in the file, bytes
    delay_s: int = 0  # until a script that is put off runs again


LIMITS = {
    "Idle Jobs": "DAGMan_MaxIdle",
    "Pre Scripts": "DAGMan_MaxPreScripts",
    "Hold Scripts": "DAGMan_MaxHoldScripts",
    "Post Scripts": "DAGMan_MaxPostScripts",
    "Submitted Nodes": "DAGMan_MaxJobs",
    "Submits Per Interval": "DAGMan_MaxSubmitsPerInterval",
}
_HEAD = re.compile(
    rb"\t?((?:\d\d/\d\d/\d\d|\d{4}-\d\d-\d\d)[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?"
    rb"|\(?\d{9,11}(?:\.\d+)?\)?)"
    rb" (?:\([^)\n]{1,40}\) )*"
)
_SCRIPTS = ("PRE", "POST", "HOLD")
_SCRIPT_START = r"Running (?P<text>PRE|POST|HOLD) script of Node (?P<node>.+)\.\.\."
_SCRIPT_END = (
    r" [Ss]cript of [Nn]ode (?P<node>.+?) (?:completed successfully\.?"
    r"|failed with status (?P<number>-?\d{1,10})|died on (?P<signal>.+))"
)
PAUSED = "DAG Pause"  # nothing at all is started
_KNOB = r"(?P<text>DAGMAN_[A-Z_]{1,60}) setting: (?:(?P<yes>True)|False)"
# What a line begins with, what it tells, and its form.
_FORMS = (
    ("Running P", OutKind.SCRIPT_START, _SCRIPT_START),
    ("Running H", OutKind.SCRIPT_START, _SCRIPT_START),
    (
        "Error: Failed to execute P",
        OutKind.SCRIPT_ERROR,
        r"Error: Failed to execute (?:PRE|POST) for Node (?P<node>\S+): (?P<text>.+)",
    ),
    (
        "Deferring",
        OutKind.SCRIPT_DEFERRED,
        r"Deferring (?P<text>PRE|POST|HOLD) script of node (?P<node>.+) for (?P<delay>-?\d{1,10})"
        r" seconds \(exit status was (?P<number>-?\d{1,10})\)\.*",
    ),
    *((kind, OutKind.SCRIPT_END, f"(?P<text>{kind}){_SCRIPT_END}") for kind in _SCRIPTS),
    (
        "Retrying",
        OutKind.RETRY,
        r"Retrying node (?P<node>.+) \(retry #(?P<number>\d{1,10}) of -?\d{1,10}\)\.*",
    ),
    (
        "Event: ULOG_SUBMIT_F",
        OutKind.SUBMIT_FAILURE,
        r"Event: ULOG_SUBMIT_FAILURE for HTCondor Node (?P<node>.+?) \([-\d.]+\) \{[^}]*\}"
        r" ?(?P<text>.*)",
    ),
    (
        "Node ",
        OutKind.JOB_FAILURE,
        r"Node (?P<node>\S+) job proc \([-\d.]+\) (?P<text>failed with \w+ -?\d{1,10})\.?",
    ),
    (
        "Node ",
        OutKind.STEERED,
        r"Node (?P<node>.+) is (?P<text>(?:put on hold|released), as .+ wants)",
    ),
    ("Aborting f", OutKind.PLACE, r"Aborting further retries of node \S+ .*"),
    ("Shortcutting", OutKind.PLACE, r"Shortcutting node \S+ retries .*"),
    (
        "Node ",
        OutKind.PLACE,
        r"Node \S+ is (?:skipped|not needed)(?:, since|:)"
        r" (?:RUN_IF .*|ENOUGH .*|all its parents .*)",
    ),
    (
        "The queue of",
        OutKind.QUEUE_FULL,
        r"The queue of the schedd (?:has room again|is full, nodes wait for room: (?P<text>.+))",
    ),
    (
        "No site",
        OutKind.NO_SITE_YET,
        r"No site yet for group (?P<node>\S+(?:, \S+)*)(?: and \d{1,10} more)?: (?P<text>.+)",
    ),
    ("Of ", OutKind.TOTAL, r"Of (?P<number>\d{1,10}) nodes total:"),
    # a million nodes leave no blank before their number
    *(
        (first, OutKind.COUNTS, r" *(?P<text>\d{1,10}(?: +\d{1,10}){7}) *")
        for first in " 123456789"
    ),
    ("ERROR: the following", OutKind.FAILED_LIST, r"ERROR: the following \w+\(s\) failed:"),
    ("      Node Name: ", OutKind.LISTED_NODE, r" +Node Name: (?P<node>.+)"),
    ("          Error: ", OutKind.LISTED_ERROR, r" +Error: (?P<text>.+)"),
    ("-------------------------", OutKind.LIST_END, r"-+\t<END>"),
    *((word, OutKind.ERROR, rf"(?P<text>{word}\b.*)") for word in ("ERROR", "Error", "FATAL")),
    ("DAG status", OutKind.STATUS, r"DAG status: (?P<number>\d) \(DAG_STATUS_\w+\)"),
    ("Halting", OutKind.HALT, r"Halting DAGMan prog\w+\.\.\."),
    ("Halt r", OutKind.HALT_REASON, r"Halt reason: (?P<text>.+)"),
    ("Pause r", OutKind.HALT_REASON, r"Pause reason: (?P<text>.+)"),
    ("DAG Pause", OutKind.HALT, rf"(?P<text>{PAUSED}): Freezing all work\.\.\."),
    ("Restoring", OutKind.HALT, r"Restoring halted state\."),
    ("The DAG stays", OutKind.HALT, r"(?P<text>The DAG stays halted by [\w ]+)"),
    ("Resuming", OutKind.RESUME, r"Resuming DAG progress\.\.\."),
    ("Resume r", OutKind.RESUME_REASON, r"Resume reason: (?P<text>.+)"),
    ("DAG Un", OutKind.RESUME, r"DAG Un-Pause: Resuming work\.\.\."),
    ("\tMax", OutKind.LIMIT, r"\tMaximum (?P<text>[A-Z][A-Za-z ]+?)-*: (?P<number>\d{1,10})"),
    ("Writing R", OutKind.RESCUE_TO, r"Writing Rescue DAG to (?P<text>.+?)\.\.\."),
    ("Found rescue", OutKind.RESCUE_FROM, r"Found rescue DAG number (?P<number>\d{1,4})\b.*"),
    ("Rescue DAG n", OutKind.RESCUE_FROM, r"Rescue DAG number (?P<number>\d{1,4}) specified.*"),
    ("USING R", OutKind.RESCUE_READ, r"USING RESCUE DAG (?P<text>.+)"),
    (
        "Aborting DAG b",
        OutKind.ABORT,
        r"(?P<text>Aborting DAG because (?:we got the ABORT exit value|of brake) .*)",
    ),
    ("Received SIGUSR1", OutKind.REMOVED, r"Received SIGUSR1"),
    (
        "** ",
        OutKind.START,
        r"\*\* (?:.*\(CONDOR_DAGMAN\) STARTING UP|\$CondorVersion: (?P<text>.*?) \$)",
    ),
    ("Default node log", OutKind.NODES_LOG, r"Default node log file is: <(?P<text>.*)>"),
    ("MultiLogFiles: t", OutKind.NEW_RUN, r"MultiLogFiles: truncating log file .*"),
    (
        "DAGMAN_NODE",
        OutKind.TOLERANCE,
        r"DAGMAN_NODE_JOB_FAILURE_TOLERANCE setting: (?P<number>\d{1,9})",
    ),
    ("DAGMAN_ALWAYS_RUN_P", OutKind.KNOB, _KNOB),
    ("DAGMAN_PUT_FAILED", OutKind.KNOB, _KNOB),
    ("DAGMAN_MUNGE", OutKind.KNOB, _KNOB),
    (
        "DAGMAN_MAX_",
        OutKind.KNOB_PLACE,
        r"(?P<node>DAGMAN_MAX_[A-Z_]{1,60}) = (?P<number>\d{1,10}), set in (?P<text>.+)",
    ),
    ("argv[", OutKind.KNOB, r'argv\[\d{1,3}\] == "-(?P<text>(?:Dont)?AlwaysRunPost)"'),
    ("Running in", OutKind.RECOVERY, r"Running in RECOVERY mode.*"),
    ("****", OutKind.END, r"\*{4} .* EXITING WITH STATUS (?P<number>\d{1,10})"),
)
_ASKED = re.compile(r"(?P<node>[^\s:]+) asks for the DAG: (?P<text>halt|resume|cancel-all)(?: .*)?")
_ASKS = b" asks for the DAG: "  # in a line that begins with any name
_BY_FIRST: dict[int, list[tuple[bytes, OutKind, str]]] = {}  # forms, by the byte they begin with
for _prefix, _kind, _form in _FORMS:
    _BY_FIRST.setdefault(ord(_prefix[0]), []).append((_prefix.encode(), _kind, _form))
_PREFIXES = {first: tuple(form[0] for form in forms) for first, forms in _BY_FIRST.items()}
_OF_COUNTS, _OF_NODE = rb" *\d{1,10} +\d", rb"Node (?!\S+ job proc \(\S+ completed)"
_compiled = cache(re.compile)  # a form when a line of it is met first


@cache
def _telling(some_ask: bool) -> re.Pattern[bytes]:
    """Finds the line ends before lines that may tell something: most lines do not.

    Args:
        some_ask: whether those that begin with any name are wanted.
    """
    forms = [form for forms in _BY_FIRST.values() for form in forms]
    begins = {re.escape(prefix) for prefix, kind, _ in forms if kind is not OutKind.COUNTS}
    words = sorted({*begins - {re.escape(b"Node ")}, _OF_COUNTS, _OF_NODE})
    asks = (b"[^\n]*" + _ASKS,) if some_ask else ()
    return re.compile(b"\n(?:%b)?(?:%b)" % (_HEAD.pattern, b"|".join((*words, *asks))))


def out_lines(
    data: bytes, begin: int = 0, seconds: Callable[[str], float] | None = None
) -> Iterator[OutLine]:
    """The lines that tell something, of a part of the file that begins at offset `begin`.

    A line at the end that is not whole is passed over.

    Args:
        seconds: gives those since the epoch of a time stamp; None for readers who want no times,
            nor need lines to have any.
    """
    for begun in _telling(_ASKS in data).finditer(b"\n" + data):
        start, end = begun.start(), data.find(b"\n", begun.start())
        if end < 0:
            return
        line, at = data[start:end], begin + end + 1
        head = _HEAD.match(line)
        if head is None and seconds is not None:
            continue
        start = head.end() if head is not None else 0
        first = line[start] if start < len(line) else 0
        is_form = first in _PREFIXES and line.startswith(_PREFIXES[first], start)
        if is_form or _ASKS in line:
            kind, found = _form_of(line[start:])
            if found is not None:
                stamp = head[1].decode() if head is not None else ""
                time = seconds(stamp) if seconds is not None else 0.0
                yield _told(kind, time, found, at)


def _form_of(line: bytes) -> tuple[OutKind, re.Match[str] | None]:
    """Which form a line has that begins as one of them."""
    text = line.decode("utf-8", "surrogateescape").rstrip("\r")
    for prefix, kind, form in _BY_FIRST.get(line[0], ()):
        if line.startswith(prefix):
            found = _compiled(form).fullmatch(text)
            if found is not None:
                return kind, found
    return OutKind.ASKED, _ASKED.fullmatch(text)


def _told(kind: OutKind, time: float, found: re.Match[str], end: int) -> OutLine:
    groups = found.groupdict()
    text, number = groups.get("text") or "", int(groups.get("number") or 0)
    if groups.get("signal"):
        named = re.search(r"\d{1,3}", groups["signal"])  # as in `signal 9`
        number = -int(named[0]) if named is not None else -1
    elif kind is OutKind.START and text:
        kind = OutKind.VERSION
    elif groups.get("yes") or text == "AlwaysRunPost":
        number = 1
    elif kind is OutKind.LIMIT:
        text = LIMITS.get(text, text)
    delay_s = int(groups.get("delay") or 0)
    return OutLine(kind, time, groups.get("node") or "", number, text, end, delay_s)


def knobs_of(line: OutLine) -> dict[str, int]:
    """What a TOLERANCE or KNOB line says, by fields of Config; of others nothing."""
    if line.what is OutKind.TOLERANCE:
        return {"node_job_failure_tolerance": line.number}
    field = _FIELDS.get(line.text) if line.what is OutKind.KNOB else None
    return {} if field is None else {field: line.number}


_FIELDS = {
    "DAGMAN_ALWAYS_RUN_POST": "always_run_post",
    "AlwaysRunPost": "always_run_post",
    "DontAlwaysRunPost": "always_run_post",
    "DAGMAN_PUT_FAILED_JOBS_ON_HOLD": "put_failed_jobs_on_hold",
    "DAGMAN_MUNGE_NODE_NAMES": "munge_node_names",
}


class RunLog(NamedTuple):
    """What is known of the last run that the log tells of."""

    # the number of nodes, then done, pre, queued, post, ready, unready, failed, futile; () if there
    # is no table
    counts: tuple[int, ...] = ()
    # number of the DAG's state (`vocabulary.DagStatus`), None if not told
    dag_status: int | None = None
    exit_code: int | None = None  # of condor_dagman, None if it has not ended


def last_run(data: bytes) -> RunLog:
    """What a log, or the end of one, tells of its last run."""
    run, total = RunLog(), None
    for line in out_lines(data):
        if line.what is OutKind.START:
            run, total = RunLog(), None
        elif line.what is OutKind.END:
            run = run._replace(exit_code=line.number)
        elif line.what is OutKind.HALT:  # the next table may be long in coming
            run = run._replace(dag_status=int(DagStatus.HALTED))
        elif line.what is OutKind.RESUME:
            run = run._replace(dag_status=None)
        elif line.what is OutKind.STATUS:
            run = run._replace(dag_status=line.number)
        elif line.what is OutKind.TOTAL:
            total = line.number
        elif line.what is OutKind.COUNTS and total is not None:
            run = run._replace(counts=(total, *map(int, line.text.split())))
    return run


def nodes_log(data: bytes) -> str:
    """The nodes log that the head of a `.dagman.out` names last; '' if it names none."""
    named = [line.text for line in out_lines(data) if line.what is OutKind.NODES_LOG]
    return named[-1] if named else ""


SUBMIT, EXECUTE, TERMINATED, ABORTED = "SUBMIT", "EXECUTE", "JOB_TERMINATED", "JOB_ABORTED"
HELD, RELEASED, EVICTED = "JOB_HELD", "JOB_RELEASED", "JOB_EVICTED"
LOST = ("SHADOW_EXCEPTION", "JOB_RECONNECT_FAILED")  # evicted, too
RESULT = "result"  # of a job that has ended by itself

_ID = rb"\((\d{1,10})\.(\d{1,10})\.(\d{1,10})\)"
_EVENT = re.compile(
    rb"Event: ULOG_(SUBMIT|EXECUTE|JOB_TERMINATED|JOB_ABORTED|JOB_HELD|JOB_RELEASED|JOB_EVICTED"
    rb"|SHADOW_EXCEPTION|JOB_RECONNECT_FAILED) for HTCondor Node (.+?) " + _ID + rb" \{([^}]*)\}"
)
_RESULT = re.compile(
    rb"Node (.+?) job proc " + _ID + rb" (?:completed successfully\."
    rb"|failed with status (\d{1,10})\.|failed with signal (\d{1,3})\.)"
)


class JobLine(NamedTuple):
    """A line that tells of a job."""

    what: str  # the name of an event of the nodes log, or RESULT
    time: float  # of the event, seconds since the epoch; 0.0 if there is none
    node: str  # its full name
    job: tuple[int, int, int]  # cluster, proc and subproc
    value: int  # of a RESULT: exit code, or negative signal
    end: int  # offset behind the line in the file, bytes


def job_lines(data: bytes, begin: int, seconds: Callable[[str], float]) -> Iterator[JobLine]:
    """The lines that tell of jobs, of a part of the file that begins at offset `begin`; `seconds`
    gives those since the epoch of a time stamp."""
    for found in re.finditer(rb"[^\n]*\n", data):
        line, end = found[0], begin + found.end()
        event = _EVENT.search(line) if b"Event: ULOG_" in line else None
        if event is not None:
            what, node, *ids, stamp = event.groups()
            time = seconds(stamp.decode("ascii", "replace"))
            yield JobLine(what.decode(), time, _name(node), _job(ids), 0, end)
        elif b" job proc (" in line:
            result = _RESULT.search(line)
            if result is not None:
                node, *ids, status, signal = result.groups()
                value = -int(signal) if signal else int(status or 0)
                yield JobLine(RESULT, 0.0, _name(node), _job(ids), value, end)


def _name(node: bytes) -> str:
    return node.decode("utf-8", "surrogateescape")


def _job(ids: list[bytes]) -> tuple[int, int, int]:
    cluster, proc, subproc = map(int, ids)
    return cluster, proc, subproc
