"""Which faults can be brought into a DAGMan process, and the plan that says which are to come.

The process itself is `faulty/condor_dagman`: our own program, which looks at two files in DAGMan's
working directory. `torture.plan` says what is to happen; `torture.fired` what has happened, so that
a DAGMan that was killed is not killed at the same point for ever.  The product knows nothing of it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PLAN = "torture.plan"
FIRED = "torture.fired"
START = "start"  # a line of FIRED for each process

KILL = "kill"  # SIGKILL, as a crash of the machine or the kernel's out-of-memory killer
LOSE = "lose"  # the schedd takes the job, its reply does not come
REFUSE = "refuse"  # the schedd can't be reached, for now

# All of engine/actions.py, and what helpers are asked; a test holds them together.
ACTIONS = (
    *("SubmitNode", "SubmitTogether", "RemoveJobs", "RunScript", "KillScripts"),
    *("AppendPostEnded", "AppendPreSkip", "AppendNoop", "AppendJournalRecord"),
    *("QueryQueue", "QueryProvisioner", "WriteRescue", "WriteSavePoint"),
    *("Publish", "PublishLimits", "JobState"),
    *("ReadResult", "EvaluateConditions", "ReadPiece", "RunFeeder", "TakePlaces"),
    *("LookUpCached", "KeepCached"),
    *("Say", "SayStatus", "SayDeferrals", "SayFailed", "Exit"),
)
# Asked for only where people steer nodes: the simulator kills DAGMan there, see
# tests/features/steering/sim.py.
OF_STEERING = ("HoldJobs", "SetJobPriorities", "Steered", "Grown")
# Asked for only where groups of nodes are matched to sites.
OF_SITES = ("MatchSites", "ForgetPlacements")
# Asked for only where nodes are bundled.
OF_BUNDLES = ("SubmitJob", "AppendEvents", "LookAt", "SlotsWanted", "Forget")
# Records of a group's way from site to site, in their order; DAGMan can be killed at each.
SITE_RECORDS = ("SITE_MATCHED", "SITE_TAKEN_BACK", "SITE_LEFT", "SITE_CLEANED", "NO_SITE")
CLAIMING, CLAIMED = "claims: about to be written", "claims: written"
APPENDS = tuple(action for action in ACTIONS if action.startswith("Append"))

# Where a process can be killed, in the order in which they come at a start and at an end.
STARTING = (
    *("start: log opened", "start: knobs read", "start: DAG read", "start: lock taken"),
    *("start: nodes log opened", "start: lock written", "start: loop begins"),
    *("start: log replayed", "start: queue asked"),
)
ENDING = ("end: lock about to go", "end: lock gone", "end: leaving")
SCRIPTS = ("script: forked", "script: ended")
SUBMIT_CALL, SUBMIT_REPLY = "submit: call", "submit: reply"

# What can go wrong with a file. `short`: half of it is written, and told so; the next write fails.
# `torn`: half of it is written, and that fails. `renamed` and `removed` come after the effect.
_APPENDED = ("open", "write", "short", "torn")
_REPLACED = ("open", "write", "short", "torn", "rename", "renamed")
_KEPT = ("open", "write", "short", "torn", "fsync", "rename", "renamed")
OPERATIONS = {
    "nodes log": (*_APPENDED, "fsync", "truncate", "read"),
    "lock file": ("open", "lock", "write", "torn", "truncate", "fsync", "unlink"),
    "dagman.out": _APPENDED,
    "jobstate.log": (*_APPENDED, "truncate"),
    "rescue file": _KEPT,
    "save file": ("mkdir", *_KEPT),
    "metrics file": _KEPT,
    "submit file of a sub-DAG": _REPLACED,
    "status file": _REPLACED,
    "DOT file": _REPLACED,
    "file of added nodes": ("open", "write", "torn", "fsync"),
    "DEBUG file of a script": _APPENDED,
    "script's output": ("open",),
    "lib.out": ("write",),
    "lib.err": ("write",),
}
_ERRORS = {
    "open": ("ENOSPC", "EIO", "EACCES", "EROFS", "EMFILE"),
    "lock": ("ENOLCK",),
    "read": ("EIO",),
    "write": ("ENOSPC", "EIO", "EDQUOT"),
    "short": ("ENOSPC", "EDQUOT"),
    "torn": ("EIO",),
    "truncate": ("EIO",),
    "fsync": ("EIO", "ENOSPC"),
    "rename": ("EIO", "ENOSPC", "EACCES"),
    "mkdir": ("ENOSPC", "EACCES"),
    "unlink": ("EIO", "EACCES"),
    "renamed": (),
}
# Where half of it can be on disk, or all of it, when DAGMan dies.
_KILLED_AT = ("open", "write", "torn", "fsync", "rename", "renamed")


def _points() -> Iterator[tuple[str, tuple[str, ...]]]:
    for point in (*STARTING, *ENDING, *SCRIPTS):
        yield point, (KILL,)
    for action in ACTIONS:
        yield f"before {action}", (KILL,)
        yield f"after {action}", (KILL,)
    yield SUBMIT_CALL, (REFUSE, KILL)
    yield SUBMIT_REPLY, (LOSE, KILL)
    for action in APPENDS:
        yield f"half {action}", (KILL,)
        yield f"unsynced {action}", (KILL,)
    for file, operations in OPERATIONS.items():
        for operation in operations:
            effects = _ERRORS[operation]
            if operation in _KILLED_AT and file not in ("nodes log", "lib.out", "lib.err"):
                effects += (KILL,)
            yield f"{file}: {operation}", effects


# Every point, with what can happen there: KILL, LOSE, REFUSE, or the name of an errno.
POINTS: dict[str, tuple[str, ...]] = dict(_points())
_ORDER = ("before", "after")
# Where DAGMan can be killed besides, if groups of nodes are matched to sites.
SITE_POINTS = (
    *("before MatchSites", "after MatchSites", CLAIMING, CLAIMED),
    *(f"{when} {record}" for record in SITE_RECORDS for when in ("before", "half", "after")),
)
# The same, if nodes are bundled.
BUNDLE_POINTS = (
    *(f"{when} {asked}" for asked in (*OF_BUNDLES, "Prepare", "Collect") for when in _ORDER),
    *("half AppendEvents", "unsynced AppendEvents"),
)


class Fault(NamedTuple):
    """One fault of a plan.

    Attributes:
        at: one of POINTS, SITE_POINTS, or BUNDLE_POINTS.
        do: one of its effects.
        nth: the how-manieth time that the process comes to the point; later times count as well.
        times: how often, over all starts of DAGMan.
        seconds: instead of `times`: so long, from the first time on.
        start: in the how-manieth start of DAGMan, or a later one.
    """

    at: str
    do: str = KILL
    nth: int = 1
    times: int = 1
    seconds: float = 0.0
    start: int = 1

    def __str__(self) -> str:
        return f"{self.at}: {self.do}"


FILE_FAULTS: tuple[Fault, ...] = tuple(
    Fault(point, effect)
    for point, effects in POINTS.items()
    for effect in effects
    if effect.startswith("E")
)


class Fired(NamedTuple):
    """A fault that has happened, or (number -1) a DAGMan that has started.

    `number` is its place in the plan, `time` in seconds since the epoch.
    """

    number: int
    time: float
    pid: int
    what: str


def write_plan(directory: str | Path, faults: Iterable[Fault]) -> None:
    """Say what is to happen to the DAGMans of a directory; forgets what has happened to others.

    Raises:
        ValueError: there is no such point, or that can't happen there.
    """
    wanted = list(faults)
    for fault in wanted:
        of_feature = fault.at in (*SITE_POINTS, *BUNDLE_POINTS) and fault.do == KILL
        if not of_feature and fault.do not in POINTS.get(fault.at, ()):
            raise ValueError(f"{fault.do} can't happen at {fault.at!r}: see POINTS")
    path = Path(directory, PLAN)
    path.write_text(json.dumps([fault._asdict() for fault in wanted], indent=1) + "\n")
    path.with_name(FIRED).unlink(missing_ok=True)


def read_plan(directory: str | Path) -> list[Fault]:
    """The plan of a directory; an empty one if there is none."""
    try:
        text = Path(directory, PLAN).read_text()
    except FileNotFoundError:
        return []
    return [Fault(**entry) for entry in json.loads(text)]


def fired(directory: str | Path) -> list[Fired]:
    """What has happened in a directory, in order; a last line that is half written is left out."""
    try:
        text = Path(directory, FIRED).read_text()
    except FileNotFoundError:
        return []
    found = re.findall(r"^(-?\d+) (\S+) (\d+) (.*)\n", text, re.M)
    return [Fired(int(number), float(when), int(pid), what) for number, when, pid, what in found]


class FaultSchedule:
    """The faults that one DAGMan process has still to get.

    Args:
        plan: as it was written.
        past: what has happened, this process's own start included.
    """

    def __init__(self, plan: list[Fault], past: list[Fired]) -> None:
        self._plan = plan
        self._came: Counter[str] = Counter()
        self._start = sum(entry.number < 0 for entry in past)
        self._count = Counter(entry.number for entry in past)
        self._first: dict[int, float] = {}
        for entry in past:
            self._first.setdefault(entry.number, entry.time)

    def would(self, point: str, now: float) -> Fired | None:
        """The fault that is due at a point now; None if there is none."""
        came = self._came[point] + 1
        for number, fault in enumerate(self._plan):
            if fault.at != point or came < fault.nth or self._start < fault.start:
                continue
            lasts = now - self._first.get(number, now) <= fault.seconds
            if lasts if fault.seconds else self._count[number] < fault.times:
                return Fired(number, now, os.getpid(), str(fault))
        return None

    def reach(self, point: str, now: float) -> tuple[str, Fired | None]:
        """The process comes to a point: what is done to it ('' nothing), and what is to be
        written down of that."""
        due = self.would(point, now)
        self._came[point] += 1
        if due is None:
            return "", None
        fault, first = self._plan[due.number], due.number not in self._first
        self._count[due.number] += 1
        self._first.setdefault(due.number, now)
        return fault.do, due if first or not fault.seconds else None


FILES_BY_NAME = (
    (r"\.nodes\.log", "nodes log"),
    (r"\.dagman\.out", "dagman.out"),
    (r"\.lock", "lock file"),
    (r"\.rescue\d+", "rescue file"),
    (r"\.metrics", "metrics file"),
    (r"\.condor\.sub", "submit file of a sub-DAG"),
    (r"\.jobstate\.log", "jobstate.log"),
    (r"\.status", "status file"),
    (r"\.dot", "DOT file"),
    (r"\.debug", "DEBUG file of a script"),
    (r"\.save", "save file"),
    (r"\.grown", "file of added nodes"),
    (r"/tmp[a-z0-9_]{8}", "script's output"),
)
_TEMPORARY = re.compile(r"(\.[0-9a-f]{16})?\.tmp\Z")
_NAMES = re.compile("|".join(f"(.*{end})" for end, _ in FILES_BY_NAME))


def file_of(path: str) -> str:
    """Which of the files in OPERATIONS a path is, by its end; '' for others.

    What is written first, to be renamed then, counts as the file itself.
    """
    if path.endswith("save_files"):
        return "save file"
    found = _NAMES.fullmatch(_TEMPORARY.sub("", path))
    return FILES_BY_NAME[found.lastindex - 1][1] if found and found.lastindex else ""


def os_error(name: str, path: object = None) -> OSError:
    """The error of the system by its name, such as ENOSPC."""
    number = getattr(errno, name)
    words = (number, os.strerror(number))
    return OSError(*words) if path is None else OSError(*words, path)


def install(directory: str | Path, python: str = sys.executable) -> str:
    """Put the faulty condor_dagman into a directory, to be run by that Python.

    The Python must have the bindings; this checkout must stay where it is.

    Returns:
        Its path, for `condor_submit_dag -dagman`.
    """
    source = Path(__file__).with_name("faulty") / "condor_dagman"
    checkout = Path(__file__).resolve().parents[2]
    text = source.read_text().replace("#!python\n", f"#!{python}\n", 1)
    target = Path(directory).absolute() / "condor_dagman"
    target.write_text(text.replace("@CHECKOUT@", str(checkout)))
    target.chmod(0o755)
    return str(target)
