"""The world of a golden file: a DAG, its files as DAGMan and jobs leave them, a pool, and a clock.

Each phrase of a golden file is a method of `World`.  In a phrase `<name>` is an argument of one
word, `<text>` of any, and `[]` is around what may be left out; else it is a regular expression.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import re
import struct
import time
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

import classad2

from condor_pydagman.language.keywords import WORDS
from condor_pydagman.records import own_events
from condor_pydagman.records.dagman_out import LIMITS
from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.dag_logs import HOST, DagLogs
from tests.readers import pool
from tests.readers.pool import Pool
from tests.scenes.jobs import Job, Jobs

NOON = 1795003200.0  # 2026-11-18 12:00:00 UTC
DAGMAN = (100, 0)  # DAGMan's job; those of nodes come after it
LOCK = "t.dag.lock"
_UNITS = {"s": 1, "min": 60, "h": 3600}
_LIMITS = {name: words for words, name in LIMITS.items()}
Method = TypeVar("Method", bound=Callable[..., None])
_PHRASES: list[tuple[re.Pattern[str], Callable[..., None]]] = []


_OUTGROWN = (
    "\n\tPartitionable Resources :    Usage  Request Allocated"
    "\n\t   Memory (MB)          :   158         100       128"
)


def phrase(usage: str) -> Callable[[Method], Method]:
    """Have a method called for a phrase, with the phrase's arguments."""
    pattern = usage.replace("[", "(?:").replace("]", ")?").replace("<text>", "(.+)")
    pattern = pattern.replace("<job>", r"((?:bundle )?[^ ]+)")
    pattern = re.sub("<[a-z]+>", "([^ ]+)", pattern)

    def named(method: Method) -> Method:
        _PHRASES.append((re.compile(pattern), method))
        return method

    return named


