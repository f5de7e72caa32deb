"""The sites of the torture test, whose ads change, and who watches that none is over its limit."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from random import Random

from condor_pydagman.features.sites.adapters.claims_directory import parse
from tests.pool.access_point import AccessPoint, new_directory
from tests.torture.commands import own_pool, started_monitor, watch_claims

KNOBS = """\
DAGMAN_AVOID_SLASH_TMP = False
MASTER_BACKOFF_CONSTANT = 1
DEFAULT_USERLOG_FORMAT_OPTIONS = ISO_DATE SUB_SECOND
PYDAGMAN_SITES_INTERVAL = 1
PYDAGMAN_SITES_DIR = {claims}
"""
# How many groups each may have.  Of `south` that changes, and it dies now and then; `pit` fails all
# jobs, `swamp` takes them and never runs them, `locked` has them on hold.
MOST = {"east": 3, "north": 2, "south": 4, "pit": 2, "swamp": 2, "locked": 1}
DIES, CHANGES = "south", (2, 4)
AD = """\
Name = "{name}"
MaxMatches = {most}
Quality = {quality}
Universe = "{universe}"
Runs = "{runs}"
Holds = "{holds}"
Requirements = TARGET.DAGManJobId > 0
Door = "file://{area}"
SiteEnvironment = "SITE={name};AREA={area}"
"""
LOOK_S, CHANGE_S, ALIVE_S, DEAD_S = 0.1, 2.0, 12.0, 8.0


class SiteWorld:
    """Descriptions of sites, their monitor, the claims, and the ledger of all jobs.

    Attributes:
        areas: by site, where its jobs work.
        most_seen: by site, how many groups had it at the same time by the claims.
        monitors_killed: how often the monitor was.
        wrong: what the claims should not have said.
    """

    def __init__(self, access_point: AccessPoint, place: Path, random: Random) -> None:
        self.access_point = access_point
        self.directory = place / "sites"
        self.directory.mkdir()
        self.dead = new_directory(place / "dead")
        self.ledger = place / "ledger"
        self.ledger.touch()
        self.ledger.chmod(0o666)
        self.claims = place / "claims"
        self.areas = {name: new_directory(place / "areas" / name) for name in MOST}
        self.most_seen: Counter[str] = Counter()
        self.monitors_killed = 0
        self.wrong: list[str] = []
        self._random = random
        self._over = threading.Event()

    @contextlib.contextmanager
    def running(self) -> Iterator[SiteWorld]:
        """Within, the sites are published, change, and are watched."""
        self._write()
        self.monitor = started_monitor(self.access_point, self.directory)
        threads = [threading.Thread(target=act) for act in (self._watch, self._change)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._over.set()
            for thread in threads:
                thread.join()
            self.monitor.terminate()
            self.monitor.wait(60)

    def ended(self, owner: int, *, removed: bool) -> None:
        """The DAGMan job has left the queue.  It has given up its claims, unless it was removed
        while DAGMan did not run."""
        if removed:
            return
        left = [name for name in os.listdir(self.claims) if name.endswith(f".{owner}")]
        if left:
            self.wrong.append(f"DAGMan job {owner} has ended and left {left[0]}")

    # What changes.

    def _change(self) -> None:
        turn = time.monotonic() + ALIVE_S
        while not self._over.wait(CHANGE_S):
            if time.monotonic() > turn:
                file = self.dead / DIES
                dies = not file.exists()
                file.touch() if dies else file.unlink()
                turn = time.monotonic() + (DEAD_S if dies else ALIVE_S)
            self._write()
            if self._random.random() < 0.05:
                self.monitor.send_signal(signal.SIGKILL)
                self.monitor.wait()
                self.monitors_killed += 1
                time.sleep(self._random.choice((0.0, 4.0)))  # until its ads have vanished, or not
                self.monitor = started_monitor(self.access_point, self.directory)

    def _write(self) -> None:
        for name, most in MOST.items():
            path = self.directory / f"{name}.ad"
            if (self.dead / name).exists():
                path.unlink(missing_ok=True)
                continue
            universe = "vanilla" if name == "swamp" else "scheduler"
            text = AD.format(
                name=name,
                most=self._random.choice(CHANGES) if name == DIES else most,
                area=self.areas[name],
                quality=self._random.randrange(10),
                universe=universe,
                runs=str(name != "swamp").lower(),
                holds=str(name == "locked").lower(),
            )
            new = path.with_suffix(".new")
            new.write_text(text)
            new.rename(path)

    # Who watches.

    def _watch(self) -> None:
        watch_claims(self.claims, self._over, LOOK_S, self._look)

    def _look(self) -> None:
        taken = self.taken()
        if any(count > MOST[site] for site, count in taken.items()):
            # Claims of DAGMans that have left the queue do not count.
            try:
                queued = {ad["ClusterId"] for ad in self.access_point.queue("JobUniverse == 7")}
            except AssertionError:
                return  # the schedd is down
            taken = self.taken(queued)
        for site, count in taken.items():
            self.most_seen[site] = max(self.most_seen[site], count)
            if count > MOST[site]:
                text = f"{count} groups have claimed {site}, of {MOST[site]} at most"
                self.wrong += [text] * (text not in self.wrong)

    def taken(self, queued: Collection[int] | None = None) -> Counter[str]:
        """How many groups have claimed each site, of all DAGMans or of those in the queue."""
        taken: Counter[str] = Counter()
        for name in os.listdir(self.claims):
            owner = name.rpartition(".")[2]
            if owner.isdigit() and (queued is None or int(owner) in queued):
                with contextlib.suppress(FileNotFoundError):
                    claims = parse((self.claims / name).read_text())
                    taken.update(claims.counts() if claims else {})
        return taken


@contextlib.contextmanager
def started(place: Path, random: Random) -> Iterator[SiteWorld]:
    """A pool of the test's own with sites that run."""
    claims = place / "claims"
    claims.mkdir()
    claims.chmod(0o1777)
    with (
        own_pool(place, KNOBS.format(claims=claims)) as access_point,
        SiteWorld(access_point, place, random).running() as world,
    ):
        yield world
