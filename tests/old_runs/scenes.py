"""The DAGs that are played to be cut off, and how far each of them is played.

Together their nodes logs have every journal record. A job goes on as long as there is a file
`hold.NODE`, so whatever is cut off stands still.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.pool import dags
from tests.pool.scenes import Scene

JOB = """\
#!/bin/sh
# job.sh NAME CODE RETRY
echo "$1 $3 start -" >> ledger
while [ -e "hold.$1" ]; do sleep 0.2; done
exit "$2"
"""
SUBMIT = """\
universe = scheduler
executable = job.sh
arguments = "$(JOB) $(code:0) $(RETRY)"
queue $(procs:1)
"""
IDLE = """\
universe = vanilla
executable = job.sh
arguments = "$(JOB) 0 $(RETRY)"
requirements = False
queue
"""
SCRIPT = """\
#!/bin/sh
# script.sh NAME CODE
while [ -e "hold.$1" ]; do sleep 0.2; done
exit "$2"
"""


@dataclass
class Play(Scene):
    """A scene that is cut off, and has no files but its own."""

    def __post_init__(self) -> None:
        for name, text in (("job.sh", JOB), ("script.sh", SCRIPT)):
            self.program(name, text)
        self.file("job.sub", SUBMIT)
        self.file("idle.sub", IDLE)

    def file(self, name: str, text: str) -> None:
        path = self.work / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o644)

    def program(self, name: str, text: str) -> None:
        self.file(name, text)
        (self.work / name).chmod(0o755)

    def directory(self, name: str) -> Path:
        path = self.work / name
        path.mkdir(exist_ok=True)
        path.chmod(0o1777)
        return path

    def wait(self, *nodes: str) -> None:
        """Let the jobs or scripts of these wait."""
        self.touch(*(f"hold.{node}" for node in nodes))

    def go(self, *nodes: str) -> None:
        """Let them go on."""
        for node in nodes:
            (self.work / f"hold.{node}").unlink()

    def submit(self, dag: str, *words: str, started: str = "") -> None:
        self.file("t.dag", dag)
        for name in ("script.sh", "idle.sub"):
            if name not in dag:
                (self.work / name).unlink()
        self.submit_again(*words)

    def submit_again(self, *words: str) -> None:
        """The log of the DAGMan job keeps what it has of the one before."""
        self.cluster = self.access_point.submit(self.work, *words, "t.dag")

    def until(self, what: Callable[[], Any], say: str, **how: Any) -> Any:
        """Whether DAGMan has ended does not tell, as it may be the one before."""
        return super().until(what, say, **{**how, "after_end": True})

    def logged(self, *patterns: str, times: int = 1) -> None:
        """Wait until the nodes log has each of these so often."""
        for pattern in patterns:
            self.until(
                lambda p=pattern: len(re.findall(p, self.text("t.dag.nodes.log"), re.M)) >= times,
                pattern,
            )

    def cut(self) -> None:
        """Stop DAGMan for good, at once: what is on disk now is all that it leaves."""
        self.signal(signal.SIGSTOP)
        time.sleep(0.5)

    def steer(self, *words: str) -> str:
        return self.run("condor_pydagman", "steer", words[0], "t.dag", *words[1:])

    def without(self, event: str, cluster: int) -> None:
        """Take the events of a job out of the nodes log: those of a kind, or `...` for all."""
        path = self.work / "t.dag.nodes.log"
        events = re.findall(r".*?\n\.\.\.\n", path.read_text(), re.S)
        head = re.compile(rf"{event} \({cluster:03}\.")
        path.write_text("".join(one for one in events if not head.match(one)))


SCENES: dict[str, Callable[[Play], None]] = {}


def scene(play: Callable[[Play], None]) -> Callable[[Play], None]:
    """Decorator: one more."""
    SCENES[play.__name__] = play
    return play


@scene
def scripts(p: Play) -> None:
    """Scripts of each kind, retries, a timeout, a node that can't be submitted, NOOP."""
    p.wait("Q", "pre.R", "post.P", "T")
    p.submit("""\
JOB A job.sub
SCRIPT PRE A script.sh A 0
SCRIPT POST A script.sh A 0
JOB B job.sub
SCRIPT PRE B script.sh B 4
RETRY B 3 DELAY 600
JOB C job.sub
SCRIPT PRE C script.sh C 5
PRE_SKIP C 5
JOB D job.sub NOOP
JOB E missing.sub
JOB P job.sub
SCRIPT POST P script.sh post.P 0
JOB Q job.sub
JOB R job.sub
SCRIPT PRE R script.sh pre.R 0
JOB S job.sub
VARS S code="3"
SCRIPT POST S script.sh S 0
JOB T job.sub
TIMEOUT T RUNNING 2
RETRY T 1
JOB U job.sub
VARS U code="7"
RETRY U 2
JOB Z job.sub
PARENT A C D CHILD Q
PARENT Q P R CHILD Z
NODE_STATUS_FILE t.status 1
JOBSTATE_LOG t.jobstate
""")
    p.logged("TIMED_OUT", "SUBMIT_FAILED", "PRE_SKIP value", "PRE_ENDED")
    p.logged("005 .*", times=4)
    p.started("P 0", "Q 0", "T 1", "U 2")
    p.logged(r"return value 7\)", times=3)
    p.says("Running POST script of Node P")
    p.logged("TIMED_OUT", "^009", times=2)
    p.cut()


