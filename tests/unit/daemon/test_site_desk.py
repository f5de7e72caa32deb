"""What DAGMan does about sites: it hands rounds over, and keeps the ads that groups got."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters import files
from condor_pydagman.config import Config
from condor_pydagman.daemon import site_desk
from condor_pydagman.daemon.site_desk import SiteDesk, refuse_bad_policies
from condor_pydagman.engine import inputs
from condor_pydagman.engine.actions import MatchSites, SubmitNode
from condor_pydagman.errors import FileError
from condor_pydagman.matchmaking.claims_directory import ClaimsDirectory
from condor_pydagman.matchmaking.match_process import FindSites
from condor_pydagman.matchmaking.matcher import Match, Round
from condor_pydagman.matchmaking.queued_dagmans import in_queue, queue_name
from condor_pydagman.matchmaking.site_ads import KnownAd
from condor_pydagman.records.job_description import Template
from condor_pydagman.sites.policy import SitePolicy
from condor_pydagman.vocabulary import DagStatus

NORTH = KnownAd("d1", {"Entry": "north's", "Cores": 8}, {"STORE": "/n"})
MATCHED = Round(
    [Match(0, "north", "d1")], ["north", "south"], [(1, "all are full")], [2], {"d1": NORTH}, [3]
)
TEMPLATE = Template((("executable = a\n", "queue\n"),))


class Bench:
    """A desk whose rounds end as they are told to."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "t.dag.sites"
        self.claims = directory / "claims"
        self.asked: list[FindSites] = []
        self.said: list[str] = []
        self.told: list[inputs.Input] = []
        self.result: Round | str = MATCHED
        self.full = False
        self.run: Any = SimpleNamespace(
            paths=SimpleNamespace(sites=str(self.path)),
            out=SimpleNamespace(say=lambda text, _level=3: self.said.append(text)),
            files=SimpleNamespace(replace=self.replace),
            schedd=SimpleNamespace(ask=self.ask),
            config=Config(sites_dir=str(self.claims)),
            own_ad={"GlobalJobId": "ap#7.0#1"},
            cluster=7,
            pid=70,
        )
        self.desk = SiteDesk(self.run)

    def ask(self, request: FindSites, answer: Callable[[Round | str], None]) -> None:
        self.asked.append(request)
        answer(self.result)

    def replace(self, path: str, lines: list[str]) -> None:
        if self.full:
            raise FileError(f"{path}: No space left on device")
        files.replace(path, lines)

    def match(self) -> inputs.Input:
        """A round; returns what is told of it."""
        self.desk.match(MatchSites(((1, "south"),), (), ()), self.told.append)
        return self.told[-1]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def submit(site: str = "north", digest: str = "d1") -> SubmitNode:
    return SubmitNode(0, 0, DagStatus.OK, 0, site=site, site_ad=digest)


def test_a_round_is_told_and_the_ads_are_kept(bench: Bench) -> None:
    told = bench.match()
    assert bench.asked[0].claims == ((1, "south"),)
    assert told == inputs.SitesMatched(
        [inputs.SiteClaim(0, "north", "d1")], ["north", "south"], [(1, "all are full")], [2], [3]
    )
    assert json.loads(bench.path.read_text()) == list(NORTH)


def test_a_round_that_fails_is_told(bench: Bench) -> None:
    bench.result = "the collector: no answer"
    assert bench.match() == inputs.SitesUnknown("the collector: no answer")
    assert not bench.path.exists()


def test_no_group_is_matched_by_an_ad_that_cannot_be_kept(bench: Bench) -> None:
    bench.full = True
    told = bench.match()
    assert isinstance(told, inputs.SitesUnknown)
    assert "No space left" in told.reason
    assert isinstance(bench.match(), inputs.SitesUnknown)
    bench.full = False
    assert isinstance(bench.match(), inputs.SitesMatched)
    assert json.loads(bench.path.read_text()) == list(NORTH)


def test_a_file_without_anything_new_is_not_written_again(bench: Bench) -> None:
    bench.match()
    bench.full = True
    assert isinstance(bench.match(), inputs.SitesMatched)


def test_jobs_and_scripts_get_what_the_site_gives(bench: Bench) -> None:
    bench.match()
    ((body, _queue),) = bench.desk.template(TEMPLATE, submit()).parts
    assert "MATCH_Name = north\n" in body
    assert 'My.PYDAGMAN_Site = "north"' in body
    assert bench.desk.environment(submit()) == {
        "MATCH_Entry": "north's", "MATCH_Cores": "8", "MATCH_Name": "north", "STORE": "/n",
    }  # fmt: skip


def test_a_node_without_a_site_gets_nothing(bench: Bench) -> None:
    assert bench.desk.template(TEMPLATE, submit("")) is TEMPLATE
    assert bench.desk.environment(submit("")) == {}


def test_a_later_dagman_gives_the_same_values(bench: Bench) -> None:
    bench.match()
    later = SiteDesk(bench.run)
    assert later.environment(submit()) == bench.desk.environment(submit())


def test_lines_that_are_no_ads_are_passed_over(bench: Bench) -> None:
    good = json.dumps(NORTH)
    bench.path.write_text(f'{{"half\n[1]\n["a", 3, {{}}]\n["a", [[]], {{}}]\n{good}\n')
    assert bench.desk.environment(submit())["MATCH_Entry"] == "north's"


def test_what_was_kept_is_gone(bench: Bench) -> None:
    bench.path.mkdir()
    assert bench.desk.environment(submit()) == {"MATCH_Name": "north"}
    assert "the values of sites are lost" in bench.said[0]


def test_claims_are_given_up_at_the_end(bench: Bench) -> None:
    claims = ClaimsDirectory(
        str(bench.claims), queue_name("ap#7.0#1"), 7, in_queue, bench.said.append
    )
    (bench.claims / claims.name).write_text("")
    bench.desk.give_up()
    assert list(bench.claims.iterdir()) == []
    assert bench.said == []


def test_claims_that_cannot_be_given_up(bench: Bench) -> None:
    bench.claims.write_text("")
    bench.desk.give_up()
    (said,) = bench.said
    assert said.startswith("Warning: claims of sites stay until later: the directory of claims of")
    assert f"{bench.claims}: Not a directory; PYDAGMAN_SITES_DIR may name another" in said


def test_the_owner_is_the_user_of_the_process(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users set their environment as they like."""
    account = SimpleNamespace(pw_name="ann")
    monkeypatch.setenv("LOGNAME", "root")
    monkeypatch.setattr(pwd, "getpwuid", {os.geteuid(): account}.__getitem__)
    bench.run.dag = SimpleNamespace(site_groups=[SimpleNamespace(name="g", policy=SitePolicy())])
    bench.run.paths.primary = "t.dag"
    facts: list[Any] = []
    monkeypatch.setattr(site_desk, "Matcher", lambda *given, **_named: facts.append(given[4]))
    site_desk._matcher(bench.run)
    assert facts[0]["Owner"] == "ann"
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    site_desk._matcher(bench.run)
    assert facts[1]["Owner"] == str(os.geteuid())


def test_mistakes_in_policies_are_told_with_the_first_group(bench: Bench) -> None:
    policies = [SitePolicy(), SitePolicy(rank="1 +"), SitePolicy(rank="1 +")]
    groups = [SimpleNamespace(name=n, policy=policy) for n, policy in zip("abc", policies)]
    dag: Any = SimpleNamespace(site_groups=groups)
    assert refuse_bad_policies(dag).startswith("SITE_POLICY of group b: Rank = 1 +: ")
    dag.site_groups = groups[:1]
    assert refuse_bad_policies(dag) == ""