class World(DagLogs):
    """A DAG `t.dag` in the working directory, which nobody has submitted yet.

    Args:
        dag: its text, as `make.dag` takes it.
    """

    def __init__(self, dag: str) -> None:
        self.pool, self._jobs = Pool(), Jobs()
        self._jobs.add(["DAGMan"], str(DAGMAN[0]))
        self._lock: int | None = None
        self._noops = 0
        self._events: list[str] = []  # of this run, as DAGMan has said them
        self._stamps: dict[str, float] = {}
        super().__init__(Path())
        self.now = NOON
        for path in (self.log, self.out):
            path.unlink()
        self.happen(f"t.dag says: {_written_out(dag)}")
        self.happen("n.sub says: error = $(JOB).err\nqueue")

    def happen(self, what: str) -> None:
        """What a golden file says happens."""
        for pattern, method in _PHRASES:
            found = pattern.fullmatch(what)
            if found:
                method(self, *found.groups(""))
                self._stamp()
                return
        raise AssertionError(f"there is no such phrase: {what}")

    def _stamp(self) -> None:
        """Give files that were written the time of this world."""
        for entry in os.scandir():
            if entry.stat().st_mtime != self._stamps.get(entry.name):
                os.utime(entry.path, (self.now, self.now))
                self._stamps[entry.name] = self.now

    @phrase(r"\+<number> (s|min|h)")
    def _time_passes(self, number: str, unit: str) -> None:
        self.now += float(number) * _UNITS[unit]

    # DAGMan.

    @phrase("DAGMan is submitted")
    def _submitted(self) -> None:
        Path("t.dag.condor.sub").write_text(f'arguments = "-f -l . -Lockfile {LOCK} -Dag t.dag"\n')
        arguments = f"-Lockfile {LOCK} -Dag t.dag"
        here = {"Iwd": os.getcwd(), "Arguments": arguments, "UserLog": "t.dag.dagman.log"}
        me = pwd.getpwuid(os.getuid()).pw_name
        self.pool.add(DAGMAN, self.now, JobUniverse=7, Owner=me, QDate=int(self.now), **here)

    @phrase("DAGMan starts[ with <rescue>]")
    def _starts(self, rescue: str) -> None:
        self._begin()
        self._events.clear()
        self.start(rescue=rescue)

    @phrase("DAGMan starts and recovers")
    def _recovers(self) -> None:
        self._begin()
        self.start(fresh=False)
        for event in self._events:
            self.say(f"{event} [recovery mode]")

    def _begin(self) -> None:
        if not self.pool.has(DAGMAN):
            self._submitted()
        self.pool.set(DAGMAN, self.now, pool.RUNNING)
        self._lock = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        os.write(self._lock, b"%d\n" % DAGMAN[0])
        whole = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(self._lock, fcntl.F_OFD_SETLK, whole)  # this process can see such a lock itself

    @phrase("DAGMan is killed")
    def unlock(self) -> None:
        """DAGMan holds its lock no longer."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @phrase("DAGMan exits <code>")
    def _exits(self, code: str) -> None:
        self.end(int(code))
        self.unlock()
        os.unlink(LOCK)
        self.pool.leave(DAGMAN, self.now, ExitCode=int(code), CompletionDate=int(self.now))

    @phrase("DAGMan's job waits")
    def _waits(self) -> None:
        self.pool.set(DAGMAN, self.now, pool.IDLE)

    @phrase("DAGMan's job is held: <text>")
    def _is_held(self, reason: str) -> None:
        self.unlock()
        self.pool.set(DAGMAN, self.now, pool.HELD, HoldReason=reason, HoldReasonCode=1)

    @phrase("DAGMan's ad has <name>: <text>")
    def _has(self, name: str, value: str) -> None:
        self.pool.set(DAGMAN, self.now, pool.RUNNING, **{name: value})

    @phrase("DAGMan says: <text>")
    def _says(self, text: str) -> None:
        self.say(text)

    @phrase("DAGMan counts <text>")
    def _counts(self, numbers: str) -> None:
        """Done, pre, queued, post, ready, unready, failed, futile."""
        counts = [*map(int, numbers.split())]
        self.counts(sum(counts), *counts)

    @phrase(r"(Max\w+) is <number>")
    def _limit(self, name: str, number: str) -> None:
        self.say(f"\tMaximum {_LIMITS[f'DAGMan_{name}']}----: {number}")

    @phrase(
        "the log has <record> of <node>[ as <cluster>][ retry <retry>][ value <value>][: <text>]"
    )
    def _record(
        self, record: str, node: str, cluster: str, retry: str, value: str, text: str
    ) -> None:
        """A record of DAGMan's; with `-` for a node it is about the DAG."""
        retries, name, job = int(retry or 0), node.strip("-"), int(cluster or -1)
        self.record(record, int(value or 0), job, text=text, node=name, retry=retries)

    def event(self, kind: int, text: str, job: str) -> None:
        """An event of the nodes log, of which DAGMan says what it has read."""
        super().event(kind, text, job)
        cluster, proc, task = map(int, job.split("."))
        if not task:
            node = self._jobs.owner((cluster, proc))
            when = time.strftime("%m/%d/%y %H:%M:%S", time.localtime(self.now))
            name = f"ULOG_{EventKind(kind).name} for HTCondor Node {node}"
            self._events.append(f"Event: {name} ({cluster}.{proc}.0) {{{when}}}")
            self.say(self._events[-1])

    # Nodes and their jobs: `A` are all of a node that have not ended, `A.1` is its proc 1.

    @phrase("<node> queues <count>")
    def _queues(self, node: str, count: str) -> None:
        self._jobs.counts[node] = int(count)

    @phrase("<job> is submitted[ as <cluster>]")
    def _taken(self, node: str, cluster: str) -> None:
        for job in self._jobs.add([node], cluster):
            self._comes(node, job)

    def _comes(self, node: str, job: Job) -> None:
        self.submit(node, *job)
        of_dag = {"DAGManJobId": DAGMAN[0], "DAGNodeName": node, "JobUniverse": 5}
        needs = classad2.ExprTree("TARGET.Memory >= RequestMemory")
        self.pool.add(job, self.now, **of_dag, RequestMemory=128, Requirements=needs)

    @phrase("<node> and <node> are submitted together")
    def _together(self, *nodes: str) -> None:
        for node, job in zip(nodes, self._jobs.add([*nodes])):
            self._comes(node, job)
        shared = "    one of several DAG nodes in its cluster\n...\n"
        text, end = self.log.read_text(), "...\n"
        begin = text.index(f"000 ({_job((job[0], 0))})")
        self.log.write_text(text[:begin] + text[begin:].replace(end, shared))

    @phrase("factory of <node> (is submitted|leaves)")
    def _factory(self, node: str, does: str) -> None:
        """The node's jobs come one by one, by `factory of A makes 0`."""
        self._jobs.factory(node)
        text = "Cluster removed\n\tMaterialized 1 jobs from 1 items.\tComplete\n"
        if does == "is submitted":
            text = f'Cluster submitted from host: {HOST}\n    [ DAGNodeName = "{node}" ]\n'
        self.event(35 + (does == "leaves"), text, f"{self._jobs.cluster(node):03d}.-01.-01")

    @phrase("factory of <node> makes <proc>")
    def _makes(self, node: str, proc: str) -> None:
        self._comes(node, self._jobs.make(node, int(proc)))

    @phrase("<node> is refused: <text>")
    def _refused(self, node: str, reason: str) -> None:
        self.say(f"Event: ULOG_SUBMIT_FAILURE for HTCondor Node {node} (-1.-1.-1) {{x}} {reason}")

    @phrase("<job> runs[ on <slot>]")
    def _runs(self, name: str, slot: str) -> None:
        for job in self._jobs.named(name):
            self.execute(*job, slot=slot or "slot1@one")
            self.pool.set(job, self.now, pool.RUNNING)

    @phrase("<job> ends[ <code>]")
    def _ends(self, name: str, code: str) -> None:
        """With an exit code, or by a signal: `-9`."""
        for job in self._jobs.named(name):
            value = int(code or 0)
            self.terminate(*job, value=value)
            node = self._jobs.owner(job)
            self.say(f"Node {node} job proc ({job[0]}.{job[1]}.0) {_result(value)}.")
            self._leave(job, pool.COMPLETED)

    @phrase("<job> is removed: <text>")
    def _is_removed(self, name: str, reason: str) -> None:
        for job in self._jobs.named(name):
            self.abort(*job, reason=reason)
            self._leave(job, pool.REMOVED)

    def _leave(self, job: Job, status: int) -> None:
        self._jobs.end(job)
        self.pool.leave(job, self.now, status)

    @phrase("<job> is held: <text>")
    def _holds(self, name: str, reason: str) -> None:
        """By a person, who is named, for its memory, or since files could not be transferred."""
        code, subcode = (1, 0) if " (by user" in reason else (13, 2)
        code, subcode = (21, 102) if reason.startswith("memory usage") else (code, subcode)
        why = {"HoldReason": reason, "HoldReasonCode": code, "HoldReasonSubCode": subcode}
        text = f"Job was held.\n\t{reason}\n\tCode {code} Subcode {subcode}\n"
        for job in self._jobs.named(name):
            self.event(12, text, _job(job))
            self.pool.set(job, self.now, pool.HELD, **why)

    @phrase("<job> is (released|evicted): <text>")
    def _goes_back(self, name: str, how: str, reason: str) -> None:
        """It waits in the queue again; if PREEMPT says so, for its memory."""
        kind, form = (13, "{}") if how == "released" else (4, "(0) CPU times\n\tReason: {}")
        form += _OUTGROWN if reason.startswith("PREEMPT") else ""
        for job in self._jobs.named(name):
            text = f"Job was {how}.\n\t{form.format(reason)}\n"
            self.event(kind, text, _job(job))
            self.pool.set(job, self.now, pool.IDLE)

    @phrase("task <number> of <job> is <node>, which ends[ <code>]")
    def _task(self, number: str, bundle: str, node: str, code: str) -> None:
        """It runs for 2 s."""
        job = f"{self._jobs.cluster(bundle):03d}.000.{int(number):03d}"
        self.event(0, f"Job submitted from host: <bundle>\n    DAG Node: {node}\n", job)
        self.event(1, "Job executing on host: <one>\n", job)
        self.now += 2
        how = own_events.ending(int(code or 0)) + own_events.usage()
        self.event(5, f"Job terminated.\n{how}", job)

    @phrase("<node> is retried, <number> of <most>")
    def _retried(self, node: str, number: str, most: str) -> None:
        self.say(f"Retrying node {node} (retry #{number} of {most})...")

    @phrase("(PRE|POST) of <node> starts")
    def _script_starts(self, kind: str, node: str) -> None:
        self.say(f"Running {kind} script of Node {node}...")

    @phrase("(PRE|POST) of <node> ends[ <code>]")
    def _script_ends(self, kind: str, node: str, code: str) -> None:
        value = int(code or 0)
        if kind == "POST":
            job = {"cluster": self._jobs.cluster(node), "proc": 0, "subproc": 0}
            self._own(own_events.post_ended, node, value, **job)
        self.say(f"{kind} Script of node {node} {_result(value, 'died on')}")

    @phrase("<node> is (skipped|a NOOP)")
    def _has_no_job(self, node: str, why: str) -> None:
        self._noops += 1
        self._own(own_events.noop if why == "a NOOP" else own_events.pre_skip, node, self._noops)

    def _own(self, event: Callable[..., str], *what: Any, **job: int) -> None:
        """An event that DAGMan writes itself."""
        with self.log.open("a") as log:
            log.write(event(own_events.stamp(time.localtime(self.now)), *what, **job))

    # Files, and the pool.

    @phrase(r"(\S+) says: ((?s:.+))")
    def _written(self, name: str, text: str) -> None:
        with open(name, "a", encoding="utf-8") as file:
            file.write(f"{text}\n")

    @phrase("<file> is gone")
    def _is_gone(self, name: str) -> None:
        os.unlink(name)

    @phrase("<file> loses its last <number> bytes")
    def _loses_end(self, name: str, number: str) -> None:
        os.truncate(name, os.path.getsize(name) - int(number))

    @phrase("the log loses event <number>")
    def _loses_event(self, number: str) -> None:
        events = self.log.read_text().split("...\n")
        del events[int(number) - 1]
        self.log.write_text("...\n".join(events))

    @phrase("the pool has <count> slots of <memory> MB")
    def _slots(self, count: str, memory: str) -> None:
        slot = classad2.ClassAd({"Memory": int(memory), "State": "Claimed", "Requirements": True})
        self.pool.slots += [slot] * int(count)

    @phrase("the schedd is down")
    def _is_down(self) -> None:
        self.pool.problem = "it is down"


def _result(value: int, killed: str = "failed with") -> str:
    """How DAGMan says that something has ended."""
    if value < 0:
        return f"{killed} signal {-value}"
    return f"failed with status {value}" if value else "completed successfully"


def _job(job: Job) -> str:
    """A job as events name it."""
    return "{:03d}.{:03d}.000".format(*job)


def _written_out(dag: str) -> str:
    """The text of a DAG file, whose shorthand may have several lines."""
    lines = dag.splitlines()
    edges = [*takewhile(lambda line: line.split()[0].replace("-", "_") not in WORDS, lines)]
    return make.dag_file("\n".join(["; ".join(edges), *lines[len(edges) :]]))