@scene
def surplus(p: Play) -> None:
    """-MaxJobs is lowered while jobs run."""
    p.wait("A", "B", "C")
    p.file("t.config", "DAGMAN_REMOVE_JOBS_AFTER_LIMIT_CHANGE = True\n")
    nodes = "JOB A job.sub\nJOB B job.sub\nJOB C job.sub\nRETRY C 1\n"
    p.submit(f"CONFIG t.config\n{nodes}", "-maxjobs", "3")
    p.started("A 0", "B 0", "C 0")
    p.edit("DAGMan_MaxJobs", 1)
    p.logged("SURPLUS", "^009")
    p.cut()


@scene
def provisioner(p: Play) -> None:
    """A PROVISIONER is ready, a SERVICE runs."""
    p.wait("V", "W", "A")
    p.submit(
        "PROVISIONER V job.sub\nSERVICE W job.sub\nJOB A job.sub\nJOB B job.sub\nPARENT A CHILD B\n"
    )
    p.started("V 0")
    p.run("condor_qedit", str(p.job("V")), "ProvisionerState", "2")
    p.logged("PROVISIONED")
    p.started("A 0")
    p.cut()


@scene
def common_input(p: Play) -> None:
    """Jobs with a list of common input files."""
    p.file("common", "x\n")
    p.file("idle.sub", IDLE.replace("queue\n", "transfer_common_input = common\nqueue\n"))
    p.submit("JOB A idle.sub\nJOB B idle.sub\nJOB C idle.sub\nPARENT A B CHILD C\n")
    p.logged("COMMON_INPUT")
    p.logged("^000", times=2)
    p.cut()


@scene
def final(p: Play) -> None:
    """A node has failed, and the FINAL node runs."""
    p.wait("F")
    p.submit(
        'JOB A job.sub\nVARS A code="3"\nJOB B job.sub\nPARENT A CHILD B\n'
        "FINAL F job.sub\nJOB C job.sub\n"
    )
    p.logged("FINAL_STARTED")
    p.started("F 0")
    p.cut()


