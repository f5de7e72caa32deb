"""What finds sites for a real DAGMan keeps the contract that the simulator's keeps."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from condor_pydagman.features.sites.adapters.claims_directory import parse
from tests.contract.sites import COLLECTOR, DIRECTORY, DISK, Claims, SitesContract
from tests.installation import CHECKOUT
from tests.pool.access_point import AccessPoint
from tests.pool.test_schedd_contract import NOWHERE
from tests.waiting import LIMIT_S

CLUSTER = 900_000  # there is no such job: only what it says itself counts


class RealSide:
    """Two sites in the collector of the pool, which only this test's DAG wants."""

    def __init__(self, access_point: AccessPoint, work: Path) -> None:
        self._access_point = access_point
        self._claims = work / "claims"
        self._claims.mkdir()
        self._claims.chmod(0o1777)
        self._scene = work.name
        (work / "sites").mkdir()
        for name in ("north", "south"):
            lines = (f'Name = "{self._full(name)}"', "MaxMatches = 1", f'Scene = "{work.name}"')
            (work / "sites" / f"{name}.ad").write_text("\n".join(lines) + "\n")
        words = ("condor_pydagman", "sites", "monitor", "--once", str(work / "sites"))
        access_point.run(*words, "--interval", str(LIMIT_S))

    def first_round(self, claims: Claims, wanted: tuple[int, ...], fault: str = "") -> Claims | str:
        away = self._claims.with_name("away")
        if fault == DIRECTORY:
            self._claims.rename(away)
            self._claims.touch()
        kept = json.dumps({group: self._full(site) for group, site in claims.items()})
        disk = "full" if fault == DISK else "free"
        words = [str(CLUSTER), str(self._claims), self._scene, disk, kept, *map(str, wanted)]
        done = self._access_point.run(
            *(sys.executable, "-m", "tests.contract.sites_server", *words),
            cwd=CHECKOUT,
            environment=NOWHERE if fault == COLLECTOR else None,
        )
        if fault == DIRECTORY:
            self._claims.unlink()
            away.rename(self._claims)
        found = json.loads(done.stdout)
        if isinstance(found, str):
            assert (str(self._claims) in found) == (fault != COLLECTOR), found
            assert ("the collector: " in found) == (fault == COLLECTOR), found
            return found
        return {int(group): self._short(site) for group, site in found.items()}

    def kept(self) -> Claims:
        files = list(self._claims.iterdir())
        assert len(files) <= 1
        claims = [parse(file.read_text()) for file in files]
        return {int(name): self._short(site) for one in claims if one for name, site in one.sites}

    def _full(self, name: str) -> str:
        """Names are unique in the collector, which all tests share."""
        return f"{name}.{self._scene}"

    def _short(self, name: str) -> str:
        return name.partition(".")[0]


class TestRealSites(SitesContract):
    """On the pool of the tests."""

    @pytest.fixture
    def side(self, access_point: AccessPoint, work: Path) -> RealSide:
        return RealSide(access_point, work)
