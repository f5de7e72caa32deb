"""The lines with which `.dagman.out` opens and closes a run.

Monitors (pegasus-monitord among them) find the start of a run, its pid, its version and its end in
these lines, so they are stock DAGMan's, byte for byte where such a reader looks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from condor_pydagman.config import Config
from condor_pydagman.config.table import fields_of_knobs
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple

_STARS = "*" * 54


class Process(NamedTuple):
    """What the start banner says of the process."""

    executable: str  # path of the program
    # HTCondor's strings, `$CondorVersion: ... $` and `$CondorPlatform: ... $`.
    version: str
    platform: str
    pid: int
    user_id: int  # of the real user
    config_source: str = ""  # path of the configuration file, '' if unknown
    last_touched: str = ""  # when the log was last written to, `MM/DD HH:MM:SS`; '' for a new log
    name: str = "condor_dagman"  # what the program was called by


def start_lines(process: Process) -> list[str]:
    """The start banner."""
    touched = process.last_touched or "unavailable (No such file or directory)"
    lines = [
        _STARS,
        f"** {process.name} (CONDOR_DAGMAN) STARTING UP",
        f"** {process.executable}",
        "** SubsystemInfo: name=DAGMAN type=DAGMAN(9) class=CLIENT(2)",
        "** Configuration: subsystem:DAGMAN local:<NONE> class:CLIENT",
        f"** {process.version}",
        f"** {process.platform}",
        f"** PID = {process.pid} RealUID = {process.user_id}",
        f"** Log last touched time {touched}",
        _STARS,
    ]
    if process.config_source:
        lines.append(f"Using config source: {process.config_source}")
    lines.append("Daemon Log is logging: D_ALWAYS D_ERROR D_STATUS")
    return lines


def setting_lines(config: Config) -> list[str]:
    """`KNOB setting: value` for every knob that stock echoes, in its order; then what to note."""
    lines = [
        f"{knob.label} setting: {knob.text(getattr(config, name))}"
        for name, knob in fields_of_knobs()
        if knob.label
    ]
    for name, value in (
        ("DAGMAN_NODE_RECORD_INFO", config.node_record_info),
        ("DAGMAN_RECORD_MACHINE_ATTRS", config.record_machine_attrs),
    ):
        if value:
            lines.append(f"{name}: {value}")
    return [*lines, *config.remarks]


def place_line(knob: str, value: int, place: str) -> str:
    """Where a throttle was set by a knob, which the stock program does not say."""
    return f"{knob} = {value}, set in {place}"


def argument_lines(arguments: Sequence[str]) -> list[str]:
    """The command line, an argument a line."""
    return [f'argv[{number}] == "{word}"' for number, word in enumerate(arguments)]


def workflow_lines(
    *,
    batch_id: str,
    batch_name: str,
    accounting_group: str,
    accounting_group_user: str,
    nodes_log: str,
) -> list[str]:
    """What the jobs of this DAG will have in common; a DAGMan that is no job has no batch."""
    log = f"Default node log file is: <{nodes_log}>"
    if not batch_id:
        return [log]
    return [
        f"Workflow batch-id: <{batch_id}>",
        f"Workflow batch-name: <{batch_name}>",
        f"Workflow accounting_group: <{accounting_group}>",
        f"Workflow accounting_group_user: <{accounting_group_user}>",
        log,
    ]


def throttle_lines(throttles: Throttles) -> list[str]:
    """The throttles, as printed at start and at each change."""
    labels = (
        ("Maximum Idle Jobs", throttles.idle),
        ("Maximum Pre Scripts", throttles.pre),
        ("Maximum Hold Scripts", throttles.hold),
        ("Maximum Post Scripts", throttles.post),
        ("Maximum Submitted Nodes", throttles.jobs),
        ("Maximum Submits Per Interval", throttles.submits),
    )
    return ["Setting DAGMan throttles:", *(f"\t{name:-<30}: {value}" for name, value in labels)]


def file_lines(lock_file: str, dag_files: Sequence[str]) -> list[str]:
    """The files a run works with, before they are read."""
    if len(dag_files) == 1:
        files = [f"DAG Input file is {dag_files[0]}"]
    else:
        files = ["DAG Input files are " + " ".join(dag_files), "All DAG files:"]
        files += [f"  {name} (DAG #{number})" for number, name in enumerate(dag_files)]
    return [
        f"DAG Lockfile will be written to {lock_file}",
        *files,
        f"Parsing {len(dag_files)} dagfiles",
    ]


def category_lines(dag: Dag) -> Iterator[str]:
    """Each category, its nodes and its limit (-1: none), for stock's own tests (D_TEST)."""
    counts = Counter(dag.categories.values())
    names = {*counts, *dag.category_limits}
    for name in sorted(names, key=lambda name: name.encode("utf-8", "surrogateescape")):
        yield f"CHECK CATEGORY {name} {counts[name]} {dag.category_limits.get(name, -1)}"


