"""The torture test of DATA nodes at sites, as a command.

    python -m tests.torture.data_sites [--units N] [--kills WHICH] [--seed S] [--directory DIR]

Two DAGs share three sites, one of which fails all jobs; the two others have three places.  Each
unit is a group: staged in by a DATA node, worked on, staged out by a DATA node, and cleaned up.
Meanwhile processes are killed at random: those by which DAGMan looks for sites and speaks with the
schedd ("helpers"), and workers of DATA nodes ("workers"), and DAGMan ("dagman").  Exit code 1 if a
unit is lost, wrong or done twice, a site has too many groups or keeps files, a claim is left, or,
unless DAGMan is killed, a DAG gets places out of turn.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from condor_pydagman.features.sites.adapters.claims_directory import Claims, parse
from condor_pydagman.pool import processes
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.dagmans import dagmans_in
from tests.pool.waiting import end_of
from tests.torture import data_dags
from tests.torture.commands import own_pool, started_monitor, verdict, watch_claims, words_of
from tests.torture.world import until

KNOBS = """\
PYDAGMAN_SITES_INTERVAL = 1
PYDAGMAN_SITES_DIR = {place}/claims
PYDAGMAN_PLACEMENT_DIR = {place}/shared
DAGMAN_AVOID_SLASH_TMP = False
"""
PLACES = {"north": 2, "south": 1, "west": 2}
BAD = "west"
AD = """\
Name = "{name}"
MaxMatches = {places}
Door = "file://{area}"
SiteEnvironment = "AREA={area}"
"""
STEP = """\
#!/bin/sh
# step.sh STEP UNIT: $AREA is the site's working area.
set -eu
case $1 in
run)
    [ ! -e "$AREA/broken" ]
    tr a-z A-Z <"$AREA/$2/input" >"$AREA/$2/result.new"
    mv "$AREA/$2/result.new" "$AREA/$2/result"
    ;;
clean) rm -rf "$AREA/$2" ;;
esac
"""
SUBMIT = """\
universe = scheduler
executable = step.sh
arguments = "$(step) $(unit)"
queue
"""
FILES = {
    "step.sh": STEP,
    "step.sub": SUBMIT,
    "in.dap": '[ dap_type = "transfer"; src_url = "$(unit)"; '
    'dest_url = "$(MATCH_Door)/$(unit)/input"; ]\n',
    "out.dap": '[ dap_type = "transfer"; src_url = "$(MATCH_Door)/$(unit)/result"; '
    'dest_url = "results/$(unit)@$(MATCH_Name)"; if_exists = "fail"; ]\n',
}
UNIT = """\
DATA in-{unit} in.dap
JOB run-{unit} step.sub
DATA out-{unit} out.dap
JOB clean-{unit} step.sub
VARS in-{unit} unit="{unit}"
VARS run-{unit} unit="{unit}" step="run"
VARS out-{unit} unit="{unit}"
VARS clean-{unit} unit="{unit}" step="clean"
PARENT in-{unit} CHILD run-{unit}
PARENT run-{unit} CHILD out-{unit}
PARENT out-{unit} CHILD clean-{unit}
SITE_GROUP {unit} NODES in-{unit} run-{unit} out-{unit} clean-{unit}
SITE_POLICY {unit} CLEAN_UP clean-{unit} 2m
"""
POLICY = "SITE_POLICY ALL_GROUPS FAILURES 1\nSITE_POLICY ALL_GROUPS OLD_SITE NEVER\n"
LOOK_S = 0.03
BLIND_S = 1.0  # between two looks: what came in between is not known, and judges nobody
LIMIT_S = 600.0
HELPERS, WORKERS, DAGMAN = "helpers", "workers", "dagman"


class Grant(NamedTuple):
    """A place at a site that a DAG has got.

    Attributes:
        contested: whether another DAG was waiting for one there.
    """

    site: str
    owner: str
    group: str
    contested: bool


class Watch:
    """Looks at the claims of all DAGMans, under their lock, as often as it can."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._before: dict[str, Claims] = {}
        self._looked = 0.0
        self.grants: list[Grant] = []
        self.wrong: list[str] = []

    def run(self, over: threading.Event) -> None:
        """Until it is over."""
        watch_claims(self._directory, over, LOOK_S, self._look)

    def _look(self) -> None:
        now = {}
        for path in self._directory.glob("claims.*"):
            if path.suffix == ".new":  # left by a process that was killed as it wrote it
                continue
            with contextlib.suppress(FileNotFoundError):
                read = parse(path.read_text())
                if read is not None:
                    now[path.name] = read
        taken = sum((one.counts() for one in now.values()), Counter[str]())
        for site, count in taken.items():
            if count > PLACES[site]:
                self.wrong.append(f"{count} groups have claimed {site}")
        is_blind = time.monotonic() - self._looked > BLIND_S
        self._looked = time.monotonic()
        for one in granted(self._before, now):
            self.grants.append(one._replace(contested=one.contested and not is_blind))
        self._before = now


