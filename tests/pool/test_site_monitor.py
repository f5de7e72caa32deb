"""The monitor of sites under condor_master, with the example configuration as it is installed."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pool.access_point import AccessPoint
from tests.pool.conftest import running_pool
from tests.pool.dagmans import send
from tests.pool.waiting import until

EXAMPLE = Path(__file__).parents[2] / "etc/condor_config.d/60-condor-pydagman-sites.config"
SITES = 'MyType == "PydagmanSite"'


class Monitored:
    """A pool whose condor_master runs the monitor."""

    def __init__(self, access_point: AccessPoint) -> None:
        self.access_point = access_point
        self.log = access_point.pool.directory / "log" / "SitesMonitorLog"

    def pid(self) -> int:
        """Process id of the monitor, 0 if it does not run."""
        for pid in self.access_point.processes():
            with contextlib.suppress(OSError):
                if b"SitesMonitorLog" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    return pid
        return 0

    def has_published(self) -> bool:
        words = ("condor_status", "-any", "-constraint", SITES, "-af", "Name")
        return self.access_point.run(*words, check=False).stdout.split() == ["north"]

    def said(self) -> list[str]:
        """What the monitor has said, without times."""
        return [line[18:] for line in self.log.read_text().splitlines()]


@pytest.fixture(scope="module")
def monitored(place: Path) -> Iterator[Monitored]:
    directory = place / "monitored"
    sites = directory / "sites.d"
    sites.mkdir(parents=True)
    (sites / "north.ad").write_text('Name = "north"\nMaxMatches = 2\n')
    text, count = re.subn(r"^#(?=[A-Z_]+ = )", "", EXAMPLE.read_text(), flags=re.M)
    assert count == 5
    pool = directory / "pool"
    for there, here in (
        ("/usr/bin/condor_pydagman", str(Path(sys.executable).with_name("condor_pydagman"))),
        ("/etc/condor/condor_config", str(pool / "condor_config")),
        ("/etc/condor/sites.d", str(sites)),
    ):
        assert there in text
        text = text.replace(there, here)
    with running_pool(pool, f"{text}MASTER_BACKOFF_CONSTANT = 1\n") as running:
        yield Monitored(AccessPoint(running))


def test_condor_master_runs_the_monitor(monitored: Monitored) -> None:
    until(monitored.has_published, "the ad of the site")
    first = until(monitored.pid, "the monitor")
    send(first)
    until(lambda: monitored.pid() not in (0, first), "another monitor")
    until(lambda: monitored.said() == ["published: north"] * 2, "the ad of the new monitor")

    monitored.access_point.run("condor_off", "-daemon", "sites_monitor")
    until(lambda: not monitored.pid(), "the end of the monitor")
    assert monitored.said()[2:] == ["removed: north"]
    assert not monitored.has_published()

    monitored.access_point.run("condor_on", "-daemon", "sites_monitor")
    until(monitored.has_published, "the ad once more")
