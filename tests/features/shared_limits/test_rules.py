"""Limits that the administrator applies to DAGs without a line in them."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.adapters.shared_directory import user_name
from condor_pydagman.config import Config
from condor_pydagman.daemon import startup
from condor_pydagman.daemon.initialize import Settings
from condor_pydagman.dagman_job.submit_to_schedd import Job, PreparedSubmit, remarks
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.errors import ConfigError
from condor_pydagman.feature_table import helpers_of
from condor_pydagman.features.bundle.apart import alone_in
from condor_pydagman.features.shared_limits import rules
from condor_pydagman.features.shared_limits.commands import (
    APPLIED_ATTRIBUTE,
    LimitsOfDag,
    LimitUse,
    limit_uses_of,
)
from condor_pydagman.features.shared_limits.configured import unknown_limits
from condor_pydagman.features.shared_limits.helper import Definitions, LimitHelper
from condor_pydagman.features.shared_limits.messages import TakePlaces
from condor_pydagman.features.shared_limits.rules import Rule, applied, rule
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.description import template_of
from condor_pydagman.records.job_description import Workflow, describe
from tests import make
from tests.features.shared_limits.scenes import Shared
from tests.unit.daemon.starts import KNOBS, STARTED, Place, Schedd

LIMITS = "Production = JOBS 100 IDLE 20; tape = JOBS 2; batch = STARTS-PER-MINUTE 60"


def admin(text: str, limits: str = LIMITS) -> Config:
    return Config(shared_limits=limits, applied_limits=text)


def names(text: str, user: str = "ann", group: str = "") -> list[str]:
    found = applied(admin(text), user, group)
    assert not found.mistakes
    return [limit.name for limit in found.limits]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("production ALL", Rule("production", "ALL", ())),
        (" tape users ann,bob  cy ", Rule("tape", "USERS", ("ann", "bob", "cy"))),
        ("b Groups g.x", Rule("b", "GROUPS", ("g.x",))),
    ],
)
def test_a_rule(text: str, meant: Rule) -> None:
    assert rule(text) == meant


@pytest.mark.parametrize(
    "text", ["tape", "tape ALL ann", "tape USERS", "tape USER ann", "ALL", ","]
)
def test_what_is_no_rule(text: str) -> None:
    with pytest.raises(ConfigError, match="expected NAME ALL, NAME USERS <user>"):
        rule(text)


def test_whose_dags_a_rule_is_about() -> None:
    text = "production ALL; tape USERS ann bob; batch GROUPS group_x"
    assert names(text) == ["Production", "tape"]
    assert names(text, "cy") == ["Production"]
    assert names(text, "Ann") == ["Production"], "names of users are case-sensitive"
    assert names(text, "cy", "GROUP_X") == ["Production", "batch"]
    assert names(text, "cy", "group_x.hep.higgs") == ["Production", "batch"]
    assert names(text, "cy", "group_xy") == ["Production"]
    assert names("tape ALL; TAPE USERS ann") == ["tape"], "once"
    assert names("") == []


def test_a_mistake_stops_no_dag_and_no_other_rule() -> None:
    found = applied(admin("tpe ALL; tape ALL; batch USER ann"), "ann", "")
    assert [limit.name for limit in found.limits] == ["tape"]
    first, second = found.mistakes
    assert first == "PYDAGMAN_APPLIED_LIMITS: tpe is not defined in PYDAGMAN_SHARED_LIMITS"
    assert second.startswith("PYDAGMAN_APPLIED_LIMITS: batch USER ann: expected NAME ALL")
    limits, (why,) = applied(admin("tape ALL", "tape = JOBS none"), "ann", "")
    assert (limits, "no limit is applied: PYDAGMAN_SHARED_LIMITS: tape" in why) == ((), True)


@given(st.text(alphabet="aT =;,#\n1") | st.text())
def test_no_text_stops_a_dag(text: str) -> None:
    applied(admin(text), "ann", "g")
    applied(admin("tape ALL", text), "ann", "g")


def test_a_limit_of_the_users_own_is_none_that_a_rule_can_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".condor").mkdir()
    (tmp_path / ".condor/pydagman_limits").write_text("mine = JOBS 99\n")
    found = applied(admin("mine ALL"), "ann", "")
    assert found.mistakes and not found.limits


def ruled(dag: Dag | str, *limits: str) -> Dag:
    dag = make.dag(dag) if isinstance(dag, str) else dag
    LimitsOfDag.put(dag).applied = limits
    return dag


def test_a_dag_that_names_the_limit_as_well_keeps_to_it_once() -> None:
    dag = ruled("A; B\nSHARED_LIMIT TAPE NODES A", "tape", "batch")
    assert [use.limit for use in limit_uses_of(dag)] == ["TAPE", "tape", "batch"]
    harness = make.EngineHarness(dag).begin()
    demands = harness.asked(TakePlaces)[0].demands
    assert {one.limits: one.nodes for one in demands} == {("TAPE",): 0, ("TAPE", "batch"): 2}


def test_what_is_written_of_a_dag_does_not_have_it() -> None:
    dag = ruled("A\nSHARED_LIMIT tape ALL_NODES", "batch")
    assert [line.limit for line in LimitsOfDag.of(dag).lines(dag)] == ["tape"]
    assert "no such limit" in unknown_limits(dag, admin("", "batch = JOBS 1"))
    LimitsOfDag.of(dag).uses.clear()
    assert unknown_limits(dag, admin("", "nonsense")) == "", "nor is it looked at once more"


def test_its_nodes_are_not_bundled() -> None:
    dag = make.dag("A; B\nBUNDLE b SIZE 2 ALL_NODES")
    assert alone_in(dag, range(2)) == {}
    why = "the administrator applies a shared limit to it"
    assert alone_in(ruled(dag, "tape"), range(2)) == {0: why, 1: why}


def test_its_jobs_say_so() -> None:
    dag, workflow = ruled("A; B\nFINAL F n.sub", "tape", "batch"), Workflow(7, "/l", KNOBS)
    line = f'My.{APPLIED_ATTRIBUTE} = "tape,batch"\n'
    texts = [describe(dag, node, template_of("queue\n"), workflow) for node in range(3)]
    assert [text.count(line) for text in texts] == [1, 1, 1]
    assert APPLIED_ATTRIBUTE not in describe(make.dag("A"), 0, template_of("queue\n"), workflow)


# In a run.


def shared(**limits: str) -> Shared:
    found = Shared()
    for name, text in limits.items():
        found.limits.update({one.key: one for one in rules.parse(f"{name} = {text}", "test")})
    return found


def records(harness: make.EngineHarness) -> list[str]:
    found = harness.ever(do.AppendJournalRecord)
    return [one.text for one in found if one.record == "LIMITS_APPLIED"]


def told(harness: make.EngineHarness, *what: Any) -> None:
    """Give inputs, and what comes back from the log."""
    for action in harness.tell(*what):
        harness.tell(*make.appended(harness.dag, action))


def started(dag: Dag, log: list[inputs.LogEvent] | None = None) -> make.EngineHarness:
    harness = make.EngineHarness(dag, make.quiet())
    if log is None:
        told(harness, inputs.Begin(recovering=False))
    else:
        told(harness, inputs.Begin(recovering=True), *log, inputs.LogCaughtUp())
        told(harness, inputs.QueueListed(harness.queue()))
    return harness


def test_all_nodes_keep_to_it_those_that_are_added_as_well() -> None:
    harness = started(ruled("A; B; C", "tape"))
    (demand,) = harness.ever(TakePlaces)[-1].demands
    assert (demand.limits, demand.nodes) == (("tape",), 3)
    harness.tell(shared(tape="JOBS 2").give(harness.ever(TakePlaces)[-1], harness.now))
    assert len(harness.ever(do.SubmitNode)) == 1, "one more when the schedd has answered"


def test_the_log_says_it_once_and_again_when_a_rule_has_changed() -> None:
    first = started(ruled("A -> B", "tape"))
    assert records(first) == ["tape"]
    assert records(started(ruled("A -> B", "tape"), first.log)) == []
    other = started(ruled("A -> B", "batch", "tape"), first.log)
    assert records(other) == ["batch tape"]
    none = started(make.dag("A -> B"), other.log)
    assert records(none) == [""]
    assert none.ever(do.SubmitNode) and not none.ever(TakePlaces), "it goes on without limits"
    assert records(started(make.dag("A -> B"), none.log)) == []


def test_a_dag_that_had_no_limit_gets_one_by_a_restart() -> None:
    first = started(make.dag("A; B"))
    first.take("A", 1)
    again = started(ruled("A; B", "tape"), first.log)
    assert records(again) == ["tape"]
    (demand,) = again.ever(TakePlaces)[-1].demands
    assert (demand.used[0], demand.nodes) == (1, 1), "its job counts"


def test_a_plain_dag_has_no_record_and_no_feature() -> None:
    harness = started(make.dag("A"))
    assert not records(harness)
    assert not harness.engine.run.features


def test_a_dry_run_writes_nothing() -> None:
    harness = make.EngineHarness(ruled("A", "tape"))
    harness.engine.run.mode = Mode.DRY_RUN
    harness.begin()
    assert not records(harness)


def test_who_follows_the_log_learns_what_applies() -> None:
    first = started(ruled("A; B", "tape"))
    first.take("A", 1)
    log = [*first.log, *started(ruled("A; B", "batch"), first.log).log[len(first.log) :]]
    dag = make.dag("A; B")
    engine = Engine(dag, Config(), Throttles(), mode=Mode.FOLLOW)
    seen = []
    for one in (inputs.Begin(recovering=True), *log):
        engine.handle(one, 1000.0)
        seen.append(LimitsOfDag.of(dag).applied)
    assert list(dict.fromkeys(seen)) == [(), ("tape",), ("batch",)]
    assert limit_uses_of(dag) == [LimitUse("batch")]


# Where it is told.


class Description(dict[str, str]):
    """What the bindings' description of DAGMan's job is asked."""

    def expand(self, key: str) -> str:
        return self[key]


def submitted(knobs: Config, remote: str = "", **lines: str) -> list[str]:
    options = SimpleNamespace(remote=remote)
    prepared: Any = SimpleNamespace(options=options, added=(), admin=knobs)
    handed = PreparedSubmit(Description(lines), "", None, False)
    return remarks(prepared, handed, Job(7, 1, ["odd"]))


def test_condor_submit_dag_tells() -> None:
    me = user_name(os.geteuid())
    knobs = admin(f"production USERS {me} x; tape GROUPS g; batch USERS x-{me}; tpe ALL")
    note, warning = (
        "Note: shared limit Production applies to this DAG (JOBS 100 IDLE 20;"
        " PYDAGMAN_APPLIED_LIMITS)",
        "Warning: PYDAGMAN_APPLIED_LIMITS: tpe is not defined in PYDAGMAN_SHARED_LIMITS (DAGs run"
        " without it; tell your administrator)",
    )
    assert submitted(knobs) == ["odd", note, warning]
    assert len(submitted(knobs, accounting_group="g.h")) == 4
    assert submitted(knobs, remote="other.host") == submitted(Config()) == ["odd"]


def test_dagman_tells_and_obeys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condor_pydagman.daemon.helpers.open_helpers", lambda *_: None)
    ad = {"Owner": "ann", "AcctGroup": "g", "JobRunCount": 1, "JobBatchId": "7.0"}
    place = Place(monkeypatch, tmp_path, Schedd(ad))
    place.set_job_id(7)
    knobs = KNOBS.but(
        shared_limits=LIMITS, applied_limits="tape USERS ann; batch GROUPS g; production USERS x"
    )
    out = place.out()
    run = startup.prepare(Settings(place.options(), KNOBS, knobs), out, STARTED)
    out.flush()
    assert LimitsOfDag.of(run.dag).applied == ("tape", "batch")
    assert "shared limit tape applies to this DAG (JOBS 2; PYDAGMAN_APPLIED" in place.said()
    assert helpers_of(run.dag) == ["shared_limits"]
    assert not LimitHelper.is_like_new, "so it does not sleep: it has claims to renew"


@pytest.mark.parametrize("lines", ["", "\nSHARED_LIMIT tape ALL_NODES"])
def test_a_mistake_in_the_users_file_matters_to_a_dag_that_names_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".condor").mkdir()
    (tmp_path / ".condor/pydagman_limits").write_text("nonsense\n")
    dag, knobs = ruled(f"A{lines}", "tape"), admin("tape ALL")
    assert ("pydagman_limits: nonsense" in unknown_limits(dag, knobs)) is bool(lines)
    found, said = Definitions(knobs, needs_own=False)()
    assert (sorted(found), said) == (["batch", "production", "tape"], [])
    with pytest.raises(ConfigError, match="nonsense"):
        Definitions(knobs)
