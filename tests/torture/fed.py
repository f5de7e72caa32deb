"""The torture test of DAGs that are fed, as a command: DAGMan is killed at random.

    python -m tests.torture.fed [--minutes N] [--seed S] [--directory DIR]

DAGs of a pool of its own are fed by a program, their nodes add others, some fail when they first
run.  DAGMan is killed meanwhile, and now and then its job is removed, so that the DAG goes on from
its rescue file.  Exit code 1 if a node's run began twice or not at all, or a DAG does not end well.
"""

from __future__ import annotations

import argparse
import re
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random

from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.waiting import end_of
from tests.torture.commands import kill_dagmans, words_of
from tests.torture.world import started

FEEDINGS = 15
TIMEOUT_S = 600.0
FILES = {
    "t.dag": """\
JOB first job.sub
FEEDER BELOW 3 PROGRAM feed.py $FEEDING
""",
    "feed.py": """\
#!/usr/bin/env python3
import random, sys
number, seed = int(sys.argv[1]), open("seed").read()
draw = random.Random(f"{seed} {number}")
names = [f"F{number}n{place}" for place in range(draw.randint(1, 4))]
for name in names:
    print(f"JOB {name} job.sub")
    if draw.random() < 0.4:
        print(f'RETRY {name} 2\\nVARS {name} fails="1"')
    if draw.random() < 0.4:
        print(f"EXTEND {name} {name}.dag")
if len(names) > 2:
    print(f"PARENT {names[0]} {names[1]} CHILD {' '.join(names[2:])}")
sys.exit(3 if number >= FEEDINGS else 0)
""".replace("FEEDINGS", str(FEEDINGS)),
    "job.sh": """\
#!/bin/sh
echo "$1 $2 $4" >> ledger
printf 'JOB %sx job.sub\\nJOB %sy job.sub\\nPARENT %sx CHILD %sy\\n' $1 $1 $1 $1 > $1.tmp
mv $1.tmp $1.dag
sleep 0.$(($4 % 7))
[ "$3" -gt "$2" ] && exit 1
exit 0
""",
    "job.sub": """\
universe = scheduler
executable = job.sh
arguments = $(JOB) $(RETRY) $(fails:0) $(CLUSTER)
queue
""",
}


class FedDag:
    """One DAG, and what becomes of it."""

    def __init__(self, access_point: AccessPoint, work: Path, random: Random) -> None:
        self.access_point = access_point
        self.work = work
        self.random = random
        self.kills = self.removals = 0
        self.wrong: list[str] = []
        self._over = threading.Event()

    def play(self) -> None:
        """To the end of the DAG, by way of rescue files."""
        for name, text in FILES.items():
            (self.work / name).write_text(text, encoding="ascii")
            (self.work / name).chmod(0o755)
        (self.work / "seed").write_text(str(self.random.random()), encoding="ascii")
        killer = threading.Thread(target=self._kill, daemon=True)
        killer.start()
        until = time.time() + TIMEOUT_S
        dag, code = self.work / "t.dag", None
        while code != 0 and time.time() < until:
            Path(f"{dag}.dagman.log").unlink(missing_ok=True)
            # One that was killed, and removed before it ran again, has left no rescue file.
            again = ("-update_submit",) if (self.work / "t.dag.condor.sub").exists() else ()
            cluster = self.access_point.submit(self.work, *again, "t.dag")
            remove_at = time.time() + self.random.choice((8, 20, 1000))
            while (code := end_of(dag)) is None and time.time() < until:
                if time.time() > remove_at:
                    self.access_point.run("condor_rm", str(cluster), check=False)
                    self.removals += 1
                    remove_at = time.time() + 1000
                time.sleep(0.3)
        self._over.set()
        killer.join()
        if code != 0:
            self.wrong.append("it does not end well")
        self._judge()

    def _kill(self) -> None:
        draw = self.random.uniform
        self.kills = kill_dagmans(self.work, self._over, lambda: draw(2.0, 12.0))

    def _judge(self) -> None:
        lines = [line.split() for line in (self.work / "ledger").read_text().splitlines()]
        # A run goes on in a rescue DAG as the first one of its node, if its job was removed.
        for (node, run), count in Counter((node, run) for node, run, _ in lines).items():
            if count > 1 + self.removals:
                self.wrong.append(f"run {run} of {node} began {count} times")
        ran = {node for node, _, _ in lines}
        feedings = {
            int(found[1]) for found in (re.match(r"F(\d+)n", node) for node in ran) if found
        }
        if feedings != set(range(1, FEEDINGS + 1)):
            self.wrong.append(f"feedings that ran: {sorted(feedings)}")
        for node in ran:
            if node.endswith("x") and f"{node[:-1]}y" not in ran:
                self.wrong.append(f"{node} ran, and not its child")


def main() -> int:
    """Run it; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--at-once", type=int, default=3, help="DAGs that run side by side")
    arguments = words_of(parser)
    with started(arguments.directory) as world:
        return _play(world.access_point, arguments.directory, arguments)


def _play(access_point: AccessPoint, directory: Path, chosen: argparse.Namespace) -> int:
    until, played = time.time() + 60 * chosen.minutes, list[FedDag]()
    lock = threading.Lock()

    def some() -> None:
        while time.time() < until:
            with lock:
                number = len(played)
                work = new_directory(directory / f"dag{number}")
                dag = FedDag(access_point, work, Random(f"{chosen.seed} {number}"))
                played.append(dag)
            dag.play()
            for what in dag.wrong:
                print(f"{dag.work}: {what}", flush=True)

    threads = [threading.Thread(target=some) for _ in range(chosen.at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wrong = sum(bool(dag.wrong) for dag in played)
    kills, removals = (sum(getattr(dag, what) for dag in played) for what in ("kills", "removals"))
    print(f"{len(played)} DAGs, {kills} kills, {removals} removals; {wrong} DAGs went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