@scene
def conditions(p: Play) -> None:
    """Branches by what nodes publish."""
    p.wait("large", "G")
    p.program("job.sh", JOB.replace("echo", 'echo "size = 150" > "$1.ad"\necho', 1))
    p.submit("""\
JOB A job.sub
JOB G job.sub
JOB H job.sub
VARS H code="3"
JOB large job.sub
JOB small job.sub
JOB more job.sub
JOB late job.sub
JOB repair job.sub
JOB odd job.sub
PARENT A CHILD large small odd
PARENT small CHILD more
PARENT G CHILD late
PARENT H CHILD repair
PUBLISH A FILE A.ad
PUBLISH G FILE G.ad
RUN_IF large Parents.A.size >= 100
RUN_IF small Parents.A.size < 100
RUN_IF late Parents.G.size > 1
RUN_IF repair Parents.H.Outcome == "FAILED"
RUN_IF odd ELSE DONE Parents.A.size == 3
""")
    p.started("large 0", "repair 0", "G 0")
    p.logged("NODE_RESULT")
    p.logged('"CONDITION"', times=4)
    p.cut()


@scene
def cached(p: Play) -> None:
    """A second run: some nodes have not changed, one runs."""
    for node in "ABCD":
        p.file(f"{node}.in", f"{node}\n")
    p.program("job.sh", JOB.replace("exit", 'cat "$1.in" > "$1.out"\nexit'))
    dag = """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
PARENT A B CHILD C
PARENT C CHILD D
CACHE ALL_NODES INPUTS $(JOB).in OUTPUTS $(JOB).out
"""
    p.submit(dag)
    p.gone()
    p.file("B.in", "other\n")
    p.wait("C")
    (p.work / "ledger").unlink()
    p.submit_again("-f")
    p.started("C 0")
    p.logged('"CACHED"', times=3)
    p.cut()


@scene
def braked(p: Play) -> None:
    """A BRAKE halts the DAG."""
    p.wait("K")
    p.submit(_sick("HALT"), "-maxjobs", "3")
    p.logged("BRAKED")
    p.started("K 0")
    p.logged(r"return value 3\)", times=3)
    p.cut()


@scene
def brakes_off(p: Play) -> None:
    """A person has resumed a DAG that a BRAKE had halted."""
    p.wait("K")
    p.submit(_sick("HALT"), "-maxjobs", "3")
    p.logged("BRAKED")
    p.wait("N5", "N6", "N7")
    p.steer("resume")
    p.logged("BRAKES_OFF")
    p.started("N5 0", "N6 0")
    p.cut()


def _sick(effect: str) -> str:
    nodes = "".join(f'JOB N{n} job.sub\nVARS N{n} code="3"\n' for n in range(9))
    return f"JOB K job.sub\nPRIORITY K 1\n{nodes}BRAKE sick 2 ALIKE EXIT_CODE {effect}\n"


@scene
def growth(p: Play) -> None:
    """Nodes are added by nodes and by a person; what one adds is refused."""
    p.program("split.sh", "#!/bin/sh\nprintf 'x 0\\ny 3\\nz 0\\n' > list\n")
    p.program(
        "more.sh",
        "#!/bin/sh\necho 'JOB M1 job.sub\nJOB M2 job.sub\nPARENT M1 CHILD M2' > more.dag\n",
    )
    p.program("bad.sh", "#!/bin/sh\necho 'JOB A job.sub' > bad.dag\n")
    p.file("person.dag", "JOB X job.sub\nPARENT X CHILD END\nRETRY X 2\n")
    p.wait("part-x", "M1", "X", "L")
    p.submit("""\
JOB A job.sub
SCRIPT POST A split.sh
SCATTER A list part-{1} job.sub VARS code={2}
JOB B job.sub
SCRIPT POST B more.sh
EXTEND B more.dag
JOB C job.sub
SCRIPT POST C bad.sh
EXTEND C bad.dag
JOB L job.sub
EXTEND L later.dag
JOB END job.sub
PARENT A B L CHILD END
""")
    p.started("part-x 0", "part-z 0", "M1 0", "L 0")
    p.logged("GROWTH_FAILED")
    p.steer("add", "person.dag")
    p.started("X 0")
    p.logged('"GROWN"', times=3)
    p.logged(r"return value 3\)")
    p.cut()


_FEED = """\
#!/bin/sh
first=$((2 * $1 - 1))
for n in $first $((first + 1)); do echo "JOB n$n job.sub"; done
test "$1" -lt 5 || exit 9
"""


