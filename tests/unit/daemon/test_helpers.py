"""The table of helpers: who is asked, what is loaded when, and what becomes of a DAG that ends."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_mock import MockerFixture

from condor_pydagman.config import Config
from condor_pydagman.daemon import helpers
from condor_pydagman.daemon.dag_input import CannotStart
from condor_pydagman.daemon.helpers import Helpers
from condor_pydagman.feature_table import HELPERS, helpers_of
from tests import make

ALL = """
    A -> B
    SITE_GROUP g NODES A
    SHARED_LIMIT a ALL_NODES
    RUN_IF B true
    CACHE A
    BUNDLE b ALL_NODES
    FEEDER BELOW 1 PROGRAM f
"""


@pytest.mark.parametrize("command", ["EXTEND A m.dag", "SCATTER A list n-{item} x.sub"])
def test_what_a_dag_wants(command: str) -> None:
    assert helpers_of(make.dag("A")) == []
    assert helpers_of(make.dag(ALL)) == [*HELPERS]
    assert helpers_of(make.dag(f"A\n{command}")) == ["growth"]


def test_what_a_dag_wants_is_loaded_at_its_start_and_nothing_else() -> None:
    """A process is forked, so it has the code that DAGMan had then: an upgrade changes none."""
    code = (
        "import sys; from condor_pydagman.config import Config;"
        " from condor_pydagman import feature_table; from condor_pydagman.daemon import helpers;"
        " from tests import make;"
        " helpers.preload(make.dag(sys.argv[1]), Config(shared_limits='a = JOBS 1'));"
        " before = set(sys.modules);"
        " print(*(name for name in before if name.endswith(('helper', 'helper_process'))));"
        " [helpers._module(name) for name in feature_table.helpers_of(make.dag(sys.argv[1]))];"
        " print(*set(sys.modules) - before)"
    )

    def loaded(text: str) -> tuple[set[str], set[str]]:
        words = [sys.executable, "-c", code, text]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        there, late, *_ = done.stdout.split("\n")
        return {name.partition(".")[2] for name in there.split()}, set(late.split())

    assert loaded("A") == (set(), set())
    modules = {f"features.{name}.helper" for name in HELPERS}
    assert loaded(ALL) == ({*modules, "adapters.helper_process"}, set())


def test_a_dag_that_moves_data_needs_what_moves_it(mocker: MockerFixture) -> None:
    mocker.patch.object(helpers, "part", return_value=None)
    helpers.preload(make.dag("A"), Config())
    with pytest.raises(CannotStart, match="this installation lacks"):
        helpers.preload(make.dag("DATA A a.sub"), Config())


class Fake:
    """A helper that works in steps."""

    def __init__(self, due: float | None) -> None:
        self.due = due
        self.done: list[Any] = []

    def ask(self, request: Any, then: Any) -> None:
        self.done.append(request)
        then(f"{request} is done")

    def next_deadline(self) -> float | None:
        return self.due

    def work(self, now: float) -> None:
        self.done.append(now)

    def kill_programs(self) -> None:
        self.done.append("killed")


def test_helpers_that_work_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    fakes = {"a": Fake(None), "b": Fake(7.0), "c": Fake(5.0)}
    opened = lambda name: SimpleNamespace(open_helper=lambda _: fakes[name])  # noqa: E731
    monkeypatch.setattr(helpers, "_module", opened)
    it = Helpers(None, None, Config(), {})  # type: ignore[arg-type]
    assert it.next_deadline() is None
    told: list[Any] = []
    for name in ("a", "b", "c", "a"):
        it.ask(name, name, told.append)
    assert told == ["a is done", "b is done", "c is done", "a is done"]
    assert it.next_deadline() == 5.0
    it.work(1.0)
    it.kill_programs()
    it.give_up()
    assert fakes["a"].done == ["a", "a", 1.0, "killed"]
    assert fakes["c"].done == ["c", 1.0, "killed"]


def test_a_helper_with_a_process_is_made_once_and_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Process:
        """What would have a process."""

        def __init__(self, helper: Any, *how: Any) -> None:
            self.helper, self.asked = helper, list[Any]()
            made.append((self, how))

        def ask(self, request: Any, then: Any) -> None:
            self.asked.append(request)

    gone: list[str] = []
    helper = SimpleNamespace(
        serve=None, is_like_new=True, stays_s=600.0, give_up=lambda: gone.append("given up")
    )
    module = SimpleNamespace(open_helper=lambda _: helper)
    monkeypatch.setattr(helpers, "_module", lambda name: module)
    monkeypatch.setattr(helpers, "_process_class", lambda: Process)
    run: Any = SimpleNamespace(
        clock=SimpleNamespace(monotonic=None),
        out=SimpleNamespace(say=made.append),
        config=Config(),
    )
    schedd: Any = SimpleNamespace(add=lambda make: make("epoll"))
    it = Helpers(run, schedd, Config(), {})  # type: ignore[arg-type]
    for request in (1, 2):
        it.ask("sites", request, None)  # type: ignore[arg-type]
    ((process, (epoll, *_)),) = made
    assert process.asked == [1, 2]
    assert epoll == "epoll"
    it.give_up()
    assert gone == ["given up"]
