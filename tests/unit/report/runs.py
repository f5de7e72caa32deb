"""A run with a bit of everything, for tests of reports.

A diamond whose nodes have scripts, retries, holds and a failure.
"""

from __future__ import annotations

from condor_pydagman.follow.run_model import Attempt, Hold, NodeRun, Run, ScriptRun, Start, Usage
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeStatus

BEGIN = 1000.0
DAG = """\
JOB A a.sub
JOB B work.sub
JOB C work.sub
JOB D d.sub
SCRIPT PRE A x
SCRIPT POST B x
RETRY B 1
PARENT A CHILD B C
PARENT B C CHILD D
"""


def make_dag(text: str = DAG) -> Dag:
    return build(["t.dag"], lambda _: iter([text]), BuildOptions())


def script(begin: float, end: float, value: int = 0) -> ScriptRun:
    made = ScriptRun(begin)
    made.ended, made.value = end, value
    return made


def attempt(number: int, submitted: float, started: float, ended: float, value: int = 0) -> Attempt:
    made = Attempt(number)
    made.submitted, made.started, made.ended, made.value = submitted, started, ended, value
    made.cluster, made.procs, made.ended_procs, made.over = number + 7, 1, 1, True
    made.hosts = ("slot1@one",)
    made.usage = {
        "Cpus": Usage(0.5, 1.0, 1.0),
        "Memory (MB)": Usage(30.0, 100.0, 128.0),
        "GPUs": Usage(None, None, 0.0),
    }
    made.cpu_s, made.bytes_sent, made.bytes_received = 2.0, 10, 20
    return made


def make_run() -> Run:
    """A: PRE 1000-1002, waits 1002-1004, runs -1010. B: twice, POST. C: held. D: has failed."""
    run = Run()
    run.begun, run.ended, run.last, run.exit_code = BEGIN, 1040.0, 1040.0, 1
    run.starts = [Start(BEGIN, version="25.14.1")]
    nodes = {name: NodeRun(name, NodeStatus.DONE) for name in "ABCD"}
    run.nodes = nodes
    first = attempt(0, 1002, 1004, 1010)
    first.pre = script(1000, 1002)
    nodes["A"].attempts = [first]
    again = attempt(1, 1016, 1017, 1020)
    again.post = script(1020, 1024)
    nodes["B"].attempts = [attempt(0, 1010, 1011, 1015, 3), again]
    held = attempt(0, 1010, 1012, 1013)
    held.holds = [Hold(1011, "no <such> file", 13, 2, "7.0", 1012)]
    nodes["C"].attempts = [held]
    nodes["D"].attempts = [attempt(0, 1025, 1030, 1040, -9)]
    nodes["D"].status = NodeStatus.ERROR
    return run
