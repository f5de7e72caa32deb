"""Configuration knobs, beside stock condor_dagman: what is accepted, what is in force, and what the
knobs do that no other test of the pool looks at.

Whether a value is taken shows with -Dot, which reads everything, runs nothing and needs no job.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.config import Kind, Knob, knobs
from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.scenes import Played, Scene, Stage
from tests.pool.stock import Stock, plain


@dataclass
class Look:
    """What a DAGMan that runs nothing makes of a CONFIG file."""

    code: int
    out: str

    @property
    def settings(self) -> list[str]:
        """The echo of the knobs, in its order, without knobs of our own."""
        return [line for line in self.of(" setting: ") if not line.startswith("PYDAGMAN_")]

    def of(self, pattern: str) -> list[str]:
        """The lines with a pattern."""
        return [line for line in self.lines if re.search(pattern, line)]

    @property
    def lines(self) -> list[str]:
        """`.dagman.out` without times."""
        return [re.sub(r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d ", "", s) for s in self.out.splitlines()]


def look(
    access_point: AccessPoint,
    directory: Path,
    text: str,
    flavour: str,
    environment: dict[str, str] | None = None,
) -> Look:
    """Let one of the programs read a CONFIG file."""
    new_directory(directory)
    (directory / "t.dag").write_text("JOB A job.sub\nDOT t.dot\n")
    (directory / "c").write_text(text)
    stock = flavour == STOCK
    dagman = access_point.stock_dagman if stock else access_point.our_dagman
    words = ["-f", "-l", ".", "-Lockfile", "t.lock", "-Dag", "t.dag", "-Dot"]
    done = access_point.run(
        *(dagman, *words),
        cwd=directory,
        check=False,
        loaded=not stock,
        environment={
            "CONDOR_ID": "",
            "_CONDOR_DAGMAN_LOG": str(directory / "t.out"),
            "_CONDOR_DAGMAN_CONFIG_FILE": str(directory / "c"),
            **(environment or {}),
        },
    )
    out = directory / "t.out"
    said = out.read_text() if out.exists() else ""
    for place, name in ((directory, "HERE"), (Path(access_point.stock_dagman).parent, "BIN")):
        said = said.replace(str(place), name)
    return Look(done.returncode, said)


def _another(knob: Knob) -> str:
    """A value that is not the default."""
    others = {
        "DAGMAN_USE_STRICT": "0",  # else stock complains of how the others go together
        "DAGMAN_METRICS_FILE_VERSION": "1",
        "DAGMAN_DEFAULT_NODE_LOG": "@(DAG_DIR)/@(DAG_FILE).@(CLUSTER).other",
        "DAGMAN_QUEUE_UPDATE_INTERVAL": "7.5",
    }
    if knob.name in others:
        return others[knob.name]
    if knob.kind is Kind.BOOLEAN:
        return str(not knob.default)
    return "7" if knob.kind is Kind.INTEGER else "/some/where"


Read = Callable[..., Look]


@pytest.fixture
def read(access_point: AccessPoint, work: Path) -> Read:
    """Lets one of the programs read a CONFIG file: `read(text, flavour, environment)`."""
    numbers = itertools.count()

    def look_at(text: str, flavour: str, environment: dict[str, str] | None = None) -> Look:
        return look(access_point, work / str(next(numbers)), text, flavour, environment)

    return look_at


def test_every_knob_is_in_force_and_echoed_as_by_stock(read: Read, stock: Stock) -> None:
    """All that are echoed, set to something else."""
    text = "".join(f"{knob.name} = {_another(knob)}\n" for knob in knobs() if knob.label)

    def told(it: Look) -> tuple[int, list[str], list[str]]:
        return it.code, it.settings, it.of("Default node log")

    ours = read(text, OURS)
    expected = stock("every knob", lambda: told(read(text, STOCK)))
    assert plain(told(ours)) == expected
    assert expected[0] == 0
    assert "t.dag.-1.other" in expected[2][0]
    assert len(ours.of(" setting: ")) == len([knob for knob in knobs() if knob.label])


# What stock takes, though it may look odd, all in one CONFIG file.
ACCEPTED = """\
DAGMAN_MAX_JOBS_IDLE = 5*10
DAGMAN_MAX_JOBS_SUBMITTED = 5.7
DAGMAN_MAX_PRE_SCRIPTS = $(NOT_SET)
DAGMAN.DAGMAN_MAX_POST_SCRIPTS = 9
TOOL.DAGMAN_MAX_HOLD_SCRIPTS = 9
DAGMAN_MAX_SUBMITS_PER_INTERVAL = 1e1
dagman_max_submit_attempts : 010
DAGMAN_ALWAYS_RUN_POST = 1 == 1
DAGMAN_SUPPRESS_NOTIFICATION = -1
DAGMAN_RETRY_NODE_FIRST =
DAGMAN_SUPPRESS_JOB_LOGS = TRUE
DAGMAN_DEFAULT_PRIORITY = 3$(DAGMAN_DEFAULT_PRIORITY) + \\
 4
