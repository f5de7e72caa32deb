"""The input of a check (a World) and its result (Findings): codes, severities, places.

Codes are stable: scripts filter by them.  DAG1xx is what DAGMan refuses, DAG2xx the graph, DAG3xx
files, DAG4xx lines that do nothing or not what they seem to.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, IntEnum
from typing import Any, Protocol

from condor_pydagman.config import Config
from condor_pydagman.data_requests.requests import Allocate
from condor_pydagman.errors import DagFileError
from condor_pydagman.feature_table import OF_CODE, own
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import number_of

MAX_KEPT = 100  # of one code: a million nodes may share a mistake


class FileKind(Enum):
    """What stands at a path."""

    MISSING = "missing"
    FILE = "file"
    EXECUTABLE = "executable"
    OTHER = "other"  # a directory, a FIFO, a device, or nothing that we may look at


class Reading(NamedTuple):
    """What HTCondor's own readers make of a submit description."""

    problem: str = ""  # what they say against it; '' if nothing, or if it is not known
    # the list of common input files of its first job; None if it has none
    common_input: str | None = None
    warnings: Sequence[str] = ()  # of a description without a problem
    paths: Sequence[str] = ("", "")  # initial directory and proxy of its jobs; '' if it has none
    unread: str = ""  # why it was not read, '' if it was


class World(Protocol):
    """What a check may ask of the world outside.  Relative paths are from the start directory."""

    def read_text(self, path: str) -> str:
        """The text of a file.

        Raises:
            OSError, FileError: it can't be read.
        """

    def read_blocks(self, path: str) -> Iterator[str]:
        """As `read_text`, in blocks that end at line ends; the call opens the file."""

    def kind(self, path: str) -> FileKind:
        """What stands at `path`."""

    def is_directory(self, path: str) -> bool:
        """Whether `path` is a directory."""

    def absolute(self, path: str) -> str:
        """The full name of `path`."""

    def is_knob(self, name: str) -> bool:
        """Whether a macro of that name may come from HTCondor's configuration."""

    def reading(self, text: str, directory: str, name: str, source: str = "") -> Reading:
        """What HTCondor's own readers say of a submit description.

        Args:
            name: how their warnings call it.
            source: the file that it is in; '' for the DAG file.
        """

    def expression_problems(self, texts: list[str]) -> list[str]:
        """Why HTCondor can't read each of these ClassAd expressions; '' for those that it can."""

    def config(self) -> Config | None:
        """The knobs of DAGMan, without the DAG's CONFIG file; None if they can't be known."""

    def obstacle(self, feature: str, dag: Dag) -> str:
        """Why DAGMan refuses what a DAG has of a feature; '' if it does not, or if that can't be
        known."""

    def space_problem(self, request: Allocate) -> str:
        """Why an allocation can't be made, as a clause; '' if it can, or that can't be known."""

    def unreadable(self, text: str, directory: str, source: str = "") -> str:
        """Which line of a description can't be read for sure, and why; '' if there is none."""

    def unfollowed(self, text: str, directory: str, source: str = "") -> tuple[str, str]:
        """Of what a description names: what is not read or run, and why; and else the file that it
        includes and that is not there."""

    def foreseen(self, feature: str, dag: Dag) -> tuple[Sequence[str], Mapping[str, Any]]:
        """What a feature is to do in a DAG, as far as that is known without asking the pool: for
        people, and for programs."""


class Severity(IntEnum):
    """How bad a finding is: an error keeps DAGMan or a node from doing its work, for certain."""

    INFO = 0
    WARNING = 1
    ERROR = 2


class Code(NamedTuple):
    """One kind of finding: what it is about, and what to do about it."""

    severity: Severity
    title: str
    hint: str = ""


_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

