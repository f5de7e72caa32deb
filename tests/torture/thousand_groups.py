"""A DAG of a thousand groups at three sites, one of which dies in the middle.

    python -m tests.torture.thousand_groups [--groups N] [--most N] [--directory DIR]

Each site is a pool of its own, to which jobs go by the grid universe; a group is a unit of four
nodes: stage in, run, stage out, clean up.  When half of the groups have ended, one site is stopped.
Exit code 1 if a node has run twice at a site, a group has ended at several sites, a site had more
groups than its ad allows at any time, or the DAG has failed.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from condor_pydagman.features.sites.adapters.claims_directory import parse
from condor_pydagman.pool import Pool
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.waiting import end_of
from tests.torture.commands import started_monitor, watch_claims

NAMES = ("north", "south", "west")
DEAD = "south"
STEPS = ("in", "run", "out", "clean")
LOOK_S = 0.2
TIMEOUT_S = 3600.0
KNOBS = """\
DAGMAN_AVOID_SLASH_TMP = False
CONDOR_JOB_POLL_INTERVAL = 1
GRIDMANAGER_JOB_PROBE_INTERVAL = 1
GRIDMANAGER_CONTACT_SCHEDD_DELAY = 1
GRIDMANAGER_MAX_SUBMITTED_JOBS_PER_RESOURCE = 1000
C_GAHP_CONTACT_SCHEDD_DELAY = 1
CGAHP_SCHEDD_INTERACTION_TIME = 1
PYDAGMAN_SITES_INTERVAL = 2
PYDAGMAN_SITES_DIR = {claims}
"""
AD = """\
Name = "{name}"
MaxMatches = {most}
Pool = "{address}"
Schedd = "{schedd}"
SiteEnvironment = "AREA={area}"
"""
# Its answer is how many jobs wait there; none if the site is dead.
PROBE = """\
#!/bin/sh
jobs=$(condor_status -pool "{address}" -schedd -af TotalIdleJobs) && test -n "$jobs" &&
    echo "QueueDepth = $jobs"
"""
JOB = """\
universe = grid
grid_resource = condor $(MATCH_Schedd) $(MATCH_Pool)
executable = step.sh
arguments = "$(step) $(unit)"
should_transfer_files = YES
when_to_transfer_output = ON_EXIT
+remote_JobUniverse = 5
+remote_ShouldTransferFiles = "YES"
+remote_WhenToTransferOutput = "ON_EXIT"
queue
"""
# What a step has left at the site is what the next one needs.
STEP = """\
#!/bin/sh
set -eu
echo "start $1 $2" >> "$AREA/ledger"
case $1 in
in) mkdir "$AREA/$2" ;;
run) touch "$AREA/$2/result" ;;
out) test -e "$AREA/$2/result" ;;
clean) rm -r "$AREA/$2" ;;
esac
echo "end $1 $2" >> "$AREA/ledger"
"""
POLICY = """\
SITE_POLICY ALL_GROUPS GONE 5
SITE_POLICY ALL_GROUPS REMOVAL 10
SITE_POLICY ALL_GROUPS ROUNDS 9
SITE_POLICY ALL_GROUPS OLD_SITE NEVER
"""


def dag_text(groups: int) -> str:
    """The DAG; names of nodes are those of their step and their unit."""
    text = "CONFIG t.config\n"
    for number in range(groups):
        nodes = [f"{step}{number}" for step in STEPS]
        text += "".join(
            f'JOB {node} step.sub\nVARS {node} step="{step}" unit="u{number}"\n'
            for node, step in zip(nodes, STEPS)
        )
        text += "".join(f"PARENT {a} CHILD {b}\n" for a, b in zip(nodes, nodes[1:]))
        text += f"SITE_GROUP u{number} NODES {' '.join(nodes)}\n"
    return text + POLICY


class Sites:
    """The pools, their descriptions, and what runs there."""

    def __init__(self, place: Path, most: int) -> None:
        self.place = place
        self.most = most
        self.claims = place / "claims"
        self.claims.mkdir()
        self.claims.chmod(0o1777)
        self._access = self._pool("access")
        self.pools = {name: self._pool(name) for name in NAMES}
        self.most_seen: Counter[str] = Counter()
        self._over = threading.Event()

    @property
    def access(self) -> AccessPoint:
        """The access point, once it runs."""
        return AccessPoint(self._access)

    def _pool(self, name: str) -> Pool:
        pool = Pool(self.place / name)
        (pool.directory / "config.d").mkdir(parents=True)
        (pool.directory / "config.d" / "sites").write_text(KNOBS.format(claims=self.claims))
        return pool

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Within, all pools and the monitor run, and claims are watched."""
        every = [self._access, *self.pools.values()]
        watch = (self.claims, self._over, LOOK_S, self._look)
        watcher = threading.Thread(target=watch_claims, args=watch)
        with ThreadPoolExecutor() as threads:
            try:
                list(threads.map(lambda pool: pool.start(timeout_s=120, slots=8), every))
                for name in NAMES:
                    self._describe(name)
                monitor = started_monitor(self.access, self.place / "sites", interval_s=2)
                watcher.start()
                try:
                    yield
                finally:
                    self._over.set()
                    watcher.join()
                    monitor.terminate()
                    monitor.wait(60)
            finally:
                list(threads.map(Pool.stop, every))

    def _describe(self, name: str) -> None:
        pool = self.pools[name]
        directory = self.place / "sites"
        directory.mkdir(exist_ok=True)
        address = _ask(pool, "condor_status", "-collector", "-af", "MyAddress")
        schedd = _ask(pool, "condor_status", "-schedd", "-af", "Name")
        area = new_directory(self.place / "areas" / name)
        text = AD.format(name=name, most=self.most, address=address, schedd=schedd, area=area)
        (directory / f"{name}.ad").write_text(text)
        probe = directory / f"{name}.probe"
        probe.write_text(PROBE.format(address=address))
        probe.chmod(0o755)

    def _look(self) -> None:
        taken: Counter[str] = Counter()
        for path in self.claims.glob("claims.*"):
            claims = parse(path.read_text())
            taken.update(claims.counts() if claims else {})
        for site, count in taken.items():
            self.most_seen[site] = max(self.most_seen[site], count)

    def lines(self, name: str, what: str) -> list[str]:
        """`STEP UNIT` of the jobs that have begun ('start') or ended ('end') at a site."""
        path = self.place / "areas" / name / "ledger"
        found = path.read_text().splitlines() if path.exists() else []
        return [line[len(what) + 1 :] for line in found if line.startswith(what + " ")]

    def ended(self) -> int:
        """How many groups are through."""
        return sum(line.startswith("clean ") for name in NAMES for line in self.lines(name, "end"))


