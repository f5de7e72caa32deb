"""What DAGMan does about shared limits: it hands requests over, and keeps its file."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.daemon import limits_desk
from condor_pydagman.daemon.limits_desk import (
    Definitions,
    LimitsDesk,
    OwnFileKeeper,
    refuse_unknown_limits,
)
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.limit_claims.limit_process import Places, TakePlaces, WaitForWake
from condor_pydagman.limit_claims.own_file import file_name
from condor_pydagman.shared_limits.definitions import RESTART, Kind
from condor_pydagman.shared_limits.rounds import Demand, Grant
from tests.unit.graph.texts import JOBS, build_text

GRANT = Grant((3, -1, -1, -1), -1)


class Bench:
    """A desk, and what is asked of the process that makes rounds."""

    def __init__(self, path: Path) -> None:
        path.mkdir()
        path.chmod(0o1777)
        self.path = path
        self.asked: list[tuple[Any, Any]] = []
        self.said: list[str] = []
        self.told: list[inputs.Input] = []
        self.run: Any = SimpleNamespace(
            schedd=SimpleNamespace(ask=lambda request, then: self.asked.append((request, then))),
            out=SimpleNamespace(say=lambda text, _level=3: self.said.append(text)),
            config=Config(limits_dir=str(path)),
        )
        self.own = OwnFileKeeper(self.run, file_name("here", 5))
        self.desk = LimitsDesk(self.run, self.own)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Bench(tmp_path / "limits")


def test_a_request_and_its_answers(bench: Bench) -> None:
    demands = (Demand(("a",), nodes=3),)
    bench.desk.take(do.TakePlaces(demands), bench.told.append)
    bench.desk.take(do.TakePlaces(demands), bench.told.append)
    (wake, woken), (request, then), (_, other) = bench.asked
    assert wake == WaitForWake() and request == TakePlaces(demands)
    then(Places([GRANT], True, 2.0, ["a limit has gone"]))
    other("no answer")
    woken(None)
    assert bench.told == [
        inputs.PlacesGiven([GRANT], True, 2.0),
        inputs.PlacesUnknown("no answer"),
        inputs.PlacesWanted(),
    ]
    assert bench.said == ["Warning: a limit has gone"]


def test_the_file_is_there_until_the_dag_has_ended(bench: Bench) -> None:
    bench.desk.give_up()
    bench.own.keep()
    assert [path.name for path in bench.path.iterdir()] == [bench.own.name]
    bench.own.keep()
    bench.desk.give_up()
    assert not list(bench.path.iterdir())


def test_a_directory_that_has_been_replaced_is_opened_anew(bench: Bench) -> None:
    bench.own.keep()
    bench.path.rename(bench.path.with_name("old"))
    bench.path.mkdir()
    bench.path.chmod(0o1777)
    bench.own.keep()
    assert (bench.path / bench.own.name).exists()


def test_limits_that_are_not_defined_are_refused(bench: Bench) -> None:
    dag = build_text(JOBS + "SHARED_LIMIT tape ALL_NODES\n")
    assert refuse_unknown_limits(dag, Config(shared_limits="TAPE = JOBS 5")) == ""
    assert "no such limit; the limits are disk" in refuse_unknown_limits(
        dag, Config(shared_limits="disk = JOBS 5")
    )
    assert "'JOB' is none of" in refuse_unknown_limits(dag, Config(shared_limits="a = JOB 5"))


def test_definitions_are_read_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a = JOBS 5; b = JOBS 1"
    monkeypatch.setattr(limits_desk, "RELOAD_S", 0.0)
    monkeypatch.setattr(limits_desk, "lookup", lambda name: text)
    definitions = Definitions(Config(shared_limits=text, all_restart_pre_rate=2))
    found, said = definitions()
    assert found["a"].most == {Kind.JOBS: 5} and found[RESTART].most == {Kind.STARTS: 120}
    assert not said
    text = "a = JOBS 7"
    found, said = definitions()
    assert found["a"].most == {Kind.JOBS: 7} and "b" in found
    assert said == ["shared limits b are defined no more; they stay"]
    assert definitions()[1] == []
    text = "a = 7"
    found, (line,) = definitions()
    assert found["a"].most == {Kind.JOBS: 7} and "limits stay as they were" in line