# Those of the core; the others are rows in `CODES` of the modules `lint` of features.
CODES: dict[str, Code] = {
    "DAG101": Code(_ERROR, "a command that can't be read"),
    "DAG102": Code(_ERROR, "a line that does not start with a command"),
    "DAG103": Code(_ERROR, "a DAG file, INCLUDE or SPLICE that can't be read"),
    "DAG104": Code(_ERROR, "a command that can't be carried out"),
    "DAG105": Code(
        _WARNING,
        "a command that DAGMan drops, because the file ends after its backslash",
        "remove the backslash, or add the rest of the command",
    ),
    "DAG106": Code(_WARNING, "a warning from DAGMan itself"),
    "DAG201": Code(
        _ERROR, "nodes that wait for each other in a cycle", "remove one of these edges"
    ),
    "DAG202": Code(
        _WARNING,
        "nodes that never run, because they are on or behind a cycle",
        "they run once the cycle is gone",
    ),
    "DAG203": Code(
        _WARNING,
        "a category with MAXJOBS 0: its nodes never run",
        "set a limit of 1 or more; for no limit, omit MAXJOBS",
    ),
    "DAG204": Code(
        _WARNING,
        "nodes that never run, because they wait for a category with MAXJOBS 0",
        "they run once the category has a limit of 1 or more",
    ),
    "DAG205": Code(
        _WARNING,
        "a DONE node with parents that are not done",
        "its children start before those parents have run; mark the parents DONE too",
    ),
    "DAG206": Code(
        _WARNING,
        "a category that no MAXJOBS, SHARED_LIMIT, ENOUGH, BRAKE or RUN_IF names",
        "add a MAXJOBS line with its name, or remove the category",
    ),
    "DAG207": Code(
        _WARNING,
        "a MAXJOBS or a SHARED_LIMIT for a category without nodes",
        "categories of a splice are named splice+category; check the spelling",
    ),
    "DAG208": Code(
        _INFO,
        "a node without edges in a DAG that has some",
        "if it depends on other nodes, add it to a PARENT line",
    ),
    "DAG301": Code(
        _ERROR, "a submit file that does not exist", "check its name and the node's DIR"
    ),
    "DAG302": Code(
        _ERROR,
        "a script that does not exist",
        "DAGMan looks for it in the node's directory, never in PATH",
    ),
    "DAG303": Code(_ERROR, "a script that can't be executed", "make it executable with chmod +x"),
    "DAG304": Code(
        _ERROR, "a SUBDAG whose DAG file does not exist", "check its name and the node's DIR"
    ),
    "DAG305": Code(
        _WARNING,
        "an output or error file that several nodes overwrite",
        "use $(JOB), $(Cluster) or a macro that VARS sets for each node in the name",
    ),
    "DAG306": Code(
        _WARNING,
        "a DAG in /tmp, where its nodes log may be lost",
        "move the DAG to a directory that nobody cleans, or set DAGMAN_AVOID_SLASH_TMP to False",
    ),
    "DAG307": Code(_WARNING, "a submit file that can't be read"),
    "DAG308": Code(_ERROR, "a CONFIG file that condor_submit_dag refuses", "check its name"),
    "DAG309": Code(_ERROR, "a request of a DATA node with an error"),
    "DAG310": Code(
        _ERROR,
        "a value in a submit description that HTCondor refuses",
        "the node can't be submitted with this value",
    ),
    "DAG311": Code(
        _ERROR,
        "a file or directory in a submit description that does not exist at the start, so that the"
        " job is held",
        "check its name; it is relative to the node's DIR and the description's initialdir",
    ),
    "DAG312": Code(
        _ERROR,
        "a missing directory, proxy, list of items or included file without which a node can't be"
        " submitted",
        "check its name, and the node's DIR",
    ),
    "DAG313": Code(
        _WARNING,
        "requests of a DATA node in an order that makes no sense for the allocation they name",
        "requests that name one allocation run in the order of the file; all others run at once",
    ),
    "DAG314": Code(
        _WARNING,
        "an allocation that can't be made: it has no size, or there is not so much space",
        "PYDAGMAN_PLACEMENT_CAPACITY says how much can be allocated where; without a size, only a "
        "module of the site makes allocations",
    ),
    "DAG315": Code(
        _WARNING,
        "a pattern whose destination is no directory: it is taken for the name of one file",
        "end dest_url in / to transfer all files that match",
    ),
    "DAG316": Code(
        _WARNING,
        "requests of one file with the same destination: the one that ends last wins",
        "they run at once; give each a destination of its own, or make a node for each",
    ),
    "DAG317": Code(
        _INFO,
        "a submit description that is not checked in full",
        "a check runs no command, and opens only files of the owner of the description that are no "
        "links (docs/security.md)",
    ),
    "DAG318": Code(
        _WARNING,
        "an executable without x bit: where no file transfer sets it, the job is held",
        "make it executable with chmod +x",
    ),
    "DAG319": Code(
        _WARNING,
        "a file of DAGMan's own in a directory that does not exist at the start",
        "make the directory: until then DAGMan writes nothing there, and tells it in its log only",
    ),
    "DAG320": Code(
        _WARNING,
        "a file or directory in a submit description that does not exist at the start: the job is"
        " held if HTCondor transfers the file, or for an output file, if it transfers none",
        "check its name; should_transfer_files says whether files are transferred",
    ),
    "DAG321": Code(
        _WARNING,
        "a number of jobs, or a request for resources, that does not mean what it says",
        "write a number; My.NAME = VALUE sets an attribute that an expression can name",
    ),
    "DAG401": Code(
        _WARNING,
        "a macro of VARS that no submit description uses",
        "check its spelling in the VARS line and in the submit description",
    ),
    "DAG402": Code(
        _WARNING,
        "a macro of a submit description that nothing sets",
        "it becomes an empty string; set it by VARS or in the submit file, or give it a default: "
        "$(name:default)",
    ),
    "DAG403": Code(
        _WARNING,
        "PRE_SKIP 0, which has no effect: exit code 0 means that the PRE script succeeded",
        "use the exit code with which the script requests to skip the node",
    ),
    "DAG404": Code(
        _WARNING,
        "PRE_SKIP of a node without PRE script",
        "add a SCRIPT PRE line, or remove PRE_SKIP",
    ),
    "DAG405": Code(_INFO, "RETRY 0, which is the default", "remove the line"),
    "DAG406": Code(
        _INFO,
        "ABORT-DAG-ON 0, which ends the DAG when the node succeeds",
        "if you do not want this, use the exit code of the failure",
    ),
    "DAG407": Code(
        _INFO, "a SUBMIT-DESCRIPTION that no node uses", "check its spelling, or remove it"
    ),
    "DAG408": Code(
        _WARNING,
        "an option of RETRY, or of DEFER, without effect",
        "BACKOFF and MAX-DELAY need a DELAY, which is the minimum; values that are not in ONLY-IF "
        "are not retried anyway",
    ),
    "DAG409": Code(
        _WARNING,
        "a return value in both ONLY-IF and UNLESS-EXIT of a RETRY, which is therefore not retried",
        "list it in only one of them",
    ),
    "DAG411": Code(
        _INFO,
        "TIMEOUT or an option of RETRY or DEFER that only condor_pydagman has",
        "nothing is wrong if condor_pydagman runs the DAG; for the stock condor_dagman, remove it: "
        "that refuses the line, or reads only the first of several codes after UNLESS-EXIT",
    ),
    "DAG416": Code(
        _WARNING,
        "a macro in the name of a file of CACHE or PUBLISH that nothing sets",
        "you can use $(JOB) and the keys of the node's VARS there",
    ),
    "DAG418": Code(
        _WARNING,
        "a word of a SCRIPT line that looks like a macro of VARS, but is not expanded there",
        "scripts have macros of their own, such as $JOB and $RETRY: each is a whole word",
    ),
    "DAG419": Code(
        _WARNING,
        "ABORT-DAG-ON that ends DAGMan with an exit code above 2, so that it is restarted",
        "the schedd restarts such a DAGMan again and again: use RETURN 1 for failure, RETURN 0 for "
        "success",
    ),
    "DAG420": Code(
        _WARNING,
        "a typographic quote, dash or space in the arguments of a program",
        "if it is not intended, retype it in plain ASCII",
    ),
    "DAG422": Code(
        _WARNING,
        "a line of a submit description that nothing uses: no command, and no macro in use",
        "check its spelling; an attribute of the job begins with My. or +",
    ),
}
ALL_CODES = sorted((*CODES, *OF_CODE))


