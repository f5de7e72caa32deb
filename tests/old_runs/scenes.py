"""The DAGs that are played to be cut off, and how far each of them is played.

Together their nodes logs have every journal record.  The files of a DAG are those of a run that is
kept by its name; for a new one they are put there first.  A job goes on as long as there is a file
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

from tests.old_runs.runs import RUNS, text_of
from tests.pool import dags
from tests.pool.scenes import Scene

# How the jobs of runs that were kept first wrote down that they had started.
_BEFORE = 'echo "$1 $3" >> ran\n'


@dataclass
class Play(Scene):
    """A scene that is cut off, and has no files but its own."""

    def take(self, name: str, *others: str) -> None:
        """The DAG of the run that is kept by this name, its job, and other files of it."""
        kept = min(RUNS.glob(f"*/{name}"))
        for file in ("t.dag", "job.sub", "job.sh", *others):
            text = text_of(kept / file, self.work)
            self.file(file, text.replace(_BEFORE, 'echo "$1 $3 start -" >> ledger\n'))
            (self.work / file).chmod((kept / file).stat().st_mode)

    def file(self, name: str, text: str) -> None:
        path = self.work / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

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
    p.take("scripts", "script.sh")
    p.wait("Q", "pre.R", "post.P", "T")
    p.submit_again()
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
    p.take("surplus", "t.config")
    p.wait("A", "B", "C")
    p.submit_again("-maxjobs", "3")
    p.started("A 0", "B 0", "C 0")
    p.edit("DAGMan_MaxJobs", 1)
    p.logged("SURPLUS", "^009")
    p.cut()


@scene
def provisioner(p: Play) -> None:
    """A PROVISIONER is ready, a SERVICE runs."""
    p.take("provisioner")
    p.wait("V", "W", "A")
    p.submit_again()
    p.started("V 0")
    p.run("condor_qedit", str(p.job("V")), "ProvisionerState", "2")
    p.logged("PROVISIONED")
    p.started("A 0")
    p.cut()


@scene
def common_input(p: Play) -> None:
    """Jobs with a list of common input files."""
    p.take("common_input", "common", "idle.sub")
    p.submit_again()
    p.logged("COMMON_INPUT")
    p.logged("^000", times=2)
    p.cut()


@scene
def final(p: Play) -> None:
    """A node has failed, and the FINAL node runs."""
    p.take("final")
    p.wait("F")
    p.submit_again()
    p.logged("FINAL_STARTED")
    p.started("F 0")
    p.cut()


@scene
def conditions(p: Play) -> None:
    """Branches by what nodes publish."""
    p.take("conditions")
    p.wait("large", "G")
    p.submit_again()
    p.started("large 0", "repair 0", "G 0")
    p.logged("NODE_RESULT")
    p.logged('"CONDITION"', times=4)
    p.cut()


@scene
def cached(p: Play) -> None:
    """A second run: some nodes have not changed, one runs."""
    p.take("cached", "A.in", "C.in", "D.in")
    p.file("B.in", "B\n")
    p.submit_again()
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
    p.take("braked")
    p.wait("K")
    p.submit_again("-maxjobs", "3")
    p.logged("BRAKED")
    p.started("K 0")
    p.logged(r"return value 3\)", times=3)
    p.cut()


@scene
def brakes_off(p: Play) -> None:
    """A person has resumed a DAG that a BRAKE had halted."""
    p.take("brakes_off")
    p.wait("K")
    p.submit_again("-maxjobs", "3")
    p.logged("BRAKED")
    p.wait("N5", "N6", "N7")
    p.steer("resume")
    p.logged("BRAKES_OFF")
    p.started("N5 0", "N6 0")
    p.cut()


@scene
def growth(p: Play) -> None:
    """Nodes are added by nodes and by a person; what one adds is refused."""
    p.take("growth", "bad.sh", "more.sh", "person.dag", "split.sh")
    p.wait("part-x", "M1", "X", "L")
    p.submit_again()
    p.started("part-x 0", "part-z 0", "M1 0", "L 0")
    p.logged("GROWTH_FAILED")
    p.steer("add", "person.dag")
    p.started("X 0")
    p.logged('"GROWN"', times=3)
    p.logged(r"return value 3\)")
    p.cut()


@scene
def feeder(p: Play) -> None:
    """A FEEDER adds nodes; then it fails."""
    p.take("feeder", "feed.sh")
    p.wait("n7", "n8")
    p.submit_again()
    p.started("n7 0", "n8 0")
    p.logged("FEEDER_FAILED")
    p.cut()


@scene
def fed(p: Play) -> None:
    """A FEEDER waits until fewer nodes are left."""
    p.take("fed", "feed.sh")
    p.wait("n3", "n4")
    p.submit_again()
    p.started("n3 0", "n4 0")
    p.logged('"GROWN"', times=2)
    p.cut()


@scene
def enough(p: Play) -> None:
    """A search has found enough."""
    p.take("enough")
    p.wait("try1", "try2", "best")
    p.submit_again("-maxjobs", "3")
    p.started("try1 0", "try2 0")
    p.logged('"ENOUGH"', "NOT_NEEDED", "DAG Enough")
    p.started("best 0")
    p.cut()


@scene
def steered(p: Play) -> None:
    """Commands of every kind for nodes."""
    p.take("steered")
    p.wait("H", "C", "R", "E", "K", "I")
    p.submit_again()
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
    p.take("shared_limits", ".condor/pydagman_limits", "t.config")
    applied = "_CONDOR_PYDAGMAN_SHARED_LIMITS=all = JOBS 9;_CONDOR_PYDAGMAN_APPLIED_LIMITS=all ALL"
    p.file("t.dag", p.text("t.dag").replace(f"HOME={p.work}\n", f"HOME={p.work};{applied}\n"))
    p.directory("places")
    p.wait("A", "B")
    p.submit_again()
    p.started("A 0", "B 0")
    p.cut()


@scene
def sites(p: Play) -> None:
    """Groups at sites: one stays, one has left, one gets none."""
    p.take("sites", "at.sub", "sites/north.ad", "sites/south.ad", "t.config")
    p.directory("claims")
    p.run("condor_pydagman", "sites", "monitor", str(p.work / "sites"), "--once")
    p.wait("A2", "B3", "E1")
    p.submit_again()
    p.logged("SITE_MATCHED", times=4)
    p.logged("SITE_TAKEN_BACK", "SITE_LEFT", "SITE_CLEANED", "NO_SITE")
    p.started("A2 0", "B3 0", "E1 0")
    p.cut()


@scene
def data(p: Play) -> None:
    """DATA nodes: done, in the middle of a transfer, and failed once."""
    p.take("data", "a", "bad.dap", "in.dap", "reserve.dap", "script.sh", "second.dap", "t.config")
    p.directory("shared")
    p.wait("second")
    p.submit_again()
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
    p.take("mixed", "inner.dag", "late.sub", "splice.dag", "tell.sh")
    p.wait("S+B", "I", "L", "M")
    p.submit_again()
    p.started("S+B 0", "I 0", "M 0", "L 0")
    p.logged(r"^000", times=7)
    p.until(lambda: p.text("t.status").count("STATUS_SUBMITTED") >= 4, "the status file")
    p.until(lambda: "node.state" in p.text("told"), "a message")
    p.cut()


@scene
def together(p: Play) -> None:
    """Nodes that were submitted as procs of one cluster."""
    p.take("together")
    names = [f"T{n}" for n in range(6)]
    p.wait(*names[2:])
    p.submit_again()
    p.started(*(f"{name} 0" for name in names), "Z 0")
    p.logged("^005", times=3)
    p.cut()


@scene
def restarted(p: Play) -> None:
    """A DAGMan that was held and released, and one that was killed, before the last one."""
    p.take("restarted")
    p.wait("A", "B")
    p.submit_again()
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
    p.take("held")
    p.wait("A", "B")
    p.submit_again()
    p.started("A 0", "B 0")
    p.file("t.dag.halt", "")
    p.says("[Hh]alt")
    p.hold()
    p.go("A")
    p.logged("^005")


@scene
def removed(p: Play) -> None:
    """condor_rm of DAGMan, whose DAG has grown; its rescue file is to be run."""
    p.take("removed", "split.sh")
    for node in ("Y", "B"):
        p.wait(node)
    p.wait("part-x")
    p.submit_again()
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
    p.take("removed_with_more", "at.sub", "feed.sh", "sites/east.ad", "t.config")
    p.directory("claims")
    p.run("condor_pydagman", "sites", "monitor", str(p.work / "sites"), "--once")
    p.wait("A2", "D", "W", "t1", "n5", "n6")
    p.submit_again()
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
    p.take("rescued")
    p.wait("B")
    p.submit_again()
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
    p.take("lost_events")
    p.wait("A", "B", "C", "K")
    p.submit_again()
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