if $(DAGMAN_USE_STRICT)
DAGMAN_PENDING_REPORT_INTERVAL = -4
endif
if defined NOT_SET
DAGMAN_PRINT_JOB_TABLE_INTERVAL = 3
else
DAGMAN_PRINT_JOB_TABLE_INTERVAL = true
endif
use ROLE:Personal
include ifexist : no-such-file
include command : echo DAGMAN_HOLD_CLAIM_TIME=17
DAGMAN_RECORD_MACHINE_ATTRS = a, b \tc
DAGMAN_DEFAULT_NODE_LOG = x.log
DAGMAN_CHECK_QUEUE_INTERVAL = 0
DAGMAN_QUEUE_UPDATE_INTERVAL = 10 / 4.0
DAGMAN_ALLOW_EVENTS = -5
"""


def test_what_is_accepted(read: Read, stock: Stock) -> None:
    def told(it: Look) -> tuple[int, list[str]]:
        return it.code, it.settings

    ours = read(ACCEPTED, OURS)
    assert ours.code == 0, ours.out
    assert plain(told(ours)) == stock("accepted", lambda: told(read(ACCEPTED, STOCK)))


def test_limits_that_stock_does_not_enforce(read: Read, stock: Stock) -> None:
    text = "DAGMAN_USE_STRICT = -5\nDAGMAN_VERBOSITY = 9\nDAGMAN_MAX_JOB_HOLDS = -5\n"
    assert read(text, OURS).code == stock("not enforced", lambda: read(text, STOCK).code) == 0


# Lines that stock refuses.
REFUSED = (
    "DAGMAN_MAX_JOBS_IDLE = 12abc",
    'DAGMAN_MAX_JOBS_IDLE = "5"',
    "DAGMAN_MAX_JOBS_IDLE = 3000000000",
    "DAGMAN_MAX_PRE_SCRIPTS = -1",
    "DAGMAN_METRICS_FILE_VERSION = 3",
    "DAGMAN_QUEUE_UPDATE_INTERVAL = 0.5",
    "DAGMAN_ALWAYS_RUN_POST = yes",
    "DAGMAN_DEFAULT_NODE_LOG = @(NO_SUCH)/x",
    "DAGMAN_MAX_JOBS_IDLE 5",
    "use ROLE:Nosuch",
    "if true",
)


@pytest.mark.parametrize("line", REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(read: Read, stock: Stock, line: str) -> None:
    assert stock(line, lambda: read(f"{line}\n", STOCK).code) != 0
    ours = read(f"{line}\n", OURS)
    assert ours.code == 1  # 4, which stock often gives, brings the job back for ever
    assert "EXITING WITH STATUS 1" in ours.out
    assert ("line 1" in ours.out) or line.split()[-1] in ours.out


LIMITS = {
    "_CONDOR_DAGMAN_MAX_JOBS_IDLE": "50",
    "_CONDOR_DAGMAN_USER_LOG_SCAN_INTERVAL": "4",
    "_CONDOR_DAGMAN_MAX_HOLD_SCRIPTS": "6",
}
FREE = {**LIMITS, "_CONDOR_DAGMAN_DISABLE_ADMIN_THROTTLE_LIMITING": "True"}


@pytest.mark.parametrize("environment", [LIMITS, FREE], ids=["in force", "disabled"])
def test_the_administrators_limits(
    read: Read, stock: Stock, request: pytest.FixtureRequest, environment: dict[str, str]
) -> None:
    """The environment counts as the administrator's: a CONFIG file can't go beyond it."""
    text = "DAGMAN_MAX_JOBS_IDLE = 90\nDAGMAN_MAX_PRE_SCRIPTS = 2\nDAGMAN_MAX_HOLD_SCRIPTS = 0\n"
    text += "DAGMAN_USER_LOG_SCAN_INTERVAL = 1\nDAGMAN_MAX_JOBS_SUBMITTED = 3\n"
    text += "DAGMAN_MAX_SUBMITS_PER_INTERVAL = 8\n"

    def told(flavour: str) -> list[str]:
        it = read(text, flavour, environment)
        return sorted(it.of(r"\tMaximum|SCAN_INTERVAL setting|administrator limit|limits enab"))

    assert told(OURS) == stock(request.node.name, lambda: told(STOCK))


@dataclass
class Effect:
    """A DAG with knobs whose effect is seen in what its jobs and files look like."""

    config: str
    dag: str = "JOB A job.sub\nJOB B job.sub\nPARENT A CHILD B\n"
    attributes: tuple[str, ...] = ()  # of the node jobs
    options: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # that are there or not afterwards
    say: str = ""  # lines of .dagman.out that both must have, as a pattern


EFFECTS = {
    "ads": Effect(
        "DAGMAN_SUPPRESS_NOTIFICATION = True\nDAGMAN_SUPPRESS_JOB_LOGS = True\n"
        "DAGMAN_DEFAULT_PRIORITY = 3\nDAGMAN_HOLD_CLAIM_TIME = 77\n"
        "DAGMAN_RECORD_MACHINE_ATTRS = Arch\nDAGMAN_INHERIT_ATTRS = Given\n"
        "DAGMAN_INHERIT_ATTRS_PREFIX = From_\n",
        "SET_JOB_ATTR Given = 5\nJOB A logged.sub\nJOB B logged.sub\nPARENT A CHILD B\n"
        "#== logged.sub\nuniverse = scheduler\nexecutable = job.sh\narguments = $(JOB) 0 0 0\n"
        "log = own.log\nnotification = always\nqueue\n",
        ("JobNotification", "UserLog", "JobPrio", "KeepClaimIdle", "From_Given", "JobMachineAttrs"),
        files=("own.log",),
    ),
    "vars": Effect(
        "DAGMAN_DEFAULT_APPEND_VARS = True\nDAGMAN_ALWAYS_RUN_POST = True\n",
        'JOB A job.sub\nVARS A My.X="1" say=".told"\nSCRIPT PRE A script.sh 1 pre\n'
        'SCRIPT POST A script.sh 0 post\nJOB B x.sub\nVARS B My.X="2"\n'
        "#== x.sub\nuniverse = scheduler\nexecutable = job.sh\narguments = $(JOB) 0 0 0\n"
        "My.X = 7\nqueue\n",
        ("X",),
    ),
    "log": Effect(
        "DAGMAN_DEFAULT_NODE_LOG = @(DAG_DIR)/@(DAG_FILE).@(OWNER).events\n",
        files=("t.dag.nodes.log",),
    ),
    "credentials": Effect(
        "DAGMAN_PRODUCE_JOB_CREDENTIALS = True\n",
        "JOB A cred.sub\n#== cred.sub\nuniverse = scheduler\nexecutable = job.sh\n"
        "arguments = A 0 0 0\nuse_oauth_services = nowhere\nqueue\n",
        say="Failed to produce job credentials|Node submit failed after|EXITING WITH",
    ),
    "no-credentials": Effect(
        "DAGMAN_PRODUCE_JOB_CREDENTIALS = False\n",
        "JOB A cred.sub\n#== cred.sub\nuniverse = scheduler\nexecutable = job.sh\n"
        "arguments = A 0 0 0\nuse_oauth_services = nowhere\nqueue\n",
        say="Failed to produce job credentials|EXITING WITH",
    ),
    "no-subdag-files": Effect(
        "DAGMAN_GENERATE_SUBDAG_SUBMITS = False\n",
        "SUBDAG EXTERNAL S in.dag\n#== in.dag\nJOB A job.sub\n",
        files=("in.dag.condor.sub",),
        say="EXITING WITH",
    ),
    "graph": Effect(
        "DAGMAN_REPORT_GRAPH_METRICS = True\nDAGMAN_DEBUG_PARSE_TIMING = True\n",
        say=r"DAGMAN_DEBUG_PARSE_TIMING|  Phase  |EXITING WITH",
    ),
    "tolerance": Effect(
        "DAGMAN_NODE_JOB_FAILURE_TOLERANCE = 2\nDAGMAN_REMOVE_JOB_LIST_ON_FAILURE = False\n",
        'JOB A job.sub\nVARS A procs="3" code="$(Process)" say=".$(Process)"\n'
        'JOB B job.sub\nVARS B procs="4" code="$(Process)" say=".$(Process)"\n',
        say="EXITING WITH STATUS .",
    ),
    "nodes": Effect(
        "DAGMAN_USE_JOIN_NODES = False\nDAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS = True\n",
        "".join(f"JOB A+{n} job.sub NOOP\n" for n in range(4)) + "PARENT A+0 A+1 CHILD A+2 A+3\n",
        say="Of . nodes total",
    ),
    "table": Effect(
        "DAGMAN_PRINT_JOB_TABLE_INTERVAL = 1\n",
        'JOB A job.sub\nVARS A seconds="4"\n',
        say="Total jobs placed to AP: 1",
    ),
    "attempts": Effect(
        "DAGMAN_MAX_SUBMIT_ATTEMPTS = 2\nDAGMAN_DEBUG = D_TEST D_CAT\n"
        "DAGMAN_DEBUG_CACHE_ENABLE = True\n",
        "JOB A job.sub DIR nosuch\nCATEGORY A few\nMAXJOBS few 2\n",
        say=r"Job submit try ./. failed|Node submit failed after . tr|\(D_TEST\) .*"
        r"|Enabling log line cache.*|Removing .*",
    ),
    "condor_submit": Effect(
        "DAGMAN_USE_DIRECT_SUBMIT = False\nDAGMAN_MAX_SUBMIT_ATTEMPTS = 2\n",
        "JOB A a.sub\nSCRIPT POST A script.sh 0 A $RETURN\nJOB B job.sub\nPARENT A CHILD B\n"
        "SCRIPT PRE B script.sh 0 B\n"
        "#== a.sub\nuniverse = scheduler\nexecutable = gone\ninitialdir = /\nqueue\n",
        say="Can't access executable file gone: No such file|try ./. failed|failed after . tr",
    ),
    "cycle": Effect(
        "DAGMAN_STARTUP_CYCLE_DETECT = True\n",
        "JOB A job.sub\nJOB B job.sub\nJOB C job.sub\nPARENT A CHILD B\nPARENT B CHILD C\n"
        "PARENT C CHILD B\n",
        say="a cycle exists in the dag|EXITING WITH STATUS .",
    ),
    "delay": Effect("DAGMAN_SUBMIT_DELAY = 1\n", "JOB A job.sub\nJOB B job.sub\n"),
}


def play(s: Scene, name: str) -> dict[str, Any]:
    """Run the DAG of an effect; what came of it."""
    effect = EFFECTS[name]
    s.write(f"CONFIG c\n{effect.dag}")
    (s.work / "c").write_text(effect.config)
    s.submit_again(*(("-no_check_dag",) if s.flavour == OURS else ()), *effect.options)
    code, user = s.ends(), s.access_point.user
    return {
        "code": code,
        "runs": dags.runs(s.work),
        "scripts": dags.scripts(s.work),
        "ads": _attributes_of_jobs(s, effect) if effect.attributes else {},
        "files": sorted(name for name in effect.files if (s.work / name).exists()),
        "logs": sorted(path.name.replace(user, "USER") for path in s.work.glob("*.events")),
        "graph_metrics": '"graph_height"' in s.text("t.dag.metrics"),
        "said": sorted(set(re.findall(effect.say, s.out()))) if effect.say else [],
    }


def _attributes_of_jobs(s: Scene, effect: Effect) -> dict[str, dict[str, Any]]:
    """The attributes that an effect is seen in, by node, once all jobs are in the history."""
    s.gone()
    words = ("condor_history", "-constraint", f"DAGManJobId == {s.cluster}", "-json")
    jobs = sum(dags.runs(s.work).values())

    def look() -> list[dict[str, Any]]:
        found = json.loads(s.run(*words) or "[]")
        return found if len(found) == jobs else []

    ads = s.until(look, "all jobs in the history", after_end=True)
    return {ad["DAGNodeName"]: {name: ad.get(name) for name in effect.attributes} for ad in ads}


STAGE = Stage()
STAGE.pairs.update({name: functools.partial(play, name=name) for name in EFFECTS})


@pytest.mark.parametrize("name", EFFECTS)
def test_the_knobs_have_their_effects_under_both(played: Played, stock: Stock, name: str) -> None:
    effect, ours, expected = EFFECTS[name], plain(played.check(name)), played.stock(name, stock)
    assert ours == expected
    assert bool(ours["said"]) == bool(effect.say)
    assert ours["logs"] == (["t.dag.USER.events"] if name == "log" else [])
    assert ours["graph_metrics"] == (name == "graph")
    for attribute in set(effect.attributes) - {"UserLog"}:  # the knob takes this one away
        assert any(ad[attribute] is not None for ad in ours["ads"].values()), attribute


def test_knobs_command(access_point: AccessPoint, work: Path) -> None:
    """`condor_pydagman knobs` shows what a DAGMan of this pool would echo."""
    (work / "c").write_text("DAGMAN_MAX_JOBS_IDLE = 5 * 10\n")
    (work / "t.dag").write_text("CONFIG c\nJOB A job.sub\n")
    command = access_point.which("condor_pydagman", ours=True)
    done = access_point.run(command, "knobs", "-dag", "t.dag", cwd=work)
    assert re.search(rf"^DAGMAN_MAX_JOBS_IDLE +50 +CONFIG file \({work}/c, line 1\)$",
                     done.stdout, re.M)  # fmt: skip
    assert re.search(r"^DAGMAN_USER_LOG_SCAN_INTERVAL +1 +configuration \(.*/tests, line 2\)$",
                     done.stdout, re.M)  # fmt: skip
    assert isinstance(done, subprocess.CompletedProcess)