def meaning(code: str) -> Code:
    """What a code stands for."""
    found: Code = CODES[code] if code in CODES else own(OF_CODE[code], "lint", "CODES")[code]
    return found


class Finding(NamedTuple):
    """One thing that was found."""

    code: str
    severity: Severity
    message: str
    hint: str = ""
    # where, lines and columns from 1; 0 or '' where that is not known
    file: str = ""
    line: int = 0
    column: int = 0
    text: str = ""  # the line there, or the part of it that is of interest
    caret: int = 0  # where in `text` that stands which is at `column`, from 1; 0 if unknown
    node: str = ""  # full name of the node, '' if it is about none
    # the command word and names of the line that it is about, to look for its place
    words: tuple[str, ...] = ()


def nodes_named(dag: Dag, node: int, count: int) -> str:
    """`count` nodes by the name of one of them."""
    others = f" and {number_of(count - 1, 'other node')}" if count > 1 else ""
    return f"node {dag.names[node]}{others}"


def content(dag: Dag, world: World, directory: str, submit: str) -> str | None:
    """The text of a submit file, or of an inline description; None if it is no ordinary file.
    Raises OSError, FileError."""
    text, path = dag.descriptions.get(submit), os.path.join(directory, submit)
    if text is None and world.kind(path) in (FileKind.FILE, FileKind.EXECUTABLE):
        return world.read_text(path)
    return text


