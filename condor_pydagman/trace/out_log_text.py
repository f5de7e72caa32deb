"""Those lines of `.dagman.out` that tell what the nodes log does not.

PRE scripts (stock DAGMan logs only that one made it skip the node), retries, failed submissions,
halts, throttles, counts of nodes, starts and ends of DAGMan.  Both programs write the same lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.trace.local_times import LocalTimes

START_OF_DAGMAN = b"(CONDOR_DAGMAN) STARTING UP"
# Words of the lines at the beginning of a run, the last one first.
BEGIN_OF_RUN = (b"MultiLogFiles: truncating log file", START_OF_DAGMAN)


class OutKind(Enum):
    """What a line tells."""

    START = "start"  # DAGMan has started
    VERSION = "version"  # text: of the program
    NEW_RUN = "new_run"  # the nodes log is emptied: what was before is another run's
    RECOVERY = "recovery"  # the nodes log is replayed
    TOLERANCE = "tolerance"  # number: of a node's jobs that may fail by the configuration
    RESCUE_FROM = "rescue_from"  # number: of the rescue file that is read
    RESCUE_READ = "rescue_read"  # text: its name
    RESCUE_TO = "rescue_to"  # text: name of the rescue file that is written
    SCRIPT_START = "script_start"  # text: PRE, POST, HOLD
    SCRIPT_END = "script_end"  # text: the same; number: exit code, negative for a signal
    SCRIPT_DEFERRED = "script_deferred"  # text: PRE, POST; number: exit code
    RETRY = "retry"  # number: of the retry
    NO_RETRY = "no_retry"
    SUBMIT_FAILURE = "submit_failure"  # text: why
    SKIPPED = "skipped"  # by its RUN_IF or an ENOUGH, or with its parents; text: why
    NO_SITE_YET = "no_site_yet"  # node: names of groups that wait for a site; text: why
    HALT = "halt"
    HALT_REASON = "halt_reason"  # text: what was said when it was halted
    RESUME = "resume"
    LIMIT = "limit"  # text: name in the job ad; number: 0 for none
    STATUS = "status"  # number: of the DAG's state
    TOTAL = "total"  # number: of nodes; the counts by state follow
    COUNTS = "counts"  # text: the counts
    ABORT = "abort"  # text: why
    REMOVED = "removed"  # by condor_rm
    END = "end"  # number: exit code


class OutLine(NamedTuple):
    """A line of `.dagman.out`.

    Attributes:
        what: what it tells, and what the other fields mean.
        time: seconds since the epoch; 0.0 if it can't be read.
        end: offset behind it in the file, bytes.
    """

    what: OutKind
    time: float
    node: str
    number: int
    text: str
    end: int


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
_SCRIPT_END = (
    r" [Ss]cript of [Nn]ode (?P<node>.+?) (?:completed successfully\.?"
    r"|failed with status (?P<number>-?\d{1,10})|died on (?P<signal>.+))"
)
# Each form by the characters that a line of it begins with.
_FORMS: Mapping[str, tuple[OutKind, str]] = {
    "Running P": (
        OutKind.SCRIPT_START,
        r"Running (?P<text>PRE|POST) script of Node (?P<node>.+)\.\.\.",
    ),
    "Running H": (
        OutKind.SCRIPT_START,
        r"Running (?P<text>HOLD) script of Node (?P<node>.+)\.\.\.",
    ),
    "Deferring": (
        OutKind.SCRIPT_DEFERRED,
        r"Deferring (?P<text>PRE|POST) script of node (?P<node>.+) for -?\d{1,10} seconds"
        r" \(exit status was (?P<number>-?\d{1,10})\)\.*",
    ),
    "PRE": (OutKind.SCRIPT_END, "(?P<text>PRE)" + _SCRIPT_END),
    "POST": (OutKind.SCRIPT_END, "(?P<text>POST)" + _SCRIPT_END),
    "HOLD": (OutKind.SCRIPT_END, "(?P<text>HOLD)" + _SCRIPT_END),
    "Retrying": (
        OutKind.RETRY,
        r"Retrying node (?P<node>.+) \(retry #(?P<number>\d{1,10}) of -?\d{1,10}\)\.*",
    ),
    "Aborting f": (OutKind.NO_RETRY, r"Aborting further retries of node (?P<node>\S+) .*"),
    "Shortcutting": (OutKind.NO_RETRY, r"Shortcutting node (?P<node>\S+) retries .*"),
    "Event: ULOG_SUBMIT_F": (
        OutKind.SUBMIT_FAILURE,
        r"Event: ULOG_SUBMIT_FAILURE for HTCondor Node (?P<node>.+?) \([-\d.]+\) \{[^}]*\}"
        r" ?(?P<text>.*)",
    ),
    "Node ": (
        OutKind.SKIPPED,
        r"Node (?P<node>\S+) is (?:skipped|not needed)(?:, since|:)"
        r" (?P<text>RUN_IF .*|ENOUGH .*|all its parents .*)",
    ),
    "No site": (
        OutKind.NO_SITE_YET,
        r"No site yet for group (?P<node>\S+(?:, \S+)*)(?: and \d{1,10} more)?: (?P<text>.+)",
    ),
    "Of ": (OutKind.TOTAL, r"Of (?P<number>\d{1,10}) nodes total:"),
    # a million nodes leave no blank before their number
    **dict.fromkeys(" 123456789", (OutKind.COUNTS, r" *(?P<text>\d{1,10}(?: +\d{1,10}){7}) *")),
    "DAG status": (OutKind.STATUS, r"DAG status: (?P<number>\d) \(DAG_STATUS_\w+\)"),
    "Halting": (OutKind.HALT, r"Halting DAGMan prog\w+\.\.\."),
    "Halt r": (OutKind.HALT_REASON, r"Halt reason: (?P<text>.+)"),
    "Pause r": (OutKind.HALT_REASON, r"Pause reason: (?P<text>.+)"),
    "DAG Pause": (OutKind.HALT, r"DAG Pause: Freezing all work\.\.\."),
    "Restoring": (OutKind.HALT, r"Restoring halted state\."),
    "The DAG stays": (OutKind.HALT, r"(?P<text>The DAG stays halted by [\w ]+)"),
    "Resuming": (OutKind.RESUME, r"Resuming DAG progress\.\.\."),
    "DAG Un": (OutKind.RESUME, r"DAG Un-Pause: Resuming work\.\.\."),
    "\tMax": (OutKind.LIMIT, r"\tMaximum (?P<text>[A-Z][A-Za-z ]+?)-*: (?P<number>\d{1,10})"),
    "Writing R": (OutKind.RESCUE_TO, r"Writing Rescue DAG to (?P<text>.+?)\.\.\."),
    "Found rescue": (OutKind.RESCUE_FROM, r"Found rescue DAG number (?P<number>\d{1,4})\b.*"),
    "Rescue DAG n": (OutKind.RESCUE_FROM, r"Rescue DAG number (?P<number>\d{1,4}) specified.*"),
    "USING R": (OutKind.RESCUE_READ, r"USING RESCUE DAG (?P<text>.+)"),
    "Aborting DAG b": (
        OutKind.ABORT,
        r"(?P<text>Aborting DAG because (?:we got the ABORT exit value|of brake) .*)",
    ),
    "Received SIGUSR1": (OutKind.REMOVED, r"Received SIGUSR1"),
    "** ": (
        OutKind.START,
        r"\*\* (?:.*\(CONDOR_DAGMAN\) STARTING UP|\$CondorVersion: (?P<text>.*?) \$)",
    ),
    "MultiLogFiles: t": (OutKind.NEW_RUN, r"MultiLogFiles: truncating log file .*"),
    "DAGMAN_NODE": (
        OutKind.TOLERANCE,
        r"DAGMAN_NODE_JOB_FAILURE_TOLERANCE setting: (?P<number>\d{1,9})",
    ),
    "Running in": (OutKind.RECOVERY, r"Running in RECOVERY mode.*"),
    "****": (OutKind.END, r"\*{4} .* EXITING WITH STATUS (?P<number>\d{1,10})"),
}


_PREFIXES = tuple(prefix.encode() for prefix in _FORMS)


@cache
def _form(prefix: str) -> tuple[OutKind, re.Pattern[str]]:
    """A form, compiled when a line of it is met first."""
    kind, pattern = _FORMS[prefix]
    return kind, re.compile(pattern)


def out_lines(data: bytes, begin: int, times: LocalTimes) -> Iterator[OutLine]:
    """The lines that tell something, of a part of the file that begins at offset `begin`.

    A line at the end that is not whole is passed over.
    """
    at = begin
    for line in data.split(b"\n")[:-1]:
        at += len(line) + 1
        head = _HEAD.match(line)
        if head is not None and line.startswith(_PREFIXES, head.end()):
            text = line[head.end() :].decode("utf-8", "surrogateescape").rstrip("\r")
            for prefix in _FORMS:
                if text.startswith(prefix):
                    kind, pattern = _form(prefix)
                    found = pattern.fullmatch(text)
                    if found is not None:
                        yield _out_line(kind, times.seconds(head[1].decode()), found, at)


def _out_line(kind: OutKind, time: float, found: re.Match[str], end: int) -> OutLine:
    groups = found.groupdict()
    text, number = groups.get("text") or "", int(groups.get("number") or 0)
    if groups.get("signal"):
        number = -_signal(groups["signal"])
    elif kind is OutKind.START and text:
        kind = OutKind.VERSION
    elif kind is OutKind.LIMIT:
        text = LIMITS.get(text, text)
    return OutLine(kind, time, groups.get("node") or "", number, text, end)


def _signal(words: str) -> int:
    """The number in `signal 9` and the like; 1 if there is none."""
    found = re.search(r"\d{1,3}", words)
    return int(found[0]) if found is not None else 1