def exit_line(pid: int, code: int) -> str:
    """The last line of a run."""
    return f"**** condor_dagman (condor_DAGMAN) pid {pid} EXITING WITH STATUS {code}"


# Whether a DAGMan job that another version of HTCondor prepared may run (-CsdVersion).
#
# Stock's rule: its submit file must name a version, not older than 7.1.2; an older one is noted, a
# newer one warned of.  Only the three numbers count, never the build.  Our version is that of the
# bindings, which need not be the pool's: so a newer one is never refused, not even by
# DAGMAN_USE_STRICT.

MIN_VERSION = (7, 1, 2)
_VERSION = re.compile(r"\$CondorVersion:\s+(\d+)\.(\d+)\.(\d+)\s.*\$")


class Verdict(NamedTuple):
    """What is to be said of a version: '' for nothing; and whether DAGMan must not run."""

    text: str = ""
    refused: bool = False


def check(theirs: str, ours: str, *, tolerant: bool) -> Verdict:
    """Judge the version string `theirs` of a submit file; `ours` is that of this program.

    `tolerant` is -AllowVersionMismatch.
    """
    start = f"the version ({theirs}) of this DAG's HTCondor submit file is"
    numbers = _numbers(theirs)
    if numbers is None:
        return _wrong(f"{start} invalid", "!", tolerant)
    if numbers < MIN_VERSION:
        oldest = ".".join(map(str, MIN_VERSION))
        return _wrong(f"{start} older than oldest permissible version ({oldest})", "", tolerant)
    own = _numbers(ours) or numbers
    if numbers < own:
        return Verdict(
            f"Note: the version ({theirs}) of this DAG's HTCondor submit file differs from"
            f" condor_dagman version ({ours}), but the difference is permissible"
        )
    if numbers > own:
        return Verdict(f"Warning: {start} newer than condor_dagman version ({ours})")
    return Verdict()


def _wrong(text: str, end: str, tolerant: bool) -> Verdict:
    if tolerant:
        flag = "-AllowVersionMismatch"
        return Verdict(f"Warning: {text}; continuing because of {flag} flag")
    return Verdict(f"Error: {text}{end}", refused=True)


def _numbers(version: str) -> tuple[int, ...] | None:
    match = _VERSION.match(version)
    return tuple(map(int, match.groups())) if match else None


# Which versions meet, and what does not work with them.  Nothing is decided by these.

OLDEST = (24, 12, 0)  # bindings and daemons that have been tested
CALM = (25, 1, 0)  # the first bindings that don't end the process at a value of the wrong type
# The first bindings of each series that don't authenticate by FS to daemons without the same fix.
_FIXED = ((24, 0, 24), (24, 12, 24), (25, 0, 12), (25, 12, 2))


class Versions(NamedTuple):
    """The versions that a DAGMan meets."""

    ours: str  # of condor_pydagman, with how the engine runs
    python: str  # the version of Python
    bindings: str  # HTCondor's string `$CondorVersion: ... $`.
    schedd: str = ""  # the same of the schedd; '' if it is unknown


def number(version: str) -> str:
    """`25.14.1` of `$CondorVersion: 25.14.1 ... $`; the text itself if it has no such number."""
    numbers = _numbers(version)
    return version if numbers is None else ".".join(map(str, numbers))


def version_lines(versions: Versions) -> Iterator[str]:
    """A line with the versions, and one for each thing that is not to be had with them."""
    schedd = f", schedd {number(versions.schedd)}" if versions.schedd else ""
    yield (
        f"condor_pydagman {versions.ours}, Python {versions.python},"
        f" bindings {number(versions.bindings)}{schedd}"
    )
    bindings, daemon = _numbers(versions.bindings), _numbers(versions.schedd)
    if bindings and bindings < CALM:
        yield (
            "Note: bindings before 25.1 end DAGMan if a macro of HTCondor's configuration that they"
            " read has a value of the wrong type"
        )
    if daemon and daemon < OLDEST:
        yield "Warning: DAGMan has not been tested with an HTCondor before 24.12"
    if bindings and daemon and _is_fixed(bindings) and not _is_fixed(daemon):
        yield (
            "Warning: these bindings do not authenticate by FS to this older schedd; install"
            " bindings that are no newer than it"
        )


def _is_fixed(version: tuple[int, ...]) -> bool:
    of_series = [fixed for fixed in _FIXED if fixed[:2] == version[:2]]
    return version >= (of_series or _FIXED)[-1]