@scene
def feeder(p: Play) -> None:
    """A FEEDER adds nodes; then it fails."""
    p.program("feed.sh", _FEED)
    p.wait("n7", "n8")
    p.submit("FEEDER BELOW 3 RETRIES 0 PROGRAM feed.sh $FEEDING\nJOB K job.sub\n")
    p.started("n7 0", "n8 0")
    p.logged("FEEDER_FAILED")
    p.cut()


@scene
def fed(p: Play) -> None:
    """A FEEDER waits until fewer nodes are left."""
    p.program("feed.sh", _FEED)
    p.wait("n3", "n4")
    p.submit("FEEDER BELOW 2 PROGRAM feed.sh $FEEDING\n")
    p.started("n3 0", "n4 0")
    p.logged('"GROWN"', times=2)
    p.cut()


@scene
def enough(p: Play) -> None:
    """A search has found enough."""
    p.wait("try1", "try2", "best")
    tries = [f"try{n}" for n in range(6)]
    text = "".join(f"JOB {name} job.sub\nCATEGORY {name} search\n" for name in tries)
    p.submit(
        f"{text}JOB best job.sub\nPARENT {' '.join(tries)} CHILD best\nENOUGH CATEGORY search 2\n",
        "-maxjobs",
        "3",
    )
    p.started("try1 0", "try2 0")
    p.logged('"ENOUGH"', "NOT_NEEDED", "DAG Enough")
    p.started("best 0")
    p.cut()


@scene
def steered(p: Play) -> None:
    """Commands of every kind for nodes."""
    p.wait("H", "C", "R", "E", "K", "I")
    p.submit("""\
JOB H job.sub
JOB C job.sub
JOB R job.sub
VARS R code="3"
JOB S job.sub
JOB D job.sub
JOB E job.sub
JOB I job.sub
JOB K job.sub
JOB F job.sub
JOB G job.sub
VARS F code="3"
PARENT K CHILD S D E
PARENT S CHILD G
RETRY E 3
""")
    p.started("H 0", "C 0", "R 0", "K 0", "F 0", "I 0")
    p.steer("hold", "H")
    p.steer("hold", "I")
    p.logged("^012", times=2)
    p.steer("release", "I")
    p.logged("^013")
    p.steer("cancel", "C")
    p.steer("skip", "S")
    p.steer("done", "D")
    p.steer("set", "E", "--priority", "7", "--retries", "5")
    p.logged("^009")
    p.logged(r"return value 3\)")
    (p.work / "hold.F").touch()
    p.steer("rerun", "F")
    p.until(lambda: sum(dags.starts(p.work)[f"F {n}"] for n in range(2)) >= 2, "F again")
    p.logged("STEERED", times=5)
    p.steer("halt", "--reason", "new calibration")
    p.go("K")
    p.logged("^005", times=2)
    p.says("Halt reason: ?.*new calibration")
    p.cut()


@scene
def shared_limits(p: Play) -> None:
    """Limits that DAGs share: one that the DAG names, and one that the administrator applies."""
    p.directory("places")
    p.file(".condor/pydagman_limits", "few = JOBS 2 STARTS-PER-MINUTE 600\n")
    p.file("t.config", f"PYDAGMAN_LIMITS_DIR = {p.work}/places\n")
    p.wait("A", "B")
    p.submit(
        f"CONFIG t.config\nENV SET HOME={p.work};_CONDOR_PYDAGMAN_SHARED_LIMITS=all = JOBS 9;"
        "_CONDOR_PYDAGMAN_APPLIED_LIMITS=all ALL\nSHARED_LIMIT few ALL_NODES\n"
        "JOB A job.sub\nJOB B job.sub\nJOB C job.sub\nJOB D job.sub\n"
    )
    p.started("A 0", "B 0")
    p.cut()


_AT = """\
universe = scheduler
executable = job.sh
arguments = "$(JOB) $(code:0) $(RETRY) $(MATCH_Name)"
queue
"""


