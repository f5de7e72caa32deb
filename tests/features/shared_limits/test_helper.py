"""Places of shared limits are asked for in a process; DAGMan keeps its file, and is woken."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters.shared_directory import SharedDirectory
from condor_pydagman.config import Config
from condor_pydagman.errors import FileError
from condor_pydagman.features.shared_limits import directory, helper
from condor_pydagman.features.shared_limits.definitions import RESTART, Kind, Limit
from condor_pydagman.features.shared_limits.directory import (
    WAKES,
    LimitsDirectory,
    OwnFile,
    file_name,
    open_directory,
    open_own_directory,
)
from condor_pydagman.features.shared_limits.fair_shares import Demand, Grant
from condor_pydagman.features.shared_limits.helper import Definitions, LimitHelper, Shared
from condor_pydagman.features.shared_limits.messages import (
    PlacesGiven,
    PlacesUnknown,
    PlacesWanted,
    TakePlaces,
)
from tests.helping import Asker

TAPE = Demand(("tape",), nodes=5)


class Side:
    """DAGMan's side of it."""

    def __init__(self, path: Path, cluster: int = 5) -> None:
        path.mkdir(exist_ok=True)
        path.chmod(0o1777)
        self.path = path
        self.error: Exception | None = None
        self.said: list[str] = []
        self.own = OwnFile(file_name("here", cluster), self.directory)
        self.users = OwnFile(file_name("here", cluster), self.users_directory)
        files = {False: self.own, True: self.users}
        self.helper = LimitHelper(files, ["mine"], self.share, self.said.append)
        self.asker = Asker(self.helper)
        self.process = self.asker.process

    def directory(self) -> SharedDirectory:
        if self.error is not None:
            raise self.error
        return open_directory(str(self.path), lambda text: None)

    def users_directory(self) -> SharedDirectory:
        return open_own_directory(self.said.append)

    def seen(self, own: bool) -> LimitsDirectory:
        directory = self.users_directory() if own else self.directory()
        return LimitsDirectory(directory, "here", "", lambda clusters: {}, own=own)

    def share(self) -> Shared:
        limits = {
            "tape": Limit("Tape", {Kind.JOBS: 3}),
            "mine": Limit("Mine", {Kind.JOBS: 2}, own=True),
        }
        return Shared(self.seen, lambda: (limits, ["a limit has gone"]), "/x.dag", {})

    def take(self, *demands: Demand) -> Any:
        return self.asker.ask(TakePlaces(demands))


@pytest.fixture
def side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Side]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(directory, "DEFAULT", str(tmp_path / "usual"))
    found = Side(tmp_path / "limits")
    yield found
    found.process.end()
    found.helper.give_up()


def test_a_round_is_made_in_another_process(side: Side) -> None:
    told = side.take(TAPE, Demand(("none",)))
    assert told == PlacesGiven(
        [Grant((3, -1, -1, -1), -1, ("Tape", Kind.JOBS)), Grant((-1, -1, -1, -1), -1)], False, None
    )
    assert isinstance(told.grants[0].full[1], Kind)
    assert side.said == ["Warning: a limit has gone"]
    assert not side.process.busy
    assert side.process.next_deadline() is None


def test_without_the_own_file_there_is_no_round(side: Side) -> None:
    side.error = FileError("no place")
    assert side.take(TAPE) == PlacesUnknown("no place")
    assert side.process._child is None
    side.error = None
    assert isinstance(side.take(TAPE), PlacesGiven)


@pytest.mark.parametrize("error", [FileError("it is gone"), ValueError("it is gone")])
def test_what_goes_wrong_in_the_process_is_told(side: Side, error: Exception) -> None:
    side.own.keep()
    side.error = error
    assert side.take(TAPE) == PlacesUnknown("it is gone")


MINE, BOTH = Demand(("mine",), nodes=5), Demand(("mine", "tape"), nodes=5)


def places(side: Side, demand: Demand) -> list[int]:
    answer = side.take(demand)
    while answer == PlacesWanted():  # it was woken before
        answer = side.asker.reply()
    return [grant.places[Kind.JOBS] for grant in answer.grants]


def test_a_users_own_limits_need_no_directory_of_others(side: Side) -> None:
    """The default directory belongs to whoever had a limit first, another user perhaps."""
    side.error = FileError("it belongs to another user")
    assert places(side, MINE) == [2]
    assert side.take(TAPE) == side.take(BOTH) == PlacesUnknown("it belongs to another user")
    assert not list(side.path.iterdir())
    own = side.users_directory()
    assert os.fstat(own.fd).st_mode & 0o777 == 0o700
    assert own.names() == [side.users.name]


def test_a_node_may_have_limits_of_both_kinds(side: Side) -> None:
    other = Side(side.path, 6)
    assert places(side, BOTH) == [2]
    assert places(other, TAPE) == [1]
    assert places(other, MINE) == [0]
    assert places(side, Demand(("mine", "tape"))) == [0]
    assert places(other, MINE) == [2]
    other.process.end()
    other.helper.give_up()


def test_a_limit_becomes_one_of_all(side: Side) -> None:
    side.helper._own = ["tape"]
    assert side.take(TAPE) == PlacesUnknown("a limit is another one now")
    assert places(side, TAPE) == [3]


def test_a_process_that_dies_is_told_and_another_one_is_made(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(helper, "answer_of", lambda *_: os._exit(1))
        died = "the process that asks for places of shared limits has died"
        assert side.take(TAPE) == PlacesUnknown(died)
    assert side.take(TAPE).grants[0].places[Kind.JOBS] == 3


def test_a_round_that_takes_too_long_is_told(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = side.asker.hangs = side.path.with_name("hangs")

    def hang(*_: Any) -> None:
        hangs.touch()
        time.sleep(600)

    monkeypatch.setattr(helper, "answer_of", hang)
    assert side.take(TAPE) == PlacesUnknown("no answer within 60 s")


def test_others_wake_it_when_it_has_asked(side: Side) -> None:
    WAKES.wake([side.helper.address])
    assert side.process.results() == []  # the engine has not asked for anything
    side.take(TAPE)
    for _ in range(2):
        WAKES.wake([side.helper.address, "ffffffffffffffff"])
        assert side.asker.reply() == PlacesWanted()


def test_the_file_is_there_until_the_dag_has_ended(side: Side) -> None:
    side.helper.give_up()
    for _ in range(2):
        side.own.keep()
        assert [path.name for path in side.path.iterdir()] == [side.own.name]
    side.helper.give_up()
    assert not list(side.path.iterdir())


def test_a_directory_that_has_been_replaced_is_opened_anew(side: Side) -> None:
    side.own.keep()
    side.path.rename(side.path.with_name("old"))
    side.path.mkdir()
    side.path.chmod(0o1777)
    side.own.keep()
    assert (side.path / side.own.name).exists()


def test_a_round_follows_a_directory_that_has_been_replaced(side: Side) -> None:
    """Also in a process that lives on."""
    assert isinstance(side.take(TAPE), PlacesGiven)
    shutil.rmtree(side.path)
    for _ in range(2):
        assert isinstance(side.take(TAPE), PlacesGiven)
    assert [path.name for path in side.path.iterdir()] == [side.own.name]


def test_definitions_are_read_again(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a = JOBS 5; b = JOBS 1"
    monkeypatch.setattr(helper, "RELOAD_S", 0.0)
    monkeypatch.setattr(helper, "lookup", lambda name: text)
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
