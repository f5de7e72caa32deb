"""Configuration knobs under stock condor_dagman and ours: what is accepted, what is in force, and
what the knobs do that no other test of the pool looks at.

Whether a value is taken shows with -Dot, which reads everything, runs nothing and needs no job.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.config import Kind, Knob, knobs
from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory

pytestmark = pytest.mark.pool
FLAVOURS = (STOCK, OURS)


@dataclass
class Look:
    """What a DAGMan that runs nothing makes of a CONFIG file."""

    code: int
    out: str
    printed: str

    @property
    def settings(self) -> list[str]:
        """The echo of the knobs, in its order."""
        return [line for line in self.lines if " setting: " in line]

    @property
    def stock_settings(self) -> list[str]:
        """The same without knobs of our own."""
        return [line for line in self.settings if not line.startswith("PYDAGMAN_")]

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
        environment={
            "CONDOR_ID": "",
            "_CONDOR_DAGMAN_LOG": str(directory / "t.out"),
            "_CONDOR_DAGMAN_CONFIG_FILE": str(directory / "c"),
            **(environment or {}),
        },
    )
    out = directory / "t.out"
    said = out.read_text() if out.exists() else ""
    return Look(done.returncode, said, done.stdout + done.stderr)


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


@pytest.fixture(scope="module")
def echoes(access_point: AccessPoint, place: Path) -> dict[str, Look]:
    """All knobs that are echoed, set to something else, under both programs."""
    text = "".join(f"{knob.name} = {_another(knob)}\n" for knob in knobs() if knob.label)
    return {f: look(access_point, place / "echoes" / f, text, f) for f in FLAVOURS}


def test_every_knob_is_in_force_and_echoed_as_by_stock(echoes: dict[str, Look]) -> None:
    assert echoes[OURS].stock_settings == echoes[STOCK].settings
    assert len(echoes[OURS].settings) == len([knob for knob in knobs() if knob.label])
    assert (echoes[OURS].code, echoes[STOCK].code) == (0, 0)


def test_the_nodes_log_is_where_stock_puts_it(echoes: dict[str, Look]) -> None:
    found = {
        flavour: [line.replace(flavour, "X") for line in it.lines if "Default node log" in line]
        for flavour, it in echoes.items()
    }
    assert found[OURS] == found[STOCK]
    assert "t.dag.-1.other" in found[OURS][0]


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


def test_what_is_accepted(access_point: AccessPoint, work: Path) -> None:
    stock, ours = (look(access_point, work / flavour, ACCEPTED, flavour) for flavour in FLAVOURS)
    assert (stock.code, ours.code) == (0, 0), ours.out
    assert ours.stock_settings == stock.settings


def test_limits_that_stock_does_not_enforce(access_point: AccessPoint, work: Path) -> None:
    text = "DAGMAN_USE_STRICT = -5\nDAGMAN_VERBOSITY = 9\nDAGMAN_MAX_JOB_HOLDS = -5\n"
    for flavour in FLAVOURS:
        assert look(access_point, work / flavour, text, flavour).code == 0


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


@pytest.fixture(scope="module")
def verdicts(access_point: AccessPoint, place: Path) -> dict[tuple[str, str], Look]:
    """All lines under both programs."""
    asked = [(line, flavour) for line in REFUSED for flavour in FLAVOURS]
    directories = [place / "verdicts" / str(number) / f for number, (_, f) in enumerate(asked)]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(
            lambda it: look(access_point, it[1], it[0][0] + "\n", it[0][1]),
            zip(asked, directories),
        )
        return dict(zip(asked, found))


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_refused(verdicts: dict[tuple[str, str], Look], line: str) -> None:
    stock, ours = verdicts[line, STOCK], verdicts[line, OURS]
    assert stock.code != 0
    assert ours.code == 1  # 4, which stock often gives, brings the job back for ever
    assert "EXITING WITH STATUS 1" in ours.out
    assert ("line 1" in ours.out) or line.split()[-1] in ours.out


def test_the_administrators_limits(access_point: AccessPoint, work: Path) -> None:
    """The environment counts as the administrator's: a CONFIG file can't go beyond it."""
    text = "DAGMAN_MAX_JOBS_IDLE = 90\nDAGMAN_MAX_PRE_SCRIPTS = 2\nDAGMAN_MAX_HOLD_SCRIPTS = 0\n"
    text += "DAGMAN_USER_LOG_SCAN_INTERVAL = 1\nDAGMAN_MAX_JOBS_SUBMITTED = 3\n"
    text += "DAGMAN_MAX_SUBMITS_PER_INTERVAL = 8\n"
    limits = {
        "_CONDOR_DAGMAN_MAX_JOBS_IDLE": "50",
        "_CONDOR_DAGMAN_USER_LOG_SCAN_INTERVAL": "4",
        "_CONDOR_DAGMAN_MAX_HOLD_SCRIPTS": "6",
    }
    free = {**limits, "_CONDOR_DAGMAN_DISABLE_ADMIN_THROTTLE_LIMITING": "True"}
    for number, environment in enumerate((limits, free)):
        found = []
        for flavour in FLAVOURS:
            it = look(access_point, work / f"{flavour}{number}", text, flavour, environment)
            wanted = re.compile(r"\tMaximum|SCAN_INTERVAL setting|administrator limit|limits enab")
            found.append([line for line in it.lines if wanted.search(line)])
        assert sorted(found[0]) == sorted(found[1])


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


@dataclass
class Ran:
    """An effect's DAG under one of the programs."""

    directory: Path
    code: int = 0
    ads: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def out(self) -> str:
        return (self.directory / "t.dag.dagman.out").read_text()