@scene
def sites(p: Play) -> None:
    """Groups at sites: one stays, one has left, one gets none."""
    p.directory("claims")
    p.program("job.sh", JOB.replace("exit", 'test "$1 $4" = "B2 north-old" && exit 1\nexit'))
    p.file("at.sub", _AT)
    p.file("t.config", f"PYDAGMAN_SITES_INTERVAL = 1\nPYDAGMAN_SITES_DIR = {p.work}/claims\n")
    for name in ("north", "south"):
        p.file(f"sites/{name}.ad", f'Name = "{name}-old"\nMaxMatches = 9\nOld = true\n')
    p.run("condor_pydagman", "sites", "monitor", str(p.work / "sites"), "--once")
    p.wait("A2", "B3", "E1")
    p.submit("""\
CONFIG t.config
JOB A1 at.sub
JOB A2 at.sub
PARENT A1 CHILD A2
SITE_GROUP A NODES A1 A2
JOB B1 at.sub
JOB B2 at.sub
JOB B3 at.sub
JOB BC at.sub
PARENT B1 CHILD B2
PARENT B2 CHILD B3
PARENT B3 CHILD BC
SITE_GROUP B NODES B1 B2 B3 BC
SITE_POLICY B FAILURES 1
SITE_POLICY B OLD_SITE NEVER
SITE_POLICY B CLEAN_UP BC 10m
SITE_POLICY B RANK TARGET.Name == "north-old"
JOB C1 at.sub
VARS C1 code="2"
SITE_GROUP C NODES C1
SITE_POLICY C ROUNDS 1
SITE_POLICY C FAILURES 1
JOB D1 at.sub
SITE_GROUP D NODES D1
SITE_POLICY D REQUIREMENTS TARGET.Depth > 5
JOB E1 at.sub
SITE_GROUP E NODES E1
SITE_POLICY ALL_GROUPS REQUIREMENTS TARGET.Old
""")
    p.logged("SITE_MATCHED", times=4)
    p.logged("SITE_TAKEN_BACK", "SITE_LEFT", "SITE_CLEANED", "NO_SITE")
    p.started("A2 0", "B3 0", "E1 0")
    p.cut()


_RESERVE = """\
[
  dap_type = "allocate";
  dest_host = "scratch";
  allocation_id = "old";
  size = "1MB";
  duration = "30 days";
]
"""
_IN = """\
[
  dap_type = "transfer";
  src_url = "a";
  dest_url = "b";
  priority = 5;
]
[
  dap_type = "transfer";
  src_url = "http://127.0.0.1:41817/$(file)";
  dest_url = "c";
]
"""


@scene
def data(p: Play) -> None:
    """DATA nodes: done, in the middle of a transfer, and failed once."""
    p.directory("shared")
    p.file("a", "some text\n")
    p.file(
        "t.config",
        f"""\
PYDAGMAN_PLACEMENT_DIR = {p.work}/shared
PYDAGMAN_PLACEMENT_CAPACITY = scratch=10 MB
PYDAGMAN_PLACEMENT_STALL_TIMEOUT = 3000
PYDAGMAN_PLACEMENT_MAX = 1
""",
    )
    p.file("reserve.dap", _RESERVE)
    p.file("in.dap", _IN)
    p.file("second.dap", '[ dap_type = "transfer"; src_url = "a"; dest_url = "e"; ]\n')
    p.wait("second")
    p.file("bad.dap", '[ dap_type = "transfer"; src_url = "nothing"; dest_url = "d"; ]\n')
    p.submit("""\
CONFIG t.config
DATA reserve reserve.dap
DATA in in.dap
VARS in file="slow"
DATA bad bad.dap
DATA second second.dap
SCRIPT PRE second script.sh second 0
JOB A job.sub
PARENT reserve CHILD in
PARENT in CHILD A
NODE_STATUS_FILE t.status 1
""")
    p.until(lambda: p.text("b"), "the first transfer")
    p.logged("PLACEMENT", times=3)
    p.logged(r"^005", times=2)
    p.until(lambda: list(p.work.glob(".c.*.part")), "the second transfer")
    p.go("second")
    p.until(lambda: len(list(p.work.glob("shared/turn.*"))) == 2, "a ticket that waits")
    time.sleep(4)  # the worker tells of its progress
    p.cut()


