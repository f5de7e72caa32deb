"""Rounds of matchmaking are made in a process; DAGMan keeps the ads that groups got."""

from __future__ import annotations

import json
import os
import pwd
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters import files
from condor_pydagman.config import Config
from condor_pydagman.daemon.run import OwnJob
from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.errors import FileError
from condor_pydagman.features.common.adapters.queued_dagmans import in_queue, queue_name
from condor_pydagman.features.sites import helper
from condor_pydagman.features.sites.adapters.ads import KnownAd
from condor_pydagman.features.sites.adapters.claims_directory import WAKES, ClaimsDirectory
from condor_pydagman.features.sites.adapters.matcher import Matcher
from condor_pydagman.features.sites.choice import Wanted
from condor_pydagman.features.sites.commands import GroupsOfDag, SiteGroup, SitePolicy
from condor_pydagman.features.sites.helper import (
    Made,
    SiteHelper,
    SiteValues,
    obstacle,
    open_helper,
)
from condor_pydagman.features.sites.messages import (
    MatchSites,
    PlaceFree,
    SiteClaim,
    SitesMatched,
    SitesUnknown,
)
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.vocabulary import DagStatus
from tests.features.sites import test_matcher
from tests.helping import Asker

NORTH = KnownAd("d1", {"Entry": "north's", "Cores": 8}, {"STORE": "/n"})
MATCHED = SitesMatched(
    [SiteClaim(0, "north", "d1")], ["north", "south"], [(1, "all are full")], [2], [3]
)
REQUEST = MatchSites((), (Wanted(0, 0), Wanted(1, 0, "", ("north",), ("x",))), ())
TEMPLATE = (("executable = a\n", "queue\n"),)


class Bench:
    """A DAG with groups, and what its rounds come to."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "t.dag.sites"
        self.claims = directory / "claims"
        self.said: list[str] = []
        self.full = False
        self.run: Any = SimpleNamespace(
            paths=SimpleNamespace(sites=str(self.path)),
            out=SimpleNamespace(say=lambda text, _level=3: self.said.append(text)),
            files=SimpleNamespace(replace=self.replace),
            config=Config(sites_dir=str(self.claims)),
            job=OwnJob(7, ad={"GlobalJobId": "ap#7.0#1"}),
        )
        helpers: Any = SimpleNamespace(run=self.run)
        self.helper = open_helper(helpers)
        waker: Any = self.helper.waker
        waker.close()  # it is given to no process
        self.values: SiteValues = self.run.extras

    def replace(self, path: str, lines: list[str]) -> None:
        if self.full:
            raise FileError(f"{path}: No space left on device")
        files.replace(path, lines)

    def match(self) -> Any:
        """A round has been made; returns what the engine is told of it."""
        return self.helper.reply(REQUEST, Made(MATCHED, {"d1": NORTH}))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def submit(site: str = "north", digest: str = "d1") -> SubmitNode:
    return SubmitNode(0, 0, DagStatus.OK, 0, site=site, site_ad=digest)


class Rounds:
    """A helper in its process; `what` makes its Matcher there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.what: Any = self.matcher
        self.kept: list[Any] = []
        make = lambda address: self.what(address)  # noqa: E731
        helper = SiteHelper(make, self.kept.append, lambda: None, 60.0)
        self.asker = Asker(helper, directory / "hangs")

    def matcher(self, address: str = "") -> Matcher:
        claims = self.directory / "claims"
        claims.mkdir(exist_ok=True)
        claims.chmod(0o1777)
        return test_matcher.Bench(claims, address=address).matcher

    def hang(self, _: str) -> None:
        (self.directory / "hangs").touch()
        time.sleep(600)


@pytest.fixture
def rounds(tmp_path: Path) -> Iterator[Rounds]:
    found = Rounds(tmp_path)
    yield found
    found.asker.process.end()


def test_other_dags_wake_it_where_it_says(rounds: Rounds) -> None:
    rounds.asker.ask(REQUEST._replace(wanted=tuple(Wanted(number, 0) for number in range(9))))
    (other,) = ClaimsDirectory(str(rounds.directory / "claims"), "here", 9, set, print).others()
    WAKES.wake([other.waits.address])
    assert rounds.asker.reply() == PlaceFree()


def test_rounds_come_back_as_they_were_made(rounds: Rounds) -> None:
    found = rounds.asker.ask(REQUEST)
    made = rounds.matcher().round((), REQUEST.wanted, ())
    assert found == made.reply
    assert len(found.claims) == 2
    assert rounds.kept == [made.ads]
    assert not rounds.asker.process.busy
    assert rounds.asker.ask(MatchSites((), ())).claims == []


def test_what_goes_wrong_in_the_process_is_told(rounds: Rounds) -> None:
    def refuse(_: str) -> Matcher:
        raise FileError("the directory is gone")

    rounds.what = refuse
    assert rounds.asker.ask(REQUEST) == SitesUnknown("the directory is gone")
    rounds.asker.process.end()
    rounds.what = lambda _: 1 / 0
    assert rounds.asker.ask(REQUEST) == SitesUnknown("division by zero")


