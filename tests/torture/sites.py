"""The torture test of sites, as a command: groups of many DAGs share sites, DAGMan is killed.

    python -m tests.torture.sites [--minutes N] [--seed S] [--at-once N] [--half] [--directory DIR]

DAGs of a pool of its own have groups with many policies.  One of the sites dies now and then, one
fails all jobs, one takes jobs and never runs them, one has them on hold; their ads change; their
monitor is killed.  DAGMan is killed at random, and at each step of matching a group and of leaving
a site; people have groups matched again; some DAGs are removed and go on from a rescue file.  Exit
code 1 if anything of `site_judge` does not hold.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.pool.access_point import new_directory
from tests.pool.waiting import end_of
from tests.torture import faults, site_dags, site_judge
from tests.torture.commands import kill_dagmans, verdict, words_of
from tests.torture.faults import SITE_POINTS, Fault
from tests.torture.site_judge import Generation, Judge
from tests.torture.site_world import MOST, SiteWorld, started
from tests.torture.world import until

TIMEOUT_S = 1800.0  # for a DAG after its disturbances
# But for records of which half is written: events that others write behind that are lost.
WHOLE_POINTS = tuple(point for point in SITE_POINTS if not point.startswith("half "))
KILLED, AT_STEPS, BOTH = "killed at random", "killed at steps", "both"


@dataclass
class Tally:
    """What has been done so far.

    Attributes:
        steps: kills by the step at which they came.
        refused: requests to rematch that were not granted, by what was said.
        wrong: what was found.
    """

    dags: int = 0
    groups: int = 0
    matches: int = 0
    jobs: int = 0
    kills: int = 0
    removals: int = 0
    rematches: int = 0
    granted: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def line(self) -> str:
        """All of it, for people."""
        return (
            f"{self.dags} DAGs, {self.groups} groups, {self.matches} matches, {self.jobs} jobs,"
            f" {self.kills} kills at random, {sum(self.steps.values())} at"
            f" {len(self.steps)} of {len(SITE_POINTS)} steps, {self.removals} removals,"
            f" {self.granted} of {self.rematches} requests to rematch granted"
        )


class TorturedDag:
    """One DAG, and what is done to it."""

    def __init__(
        self,
        world: SiteWorld,
        work: Path,
        random: Random,
        dagman: str,
        seconds: float,
        points: Sequence[str],
    ) -> None:
        self.points = points
        self.world = world
        self.work = work
        self.random = random
        self.dagman = dagman
        self.seconds = seconds
        self.dag = site_dags.draw(work.name, random, random.randint(5, 10))
        self.how = random.choice((KILLED, AT_STEPS, BOTH))
        self.generations: list[Generation] = []
        self.kills = self.rematches = 0
        self.granted: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.wrong: list[str] = []

    def play(self) -> None:
        """To the end of the DAG, and judge it."""
        site_dags.write(self.dag, self.work, self.random, self.world.ledger, self.world.dead)
        faults.write_plan(self.work, self._plan())
        remove = self.how == KILLED and self.random.random() < 0.5
        ended = self._generation(remove=remove)
        removed = ended and self.generations[-1].removed
        if removed:
            ended = self._generation(remove=False)
        # A DAGMan that was killed when it was removed is recovered: jobs that were removed with it
        # count as failed, and run again from the rescue file.
        if removed and ended and self.generations[-1].code != self._due():
            ended = self._generation(remove=False)
        if ended:
            self._judge()

    def _due(self) -> int:
        return int(site_dags.DOOMED in self.dag.fates)

    def _plan(self) -> list[Fault]:
        count = 0 if self.how == KILLED else self.random.randint(4, 8)
        points = self.random.sample(self.points, count)
        return [Fault(one, nth=self.random.choice((1, 1, 2, 4))) for one in points]

    def _generation(self, *, remove: bool) -> bool:
        """From a submission to the end; whether that has come."""
        access_point = self.world.access_point
        (self.work / "t.dag.dagman.log").unlink(missing_ok=True)
        owner = access_point.submit(self.work, "-update_submit", "-dagman", self.dagman, "t.dag")
        self.granted.clear()
        over = threading.Event()
        disturbers = [threading.Thread(target=act, args=(over,)) for act in self._disturbances()]
        for thread in disturbers:
            thread.start()
        share = self.random.uniform(0.2, 0.8) if remove else 1.0
        self._wait(self.seconds * share)
        over.set()
        for thread in disturbers:
            thread.join()
        if remove:
            until(lambda: self._answers() or self._code() is not None, TIMEOUT_S, pause=1.0)
            access_point.run("condor_rm", str(owner), check=False)
        code = self._wait(TIMEOUT_S)
        if code is None:
            self.wrong.append(f"{self.work.name} does not end")
            return False
        self._ended(owner, code)
        return True

    def _ended(self, owner: int, code: int) -> None:
        log = self.work / "t.dag.nodes.log"
        if log.exists():  # it is not, if DAGMan was removed soon
            shutil.copy(log, self.work / f"nodes.log.{owner}")
        removed = code not in (0, 1)
        events = site_judge.read_log(log) if log.exists() else []
        self.generations.append(Generation(owner, events, removed, code, dict(self.granted)))
        access_point = self.world.access_point
        access_point.wait_for(lambda: access_point.gone(owner), say=f"all jobs of {owner} to go")
        self.world.ended(owner, removed=removed)

    def _answers(self) -> bool:
        """Whether DAGMan runs, and does what it is asked: one that does not can't be removed so
        that it leaves a rescue file."""
        argv = ("condor_pydagman", "sites", "groups", "t.dag")
        return self.world.access_point.run(*argv, cwd=self.work, check=False).returncode == 0

    def _wait(self, seconds: float) -> int | None:
        until(lambda: self._code() is not None, seconds)
        return self._code()

    def _code(self) -> int | None:
        """The exit code of the DAGMan job, 2 if it was removed; None if it has not ended."""
        return end_of(self.work / "t.dag")

    # Who disturbs it.

    def _disturbances(self) -> Iterator[Callable[[threading.Event], None]]:
        if self.how != AT_STEPS:
            yield self._kill
        yield self._rematch

    def _kill(self, over: threading.Event) -> None:
        self.kills += kill_dagmans(self.work, over, lambda: self.random.uniform(1.0, 8.0))

    def _rematch(self, over: threading.Event) -> None:
        """Somebody has groups matched again; an answer that never comes counts as none."""
        run = self.world.access_point.run
        while not over.wait(self.random.uniform(0.2, 2.0)):
            there = self._at_sites()
            if not there:
                continue
            group = self.random.choice(there)
            argv = ("condor_pydagman", "sites", "rematch", "t.dag", group)
            done = run(*argv, cwd=self.work, check=False)
            self.rematches += 1
            if done.returncode == 0 and f"group {group} is leaving its site" in done.stdout:
                self.granted[group] += 1
            else:
                said = (done.stdout + done.stderr).split()
                self.refused[" ".join(word for word in said if group not in word)[:70]] += 1

    def _at_sites(self) -> list[str]:
        """The groups that have a site, by the nodes log."""
        log = self.work / "t.dag.nodes.log"
        last: dict[str, str] = {}
        group_of = self.dag.group_of
        for event in site_judge.read_log(log) if log.exists() else ():
            if event.node in group_of and event.what.startswith("SITE_"):
                last[group_of[event.node].name] = event.what
        return [name for name, what in last.items() if what == "SITE_MATCHED"]

    def _judge(self) -> None:
        owners = {one.owner for one in self.generations}
        lines = site_judge.read_ledger(self.world.ledger.read_text())
        own = [line for line in lines if line.owner in owners]
        self.judge = Judge(self.dag, self.generations, own)
        self.wrong += [f"{self.work.name}: {one}" for one in self.judge.judge()]
        self.jobs = sum(line.what == "start" for line in own)


def play(
    world: SiteWorld,
    place: Path,
    seed: str,
    numbers: Iterator[int],
    seconds: float,
    at_once: int,
    points: Sequence[str] = WHOLE_POINTS,
) -> Tally:
    """Play DAGs, so many at once, and judge all that they did together.

    Args:
        points: at which DAGMan is killed.
    """
    tally = Tally()
    lock = threading.Lock()
    dagman = faults.install(place)

    def one() -> None:
        while not tally.wrong:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            work = new_directory(place / f"d{number}")
            dag = TorturedDag(world, work, Random(f"{seed} {number}"), dagman, seconds, points)
            try:
                dag.play()
            except Exception as error:
                dag.wrong.append(f"{work.name}: {type(error).__name__}: {error}")
            with lock:
                _count(tally, dag)

    with ThreadPoolExecutor(at_once) as threads:
        for done in [threads.submit(one) for _ in range(at_once)]:
            done.result()
    lines = site_judge.read_ledger(world.ledger.read_text())
    tally.wrong += [*world.wrong, *site_judge.over_limit(lines, MOST)]
    return tally


def _count(tally: Tally, dag: TorturedDag) -> None:
    tally.dags += 1
    tally.groups += len(dag.dag.groups)
    tally.kills += dag.kills
    tally.rematches += dag.rematches
    tally.granted += sum(sum(one.rematched.values()) for one in dag.generations)
    tally.removals += sum(one.removed for one in dag.generations)
    tally.steps.update(
        one.what.partition(": kill")[0] for one in faults.fired(dag.work) if one.number >= 0
    )
    tally.refused.update(dag.refused)
    tally.wrong += dag.wrong
    if hasattr(dag, "judge"):
        tally.matches += dag.judge.rounds
        tally.jobs += dag.jobs
    print(f"{dag.work.name} ({dag.how}): {'; '.join(dag.wrong) or 'ok'}", flush=True)
    print(tally.line(), flush=True)


def _until(limit: float) -> Iterator[int]:
    number = 0
    while time.monotonic() < limit:
        number += 1
        yield number


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--at-once", type=int, default=6)
    parser.add_argument("--half", action="store_true", help="records are half written, too")
    arguments = words_of(parser, argv)
    limit = time.monotonic() + 60 * arguments.minutes
    with started(arguments.directory, Random(str(arguments.seed))) as world:
        points = SITE_POINTS if arguments.half else WHOLE_POINTS
        numbers = _until(limit)
        tally = play(
            world,
            arguments.directory,
            str(arguments.seed),
            numbers,
            30.0,
            arguments.at_once,
            points,
        )
        print(f"monitor killed {world.monitors_killed} times; most groups: {world.most_seen}")
    print(tally.line())
    for step in SITE_POINTS:
        print(f"    {tally.steps[step]:4} kills {step}")
    for said, count in tally.refused.most_common(12):
        print(f"    {count:4} requests: {said}")
    return verdict(tally.wrong)


if __name__ == "__main__":
    sys.exit(main())