@scene
def mixed(p: Play) -> None:
    """What stock has: splices, sub-DAGs, several procs, late materialization, save points."""
    p.file("splice.dag", "JOB A job.sub\nJOB B job.sub\nPARENT A CHILD B\n")
    p.file("inner.dag", "JOB I job.sub\n")
    p.program("tell.sh", "#!/bin/sh\ncat >> told\n")
    p.file("late.sub", SUBMIT.replace("queue $(procs:1)", "max_materialize = 2\nqueue 5"))
    p.wait("S+B", "I", "L", "M")
    p.submit("""\
SPLICE S splice.dag
SUBDAG EXTERNAL N inner.dag
JOB M job.sub
VARS M procs="3"
JOB L late.sub
JOB D job.sub DONE
JOB E job.sub
JOB Z job.sub
PARENT S D CHILD E
PARENT N M L CHILD Z
SAVE_POINT_FILE M t.save
CATEGORY M big
MAXJOBS big 1
RETRY M 2
ABORT-DAG-ON E 9 RETURN 1
DOT t.dot UPDATE
NODE_STATUS_FILE t.status 1
JOBSTATE_LOG t.jobstate
NOTIFY node.state,dag.end PROGRAM ./tell.sh
""")
    p.started("S+B 0", "I 0", "M 0", "L 0")
    p.logged(r"^000", times=7)
    p.until(lambda: p.text("t.status").count("STATUS_SUBMITTED") >= 4, "the status file")
    p.until(lambda: "node.state" in p.text("told"), "a message")
    p.cut()


@scene
def together(p: Play) -> None:
    """Nodes that were submitted as procs of one cluster."""
    names = [f"T{n}" for n in range(6)]
    p.wait(*names[2:])
    p.submit(
        "".join(f"JOB {name} job.sub\n" for name in names) + "JOB Z job.sub\nPARENT T0 CHILD Z\n"
    )
    p.started(*(f"{name} 0" for name in names), "Z 0")
    p.logged("^005", times=3)
    p.cut()


@scene
def restarted(p: Play) -> None:
    """A DAGMan that was held and released, and one that was killed, before the last one."""
    p.wait("A", "B")
    p.submit(
        "JOB A job.sub\nJOB B job.sub\nJOB C job.sub\nJOB D job.sub\n"
        "PARENT A CHILD C\nPARENT B CHILD D\n"
    )
    p.started("A 0", "B 0")
    p.hold()
    p.go("A")
    p.release()
    p.wait("D")
    p.started("C 0")
    p.restart()
    p.go("B")
    p.started("D 0")
    p.cut()


@scene
def held(p: Play) -> None:
    """DAGMan's job is on hold, halted by the halt file; a job ends meanwhile."""
    p.wait("A", "B")
    p.submit("JOB A job.sub\nJOB B job.sub\nJOB C job.sub\nPARENT A CHILD C\n")
    p.started("A 0", "B 0")
    p.file("t.dag.halt", "")
    p.says("[Hh]alt")
    p.hold()
    p.go("A")
    p.logged("^005")


@scene
def removed(p: Play) -> None:
    """condor_rm of DAGMan, whose DAG has grown; its rescue file is to be run."""
    p.program("split.sh", "#!/bin/sh\nprintf 'x 0\\ny 3\\nz 0\\n' > list\n")
    p.program("job.sh", JOB.replace("echo", 'echo "size = 150" > "$1.ad"\necho', 1))
    for node in ("Y", "B"):
        p.wait(node)
    p.wait("part-x")
    p.submit("""\
JOB A job.sub
SCRIPT POST A split.sh
SCATTER A list part-{1} job.sub VARS code={2}
JOB B job.sub
VARS B code="3"
RETRY B 2
JOB P job.sub
PUBLISH P FILE P.ad
JOB Y job.sub
JOB N job.sub
JOB E job.sub
PARENT P CHILD Y N
RUN_IF Y Parents.P.size > 100
RUN_IF N Parents.P.size < 100
PARENT A CHILD E
""")
    p.started("part-x 0", "Y 0", "B 0")
    p.logged('"CONDITION"', times=2)
    p.steer("set", "E", "--priority", "3")
    p.go("B")
    p.started("B 2")
    p.remove()
    p.ends()
    assert p.text("t.dag.rescue001")