def _ask(pool: Pool, *argv: str) -> str:
    command, environment = pool.command(list(argv)), pool.environment()
    return subprocess.check_output(command, env=environment, text=True).strip()


def play(sites: Sites, work: Path, groups: int) -> int | None:
    """Run the DAG and stop a site when half of it is done; returns the exit code."""
    (work / "t.dag").write_text(dag_text(groups))
    (work / "t.config").write_text(f"PYDAGMAN_SITES_DIR = {sites.claims}\n")
    (work / "step.sub").write_text(JOB)
    (work / "step.sh").write_text(STEP)
    (work / "step.sh").chmod(0o755)
    sites.access.submit(work, "t.dag")
    begun = said = time.monotonic()
    stopped = False
    while end_of(work / "t.dag") is None and time.monotonic() - begun < TIMEOUT_S:
        time.sleep(1)
        if not stopped and sites.ended() * 2 >= groups:
            stopped = True
            print(f"{time.monotonic() - begun:.0f} s: {sites.ended()} groups ended; {DEAD} dies")
            print(sites.access.run("condor_pydagman", "sites", "list", cwd=work).stdout)
            sites.pools[DEAD].stop()
        if time.monotonic() - said > 60:
            said = time.monotonic()
            print(f"{said - begun:.0f} s: {sites.ended()} groups ended", flush=True)
            if stopped:
                print(sites.access.run("condor_pydagman", "sites", "list", cwd=work).stdout)
    print(f"{time.monotonic() - begun:.0f} s: the DAG ended with {end_of(work / 't.dag')}")
    return end_of(work / "t.dag")


def judge(sites: Sites, work: Path, groups: int) -> list[str]:
    """What should not have been; prints where the groups were."""
    wrong: list[str] = []
    where: dict[str, set[str]] = {}
    said = (work / "t.dag.dagman.out").read_text()
    back = dict(re.findall(r"Group (u\d+) has to leave site (\w+)", said))
    for name in NAMES:
        starts, ends = Counter(sites.lines(name, "start")), Counter(sites.lines(name, "end"))
        twice = [node for node, count in starts.items() if count > 1]
        wrong += [f"{node} ran {starts[node]} times at {name}" for node in twice]
        units = {node.split()[1] for node in ends}
        whole = {unit for unit in units if all(ends[f"{step} {unit}"] for step in STEPS)}
        # A site may have died before it told the end of a group's last job.
        untold = {unit for unit in whole if back.get(unit) == name}
        for unit in whole - untold:
            where.setdefault(unit, set()).add(name)
        print(
            f"{name}: {len(starts)} jobs, {len(whole - untold)} groups, {len(untold)} more of which"
            f" it did not tell the end; at most {sites.most_seen[name]} at a time"
        )
    several = {unit: names for unit, names in where.items() if len(names) > 1}
    wrong += [f"group {unit} ended at {sorted(names)}" for unit, names in several.items()]
    if len(where) != groups:
        wrong.append(f"{len(where)} of {groups} groups have ended at one site")
    for name, count in sites.most_seen.items():
        if count > sites.most:
            wrong.append(f"{name} had {count} groups, of {sites.most} at most")
    print(f"removed: {dict(Counter(back.values()))}")
    return wrong


def main(words: list[str]) -> int:
    """Run it; returns 1 if something was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--most", type=int, default=12, help="groups at a site at the same time")
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--directory", type=Path, default=root / "var" / "thousand-groups")
    given = parser.parse_args(words)
    given.directory.mkdir(parents=True)
    sites = Sites(given.directory, given.most)
    work = new_directory(given.directory / "work")
    with sites.running():
        code = play(sites, work, given.groups)
        wrong = judge(sites, work, given.groups)
    wrong += [f"the DAG ended with {code}"] if code else []
    print("\n".join(wrong) or "all is well")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