@pytest.fixture(scope="module")
def ran(access_point: AccessPoint, place: Path) -> dict[tuple[str, str], Ran]:
    """All DAGs under both programs, at the same time."""
    runs = {(n, f): Ran(place / "effects" / f / n) for n in EFFECTS for f in FLAVOURS}
    clusters = {}
    for (name, flavour), run in runs.items():
        new_directory(run.directory)
        head, mark, rest = EFFECTS[name].dag.partition("#== ")
        dags.write(run.directory, f"CONFIG c\n{head}{mark}{rest}")
        (run.directory / "c").write_text(EFFECTS[name].config)
        stock = flavour == STOCK
        dagman = access_point.stock_dagman if stock else access_point.our_dagman
        unchecked = () if stock else ("-no_check_dag",)
        words = ("-dagman", dagman, *unchecked, *EFFECTS[name].options, "t.dag")
        clusters[name, flavour] = access_point.submit(run.directory, *words, stock=stock)
    for (name, flavour), run in runs.items():
        run.code = access_point.wait(run.directory / "t.dag").code
        if EFFECTS[name].attributes:
            run.ads = dict(_node_ads(access_point, clusters[name, flavour]))
    return runs


def _node_ads(access_point: AccessPoint, dagman: int) -> Iterator[tuple[str, dict[str, Any]]]:
    access_point.wait_for(lambda: access_point.gone(dagman), say=f"the end of {dagman}")
    words = ("-constraint", f"DAGManJobId == {dagman}", "-json")
    for ad in access_point._ads("condor_history", *words):
        yield str(ad["DAGNodeName"]), ad


@pytest.mark.parametrize("name", EFFECTS)
def test_the_knobs_have_their_effects_under_both(
    ran: dict[tuple[str, str], Ran], name: str
) -> None:
    effect, stock, ours = EFFECTS[name], ran[name, STOCK], ran[name, OURS]
    assert ours.code == stock.code, ours.out
    assert dags.runs(ours.directory) == dags.runs(stock.directory)
    assert dags.scripts(ours.directory) == dags.scripts(stock.directory)
    assert ours.ads.keys() == stock.ads.keys()
    for node, ad in stock.ads.items():
        for attribute in effect.attributes:
            found, wanted = ours.ads[node].get(attribute), ad.get(attribute)
            assert found == wanted, f"{attribute} of {node}"
    for attribute in set(effect.attributes) - {"UserLog"}:  # the knob takes this one away
        assert any(attribute in ad for ad in stock.ads.values()), attribute
    for file in effect.files:
        assert (ours.directory / file).exists() == (stock.directory / file).exists(), file
    if effect.say:
        pattern = re.compile(effect.say)
        said = [set(pattern.findall(it.out)) for it in (stock, ours)]
        assert said[0] == said[1]
        assert said[0]


def test_metrics_of_the_graph(ran: dict[tuple[str, str], Ran]) -> None:
    for flavour in FLAVOURS:
        assert '"graph_height"' in (ran["graph", flavour].directory / "t.dag.metrics").read_text()


def test_the_nodes_log_by_its_owner(ran: dict[tuple[str, str], Ran]) -> None:
    names = {flavour: list(ran["log", flavour].directory.glob("*.events")) for flavour in FLAVOURS}
    assert [p.name for p in names[OURS]] == [p.name for p in names[STOCK]]
    assert len(names[OURS]) == 1


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