def test_a_process_that_dies(rounds: Rounds) -> None:
    rounds.what = lambda _: os.kill(os.getpid(), signal.SIGKILL)
    died = SitesUnknown("the process that looks for sites has died")
    assert rounds.asker.ask(REQUEST) == died


def test_a_process_that_hangs(rounds: Rounds) -> None:
    rounds.what = rounds.hang
    assert rounds.asker.ask(REQUEST) == SitesUnknown("no answer within 90 s")


def test_a_round_is_told_and_the_ads_are_kept(bench: Bench) -> None:
    assert bench.match() == MATCHED
    assert json.loads(bench.path.read_text()) == list(NORTH)


def test_a_round_that_fails_is_told(bench: Bench) -> None:
    failed = SitesUnknown("the collector: no answer")
    assert bench.helper.reply(REQUEST, Made(failed, {})) == failed
    assert not bench.path.exists()


def test_no_group_is_matched_by_an_ad_that_cannot_be_kept(bench: Bench) -> None:
    bench.full = True
    told = bench.match()
    assert isinstance(told, SitesUnknown)
    assert "No space left" in told.reason
    assert isinstance(bench.match(), SitesUnknown)
    bench.full = False
    assert isinstance(bench.match(), SitesMatched)
    assert json.loads(bench.path.read_text()) == list(NORTH)


def test_a_file_without_anything_new_is_not_written_again(bench: Bench) -> None:
    bench.match()
    bench.full = True
    assert isinstance(bench.match(), SitesMatched)


def test_jobs_and_scripts_get_what_the_site_gives(bench: Bench) -> None:
    bench.match()
    ((body, _queue),) = bench.values.template(TEMPLATE, submit())
    assert "MATCH_Name = north\n" in body
    assert 'My.PYDAGMAN_Site = "north"' in body
    assert bench.values.environment(submit()) == {
        "MATCH_Entry": "north's", "MATCH_Cores": "8", "MATCH_Name": "north", "STORE": "/n",
    }  # fmt: skip


def test_a_node_without_a_site_gets_nothing(bench: Bench) -> None:
    assert bench.values.template(TEMPLATE, submit("")) is TEMPLATE
    assert bench.values.environment(submit("")) == {}


def test_a_later_dagman_gives_the_same_values(bench: Bench) -> None:
    bench.match()
    later = SiteValues(bench.run)
    assert later.environment(submit()) == bench.values.environment(submit())


def test_lines_that_are_no_ads_are_passed_over(bench: Bench) -> None:
    good = json.dumps(NORTH)
    bench.path.write_text(f'{{"half\n[1]\n["a", 3, {{}}]\n["a", [[]], {{}}]\n{good}\n')
    assert bench.values.environment(submit())["MATCH_Entry"] == "north's"


def test_what_was_kept_is_gone(bench: Bench) -> None:
    bench.path.mkdir()
    assert bench.values.environment(submit()) == {"MATCH_Name": "north"}
    assert "the values of sites are lost" in bench.said[0]


def test_claims_are_given_up_at_the_end(bench: Bench) -> None:
    claims = ClaimsDirectory(
        str(bench.claims), queue_name("ap#7.0#1"), 7, in_queue, bench.said.append
    )
    (bench.claims / claims.name).write_text("")
    bench.helper.give_up()
    assert list(bench.claims.iterdir()) == []
    assert bench.said == []


def test_claims_that_cannot_be_given_up(bench: Bench) -> None:
    bench.claims.write_text("")
    bench.helper.give_up()
    (said,) = bench.said
    assert said.startswith("Warning: claims of sites stay until later: the directory of claims of")
    assert f"{bench.claims}: Not a directory; PYDAGMAN_SITES_DIR may name another" in said


def _dag(*groups: SiteGroup) -> Dag:
    dag = Dag()
    GroupsOfDag.put(dag).site_groups.extend(groups)
    return dag


def test_the_owner_is_the_user_of_the_process(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users set their environment as they like."""
    account = SimpleNamespace(pw_name="ann")
    monkeypatch.setenv("LOGNAME", "root")
    monkeypatch.setattr(pwd, "getpwuid", {os.geteuid(): account}.__getitem__)
    bench.run.dag = _dag(SiteGroup("g", ()))
    bench.run.paths.primary = "t.dag"
    facts: list[Any] = []
    monkeypatch.setattr(helper, "Matcher", lambda *given, **_named: facts.append(given[0].facts))
    helper._matcher(bench.run, "")
    assert facts[0]["Owner"] == "ann"
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    helper._matcher(bench.run, "")
    assert facts[1]["Owner"] == str(os.geteuid())


def test_mistakes_in_policies_are_told_with_the_first_group(bench: Bench) -> None:
    policies = [SitePolicy(), SitePolicy(rank="1 +"), SitePolicy(rank="1 +")]
    groups = [SiteGroup(n, (), policy) for n, policy in zip("abc", policies)]
    dag = _dag(*groups)
    assert at_once(obstacle(dag, Config())).startswith("SITE_POLICY of group b: Rank = 1 +: ")
    dag = _dag(*groups[:1])
    assert at_once(obstacle(dag, Config())) == ""