def granted(before: Mapping[str, Claims], now: Mapping[str, Claims]) -> Iterator[Grant]:
    """The places that were got between two looks."""
    for owner, claims in now.items():
        had = before[owner].sites if owner in before else ()
        for group, site in claims.sites:
            if (group, site) not in had:
                others = (one for name, one in before.items() if name != owner)
                contested = any(site in one.waits.sites for one in others)
                yield Grant(site, owner, group, contested)


def out_of_turn(grants: Sequence[Grant], places: Mapping[str, int]) -> Iterator[str]:
    """Where a DAG got more places in a row, while another one waited, than there are, and one more
    that may be given back and got again between two looks."""
    for site, most in places.items():
        last, row = "", 0
        for one in (one for one in grants if one.site == site):
            row = row + 1 if one.owner == last and one.contested else 1
            last = one.owner
            if row > most + 1:
                yield f"{one.owner} got {row} places of {site} in a row"


class Torture:
    """Two DAGs at three sites."""

    def __init__(
        self, access_point: AccessPoint, place: Path, seed: int, kills: Sequence[str]
    ) -> None:
        self.access_point = access_point
        self.place = place
        self.random = Random(seed)
        self.kinds = kills
        self.kills: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.watch = Watch(place / "claims")
        self.areas = {name: new_directory(place / "areas" / name) for name in PLACES}
        self._done: dict[Path, dict[str, set[int]]] = {}

    def play(self, units: int) -> None:
        """Both, to their ends."""
        (self.areas[BAD] / "broken").touch()
        works = [self._written(name, units) for name in ("one", "two")]
        over = threading.Event()
        acts = (self.watch.run, lambda over: self._kill(over, works))
        threads = [threading.Thread(target=act, args=(over,)) for act in acts]
        with self._monitor():
            for work in works:
                self.access_point.submit(work, "t.dag")
            for thread in threads:
                thread.start()
            try:
                until(lambda: all(end_of(work / "t.dag") is not None for work in works), LIMIT_S)
            finally:
                over.set()
                for thread in threads:
                    thread.join()
        until(lambda: not self.access_point.queue())
        for work in works:
            self._judge(work, units)
        self._judge_sites(units)

    def _written(self, name: str, units: int) -> Path:
        work = new_directory(self.place / "dags" / name)
        new_directory(work / "results")
        names = [f"{name}{number}" for number in range(units)]
        text = "".join(UNIT.format(unit=unit) for unit in names) + POLICY
        files = {"t.dag": text, **FILES, **{unit: _data(unit) for unit in names}}
        for file, content in files.items():
            (work / file).write_text(content)
            (work / file).chmod(0o777)
        return work

    @contextlib.contextmanager
    def _monitor(self) -> Iterator[None]:
        sites = self.place / "sites"
        sites.mkdir()
        for name, area in self.areas.items():
            text = AD.format(name=name, places=PLACES[name], area=area)
            (sites / f"{name}.ad").write_text(text)
        monitor = started_monitor(self.access_point, sites)
        try:
            yield
        finally:
            monitor.terminate()
            monitor.wait(60)

    # What is killed

    def _kill(self, over: threading.Event, works: Sequence[Path]) -> None:
        while self.kinds and not over.wait(self.random.uniform(0.1, 0.8)):
            kind = self.random.choice(self.kinds)
            found = self._found(kind, self.random.choice(works))
            if found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.random.choice(found), signal.SIGKILL)
                    self.kills[kind] += 1

    def _found(self, kind: str, work: Path) -> list[int]:
        dagmans = list(dagmans_in(work))
        if kind == DAGMAN:
            return dagmans
        if kind == HELPERS:
            return [pid for one in dagmans for pid in processes.family(one) if pid != one]
        family = self.access_point.processes()
        return [pid for pid in family if b".order\0" in data_dags.words_of(pid)]

    # What must hold

    def _judge(self, work: Path, units: int) -> None:
        name = work.name
        code = end_of(work / "t.dag")
        if code != 0:
            self.wrong.append(f"{name} has ended with {code}")
        results = sorted((work / "results").iterdir())
        if len(results) != units:
            self.wrong.append(f"{name}: not {units} results: {[path.name for path in results]}")
        for path in results:
            unit, _, site = path.name.partition("@")
            if path.read_text() != _data(unit).upper() or site == BAD:
                self.wrong.append(f"{name}: {path.name} is wrong")
        times = Counter(
            node
            for node, _ in set(data_dags.successes((work / "t.dag.dagman.out").read_text()))
            if node.startswith("out-")
        )
        self.wrong += [f"{name}: {one} was done {n} times" for one, n in times.items() if n != 1]

    def _judge_sites(self, units: int) -> None:
        self.wrong += sorted(set(self.watch.wrong))
        for area in self.areas.values():
            left = [path.name for path in area.iterdir() if path.name != "broken"]
            self.wrong += [f"{area.name} has {left}"] * bool(left)
        files = {path.name: parse(path.read_text()) for path in (self.place / "claims").iterdir()}
        if DAGMAN in self.kinds:
            # One that is killed as it ends leaves a file that claims nothing; the next DAGMan of
            # the access point that looks there removes it.
            files = {name: it for name, it in files.items() if it is None or it.counts()}
        left = list(files)
        self.wrong += [f"claims left: {left}"] * bool(left)
        if DAGMAN not in self.kinds:
            good = {site: most for site, most in PLACES.items() if site != BAD}
            self.wrong += out_of_turn(self.watch.grants, good)

    def line(self) -> str:
        """What was done, for people."""
        grants = Counter((one.site, one.owner.rpartition(".")[2]) for one in self.watch.grants)
        contested = sum(one.contested for one in self.watch.grants)
        found = ", ".join(f"{site} {owner}: {n}" for (site, owner), n in sorted(grants.items()))
        return f"kills {dict(self.kills)}; places got ({contested} contested): {found}"


def _data(unit: str) -> str:
    return f"data of unit {unit}\n" * 1000


@contextlib.contextmanager
def started(place: Path, seed: int, kills: Sequence[str]) -> Iterator[Torture]:
    """A pool of the test's own, in an empty directory."""
    for name in ("claims", "shared"):
        new_directory(place / name).chmod(0o1777)
    with own_pool(place, KNOBS.format(place=place)) as access_point:
        yield Torture(access_point, place, seed, kills)


def main() -> int:
    """Run it; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--units", type=int, default=12, help="of each of the two DAGs")
    parser.add_argument("--kills", default=f"{HELPERS},{WORKERS}", help="with commas between them")
    arguments = words_of(parser)
    begun = time.monotonic()
    kills = arguments.kills.split(",")
    with started(arguments.directory, arguments.seed, kills) as torture:
        torture.play(arguments.units)
    seconds = time.monotonic() - begun
    print(f"seed {arguments.seed}, {seconds:.0f} s, {2 * arguments.units} units: {torture.line()}")
    return verdict(torture.wrong)


if __name__ == "__main__":
    sys.exit(main())