class Findings:
    """All that was found; of each code the first MAX_KEPT are kept, and all are counted."""

    def __init__(self) -> None:
        self.kept: list[Finding] = []  # in the order in which they came
        # how many there were of each code and severity
        self.counts: dict[tuple[str, Severity], int] = {}
        self._of_code: dict[str, int] = {}

    def full(self, code: str) -> bool:
        """Whether no more of a code is kept: then its text need not be made, see `count`."""
        return self._of_code.get(code, 0) >= MAX_KEPT

    def count(self, code: str, severity: Severity | None = None, more: int = 1) -> None:
        """Count `more` of a code, without text."""
        key = (code, meaning(code).severity if severity is None else severity)
        self.counts[key] = self.counts.get(key, 0) + more
        self._of_code[code] = self._of_code.get(code, 0) + more

    def add(
        self,
        code: str,
        message: str,
        *,
        place: str = "",
        node: str = "",
        words: tuple[str, ...] = (),
        severity: Severity | None = None,
        hint: str = "",
    ) -> None:
        """Add one.  `place` is `file:line`; severity and hint are those of the code by default."""
        if not self.full(code):
            usual = meaning(code)
            how_bad = usual.severity if severity is None else severity
            file, _, line = place.rpartition(":")
            at = (file, int(line)) if line.isascii() and line.isdigit() else (place, 0)
            hint = hint or usual.hint
            self.kept.append(Finding(code, how_bad, message, hint, *at, node=node, words=words))
        self.count(code, severity)

    def of_node(
        self,
        code: str,
        dag: Dag,
        node: int,
        message: str,
        *words: str,
        severity: Severity | None = None,
        hint: str = "",
    ) -> None:
        """Add one about a node.  `words` name the command, unless it is the node's definition; the
        node's name may be left out behind a single word."""
        name, place = dag.names[node], dag.place(node)
        words = (*words, name) if len(words) == 1 else words
        self.add(code, message, place=place, node=name, words=words, severity=severity, hint=hint)

    def add_excerpt(self, code: str, error: DagFileError) -> None:
        """Give the finding that was added last, of this code, the excerpt of an error."""
        if self.of_code(code) <= MAX_KEPT:
            self.kept[-1] = self.kept[-1]._replace(
                text=error.text, column=error.column, caret=error.caret
            )

    def total(self, severity: Severity) -> int:
        """How many there were of a severity."""
        return sum(number for (_, one), number in self.counts.items() if one is severity)

    def of_code(self, code: str) -> int:
        """How many there were of a code."""
        return self._of_code.get(code, 0)