@scene
def removed_with_more(p: Play) -> None:
    """condor_rm: the rescue file has a site, nodes not needed, a FEEDER, a node that runs anew."""
    p.directory("claims")
    p.file("at.sub", _AT)
    p.program("feed.sh", _FEED)
    p.file(
        "t.config",
        f"PYDAGMAN_SITES_INTERVAL = 1\nPYDAGMAN_SITES_DIR = {p.work}/claims\n",
    )
    p.file("sites/east.ad", 'Name = "east-old"\nMaxMatches = 9\nEast = true\n')
    p.run("condor_pydagman", "sites", "monitor", str(p.work / "sites"), "--once")
    p.wait("A2", "D", "W", "t1", "n5", "n6")
    p.submit("""\
CONFIG t.config
FEEDER BELOW 5 PROGRAM feed.sh $FEEDING
JOB A1 at.sub
JOB A2 at.sub
PARENT A1 CHILD A2
SITE_GROUP A NODES A1 A2
SITE_POLICY A REQUIREMENTS TARGET.East
JOB D job.sub DONE
JOB W job.sub
JOB t0 job.sub
JOB t1 job.sub
JOB t2 job.sub
JOB Z job.sub
PARENT t0 t1 t2 CHILD Z
PARENT W CHILD t2 Z
ENOUGH PARENTS Z 1
""")
    p.started("A2 0", "W 0", "n5 0", "n6 0")
    p.logged('"ENOUGH"')
    p.steer("rerun", "D")
    p.until(lambda: re.search("^D ", p.text("ledger"), re.M), "D runs anew")
    p.remove()
    p.ends()
    assert p.text("t.dag.rescue001")


@scene
def rescued(p: Play) -> None:
    """A run that began with a rescue file, cut off."""
    p.wait("B")
    p.submit(
        'JOB A job.sub\nJOB B job.sub\nJOB C job.sub\nJOB D job.sub\nVARS D code="3"\n'
        "RETRY D 1\nPARENT B CHILD C\n"
    )
    p.started("B 0", "A 0")
    p.logged(r"return value 3\)", times=2)
    p.remove()
    p.gone()
    (p.work / "ledger").unlink()
    p.submit_again()
    p.started("B 0", "D 1")
    p.logged(r"return value 3\)", times=2)
    p.cut()


@scene
def lost_events(p: Play) -> None:
    """Events are missing: of a job that runs, of one that has ended, of one that nobody knows."""
    p.wait("A", "B", "C", "K")
    p.submit(
        "JOB A job.sub\nJOB B job.sub\nJOB C job.sub\nJOB K job.sub\nJOB Z job.sub\n"
        "PARENT A B C CHILD Z\n"
    )
    p.started("A 0", "B 0", "C 0", "K 0")
    a, b, c = (p.job(node) for node in "ABC")
    p.hold()
    p.go("B")
    p.logged(rf"^005 \({b:03}")
    p.until(lambda: not p.access_point.queue(f"ClusterId == {b}"), "B to leave")
    p.without("005", b)
    p.without("...", a)
    p.release()
    p.logged("ADOPTED", "JOB_ENDED")
    p.hold()
    p.go("C")
    p.logged(rf"^005 \({c:03}")
    p.until(lambda: not p.access_point.queue(f"ClusterId == {c}"), "C to leave")
    p.without("005", c)
    for file in (p.access_point.pool.directory / "spool").glob("history*"):
        file.write_text("")
    p.release()
    p.logged("JOB_LOST")
    p.cut()
