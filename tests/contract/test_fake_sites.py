"""The simulator's sites keep the contract of what finds sites."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.features.sites.choice import Wanted
from condor_pydagman.features.sites.messages import MatchSites, SitesMatched, SitesUnknown
from tests import make
from tests.contract import worlds
from tests.contract.sites import Claims, SitesContract
from tests.features.sites.sim import FakeRounds, FakeSites


class FakeSide:
    """The fake in a world of its own, in which nothing goes wrong by chance."""

    def __init__(self, seed: int) -> None:
        self.world, _ = worlds.quiet(seed)
        self.world.faults = replace(self.world.faults, until=0.0)
        self.sites = FakeSites.of(self.world)
        self.sites.most = dict.fromkeys(("north", "south"), 1)
        self.sites.others = dict.fromkeys(("north", "south"), 0)
        self.sites.missing = {"east", "west"}

    def first_round(self, claims: Claims, wanted: tuple[int, ...], fault: str = "") -> Claims | str:
        told: list[Any] = []
        requests = SimpleNamespace(pending=0, _answer_at=lambda _, tell, what: tell(what))
        dag = make.dag("""
            A; B; C
            SITE_GROUP a NODES A
            SITE_GROUP b NODES B
            SITE_GROUP c NODES C
        """)
        process: Any = SimpleNamespace(dag=dag, requests=requests, exit=None, world=self.world)
        self.world.process = process
        self.world.boundary = lambda: None  # type: ignore[method-assign]
        self.sites.trouble = fault
        action = MatchSites(tuple(claims.items()), tuple(Wanted(one, 0) for one in wanted), ())
        FakeRounds(process).ask(action, told.append)
        worlds.until(self.world, lambda: bool(told))
        (answer,) = told
        if isinstance(answer, SitesUnknown):
            return answer.reason
        assert isinstance(answer, SitesMatched)
        return {claim.group: claim.site for claim in answer.claims}

    def kept(self) -> Claims:
        return self.sites.claims


class TestFakeSites(SitesContract):
    """Several seeds, because answers take a different time in each."""

    @pytest.fixture(params=range(3))
    def side(self, request: pytest.FixtureRequest) -> FakeSide:
        return FakeSide(request.param)
