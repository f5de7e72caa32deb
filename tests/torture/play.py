"""One run of the torture test: a DAG is drawn, submitted, disturbed to its end, and judged.

What run number n is depends on the seed alone, so any run can be had again.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.torture import damage, disturbances, faults, ledger, waits
from tests.torture.disturbances import DISTURBANCES, Disturbance
from tests.torture.everything import Everything, Shared
from tests.torture.judge import Facts, Generation, Verdict, judge
from tests.torture.session import OURS, Session
from tests.torture.workload import Workload, draw
from tests.torture.world import World, until

MAX_SUBMISSIONS = 6
WITH_DAGMAN = "fired when job"  # why the schedd removes jobs of a DAGMan job that was removed
# Files that DAGMan writes only when asked.
RECORDS = ("NODE_STATUS_FILE t.status 1", "JOBSTATE_LOG t.jobstate.log", "DOT t.dot UPDATE")


@dataclass(frozen=True)
class Settings:
    """Settings of all runs.

    Attributes:
        seed: of everything that is drawn.
        stop_seconds: the longest time for which a process is stopped.
        timeout_s: seconds that a DAG may take beside that.
        keep: keep the directories of good runs too.
        max_disturbances: how many disturbances a run may have.
        max_size: how many nodes a workflow may have.
        wait_s: seconds that the jobs of a DAG take, one after the other, where it is to wait.
    """

    seed: int
    stop_seconds: float = 20.0
    timeout_s: float = 1800.0
    keep: bool = False
    max_disturbances: int = 1000
    max_size: int = 36
    wait_s: float = 120.0


@dataclass(frozen=True)
class PlannedRun:
    """A run of the plan."""

    number: int
    disturbance: str
    flavour: str

    @property
    def name(self) -> str:
        """Of its directory."""
        return f"{self.flavour}.{self.number:04}.{self.disturbance.replace(' ', '-')}"


class Player:
    """Runs disturbed DAGs on a pool, many at once."""

    def __init__(self, world: World, settings: Settings, shared: Shared | None = None) -> None:
        self.world = world
        self.settings = settings
        self.submitted: set[str] = set()  # names of runs
        self.shared = shared

    def play(self, run: PlannedRun) -> dict[str, Any]:
        """Play one run; returns its record."""
        begun = time.time()
        disturbance = DISTURBANCES[run.disturbance]
        session = self._session(run, disturbance)
        mounted = False
        try:
            if disturbance.disk:
                mounted = disturbances.mount(session, disturbance.disk)
                if not mounted and not disturbance.everything:
                    return {**_head(run), "skipped": "no small disk can be mounted here"}
            self._prepare(session, disturbance, run.number)
            session.submit()
            self.submitted.add(run.name)
            disturbance.act(session)
            code = self._to_the_end(session, disturbance)
            left: tuple[int, ...] = () if session.left() else (session.cluster,)
            session.generations[-1] = session.generations[-1]._replace(code=code, left=left)
            verdict = self._judge(session, disturbance, code)
        finally:
            if mounted:
                with contextlib.suppress(OSError):
                    shutil.copytree(session.work, session.work.parent / "kept")
                disturbances.unmount(session.work)
        record = _record(run, session, verdict, code, time.time() - begun)
        if not verdict.findings and not self.settings.keep:
            shutil.rmtree(session.work.parent, ignore_errors=True)
        else:
            text = "".join(f"{line}\n" for line in [*session.story, *verdict.findings])
            (session.work.parent / "story").write_text(text)
        return record

    def _session(self, run: PlannedRun, disturbance: Disturbance) -> Session:
        random = Random(f"{self.settings.seed} {run.number} {run.disturbance}")
        top = self.world.directory / "runs" / run.name
        work = top / "dag"
        disturbances.unmount(work)  # of a run that was not finished
        shutil.rmtree(top, ignore_errors=True)
        work.mkdir(parents=True)
        for path in (top, work):
            path.chmod(0o777)
        (top / "ledger").touch()
        (top / "ledger").chmod(0o666)
        access_point = self.world.access_point
        ours = run.flavour == OURS
        return Session(
            self.world,
            work,
            self._drawn(random, disturbance, run.flavour),
            random,
            run.flavour,
            access_point.our_dagman if ours else access_point.stock_dagman,
            disturbance.knobs,
            self.settings.stop_seconds,
            self.settings.max_disturbances,
            time.monotonic()
            + self.settings.timeout_s * (1 if ours else 3)
            + 3 * self.settings.stop_seconds
            + 4 * self.settings.wait_s * disturbance.waits,  # the schedd starts jobs again
        )

    def _drawn(self, random: Random, disturbance: Disturbance, flavour: str) -> Workload:
        if disturbance.waits:
            return waits.draw(random, self.settings.wait_s)
        return draw(
            random,
            sure=disturbance.sure,
            retries=disturbance.retries,
            max_size=self.settings.max_size,
            bundles=disturbance.bundles if flavour == OURS else 0.0,
            outputs=not disturbance.disk,
        )

    def _prepare(self, session: Session, disturbance: Disturbance, number: int) -> None:
        if disturbance.seconds:
            slow = [node._replace(seconds=disturbance.seconds) for node in session.workload.nodes]
            session.workload = session.workload._replace(nodes=tuple(slow))
        if disturbance.plan is not None or disturbance.records or disturbance.everything:
            workload = session.workload
            session.workload = workload._replace(lines=(*workload.lines, *RECORDS))
        if disturbance.plan is not None:
            session.dagman = faults.install(session.work.parent, sys.executable)
            faults.write_plan(
                session.work, disturbance.plan(session.random)[: self.settings.max_disturbances]
            )
        if disturbance.everything:
            assert self.shared is not None
            session.more = Everything(session, self.shared, number)
        session.write()
        if session.more is not None:
            session.more.prepare()

    def _to_the_end(self, session: Session, disturbance: Disturbance) -> int | None:
        """Wait for the end; where DAGMan may give up, its user does not."""
        code = session.wait_end()
        while disturbance.resubmitted and code not in (0, None):
            if len(session.submitted_at) >= MAX_SUBMISSIONS or not session.left():
                break
            session.did(f"DAGMan gave up with {code}; submitted again")
            session.submit()
            if session.more is not None and len(session.submitted_at) <= MAX_SUBMISSIONS // 2:
                disturbance.act(session)
            elif session.more is not None:
                session.more.to_the_end()
            code = session.wait_end()
        return code

    def _judge(self, session: Session, disturbance: Disturbance, code: int | None) -> Verdict:
        world = self.world
        fired = [entry for entry in faults.fired(session.work) if entry.number >= 0]
        session.kills += sum(entry.what.endswith(": kill") for entry in fired)
        session.kills += world.killed.pop(str(session.work), 0)
        session.disturbances += len(fired)
        session.story += [
            f"{time.strftime('%H:%M:%S', time.localtime(f.time))} {f.what}" for f in fired
        ]
        lines, odd = ledger.parse(session.ledger.read_text())
        owners = {owner for run in session.generations for owner in run.owners}
        children = {owner: world.children(owner) for owner in owners}
        missing = {line.cluster for line in lines if line.what == "end" and line.owner in owners}
        missing -= {cluster for found in children.values() for cluster in found}
        if missing:  # the schedd is still at it
            until(lambda: missing <= {key[0] for key in world.history.look()}, pause=0.5)
        if disturbance.waits:
            out = (session.work / "t.dag.dagman.out").read_text(errors="replace")
            session.acts["fall asleep"] = out.count("asleep until")
        if session.more is not None:
            grown = session.more.grown(lines)
            session.workload = session.workload._replace(nodes=(*session.workload.nodes, *grown))
            session.wrong += session.more.judge(lines)
            lines = [line for line in lines if line.node not in session.more.steerer.nodes]
            kept = session.more.done_by_cache(lines)
            session.generations = [it._replace(done=it.done | kept) for it in session.generations]
            session.acts += session.more.counts()
        affected = self._affected(session, disturbance, owners)
        generations = _with_inner(session, lines)
        owners = {owner for run in generations for owner in run.owners}
        owners -= {0}  # a DAGMan by hand is not told from any other
        killed = (*session.carriers_killed, *world.all_killed)
        ads = world.history.look()
        bundles = frozenset(key[0] for key, ad in ads.items() if "DAGManBundleNodes" in ad)
        removed = frozenset(world.submissions(owners, WITH_DAGMAN))
        facts = Facts(world.submissions(owners), frozenset(affected), killed, bundles, removed)
        verdict = judge(session.workload.all_nodes(), generations, lines, facts)
        verdict.wrong += odd + session.wrong
        if code is None:
            verdict.lost.append("the DAG did not end in its time")
        return verdict

    def _affected(self, session: Session, disturbance: Disturbance, owners: set[int]) -> set[str]:
        names: dict[int, set[str]] = {}
        for owner in owners:
            names.update(self.world.children(owner))
        log = session.work / "t.dag.nodes.log"
        hurt: set[int] = set()
        named: set[str] = set()
        if log.with_name(f"{log.name}.cut").exists():
            hurt, named = damage.hurt_by_cut(log)
        if disturbance.disk:
            procs = {node.name: node.procs for node in session.workload.nodes}
            ends = damage.whole(log)
            hurt |= {
                cluster
                for cluster, nodes in names.items()
                if ends.get(cluster, 0) < sum(procs.get(name, 1) for name in nodes)
            }
        return named.union(*(names.get(cluster, ()) for cluster in hurt))


def _with_inner(session: Session, lines: list[ledger.Line]) -> list[Generation]:
    """The runs of the DAG, each with the DAGMans of its sub-DAG, and what these found done."""
    inner = frozenset(node.name for node in session.workload.inner)
    ads, within = session.world.history.look(), {line.owner for line in lines if line.node in inner}
    runs = []
    for run, done in zip(session.generations, session.inner_done):
        above = {one: int(ads.get((one, 0), {}).get("DAGManJobId", 0)) for one in sorted(within)}
        owners = (*run.owners, *(one for one, outer in above.items() if outer in run.owners))
        done = inner if session.workload.subdag in run.done else done
        runs.append(run._replace(owners=owners, done=run.done | done))
    return runs


def _head(run: PlannedRun) -> dict[str, Any]:
    return {"number": run.number, "disturbance": run.disturbance, "flavour": run.flavour}


def _record(
    run: PlannedRun, session: Session, verdict: Verdict, code: int | None, seconds: float
) -> dict[str, Any]:
    return {
        **_head(run),
        "code": code,
        "seconds": round(seconds, 1),
        "nodes": len(session.workload.nodes) + len(session.workload.inner),
        "kills": session.kills,
        "disturbances": session.disturbances,
        "submissions": len(session.submitted_at),
        "acts": session.acts,
        **vars(verdict),
    }
